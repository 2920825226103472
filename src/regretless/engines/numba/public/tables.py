"""Hands and runouts as the kernels of the public form see them: which hands are dead, block or beat which.

For showdowns they have lists of the rows of reach to sum and of the sums that each hand needs. On a final runout, put
the own hands into *groups* of equal strength, weakest first, and the opponent's hands into *classes* by which groups
they beat. Running sums of the opponent's reach are taken in order of strength, P over all hands and E[c] over the hands
that contain card c, and recorded where a class ends. An own hand of group g with cards c and d faces, among the hands
weaker than g (or weaker and equal, or all),

    P[g] − E[c, g] − E[d, g]                                        of the opponent's reach.

Own hands of a group that share a card share its sums, so a group and a card form a *pair*, and the contribution of E to
a terminal's value is computed once per pair. Equivalent cards on the runout have equal sums too: the first one's are
used for all, and the two of a hand are subtracted in a fixed order, so that equivalent hands get bit-identical values.
The same rows are summed at every terminal of the runout, so they are determined once, here, as lists of small numbers.
The kernels that follow these lists have almost no branches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.compiling import fast_inlined, fast_kernel
from regretless.engines.formats import GOLDEN
from regretless.engines.layout import LANES, padded
from regretless.engines.numba.public.records import EXTENT, FOUR, RECORD, RUNOUT, SCALE, Int8, Int16, Int32, Records
from regretless.forms.public import PublicForm

__all__ = ["HandTables", "Players", "Showdowns", "fill_lists", "make_showdowns", "make_tables"]


UInt16 = NDArray[np.uint16]
UInt32 = NDArray[np.uint32]
BoolArray = NDArray[np.bool_]


class Showdowns(NamedTuple):
    """For walks that update one player: F final runouts, n own hands, padded.

    Lists marked * are concatenated runout by runout; `extents` says where each begins.
    """

    extents: Records  #     [F]        EXTENT
    sums: Int16  #          *          the opponent's hands from weakest to strongest: the order of P
    event_fours: Int8  #    [F · deck] number of fours of the opponent's hands with each representative card
    events: Int16  #        *          those hands, card by card, from weakest to strongest: the order of E
    pair_counts: Int8  #    [F · deck] number of pairs with each card
    pairs: Int16  #         * two each: rows of E, of the card, for weaker and for weaker or equal hands
    groups: Int16  #        * two each: rows of P
    records: Int16  #       [F · n · RECORD]


class Players(NamedTuple):
    """The input for the lists, own player first: H hands, padded."""

    order: tuple[Int16, Int16]  #    [F, H] hands from weakest to strongest, then the dead
    living: tuple[Int32, Int32]  #   [F]    number of live hands
    strength: tuple[Int16, Int16]  # [F, hands]
    cards: tuple[Int16, Int16]  #    [H, 2] `deck` where there is no card


class HandTables(NamedTuple):
    """For walks that update one player. R runouts of all streets, street by street; n own, m other hands, padded.

    K sets of equivalent cards and hands (`forms.public.Symmetry`).
    """

    runouts: Records  #      [R]        RUNOUT; of an iteration that samples, those that it walks (`drawn.py`)
    copies: Int16  #         [copies]   rows of `permutations`
    permutations: Int16  #   [G · n]
    alike_hands: Int16  #    [K · n]    the own hand that represents each hand on a runout
    alike_cards: Int8  #     [K · deck]
    roundings: UInt32  #     [K · n]    makes the rounding of hands differ, except for equivalent hands
    own_alive: UInt16  #     [R · n/16] a bit per hand: not blocked
    other_alive: UInt16  #   [R · m/16]
    fold_rows: Int16  #      [3 n]      per own hand: rows of its cards' sums, and of the opponent's same hand
    card_fours: Int8  #      [deck]     number of fours of other hands with each card
    card_hands: Int16  #     [...]      those hands, card by card
    showdowns: Showdowns


def make_tables(form: PublicForm) -> tuple[HandTables, HandTables]:
    """The tables for both players' walks; for a flop this takes a fraction of a second."""
    alive = [_alive(form, player) for player in range(2)]
    return _make_tables(form, 0, alive), _make_tables(form, 1, alive)


def _make_tables(form: PublicForm, own: int, alive: list[BoolArray]) -> HandTables:
    other = 1 - own
    own_hands, other_hands = alive[own].shape[1], alive[other].shape[1]
    own_cards = _cards(form, own, own_hands)
    other_cards = _cards(form, other, other_hands)
    same = np.full(own_hands, other_hands, dtype=np.int16)  # by default the row of zeros after the last
    same[: len(form.hands[own].same)] = np.where(form.hands[own].same < 0, other_hands, form.hands[own].same)
    alike_hands = _padded_rows(form.symmetry.hands[own], own_hands)
    holders = [np.flatnonzero((other_cards == card).any(axis=1)) for card in range(form.deck)]
    fours = [np.append(each, [other_hands] * (-len(each) % FOUR)) for each in holders]
    return HandTables(
        runouts=_runouts(form),
        copies=np.concatenate([street.copies for street in form.streets]).astype(np.int16),
        permutations=_padded_rows(form.permutations[own], own_hands).ravel(),
        alike_hands=alike_hands.ravel(),
        alike_cards=form.symmetry.cards.astype(np.int8).ravel(),
        roundings=(alike_hands.astype(np.uint32) * np.uint32(GOLDEN)).ravel(),
        own_alive=_bits(alive[own]),
        other_alive=_bits(alive[other]),
        fold_rows=(SCALE * np.column_stack([own_cards, same])).astype(np.int16).ravel(),
        card_fours=np.array([len(each) // FOUR for each in fours], dtype=np.int8),
        card_hands=(SCALE * np.concatenate(fours)).astype(np.int16),
        showdowns=make_showdowns(
            Players(
                order=(_by_strength(form, own), _by_strength(form, other)),
                living=(_living(form, own, alive[own]), _living(form, other, alive[other])),
                strength=(form.strength[own].astype(np.int16), form.strength[other].astype(np.int16)),
                cards=(own_cards, other_cards),
            ),
            np.pad(form.symmetry.cards, ((0, 0), (0, 1)), constant_values=form.deck)[form.streets[-1].symmetry],
        ),
    )


def _padded_rows(rows: NDArray[np.integer], width: int) -> Int16:
    """[rows, width] rows of hand numbers, in which a padding hand represents itself."""
    wide = np.tile(np.arange(width, dtype=np.int16), (len(rows), 1))
    wide[:, : rows.shape[1]] = rows
    return wide


def _cards(form: PublicForm, player: int, width: int) -> Int16:
    """[width, 2] cards of each hand; `deck`, whose row of sums stays 0, where there is none."""
    cards = np.full((width, 2), form.deck, dtype=np.int16)
    of_form = form.hands[player].cards
    cards[: len(of_form)] = np.where(of_form < 0, form.deck, of_form)
    return cards


def _runouts(form: PublicForm) -> Records:
    """Runouts of all streets in one table."""
    parts = []
    first_copy = this_street = next_street = last_street = 0
    for number, street in enumerate(form.streets):
        part = np.zeros(len(street.parent), dtype=RUNOUT)
        last_street, this_street, next_street = this_street, next_street, next_street + len(part)
        part["parent"] = street.parent + last_street if number else -1
        part["street"], part["local"], part["probability"] = number, np.arange(len(part)), street.probability
        part["symmetry"] = street.symmetry
        part["first_child"] = street.first_child[:-1] + next_street
        part["first_copy"] = street.first_copy[:-1] + first_copy + 1
        part["last_copy"] = street.first_copy[1:] + first_copy
        first_copy += len(street.copies)
        parts.append(part)
    runouts = np.concatenate(parts)
    runouts["number"] = np.arange(len(runouts))
    return runouts


def _alive(form: PublicForm, player: int) -> BoolArray:
    """[R, hands, padded]"""
    dead = np.concatenate([street.dead[player] for street in form.streets])
    alive = np.zeros((len(dead), padded(dead.shape[1])), dtype=np.bool_)
    alive[:, : dead.shape[1]] = ~dead
    return alive


def _bits(alive: BoolArray) -> UInt16:
    """Sixteen hands per number, the first in the lowest bit."""
    weights = (1 << np.arange(LANES)).astype(np.uint16)
    bits: UInt16 = (alive.reshape(-1, LANES) * weights).sum(axis=1).astype(np.uint16)
    return bits


def _living(form: PublicForm, player: int, alive: BoolArray) -> Int32:
    living: Int32 = alive[len(alive) - len(form.strength[player]) :].sum(axis=1).astype(np.int32)
    return living


def _by_strength(form: PublicForm, player: int) -> Int16:
    """[F, hands, padded] live hands of every final runout from weakest to strongest, then the dead."""
    strength = form.strength[player]
    highest = np.iinfo(np.int16).max
    key = np.full((len(strength), padded(strength.shape[1])), highest, dtype=np.int16)
    key[:, : strength.shape[1]] = np.where(strength < 0, highest, strength)
    return np.argsort(key, axis=1, kind="stable").astype(np.int16)


# --- showdowns -------------------------------------------------------------------------------------------------------


def make_showdowns(players: Players, alike: Int16) -> Showdowns:
    """The lists for all final runouts; for a flop this takes a fraction of a second.

    `alike` [F, deck + 1] is the card whose sums each card uses; `deck`, for a missing card, uses its own.
    """
    deck = alike.shape[1] - 1
    (final, n), m = players.order[0].shape, players.order[1].shape[1]
    lists = Showdowns(
        extents=np.zeros(final, dtype=EXTENT),
        sums=np.zeros((final, m), dtype=np.int16),
        event_fours=np.zeros((final, deck), dtype=np.int8),
        events=np.zeros((final, 2 * m + (FOUR - 1) * deck), dtype=np.int16),
        pair_counts=np.zeros((final, deck), dtype=np.int8),
        pairs=np.zeros((final, 2 * n, 2), dtype=np.int16),
        groups=np.zeros((final, n, 2), dtype=np.int16),
        records=np.zeros((final, n, RECORD), dtype=np.int16),
    )
    lengths = np.zeros((final, 4), dtype=np.int32)
    holders, by_card = np.zeros((deck + 1, m), dtype=np.int16), np.zeros((5, deck + 1), dtype=np.int32)
    fill_lists(players, alike, deck, lists, lengths, holders, by_card, np.zeros(m, dtype=np.int16))
    ends, extents = np.cumsum(lengths, axis=0), lists.extents
    for column, name in enumerate(("sum", "event", "pair", "group")):
        extents[f"first_{name}"] = ends[:, column] - lengths[:, column]
    extents["last_sum"], extents["last_group"] = ends[:, 0], ends[:, 3]

    def pack(rows: Int16, column: int) -> Int16:
        """The used entries of all rows, one row after another."""
        return rows[np.arange(rows.shape[1]) < lengths[:, column, None]].ravel()

    return Showdowns(
        extents,
        pack(lists.sums, 0),
        lists.event_fours.ravel(),
        pack(lists.events, 1),
        lists.pair_counts.ravel(),
        pack(lists.pairs, 2),
        pack(lists.groups, 3),
        lists.records.ravel(),
    )


@fast_kernel
def fill_lists(
    players: Players,
    alike: Int16,
    deck: int,
    lists: Showdowns,  # with one row per runout
    lengths: Int32,  # [F, 4] of the lists: sums, events, pairs, groups
    holders: Int16,  # [deck + 1, m] scratch: positions in the order of strength, by card
    by_card: Int32,  # [5, deck + 1] scratch
    classes: Int16,  # [m] scratch
) -> None:
    """For every final runout, merge the players' hands in order of strength, once overall and once by card."""
    counts, last, row, next_pair, passed = by_card[0], by_card[1], by_card[2], by_card[3], by_card[4]
    for runout in range(len(lists.records)):
        lengths[runout, 3] = _fill_groups(runout, players, lists.groups, lists.records, classes)
        lengths[runout, 0] = _fill_sums(runout, players, alike, lists.sums, classes, holders, counts)
        lengths[runout, 1] = _fill_events(
            runout, players, deck, lists.events, lists.event_fours, classes, holders, counts
        )
        lengths[runout, 2] = _count_pairs(runout, players, alike, deck, lists, last, next_pair)
        last[:] = -1
        row[:] = 0
        passed[:] = 0
        _fill_pairs(runout, players, alike, deck, lists, classes, holders, counts, last, row, next_pair, passed)


@fast_inlined
def _fill_groups(runout: int, players: Players, groups: Int16, records: Int16, classes: Int16) -> int:
    """The groups of own hands, with the rows of P that they read, and classes of the opponent's hands.

    Class 2g is between groups g − 1 and g, class 2g + 1 is as strong as group g.
    """
    own, other, strengths = players.order[0], players.order[1], players.strength
    own_count, other_count = players.living[0][runout], players.living[1][runout]
    seen, rows, group, start = 0, 0, 0, 0
    while start < own_count:
        strength = strengths[0][runout, own[runout, start]]
        end = start
        while end < own_count and strengths[0][runout, own[runout, end]] == strength:
            records[runout, own[runout, end], 0] = SCALE * (group + 1)
            end += 1
        for level in range(2):
            before = seen
            while seen < other_count:
                reached = strengths[1][runout, other[runout, seen]]
                if reached > strength or (level == 0 and reached == strength):
                    break
                classes[seen] = 2 * group + level
                seen += 1
            rows += seen > before
            groups[runout, group, level] = SCALE * rows
        group += 1
        start = end
    classes[seen:other_count] = 2 * group
    return group


@fast_inlined
def _fill_sums(
    runout: int, players: Players, alike: Int16, sums: Int16, classes: Int16, holders: Int16, counts: Int32
) -> int:
    """The order of P; `holders` and `counts` are the positions of the hands with each card, and how many there are."""
    other, cards, count = players.order[1], players.cards[1], players.living[1][runout]
    counts[:] = 0
    for index in range(count):
        hand = other[runout, index]
        ends = index + 1 == count or classes[index + 1] != classes[index]
        sums[runout, index] = SCALE * hand + ends
        for side in range(2):
            card = cards[hand, side]
            if alike[runout, card] == card:
                holders[card, counts[card]] = index
                counts[card] += 1
    length: int = -(-count // FOUR) * FOUR
    sums[runout, count:length] = SCALE * cards.shape[0]  # the row of zeros
    return length


@fast_inlined
def _fill_events(
    runout: int,
    players: Players,
    deck: int,
    events: Int16,
    event_fours: Int8,
    classes: Int16,
    holders: Int16,
    counts: Int32,
) -> int:
    """The order of E, card by card."""
    other, zeros = players.order[1], SCALE * players.cards[1].shape[0]
    length = 0
    for card in range(deck):
        event_fours[runout, card] = -(-counts[card] // FOUR)
        for number in range(FOUR * event_fours[runout, card]):
            if number < counts[card]:
                index = holders[card, number]
                ends = number + 1 == counts[card] or classes[holders[card, number + 1]] != classes[index]
                events[runout, length] = SCALE * other[runout, index] + ends
            else:
                events[runout, length] = zeros
            length += 1
    return length


@fast_inlined
def _count_pairs(
    runout: int, players: Players, alike: Int16, deck: int, lists: Showdowns, last: Int32, next_pair: Int32
) -> int:
    """How many pairs there are; `next_pair` is where those of each card begin."""
    own, cards = players.order[0], players.cards[0]
    last[:] = -1
    for index in range(players.living[0][runout]):
        hand = own[runout, index]
        for side in range(2):
            card = alike[runout, cards[hand, side]]
            if card < deck and last[card] != lists.records[runout, hand, 0]:
                last[card] = lists.records[runout, hand, 0]
                lists.pair_counts[runout, card] += 1
    length = 0
    for card in range(deck):
        next_pair[card] = length
        length += lists.pair_counts[runout, card]
    return length


@fast_inlined
def _fill_pairs(
    runout: int,
    players: Players,
    alike: Int16,
    deck: int,
    lists: Showdowns,
    classes: Int16,
    holders: Int16,
    counts: Int32,
    last: Int32,  # by card: the group of its latest pair
    row: Int32,  # by card: rows of E so far
    next_pair: Int32,
    passed: Int32,  # by card: the opponent's hands that are weaker than that group
) -> None:
    """The rows of E that each pair reads, and the pairs of each own hand."""
    own, cards, pairs, records = players.order[0], players.cards[0], lists.pairs, lists.records
    for index in range(players.living[0][runout]):
        hand = own[runout, index]
        group = records[runout, hand, 0] // SCALE - 1
        for side in range(2):
            card = alike[runout, cards[hand, side]]
            if card == deck:
                continue
            if last[card] != group:
                last[card] = group
                number = passed[card]
                while number < counts[card] and classes[holders[card, number]] <= 2 * group:
                    position = holders[card, number]
                    row[card] += number == 0 or classes[position] != classes[holders[card, number - 1]]
                    number += 1
                passed[card] = number
                level = number < counts[card] and classes[holders[card, number]] == 2 * group + 1
                pairs[runout, next_pair[card], 0] = SCALE * row[card]
                pairs[runout, next_pair[card], 1] = SCALE * (row[card] + level)
                next_pair[card] += 1
            records[runout, hand, 1 + side] = SCALE * next_pair[card]  # row 0 is all zeros
        if records[runout, hand, 1] > records[runout, hand, 2]:
            one, two = records[runout, hand, 2], records[runout, hand, 1]
            records[runout, hand, 1], records[runout, hand, 2] = one, two

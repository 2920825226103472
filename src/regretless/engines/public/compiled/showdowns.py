"""Lists for showdowns: which rows of reach to sum, and which sums each hand needs.

On a final runout, put the own hands into *groups* of equal strength, weakest first, and the opponent's hands into
*classes* by which groups they beat. Running sums of the opponent's reach are taken in order of strength, P over all
hands and E[c] over the hands that contain card c, and recorded where a class ends. An own hand of group g with cards c
and d faces, among the hands weaker than g (or weaker and equal, or all),

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

from regretless.compiling import fast_kernel
from regretless.engines.public.compiled.records import EXTENT, FOUR, RECORD, SCALE, Int8, Int16, Int32, Records

__all__ = ["Players", "Showdowns", "fill_lists", "make_showdowns"]


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
    for column, what in enumerate(("sum", "event", "pair", "group")):
        extents[f"first_{what}"] = ends[:, column] - lengths[:, column]
    extents["last_sum"], extents["last_group"] = ends[:, 0], ends[:, 3]

    def packed(rows: Int16, column: int) -> Int16:
        return rows[np.arange(rows.shape[1]) < lengths[:, column, None]].ravel()

    return Showdowns(
        extents,
        packed(lists.sums, 0),
        lists.event_fours.ravel(),
        packed(lists.events, 1),
        lists.pair_counts.ravel(),
        packed(lists.pairs, 2),
        packed(lists.groups, 3),
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
    (own, other), (own_count, other_count), (own_strength, other_strength), (own_cards, other_cards) = players
    _, sums, event_fours, events, pair_counts, pairs, groups, records = lists
    zeros = SCALE * other_cards.shape[0]
    held, last, row, place, taken = by_card[0], by_card[1], by_card[2], by_card[3], by_card[4]
    for runout in range(len(records)):
        # Groups, and classes of the opponent's hands: 2g between groups g - 1 and g, 2g + 1 equal to g.
        found, rows, group, start = 0, 0, 0, 0
        while start < own_count[runout]:
            strength = own_strength[runout, own[runout, start]]
            end = start
            while end < own_count[runout] and own_strength[runout, own[runout, end]] == strength:
                records[runout, own[runout, end], 0] = SCALE * (group + 1)
                end += 1
            for level in range(2):
                before = found
                while found < other_count[runout]:
                    reached = other_strength[runout, other[runout, found]]
                    if reached > strength or (level == 0 and reached == strength):
                        break
                    classes[found] = 2 * group + level
                    found += 1
                rows += found > before
                groups[runout, group, level] = SCALE * rows
            group += 1
            start = end
        classes[found : other_count[runout]] = 2 * group
        lengths[runout, 3] = group
        # The order of P, and by card that of E.
        held[:] = 0
        count = other_count[runout]
        for index in range(count):
            hand = other[runout, index]
            ends = index + 1 == count or classes[index + 1] != classes[index]
            sums[runout, index] = SCALE * hand + ends
            for side in range(2):
                card = other_cards[hand, side]
                if alike[runout, card] == card:
                    holders[card, held[card]] = index
                    held[card] += 1
        length = -(-count // FOUR) * FOUR
        sums[runout, count:length] = zeros
        lengths[runout, 0] = length
        length = 0
        for card in range(deck):
            event_fours[runout, card] = -(-held[card] // FOUR)
            for number in range(FOUR * event_fours[runout, card]):
                if number < held[card]:
                    index = holders[card, number]
                    ends = number + 1 == held[card] or classes[holders[card, number + 1]] != classes[index]
                    events[runout, length] = SCALE * other[runout, index] + ends
                else:
                    events[runout, length] = zeros
                length += 1
        lengths[runout, 1] = length
        # Pairs, card by card: first how many, then where.
        last[:] = -1
        for index in range(own_count[runout]):
            hand = own[runout, index]
            for side in range(2):
                card = alike[runout, own_cards[hand, side]]
                if card < deck and last[card] != records[runout, hand, 0]:
                    last[card] = records[runout, hand, 0]
                    pair_counts[runout, card] += 1
        length = 0
        for card in range(deck):
            place[card] = length
            length += pair_counts[runout, card]
        lengths[runout, 2] = length
        last[:] = -1
        row[:] = 0
        taken[:] = 0
        for index in range(own_count[runout]):
            hand = own[runout, index]
            group = records[runout, hand, 0] // SCALE - 1
            for side in range(2):
                card = alike[runout, own_cards[hand, side]]
                if card == deck:
                    continue
                if last[card] != group:
                    last[card] = group
                    passed = taken[card]
                    while passed < held[card] and classes[holders[card, passed]] <= 2 * group:
                        at = holders[card, passed]
                        row[card] += passed == 0 or classes[at] != classes[holders[card, passed - 1]]
                        passed += 1
                    taken[card] = passed
                    level = passed < held[card] and classes[holders[card, passed]] == 2 * group + 1
                    pairs[runout, place[card], 0] = SCALE * row[card]
                    pairs[runout, place[card], 1] = SCALE * (row[card] + level)
                    place[card] += 1
                records[runout, hand, 1 + side] = SCALE * place[card]  # row 0 is all zeros
            if records[runout, hand, 1] > records[runout, hand, 2]:
                one, two = records[runout, hand, 2], records[runout, hand, 1]
                records[runout, hand, 1], records[runout, hand, 2] = one, two

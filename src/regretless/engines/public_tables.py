"""What the kernels of the public form know of hands and runouts: who is dead, who blocks whom, who beats whom.

For the showdowns of one final runout, let the opponent's living hands be sorted by strength. Running sums of their
reach are taken over all of them, P[j] for the first j, and card by card over the hands that hold it (an *event* each,
E[0] being 0 for "none yet"). Then for an own hand h with cards c and d that beats the first j hands,

    weaker hands' reach that shares no card with h  =  P[j] − E[c's last event before j] − E[d's last event before j].

Which rows to take is the same for every terminal of the runout, so it is worked out once, here: a *record* of eight
small numbers a hand. The sums of all terminals are then straight lines of vector arithmetic, without a branch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.engines._kernel import kernel
from regretless.engines.public_plan import padded
from regretless.forms.public import PublicForm

__all__ = ["RECORD", "SCALE", "Tables", "make_tables"]

Int16 = NDArray[np.int16]
Int32 = NDArray[np.int32]
Float32 = NDArray[np.float32]
Records = NDArray[np.void]

SCALE = 8  # rows in records are counted in eighths, which an x86 processor turns into addresses by itself
RECORD = 8  # hand, (rows of weaker: P, E, E), (rows of weaker or equal: P, E, E), the same hand of the opponent


RUNOUT = np.dtype(
    [
        ("street", np.int32),
        ("local", np.int32),  #       counted among those of its street
        ("parent", np.int32),  #      runout of the street before; -1 on the first
        ("first_child", np.int32),  # runouts of the next street that follow
        ("last_child", np.int32),
        ("first_copy", np.int32),  #  the identity not included
        ("last_copy", np.int32),
        ("own_living", np.int32),  #  hands that are not dead
        ("other_living", np.int32),
        ("probability", np.float32),
    ]
)


class Tables(NamedTuple):
    """For walks that update one player. R runouts of all streets, street by street; n own, m other hands, padded."""

    runouts: Records  #      [R]      RUNOUT
    copies: Int16  #         [copies] rows of `permutations`
    other_alive: Float32  #  [R · m]  1, or 0 where the hand is dead
    own_hands: (
        Int16  #      [R · n]  first the living hands, on the last street from weakest to strongest; then the dead
    )
    other_hands: Int16  #    [R · m]
    records: Int16  #        [final runouts · n · 8]
    own_cards: Int16  #      [2 n]    rows of card sums to subtract; a row that stays 0 for the second of one card
    card_first: Int32  #     [deck + 1]    other hands with card c are card_hands[card_first[c] : card_first[c + 1]]
    card_hands: Int16  #     [2 m or less]
    event_first: Int16  #    [final runouts · (deck + 1)]  the same among the living, by strength: the events of card c
    event_hands: Int16  #    [final runouts · 2 m]
    same: Int16  #           [n]      the other player's same hand; the row of zeros after the last where there is none
    permutations: Int16  #   [G · n]


def make_tables(form: PublicForm) -> tuple[Tables, Tables]:
    """The tables for both players' walks; the records of a flop take a fraction of a second."""
    hands = [padded(len(held.weight)) for held in form.hands]
    alive = [_alive(form, player, hands[player]) for player in range(2)]
    living = [_living_first(form, player, alive[player]) for player in range(2)]
    counts = [(alive[player] > 0).sum(axis=1).astype(np.int32) for player in range(2)]
    return _make_tables(form, 0, hands, alive, living, counts), _make_tables(form, 1, hands, alive, living, counts)


def _make_tables(
    form: PublicForm, own: int, hands: list[int], alive: list[Float32], living: list[Int16], counts: list[Int32]
) -> Tables:
    other = 1 - own
    own_cards = np.full((hands[own], 2), form.deck + 1, dtype=np.int16)
    own_cards[: len(form.hands[own].cards)] = np.where(form.hands[own].cards < 0, form.deck + 1, form.hands[own].cards)
    other_cards = np.full((hands[other], 2), form.deck, dtype=np.int16)  # `deck` where there is no card
    given = form.hands[other].cards
    other_cards[: len(given)] = np.where(given < 0, form.deck, given)
    holders = np.argsort(other_cards.ravel(), kind="stable")
    card_first = np.searchsorted(other_cards.ravel()[holders], np.arange(form.deck + 1)).astype(np.int32)
    same = np.full(hands[own], hands[other], dtype=np.int16)
    same[: len(form.hands[own].same)] = np.where(form.hands[own].same < 0, hands[other], form.hands[own].same)
    permutations = np.tile(np.arange(hands[own], dtype=np.int16), (len(form.permutations[own]), 1))
    permutations[:, : len(form.hands[own].weight)] = form.permutations[own]

    final = len(form.strength[own])
    records = np.zeros((final, hands[own], RECORD), dtype=np.int16)
    event_first = np.zeros((final, form.deck + 1), dtype=np.int16)
    event_hands = np.zeros((final, 2 * hands[other]), dtype=np.int16)
    _fill_records(
        living[own][-final:],
        living[other][-final:],
        counts[own][-final:],
        counts[other][-final:],
        form.strength[own].astype(np.int16),
        form.strength[other].astype(np.int16),
        own_cards,
        other_cards,
        same,
        form.deck,
        event_first,
        event_hands,
        records,
        np.zeros(form.deck + 2, dtype=np.int16),
    )
    return Tables(
        runouts=_runouts(form, counts[own], counts[other]),
        copies=np.concatenate([street.copies for street in form.streets]).astype(np.int16),
        other_alive=alive[other].ravel(),
        own_hands=living[own].ravel(),
        other_hands=living[other].ravel(),
        records=records.ravel(),
        own_cards=own_cards.ravel(),
        card_first=card_first,
        card_hands=(holders[: card_first[-1]] // 2).astype(np.int16),
        event_first=event_first.ravel(),
        event_hands=event_hands.ravel(),
        same=same,
        permutations=permutations.ravel(),
    )


def _runouts(form: PublicForm, own_count: Int32, other_count: Int32) -> Records:
    """Runouts of all streets in one table."""
    parts = []
    first_copy = this_street = next_street = last_street = 0
    for number, street in enumerate(form.streets):
        part = np.zeros(len(street.parent), dtype=RUNOUT)
        last_street, this_street, next_street = this_street, next_street, next_street + len(part)
        part["parent"] = street.parent + last_street if number else -1
        part["street"], part["local"], part["probability"] = number, np.arange(len(part)), street.probability
        part["first_child"] = street.first_child[:-1] + next_street
        part["last_child"] = street.first_child[1:] + next_street
        part["first_copy"] = street.first_copy[:-1] + first_copy + 1
        part["last_copy"] = street.first_copy[1:] + first_copy
        first_copy += len(street.copies)
        parts.append(part)
    runouts = np.concatenate(parts)
    runouts["own_living"], runouts["other_living"] = own_count, other_count
    return runouts


def _alive(form: PublicForm, player: int, width: int) -> Float32:
    dead = np.concatenate([street.dead[player] for street in form.streets])
    alive = np.zeros((len(dead), width), dtype=np.float32)
    alive[:, : dead.shape[1]] = ~dead
    return alive


def _living_first(form: PublicForm, player: int, alive: Float32) -> Int16:
    """Hands of every runout, the living first, on the last street by strength."""
    strength = form.strength[player]
    highest = np.iinfo(np.int16).max
    key = np.where(alive > 0, 0, highest).astype(np.int16)
    key[len(alive) - len(strength) :, : strength.shape[1]] = np.where(strength < 0, highest, strength)
    return np.argsort(key, axis=1, kind="stable").astype(np.int16)


@kernel
def _fill_records(
    own: Int16,
    other: Int16,
    own_count: Int32,
    other_count: Int32,
    own_strength: Int16,
    other_strength: Int16,
    own_cards: Int16,
    other_cards: Int16,
    same: Int16,
    deck: int,
    event_first: Int16,
    event_hands: Int16,
    records: Int16,
    event: Int16,  # [deck + 2] room for the last event of each card
) -> None:
    """For every final runout, sort events by card, then merge the two lists and note the last event of every card."""
    for runout in range(len(records)):
        event[:] = 0
        for index in range(other_count[runout]):
            event[other_cards[other[runout, index], 0]] += 1
            event[other_cards[other[runout, index], 1]] += 1
        for card in range(deck):
            event_first[runout, card + 1] = event_first[runout, card] + event[card]
            event[card] = event_first[runout, card]
        event[deck] = 0
        for index in range(other_count[runout]):
            hand = other[runout, index]
            for side in range(2):
                card = other_cards[hand, side]
                if card < deck:
                    event_hands[runout, event[card]] = hand
                    event[card] += 1
        event[:] = 0
        added = 0
        start = 0
        while start < own_count[runout]:
            strength = own_strength[runout, own[runout, start]]
            end = start
            while end < own_count[runout] and own_strength[runout, own[runout, end]] == strength:
                end += 1
            for rows in range(2):  # weaker hands first, then those of equal strength too
                while added < other_count[runout]:
                    hand = other[runout, added]
                    reached = other_strength[runout, hand]
                    if reached > strength or (rows == 0 and reached == strength):
                        break
                    event[other_cards[hand, 0]] += 1
                    event[other_cards[hand, 1]] += 1
                    added += 1
                for index in range(start, end):
                    hand = own[runout, index]
                    records[runout, index, 1 + 3 * rows] = SCALE * added
                    for side in range(2):
                        card = own_cards[hand, side]
                        met = card < deck and event[card] > 0
                        row = event_first[runout, card] + event[card] if met else 0
                        records[runout, index, 2 + 3 * rows + side] = SCALE * row
            for index in range(start, end):
                hand = own[runout, index]
                records[runout, index, 0] = SCALE * hand
                records[runout, index, 7] = SCALE * same[hand]
            start = end

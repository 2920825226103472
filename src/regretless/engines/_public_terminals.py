"""Terminals, sixteen at a time: fold and showdown for all hands in O(n + m).

Rows of reach over hands are turned into a tile [hands, 16], a terminal to a lane; one pass over the opponent's hands
adds up reach by card, one pass over the own hands takes what they block away again; then the tile of values is turned
back into rows.

    fold        pay · V(h),    V(h) = all − S[c] − S[d] + reach[same hand],    S[c]: reach of the hands with card c
    showdown    (win − tie) · W(h) + (tie − lose) · E(h) + lose · V(h)

W is V among weaker hands, E among weaker or equal ones, both from the running sums that `public_tables` explains. The
opponent's hand with h's own two cards is subtracted twice and so added once; it is never weaker than h.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.engines._kernel import inlined
from regretless.engines._lanes import add_product, item, load, splat, store, transpose, transpose_back
from regretless.engines.public_plan import LANES
from regretless.engines.public_tables import RECORD, SCALE

__all__ = ["Tile", "fold_tile", "showdown_tile"]

Int16 = NDArray[np.int16]
Int32 = NDArray[np.int32]
Float32 = NDArray[np.float32]

STEP = LANES // SCALE  # numbers in an eighth of a row


class Tile(NamedTuple):
    """Room for one tile, rows of sixteen."""

    reach: Float32  # [(opponent hands + 1) · 16]  the last row is 0
    values: Float32  # [own hands · 16]            rows of dead hands are 0
    cards: Float32  # [(deck + 2) · 16]            reach by card
    sums: Float32  # [(opponent hands + 1) · 16]   P, running sums in order of strength
    events: Float32  # [(2 opponent hands + 1) · 16]  E, running sums by card


@inlined
def fold_tile(
    own_hands: int,
    other_hands: int,
    living: Int16,
    living_at: int,
    living_count: int,
    own_cards: Int16,
    card_first: Int32,
    card_hands: Int16,
    same: Int16,
    opponent: Float32,
    from_at: Int32,
    value: Float32,
    to_at: Int32,
    pay: Float32,
    first: int,
    tile: Tile,
) -> None:
    """Sixteen folds; `first` is the tile's first terminal in `from_at`, `to_at` and `pay`."""
    reach, values, cards = tile.reach, tile.values, tile.cards
    zero = splat(np.float32(0.0))
    all_reach = zero
    odd_reach = zero
    for hand in range(0, other_hands, LANES):
        transpose(opponent, from_at, first, hand, reach, hand * LANES)
        for near in range(hand * LANES, (hand + LANES) * LANES, 2 * LANES):
            all_reach = all_reach + load(reach, near)
            odd_reach = odd_reach + load(reach, near + LANES)
    all_reach = all_reach + odd_reach
    for card in range(card_first.size - 1):
        one, two = zero, zero
        for index in range(item(card_first, card), item(card_first, card + 1) - 1, 2):
            one = one + load(reach, item(card_hands, index) * LANES)
            two = two + load(reach, item(card_hands, index + 1) * LANES)
        if (card_first[card + 1] - card_first[card]) % 2 == 1:
            one = one + load(reach, np.int64(card_hands[card_first[card + 1] - 1]) * LANES)
        store(cards, card * LANES, one + two)
    amount = load(pay, first)
    for index in range(living_at, living_at + living_count):
        hand = item(living, index)
        blocked = load(cards, item(own_cards, 2 * hand) * LANES) + load(cards, item(own_cards, 2 * hand + 1) * LANES)
        valid = all_reach - blocked + load(reach, item(same, hand) * LANES)
        store(values, hand * LANES, amount * valid)
    for hand in range(0, own_hands, LANES):
        transpose_back(values, hand * LANES, value, to_at, first, hand)


@inlined
def showdown_tile(
    own_hands: int,
    other_hands: int,
    living: Int16,
    living_at: int,
    living_count: int,
    event_first: Int16,
    event_first_at: int,
    event_hands: Int16,
    event_at: int,
    records: Int16,
    record_at: int,
    record_count: int,
    own_cards: Int16,
    opponent: Float32,
    from_at: Int32,
    value: Float32,
    to_at: Int32,
    pay: Float32,
    first: int,
    tile: Tile,
) -> None:
    """Sixteen showdowns; `living` are the opponent's hands by strength, `records` say what to take for the own ones."""
    reach, values, cards, sums, events = tile
    for hand in range(0, other_hands, LANES):
        transpose(opponent, from_at, first, hand, reach, hand * LANES)
    zero = splat(np.float32(0.0))
    store(sums, 0, zero)
    store(events, 0, zero)
    # P, four at a time: within the four, sums do not wait for the running sum.
    all_reach = zero
    whole = living_count - living_count % 4
    for index in range(0, whole, 4):
        one = load(reach, item(living, living_at + index) * LANES)
        two = one + load(reach, item(living, living_at + index + 1) * LANES)
        three = two + load(reach, item(living, living_at + index + 2) * LANES)
        four = three + load(reach, item(living, living_at + index + 3) * LANES)
        store(sums, (index + 1) * LANES, all_reach + one)
        store(sums, (index + 2) * LANES, all_reach + two)
        store(sums, (index + 3) * LANES, all_reach + three)
        all_reach = all_reach + four
        store(sums, (index + 4) * LANES, all_reach)
    for index in range(whole, living_count):
        all_reach = all_reach + load(reach, item(living, living_at + index) * LANES)
        store(sums, (index + 1) * LANES, all_reach)
    # E, card by card.
    for card in range(cards.size // LANES - 2):
        grown = zero
        for index in range(item(event_first, event_first_at + card), item(event_first, event_first_at + card + 1)):
            grown = grown + load(reach, item(event_hands, event_at + index) * LANES)
            store(events, (index + 1) * LANES, grown)
        store(cards, card * LANES, grown)
    count = from_at.size
    weaker_pay, equal_pay, all_pay = load(pay, first), load(pay, count + first), load(pay, 2 * count + first)
    for record in range(record_at, record_at + record_count * RECORD, RECORD):
        hand = item(records, record)
        weaker = (
            load(sums, item(records, record + 1) * STEP)
            - load(events, item(records, record + 2) * STEP)
            - load(events, item(records, record + 3) * STEP)
        )
        same = load(reach, item(records, record + 7) * STEP)
        equal = (
            load(sums, item(records, record + 4) * STEP)
            - load(events, item(records, record + 5) * STEP)
            - load(events, item(records, record + 6) * STEP)
            + same
        )
        card = hand // (SCALE // 2)
        blocked = load(cards, item(own_cards, card) * LANES) + load(cards, item(own_cards, card + 1) * LANES)
        valid = all_reach - blocked + same
        worth = add_product(add_product(all_pay * valid, weaker, weaker_pay), equal, equal_pay)
        store(values, hand * STEP, worth)
    for hand in range(0, own_hands, LANES):
        transpose_back(values, hand * LANES, value, to_at, first, hand)

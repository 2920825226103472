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

import numba as nb
import numpy as np
from numpy.typing import NDArray

from regretless.engines._lanes import add_product, load, splat, store, transpose, transpose_back
from regretless.engines.public_plan import LANES
from regretless.engines.public_tables import RECORD

__all__ = ["Tile", "fold_tile", "showdown_tile"]

Int16 = NDArray[np.int16]
Int32 = NDArray[np.int32]
Float32 = NDArray[np.float32]

SPEED = {"cache": True, "nogil": True, "fastmath": True, "boundscheck": False, "error_model": "numpy"}


class Tile(NamedTuple):
    """Room for one tile, rows of sixteen."""

    reach: Float32  # [(opponent hands + 1) · 16]  the last row is 0
    values: Float32  # [own hands · 16]            rows of dead hands are 0
    cards: Float32  # [(deck + 2) · 16]            reach by card
    sums: Float32  # [(opponent hands + 1) · 16]   P, running sums in order of strength
    events: Float32  # [(2 opponent hands + 1) · 16]  E, running sums by card


@nb.njit(**SPEED)
def fold_tile(
    own_hands: int,
    other_hands: int,
    living: Int16,
    living_at: int,
    living_count: int,
    own_cards: Int16,
    other_cards: Int16,
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
    for hand in range(0, other_hands, LANES):
        transpose(opponent, from_at, first, hand, reach, hand * LANES)
    zero = splat(np.float32(0.0))
    for row in range(0, cards.size, LANES):
        store(cards, row, zero)
    all_reach = zero
    for hand in range(other_hands):
        row = load(reach, hand * LANES)
        all_reach = all_reach + row
        card = other_cards[2 * hand] * LANES
        store(cards, card, load(cards, card) + row)
        card = other_cards[2 * hand + 1] * LANES
        store(cards, card, load(cards, card) + row)
    amount = load(pay, first)
    for index in range(living_at, living_at + living_count):
        hand = np.int64(living[index])
        blocked = load(cards, own_cards[2 * hand] * LANES) + load(cards, own_cards[2 * hand + 1] * LANES)
        valid = all_reach - blocked + load(reach, same[hand] * LANES)
        store(values, hand * LANES, amount * valid)
    for hand in range(0, own_hands, LANES):
        transpose_back(values, hand * LANES, value, to_at, first, hand)


@nb.njit(**SPEED)
def showdown_tile(
    own_hands: int,
    other_hands: int,
    living: Int16,
    living_at: int,
    living_count: int,
    records: Int16,
    record_at: int,
    record_count: int,
    own_cards: Int16,
    other_cards: Int16,
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
    for row in range(0, cards.size, LANES):
        store(cards, row, zero)
    all_reach = zero
    store(sums, 0, zero)
    store(events, 0, zero)
    for index in range(living_count):
        hand = np.int64(living[living_at + index])
        row = load(reach, hand * LANES)
        all_reach = all_reach + row
        store(sums, (index + 1) * LANES, all_reach)
        card = other_cards[2 * hand] * LANES
        grown = load(cards, card) + row
        store(cards, card, grown)
        store(events, (2 * index + 1) * LANES, grown)
        card = other_cards[2 * hand + 1] * LANES
        grown = load(cards, card) + row
        store(cards, card, grown)
        store(events, (2 * index + 2) * LANES, grown)
    count = from_at.size
    weaker_pay, equal_pay, all_pay = load(pay, first), load(pay, count + first), load(pay, 2 * count + first)
    for record in range(record_at, record_at + record_count * RECORD, RECORD):
        hand = np.int64(records[record])
        weaker = (
            load(sums, records[record + 1] * LANES)
            - load(events, records[record + 2] * LANES)
            - load(events, records[record + 3] * LANES)
        )
        same = load(reach, records[record + 7] * LANES)
        equal = (
            load(sums, records[record + 4] * LANES)
            - load(events, records[record + 5] * LANES)
            - load(events, records[record + 6] * LANES)
            + same
        )
        blocked = load(cards, own_cards[2 * hand] * LANES) + load(cards, own_cards[2 * hand + 1] * LANES)
        valid = all_reach - blocked + same
        worth = add_product(add_product(all_pay * valid, weaker, weaker_pay), equal, equal_pay)
        store(values, hand * LANES, worth)
    for hand in range(0, own_hands, LANES):
        transpose_back(values, hand * LANES, value, to_at, first, hand)

"""Terminals, sixteen at a time: fold and showdown for all hands in O(n + m).

Rows of reach over hands are transposed into a tile [hands, 16], one terminal per lane. The tile is summed by card and,
for showdowns, in order of strength, following the lists in `tables`; each own hand's value is computed from these
sums, and the values are transposed back into rows.

    fold        pay · V(h),    V(h) = all − S[c] − S[d] + reach[same hand],    S[c]: reach of the hands with card c
    showdown    (win − tie) · W(h) + (tie − lose) · E(h) + lose · V(h)

W is V over weaker hands, E over weaker or equal ones. The opponent's hand with h's own two cards is subtracted twice,
so it is added back once; it is never weaker than h. Own hands of equal strength that share a card subtract the same:

    base[g]     =  (win − tie) · P[g, weaker]     + (tie − lose) · P[g, equal]     + lose · all
    part[g, c]  =  (win − tie) · E[c, g, weaker]  + (tie − lose) · E[c, g, equal]  + lose · S[c]
    value       =  base[g] − part[g, c] − part[g, d] + (tie − lose + lose) · reach[same hand]

Where blockers leave almost none of the opponent's reach, these differences cancel, so tiles have 64-bit numbers; reach
and values always have 32 bits.

Equivalent cards on a runout share their sums, so equivalent hands get bit-identical values.

Prefetching. The arithmetic leaves the memory bus idle, so on the last street, while the tiles of a chunk are evaluated,
the regrets and averages of the chunk that is walked next are prefetched, an equal share per tile and, within a tile,
per hand. What another thread will walk is not prefetched: a cache line that moves back and forth between two cores
costs more than prefetching saves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regretless.compiling import fast_inlined
from regretless.engines.layout import LANES
from regretless.engines.numba.public.jobs import Float, Learned, Record, Stored, WalkScratch
from regretless.engines.numba.public.kernels.lanes import (
    Lanes,
    add_product,
    item,
    load,
    store,
    store_columns,
    transpose,
    zeros,
)
from regretless.engines.numba.public.kernels.processor import prefetch
from regretless.engines.numba.public.plan import WalkPlan
from regretless.engines.numba.public.records import FOUR, RECORD, ROW, SCALE, Int16
from regretless.engines.numba.public.tables import HandTables

__all__ = ["fold_tile", "plan_ahead", "showdown_tile", "tile_ahead"]

STEP = LANES // SCALE  # numbers in an eighth of a row


@fast_inlined
def fold_tile(
    first: int, runout: int, symmetry: int, plan: WalkPlan, tables: HandTables, scratch: WalkScratch, ahead: Ahead
) -> None:
    """Sixteen folds on a runout with a symmetry, starting at number `first` of `plan.folds`."""
    own_hands, other_hands, folds = plan.own_hands, plan.other_hands, plan.folds
    reach, cards = scratch.tile.reach, scratch.tile.cards
    rows, card_hands = tables.fold_rows, tables.card_hands
    zero = zeros(reach)
    store(reach, other_hands * LANES, zero)
    all_reach = zero
    odd_reach = zero
    for hand in range(0, other_hands, LANES):
        transpose(scratch.opponent, folds.from_at, first, hand, reach, hand * LANES)
        for near in range(hand * LANES, (hand + LANES) * LANES, 2 * LANES):
            all_reach = all_reach + load(reach, near)
            odd_reach = odd_reach + load(reach, near + LANES)
        prefetch_other(ahead, hand)
    all_reach = all_reach + odd_reach
    index = 0
    deck = tables.card_fours.size
    alike = symmetry * deck
    for card in range(deck):
        first_alike = item(tables.alike_cards, alike + card)
        if first_alike < card:
            store(cards, card * LANES, load(cards, first_alike * LANES))
            index += FOUR * item(tables.card_fours, card)
            continue
        even, odd = zero, zero
        for _ in range(item(tables.card_fours, card)):
            even = even + load(reach, item(card_hands, index) * STEP)
            odd = odd + load(reach, item(card_hands, index + 1) * STEP)
            even = even + load(reach, item(card_hands, index + 2) * STEP)
            odd = odd + load(reach, item(card_hands, index + 3) * STEP)
            index += FOUR
        store(cards, card * LANES, even + odd)
    amount = load(folds.pay, first)
    bits = runout * own_hands // LANES
    for hand in range(0, own_hands, LANES):
        columns = (
            amount * _unblocked(rows, hand + 0, all_reach, cards, reach),
            amount * _unblocked(rows, hand + 1, all_reach, cards, reach),
            amount * _unblocked(rows, hand + 2, all_reach, cards, reach),
            amount * _unblocked(rows, hand + 3, all_reach, cards, reach),
            amount * _unblocked(rows, hand + 4, all_reach, cards, reach),
            amount * _unblocked(rows, hand + 5, all_reach, cards, reach),
            amount * _unblocked(rows, hand + 6, all_reach, cards, reach),
            amount * _unblocked(rows, hand + 7, all_reach, cards, reach),
            amount * _unblocked(rows, hand + 8, all_reach, cards, reach),
            amount * _unblocked(rows, hand + 9, all_reach, cards, reach),
            amount * _unblocked(rows, hand + 10, all_reach, cards, reach),
            amount * _unblocked(rows, hand + 11, all_reach, cards, reach),
            amount * _unblocked(rows, hand + 12, all_reach, cards, reach),
            amount * _unblocked(rows, hand + 13, all_reach, cards, reach),
            amount * _unblocked(rows, hand + 14, all_reach, cards, reach),
            amount * _unblocked(rows, hand + 15, all_reach, cards, reach),
        )
        store_columns(scratch.value, folds.to_at, first, hand, columns, tables.own_alive, bits + hand // LANES)
        prefetch_own(ahead, hand)


@fast_inlined
def _unblocked(rows: Int16, hand: int, all_reach: Lanes, cards: Float, reach: Float) -> Lanes:
    """V of one hand."""
    blocked = load(cards, item(rows, 3 * hand) * STEP) + load(cards, item(rows, 3 * hand + 1) * STEP)
    return all_reach - blocked + _same(rows, hand, reach)


@fast_inlined
def _same(rows: Int16, hand: int, reach: Float) -> Lanes:
    """The opponent's reach with the same two cards."""
    return load(reach, item(rows, 3 * hand + 2) * STEP)


@fast_inlined
def _running_sums(reach: Float, hands: Int16, first: int, last: int, sums: Float) -> Lanes:
    """Record running sums of rows of reach where a class ends, from row 1 of `sums`; returns the total.

    Within a group of four, sums do not wait for the running sum.
    """
    whole = zeros(reach)
    to_at = LANES
    for index in range(first, last, FOUR):
        number = item(hands, index)
        part = load(reach, (number & ROW) * STEP)
        store(sums, to_at, whole + part)
        to_at += (number & 1) * LANES
        number = item(hands, index + 1)
        part = part + load(reach, (number & ROW) * STEP)
        store(sums, to_at, whole + part)
        to_at += (number & 1) * LANES
        number = item(hands, index + 2)
        part = part + load(reach, (number & ROW) * STEP)
        store(sums, to_at, whole + part)
        to_at += (number & 1) * LANES
        number = item(hands, index + 3)
        whole = whole + (part + load(reach, (number & ROW) * STEP))
        store(sums, to_at, whole)
        to_at += (number & 1) * LANES
    return whole


@fast_inlined
def _share(sums: Float, rows: Int16, at: int, weaker_pay: Lanes, equal_pay: Lanes) -> Lanes:
    """(win − tie) · sum of the weaker + (tie − lose) · sum of the weaker or equal"""
    weaker = load(sums, item(rows, at) * STEP)
    equal = load(sums, item(rows, at + 1) * STEP)
    return add_product(weaker * weaker_pay, equal, equal_pay)


@fast_inlined
def _worth(records: Int16, at: int, base: Float, parts: Float, same: Lanes, same_pay: Lanes) -> Lanes:
    """A showdown for one hand."""
    met = load(base, item(records, at) * STEP) - load(parts, item(records, at + 1) * STEP)
    met = met - load(parts, item(records, at + 2) * STEP)
    return add_product(met, same, same_pay)


@fast_inlined
def showdown_tile(
    first: int, runout: int, final: int, plan: WalkPlan, tables: HandTables, scratch: WalkScratch, ahead: Ahead
) -> None:
    """Sixteen showdowns on one final runout, starting at number `first` of `plan.showdowns`.

    `runout` numbers it among all runouts, `final` among those of the last street.
    """
    own_hands, other_hands, showdowns = plan.own_hands, plan.other_hands, plan.showdowns
    tile, pay, count = scratch.tile, showdowns.pay, showdowns.from_at.size
    reach, events, parts, base = tile.reach, tile.events, tile.parts, tile.base
    lists = tables.showdowns
    extent = lists.extents[final]
    store(reach, other_hands * LANES, zeros(reach))
    for hand in range(0, other_hands, LANES):
        transpose(scratch.opponent, showdowns.from_at, first, hand, reach, hand * LANES)
        prefetch_other(ahead, hand)
    weaker_pay, equal_pay, all_pay = load(pay, first), load(pay, count + first), load(pay, 2 * count + first)
    all_reach = _running_sums(reach, lists.sums, extent.first_sum, extent.last_sum, tile.sums)
    whole = all_reach * all_pay
    to_at_base = LANES
    for index in range(extent.first_group, extent.last_group):
        store(base, to_at_base, whole + _share(tile.sums, lists.groups, 2 * index, weaker_pay, equal_pay))
        to_at_base += LANES
    event = np.int64(extent.first_event)
    pair = np.int64(extent.first_pair)
    deck = tables.card_fours.size
    to_at_part = LANES
    for card in range(final * deck, (final + 1) * deck):
        last = event + FOUR * item(lists.event_fours, card)
        whole = _running_sums(reach, lists.events, event, last, events) * all_pay
        event = last
        for index in range(pair, pair + item(lists.pair_counts, card)):
            store(parts, to_at_part, whole + _share(events, lists.pairs, 2 * index, weaker_pay, equal_pay))
            to_at_part += LANES
        pair += item(lists.pair_counts, card)
    records, rows = lists.records, tables.fold_rows
    same_pay = equal_pay + all_pay
    bits = runout * own_hands // LANES
    for hand in range(0, own_hands, LANES):
        at = (final * own_hands + hand) * RECORD
        columns = (
            _worth(records, at + 0 * RECORD, base, parts, _same(rows, hand + 0, reach), same_pay),
            _worth(records, at + 1 * RECORD, base, parts, _same(rows, hand + 1, reach), same_pay),
            _worth(records, at + 2 * RECORD, base, parts, _same(rows, hand + 2, reach), same_pay),
            _worth(records, at + 3 * RECORD, base, parts, _same(rows, hand + 3, reach), same_pay),
            _worth(records, at + 4 * RECORD, base, parts, _same(rows, hand + 4, reach), same_pay),
            _worth(records, at + 5 * RECORD, base, parts, _same(rows, hand + 5, reach), same_pay),
            _worth(records, at + 6 * RECORD, base, parts, _same(rows, hand + 6, reach), same_pay),
            _worth(records, at + 7 * RECORD, base, parts, _same(rows, hand + 7, reach), same_pay),
            _worth(records, at + 8 * RECORD, base, parts, _same(rows, hand + 8, reach), same_pay),
            _worth(records, at + 9 * RECORD, base, parts, _same(rows, hand + 9, reach), same_pay),
            _worth(records, at + 10 * RECORD, base, parts, _same(rows, hand + 10, reach), same_pay),
            _worth(records, at + 11 * RECORD, base, parts, _same(rows, hand + 11, reach), same_pay),
            _worth(records, at + 12 * RECORD, base, parts, _same(rows, hand + 12, reach), same_pay),
            _worth(records, at + 13 * RECORD, base, parts, _same(rows, hand + 13, reach), same_pay),
            _worth(records, at + 14 * RECORD, base, parts, _same(rows, hand + 14, reach), same_pay),
            _worth(records, at + 15 * RECORD, base, parts, _same(rows, hand + 15, reach), same_pay),
        )
        store_columns(scratch.value, showdowns.to_at, first, hand, columns, tables.own_alive, bits + hand // LANES)
        prefetch_own(ahead, hand)


# --- prefetching ------------------------------------------------------------------------------------------------------


class Ahead(NamedTuple):
    """What to prefetch: from two arrays while own hands are evaluated, from one while the opponent's are."""

    average: Stored
    matched: Stored
    other: Stored
    own_at: int
    other_at: int
    own_share: int  # numbers per tile
    other_share: int
    own_step: int  # numbers per hand
    other_step: int


@fast_inlined
def plan_ahead(
    chunk: Record, tiles: int, needed: bool, own_start: int, other_start: int, plan: WalkPlan, learned: Learned
) -> Ahead:
    """Plan to prefetch as many numbers as this chunk has, from the beginning of the chunk that is walked next.

    The numbers of this chunk's runout begin at `own_start` and `other_start`. Unless `needed`, the plan is to prefetch
    the beginning of this chunk, which is in the cache already.
    """
    own_share = chunk.own_size // tiles if needed else 0
    other_share = chunk.other_size // tiles if needed else 0
    return Ahead(
        learned.average,
        learned.matched,
        learned.other_matched,
        own_start + chunk.own_block + (chunk.own_size if needed else 0),
        other_start + chunk.other_block + (chunk.other_size if needed else 0),
        own_share,
        other_share,
        -(-own_share // plan.own_hands),
        -(-other_share // plan.other_hands),
    )


@fast_inlined
def tile_ahead(ahead: Ahead, tile: int) -> Ahead:
    """The share of one tile."""
    return Ahead(
        ahead.average,
        ahead.matched,
        ahead.other,
        ahead.own_at + tile * ahead.own_share,
        ahead.other_at + tile * ahead.other_share,
        ahead.own_share,
        ahead.other_share,
        ahead.own_step,
        ahead.other_step,
    )


@fast_inlined
def prefetch_own(ahead: Ahead, hand: int) -> None:
    """Prefetch for sixteen own hands, the first of which is `hand`."""
    for near in range(hand, hand + LANES):
        prefetch(ahead.average, ahead.own_at + near * ahead.own_step)
        prefetch(ahead.matched, ahead.own_at + near * ahead.own_step)


@fast_inlined
def prefetch_other(ahead: Ahead, hand: int) -> None:
    """Prefetch for sixteen hands of the opponent, the first of which is `hand`."""
    for near in range(hand, hand + LANES):
        prefetch(ahead.other, ahead.other_at + near * ahead.other_step)

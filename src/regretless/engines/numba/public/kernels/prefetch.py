"""Prefetching during terminal evaluation, when arithmetic leaves the memory bus idle.

On the last street, while the tiles of a chunk are evaluated, the regrets and averages of the chunk that is walked next
are prefetched, an equal share per tile and, within a tile, per hand. What another thread will walk is not prefetched: a
cache line that moves back and forth between two cores costs more than prefetching saves.
"""

from __future__ import annotations

from typing import NamedTuple

from regretless.compiling import fast_inlined
from regretless.engines.layout import LANES
from regretless.engines.numba.public.jobs import Learned, Record, Stored
from regretless.engines.numba.public.kernels.processor import prefetch
from regretless.engines.numba.public.plan import Plan

__all__ = ["Ahead", "plan_ahead", "prefetch_other", "prefetch_own", "tile_ahead"]


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
    chunk: Record, tiles: int, needed: bool, own_start: int, other_start: int, plan: Plan, learned: Learned
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

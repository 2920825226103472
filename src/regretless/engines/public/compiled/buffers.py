"""Working arrays for walks over the public form: rows per thread, ends of a walk, locked hands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.engines.public.compiled.jobs import Blocks, Scratch, Tile
from regretless.engines.public.compiled.plan import Plan
from regretless.engines.public.compiled.sizes import MOST_BLOCKS, tile_rows
from regretless.engines.public.layout import LANES
from regretless.engines.public.stored import Lock, Place
from regretless.forms.public import PublicForm

__all__ = ["aligned", "bytes_of", "lock_rows", "make_blocks", "make_scratch"]

CACHE_LINE = 64  # bytes


def aligned(size: int, dtype: Any = np.float32) -> NDArray[Any]:
    """Zeros aligned to a cache line, so that no vector straddles two."""
    width = np.dtype(dtype).itemsize
    raw = np.zeros(size + CACHE_LINE // width, dtype=dtype)
    skip = -raw.ctypes.data % CACHE_LINE // width
    return raw[skip : skip + size]


def bytes_of(*held: object) -> int:
    """Total bytes of arrays in nested tuples; arrays that share a buffer count once."""
    longest: dict[int, int] = {}

    def count(thing: object) -> None:
        if isinstance(thing, np.ndarray):
            longest[thing.ctypes.data] = max(thing.nbytes, longest.get(thing.ctypes.data, 0))
        elif isinstance(thing, tuple | list):
            for each in thing:
                count(each)

    count(held)
    return sum(longest.values())


def make_scratch(plans: tuple[Plan, Plan], deck: int, tile_type: type[np.floating[Any]] = np.float32) -> Scratch:
    """Rows for one thread."""
    opponent, value, line = (
        aligned(int(size), kind)
        for size, kind in zip(
            np.maximum(plans[0].rows, plans[1].rows), (np.float32, np.float32, np.float64), strict=True
        )
    )
    rows = tile_rows(max(plans[0].own_hands, plans[0].other_hands), deck)
    tile = Tile(**{name: aligned(count * LANES, tile_type) for name, count in rows.items()})
    return Scratch(opponent, value, line, tile)


def make_blocks(
    form: PublicForm, plans: tuple[Plan, Plan], units: Sequence[float], threads: int
) -> tuple[Blocks, Blocks]:
    """Blocks for both players' walks, which take turns with the buffers of lines."""
    runouts = len(form.streets[1].parent) if len(form.streets) > 1 else 0
    count = min(runouts, MOST_BLOCKS)
    buffers = count if threads > 1 else min(count, 1)
    sizes = [int(plan.streets[1]["last_line"]) * plan.own_hands if count else 0 for plan in plans]
    lines = aligned(buffers * max(sizes), np.float64)

    def of(own: int) -> Blocks:
        opponent = aligned(plans[own].other_hands)
        opponent[: len(form.hands[1 - own].weight)] = form.hands[1 - own].weight * units[own]
        ones = aligned(plans[own].own_hands)
        ones[:] = 1.0
        return Blocks(
            runout=np.linspace(1, 1 + runouts, count + 1).astype(np.int32),
            counter=np.zeros(1, dtype=np.int64),
            lines=lines[: buffers * sizes[own]],
            opponent=opponent,
            own=ones,
            root=aligned(plans[own].own_hands, np.float64),
            size=sizes[own],
        )

    return of(0), of(1)


def lock_rows(
    locks: Mapping[Place, Lock], form: PublicForm, plan: Plan
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """`Learned.lock` and `Learned.locked` for a player's locks."""
    locked = aligned(len(locks) * plan.own_hands)
    street_at = np.cumsum([0, *(len(street.parent) for street in form.streets)])
    rows = np.full((street_at[-1], len(plan.nodes)), -1, dtype=np.int32)
    for number, ((node, runout), lock) in enumerate(locks.items()):
        rows[street_at[int(form.tree.street[node])] + runout, plan.nodes["node"] == node] = number
        locked[number * plan.own_hands :][: len(lock.hands)] = lock.hands
    return rows.ravel(), locked

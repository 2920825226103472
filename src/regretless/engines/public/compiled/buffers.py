"""The arrays that walks over the public form work in: rows of one thread, and the ends of walks that threads share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.engines.public.compiled.iterate import Blocks
from regretless.engines.public.compiled.plan import LANES, Plan
from regretless.engines.public.compiled.showdowns import FOUR
from regretless.engines.public.compiled.tables import Tables
from regretless.engines.public.compiled.terminals import Tile
from regretless.engines.public.compiled.walk import Scratch
from regretless.forms.public import PublicForm

__all__ = ["aligned", "as_kernels_see", "bytes_of", "make_blocks", "make_scratch"]

MOST_BLOCKS = 64  # enough to share among threads; each holds the values of the lines into the second street
CACHE_LINE = 64  # bytes


def aligned(size: int, dtype: Any = np.float32) -> NDArray[Any]:
    """Zeros that begin at a cache line, so that no vector straddles two."""
    width = np.dtype(dtype).itemsize
    raw = np.zeros(size + CACHE_LINE // width, dtype=dtype)
    skip = -raw.ctypes.data % CACHE_LINE // width
    return raw[skip : skip + size]


def bytes_of(arrays: list[object]) -> int:
    """Total bytes; arrays that share a buffer count once."""
    longest: dict[int, int] = {}
    for array in arrays:
        if isinstance(array, np.ndarray):
            longest[array.ctypes.data] = max(array.nbytes, longest.get(array.ctypes.data, 0))
    return sum(longest.values())


def as_kernels_see(stored: NDArray[Any]) -> NDArray[Any]:
    """Halves as their bits."""
    return stored.view(np.int16) if stored.dtype == np.float16 else stored


def make_scratch(
    plans: tuple[Plan, Plan], tables: tuple[Tables, Tables], tile_type: type[np.floating[Any]] = np.float32
) -> Scratch:
    """Rows for one thread."""
    opponent, value, line = (
        aligned(int(size), kind)
        for size, kind in zip(
            np.maximum(plans[0].rows, plans[1].rows), (np.float32, np.float32, np.float64), strict=True
        )
    )
    hands = max(plans[0].own_hands, plans[0].other_hands)
    deck = tables[0].card_fours.size

    def most(counts: Callable[[Tables], NDArray[np.generic]]) -> int:
        return max(int(np.max(counts(each), initial=0)) for each in tables)

    groups = most(lambda each: each.showdowns.extents["last_group"] - each.showdowns.extents["first_group"])
    pairs = most(lambda each: each.showdowns.pair_counts.reshape(-1, deck).sum(axis=1, dtype=np.int64))
    tile = Tile(
        reach=aligned((hands + 1) * LANES, tile_type),
        cards=aligned((deck + 1) * LANES, tile_type),
        sums=aligned((min(hands, 2 * groups + 1) + 2) * LANES, tile_type),
        events=aligned((FOUR * most(lambda each: each.showdowns.event_fours) + 2) * LANES, tile_type),
        parts=aligned((pairs + 1) * LANES, tile_type),
        base=aligned((groups + 1) * LANES, tile_type),
    )
    return Scratch(opponent, value, line, tile)


def make_blocks(
    form: PublicForm, plans: tuple[Plan, Plan], units: tuple[float, float], threads: int
) -> tuple[Blocks, Blocks]:
    """For the walks of both players, which take turns with the buffers of lines."""
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

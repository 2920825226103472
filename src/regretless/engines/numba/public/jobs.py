"""Arguments of the kernels: weights of iterations, stored numbers and working rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from regretless.engines.layout import LANES, block_ends
from regretless.engines.numba.public.plan import WalkPlan
from regretless.engines.numba.public.records import Float32, Float64, Int32, Records
from regretless.engines.numba.public.sizes import SLOT_GAP, tile_rows
from regretless.engines.numba.public.tables import HandTables
from regretless.forms.history import AnyArray
from regretless.forms.public import PublicForm
from regretless.variants.variant import Weights

if TYPE_CHECKING:
    from regretless.engines.stored import LockedStrategy

__all__ = [
    "EXTRAS",
    "WEIGHTS",
    "Blocks",
    "Division",
    "Float",
    "Job",
    "KernelArguments",
    "Learned",
    "Step",
    "Steps",
    "Tile",
    "WalkScratch",
    "aligned",
    "bytes_of",
    "divide",
    "lock_rows",
    "make_blocks",
    "make_scratch",
    "make_steps",
    "second_runouts",
]

Float = Float32 | Float64
Record = Any  # one element of such an array, whose fields are read by name
Stored = Float32 | NDArray[np.int16] | NDArray[np.uint16]

CACHE_LINE = 64  # bytes
MAX_ITEMS = 2**15  # in a phase, so that they can be counted in 16 bits
WEIGHTS = np.dtype([(name, np.float32) for name in Weights._fields])  # a variant's numbers for one iteration
EXTRAS = np.dtype(
    [
        ("reach_share", np.float32),  # share of own reach in averages; the rest counts every reach as 1
        ("salt", np.int64),  #          makes 16-bit rounding differ from iteration to iteration
    ]
)


class Steps(NamedTuple):
    """The iterations to run, one row each."""

    weights: Records  # WEIGHTS
    extras: Records  #  EXTRAS


class Step(NamedTuple):
    """One iteration."""

    weights: Record
    extras: Record


class Learned(NamedTuple):
    """What CFR stores, as seen by a walk that updates `own`: [entries] per player, in 32 or 16 bits."""

    regret: Stored
    matched: Stored  # what regret matching reads: `regret`, unless the variant predicts
    average: Stored
    other_matched: Stored  # the opponent's, while the own player learns
    other_average: Stored  # the opponent's, while strategies are evaluated
    lock: Int32  # [runouts · nodes] row of `locked`, or -1; empty if nothing is locked
    locked: Float32  # [locks · hands] 1 where a hand is locked


class Tile(NamedTuple):
    """Room for one tile: rows of sixteen 32-bit or 64-bit numbers.

    The first row of `sums`, `events`, `parts` and `base` stays 0, as does the last of `cards`; in `reach`, the row
    after the opponent's hands is 0.
    """

    reach: Float  # [opponent hands + 1]
    cards: Float  # [deck + 1]               S, reach by card
    sums: Float  # [classes + 2]             P, running sums in order of strength
    events: Float  # [classes of a card + 2] E, running sums of one card
    parts: Float  # [pairs + 1]
    base: Float  # [groups + 1]


class WalkScratch(NamedTuple):
    """The rows of a walk; every array holds those of all slots of a team, one slot after another."""

    opponent: Float32
    value: Float32  # and own reach
    line: Float64  # values of the lines into each street, summed over its runouts
    tile: Tile


class Division(NamedTuple):
    """How the members of a team share B blocks of the second street."""

    members: int = 1
    each: int = 0  #   whole blocks per member
    left: int = 0  #   the other blocks
    pieces: int = 1  # of each of those: chunks of the last street; 1 if they are not divided
    slots: int = 1  #  sets of rows: one per member and, with three streets, one per divided block


class Blocks(NamedTuple):
    """The blocks of one player's walks, and where the walks begin and end."""

    runout: Int32  # [B+1]    first runout of each block, and the end
    chunk: Int32  # [pieces]  chunks of the last street, largest first
    lines: Float64  # [B · size]  values of the lines into the second street, by block; of a whole form on one thread,
    #                             [2 · size]
    opponent: Float32  # [m]  the opponent's range
    own: Float32  # [n]       1 for every hand
    root: Float64  # [3 n]    values at the root, by mode of the walk
    size: int  #              numbers in one buffer of lines


class Job(NamedTuple):
    """Everything that a walk of one player needs except the working rows."""

    plan: WalkPlan
    tables: HandTables
    learned: Learned
    blocks: Blocks


class KernelArguments(NamedTuple):
    """Everything that the walks of one player need, reused from call to call."""

    steps: Steps
    job: Job
    scratch: WalkScratch


def aligned(size: int, dtype: DTypeLike = np.float32) -> AnyArray:
    """Zeros aligned to a cache line, so that no vector straddles two."""
    width = np.dtype(dtype).itemsize
    raw = np.zeros(size + CACHE_LINE // width, dtype=dtype)
    skip = -raw.ctypes.data % CACHE_LINE // width
    return raw[skip : skip + size]


def make_steps(rows: int) -> Steps:
    """Room for this many iterations; until a row is filled in, it is a step that learns nothing."""
    return Steps(np.zeros(rows, dtype=WEIGHTS), np.zeros(rows, dtype=EXTRAS))


def make_scratch(
    plans: tuple[WalkPlan, WalkPlan], deck: int, tile_type: type[np.floating] = np.float32, slots: int = 1
) -> WalkScratch:
    """Rows for the slots of a team; the thread that uses a page of memory is the first to touch it."""
    gap = SLOT_GAP if slots > 1 else 0

    def room(size: int, kind: DTypeLike) -> AnyArray:
        return aligned(slots * (size + gap // np.dtype(kind).itemsize), kind)

    opponent, value, line = np.maximum(plans[0].rows, plans[1].rows).tolist()
    rows = tile_rows(max(plans[0].own_hands, plans[0].other_hands), deck)
    tile = Tile(**{name: room(count * LANES, tile_type) for name, count in rows.items()})
    return WalkScratch(room(opponent, np.float32), room(value, np.float32), room(line, np.float64), tile)


def second_runouts(form: PublicForm) -> int:
    """Runouts of the second street."""
    return len(form.streets[1].parent) if len(form.streets) > 1 else 0


def divide(plan: WalkPlan, runouts: int, members: int, blocks: int) -> Division:
    """Share the blocks of the second street among the members of a team.

    Blocks of one runout can be divided if the last street is the second or third and has several chunks. Every member
    then takes one whole block fewer than it could: the pieces even out differences between blocks and between cores.
    """
    last, streets = plan.streets[-1], len(plan.streets)
    pieces = max(1, int(last["last_chunk"] - last["first_chunk"])) if blocks == runouts and streets <= 3 else 1
    each = max(0, blocks // members - (pieces > 1)) if members > 1 else blocks
    left = blocks - each * members
    if left * pieces > MAX_ITEMS:
        pieces = 1
    return Division(members, each, left, pieces, members + (left if pieces > 1 and streets == 3 else 0))


def make_blocks(
    form: PublicForm, plans: tuple[WalkPlan, WalkPlan], units: Sequence[float], members: int
) -> tuple[Blocks, Blocks]:
    """Blocks for the walks of both players, which use the same buffers of lines in turn."""
    ends = np.array(block_ends(form), dtype=np.int32)
    count = len(ends) - 1
    buffers = count if members > 1 or form.part is not None else min(count, 2)
    sizes = [int(plan.streets[1]["last_line"]) * plan.own_hands if len(plan.streets) > 1 else 0 for plan in plans]
    lines = aligned(buffers * max(sizes), np.float64)

    def of(own: int) -> Blocks:
        opponent = aligned(plans[own].other_hands)
        opponent[: len(form.hands[1 - own].weight)] = form.hands[1 - own].weight * units[own]
        ones = aligned(plans[own].own_hands)
        ones[:] = 1.0
        last = plans[own].streets[-1]
        first_chunk, last_chunk = int(last["first_chunk"]), int(last["last_chunk"])
        chunks = plans[own].chunks[first_chunk:last_chunk]
        return Blocks(
            chunk=first_chunk + np.argsort(chunks["first_node"] - chunks["last_node"], kind="stable").astype(np.int32),
            runout=1 + ends,
            lines=lines[: buffers * sizes[own]],
            opponent=opponent,
            own=ones,
            root=aligned(3 * plans[own].own_hands, np.float64),
            size=sizes[own],
        )

    return of(0), of(1)


def lock_rows(
    form: PublicForm, plan: WalkPlan, locks: Mapping[tuple[int, int], LockedStrategy]
) -> tuple[Int32, Float32]:
    """`Learned.lock` and `Learned.locked` for a player's locks, by node and runout."""
    if not locks:
        return np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32)
    locked = aligned(len(locks) * plan.own_hands)
    street_at = np.cumsum([0, *(len(street.parent) for street in form.streets)])
    rows = np.full((street_at[-1], len(plan.nodes)), -1, dtype=np.int32)
    for number, ((node, runout), lock) in enumerate(locks.items()):
        rows[street_at[int(form.tree.street[node])] + runout, plan.nodes["node"] == node] = number
        locked[number * plan.own_hands :][: len(lock.hands)] = lock.hands
    return rows.ravel(), locked


def bytes_of(*arrays: object) -> int:
    """Total bytes of arrays in nested tuples; arrays that share a buffer count once."""
    longest: dict[int, int] = {}

    def count(thing: object) -> None:
        if isinstance(thing, np.ndarray):
            longest[thing.ctypes.data] = max(thing.nbytes, longest.get(thing.ctypes.data, 0))
        elif isinstance(thing, tuple | list):
            for each in thing:
                count(each)

    count(arrays)
    return sum(longest.values())

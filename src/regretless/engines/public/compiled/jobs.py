"""Arguments of the kernels: weights of iterations, stored numbers, and working rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.engines.public.compiled.plan import Plan
from regretless.engines.public.compiled.tables import Tables
from regretless.variants.variant import Weights

__all__ = ["EXTRAS", "WEIGHTS", "Blocks", "Job", "Learned", "Scratch", "Step", "Steps", "Tile"]

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Float = Float32 | Float64
Records = NDArray[np.void]
Record = Any  # one element of such an array, whose fields are read by name
Stored = NDArray[np.float32] | NDArray[np.int16] | NDArray[np.uint16]

WEIGHTS = np.dtype([(name, np.float32) for name in Weights._fields])  # a variant's numbers of one iteration
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
    matched: Stored  # what the next strategy is matched to: `regret`, unless the variant predicts
    average: Stored
    other_matched: Stored  # what the opponent's strategy is matched to while the own player learns,
    other_average: Stored  # and while strategies are evaluated
    lock: NDArray[np.int32]  # [runouts · nodes] row of `locked`, or -1; empty if nothing is locked
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


class Scratch(NamedTuple):
    """The rows of one walk; each thread has its own."""

    opponent: Float32
    value: Float32  # and own reach
    line: Float64  # values of the lines into each street, summed over its runouts
    tile: Tile


class Blocks(NamedTuple):
    """How the second street is divided among threads, and where the walks of one player begin and end."""

    runout: NDArray[np.int32]  # [B+1]  runouts of block b
    counter: NDArray[np.int64]  # [1]   blocks taken by threads in the current walk
    lines: Float64  # [B · size]        values of the lines into the second street, by block; [size] for one thread
    opponent: Float32  # [m]            the opponent's range
    own: Float32  # [n]                 1 for every hand
    root: Float64  # [n]                values at the root
    size: int  #                        numbers in one buffer of lines


class Job(NamedTuple):
    """Everything that the walks of one player need."""

    plan: Plan
    tables: Tables
    learned: Learned
    blocks: Blocks

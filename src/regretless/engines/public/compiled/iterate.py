"""Whole walks and whole iterations: the first street, and the runouts below it in blocks that threads can share.

The runouts of the second street are cut into blocks, the same blocks whatever the number of threads. A block adds up
its runouts in order into a buffer, and the buffers are added in order, so a result depends neither on the number of
threads nor on which of them was faster. Where one thread does all, one buffer is enough.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.compiling.decorators import fast_inlined, fast_kernel, fast_pasted
from regretless.engines.public.compiled.lanes import flush_tiny, load, restore_tiny, store, take, zeros
from regretless.engines.public.compiled.plan import LANES, Plan
from regretless.engines.public.compiled.tables import Tables
from regretless.engines.public.compiled.walk import DOWN, UP, Learned, Scratch, walk

__all__ = ["BEGIN", "BLOCKS", "FINISH", "Blocks", "Job", "iterate"]

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]

BEGIN, BLOCKS, FINISH = 1, 2, 4  # the parts of a walk: down the first street, everything below it, up the first street


class Blocks(NamedTuple):
    """How the second street is shared out, where the walks of one player begin and where they end."""

    runout: NDArray[np.int32]  # [B+1]  runouts of block b
    counter: NDArray[np.int64]  # [1]   blocks already taken by a thread in the walk under way
    lines: Float64  # [B · size]        values of the lines into the second street, by block; [size] for one thread
    opponent: Float32  # [m]            the opponent's range
    own: Float32  # [n]                 1 for every hand
    root: Float64  # [n]                what each hand is worth
    size: int  #                        numbers of one buffer of lines


class Job(NamedTuple):
    """All that a walk which updates one player needs."""

    plan: Plan
    tables: Tables
    learned: Learned
    blocks: Blocks


@fast_pasted
def _walk_parts(
    parts: int,
    mode: int,
    weights: Float32,
    predicts: bool,
    job: Job,
    main: Scratch,
    scratch: Scratch,
) -> None:
    plan, tables, learned, blocks = job
    zero = zeros(main.line)
    count = blocks.runout.size - 1
    size = blocks.size
    alone = blocks.lines.size == size
    # The three calls of `walk` are one call in a loop, so that its code exists once.
    stage = BEGIN
    while stage <= FINISH:
        if not parts & stage:
            stage *= 2
            continue
        if stage == BEGIN:
            blocks.counter[0] = 0
            for index in range(0, size, LANES):
                store(main.line, index, zero)
            top, first, last, begin, end = 0, 0, 1, DOWN, DOWN
            source_opponent, source_own, lines = blocks.opponent, blocks.own, blocks.root
            stage = BLOCKS
        elif stage == BLOCKS:
            block = take(blocks.counter)
            if block >= count:
                stage = FINISH
                continue
            top, first, last, begin, end = 1, int(blocks.runout[block]), int(blocks.runout[block + 1]), DOWN, UP
            source_opponent, source_own = main.opponent, main.value
            lines = blocks.lines if alone else blocks.lines[block * size : (block + 1) * size]
            for index in range(0, size, LANES):
                store(lines, index, zero)
        else:
            top, first, last, begin, end = 0, 0, 1, UP, UP
            source_opponent, source_own, lines = blocks.opponent, blocks.own, blocks.root
            for index in range(0, plan.own_hands, LANES):
                store(lines, index, zero)
            if not alone:
                for number in range(count):
                    _add_lines(main.line, blocks.lines, number * size, size)
            stage = 2 * FINISH
        rows = scratch if top == 1 else main
        walk(
            top,
            first,
            last,
            begin,
            end,
            mode,
            weights,
            predicts,
            plan,
            tables,
            learned,
            source_opponent,
            source_own,
            rows,
            lines,
        )
        if top == 1 and alone:
            _add_lines(main.line, lines, 0, size)


@fast_inlined
def _add_lines(total: Float64, lines: Float64, at: int, size: int) -> None:
    for index in range(0, size, LANES):
        store(total, index, load(total, index) + load(lines, at + index))


@fast_kernel
def iterate(
    schedule: Float32,
    first_own: int,
    last_own: int,
    parts: int,
    mode: int,
    predicts: bool,
    first: Job,
    second: Job,
    main: Scratch,
    scratch: Scratch,
) -> None:
    """For every row of weights, the walks of players `first_own : last_own` in turn; or those parts of them."""
    before = flush_tiny()
    for row in range(schedule.shape[0]):
        for own in range(first_own, last_own):
            job = first if own == 0 else second
            _walk_parts(parts, mode, schedule[row], predicts, job, main, scratch)
    restore_tiny(before)

"""Whole walks and whole iterations: the first street, and the runouts below it in blocks that threads share.

The runouts of the second street are divided into blocks, the same for any number of threads. A block sums its runouts
in order into a buffer, and the buffers are added in order, so results depend neither on the number of threads nor on
their timing. A single thread needs only one buffer.
"""

from __future__ import annotations

from regretless.compiling.decorators import fast_inlined, fast_kernel, fast_pasted
from regretless.engines.public.compiled.jobs import Job, Scratch, Step, Steps
from regretless.engines.public.compiled.kernels.lanes import load, store, zeros
from regretless.engines.public.compiled.kernels.processor import atomic_increment, flush_tiny, restore_tiny
from regretless.engines.public.compiled.kernels.walk import DOWN, UP, Stretch, walk
from regretless.engines.public.compiled.records import Float64
from regretless.engines.public.layout import LANES

__all__ = ["BEGIN", "BLOCKS", "FINISH", "iterate"]

BEGIN, BLOCKS, FINISH = 1, 2, 4  # the parts of a walk: down the first street, everything below it, up the first street


@fast_pasted
def _walk_parts(parts: int, mode: int, step: Step, predicts: bool, job: Job, main: Scratch, scratch: Scratch) -> None:
    """Parts of one player's walk; `main` has the rows of the first street, `scratch` those of the calling thread."""
    plan, tables, learned, blocks = job
    zero = zeros(main.line)
    count = blocks.runout.size - 1
    size = blocks.size
    alone = blocks.lines.size == size
    # The three calls of `walk` are one call in a loop, so that it is inlined only once.
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
            block = atomic_increment(blocks.counter)
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
        stretch = Stretch(top, first, last, begin, end, source_opponent, source_own, lines)
        walk(stretch, mode, step, predicts, plan, tables, learned, rows)
        if top == 1 and alone:
            _add_lines(main.line, lines, 0, size)


@fast_inlined
def _add_lines(total: Float64, lines: Float64, at: int, size: int) -> None:
    for index in range(0, size, LANES):
        store(total, index, load(total, index) + load(lines, at + index))


@fast_kernel
def iterate(
    steps: Steps,
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
    """For every iteration, the walks of players `first_own : last_own` in turn, or parts of them."""
    before = flush_tiny()
    for row in range(steps.weights.size):
        step = Step(steps.weights[row], steps.extras[row])
        for own in range(first_own, last_own):
            job = first if own == 0 else second
            _walk_parts(parts, mode, step, predicts, job, main, scratch)
    restore_tiny(before)

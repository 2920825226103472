"""Whole walks and whole iterations, shared among threads.

The runouts of the second street are divided into blocks, and the blocks into groups of six, whatever the number of
threads. A block's runouts are summed in order into its buffer, the buffers of a group are added in order to the group's
first, and the groups are added in order to the total. So results depend neither on the number of threads nor on their
timing, and each thread sums most of the groups that it walked: moving numbers from one core's cache to another's costs
more than the arithmetic. A single thread needs only two buffers.

The phases of a walk (`team.py`), and the work in each:

    BEGIN     down the first street; up again too, if it is the only one
    ENTER     with three streets: down the second street of the blocks that will be divided, each in a slot of its own
    BLOCKS    whole blocks, as many for every member of the team and always the same ones, so that their regrets stay in
              its caches and in memory near it; then the blocks that are left, divided where possible into pieces: one
              chunk of the last street, on all runouts of the block. Different chunks have different lines, and each
              line has a sum of its own, so dividing a block changes the order of no sum.
    RETURN    up the second street of the divided blocks
    ADD       for each member: the groups whose blocks all belong to it
    COLLECT   for each member: its range of the remaining groups' sums and of the total
    FINISH    up the first street
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regretless.compiling import fast_inlined, fast_kernel, fast_pasted
from regretless.engines.layout import LANES
from regretless.engines.numba.public.jobs import Blocks, Float, Job, Stored, Tile, WalkScratch
from regretless.engines.numba.public.kernels.arguments import read_arguments
from regretless.engines.numba.public.kernels.lanes import load, store
from regretless.engines.numba.public.kernels.processor import atomic_load, flush_tiny, restore_tiny
from regretless.engines.numba.public.kernels.team import (
    PHASE,
    Signals,
    close_order,
    finish_items,
    give_order,
    is_over,
    open_phase,
    take_item,
    wait_for_phase,
)
from regretless.engines.numba.public.kernels.walk import DOWN, UP, Stretch, clear, long, walk
from regretless.engines.numba.public.records import Float64

__all__ = ["APART", "BELOW", "FIRST", "FIRST_WALK", "GROUP", "LAST", "group_owner", "iterate"]

Order = NDArray[np.int64]

BEGIN, ENTER, BLOCKS, RETURN, ADD, COLLECT, FINISH, STAGES = range(8)
GROUP = 6  # divides the 36 and 48 runouts of many turns and flops, and leaves two threads few sums to exchange
FIRST, BELOW, LAST = 1, 2, 4  # parts of a walk that an order may ask for: BEGIN, all phases between, FINISH
APART = 8  # with BELOW: leave each block's sums in its buffer

# Fields of an order; the player and mode of each walk follow.
MEMBERS, EACH, LEFT, BLOCK_PIECES, SLOTS, STREETS, ROWS, PREDICTS, PARTS, WALKS, FIRST_WALK = range(11)


@fast_pasted
def _share(array: Float, slot: int, slots: int) -> Float:
    """One slot of an array of `WalkScratch`; pasted, because kernels without reference counts cannot return a slice."""
    size = array.size // slots
    return array[slot * size : (slot + 1) * size]


@fast_pasted
def _rows_of(scratch: WalkScratch, slot: int, slots: int) -> WalkScratch:
    tile = scratch.tile
    return WalkScratch(
        _share(scratch.opponent, slot, slots),
        _share(scratch.value, slot, slots),
        _share(scratch.line, slot, slots),
        Tile(
            _share(tile.reach, slot, slots),
            _share(tile.cards, slot, slots),
            _share(tile.sums, slot, slots),
            _share(tile.events, slot, slots),
            _share(tile.parts, slot, slots),
            _share(tile.base, slot, slots),
        ),
    )


@fast_pasted
def _first_street(begin: int, end: int, mode: int, job: Job) -> Stretch:
    root = job.blocks.root[mode * job.plan.own_hands : (mode + 1) * job.plan.own_hands]
    return Stretch(0, 0, 1, 0, 1, begin, end, False, job.blocks.opponent, job.blocks.own, root)


@fast_pasted
def _block(
    block: int, buffer: int, begin: int, end: int, continues: bool, job: Job, scratch: WalkScratch, slots: int
) -> Stretch:
    """A whole block, or only its second street."""
    blocks, street = job.blocks, job.plan.streets[1]
    lines = blocks.lines[buffer * blocks.size : (buffer + 1) * blocks.size]
    first, last = long(blocks.runout[block]), long(blocks.runout[block + 1])
    first_chunk, last_chunk = long(street.first_chunk), long(street.last_chunk)
    opponent, own = _share(scratch.opponent, 0, slots), _share(scratch.value, 0, slots)
    return Stretch(1, first, last, first_chunk, last_chunk, begin, end, continues, opponent, own, lines)


@fast_pasted
def _piece(whole: Stretch, number: int, job: Job, scratch: WalkScratch, slot: int, slots: int) -> Stretch:
    """A chunk of the last street in a block of one runout; with three streets, the second one's rows are in `slot`."""
    top = job.plan.streets.size - 1
    chunk = long(job.blocks.chunk[number])
    first, last, opponent, own, lines = whole.first_runout, whole.last_runout, whole.opponent, whole.own, whole.lines
    if top == 2:
        runouts = job.tables.runouts
        first = long(runouts[whole.first_runout].first_child)
        last = first
        while last < runouts.size and runouts[last].parent == whole.first_runout:
            last += 1
        opponent, own = _share(scratch.opponent, slot, slots), _share(scratch.value, slot, slots)
        lines = _share(scratch.line, slot, slots)
    return Stretch(top, first, last, chunk, chunk + 1, DOWN, UP, False, opponent, own, lines)


@fast_inlined
def _add_lines(total: Float64, total_at: int, lines: Float64, at: int, size: int) -> None:
    for index in range(0, size, LANES):
        store(total, total_at + index, load(total, total_at + index) + load(lines, at + index))


@fast_inlined
def _add_group(blocks: Blocks, group: int, first: int, last: int) -> None:
    """Add a range of a group's buffers to the first of them, in order."""
    for block in range(group * GROUP + 1, min((group + 1) * GROUP, blocks.runout.size - 1)):
        _add_lines(
            blocks.lines, group * GROUP * blocks.size + first, blocks.lines, block * blocks.size + first, last - first
        )


@fast_inlined
def group_owner(group: int, each: int, members: int) -> int:
    """The member that owns every block of a group; -1 if there is none."""
    owner = group * GROUP // max(each, GROUP)
    return owner if (group + 1) * GROUP <= (owner + 1) * each and owner < members else -1


@fast_inlined
def _add_own_groups(blocks: Blocks, member: int, each: int, members: int) -> None:
    """Sum the groups whose blocks all belong to one member."""
    for group in range(member * each // GROUP, (member + 1) * each // GROUP):
        if group_owner(group, each, members) == member:
            _add_group(blocks, group, 0, blocks.size)


@fast_inlined
def _collect(total: Float64, blocks: Blocks, member: int, each: int, members: int) -> None:
    """Sum one member's range of all groups, in order."""
    vectors = blocks.size // LANES
    first, last = vectors * member // members * LANES, vectors * (member + 1) // members * LANES
    clear(total, first, last)
    for group in range(-(-(blocks.runout.size - 1) // GROUP)):
        if group_owner(group, each, members) < 0:
            _add_group(blocks, group, first, last)
        _add_lines(total, first, blocks.lines, group * GROUP * blocks.size + first, last - first)


@fast_inlined
def _items(stage: int, order: Order) -> tuple[int, int]:
    """Items of a phase: for each member, and for anyone."""
    members, each, left, pieces, parts = order[MEMBERS], order[EACH], order[LEFT], order[BLOCK_PIECES], order[PARTS]
    if stage == BEGIN:
        return 0, 1 if parts & FIRST else 0
    if stage == FINISH:
        return 0, 1 if parts & LAST and order[STREETS] > 1 else 0
    if not parts & BELOW:
        return 0, 0
    if stage == BLOCKS:
        return each, left * pieces
    if parts & APART and stage in (ADD, COLLECT):
        return 0, 0
    if stage == ADD:
        return 1 if members > 1 and each >= GROUP else 0, 0
    if stage == COLLECT:
        return 1 if members > 1 else 0, 0
    return 0, left if pieces > 1 and order[STREETS] == 3 else 0


@fast_inlined
def _open_next(signals: Signals, order: Order, phase: int, member: int) -> None:
    """Open the first phase after this one that has items, or close the order."""
    end = order[ROWS] * order[WALKS] * STAGES
    following = phase + 1
    while following < end:
        each, others = _items(following % STAGES, order)
        if each + others > 0:
            open_phase(signals, following, member, order[MEMBERS], each, others)
            return
        following += 1
    close_order(signals)


@fast_kernel
def iterate(
    signals: Signals, order: Order, member: int, memory: NDArray[np.uint8], regret: Stored, reach: Float
) -> None:
    """Work on orders: in every iteration, some walks one after another.

    Member 0 opens an order and returns when it is finished; the others return when there has been none for a while.
    `memory` has the arguments, whose types follow from those of `regret` and `reach`.
    """
    before = flush_tiny()
    if member == 0:
        give_order(signals)
        _open_next(signals, order, -1, member)
    finished, current = 0, -1  # items finished but not yet reported, and their phase
    while True:
        seen = atomic_load(signals, PHASE)  # first: what is announced after this ends a wait
        if member == 0 and is_over(signals):
            break
        phase, owner, number = take_item(signals, member, order[MEMBERS])
        if phase < 0:
            if finished > 0:
                own_items, other_items = _items(current % STAGES, order)
                if finish_items(signals, finished, own_items * order[MEMBERS] + other_items):
                    _open_next(signals, order, current, member)
                finished = 0
                continue
            if wait_for_phase(signals, seen, member > 0):
                continue
            break
        # The order, the phase and the arguments cannot change while an item is unreported.
        finished, current = finished + 1, phase
        members, each, left, pieces, slots = order[MEMBERS], order[EACH], order[LEFT], order[BLOCK_PIECES], order[SLOTS]
        stage, turn = phase % STAGES, phase // STAGES
        row, turn = turn // order[WALKS], turn % order[WALKS]
        mode = order[FIRST_WALK + 2 * turn + 1]
        steps, job, scratch = read_arguments(memory, order[FIRST_WALK + 2 * turn], regret, reach)
        plan, tables, learned, blocks = job
        lines = _share(scratch.line, 0, slots)
        alone, whole = members == 1 and not order[PARTS] & APART, each * members
        slot = member
        stretch = _first_street(DOWN, DOWN if order[STREETS] > 1 else UP, mode, job)
        if stage == BEGIN:
            clear(stretch.lines, 0, plan.own_hands)
            if alone:
                clear(lines, 0, blocks.size)
        elif stage == FINISH:
            stretch = _first_street(UP, UP, mode, job)
        elif stage == ADD:
            _add_own_groups(blocks, owner, each, members)
        elif stage == COLLECT:
            _collect(lines, blocks, owner, each, members)
        elif stage == BLOCKS and owner >= 0:
            block, continues = owner * each + number, owner == member and number + 1 < each
            buffer = (1 if number % GROUP > 0 else 0) if alone else block
            stretch = _block(block, buffer, DOWN, UP, continues, job, scratch, slots)
            clear(stretch.lines, 0, blocks.size)
        elif stage == BLOCKS:
            block = whole + number % left
            stretch = _block(block, block, DOWN, UP, False, job, scratch, slots)
            if pieces > 1:
                stretch = _piece(stretch, number // left, job, scratch, members + number % left, slots)
            if stretch.top == 1:
                first, last = plan.chunks[stretch.first_chunk], plan.chunks[stretch.last_chunk - 1]
                clear(stretch.lines, first.first_line * plan.own_hands, last.last_line * plan.own_hands)
        else:
            slot = members + number
            block, direction = whole + number, DOWN if stage == ENTER else UP
            stretch = _block(block, block, direction, direction, False, job, scratch, slots)
            if stage == ENTER:
                below = plan.streets[2]
                first_line, last_line = below.first_line * plan.own_hands, below.last_line * plan.own_hands
                clear(_share(scratch.line, slot, slots), first_line, last_line)
                clear(stretch.lines, 0, blocks.size)
        if stage != ADD and stage != COLLECT:
            rows = _rows_of(scratch, slot, slots)
            walk(stretch, mode, steps, row, order[PREDICTS] != 0, plan, tables, learned, rows)
            if stage == BLOCKS and alone:
                if number % GROUP > 0:
                    _add_lines(blocks.lines, 0, blocks.lines, blocks.size, blocks.size)
                if (number + 1) % GROUP == 0 or number + 1 == each:
                    _add_lines(lines, 0, blocks.lines, 0, blocks.size)
    restore_tiny(before)

"""A walk over the public tree: the opponent's reach flows down, values flow up, street by street.

For a runout of a street:

1. `enter`      Rows of reach enter the street's lines from the chance nodes above; hands that the new cards block get
                reach 0.
2. `down`       Every decision splits a row of reach among its children. Then every runout of the next street is walked
                the same way.
3. `terminals`  Folds and showdowns are evaluated, sixteen at a time.
4. `up`         Each decision's value is computed from its children's; the updating player's regrets change.
5. `leave`      The value of the runout, times the probability of its deal, is added to the values of the lines above;
                each copy of the runout (suits renamed) adds the same value with hands permuted. These sums are in 64
                bits: in 32, adding dozens of equal terms one by one would drift.

`walk` is not recursive: it goes down one runout per street, and up again when a street has no more runouts
(`next_position`). It can also stop after going down the top street, or start by going up it, so that threads can share
what is below. Compiled functions share no state, so the steps take the state of the walk as parameters.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from regretless.compiling import fast_inlined
from regretless.engines.layout import LANES
from regretless.engines.numba.public.jobs import Learned, Record, Step, Steps, WalkScratch
from regretless.engines.numba.public.kernels.lanes import add_product, load, mask_dead, splat, store, widen, zeros
from regretless.engines.numba.public.kernels.nodes import (
    Rounding,
    best,
    best_around,
    improve,
    mean,
    split,
    split_and_average,
    split_any,
    sum_children,
)
from regretless.engines.numba.public.kernels.terminals import fold_tile, plan_ahead, showdown_tile, tile_ahead
from regretless.engines.numba.public.plan import WalkPlan
from regretless.engines.numba.public.records import Float32, Float64
from regretless.engines.numba.public.tables import HandTables

__all__ = [
    "BEST", "CHANCE", "DECISION", "DOWN", "LEARN", "MEAN", "UP", "Offsets", "Position", "Stretch", "clear",
    "clear_lines_below", "collect", "enter_opponent", "first_position", "has_lines_below", "leave", "long",
    "next_position", "offsets_of", "position_below", "terminals", "walk",
]  # fmt: skip

LEARN, BEST, MEAN = 0, 1, 2  # what the own player does: regret matching, best response, the average strategy
DOWN, UP = 0, 1  # where a walk is in a street

DECISION, CHANCE = 0, 1  # as in `forms.public.NodeKind`


class Stretch(NamedTuple):
    """A part of a walk: some runouts of street `top`, some chunks of them, and everything below.

    With `end` DOWN, it stops after going down street `top`; with `begin` UP, it starts when the streets below are done
    and their values are in `WalkScratch.line`. With `continues`, the same thread walks next what follows it in memory.
    """

    top: int
    first_runout: int
    last_runout: int
    first_chunk: int
    last_chunk: int
    begin: int
    end: int
    continues: bool
    opponent: Float32  # rows of reach that enter street `top`
    own: Float32
    lines: Float64  # to which the values of the runouts are added


class Position(NamedTuple):
    """Where a walk is: a chunk of the lines of a street, on a runout, going `DOWN` or `UP`; 64-bit integers."""

    street: int  # -1 when a stretch is done
    runout: int  # among those of all streets
    chunk: int
    direction: int


class Offsets(NamedTuple):
    """Where the numbers of a chunk on a runout begin."""

    row: int  # of `HandTables.runouts`
    runout: int  # among those of all streets
    local: int  # among those of its street
    symmetry: int  # a row of the tables that have K
    own_start: int  # the own player's regrets and averages
    other_start: int
    alike: int  # rows of `HandTables.alike_hands` and `HandTables.roundings`
    own_skip: int  # numbers between the end of this chunk's and the start of the next one's, in the order of the walk
    other_skip: int


@fast_inlined
def walk(
    stretch: Stretch,
    mode: int,
    steps: Steps,
    first_step: int,
    predicts: bool,
    plan: WalkPlan,
    tables: HandTables,
    learned: Learned,
    scratch: WalkScratch,
) -> None:
    """Walk a stretch; `first_step` is the step of runouts whose own number of it is 0."""
    last_street = plan.streets.size - 1
    position = first_position(stretch)
    while position.street >= 0:
        street, chunk, is_top = position.street, plan.chunks[position.chunk], position.street == stretch.top
        jumps = is_top and stretch.last_chunk - stretch.first_chunk == 1  # to the same chunk of the next runout
        offsets = offsets_of(position, chunk, jumps, plan, tables)
        row = first_step + long(tables.runouts[position.runout].step)
        step = Step(steps.weights[row], steps.extras[row])
        # A part of a form rounds as the whole does.
        rounding = Rounding(tables.roundings, offsets.alike, step.extras.salt + plan.streets[street].own_shift)
        if position.direction == DOWN:
            opponent = stretch.opponent if is_top else scratch.opponent
            own = stretch.own if is_top else scratch.value
            enter(chunk, offsets, opponent, own, plan, tables, scratch)
            down(chunk, offsets, mode, step, rounding, plan, learned, scratch)
            if stretch.end == DOWN and is_top:
                return
            if has_lines_below(position, plan):
                clear_lines_below(position, plan, scratch)
                position = position_below(position, plan, tables)
                continue
        prefetches = mode == LEARN and street == last_street
        if prefetches and not stretch.continues:
            prefetches = not _is_last(stretch, position, plan, tables)
        if prefetches:
            prefetches = _is_followed(position, plan, tables)
        terminals(chunk, offsets, prefetches, plan, tables, learned, scratch)
        up(chunk, offsets, mode, step, rounding, predicts, plan, tables, learned, scratch)
        leave(chunk, offsets, stretch.lines if is_top else scratch.line, plan, tables, scratch)
        position = next_position(position, stretch, plan, tables)


# --- from position to position, for every kind of walk ---------------------------------------------------------------


@fast_inlined
def long(number: Any) -> int:
    """A plain integer in compiled code, from a field of a record."""
    return np.int64(number)  # type: ignore[return-value]


@fast_inlined
def first_position(stretch: Stretch) -> Position:
    """Where a stretch begins; one without runouts is done."""
    top = stretch.top if stretch.first_runout < stretch.last_runout else -1
    return Position(top, stretch.first_runout, stretch.first_chunk, stretch.begin)


@fast_inlined
def has_lines_below(position: Position, plan: WalkPlan) -> bool:
    """Whether any line enters the next street."""
    if position.street == plan.streets.size - 1:
        return False
    below = plan.streets[position.street + 1]
    return bool(below.first_line < below.last_line)


@fast_inlined
def clear_lines_below(position: Position, plan: WalkPlan, scratch: WalkScratch) -> None:
    """Set the values of the lines into the next street to 0, before its runouts are added."""
    below = plan.streets[position.street + 1]
    clear(scratch.line, below.first_line * plan.own_hands, below.last_line * plan.own_hands)


@fast_inlined
def position_below(position: Position, plan: WalkPlan, tables: HandTables) -> Position:
    """The first chunk of the next street, on the first runout that follows."""
    street = position.street + 1
    runout = tables.runouts[position.runout].first_child
    return Position(street, long(runout), long(plan.streets[street].first_chunk), DOWN)


@fast_inlined
def next_position(position: Position, stretch: Stretch, plan: WalkPlan, tables: HandTables) -> Position:
    """After a chunk is done: the next chunk, the next runout, or the street above, whose chunk is then walked up."""
    runouts, top = tables.runouts, stretch.top
    street, runout, chunk, direction = position.street, position.runout, position.chunk + 1, DOWN
    if chunk == (stretch.last_chunk if street == top else plan.streets[street].last_chunk):
        chunk = stretch.first_chunk if street == top else long(plan.streets[street].first_chunk)
        runout += 1
        if street == top:
            if runout == stretch.last_runout:
                street = -1
        elif runouts[runout - 1].parent != (runouts[runout].parent if runout < runouts.size else -1):
            runout = long(runouts[runout - 1].parent)
            street -= 1
            chunk = stretch.first_chunk if street == top else long(plan.streets[street].first_chunk)
            direction = UP
    return Position(street, runout, chunk, direction)


@fast_inlined
def _is_last(stretch: Stretch, position: Position, plan: WalkPlan, tables: HandTables) -> bool:
    """Whether a stretch ends with this chunk; never true in a stretch of three or more streets."""
    runouts, last, runout = tables.runouts, stretch.last_runout - 1, position.runout
    if position.street == stretch.top:
        return bool(runout == last and position.chunk + 1 == stretch.last_chunk)
    parent = runouts[runout].parent
    is_last_child = runout + 1 == runouts.size or runouts[runout + 1].parent != parent
    return bool(parent == last and is_last_child and position.chunk + 1 == plan.streets[position.street].last_chunk)


@fast_inlined
def _is_followed(position: Position, plan: WalkPlan, tables: HandTables) -> bool:
    """Whether what the walk does next follows in memory: not if the next runout is another than the next number."""
    runouts, row = tables.runouts, position.runout
    if position.chunk + 1 < plan.streets[position.street].last_chunk or row + 1 == runouts.size:
        return True
    return bool(runouts[row + 1].number == runouts[row].number + 1)


@fast_inlined
def offsets_of(position: Position, chunk: Record, jumps: bool, plan: WalkPlan, tables: HandTables) -> Offsets:
    runout, stored = tables.runouts[position.runout], plan.streets[position.street]
    local = long(runout.local)
    return Offsets(
        position.runout,
        long(runout.number),
        local,
        long(runout.symmetry),
        stored.own_at + local * stored.own_size,
        stored.other_at + local * stored.other_size,
        int(runout.symmetry) * plan.own_hands,
        stored.own_size - chunk.own_size if jumps else 0,
        stored.other_size - chunk.other_size if jumps else 0,
    )


# --- the steps -------------------------------------------------------------------------------------------------------


@fast_inlined
def clear(numbers: Float64, first: int, last: int) -> None:
    """Set numbers[first:last] to 0; both are multiples of 16."""
    zero = zeros(numbers)
    for index in range(first, last, LANES):
        store(numbers, index, zero)


@fast_inlined
def enter(
    chunk: Record,
    offsets: Offsets,
    opponent: Float32,
    own: Float32,
    plan: WalkPlan,
    tables: HandTables,
    scratch: WalkScratch,
) -> None:
    """Step 1: rows of reach from `opponent` and `own`."""
    for line in range(chunk.first_line, chunk.last_line):
        entry = plan.lines[line]
        enter_opponent(entry, offsets, opponent, plan, tables, scratch)
        to_at = plan.nodes[entry.node].own_at
        for hand in range(0, plan.own_hands, LANES):
            store(scratch.value, to_at + hand, load(own, entry.own_at + hand))


@fast_inlined
def enter_opponent(
    entry: Record, offsets: Offsets, opponent: Float32, plan: WalkPlan, tables: HandTables, scratch: WalkScratch
) -> None:
    """Step 1 for the opponent's reach on one line."""
    alive = offsets.runout * plan.other_hands // LANES
    to_at = plan.nodes[entry.node].opponent_at
    for hand in range(0, plan.other_hands, LANES):
        arriving = mask_dead(load(opponent, entry.opponent_at + hand), tables.other_alive, alive + hand // LANES)
        store(scratch.opponent, to_at + hand, arriving)


@fast_inlined
def down(
    chunk: Record,
    offsets: Offsets,
    mode: int,
    step: Step,
    rounding: Rounding,
    plan: WalkPlan,
    learned: Learned,
    scratch: WalkScratch,
) -> None:
    """Step 2. The rows of a decision's children are adjacent, so the position of the first is enough."""
    for index in range(chunk.first_node, chunk.last_node):
        node = plan.nodes[index]
        if node.kind == DECISION:
            if node.mine == 0:
                at, actions, hands = offsets.other_start + node.block, node.actions, plan.other_hands
                from_at, to_at = node.opponent_at, plan.nodes[index + 1].opponent_at
                if mode == LEARN:
                    split(learned.other_matched, at, actions, hands, scratch.opponent, from_at, to_at)
                else:
                    split_any(learned.other_average, at, actions, hands, scratch.opponent, from_at, to_at)
            elif mode == LEARN:
                split_and_average(
                    learned.matched,
                    learned.average,
                    offsets.own_start + node.block,
                    node.actions,
                    plan.own_hands,
                    scratch.value,
                    node.own_at,
                    plan.nodes[index + 1].own_at,
                    step,
                    rounding,
                )


@fast_inlined
def terminals(
    chunk: Record,
    offsets: Offsets,
    prefetches: bool,
    plan: WalkPlan,
    tables: HandTables,
    learned: Learned,
    scratch: WalkScratch,
) -> None:
    """Step 3; meanwhile the following chunk is prefetched."""
    tiles = chunk.last_fold - chunk.first_fold + chunk.last_showdown - chunk.first_showdown
    needed = prefetches and tiles > 0
    own_start = offsets.own_start + (offsets.own_skip if needed else 0)
    other_start = offsets.other_start + (offsets.other_skip if needed else 0)
    ahead = plan_ahead(chunk, tiles, needed, own_start, other_start, plan, learned)
    for number in range(tiles):
        fold = chunk.first_fold + number
        if fold < chunk.last_fold:
            ahead_of = tile_ahead(ahead, number)
            fold_tile(fold * LANES, offsets.runout, offsets.symmetry, plan, tables, scratch, ahead_of)
        else:
            first = (chunk.first_showdown + fold - chunk.last_fold) * LANES
            showdown_tile(first, offsets.runout, offsets.local, plan, tables, scratch, tile_ahead(ahead, number))


@fast_inlined
def up(
    chunk: Record,
    offsets: Offsets,
    mode: int,
    step: Step,
    rounding: Rounding,
    predicts: bool,
    plan: WalkPlan,
    tables: HandTables,
    learned: Learned,
    scratch: WalkScratch,
) -> None:
    """Step 4, last nodes first."""
    child, hands, value = plan.child, plan.own_hands, scratch.value
    for index in range(chunk.last_node - 1, chunk.first_node - 1, -1):
        node = plan.nodes[index]
        actions, first, to_at = node.actions, node.first_child, node.value_at
        if node.kind == DECISION:
            at = offsets.own_start + node.block
            if node.mine == 0:
                sum_children(actions, hands, value, child, first, to_at)
            elif mode == LEARN:
                improve(
                    learned.regret,
                    learned.matched,
                    at,
                    actions,
                    hands,
                    value,
                    child,
                    first,
                    to_at,
                    step,
                    rounding,
                    predicts,
                )
            elif mode == BEST:
                row = np.int64(-1)
                if learned.lock.size > 0:
                    row = np.int64(learned.lock[offsets.runout * plan.nodes.size + index])
                if row < 0:
                    best(actions, hands, value, child, first, to_at)
                else:
                    locked, locked_at = learned.locked, row * hands
                    best_around(learned.average, at, actions, hands, value, child, first, to_at, locked, locked_at)
            else:
                mean(learned.average, at, actions, hands, value, child, first, to_at)
        elif node.kind == CHANCE:
            collect(node, offsets, plan, tables, scratch)


@fast_inlined
def collect(node: Record, offsets: Offsets, plan: WalkPlan, tables: HandTables, scratch: WalkScratch) -> None:
    """Step 4 at a chance node. Equivalent hands share one sum: each would add the deals in a different order."""
    from_at, to_at = plan.lines[node.line].value_at, node.value_at
    for hand in range(plan.own_hands):
        alike = tables.alike_hands[offsets.alike + hand]
        scratch.value[to_at + hand] = np.float32(scratch.line[from_at + alike])


@fast_inlined
def leave(
    chunk: Record, offsets: Offsets, lines: Float64, plan: WalkPlan, tables: HandTables, scratch: WalkScratch
) -> None:
    """Step 5."""
    value, hands = scratch.value, plan.own_hands
    runout = tables.runouts[offsets.row]
    chance = np.float64(runout.probability)
    spread = splat(chance)
    for line in range(chunk.first_line, chunk.last_line):
        from_at = plan.nodes[plan.lines[line].node].value_at
        to_at = plan.lines[line].value_at
        for hand in range(0, hands, LANES):
            summed = add_product(load(lines, to_at + hand), widen(load(value, from_at + hand)), spread)
            store(lines, to_at + hand, summed)
        for copy in range(runout.first_copy, runout.last_copy):
            permutation = tables.copies[copy] * hands
            for hand in range(hands):
                lines[to_at + hand] += chance * value[from_at + tables.permutations[permutation + hand]]

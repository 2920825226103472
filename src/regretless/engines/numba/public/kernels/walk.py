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

`walk` is not recursive: it goes down one runout per street, and up again when a street has no more runouts. It can also
stop after going down the top street, or start by going up it, so that threads can share what is below. Compiled
functions share no state, so the steps take the state of the walk as parameters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regretless.compiling import fast_inlined
from regretless.engines.layout import LANES
from regretless.engines.numba.public.jobs import Learned, Record, Scratch, Step
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
from regretless.engines.numba.public.kernels.prefetch import plan_ahead, tile_ahead
from regretless.engines.numba.public.kernels.terminals import fold_tile, showdown_tile
from regretless.engines.numba.public.plan import Plan
from regretless.engines.numba.public.records import Float32, Float64
from regretless.engines.numba.public.tables import Tables

__all__ = [
    "BEST",
    "CHANCE",
    "DECISION",
    "DOWN",
    "LEARN",
    "MEAN",
    "UP",
    "Place",
    "Stretch",
    "clear",
    "collect",
    "enter_opponent",
    "leave",
    "place_of",
    "terminals",
    "walk",
]

LEARN, BEST, MEAN = 0, 1, 2  # what the own player does: regret matching, best response, the average strategy
DOWN, UP = 0, 1  # where a walk is in a street

DECISION, CHANCE = 0, 1  # as in `forms.public.NodeKind`


class Stretch(NamedTuple):
    """A part of a walk: some runouts of street `top`, some chunks of them, and everything below.

    With `end` DOWN, it stops after going down street `top`; with `begin` UP, it starts when the streets below are done
    and their values are in `Scratch.line`. With `continues`, the same thread walks next what follows it in memory.
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


class Place(NamedTuple):
    """The position of a walk: a runout, and where its numbers begin."""

    runout: int  # among all
    local: int  # among those of its street
    own_start: int  # the own player's regrets and averages
    other_start: int
    alike: int  # rows of `Tables.alike_hands` and `Tables.roundings`
    own_skip: int  # numbers between the end of this chunk's and the start of the next one's, in the order of the walk
    other_skip: int


@fast_inlined
def walk(
    stretch: Stretch,
    mode: int,
    step: Step,
    predicts: bool,
    plan: Plan,
    tables: Tables,
    learned: Learned,
    scratch: Scratch,
) -> None:
    """Walk a stretch."""
    top, runouts = stretch.top, tables.runouts
    last_street = plan.streets.size - 1
    street, runout, direction = top, stretch.first_runout, stretch.begin
    chunk = np.int64(stretch.first_chunk)
    while True:
        here = plan.chunks[chunk]
        jumps = street == top and stretch.last_chunk - stretch.first_chunk == 1  # to the same chunk of the next runout
        place = place_of(street, runout, here, jumps, plan, tables)
        rounding = Rounding(tables.roundings, place.alike, step.extras.salt)
        if direction == DOWN:
            opponent = stretch.opponent if street == top else scratch.opponent
            own = stretch.own if street == top else scratch.value
            enter(here, place, opponent, own, plan, tables, scratch)
            down(here, place, mode, step, rounding, plan, learned, scratch)
            if stretch.end == DOWN and street == top:
                return
            if street < last_street:
                below = plan.streets[street + 1]
                if below.first_line < below.last_line:
                    clear(scratch.line, below.first_line * plan.own_hands, below.last_line * plan.own_hands)
                    street += 1
                    chunk = np.int64(below.first_chunk)
                    runout = int(runouts[runout].first_child)
                    continue
        prefetches = mode == LEARN and street == last_street
        if prefetches and not stretch.continues:
            prefetches = not _is_last(stretch, street, runout, chunk, plan, tables)
        terminals(here, place, prefetches, plan, tables, learned, scratch)
        up(here, place, mode, step, rounding, predicts, plan, tables, learned, scratch)
        leave(here, place, stretch.lines if street == top else scratch.line, plan, tables, scratch)
        # The next chunk, the next runout, or the street above.
        direction = DOWN
        chunk += 1
        if chunk == (stretch.last_chunk if street == top else plan.streets[street].last_chunk):
            chunk = np.int64(stretch.first_chunk if street == top else plan.streets[street].first_chunk)
            runout += 1
            if street == top:
                if runout == stretch.last_runout:
                    return
            elif runouts[runout - 1].parent != (runouts[runout].parent if runout < runouts.size else -1):
                runout = int(runouts[runout - 1].parent)
                street -= 1
                chunk = np.int64(stretch.first_chunk if street == top else plan.streets[street].first_chunk)
                direction = UP


@fast_inlined
def _is_last(stretch: Stretch, street: int, runout: int, chunk: int, plan: Plan, tables: Tables) -> bool:
    """Whether a stretch ends with this chunk; never true in a stretch of three or more streets."""
    runouts, last = tables.runouts, stretch.last_runout - 1
    if street == stretch.top:
        return bool(runout == last and chunk + 1 == stretch.last_chunk)
    parent = runouts[runout].parent
    is_last_child = runout + 1 == runouts.size or runouts[runout + 1].parent != parent
    return bool(parent == last and is_last_child and chunk + 1 == plan.streets[street].last_chunk)


@fast_inlined
def place_of(street: int, runout: int, here: Record, jumps: bool, plan: Plan, tables: Tables) -> Place:
    local = np.int64(tables.runouts[runout].local)
    stored = plan.streets[street]
    return Place(
        runout,
        local,  # type: ignore[arg-type]
        stored.own_at + local * stored.own_size,
        stored.other_at + local * stored.other_size,
        int(tables.runouts[runout].symmetry) * plan.own_hands,
        stored.own_size - here.own_size if jumps else 0,
        stored.other_size - here.other_size if jumps else 0,
    )


@fast_inlined
def clear(numbers: Float64, first: int, last: int) -> None:
    """Set numbers[first:last] to 0; both are multiples of 16."""
    zero = zeros(numbers)
    for index in range(first, last, LANES):
        store(numbers, index, zero)


@fast_inlined
def enter(
    here: Record, place: Place, opponent: Float32, own: Float32, plan: Plan, tables: Tables, scratch: Scratch
) -> None:
    """Step 1: rows of reach from `opponent` and `own`."""
    for line in range(here.first_line, here.last_line):
        entry = plan.lines[line]
        enter_opponent(entry, place, opponent, plan, tables, scratch)
        to_at = plan.nodes[entry.node].own_at
        for hand in range(0, plan.own_hands, LANES):
            store(scratch.value, to_at + hand, load(own, entry.own_at + hand))


@fast_inlined
def enter_opponent(
    entry: Record, place: Place, opponent: Float32, plan: Plan, tables: Tables, scratch: Scratch
) -> None:
    """Step 1 for the opponent's reach on one line."""
    alive = place.runout * plan.other_hands // LANES
    to_at = plan.nodes[entry.node].opponent_at
    for hand in range(0, plan.other_hands, LANES):
        arriving = mask_dead(load(opponent, entry.opponent_at + hand), tables.other_alive, alive + hand // LANES)
        store(scratch.opponent, to_at + hand, arriving)


@fast_inlined
def down(
    here: Record,
    place: Place,
    mode: int,
    step: Step,
    rounding: Rounding,
    plan: Plan,
    learned: Learned,
    scratch: Scratch,
) -> None:
    """Step 2. The rows of a decision's children are adjacent, so the position of the first is enough."""
    for index in range(here.first_node, here.last_node):
        node = plan.nodes[index]
        if node.kind == DECISION:
            if node.mine == 0:
                at, actions, hands = place.other_start + node.block, node.actions, plan.other_hands
                from_at, to_at = node.opponent_at, plan.nodes[index + 1].opponent_at
                if mode == LEARN:
                    split(learned.other_matched, at, actions, hands, scratch.opponent, from_at, to_at)
                else:
                    split_any(learned.other_average, at, actions, hands, scratch.opponent, from_at, to_at)
            elif mode == LEARN:
                split_and_average(
                    learned.matched,
                    learned.average,
                    place.own_start + node.block,
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
    here: Record, place: Place, prefetches: bool, plan: Plan, tables: Tables, learned: Learned, scratch: Scratch
) -> None:
    """Step 3; meanwhile the following chunk is prefetched."""
    tiles = here.last_fold - here.first_fold + here.last_showdown - here.first_showdown
    needed = prefetches and tiles > 0
    own_start = place.own_start + (place.own_skip if needed else 0)
    other_start = place.other_start + (place.other_skip if needed else 0)
    ahead = plan_ahead(here, tiles, needed, own_start, other_start, plan, learned)
    for number in range(tiles):
        fold = here.first_fold + number
        if fold < here.last_fold:
            fold_tile(fold * LANES, place.runout, plan, tables, scratch, tile_ahead(ahead, number))
        else:
            first = (here.first_showdown + fold - here.last_fold) * LANES
            showdown_tile(first, place.runout, place.local, plan, tables, scratch, tile_ahead(ahead, number))


@fast_inlined
def up(
    here: Record,
    place: Place,
    mode: int,
    step: Step,
    rounding: Rounding,
    predicts: bool,
    plan: Plan,
    tables: Tables,
    learned: Learned,
    scratch: Scratch,
) -> None:
    """Step 4, last nodes first."""
    child, hands, value = plan.child, plan.own_hands, scratch.value
    for index in range(here.last_node - 1, here.first_node - 1, -1):
        node = plan.nodes[index]
        actions, first, to_at = node.actions, node.first_child, node.value_at
        if node.kind == DECISION:
            at = place.own_start + node.block
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
                    row = np.int64(learned.lock[place.runout * plan.nodes.size + index])
                if row < 0:
                    best(actions, hands, value, child, first, to_at)
                else:
                    locked, locked_at = learned.locked, row * hands
                    best_around(learned.average, at, actions, hands, value, child, first, to_at, locked, locked_at)
            else:
                mean(learned.average, at, actions, hands, value, child, first, to_at)
        elif node.kind == CHANCE:
            collect(node, place, plan, tables, scratch)


@fast_inlined
def collect(node: Record, place: Place, plan: Plan, tables: Tables, scratch: Scratch) -> None:
    """Step 4 at a chance node. Equivalent hands share one sum: each would add the deals in a different order."""
    from_at, to_at = plan.lines[node.line].value_at, node.value_at
    for hand in range(plan.own_hands):
        alike = tables.alike_hands[place.alike + hand]
        scratch.value[to_at + hand] = np.float32(scratch.line[from_at + alike])


@fast_inlined
def leave(here: Record, place: Place, lines: Float64, plan: Plan, tables: Tables, scratch: Scratch) -> None:
    """Step 5."""
    value, hands = scratch.value, plan.own_hands
    runout = tables.runouts[place.runout]
    chance = np.float64(runout.probability)
    spread = splat(chance)
    for line in range(here.first_line, here.last_line):
        from_at = plan.nodes[plan.lines[line].node].value_at
        to_at = plan.lines[line].value_at
        for hand in range(0, hands, LANES):
            summed = add_product(load(lines, to_at + hand), widen(load(value, from_at + hand)), spread)
            store(lines, to_at + hand, summed)
        for copy in range(runout.first_copy, runout.last_copy):
            permutation = tables.copies[copy] * hands
            for hand in range(hands):
                lines[to_at + hand] += chance * value[from_at + tables.permutations[permutation + hand]]

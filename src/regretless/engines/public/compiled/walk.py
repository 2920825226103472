"""One walk over the public tree: the opponent's reach down, values up, street by street.

For a runout of a street:

1. Rows of reach enter the street's lines from the chance nodes above; hands that the new cards block get reach 0.
2. Down: every decision splits a row of reach among its children.
3. Every runout of the next street does the same and adds what it is worth, times the probability of its deal, to the
   values of the lines it entered; a copy of it (suits renamed) adds the same, hands permuted. These sums are of 64
   bits: in 32, dozens of equal terms added one by one drift away.
4. Folds and showdowns are evaluated, sixteen at a time.
5. Up: every decision makes its value of its children's, and the player who is updated learns.

`walk` does this without recursion: it goes down one runout a street, and up again when a street has no more runouts. It
can also stop after going down the first street, do some of the runouts below it, or go up the first street: so that
threads share the runouts of the second street among them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.compiling.decorators import fast_inlined
from regretless.engines.public.compiled.lanes import add_product, living, load, splat, store, widen, zeros
from regretless.engines.public.compiled.nodes import (
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
from regretless.engines.public.compiled.plan import LANES, Plan
from regretless.engines.public.compiled.tables import Tables
from regretless.engines.public.compiled.terminals import Ahead, Tile, fold_tile, showdown_tile

__all__ = ["BEST", "DOWN", "LEARN", "MEAN", "UP", "Learned", "Scratch", "walk"]

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Stored = NDArray[np.float32] | NDArray[np.int16] | NDArray[np.uint16]

LEARN, BEST, MEAN = 0, 1, 2  # what the own player does: regret matching, best response, the average strategy
DOWN, UP = 0, 1  # where a walk is in a street

DECISION, CHANCE = 0, 1  # of `forms.public.Kind`


class Scratch(NamedTuple):
    """The rows of one walk; each thread has its own."""

    opponent: Float32
    value: Float32  # and own reach
    line: Float64  # values of the lines into each street, summed over its runouts
    tile: Tile


class Learned(NamedTuple):
    """What CFR remembers, as a walk that updates `own` sees it: [entries] of a player each, in 32 or 16 bits."""

    regret: Stored
    matched: Stored  # what the next strategy is matched to: `regret` itself, unless the rule predicts
    average: Stored
    other_matched: Stored  # what the opponent's strategy is matched to while the own player learns,
    other_average: Stored  # and while strategies are evaluated
    lock: NDArray[np.int32]  # [runouts · nodes] row of `locked`, or -1; empty where nothing is locked
    locked: Float32  # [locks · hands] 1 where a hand is locked


@fast_inlined
def walk(
    top: int,
    first_runout: int,
    last_runout: int,
    begin: int,
    end: int,
    mode: int,
    weights: Float32,
    predicts: bool,
    plan: Plan,
    tables: Tables,
    learned: Learned,
    above_opponent: Float32,
    above_own: Float32,
    scratch: Scratch,
    lines: Float64,
) -> None:
    """Walk the runouts `first_runout : last_runout` of street `top`; what they are worth is added to `lines`.

    Rows of reach come from `above_…`. With `end` DOWN the walk stops when it has gone down street `top`; with `begin`
    UP it starts when the streets below are done, their values in `scratch.line`.
    """
    nodes, child, runouts = plan.nodes, plan.child, tables.runouts
    own_hands, other_hands = plan.own_hands, plan.other_hands
    opponent, value, tile = scratch.opponent, scratch.value, scratch.tile
    last_street = plan.streets.size - 1
    runout = first_runout
    street = top
    chunk = np.int64(plan.streets[street].first_chunk)
    direction = begin
    zero = zeros(scratch.line)
    while True:
        here = plan.chunks[chunk]
        local = np.int64(runouts[runout].local)
        own_start = plan.streets[street].own_at + local * plan.streets[street].own_size
        other_start = plan.streets[street].other_at + local * plan.streets[street].other_size
        alike = int(runouts[runout].symmetry) * own_hands
        rounding = Rounding(tables.roundings, alike, int(weights[8]))
        if direction == DOWN:
            # Step 1.
            alive = runout * other_hands // LANES
            for line in range(here.first_line, here.last_line):
                entry = plan.lines[line]
                to_at = nodes[entry.node].opponent_at
                source = above_opponent if street == top else opponent
                for hand in range(0, other_hands, LANES):
                    arriving = living(load(source, entry.opponent_at + hand), tables.other_alive, alive + hand // LANES)
                    store(opponent, to_at + hand, arriving)
                to_at = nodes[entry.node].own_at
                source = above_own if street == top else value
                for hand in range(0, own_hands, LANES):
                    store(value, to_at + hand, load(source, entry.own_at + hand))
            # Step 2. Children's rows of the reach that is split are adjacent, so the first one's will do.
            for index in range(here.first_node, here.last_node):
                node = nodes[index]
                if node.kind == DECISION:
                    if node.mine == 0:
                        at, actions = other_start + node.block, node.actions
                        from_at, to_at = node.opponent_at, nodes[index + 1].opponent_at
                        if mode == LEARN:
                            split(learned.other_matched, at, actions, other_hands, opponent, from_at, to_at)
                        else:
                            split_any(learned.other_average, at, actions, other_hands, opponent, from_at, to_at)
                    elif mode == LEARN:
                        split_and_average(
                            learned.matched,
                            learned.average,
                            own_start + node.block,
                            node.actions,
                            own_hands,
                            value,
                            node.own_at,
                            nodes[index + 1].own_at,
                            weights,
                            rounding,
                        )
            if end == DOWN and street == top:
                return
            # Step 3: go down into the first runout of the next street.
            if street < last_street:
                below = plan.streets[street + 1]
                if below.first_line < below.last_line:
                    start = plan.lines[below.first_line].value_at
                    size = (below.last_line - below.first_line) * own_hands
                    for index in range(start, start + size, LANES):
                        store(scratch.line, index, zero)
                    street += 1
                    chunk = np.int64(below.first_chunk)
                    runout = int(runouts[runout].first_child)
                    continue
        # Step 4. Meanwhile memory is asked for what the next chunk will need, a share a tile.
        tiles = here.last_fold - here.first_fold + here.last_showdown - here.first_showdown
        counts = tiles > 0 and street == last_street and mode == LEARN
        own_share = here.own_size // tiles if counts else 0
        other_share = here.other_size // tiles if counts else 0
        own_step, other_step = -(-own_share // own_hands), -(-other_share // other_hands)
        own_at = own_start + here.own_block + here.own_size
        other_at = other_start + here.other_block + here.other_size
        for number in range(tiles):
            ahead = Ahead(
                learned.average,
                learned.matched,
                learned.other_matched,
                own_at + number * own_share,
                other_at + number * other_share,
                own_step,
                other_step,
            )
            fold = here.first_fold + number
            if fold < here.last_fold:
                fold_tile(
                    own_hands,
                    other_hands,
                    tables,
                    runout,
                    opponent,
                    plan.fold_from,
                    value,
                    plan.fold_to,
                    plan.fold_pay,
                    fold * LANES,
                    tile,
                    ahead,
                )
            else:
                showdown_tile(
                    own_hands,
                    other_hands,
                    tables,
                    runout,
                    local,
                    opponent,
                    plan.showdown_from,
                    value,
                    plan.showdown_to,
                    plan.showdown_pay,
                    (here.first_showdown + fold - here.last_fold) * LANES,
                    tile,
                    ahead,
                )
        # Step 5.
        for index in range(here.last_node - 1, here.first_node - 1, -1):
            node = nodes[index]
            if node.kind == DECISION:
                at = own_start + node.block
                if node.mine == 0:
                    sum_children(node.actions, own_hands, value, child, node.first_child, node.value_at)
                elif mode == LEARN:
                    improve(
                        learned.regret,
                        learned.matched,
                        at,
                        node.actions,
                        own_hands,
                        value,
                        child,
                        node.first_child,
                        node.value_at,
                        weights,
                        rounding,
                        predicts,
                    )
                elif mode == BEST:
                    row = np.int64(-1)
                    if learned.lock.size > 0:
                        row = np.int64(learned.lock[runout * nodes.size + index])
                    if row < 0:
                        best(node.actions, own_hands, value, child, node.first_child, node.value_at)
                    else:
                        best_around(
                            learned.average,
                            at,
                            node.actions,
                            own_hands,
                            value,
                            child,
                            node.first_child,
                            node.value_at,
                            learned.locked,
                            row * own_hands,
                        )
                else:
                    mean(learned.average, at, node.actions, own_hands, value, child, node.first_child, node.value_at)
            elif node.kind == CHANCE:
                # Deals are added up in an order of their own for each hand, so hands that play alike take one sum.
                from_at = plan.lines[node.line].value_at
                for hand in range(own_hands):
                    value[node.value_at + hand] = np.float32(scratch.line[from_at + tables.alike_hands[alike + hand]])
        # Step 3 for this runout, seen from above.
        chance = np.float64(runouts[runout].probability)
        spread = splat(chance)
        target = lines if street == top else scratch.line
        for line in range(here.first_line, here.last_line):
            from_at = nodes[plan.lines[line].node].value_at
            to_at = plan.lines[line].value_at
            for hand in range(0, own_hands, LANES):
                summed = add_product(load(target, to_at + hand), widen(load(value, from_at + hand)), spread)
                store(target, to_at + hand, summed)
            for copy in range(runouts[runout].first_copy, runouts[runout].last_copy):
                permutation = tables.copies[copy] * own_hands
                for hand in range(own_hands):
                    target[to_at + hand] += chance * value[from_at + tables.permutations[permutation + hand]]
        # The next chunk, the next runout, or up.
        direction = DOWN
        chunk += 1
        if chunk == plan.streets[street].last_chunk:
            chunk = np.int64(plan.streets[street].first_chunk)
            runout += 1
            if street == top:
                if runout == last_runout:
                    return
            elif runouts[runout - 1].parent != (runouts[runout].parent if runout < runouts.size else -1):
                runout = int(runouts[runout - 1].parent)
                street -= 1
                chunk = np.int64(plan.streets[street].first_chunk)
                direction = UP

"""A walk with strategies per bucket: what a player gets by following them and by best-responding, in one pass.

It takes the steps of `walk`, with three differences:

1. The probability of an action is read where it is needed, from the table of its decision, in the column of the hand's
   bucket on the runout. So no strategy is ever stored per hand and runout.
2. Both ways of playing face the same opposing reach, so the way down and the terminals, which depend on nothing else,
   are shared. Only on the way up are there two rows of values, and two sums over runouts.
3. Nothing is learned, so the own reach is not needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regretless.compiling import fast_inlined, fast_kernel
from regretless.engines.layout import LANES
from regretless.engines.numba.public.jobs import Learned, Record, Scratch
from regretless.engines.numba.public.kernels.lanes import add_product, gather, item, load, splat, store
from regretless.engines.numba.public.kernels.nodes import best, sum_children
from regretless.engines.numba.public.kernels.processor import flush_tiny, restore_tiny
from regretless.engines.numba.public.kernels.walk import (
    CHANCE,
    DECISION,
    DOWN,
    UP,
    Place,
    Stretch,
    clear,
    collect,
    enter_opponent,
    leave,
    place_of,
    terminals,
)
from regretless.engines.numba.public.plan import Plan
from regretless.engines.numba.public.records import Float32, Float64, Int32, Int64
from regretless.engines.numba.public.tables import Tables

__all__ = ["BucketRows", "walk_buckets"]


class BucketRows(NamedTuple):
    """Strategies per bucket, for the walks of one player: N nodes in walking order, R runouts, n own, m other hands."""

    probability: Float32  # decision after decision, [actions, width]
    begin: Int64  # [N]     where a decision's probabilities begin
    width: Int32  # [N]     columns of a decision
    own: Int32  # [R · n]   column of every hand on every runout
    other: Int32  # [R · m]


@fast_kernel
def walk_buckets(
    stretch: Stretch,
    best_lines: Float64,
    plan: Plan,
    tables: Tables,
    rows: BucketRows,
    learned: Learned,
    scratch: Scratch,
    highest: Scratch,
) -> None:
    """Walk a stretch; `highest` has the rows of a best response, and `best_lines` gets its values.

    `learned` has empty arrays.
    """
    before = flush_tiny()
    top, runouts = stretch.top, tables.runouts
    last_street = plan.streets.size - 1
    street, runout, direction = top, stretch.first_runout, stretch.begin
    chunk = np.int64(stretch.first_chunk)
    while True:
        here = plan.chunks[chunk]
        place = place_of(street, runout, here, False, plan, tables)
        if direction == DOWN:
            opponent = stretch.opponent if street == top else scratch.opponent
            for line in range(here.first_line, here.last_line):
                enter_opponent(plan.lines[line], place, opponent, plan, tables, scratch)
            _down(here, place, plan, rows, scratch)
            if stretch.end == DOWN and street == top:
                break
            if street < last_street:
                below = plan.streets[street + 1]
                if below.first_line < below.last_line:
                    clear(scratch.line, below.first_line * plan.own_hands, below.last_line * plan.own_hands)
                    clear(highest.line, below.first_line * plan.own_hands, below.last_line * plan.own_hands)
                    street += 1
                    chunk = np.int64(below.first_chunk)
                    runout = int(runouts[runout].first_child)
                    continue
        terminals(here, place, False, plan, tables, learned, scratch)
        _up(here, place, plan, tables, rows, scratch, highest)
        leave(here, place, stretch.lines if street == top else scratch.line, plan, tables, scratch)
        leave(here, place, best_lines if street == top else highest.line, plan, tables, highest)
        # The next chunk, the next runout, or the street above.
        direction = DOWN
        chunk += 1
        if chunk == (stretch.last_chunk if street == top else plan.streets[street].last_chunk):
            chunk = np.int64(stretch.first_chunk if street == top else plan.streets[street].first_chunk)
            runout += 1
            if street == top:
                if runout == stretch.last_runout:
                    break
            elif runouts[runout - 1].parent != (runouts[runout].parent if runout < runouts.size else -1):
                runout = int(runouts[runout - 1].parent)
                street -= 1
                chunk = np.int64(stretch.first_chunk if street == top else plan.streets[street].first_chunk)
                direction = UP
    restore_tiny(before)


@fast_inlined
def _down(here: Record, place: Place, plan: Plan, rows: BucketRows, scratch: Scratch) -> None:
    """Every decision of the opponent splits a row of reach among its children, whose rows are adjacent."""
    reach, hands = scratch.opponent, plan.other_hands
    columns = place.runout * hands
    for index in range(here.first_node, here.last_node):
        node = plan.nodes[index]
        if node.kind == DECISION and node.mine == 0:
            from_at, to_at = node.opponent_at, plan.nodes[index + 1].opponent_at
            begin, width = item(rows.begin, index), item(rows.width, index)
            for hand in range(0, hands, LANES):
                arriving = load(reach, from_at + hand)
                for action in range(node.actions):
                    played = gather(rows.probability, begin + action * width, rows.other, columns + hand)
                    store(reach, to_at + action * hands + hand, arriving * played)


@fast_inlined
def _up(
    here: Record, place: Place, plan: Plan, tables: Tables, rows: BucketRows, scratch: Scratch, highest: Scratch
) -> None:
    """Values of decisions and chance nodes, last nodes first; those of terminals are the same in both."""
    child, hands = plan.child, plan.own_hands
    columns = place.runout * hands
    for index in range(here.last_node - 1, here.first_node - 1, -1):
        node = plan.nodes[index]
        actions, first, to_at = node.actions, node.first_child, node.value_at
        if node.kind == CHANCE:
            collect(node, place, plan, tables, scratch)
            collect(node, place, plan, tables, highest)
        elif node.kind != DECISION:
            for hand in range(0, hands, LANES):
                store(highest.value, to_at + hand, load(scratch.value, to_at + hand))
        elif node.mine == 0:
            sum_children(actions, hands, scratch.value, child, first, to_at)
            sum_children(actions, hands, highest.value, child, first, to_at)
        else:
            begin, width = item(rows.begin, index), item(rows.width, index)
            for hand in range(0, hands, LANES):
                mixed = splat(np.float32(0.0))
                for action in range(actions):
                    played = gather(rows.probability, begin + action * width, rows.own, columns + hand)
                    mixed = add_product(mixed, played, load(scratch.value, item(child, first + action) + hand))
                store(scratch.value, to_at + hand, mixed)
            best(actions, hands, highest.value, child, first, to_at)

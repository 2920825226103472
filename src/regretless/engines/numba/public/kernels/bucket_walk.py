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
from regretless.engines.numba.public.jobs import Learned, Record, WalkScratch
from regretless.engines.numba.public.kernels.lanes import add_product, gather, item, load, splat, store
from regretless.engines.numba.public.kernels.nodes import best, sum_children
from regretless.engines.numba.public.kernels.processor import flush_tiny, restore_tiny
from regretless.engines.numba.public.kernels.walk import (
    CHANCE,
    DECISION,
    DOWN,
    Offsets,
    Stretch,
    clear_lines_below,
    collect,
    enter_opponent,
    first_position,
    has_lines_below,
    leave,
    next_position,
    offsets_of,
    position_below,
    terminals,
)
from regretless.engines.numba.public.plan import WalkPlan
from regretless.engines.numba.public.records import Float32, Float64, Int32, Int64
from regretless.engines.numba.public.tables import HandTables

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
    plan: WalkPlan,
    tables: HandTables,
    rows: BucketRows,
    learned: Learned,
    scratch: WalkScratch,
    highest: WalkScratch,
) -> None:
    """Walk a stretch; `highest` has the rows of a best response, and `best_lines` gets its values.

    `learned` has empty arrays.
    """
    before = flush_tiny()
    position = first_position(stretch)
    while position.street >= 0:
        chunk, is_top = plan.chunks[position.chunk], position.street == stretch.top
        offsets = offsets_of(position, chunk, False, plan, tables)
        if position.direction == DOWN:
            opponent = stretch.opponent if is_top else scratch.opponent
            for line in range(chunk.first_line, chunk.last_line):
                enter_opponent(plan.lines[line], offsets, opponent, plan, tables, scratch)
            _down(chunk, offsets, plan, rows, scratch)
            if stretch.end == DOWN and is_top:
                break
            if has_lines_below(position, plan):
                clear_lines_below(position, plan, scratch)
                clear_lines_below(position, plan, highest)
                position = position_below(position, plan, tables)
                continue
        terminals(chunk, offsets, False, plan, tables, learned, scratch)
        _up(chunk, offsets, plan, tables, rows, scratch, highest)
        leave(chunk, offsets, stretch.lines if is_top else scratch.line, plan, tables, scratch)
        leave(chunk, offsets, best_lines if is_top else highest.line, plan, tables, highest)
        position = next_position(position, stretch, plan, tables)
    restore_tiny(before)


@fast_inlined
def _down(chunk: Record, offsets: Offsets, plan: WalkPlan, rows: BucketRows, scratch: WalkScratch) -> None:
    """Every decision of the opponent splits a row of reach among its children, whose rows are adjacent."""
    reach, hands = scratch.opponent, plan.other_hands
    columns = offsets.runout * hands
    for index in range(chunk.first_node, chunk.last_node):
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
    chunk: Record,
    offsets: Offsets,
    plan: WalkPlan,
    tables: HandTables,
    rows: BucketRows,
    scratch: WalkScratch,
    highest: WalkScratch,
) -> None:
    """Values of decisions and chance nodes, last nodes first; those of terminals are the same in both."""
    child, hands = plan.child, plan.own_hands
    columns = offsets.runout * hands
    for index in range(chunk.last_node - 1, chunk.first_node - 1, -1):
        node = plan.nodes[index]
        actions, first, to_at = node.actions, node.first_child, node.value_at
        if node.kind == CHANCE:
            collect(node, offsets, plan, tables, scratch)
            collect(node, offsets, plan, tables, highest)
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

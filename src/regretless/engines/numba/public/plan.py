"""The public form laid out for kernels: nodes in walking order, and where a walk keeps its rows.

A walk updates one player (*own*) against the other (*opponent*). On every street, each betting node needs three rows of
numbers over hands: the opponent's reach, the own reach, and the values. Two nodes share a row of reach if that player
does not move between them, and rows that are never needed at the same time share memory.

1. Betting nodes are renumbered in walking order (`forms/walking.py`), so the nodes of a line are contiguous.
2. Lines are packed into *chunks* whose rows fit in the L2 cache; only the last street has more than one.
3. Terminals of a chunk are grouped by sixteen into *tiles*, evaluated together, one terminal per lane.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.engines.layout import LANES, Layout
from regretless.engines.numba.public.records import CHUNK, LINE, NODE, STREET, Float32, Float64, Int32, Records
from regretless.engines.numba.public.sizes import CHUNK_BYTES
from regretless.forms.history import FloatArray
from regretless.forms.public import NodeKind
from regretless.forms.walking import WalkingOrder, terminal_pays, walking_order

__all__ = ["Tiles", "WalkPlan", "make_plans"]

COST_OF_A_CHUNK = 0.1  # in tiles

Int64 = NDArray[np.int64]
PayType = type[np.floating]  # in which terminals are evaluated


class Tiles(NamedTuple):
    """Terminals of one kind in T tiles of sixteen, chunk by chunk; the last tile of a chunk may be partly empty."""

    from_at: Int32  # [16 T]    row of the opponent's reach; the row of zeros for an unused lane
    to_at: Int32  #   [16 T]    row of values; a row that is never read for an unused lane
    pay: Float32 | Float64  #     what the own player gets: [16 T] at folds, at showdowns [3 · 16 T] (`terminal_pays`)


class WalkPlan(NamedTuple):
    """The layout for walks that update one player, `own`: N nodes in walking order, C chunks, L lines, S streets.

    `*_at` are indices of single numbers in the flat arrays of a walk.
    """

    own_hands: int  #   padded
    other_hands: int  # padded
    nodes: Records  #   [N]  NODE
    child: Int32  #     [N]  rows of values of the children, node by node
    lines: Records  #   [L]  LINE
    chunks: Records  #  [C]  CHUNK
    streets: Records  # [S]  STREET
    folds: Tiles
    showdowns: Tiles
    rows: Int64  # [3]  numbers in the arrays of opponent reach, own reach and values, line values


class _Rows(NamedTuple):
    """Where the rows of each node begin [N], and the sizes of the arrays they are in."""

    opponent_at: Int32
    own_at: Int32
    value_at: Int32
    opponent_size: int
    value_size: int  # of own reach and values


def make_plans(layout: Layout, pay_type: PayType) -> tuple[WalkPlan, WalkPlan]:
    """Lay out a form for the walks of both players; fast and small, since nothing here grows with the runouts."""
    order = walking_order(layout.form.tree)
    return _make_plan(order, layout, 0, pay_type), _make_plan(order, layout, 1, pay_type)


def _make_plan(order: WalkingOrder, layout: Layout, own: int, pay_type: PayType) -> WalkPlan:
    own_hands, other_hands = int(layout.hands[own]), int(layout.hands[1 - own])
    chunk_line, street_chunk = _chunks(order, own_hands + other_hands)
    chunk_node = order.line_start[chunk_line]
    rows = _rows(order, own, (other_hands, own_hands), chunk_node, street_chunk)
    pays = terminal_pays(layout.form.tree, layout.form.payoffs, own)[:, order.node]
    fold_ends, folds = _tiles(order, NodeKind.FOLD, pays[2:], chunk_node, rows, pay_type)
    showdown_ends, showdowns = _tiles(order, NodeKind.SHOWDOWN, pays, chunk_node, rows, pay_type)
    nodes = _node_records(order, layout, own, rows)
    lines = _line_records(order, rows, own_hands)
    chunks = np.zeros(len(chunk_node) - 1, dtype=CHUNK)
    for name, ends in (("node", chunk_node), ("line", chunk_line), ("fold", fold_ends), ("showdown", showdown_ends)):
        _write_slices(chunks, name, ends)
    _write_blocks(chunks, nodes, own_hands, other_hands)
    streets = _street_records(layout, own)
    for name, ends in (("chunk", street_chunk), ("line", chunk_line[street_chunk])):
        _write_slices(streets, name, ends)
    children = np.array([child for children in order.children for child in children], dtype=np.int64)
    return WalkPlan(
        own_hands=own_hands,
        other_hands=other_hands,
        nodes=nodes,
        child=rows.value_at[children],
        lines=lines,
        chunks=chunks,
        streets=streets,
        folds=folds,
        showdowns=showdowns,
        rows=np.array([rows.opponent_size, rows.value_size, len(lines) * own_hands], dtype=np.int64),
    )


def _node_records(order: WalkingOrder, layout: Layout, own: int, rows: _Rows) -> Records:
    nodes = np.zeros(len(order.node), dtype=NODE)
    nodes["node"], nodes["kind"], nodes["mine"] = order.node, order.kind, order.actor == own
    nodes["actions"] = [len(children) for children in order.children]
    nodes["first_child"] = np.cumsum(nodes["actions"]) - nodes["actions"]
    nodes["line"] = order.line_below
    nodes["block"] = layout.block[order.node]
    nodes["opponent_at"], nodes["own_at"], nodes["value_at"] = rows.opponent_at, rows.own_at, rows.value_at
    return nodes


def _line_records(order: WalkingOrder, rows: _Rows, own_hands: int) -> Records:
    above = order.line_above  # the chance node that leads into each line; -1 at the root
    lines = np.zeros(len(above), dtype=LINE)
    lines["node"] = order.line_start[:-1]
    lines["opponent_at"] = np.where(above < 0, 0, rows.opponent_at[above])
    lines["own_at"] = np.where(above < 0, 0, rows.own_at[above])
    lines["value_at"] = np.arange(len(lines)) * own_hands
    return lines


def _write_slices(records: Records, name: str, ends: Int32) -> None:
    """Write the bounds of consecutive slices to the fields `first_<name>` and `last_<name>`."""
    records[f"first_{name}"], records[f"last_{name}"] = ends[:-1], ends[1:]


def _write_blocks(chunks: Records, nodes: Records, own_hands: int, other_hands: int) -> None:
    """Write where each player's regrets of a chunk begin, and how many there are."""
    for chunk in chunks:
        inside = nodes[chunk["first_node"] : chunk["last_node"]]
        for who, mine, hands in (("own", 1, own_hands), ("other", 0, other_hands)):
            decisions = inside[(inside["kind"] == NodeKind.DECISION) & (inside["mine"] == mine)]
            if len(decisions):
                chunk[f"{who}_block"] = decisions["block"][0]
                chunk[f"{who}_size"] = int(decisions["actions"].sum()) * hands


def _street_records(layout: Layout, own: int) -> Records:
    """Where each player's regrets of a street begin; slices of chunks and lines are written later."""
    streets = np.zeros(len(layout.form.streets), dtype=STREET)
    for who, player in (("own", own), ("other", 1 - own)):
        streets[f"{who}_at"], streets[f"{who}_size"] = layout.street_at[player], layout.runout_size[player]
    streets["own_shift"] = layout.part_shift(own)
    return streets


def _chunks(order: WalkingOrder, hands: int) -> tuple[Int32, Int32]:
    """Step 2: lines of each chunk [C+1] and chunks of each street [S+1]; `hands` are those of both players, padded.

    Lines of the last street stay in order; the cuts minimise empty lanes in tiles.
    """
    last = int(order.line_street[-1])
    chunk_line, street_chunk = [0], [0]
    for street in range(last + 1):
        lines = order.lines_of(street)
        if street < last:
            chunk_line.append(lines.stop)
        else:
            ends = order.line_start[lines.start :].astype(np.int64)
            is_terminal = np.stack([order.kind == NodeKind.FOLD, order.kind == NodeKind.SHOWDOWN], axis=1)
            counts = np.add.reduceat(is_terminal.astype(np.int64), ends[:-1], axis=0)
            row_bytes = hands * np.dtype(np.float32).itemsize
            chunk_line += [lines.start + cut for cut in _cuts(np.diff(ends) * row_bytes, counts)]
        street_chunk.append(len(chunk_line) - 1)
    return np.array(chunk_line, dtype=np.int32), np.array(street_chunk, dtype=np.int32)


def _cuts(sizes: Int64, counts: Int64) -> list[int]:
    """Ends of chunks of at most `CHUNK_BYTES` with the fewest tiles in total, by dynamic programming.

    `sizes` are the bytes of each line's rows, `counts` [lines, 2] its folds and showdowns. A longer line has a chunk of
    its own.
    """
    lines = len(sizes)
    cheapest = [0.0] + [np.inf] * lines
    begin = [0] * (lines + 1)
    for end in range(1, lines + 1):
        size = 0
        terminals = np.zeros(2)
        for first in range(end - 1, -1, -1):
            size += int(sizes[first])
            terminals = terminals + counts[first]
            if size > CHUNK_BYTES and first < end - 1:
                break
            cost = cheapest[first] + float(np.ceil(terminals / LANES).sum()) + COST_OF_A_CHUNK
            if cost < cheapest[end]:
                cheapest[end], begin[end] = cost, first
    cuts = []
    end = lines
    while end > 0:
        cuts.append(end)
        end = begin[end]
    return cuts[::-1]


def _rows(order: WalkingOrder, own: int, widths: tuple[int, int], chunk_node: Int32, street_chunk: Int32) -> _Rows:
    """Assign rows to nodes. The chunks of a street reuse the same memory, since each is done before the next.

    Own reach is needed on the way down and values on the way up, so they share memory too. On the last street, a node's
    value replaces its first child's. The first row of each array is special: zeros in the opponent's, unread scratch in
    the values. `widths` are the numbers in rows of the opponent's reach, and of own reach and values.
    """
    opponent_at, own_at, value_at = (np.zeros(len(order.kind), dtype=np.int32) for _ in range(3))
    reach_at = (opponent_at, own_at)
    is_entry = np.zeros(len(order.kind), dtype=np.bool_)
    is_entry[order.line_start[:-1]] = True
    last_street = len(street_chunk) - 2
    base = list(widths)
    for street, (first, last) in enumerate(pairwise(street_chunk)):
        end = list(base)
        for chunk in range(first, last):
            inside = range(chunk_node[chunk], chunk_node[chunk + 1])
            used = list(base)
            for node in inside:
                if is_entry[node]:
                    for which in range(2):
                        reach_at[which][node] = used[which]
                        used[which] += widths[which]
                moved = 1 if order.actor[node] == own else 0  # the reach that the actor's choice splits
                for child in order.children[node]:
                    reach_at[moved][child] = used[moved]
                    used[moved] += widths[moved]
                    reach_at[1 - moved][child] = reach_at[1 - moved][node]
            value = base[1]
            for node in reversed(inside):
                if street == last_street and order.children[node]:
                    value_at[node] = value_at[order.children[node][0]]
                else:
                    value_at[node] = value
                    value += widths[1]
            end = [max(end[0], used[0]), max(end[1], used[1], value)]
        base = end
    return _Rows(opponent_at, own_at, value_at, opponent_size=base[0], value_size=base[1])


def _tiles(
    order: WalkingOrder,
    kind: NodeKind,
    pays: FloatArray,
    chunk_node: Int32,
    rows: _Rows,
    pay_type: PayType,
) -> tuple[Int32, Tiles]:
    """Step 3: tiles of each chunk [C+1], and the tiles; `pays` [pays, N] are the rows of `terminal_pays` to use."""
    members: list[int] = []  # the terminal of each lane; -1 in unused lanes
    tiles = [0]
    for first, last in pairwise(chunk_node):
        terminals = (np.flatnonzero(order.kind[first:last] == kind) + first).tolist()
        members += terminals + [-1] * (-len(terminals) % LANES)
        tiles.append(len(members) // LANES)
    node = np.array(members, dtype=np.int64)
    return np.array(tiles, dtype=np.int32), Tiles(
        from_at=np.where(node < 0, 0, rows.opponent_at[node]).astype(np.int32),
        to_at=np.where(node < 0, 0, rows.value_at[node]).astype(np.int32),
        pay=np.where(node < 0, 0, pays[:, node]).ravel().astype(pay_type),
    )

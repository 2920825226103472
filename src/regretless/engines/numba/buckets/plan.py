"""The betting tree as the kernels walk it, for the walks that update one player.

A *line* is one way to enter a street, with the subtree below it up to the next deal. Lines of a street that are walked
together are a *bundle*: enough nodes to fill the lanes of a tile of terminals, few enough for a core's cache. The nodes
of a bundle are numbered parents first with siblings adjacent, and each has a row of values over the own hands. The
opponent's reach changes only where they act, so all children of an own decision share a row of it; likewise the own
reach. A terminal needs sums over a row of the opponent's reach, and a fold and a call of the own player need the same
sums, so the two share a *lane*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.engines.bucket_tables import TableLayout
from regretless.engines.layout import LANES
from regretless.forms.history import FloatArray
from regretless.forms.public import NodeKind
from regretless.forms.walking import WalkingOrder, children, terminal_pays, walking_order

__all__ = ["LEAF", "OTHER", "OWN", "BundlePlan", "make_plan"]

OWN, OTHER, LEAF = 0, 1, 2  # who acts at a node
MIN_BUNDLE_NODES = 64  # lines are added to a bundle until it has at least this many

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class _Lane(NamedTuple):
    """A row of the opponent's reach, and up to one showdown and one fold that need its sums."""

    row: int = 0
    show_node: int = -1
    fold_node: int = -1
    pays: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)  # a column of `BundlePlan.pays`


class BundlePlan(NamedTuple):
    """U bundles with N nodes in all. Nodes, rows and offsets are counted within a bundle, lines within a street."""

    first_bundle: Int64  # [S + 1]  bundles of street s are first_bundle[s] : first_bundle[s + 1]
    lines: Int64  # [S]             into each street
    first_node: Int64  # [U + 1]    nodes of bundle u are first_node[u] : first_node[u + 1]
    acts: Int32  # [N]              OWN, OTHER or LEAF (including chance)
    first_child: Int32  # [N]       the others follow it
    actions: Int32  # [N]
    other_row: Int32  # [N]         of the opponent's reach
    own_row: Int32  # [N]           of the own reach; -1 if it is not needed
    table: Int64  # [N]             where a decision begins in the table of its player
    strategy_at: Int64  # [N]       where it begins in the scratch for strategies, per action and bucket
    reach_at: Int64  # [N]          where an own decision begins in the scratch for own reach, per bucket
    strategy_size: Int64  # [U]     scratch for strategies that a bundle takes
    reach_size: Int64  # [U]        scratch for own reach
    first_entry: Int64  # [U + 1]   lines of bundle u
    entry_line: Int32  # [lines]
    entry_node: Int32  # [lines]    the first node of each
    first_exit: Int64  # [U + 1]    chance nodes of bundle u
    exit_node: Int32  # [exits]
    exit_line: Int32  # [exits]     the line that each enters
    first_tile: Int64  # [U + 1]    tiles of bundle u, those with showdowns first
    shows: Int32  # [tiles]         whether there are showdowns in a tile
    lane_row: Int32  # [tiles, 16]  the row of the opponent's reach that a lane sums
    show_node: Int32  # [tiles, 16] the showdown of a lane; -1 if there is none
    fold_node: Int32  # [tiles, 16] the fold of a lane; -1 if there is none
    pays: NDArray[np.float64]  # [tiles, 4, 16]  of the showdown, factors of W, E and V (`kernels.py`); of the fold, V


class _BundleNode(NamedTuple):
    """A node of a bundle; `BundlePlan` has an array for each field."""

    acts: int
    first_child: int
    actions: int
    other_row: int
    own_row: int
    table: int
    strategy_at: int
    reach_at: int


class _Crossing(NamedTuple):
    """Where a line begins or ends in a bundle."""

    line: int  # counted within its street
    node: int  # counted within the bundle


@dataclass
class _Bundle:
    """The lists of one bundle while it is built; rows 0, 1, … are assigned in order."""

    nodes: list[_BundleNode] = field(default_factory=list)
    entries: list[_Crossing] = field(default_factory=list)
    exits: list[_Crossing] = field(default_factory=list)
    lanes: list[_Lane] = field(default_factory=list)
    other_rows: int = 0
    own_rows: int = 0
    strategy_size: int = 0
    reach_size: int = 0


def make_plan(layout: TableLayout, own: int) -> BundlePlan:
    """The plan for the walks that update `own`."""
    tree = layout.form.tree
    order, pays = walking_order(tree), terminal_pays(tree, layout.form.payoffs, own)
    streets = range(len(layout.form.buckets[0]))
    bundles: list[_Bundle] = []
    first_bundle = [0]
    for street in streets:
        for line in order.lines_of(street):
            if len(bundles) == first_bundle[-1] or len(bundles[-1].nodes) >= MIN_BUNDLE_NODES:
                bundles.append(_Bundle())
            _add_line(bundles[-1], layout, own, order, line, pays)
        first_bundle.append(len(bundles))
    tiles = [_tiles(bundle.lanes) for bundle in bundles]
    lanes = [lane for of_bundle in tiles for tile in of_bundle for lane in tile]
    lane_nodes = np.array([lane[:3] for lane in lanes], dtype=np.int32).reshape(-1, LANES, 3)
    pays = np.array([lane.pays for lane in lanes]).reshape(-1, LANES, 4)
    nodes = _columns([bundle.nodes for bundle in bundles], _BundleNode)
    entries = _columns([bundle.entries for bundle in bundles], _Crossing)
    exits = _columns([bundle.exits for bundle in bundles], _Crossing)
    return BundlePlan(
        first_bundle=np.array(first_bundle, dtype=np.int64),
        lines=np.array([len(order.lines_of(street)) for street in streets], dtype=np.int64),
        first_node=_ends([bundle.nodes for bundle in bundles]),
        acts=nodes["acts"].astype(np.int32),
        first_child=nodes["first_child"].astype(np.int32),
        actions=nodes["actions"].astype(np.int32),
        other_row=nodes["other_row"].astype(np.int32),
        own_row=nodes["own_row"].astype(np.int32),
        table=nodes["table"],
        strategy_at=nodes["strategy_at"],
        reach_at=nodes["reach_at"],
        strategy_size=np.array([bundle.strategy_size for bundle in bundles], dtype=np.int64),
        reach_size=np.array([bundle.reach_size for bundle in bundles], dtype=np.int64),
        first_entry=_ends([bundle.entries for bundle in bundles]),
        entry_line=entries["line"].astype(np.int32),
        entry_node=entries["node"].astype(np.int32),
        first_exit=_ends([bundle.exits for bundle in bundles]),
        exit_node=exits["node"].astype(np.int32),
        exit_line=exits["line"].astype(np.int32),
        first_tile=_ends(tiles),
        shows=np.asarray((lane_nodes[:, :, 1] >= 0).any(axis=1), dtype=np.int32),
        lane_row=lane_nodes[:, :, 0].copy(),
        show_node=lane_nodes[:, :, 1].copy(),
        fold_node=lane_nodes[:, :, 2].copy(),
        pays=pays.transpose(0, 2, 1).copy(),
    )


def _add_line(bundle: _Bundle, layout: TableLayout, own: int, order: WalkingOrder, line: int, pays: FloatArray) -> None:
    """Add the subtree of a line to a bundle, parents first."""
    tree, base, street = layout.form.tree, len(bundle.nodes), int(order.line_street[line])
    entry = int(order.node[order.line_start[line]])
    nodes, other_row, own_row = [entry], [bundle.other_rows], [bundle.own_rows]
    bundle.entries.append(_Crossing(line - order.lines_of(street).start, base))
    bundle.other_rows += 1
    bundle.own_rows += 1
    terminals: dict[int, list[int]] = {}  # by the opponent's row
    for number, node in enumerate(nodes):  # grows during the loop
        kind, first_child, actions, acts = tree.kind[node], base + len(nodes), 0, LEAF
        if kind == NodeKind.DECISION:
            acts = OWN if tree.player[node] == own else OTHER
            for child in children(tree, node):
                nodes.append(child)
                actions += 1
                if acts == OTHER:
                    other_row.append(bundle.other_rows)
                    bundle.other_rows += 1
                else:
                    other_row.append(other_row[number])
                if tree.kind[child] not in (NodeKind.DECISION, NodeKind.CHANCE):
                    own_row.append(-1)
                elif acts == OWN:
                    own_row.append(bundle.own_rows)
                    bundle.own_rows += 1
                else:
                    own_row.append(own_row[number])
        elif kind == NodeKind.CHANCE:
            below = int(order.line_below[order.position[node]])
            bundle.exits.append(_Crossing(below - order.lines_of(street + 1).start, base + number))
        else:
            terminals.setdefault(other_row[number], []).append(number)
        bundle.nodes.append(
            _BundleNode(
                acts,
                first_child,
                actions,
                other_row[number],
                own_row[number],
                table=int(layout.begin[node]),
                strategy_at=bundle.strategy_size,
                reach_at=bundle.reach_size,
            )
        )
        buckets = int(layout.buckets[node]) + 1  # the last one is for dead hands
        bundle.strategy_size += actions * buckets
        bundle.reach_size += buckets if acts == OWN else 0
    for row, numbers in terminals.items():
        showdowns = [number for number in numbers if tree.kind[nodes[number]] == NodeKind.SHOWDOWN]
        folds = [number for number in numbers if tree.kind[nodes[number]] == NodeKind.FOLD]
        for showdown, fold in zip_longest(showdowns, folds):
            bundle.lanes.append(_lane(row, base, nodes, showdown, fold, pays))


def _lane(row: int, base: int, nodes: list[int], showdown: int | None, fold: int | None, pays: FloatArray) -> _Lane:
    """A lane for these nodes of a line, whose nodes are numbered from `base` in the bundle."""
    wins, ties, loses = (0.0, 0.0, 0.0) if showdown is None else pays[:, nodes[showdown]].tolist()
    return _Lane(
        row,
        show_node=-1 if showdown is None else base + showdown,
        fold_node=-1 if fold is None else base + fold,
        pays=(wins, ties, loses, 0.0 if fold is None else float(pays[2, nodes[fold]])),
    )


def _columns(rows: Sequence[Sequence[tuple[int, ...]]], kind: type[_BundleNode | _Crossing]) -> dict[str, Int64]:
    """The fields of all bundles' rows, as an array each."""
    joined = [row for of_bundle in rows for row in of_bundle]
    columns = np.array(joined, dtype=np.int64).reshape(-1, len(kind._fields)).T
    return {name: column.copy() for name, column in zip(kind._fields, columns, strict=True)}


def _tiles(lanes: list[_Lane]) -> list[list[_Lane]]:
    """The lanes of a bundle in tiles of sixteen, those with showdowns first; unused lanes sum row 0 to no effect."""
    ordered = sorted(lanes, key=lambda lane: lane.show_node < 0)
    ordered += [_Lane()] * (-len(ordered) % LANES)
    return [ordered[first : first + LANES] for first in range(0, len(ordered), LANES)]


def _ends(lists: Sequence[Sequence[object]]) -> Int64:
    """Where each list begins among all of them, and where the last ends."""
    return np.cumsum([0, *map(len, lists)]).astype(np.int64)

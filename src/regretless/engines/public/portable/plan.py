"""The betting tree as rows of tensors.

Every tensor of a street is [runouts, rows, hands], and on every street

    numbers and strategies of a player    have a row per *entry*, an action of a decision of that player;
    reach of a player                     has a row per line into the street, then one per entry: the reach after it;
    values of the updating player         have a row per own entry, per entry of the opponent and per line: the value of
                                          the node that it leads to.

So two nodes share a row of reach if that player does not move between them, and the values of a decision's children are
adjacent, in the same order as its regrets.

Entries are sorted by the number of actions, then by depth within the street. Decisions with equally many actions are
then one tensor [runouts, decisions, actions, hands] (a *batch*), and those of them that are equally deep are a slice of
it (a *group*): a walk takes a few operations per group, however many lines and runouts there are.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.engines.public.layout import LANES, Layout
from regretless.forms.public import BettingTree, NodeKind

__all__ = ["Batch", "Group", "Plan", "StreetPlan", "make_plan"]

Int64 = NDArray[np.int64]


class Batch(NamedTuple):
    """Decisions of a player on a street with equally many actions."""

    actions: int
    decisions: slice
    entries: slice


class Group(NamedTuple):
    """Decisions of a batch at one depth."""

    player: int
    actions: int
    decisions: slice
    entries: slice
    nodes: Int64  # [decisions]     betting nodes
    reach_rows: Int64  # [decisions]     of the player who acts
    value_rows: tuple[Int64, Int64]  # [decisions]  when player 0 or player 1 is updated


class StreetPlan(NamedTuple):
    """The rows of a street."""

    lines: int
    entries: tuple[int, int]  # of each player
    decisions: tuple[Int64, Int64]  # betting nodes of each player, in the order of their rows
    batches: tuple[tuple[Batch, ...], tuple[Batch, ...]]  # of each player
    groups: tuple[Group, ...]  # of both players, in the order of a walk down
    folds: Int64  # betting nodes
    showdowns: Int64
    chances: Int64  # line n of the next street follows chance node n
    seeds: tuple[Int64, Int64]  # [entries] of each player: which entry of a runout it is, for 16-bit rounding
    stored: tuple[Int64, Int64]  # of each player: where each sixteen of a snapshot is found in the rows of a runout


class Plan(NamedTuple):
    """The rows of a form with N betting nodes."""

    streets: tuple[StreetPlan, ...]
    first_entry: Int64  # [N]     of a decision, among those of its player on its street
    reach_row: Int64  # [2, N]    of each player's reach at a node
    value_row: Int64  # [2, N]    of a node's values when player 0 or player 1 is updated


def make_plan(layout: Layout) -> Plan:
    """Number the rows of a form; small, since nothing here grows with the runouts."""
    tree = layout.form.tree
    streets = len(layout.form.streets)
    actions = np.diff(tree.first_child)
    depth = _depths(tree)
    order = [[_in_order(tree, actions, depth, street, player) for player in range(2)] for street in range(streets)]
    first_entry = np.zeros(len(tree.kind), dtype=np.int64)
    for both in order:
        for nodes in both:
            first_entry[nodes] = np.cumsum(actions[nodes]) - actions[nodes]
    entries = np.array([[int(actions[nodes].sum()) for nodes in both] for both in order])  # [S, 2]
    chances = [_of_kind(tree, street, NodeKind.CHANCE) for street in range(streets)]
    lines = [1, *map(len, chances[:-1])]
    reach_row, value_row = _rows(tree, first_entry, entries, lines, chances)
    plans = []
    for street in range(streets):
        groups = sorted(
            (
                group
                for player in range(2)
                for group in _groups(player, order[street][player], actions, depth, first_entry, reach_row, value_row)
            ),
            key=lambda group: int(depth[group.nodes[0]]),
        )
        sixteens = [_sixteens(layout, player, order[street][player], actions, first_entry) for player in range(2)]
        plans.append(
            StreetPlan(
                lines=lines[street],
                entries=(int(entries[street, 0]), int(entries[street, 1])),
                decisions=(order[street][0], order[street][1]),
                batches=(_batches(order[street][0], actions), _batches(order[street][1], actions)),
                groups=tuple(groups),
                folds=_of_kind(tree, street, NodeKind.FOLD),
                showdowns=_of_kind(tree, street, NodeKind.SHOWDOWN),
                chances=chances[street],
                seeds=(sixteens[0][0], sixteens[1][0]),
                stored=(sixteens[0][1], sixteens[1][1]),
            )
        )
    return Plan(tuple(plans), first_entry, reach_row, value_row)


def _depths(tree: BettingTree) -> Int64:
    """[N] actions since the street began."""
    depth = np.zeros(len(tree.kind), dtype=np.int64)
    for node in range(1, len(depth)):
        above = tree.parent[node]
        depth[node] = depth[above] + 1 if tree.street[above] == tree.street[node] else 0
    return depth


def _of_kind(tree: BettingTree, street: int, kind: NodeKind) -> Int64:
    return np.flatnonzero((tree.kind == kind) & (tree.street == street))


def _in_order(tree: BettingTree, actions: Int64, depth: Int64, street: int, player: int) -> Int64:
    nodes = np.flatnonzero((tree.kind == NodeKind.DECISION) & (tree.player == player) & (tree.street == street))
    return nodes[np.lexsort((nodes, depth[nodes], actions[nodes]))]


def _rows(
    tree: BettingTree, first_entry: Int64, entries: Int64, lines: list[int], chances: list[Int64]
) -> tuple[Int64, Int64]:
    """`Plan.reach_row` and `Plan.value_row`."""
    reach_row, value_row = np.zeros((2, len(tree.kind)), dtype=np.int64), np.zeros((2, len(tree.kind)), dtype=np.int64)
    line = np.zeros(len(tree.kind), dtype=np.int64)
    for nodes in chances:
        line[tree.first_child[nodes]] = np.arange(len(nodes))
    for node in range(len(tree.kind)):
        street, above = int(tree.street[node]), int(tree.parent[node])
        if above < 0 or tree.kind[above] == NodeKind.CHANCE:
            reach_row[:, node] = line[node]
            value_row[:, node] = entries[street].sum() + line[node]
        else:
            player = int(tree.player[above])
            entry = first_entry[above] + node - tree.first_child[above]
            reach_row[:, node] = reach_row[:, above]
            reach_row[player, node] = lines[street] + entry
            value_row[player, node] = entry
            value_row[1 - player, node] = entries[street, 1 - player] + entry
    return reach_row, value_row


def _batches(nodes: Int64, actions: Int64) -> tuple[Batch, ...]:
    found = []
    ends = np.cumsum(actions[nodes])
    for count in np.unique(actions[nodes]).tolist():
        among = np.flatnonzero(actions[nodes] == count)
        first, last = int(among[0]), int(among[-1]) + 1
        found.append(Batch(count, slice(first, last), slice(int(ends[first]) - count, int(ends[last - 1]))))
    return tuple(found)


def _groups(
    player: int, nodes: Int64, actions: Int64, depth: Int64, first_entry: Int64, reach_row: Int64, value_row: Int64
) -> list[Group]:
    found = []
    starts = np.flatnonzero(np.diff(actions[nodes], prepend=-1) | np.diff(depth[nodes], prepend=-1))
    for first, last in pairwise([*starts.tolist(), len(nodes)]):
        members = nodes[first:last]
        entry, count = int(first_entry[members[0]]), int(actions[members[0]])
        found.append(
            Group(
                player=player,
                actions=count,
                decisions=slice(first, last),
                entries=slice(entry, entry + count * len(members)),
                nodes=members,
                reach_rows=reach_row[player, members],
                value_rows=(value_row[0, members], value_row[1, members]),
            )
        )
    return found


def _sixteens(layout: Layout, player: int, nodes: Int64, actions: Int64, first_entry: Int64) -> tuple[Int64, Int64]:
    """`StreetPlan.seeds` and `StreetPlan.stored`: in snapshots a decision is [hands / 16, actions, 16]."""
    many = int(layout.hands[player]) // LANES
    seeds = np.concatenate([layout.block[node] + np.arange(actions[node]) for node in nodes] or [np.zeros(0, int)])
    stored = np.zeros(int(actions[nodes].sum()) * many, dtype=np.int64)
    for node in nodes.tolist():
        first = int(layout.block[node]) // LANES
        rows = first_entry[node] + np.arange(actions[node])
        stored[first : first + many * len(rows)] = (np.arange(many)[:, None] + rows * many).ravel()
    return seeds.astype(np.int64), stored

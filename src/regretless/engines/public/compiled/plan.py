"""The public form laid out for kernels: nodes in walking order, and where each number of a walk is kept.

A walk updates one player (*own*) against the other (*opponent*). On every street it needs, for each betting node, three
rows of numbers over hands: the opponent's reach, the own reach, and the values. Two nodes share a row of reach when no
move of that player lies between them, and rows that are never needed together share their place.

1. Betting nodes are renumbered street by street, and on a street line by line: a *line* is one way to enter the street,
   the subtree below it is contiguous, parents come first.
2. Lines are packed into *chunks* whose rows fit a processor's second cache; only the last street has more than one.
3. Terminals of a chunk are grouped by sixteen into *tiles*, evaluated together, a terminal to a lane.
4. Regrets of a player are one array: street by street, runout by runout, node by node, [actions, hands] each.

Hands are padded to a multiple of sixteen; a padded hand is dead everywhere.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.forms.public import BettingTree, Kind, PublicForm

__all__ = ["LANES", "Plan", "make_plans", "padded"]

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float = NDArray[np.float32] | NDArray[np.float64]
Records = NDArray[np.void]

LANES = 16
CHUNK_BYTES = 320 * 1024  # rows of one chunk; with what it learns it should fit the second cache of a core


NODE = np.dtype(
    [
        ("node", np.int32),  #         the node of the form's betting tree
        ("kind", np.int32),  #         a `forms.public.Kind`
        ("mine", np.int32),  #         1 where the own player acts
        ("actions", np.int32),
        ("first_child", np.int32),  #  children are child[first_child : first_child + actions]
        ("line", np.int32),  #         the line of the next street that a chance node leads to; -1 elsewhere
        ("block", np.int64),  #        where its regrets begin, within those of its street, runout and player
        ("opponent_at", np.int32),  #  row of the opponent's reach
        ("own_at", np.int32),  #       row of the own reach
        ("value_at", np.int32),  #     row of values, in the same array
    ],
    align=True,
)
LINE = np.dtype(
    [
        ("node", np.int32),  #         first node of the line
        ("opponent_at", np.int32),  #  rows of reach of the chance node that leads into it; 0 at the root
        ("own_at", np.int32),
        ("value_at", np.int32),  #     row among the values of lines, summed over runouts
    ]
)
CHUNK = np.dtype(
    [(f"{end}_{what}", np.int32) for what in ("node", "line", "fold", "showdown") for end in ("first", "last")]
    + [
        ("own_block", np.int64),  #   where the own player's regrets of the chunk begin within those of a runout
        ("own_size", np.int64),  #    how many there are
        ("other_block", np.int64),
        ("other_size", np.int64),
    ]
)
STREET = np.dtype(
    [
        ("first_chunk", np.int32),
        ("last_chunk", np.int32),
        ("first_line", np.int32),
        ("last_line", np.int32),
        ("own_at", np.int64),  #       where the own player's regrets of the street begin
        ("own_size", np.int64),  #     numbers of one runout there
        ("other_at", np.int64),
        ("other_size", np.int64),
    ]
)


class Plan(NamedTuple):
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
    fold_from: Int32  # [16 F]      opponent row of each fold; row of zeros where a tile is not full
    fold_to: Int32  #   [16 F]      value row; a row nobody reads where a tile is not full
    fold_pay: Float  # [16 F]       what the own player gets
    showdown_from: Int32  # [16 D]
    showdown_to: Int32  #   [16 D]
    showdown_pay: Float  # [3 · 16 D]  factors of weaker hands, of weaker or equal ones, of all
    rows: Int64  # [3]  numbers in the arrays of opponent reach, own reach and values, line values
    entries: int  #     numbers of regret of the own player


def padded(hands: int) -> int:
    """The next multiple of sixteen."""
    return -(-hands // LANES) * LANES


def make_plans(form: PublicForm, pay_type: type[np.floating[Any]] = np.float32) -> tuple[Plan, Plan]:
    """Lay out a form for the walks of both players; quick, and small: nothing here grows with the runouts.

    `pay_type` is that of the numbers in which terminals are evaluated.
    """
    tree = form.tree
    order, entries, above_nodes = _walking_order(tree)
    position = np.empty(len(order), dtype=np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    children = [
        [] if tree.kind[node] == Kind.CHANCE else position[tree.first_child[node] : tree.first_child[node + 1]].tolist()
        for node in order
    ]
    walk = _Walk(
        order=order,
        street=tree.street[order].astype(np.int32),
        kind=tree.kind[order].astype(np.int32),
        actor=np.where(tree.kind[order] == Kind.DECISION, tree.player[order], -1).astype(np.int32),
        children=children,
        starts=position[entries],
        above=np.array([-1 if node < 0 else position[node] for node in above_nodes], dtype=np.int32),
        hands=np.array([padded(len(held.weight)) for held in form.hands], dtype=np.int64),
    )
    return _make_plan(form, walk, 0, pay_type), _make_plan(form, walk, 1, pay_type)


class _Walk(NamedTuple):
    """The betting tree in walking order."""

    order: Int32  # [N]  nodes of the tree
    street: Int32  # [N]
    kind: Int32  # [N]
    actor: Int32  # [N]
    children: list[list[int]]  # [N]
    starts: Int32  # [L]  first node of each line
    above: Int32  # [L]   chance node that leads into it; -1 at the root
    hands: Int64  # [2]


def _make_plan(form: PublicForm, walk: _Walk, own: int, pay_type: type[np.floating[Any]]) -> Plan:
    width = int(walk.hands.sum())
    chunk_line, street_chunk = _chunks(walk, width)
    chunk_node = np.append(walk.starts, len(walk.order))[chunk_line]
    opponent_at, own_at, value_at, sizes = _rows(walk, own, chunk_node, street_chunk)
    tiles = _tiles(form, walk, own, chunk_node, opponent_at, value_at)
    block, street_at, runout_size, entries = _storage(form, walk)

    nodes = np.zeros(len(walk.order), dtype=NODE)
    nodes["node"], nodes["kind"], nodes["mine"] = walk.order, walk.kind, walk.actor == own
    nodes["actions"] = [len(each) for each in walk.children]
    nodes["first_child"] = np.cumsum(nodes["actions"]) - nodes["actions"]
    nodes["line"] = -1
    nodes["line"][walk.above[1:]] = np.arange(1, len(walk.starts))
    nodes["block"], nodes["opponent_at"], nodes["own_at"], nodes["value_at"] = block, opponent_at, own_at, value_at

    lines = np.zeros(len(walk.starts), dtype=LINE)
    lines["node"] = walk.starts
    lines["opponent_at"] = np.where(walk.above < 0, 0, opponent_at[walk.above])
    lines["own_at"] = np.where(walk.above < 0, 0, own_at[walk.above])
    lines["value_at"] = np.arange(len(walk.starts)) * walk.hands[own]

    chunks = np.zeros(len(chunk_node) - 1, dtype=CHUNK)
    for what, ends in (
        ("node", chunk_node),
        ("line", chunk_line),
        ("fold", tiles.folds),
        ("showdown", tiles.showdowns),
    ):
        chunks[f"first_{what}"], chunks[f"last_{what}"] = ends[:-1], ends[1:]

    for chunk in chunks:
        inside = nodes[chunk["first_node"] : chunk["last_node"]]
        for who, acts, player in (("own", 1, own), ("other", 0, 1 - own)):
            decisions = inside[(inside["kind"] == Kind.DECISION) & (inside["mine"] == acts)]
            if len(decisions):
                chunk[f"{who}_block"] = decisions["block"][0]
                chunk[f"{who}_size"] = int(decisions["actions"].sum()) * walk.hands[player]

    streets = np.zeros(len(form.streets), dtype=STREET)
    for what, ends in (("chunk", street_chunk), ("line", chunk_line[street_chunk])):
        streets[f"first_{what}"], streets[f"last_{what}"] = ends[:-1], ends[1:]
    streets["own_at"], streets["own_size"] = street_at[own], runout_size[own]
    streets["other_at"], streets["other_size"] = street_at[1 - own], runout_size[1 - own]
    return Plan(
        own_hands=int(walk.hands[own]),
        other_hands=int(walk.hands[1 - own]),
        nodes=nodes,
        child=value_at[np.array([child for row in walk.children for child in row], dtype=np.int64)],
        lines=lines,
        chunks=chunks,
        streets=streets,
        fold_from=tiles.fold_from,
        fold_to=tiles.fold_to,
        fold_pay=tiles.fold_pay.astype(pay_type),
        showdown_from=tiles.showdown_from,
        showdown_to=tiles.showdown_to,
        showdown_pay=tiles.showdown_pay.astype(pay_type),
        rows=np.array([*sizes, len(lines) * walk.hands[own]], dtype=np.int64),
        entries=int(entries[own]),
    )


def _walking_order(tree: BettingTree) -> tuple[Int32, list[int], list[int]]:
    """Step 1: nodes street by street and line by line; the first node of each line, and the chance node above it."""
    order: list[int] = []
    lines: list[int] = []
    line_above: list[int] = []
    entering = [(0, -1)]
    while entering:
        following: list[tuple[int, int]] = []
        for entry, above in entering:
            lines.append(entry)
            line_above.append(above)
            pending = [entry]
            while pending:
                node = pending.pop()
                order.append(node)
                children = range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
                if tree.kind[node] == Kind.CHANCE:
                    following.append((children[0], node))
                else:
                    pending.extend(reversed(children))
        entering = following
    return np.array(order, dtype=np.int32), lines, line_above


def _chunks(walk: _Walk, width: int) -> tuple[Int32, Int32]:
    """Step 2: lines of each chunk [C+1] and chunks of each street [S+1].

    Lines of the last street stay in order; where to cut them is chosen so that few lanes of tiles are left empty.
    """
    ends = np.append(walk.starts, len(walk.order))
    line_street = walk.street[walk.starts]
    last = int(line_street.max())
    chunk_line = [0]
    street_chunk = [0]
    for street in range(last + 1):
        members = np.flatnonzero(line_street == street)
        if street < last:
            chunk_line.append(int(members[-1]) + 1)
        else:
            counts = np.array(
                [
                    [np.sum(walk.kind[ends[line] : ends[line + 1]] == kind) for kind in (Kind.FOLD, Kind.SHOWDOWN)]
                    for line in members
                ]
            )
            sizes = np.diff(ends)[members] * width * 4
            chunk_line += [int(members[0]) + cut for cut in _cuts(sizes, counts)]
        street_chunk.append(len(chunk_line) - 1)
    return np.array(chunk_line, dtype=np.int32), np.array(street_chunk, dtype=np.int32)


def _cuts(sizes: Int64, counts: Int64) -> list[int]:
    """Ends of chunks of at most `CHUNK_BYTES` with the fewest tiles in all, by dynamic programming from the front."""
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
            cost = cheapest[first] + float(np.ceil(terminals / LANES).sum()) + 0.1
            if cost < cheapest[end]:
                cheapest[end], begin[end] = cost, first
    cuts = []
    end = lines
    while end > 0:
        cuts.append(end)
        end = begin[end]
    return cuts[::-1]


def _rows(walk: _Walk, own: int, chunk_node: Int32, street_chunk: Int32) -> tuple[Int32, Int32, Int32, tuple[int, int]]:
    """Where rows are kept. The chunks of one street take turns in the same place, since one is done before the next.

    Own reach is needed on the way down and values on the way up, so they share their place too. On the last street a
    node's value replaces its first child's. The first row of each array is special: zeros in the opponent's, scratch
    that nobody reads in the values.
    """
    opponent_at, own_at, value_at = (np.zeros(len(walk.kind), dtype=np.int32) for _ in range(3))
    reach_at = (opponent_at, own_at)
    widths = (int(walk.hands[1 - own]), int(walk.hands[own]))
    entry = np.zeros(len(walk.kind), dtype=np.bool_)
    entry[walk.starts] = True
    base = list(widths)
    for street, (first, last) in enumerate(pairwise(street_chunk)):
        in_place = street == len(street_chunk) - 2
        end = list(base)
        for chunk in range(first, last):
            inside = range(chunk_node[chunk], chunk_node[chunk + 1])
            used = list(base)
            for node in inside:
                if entry[node]:
                    for which in range(2):
                        reach_at[which][node] = used[which]
                        used[which] += widths[which]
                moved = 1 if walk.actor[node] == own else 0  # the reach that the actor's choice splits
                for child in walk.children[node]:
                    reach_at[moved][child] = used[moved]
                    used[moved] += widths[moved]
                    reach_at[1 - moved][child] = reach_at[1 - moved][node]
            value = base[1]
            for node in reversed(inside):
                if in_place and walk.children[node]:
                    value_at[node] = value_at[walk.children[node][0]]
                else:
                    value_at[node] = value
                    value += widths[1]
            end = [max(end[0], used[0]), max(end[1], used[1], value)]
        base = end
    return opponent_at, own_at, value_at, (base[0], base[1])


class _Tiles(NamedTuple):
    folds: Int32  # [C+1]  tiles of chunk c
    showdowns: Int32  # [C+1]
    fold_from: Int32
    fold_to: Int32
    fold_pay: Float
    showdown_from: Int32
    showdown_to: Int32
    showdown_pay: Float


def _tiles(form: PublicForm, walk: _Walk, own: int, chunk_node: Int32, opponent_at: Int32, value_at: Int32) -> _Tiles:
    """Step 3, with what each terminal pays.

    With W the opponent's reach among weaker hands, E among weaker or equal ones, and V among all, a showdown is worth

        win · W + tie · (E − W) + lose · (V − E)  =  (win − tie) · W + (tie − lose) · E + lose · V
    """
    win, lose, tie = form.payoffs.win[:, own], form.payoffs.lose[:, own], form.payoffs.tie[:, own]
    folds, fold_at = _grouped(walk.kind == Kind.FOLD, chunk_node)
    showdowns, showdown_at = _grouped(walk.kind == Kind.SHOWDOWN, chunk_node)
    node = walk.order[fold_at]
    fold_pay = np.where(form.tree.player[node] == own, lose[node], win[node])
    node = walk.order[showdown_at]
    showdown_pay = np.array([(win - tie)[node], (tie - lose)[node], lose[node]])
    return _Tiles(
        folds=folds,
        showdowns=showdowns,
        fold_from=np.where(fold_at < 0, 0, opponent_at[fold_at]).astype(np.int32),
        fold_to=np.where(fold_at < 0, 0, value_at[fold_at]).astype(np.int32),
        fold_pay=np.where(fold_at < 0, 0, fold_pay),
        showdown_from=np.where(showdown_at < 0, 0, opponent_at[showdown_at]).astype(np.int32),
        showdown_to=np.where(showdown_at < 0, 0, value_at[showdown_at]).astype(np.int32),
        showdown_pay=np.where(showdown_at < 0, 0, showdown_pay).ravel(),
    )


def _grouped(wanted: NDArray[np.bool_], chunk_node: Int32) -> tuple[Int32, Int64]:
    """Tiles of each chunk [C+1], and the wanted nodes chunk by chunk, filled up with -1 to multiples of sixteen."""
    members: list[int] = []
    tiles = [0]
    for first, last in pairwise(chunk_node):
        found = (np.flatnonzero(wanted[first:last]) + first).tolist()
        members += found + [-1] * (-len(found) % LANES)
        tiles.append(len(members) // LANES)
    return np.array(tiles, dtype=np.int32), np.array(members, dtype=np.int64)


def _storage(form: PublicForm, walk: _Walk) -> tuple[Int64, Int64, Int64, Int64]:
    """Step 4: blocks of nodes, starts of streets, size of a runout, and numbers in all."""
    block = np.zeros(len(walk.kind), dtype=np.int64)
    runout_size = np.zeros((2, len(form.streets)), dtype=np.int64)
    for node in np.flatnonzero(walk.kind == Kind.DECISION):
        player, street = walk.actor[node], walk.street[node]
        block[node] = runout_size[player, street]
        runout_size[player, street] += len(walk.children[node]) * walk.hands[player]
    runouts = np.array([len(each.parent) for each in form.streets], dtype=np.int64)
    ends = np.cumsum(runout_size * runouts, axis=1)
    return block, ends - runout_size * runouts, runout_size, ends[:, -1]

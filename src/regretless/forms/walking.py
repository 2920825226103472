"""The betting tree in walking order: which nodes and lines an engine walks on each street, and in which order.

A *line* is one way to enter a street, with the subtree below it up to the next deal. Nodes are walked street by street
and, within a street, line by line: parents before children, everything below an action before the next action. The
lines of a street are in the order of the chance nodes that lead into them.

All engines of the public and of the bucketed form plan their walks from this order. What they add (rows, records,
tiles, bundles of lines) depends on their kernels.

>>> from regretless.forms.public_poker import compile_public
>>> from regretless.games import Leduc
>>> order = walking_order(compile_public(Leduc()).tree)
>>> order.lines_of(0), order.lines_of(1)
(range(0, 1), range(1, 6))
>>> entry = order.line_start[1]
>>> bool(order.line_below[order.line_above[1]] == 1), int(order.street[entry])
(True, 1)
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from regretless.forms.history import FloatArray
from regretless.forms.public import BettingTree, NodeKind, Payoffs, PublicForm, Street
from regretless.reprs import brief

__all__ = [
    "WalkingOrder", "action_labels", "children", "has_even_ties", "middle_of", "terminal_pays", "walking_order",
]  # fmt: skip

Int32 = NDArray[np.int32]


def children(tree: BettingTree | Street, index: int) -> range:
    """The betting nodes below a node, or the runouts of the next street below a runout."""
    return range(int(tree.first_child[index]), int(tree.first_child[index + 1]))


def action_labels(tree: BettingTree, node: int) -> tuple[str, ...]:
    """What leads to each child of a node: the actions at a decision."""
    below = children(tree, node)
    return tree.labels[below.start : below.stop]


@dataclass(frozen=True, eq=False)
class WalkingOrder:
    """N nodes by their position in walking order and L lines; the arrays are read-only.

    `node` says which node of the tree is at a position; everything else speaks of positions.
    """

    node: Int32  # [N]            number in the tree
    position: Int32  # [N]        the inverse: the position of each node of the tree
    street: Int32  # [N]
    kind: Int32  # [N]            a `NodeKind`
    actor: Int32  # [N]           who acts at a decision; -1 elsewhere
    children: tuple[tuple[int, ...], ...]  # [N]  of decisions; what follows a chance node is a line of its own
    line_start: Int32  # [L + 1]  positions of line l are line_start[l] : line_start[l + 1]
    line_street: Int32  # [L]
    line_above: Int32  # [L]      the chance node that leads into each; -1 at the root
    line_below: Int32  # [N]      the line that a chance node leads to; -1 elsewhere

    __repr__ = brief

    def lines_of(self, street: int) -> range:
        """The lines of a street; empty if the betting never gets there."""
        first, last = np.searchsorted(self.line_street, [street, street + 1]).tolist()
        return range(first, last)


_orders: WeakKeyDictionary[BettingTree, WalkingOrder] = WeakKeyDictionary()  # of trees in use: many spots may share one


def walking_order(tree: BettingTree) -> WalkingOrder:
    """The walking order of a tree; the same object for the same tree."""
    if tree not in _orders:
        _orders[tree] = _make_order(tree)
    return _orders[tree]


def terminal_pays(tree: BettingTree, payoffs: Payoffs, own: int) -> FloatArray:
    """[3, N] what terminals pay the own player per unit of the reach that a hand meets there; 0 at other nodes.

    With W the opponent's reach over weaker hands, E over weaker or equal ones, and V over all, a showdown is worth

        win · W + tie · (E − W) + lose · (V − E)  =  (win − tie) · W + (tie − lose) · E + lose · V

    and a fold, whoever holds what, its payoff times V. The three rows are the factors of W, E and V.
    """
    win, lose, tie = (each[:, own] for each in (payoffs.win, payoffs.lose, payoffs.tie))
    shown, folded = tree.kind == NodeKind.SHOWDOWN, tree.kind == NodeKind.FOLD
    pays: FloatArray = np.where(shown, [win - tie, tie - lose, lose], 0.0)
    pays[2, folded] = np.where(tree.player == own, lose, win)[folded]
    return pays


def has_even_ties(form: PublicForm) -> bool:
    """Whether showdowns are a sign times a stake: then one matrix product can evaluate them all.

    A tie must be worth the same everywhere, midway between winning and losing, to each player. That is so without rake,
    since a tie returns half of the starting pot. With rake it is so only if all showdowns pay the same, for example the
    cap.
    """
    return all(middle_of(form, own) is not None for own in range(2))


def middle_of(form: PublicForm, own: int) -> float | None:
    """What a tie is worth to a player, if that is the same everywhere, midway between winning and losing."""
    shown = form.tree.kind == NodeKind.SHOWDOWN
    win, lose, tie = (each[shown, own] for each in (form.payoffs.win, form.payoffs.lose, form.payoffs.tie))
    if not len(tie):
        return 0.0
    close = 1e-9 * float(np.abs([win, lose]).max())
    same = np.all(np.abs(tie - tie[0]) <= close) and np.all(np.abs(win + lose - 2 * tie) <= 2 * close)
    return float(tie[0]) if same and np.all(win - lose > close) else None


def _make_order(tree: BettingTree) -> WalkingOrder:
    kind, first_child = tree.kind.tolist(), tree.first_child.tolist()
    order: list[int] = []
    starts: list[int] = []
    above: list[int] = []
    entering = [(0, -1)]  # the first node of each line of a street, and the position of the chance node above it
    while entering:
        following: list[tuple[int, int]] = []
        for entry, chance in entering:
            starts.append(len(order))
            above.append(chance)
            pending = [entry]
            while pending:
                node = pending.pop()
                below = range(first_child[node], first_child[node + 1])
                if kind[node] == NodeKind.CHANCE:
                    following.append((below[0], len(order)))
                else:
                    pending.extend(reversed(below))
                order.append(node)
        entering = following
    nodes, line_above = np.array(order, dtype=np.int32), np.array(above, dtype=np.int32)
    position = np.empty_like(nodes)
    position[nodes] = np.arange(len(nodes), dtype=np.int32)
    line_below = np.full(len(nodes), -1, dtype=np.int32)
    line_below[line_above[1:]] = np.arange(1, len(starts))
    position_of = position.tolist()
    result = WalkingOrder(
        node=nodes,
        position=position,
        street=tree.street[nodes].astype(np.int32),
        kind=tree.kind[nodes].astype(np.int32),
        actor=np.where(tree.kind == NodeKind.DECISION, tree.player, -1)[nodes].astype(np.int32),
        children=tuple(
            () if kind[node] == NodeKind.CHANCE else tuple(position_of[first_child[node] : first_child[node + 1]])
            for node in order
        ),
        line_start=np.array([*starts, len(order)], dtype=np.int32),
        line_street=tree.street[nodes[starts]].astype(np.int32),
        line_above=line_above,
        line_below=line_below,
    )
    for array in vars(result).values():
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return result

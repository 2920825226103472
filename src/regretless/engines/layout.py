"""Where the numbers of each decision are stored: the order of regrets and averages in engines and in files.

1. Betting nodes are in walking order (`forms/walking.py`).
2. All numbers of a player are in one array: street by street, runout by runout, decision by decision in walking order,
   each [hands / 16, actions, 16].

Hands are padded to a multiple of sixteen; padding hands are dead everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from regretless.engines.contract import SUM_TOLERANCE, PublicStrategy
from regretless.engines.formats import Stored
from regretless.errors import InvalidOption
from regretless.forms.history import FloatArray
from regretless.forms.public import BettingTree, NodeKind, PublicForm
from regretless.forms.walking import walking_order
from regretless.reprs import brief

__all__ = [
    "LANES",
    "MAX_BLOCKS",
    "Layout",
    "block_ends",
    "check_rows",
    "checked_rows",
    "make_layout",
    "padded",
    "put",
    "shard_ends",
    "take_alike",
]

LANES = 16
MAX_BLOCKS = 64  # enough to share among threads; each holds the values of the lines into the second street

Int64 = NDArray[np.int64]


def shard_ends(runouts: int) -> list[int]:
    """[B+1] where the blocks of so many runouts of the second street begin, and the end; shards have whole blocks.

    Engines sum blocks by themselves before they add them up, so that sums depend neither on threads nor on shards.

    >>> shard_ends(3), len(shard_ends(1755))
    ([0, 1, 2, 3], 65)
    """
    ends: Int64 = np.linspace(1, 1 + runouts, min(runouts, MAX_BLOCKS) + 1).astype(np.int64) - 1
    return [int(end) for end in ends]


def block_ends(form: PublicForm) -> list[int]:
    """[B+1] where the blocks of the second street begin, and the end; a part of a form has whole blocks."""
    runouts = len(form.streets[1].parent) if len(form.streets) > 1 else 0
    first, every = (0, runouts) if form.part is None else (form.part.first[1], form.part.runouts[1])
    return [end - first for end in shard_ends(every) if first <= end <= first + runouts]


def padded(hands: int) -> int:
    """The next multiple of sixteen."""
    return -(-hands // LANES) * LANES


@dataclass(frozen=True)
class Layout:
    """The layout of a form with N betting nodes and S streets."""

    form: PublicForm
    hands: Int64  # [2]            of each player, padded
    block: Int64  # [N]            where a decision's numbers begin, within those of its player on a runout
    runout_size: Int64  # [2, S]   numbers of each player on one runout of each street
    street_at: Int64  # [2, S]     where those of a street begin
    entries: Int64  # [2]          numbers of each player
    runouts: Int64  # [S]          of each street

    __repr__ = brief

    def decisions(self, player: int, street: int) -> list[int]:
        """The betting nodes of a street at which a player acts."""
        tree = self.form.tree
        acts = (tree.kind == NodeKind.DECISION) & (tree.player == player)
        return np.flatnonzero(acts & (tree.street == street)).tolist()

    def street_rows(self, numbers: Stored, player: int, street: int) -> Stored:
        """[runouts, numbers per runout] a view of a player's numbers on a street."""
        size, begin = int(self.runout_size[player, street]), int(self.street_at[player, street])
        runouts = int(self.runouts[street])
        return numbers[begin : begin + runouts * size].reshape(runouts, size)

    def window(self, runouts: Int64) -> Layout:
        """The layout of arrays with only `runouts` runouts of each street."""
        ends = np.cumsum(self.runout_size * runouts, axis=1)
        return replace(self, street_at=ends - self.runout_size * runouts, entries=ends[:, -1], runouts=runouts)

    def part_shift(self, player: int) -> Int64:
        """[S] how much later a player's numbers of each street begin in the whole, if the form is a part of one."""
        part = self.form.part
        if part is None:
            return np.zeros(len(self.runouts), dtype=np.int64)
        whole = self.window(np.array(part.runouts, dtype=np.int64))
        begins = whole.street_at[player] + np.array(part.first) * whole.runout_size[player]
        return np.asarray(begins - self.street_at[player])

    def node_rows(self, numbers: Stored, node: int, runouts: slice = slice(None)) -> Stored:
        """[runouts, hands / 16, actions, 16] a writable view of a decision's numbers in its player's array."""
        tree = self.form.tree
        player = int(tree.player[node])
        actions = int(tree.first_child[node + 1] - tree.first_child[node])
        begin = int(self.block[node])
        rows = self.street_rows(numbers, player, int(tree.street[node]))[runouts]
        return rows[:, begin : begin + actions * int(self.hands[player])].reshape(len(rows), -1, actions, LANES)

    def read(self, numbers: Stored, node: int, runouts: slice = slice(None)) -> Stored:
        """[runouts, actions, H] a copy of a decision's numbers."""
        return self.by_action(self.node_rows(numbers, node, runouts), node)

    def by_action(self, rows: Stored, node: int) -> Stored:
        """[runouts, actions, H] a copy of what `node_rows` returns."""
        by_action = rows.transpose(0, 2, 1, 3).reshape(len(rows), rows.shape[2], -1)
        return by_action[:, :, : len(self.form.hands[int(self.form.tree.player[node])].weight)]

    def write(
        self,
        numbers: Stored,
        node: int,
        runout: int,
        values: NDArray[np.floating],
        hands: NDArray[np.bool_] | None = None,
    ) -> None:
        """Store [actions, H] at a decision, for all hands or some."""
        put(self.node_rows(numbers, node, slice(runout, runout + 1))[0], values, hands)

    def write_all(self, numbers: Stored, node: int, values: NDArray[np.floating]) -> None:
        """Store [runouts, actions, H] at a decision, for all hands on all runouts."""
        rows = self.node_rows(numbers, node)
        whole = values.shape[2] // LANES * LANES
        rows[:, : whole // LANES] = values[:, :, :whole].reshape(*values.shape[:2], -1, LANES).transpose(0, 2, 1, 3)
        if whole < values.shape[2]:
            rows[:, whole // LANES, :, : values.shape[2] - whole] = values[:, :, whole:]

    def make_alike(self, numbers: Stored, player: int) -> None:
        """Give equivalent hands on each runout the numbers of their representative."""
        for number, street in enumerate(self.form.streets):
            for symmetry in np.setdiff1d(street.symmetry, 0):  # 0: no two hands are equivalent
                runouts = np.flatnonzero(street.symmetry == symmetry)[:, None]
                alike = self.form.symmetry.hands[player][symmetry].astype(np.int64)
                others = np.flatnonzero(alike != np.arange(len(alike)))
                first = alike[others]
                for node in self.decisions(player, number):
                    rows = self.node_rows(numbers, node)
                    rows[runouts, others // LANES, :, others % LANES] = rows[runouts, first // LANES, :, first % LANES]


def put(rows: Stored, values: NDArray[np.floating], hands: NDArray[np.bool_] | None = None) -> None:
    """Write [actions, H] into the rows of one node on one runout, for all hands or some."""
    chosen = np.arange(values.shape[1]) if hands is None else np.flatnonzero(hands)
    rows[chosen // LANES, :, chosen % LANES] = values[:, chosen].T


def take_alike(form: PublicForm, strategy: FloatArray, node: int, runout: int) -> FloatArray:
    """[actions, H] the strategy in which equivalent hands on the runout all play what the first of them plays."""
    symmetry = form.streets[int(form.tree.street[node])].symmetry[runout]
    return np.asarray(strategy[:, form.symmetry.hands[int(form.tree.player[node])][symmetry]])


def checked_rows(form: PublicForm, strategy: PublicStrategy, node: int, runout: int) -> FloatArray:
    """[actions, H] a caller's strategy, as `take_alike` has it; an impossible one is refused."""
    rows = take_alike(form, np.asarray(strategy(node, runout)), node, runout)
    check_rows(form, rows, node)
    return rows


def check_rows(form: PublicForm, rows: FloatArray, node: int) -> None:
    """Refuse [actions, H] that are not probabilities of a node's actions."""
    actions = int(form.tree.first_child[node + 1] - form.tree.first_child[node])
    possible = len(rows) == actions and bool((rows >= 0).all())
    if not possible or (np.abs(rows.sum(axis=0) - 1.0) > SUM_TOLERANCE).any():
        labels: list[str] = []
        while node > 0:
            labels.insert(0, form.tree.labels[node])
            node = int(form.tree.parent[node])
        line = ", ".join(label for label in labels if label) or "the first decision"
        why = f"must hold {actions} numbers of at least 0 that sum to 1 for every hand"
        raise InvalidOption("strategy", line, why)


def make_layout(form: PublicForm) -> Layout:
    """The layout of a form; fast and small, since it does not grow with the runouts."""
    key = (
        padded(len(form.hands[0].weight)),
        padded(len(form.hands[1].weight)),
        *(len(street.parent) for street in form.streets),
    )
    actions = _actions_of(form.tree)
    sizes = actions.sizes.get(key)
    if sizes is None:
        sizes = actions.sizes[key] = _sizes(form.tree, actions, np.array(key[:2]), np.array(key[2:]))
    return Layout(form, *sizes)


class _Sizes(NamedTuple):
    """The arrays of a layout, read-only: spots of a batch mostly have the same."""

    hands: Int64
    block: Int64
    runout_size: Int64
    street_at: Int64
    entries: Int64
    runouts: Int64


def _sizes(tree: BettingTree, actions: _Actions, hands: Int64, runouts: Int64) -> _Sizes:
    runout_size = np.zeros((2, len(runouts)), dtype=np.int64)
    runout_size[:, : actions.total.shape[1]] = actions.total * hands[:, None]
    ends = np.cumsum(runout_size * runouts, axis=1)
    block, street_at = actions.before * hands[tree.player], ends - runout_size * runouts
    sizes = _Sizes(hands, block, runout_size, street_at, ends[:, -1], runouts)
    for array in sizes:
        array.flags.writeable = False
    return sizes


class _Actions(NamedTuple):
    """Actions in a betting tree, in walking order, counted by player and street; read-only."""

    before: Int64  # [N]    before a decision; 0 at other nodes
    total: Int64  # [2, S]
    sizes: dict[tuple[int, ...], _Sizes]  # by padded hands and runouts


_actions: WeakKeyDictionary[BettingTree, _Actions] = WeakKeyDictionary()  # of trees in use: many spots may share one


def _actions_of(tree: BettingTree) -> _Actions:
    if tree not in _actions:
        order, counts = walking_order(tree), np.diff(tree.first_child)
        before, total = np.zeros(len(tree.kind), dtype=np.int64), np.zeros((2, int(tree.street.max()) + 1), np.int64)
        for player, street in np.ndindex(total.shape):
            nodes = order.node[(order.actor == player) & (order.street == street)]
            before[nodes] = np.cumsum(counts[nodes]) - counts[nodes]
            total[player, street] = counts[nodes].sum()
        before.flags.writeable = total.flags.writeable = False
        _actions[tree] = _Actions(before, total, {})
    return _actions[tree]

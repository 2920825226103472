"""What every engine of the bucketed form stores: regrets and averages per decision, action and bucket.

All numbers of a player are in one array, decision by decision in tree order, each [actions, buckets of its street].
Snapshots have the same layout, so that any engine can resume another's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.engines.contract import Snapshot
from regretless.forms.bucketed import BucketedForm
from regretless.forms.history import FloatArray
from regretless.forms.public import NodeKind

__all__ = ["BucketTables", "TableLayout", "kept_numbers", "table_numbers"]

PLAYERS = range(2)

Int64 = NDArray[np.int64]
Numbers = NDArray[Any]  # regrets, averages or predictions of one player


class TableLayout:
    """Where the numbers of each decision are: N betting nodes."""

    def __init__(self, form: BucketedForm) -> None:
        tree = form.tree
        acts = tree.kind == NodeKind.DECISION
        self.form = form
        self.actions: Int64 = np.where(acts, np.diff(tree.first_child), 0).astype(np.int64)  # [N]
        counts = np.array(form.buckets, dtype=np.int64)
        self.buckets: Int64 = np.where(acts, counts[tree.player, tree.street], 0)  # [N]
        self.begin: Int64 = np.zeros(len(acts), dtype=np.int64)  # [N] of a decision in the array of its player
        self.entries = [0, 0]  # numbers of each player
        for player in PLAYERS:
            nodes = np.flatnonzero(acts & (tree.player == player))
            ends = np.cumsum(self.actions[nodes] * self.buckets[nodes])
            self.begin[nodes[1:]] = ends[:-1]
            self.entries[player] = int(ends[-1]) if len(ends) else 0

    def rows(self, numbers: Any, node: int) -> Any:
        """[actions, buckets] a view of a decision's numbers in the array of its player."""
        actions, buckets, begin = int(self.actions[node]), int(self.buckets[node]), int(self.begin[node])
        return numbers[begin : begin + actions * buckets].reshape(actions, buckets)


def table_numbers(form: BucketedForm) -> int:
    """Regrets of both players; there are as many averages."""
    return sum(TableLayout(form).entries)


def kept_numbers(layout: TableLayout, *, predicts: bool) -> int:
    """Regrets and averages of both players and, if the variant `predicts`, predictions."""
    return sum(layout.entries) * (3 if predicts else 2)


class BucketTables:
    """The part of an engine that stores what was learned. An engine on a device overrides `_zeros` and `_stored`."""

    def __init__(self, form: BucketedForm, dtype: Any) -> None:
        self.form, self.layout, self.dtype = form, TableLayout(form), np.dtype(dtype)
        self.storage = 8 * self.dtype.itemsize
        self.iteration = 0
        self._regret = [self._zeros(player) for player in PLAYERS]
        self._average = [self._zeros(player) for player in PLAYERS]
        self._matched = list(self._regret)  # what strategies are matched to: regrets, unless the variant predicts

    @property
    def predicts(self) -> bool:
        """Whether predictions are stored beside the regrets."""
        return self._matched[0] is not self._regret[0]

    @property
    def kept_bytes(self) -> int:
        """Regrets, averages and predictions."""
        return int(kept_numbers(self.layout, predicts=self.predicts) * self.dtype.itemsize)

    def store_predictions(self) -> None:
        """Store predictions from now on; the first are the regrets."""
        if not self.predicts:
            self._matched = [self._zeros(player) for player in PLAYERS]
            for matched, regret in zip(self._matched, self._regret, strict=True):
                self._load(matched, self._stored(regret))

    def _zeros(self, player: int) -> Any:
        return np.zeros(self.layout.entries[player], dtype=self.dtype)

    def _stored(self, numbers: Any) -> Numbers:
        """Numbers as a NumPy array; the live ones where possible."""
        return np.asarray(numbers)

    def _load(self, numbers: Any, stored: Numbers) -> None:
        """Replace numbers by those of a snapshot."""
        numbers[:] = stored

    def strategy(self, node: int) -> FloatArray:
        """[actions, buckets] average strategy; uniform where nothing was accumulated."""
        player = int(self.form.tree.player[node])
        sums = self._stored(self.layout.rows(self._average[player], node)).astype(np.float64)
        total = sums.sum(axis=0)
        return np.where(total > 0, sums / np.where(total > 0, total, 1.0), 1.0 / len(sums))

    def _arrays(self) -> dict[str, Any]:
        """The numbers by their names in snapshots."""
        named = {"regret": self._regret, "average": self._average}
        named |= {"matched": self._matched} if self.predicts else {}
        return {f"{name}.{player}": arrays[player] for name, arrays in named.items() for player in PLAYERS}

    def snapshot(self, *, copy: bool = True) -> Snapshot:
        """The state of the solve; without `copy`, where possible, the live arrays, which later iterations change."""
        live = {name: self._stored(numbers) for name, numbers in self._arrays().items()}
        return Snapshot(self.iteration, {name: array.copy() if copy else array for name, array in live.items()})

    def restore(self, snapshot: Snapshot) -> None:
        """Resume from a snapshot; raises `ValueError` if an array is missing or has the wrong type or shape."""
        self._matched = list(self._regret)
        if snapshot.predicts:
            self.store_predictions()
        for name, numbers in self._arrays().items():
            if name not in snapshot.arrays:
                raise ValueError(f"the snapshot has no {name!r}")
            given = np.asarray(snapshot.arrays[name])
            wanted = (self.layout.entries[int(name[-1])],)
            if given.dtype != self.dtype or given.shape != wanted:
                raise ValueError(f"{name!r} is {given.dtype} {given.shape}, but {self.dtype} {wanted} is needed")
            self._load(numbers, given)
        self.iteration = snapshot.iteration

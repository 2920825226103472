"""What every engine of the bucketed form stores: regrets and averages per decision, action and bucket.

All numbers of a player are in one array, decision by decision in tree order, each [actions, buckets of its street].
Snapshots have the same layout, so that any engine can resume another's.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike, NDArray

from regretless.engines.learned import LearnedArrays, Numbers, describe, total_bytes
from regretless.forms.bucketed import BucketedForm
from regretless.forms.history import FloatArray
from regretless.forms.normalise import normalise_columns
from regretless.forms.public import NodeKind

__all__ = ["BucketTables", "TableLayout"]

Int64 = NDArray[np.int64]


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
        for player in range(2):
            nodes = np.flatnonzero(acts & (tree.player == player))
            ends = np.cumsum(self.actions[nodes] * self.buckets[nodes])
            self.begin[nodes[1:]] = ends[:-1]
            self.entries[player] = int(ends[-1]) if len(ends) else 0

    def rows(self, numbers: Numbers, node: int) -> Numbers:
        """[actions, buckets] a view of a decision's numbers in the array of its player."""
        actions, buckets, begin = int(self.actions[node]), int(self.buckets[node]), int(self.begin[node])
        return numbers[begin : begin + actions * buckets].reshape(actions, buckets)

    def learned_bytes(self, dtype: DTypeLike = np.float32, *, predicts: bool = False) -> int:
        """Bytes of regrets and averages of both players and, if the variant `predicts`, of predictions."""
        return total_bytes(describe(self.entries, np.dtype(dtype), np.dtype(dtype), predicts=predicts))


class BucketTables(LearnedArrays):
    """The part of an engine that stores what was learned."""

    def __init__(self, form: BucketedForm, dtype: DTypeLike) -> None:
        self.form, self.layout, self.dtype = form, TableLayout(form), np.dtype(dtype)
        self.storage = 8 * self.dtype.itemsize
        super().__init__(self.layout.entries, self.dtype, self.dtype)

    def strategy(self, node: int) -> FloatArray:
        """[actions, buckets] average strategy; uniform where nothing was accumulated."""
        player = int(self.form.tree.player[node])
        return normalise_columns(self._stored(self.layout.rows(self._average[player], node)))

"""Strategies per bucket, and the interface of what evaluates them with real cards on every runout.

What a hand does on a runout is what its bucket does there. So a strategy is a table [actions, buckets] for each
decision, together with the maps from hands to buckets, and takes far less memory than one for every hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from regretless.engines.contract import SUM_TOLERANCE, Evaluation
from regretless.errors import InvalidOption
from regretless.forms.bucketed import BucketMaps
from regretless.forms.history import FloatArray
from regretless.forms.public import BettingTree, PublicForm
from regretless.forms.public_size import PublicSize
from regretless.reprs import brief

__all__ = ["BucketEvaluator", "BucketEvaluators", "BucketStrategy", "EvaluationStopped", "StrategyTables"]


@dataclass(frozen=True, eq=False)
class StrategyTables:
    """What every bucket does at D decisions: one row of probabilities per action and one column per bucket."""

    probability: NDArray[np.float32]  # decision after decision, [actions, columns]
    node: NDArray[np.int64]  # [D]     of the betting tree
    begin: NDArray[np.int64]  # [D]    where a decision's probabilities begin
    columns: NDArray[np.int32]  # [D]

    __repr__ = brief

    @classmethod
    def of(cls, nodes: Sequence[int], tables: Iterable[FloatArray]) -> StrategyTables:
        """From the tables [actions, columns] of some nodes."""
        narrow = [table.astype(np.float32) for table in tables]
        for node, table in zip(nodes, narrow, strict=True):
            if not (bool((table >= 0).all()) and bool((np.abs(table.sum(axis=0) - 1.0) <= SUM_TOLERANCE).all())):
                why = "is a node whose probabilities are below 0 or do not sum to 1 in some bucket"
                raise InvalidOption("strategy", node, why)
        sizes = np.array([table.size for table in narrow], dtype=np.int64)
        return cls(
            probability=np.concatenate([np.empty(0, dtype=np.float32), *(table.ravel() for table in narrow)]),
            node=np.array(nodes, dtype=np.int64),
            begin=np.cumsum(sizes) - sizes,
            columns=np.array([table.shape[1] for table in narrow], dtype=np.int32),
        )

    def only(self, nodes: Iterable[int]) -> StrategyTables:
        """The same tables, without those of other nodes."""
        rows = np.isin(self.node, list(nodes))
        probability = self.probability if rows.any() else self.probability[:0]
        return StrategyTables(probability, self.node[rows], self.begin[rows], self.columns[rows])


@dataclass(frozen=True)
class BucketStrategy:
    """A strategy of the public form per bucket: what a hand does on a runout is what its bucket does.

    Every decision is in one of the tables. Strategies may share tables, which an evaluator then uploads once.
    """

    tables: tuple[StrategyTables, ...]
    maps: BucketMaps

    __repr__ = brief

    def against(self, other: BucketStrategy, tree: BettingTree) -> BucketStrategy:
        """The profile in which player 0 follows this strategy and player 1 the other."""
        tables = [
            table.only(np.flatnonzero(tree.player == player).tolist())
            for player, strategy in enumerate((self, other))
            for table in strategy.tables
        ]
        return BucketStrategy(tuple(table for table in tables if len(table.node)), (self.maps[0], other.maps[1]))


class EvaluationStopped(Exception):
    """An evaluation was interrupted by its caller."""


class BucketEvaluator(Protocol):
    """One public form on one device, in which strategies per bucket are evaluated on every runout."""

    @property
    def form(self) -> PublicForm: ...

    @property
    def device(self) -> str:
        """ "cpu" or "cuda"."""

    @property
    def memory_bytes(self) -> int:
        """Memory of what it keeps between evaluations."""

    def evaluate(self, strategy: BucketStrategy) -> Evaluation:
        """Values and best responses, in the form's unit; equivalent hands play what the first of them plays."""

    def first_street_values(self, strategy: BucketStrategy) -> FloatArray:
        """[2, 2, nodes, H] values times the opposing reach at the nodes of the first street, in tree order.

        For each player, both following the strategy, and the player best-responding to it. Both players must have
        equally many hands.
        """


class BucketEvaluators(Protocol):
    """A device on which strategies per bucket are evaluated, in one form after another."""

    @property
    def device(self) -> str:
        """ "cpu" or "cuda"."""

    @property
    def threads(self) -> int: ...

    @property
    def max_buckets(self) -> int:
        """The largest number of buckets that a street may have."""

    def create(self, form: PublicForm) -> BucketEvaluator:
        """An evaluator of a form; it may reuse the memory of an earlier one that no longer exists."""

    def needed_bytes(self, size: PublicSize, *, probabilities: int) -> int:
        """Device memory that an evaluation in a form of this size takes, estimated before any is allocated."""

    def free_bytes(self) -> int:
        """Free memory of the device."""

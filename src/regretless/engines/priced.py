"""A bucketed engine and the exact price of what it learned: exploitability with real cards, over every runout.

Each hand on each runout plays the average strategy of its bucket, and a best response is computed for hands, not
buckets. So `evaluate` says what the buckets and the samples cost together, not how well the abstract game was solved.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from regretless.engines.bucket_strategies import BucketEvaluator, BucketStrategy, StrategyTables
from regretless.engines.contract import BucketedEngine, Engine, Evaluation, PublicStrategy, Snapshot
from regretless.forms.bucketed import BucketedForm, BucketMaps
from regretless.forms.history import FloatArray
from regretless.forms.public import NodeKind, PublicForm
from regretless.variants.variant import Schedule

__all__ = ["PricedEngine", "bucket_strategy", "with_real_cards"]


def with_real_cards(form: PublicForm, maps: BucketMaps, strategy: Callable[[int], FloatArray]) -> PublicStrategy:
    """The strategy of every hand on every runout, from that of every bucket: `strategy(node)` is [actions, K]."""
    tree = form.tree
    of_node = lru_cache(maxsize=None)(strategy)

    def played(node: int, runout: int) -> FloatArray:
        bucket = maps[int(tree.player[node])][int(tree.street[node])][runout]
        rows: FloatArray = of_node(node)[:, bucket]
        return rows

    return played


def bucket_strategy(form: PublicForm, maps: BucketMaps, strategy: Callable[[int], FloatArray]) -> BucketStrategy:
    """The tables of all decisions; `strategy(node)` is [actions, K]."""
    nodes = np.flatnonzero(form.tree.kind == NodeKind.DECISION).tolist()
    return BucketStrategy((StrategyTables.of(nodes, map(strategy, nodes)),), maps)


class PricedEngine:
    """Learns in buckets and evaluates with real cards.

    The bucketed form is the evaluator's form with buckets from `maps`.
    """

    def __init__(self, engine: BucketedEngine, evaluator: BucketEvaluator, maps: BucketMaps) -> None:
        self.engine, self.evaluator, self.maps = engine, evaluator, maps

    @property
    def form(self) -> BucketedForm:
        return self.engine.form

    @property
    def name(self) -> str:
        return self.engine.name

    @property
    def device(self) -> str:
        return self.engine.device

    @property
    def threads(self) -> int:
        return self.engine.threads

    @property
    def tolerance(self) -> float:
        return self.engine.tolerance

    @property
    def storage(self) -> int:
        return self.engine.storage

    @property
    def kept_bytes(self) -> int:
        return self.engine.kept_bytes

    @property
    def memory_bytes(self) -> int:
        """Of both engines."""
        return self.engine.memory_bytes + self.evaluator.memory_bytes

    @property
    def iteration(self) -> int:
        return self.engine.iteration

    def advance(self, schedule: Schedule) -> None:
        self.engine.advance(schedule)

    def evaluate(self, strategy: BucketStrategy | None = None) -> Evaluation:
        """Values and best responses with real cards, by default of the average."""
        return self.evaluator.evaluate(
            strategy or bucket_strategy(self.evaluator.form, self.maps, self.engine.strategy)
        )

    def snapshot(self, *, copy: bool = True) -> Snapshot:
        return self.engine.snapshot(copy=copy)

    def restore(self, snapshot: Snapshot) -> None:
        self.engine.restore(snapshot)


if TYPE_CHECKING:
    _conforms: type[Engine[BucketedForm, BucketStrategy]] = PricedEngine

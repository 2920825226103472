"""Exact values and exploitability of strategies that were found elsewhere, such as bucketed ones.

The strategy is read runout by runout, so an evaluator takes a small fraction of the memory of a solve.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless.engines.contract import PublicStrategy
from regretless.engines.public.compiled.engine import CompiledPublicEngine
from regretless.engines.public.compiled.kernels.walk import BEST, MEAN
from regretless.forms.history import FloatArray

__all__ = ["StrategyEvaluator"]


class StrategyEvaluator(CompiledPublicEngine):
    """An engine without regrets and averages: it only evaluates strategies that are handed in."""

    def _zeros(self, player: int, dtype: np.dtype[Any]) -> Any:
        return np.zeros(0, dtype=dtype)

    def first_street_values(self, strategy: PublicStrategy) -> FloatArray:
        """[2, 2, nodes, H] values times the opposing reach at the nodes of the first street, in tree order.

        For each player, both following the strategy, and the player best-responding to it. Both players must have
        equally many hands.
        """
        walks = [(own, mode) for own in range(2) for mode in (MEAN, BEST)]
        found = []
        for (own, _), walk in self.walks_given(strategy, walks).items():
            tree, plan = self.form.tree, self._plans[own]
            row = np.zeros(len(tree.street), dtype=np.int64)
            row[plan.nodes["node"]] = plan.nodes["value_at"]
            hands = np.arange(len(self.form.hands[own].weight))
            rows = row[tree.street == 0][:, None] + hands
            found.append(walk.scratch.value[rows].astype(np.float64) / self._units[own])
        return np.array(found).reshape(2, 2, *found[0].shape)

"""Exact values and exploitability of strategies that were found elsewhere, such as bucketed ones.

The strategy is read runout by runout, so an evaluator takes a small fraction of the memory of a solve.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless.engines.public.compiled.engine import CompiledPublicEngine

__all__ = ["StrategyEvaluator"]


class StrategyEvaluator(CompiledPublicEngine):
    """An engine without regrets and averages: it only evaluates strategies that are handed in."""

    def _zeros(self, player: int, dtype: np.dtype[Any]) -> Any:
        return np.zeros(0, dtype=dtype)

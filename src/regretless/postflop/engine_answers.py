"""The answers of a solver that has just finished, read from its engine."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from regretless.engines.public_engine import PublicEngine
from regretless.forms.history import FloatArray
from regretless.postflop.evaluation import Evaluator

__all__ = ["EngineAnswers"]


class EngineAnswers:
    """Average strategies of an engine, and their values before the last street."""

    def __init__(self, engine: PublicEngine) -> None:
        self.engine = engine
        self.evaluator = Evaluator(engine.form, self)

    def strategy(self, node: int, runout: int) -> FloatArray:
        return self.engine.node_strategy(node, runout)

    def values(self, player: int, node: int, runout: int) -> FloatArray:
        street = int(self.engine.form.tree.street[node])
        found: FloatArray = self.early[player][street][runout, self.evaluator.place[node]].astype(np.float64)
        return found

    def equities(self, player: int, node: int) -> FloatArray | None:
        return None

    @cached_property
    def early(self) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
        """Of each player, for each street before the last, [runouts, nodes of the street, H]."""
        return self.evaluator.early_values(0), self.evaluator.early_values(1)

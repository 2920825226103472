"""The answers of a solver that has just finished, read from its engine."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from regretless.engines.public.compiled.engine import PublicEngine
from regretless.engines.public.compiled.values import early_values, node_strategies
from regretless.forms.history import FloatArray, IntArray
from regretless.holdem.reading.evaluation import places

__all__ = ["EngineAnswers"]


class EngineAnswers:
    """Average strategies of an engine, and their values before the last street."""

    def __init__(self, engine: PublicEngine) -> None:
        self.engine = engine

    @property
    def probability_bits(self) -> int:
        return 8 * self.engine.snapshot(copy=False).average[0].itemsize

    def strategy(self, node: int, runout: int) -> FloatArray:
        return self.engine.node_strategy(node, runout)

    def strategies(self, node: int, runouts: slice) -> NDArray[np.float32]:
        return node_strategies(self.engine, node, runouts)

    def values(self, player: int, node: int, runout: int) -> FloatArray:
        street = int(self.engine.form.tree.street[node])
        found: FloatArray = self.early[player][street][runout, self.place[node]].astype(np.float64)
        return found

    def all_values(self, player: int, street: int) -> NDArray[np.float32]:
        return self.early[player][street]

    def equities(self, player: int, node: int) -> FloatArray | None:
        return None

    @cached_property
    def early(self) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
        """Of each player, for each street before the last, [runouts, nodes of the street, H]."""
        return early_values(self.engine, 0), early_values(self.engine, 1)

    @cached_property
    def place(self) -> IntArray:
        return places(self.engine.form.tree)

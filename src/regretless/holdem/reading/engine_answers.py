"""The answers of a finished solve, read from its engine."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from regretless.engines.contract import PublicEngine
from regretless.forms.history import FloatArray, IntArray
from regretless.holdem.reading.evaluation import places

__all__ = ["EngineAnswers"]


class EngineAnswers:
    """Average strategies of an engine, and their values before the last street."""

    def __init__(self, engine: PublicEngine) -> None:
        self.engine = engine

    @property
    def probability_bits(self) -> int:
        return self.engine.storage

    def strategy(self, node: int, runout: int) -> FloatArray:
        return self.engine.strategy(node, runout)

    def strategies(self, node: int, runouts: slice) -> NDArray[np.float32]:
        return self.engine.strategies(node, runouts)

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
        """Per player, for each street before the last, [runouts, nodes of the street, H]."""
        return self.engine.values_before_last(0), self.engine.values_before_last(1)

    @cached_property
    def place(self) -> IntArray:
        return places(self.engine.form.tree)

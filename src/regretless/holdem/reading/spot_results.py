"""What a reader needs of a solved spot: strategies, and values of the streets before the last.

They come from an engine that has just solved the spot (`EngineResults`), from a file (`spot_file`) or from the
strategies of buckets (`games.bucketed_spot`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from regretless.engines import PublicEngine, available_cores
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import PublicForm
from regretless.holdem.reading.encoded_strategies import EncodedStrategies, layout
from regretless.holdem.reading.evaluation import Strategies, street_rows

if TYPE_CHECKING:
    from regretless.engines import StrategyEncoder

__all__ = ["EngineResults", "EvaluatedResults", "SpotResults"]


class SpotResults(Strategies, EncodedStrategies, Protocol):
    """Strategies, and values of the streets before the last."""

    @property
    def probability_bits(self) -> int:
        """Bits per stored probability."""

    def values(self, player: int, node: int, runout: int) -> FloatArray:
        """[H] values of a betting node before the last street, times the opposing reach."""

    def all_values(self, player: int, street: int) -> NDArray[np.float32]:
        """[runouts, nodes of the street, H] values of a street before the last."""

    def equities(self, player: int, node: int) -> FloatArray | None:
        """[H] equity at a node of the first street with two cards to come, if it was stored."""


class EvaluatedResults(ABC):
    """Results whose values before the last street are computed when the first is read."""

    form: PublicForm

    @cached_property
    @abstractmethod
    def early_values(self) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
        """Per player, for each street before the last, [runouts, nodes of the street, H]."""

    @cached_property
    def _street_row(self) -> IntArray:
        return street_rows(self.form.tree)

    def values(self, player: int, node: int, runout: int) -> FloatArray:
        street = int(self.form.tree.street[node])
        values: FloatArray = self.early_values[player][street][runout, self._street_row[node]].astype(np.float64)
        return values

    def all_values(self, player: int, street: int) -> NDArray[np.float32]:
        return self.early_values[player][street]

    def equities(self, player: int, node: int) -> FloatArray | None:
        return None


class EngineResults(EvaluatedResults):
    """Average strategies of an engine, and their values before the last street."""

    def __init__(self, engine: PublicEngine) -> None:
        self.engine, self.form = engine, engine.form

    @property
    def probability_bits(self) -> int:
        return self.engine.storage

    def strategy(self, node: int, runout: int) -> FloatArray:
        return self.engine.strategy(node, runout)

    @property
    def threads(self) -> int:
        return self.engine.threads if self.engine.device == "cpu" else available_cores()

    def encoder(self, street: int, runouts: slice, rows: NDArray[np.generic]) -> Callable[[], None]:
        averages = [self.engine.averages(player, street, runouts) for player in range(2)]
        return partial(self._encoder.encode, street, averages, rows)

    @cached_property
    def early_values(self) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
        return self.engine.values_before_last(0), self.engine.values_before_last(1)

    @cached_property
    def _encoder(self) -> StrategyEncoder:
        from regretless.engines import StrategyEncoder  # loads numba

        return StrategyEncoder(self.form, layout(self.form)[0])

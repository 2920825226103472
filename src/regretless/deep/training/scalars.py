"""What a training writes for TensorBoard: losses, memories and exploitability, by iteration."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from regretless.deep.training.event_file import EventFile
from regretless.engines import Evaluation
from regretless.errors import InvalidFile

if TYPE_CHECKING:
    from regretless.deep.deep_cfr import IterationReport

__all__ = ["Scalars"]


class Scalars:
    """A watcher that writes scalars to a folder; if that fails later, it warns, and the training continues."""

    def __init__(self, folder: str | Path) -> None:
        self._events: EventFile | None = EventFile(folder)

    def iterated(self, report: IterationReport) -> None:
        scalars = {f"loss/player {player}": loss for player, loss in enumerate(report.value_losses)}
        scalars |= {f"memory/advantages {player}": fill for player, fill in enumerate(report.advantage_fill)}
        if report.strategy_fill:
            scalars["memory/strategies"] = report.strategy_fill
        scalars |= {"speed/seconds per iteration": report.seconds, "speed/samples per iteration": report.samples}
        self._add(report.iteration, scalars)

    def measured(self, iteration: int, evaluation: Evaluation) -> None:
        scalars = {f"value/player {player}": value for player, value in enumerate(evaluation.values)}
        self._add(iteration, {"exploitability": evaluation.exploitability} | scalars)

    def _add(self, step: int, scalars: Mapping[str, float]) -> None:
        if self._events is None:
            return
        try:
            self._events.add(step, scalars)
        except InvalidFile as error:  # for example a full disk
            warnings.warn(f"{error}; the training continues without TensorBoard", stacklevel=2)
            self._events = None

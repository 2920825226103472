"""What a file says about a training beyond the record of every solve: its settings, samples and losses."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from regretless.deep.settings import TrainingSettings
from regretless.errors import InvalidSettings
from regretless.files.fields import Fields

__all__ = ["TrainingSummary"]


@dataclass(frozen=True, kw_only=True)
class TrainingSummary:
    """The settings of a training, and how far it has come."""

    settings: TrainingSettings
    samples: int  # drawn so far, whether or not a memory kept them
    advantage_samples: tuple[int, ...]  # in each player's memory
    strategy_samples: int  # in the strategy memory; 0 if there is none
    value_losses: tuple[float, ...] = ()  # of each player's last fit, in the game's units squared

    def header(self) -> dict[str, Any]:
        """The part of a file's header from which `read` restores this."""
        return asdict(self)

    @classmethod
    def read(cls, header: Fields) -> TrainingSummary:
        """The training in the header of a file."""
        given = Fields(header.path, header.value("training"), "training.")
        table = Fields(header.path, given.value("settings"), "training.settings.")
        try:
            settings = TrainingSettings(**{each.name: table.value(each.name) for each in fields(TrainingSettings)})
        except InvalidSettings as error:
            raise table.wrong(error.option, "is out of range") from None
        return cls(
            settings=settings,
            samples=given.whole("samples"),
            advantage_samples=tuple(int(each) for each in given.numbers("advantage_samples")),
            strategy_samples=given.whole("strategy_samples"),
            value_losses=given.numbers("value_losses") if given.value("value_losses") else (),
        )

    @property
    def fill(self) -> tuple[float, ...]:
        """The share of each memory that is in use: each player's advantages, then strategies if they are kept."""
        advantages = [count / self.settings.advantage_capacity for count in self.advantage_samples]
        strategies = [self.strategy_samples / self.settings.strategy_capacity] if self.strategy_samples else []
        return (*advantages, *strategies)

    def as_json(self) -> dict[str, Any]:
        """The keys that `regretless train --json` adds to those of a solve."""
        settings = self.settings
        return {
            "settings": asdict(settings),
            "samples": self.samples,
            "memory_fill": {
                "advantages": list(self.fill[: len(self.advantage_samples)]),
                "strategy": self.strategy_samples / settings.strategy_capacity,
            },
            "value_losses": list(self.value_losses),
        }

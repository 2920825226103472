"""What a training returns, and its `.rgl` file.

A trained policy is a solution: it has values, exploitability and a strategy. Of a game that can be enumerated, the file
contains the strategy as a table, so that it is read, compared and verified without PyTorch; the networks are saved for
whoever wants to play or inspect them, and the memories, if they were kept, for a resume.

| array                       | shape                    | is                                                       |
|-----------------------------|--------------------------|----------------------------------------------------------|
| solution, first_pair, keys… | as in the file of a game | the strategy at every information set                    |
| policy.NAME                 | the parameter's          | the policy network's parameters, named as in PyTorch     |
| values.NAME                 | [players, iterations, …] | Single Deep CFR instead: those of every value network    |
| training.NAME               | [any]                    | memories, networks and counters to resume from           |
| history                     | [points, 3]              | iteration, seconds, exploitability                       |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NotRequired, Self, TypedDict

import numpy as np

from regretless.deep.settings import SETTINGS, TrainingSettings
from regretless.engines import Snapshot
from regretless.errors import InvalidFile, InvalidGame, InvalidOption, InvalidSettings, InvalidText
from regretless.files.container import Container, StoredArrays
from regretless.files.fields import Fields
from regretless.files.tensor_file import DAMAGED
from regretless.forms.history import AnyArray, Strategy
from regretless.games.game import CHANCE, AnyGame
from regretless.games.registry import load as load_game
from regretless.reprs import brief
from regretless.solving.game_solution import GameSolution, packed_strategy, unpacked_strategy
from regretless.solving.record import Record
from regretless.solving.solution import Contents

__all__ = ["PolicyFields", "PolicyStrategy", "TrainedPolicy", "TrainingSummary", "read_fields"]

NETWORKS = ("policy.", "values.")  # prefixes of arrays
RESUMED = "training."


@dataclass(frozen=True, kw_only=True)
class TrainingSummary:
    """What a file says about a training beyond the record of every solve: its settings, samples and losses."""

    settings: TrainingSettings
    samples: int  # drawn so far, whether or not a memory kept them
    advantage_samples: tuple[int, ...]  # in each player's memory
    strategy_samples: int  # in the strategy memory; 0 if there is none
    value_losses: tuple[float, ...] = ()  # of each player's last fit, in the game's units squared

    def header(self) -> dict[str, object]:
        """The part of a file's header from which `read` restores this."""
        return asdict(self)

    @classmethod
    def read(cls, header: Fields) -> TrainingSummary:
        """The training in the header of a file."""
        summary = Fields(header.path, header.value("training"), "training")
        table = Fields(header.path, summary.value("settings"), "training.settings")
        try:
            settings = TrainingSettings(**{name: table.value(name) for name in SETTINGS})
        except InvalidSettings as error:
            raise table.wrong(error.option, "is out of range") from None
        return cls(
            settings=settings,
            samples=summary.whole("samples"),
            advantage_samples=tuple(int(each) for each in summary.numbers("advantage_samples")),
            strategy_samples=summary.whole("strategy_samples"),
            value_losses=summary.numbers("value_losses") if summary.value("value_losses") else (),
        )

    @property
    def fill(self) -> tuple[float, ...]:
        """The share of each memory that is in use: each player's advantages, then strategies if they are kept."""
        advantages = [count / self.settings.advantage_capacity for count in self.advantage_samples]
        strategies = [self.strategy_samples / self.settings.strategy_capacity] if self.strategy_samples else []
        return (*advantages, *strategies)

    def as_json(self) -> dict[str, object]:
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


class PolicyStrategy(Mapping[str, Mapping[str, float]]):
    """A strategy by the names of information sets, or called with a state of the game."""

    def __init__(self, table: Strategy, name: str, rules: AnyGame | None) -> None:
        self._table, self._name, self._rules = table, name, rules

    def __getitem__(self, key: str) -> Mapping[str, float]:
        return self._table[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)

    def __call__(self, state: object) -> dict[str, float]:
        """Action -> probability where a player decides."""
        rules = self.rules
        try:
            key = None if rules.is_terminal(state) or rules.player(state) == CHANCE else rules.info_set_key(state)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            raise InvalidOption("state", state, f"is not a state of {self._name}") from None
        if key is None:
            raise InvalidOption("state", state, "is not a decision of a player")
        if key not in self._table:
            raise InvalidGame(f"{self._name} has no information set {key!r}")
        return dict(self._table[key])

    @cached_property
    def rules(self) -> AnyGame:
        """The rules that states belong to."""
        if self._rules is not None:
            return self._rules
        try:
            return load_game(self._name)
        except InvalidText:
            reason = "is not a registered game: use strategy[information set] instead"
            raise InvalidOption("game", self._name, reason) from None


class PolicyFields(TypedDict):
    """The fields of a trained policy that every kind of game has."""

    record: Record
    snapshot: Snapshot | None
    zero_sum: bool
    training: TrainingSummary
    networks: Mapping[str, AnyArray]
    path: NotRequired[Path | None]
    solved_game: NotRequired[AnyGame | None]


@dataclass(frozen=True, kw_only=True)
class TrainedPolicy(GameSolution):
    """A policy that networks learned, its exact exploitability, and how it was trained.

    >>> from regretless import train
    >>> trained = train("kuhn", iterations=2, traversals=50, value_steps=10, policy_steps=10)
    >>> trained.strategy["0:"] == trained.strategy(trained.strategy.rules.initial_states()[0])
    True
    """

    training: TrainingSummary = field(repr=False)
    networks: Mapping[str, AnyArray] = field(repr=False)  # parameters, under their names in the file

    __repr__ = brief

    @property
    def is_resumable(self) -> bool:
        """Whether it has its memories, which a resume needs."""
        return self.snapshot is not None

    @cached_property
    def strategy(self) -> PolicyStrategy:
        """Information set -> action -> probability; `strategy(state)` takes a state of the game instead."""
        return PolicyStrategy(self.reader, self.game, self.solved_game)

    def network_strategy(self) -> Strategy:
        """The strategy, computed by the networks again: equal to `strategy` on the machine that trained them."""
        from regretless.deep.policies import ExactEvaluator, policy_from
        from regretless.deep.worlds import HistoryWorld

        world = HistoryWorld(self.strategy.rules)
        policy = policy_from(self.networks, world, self.training.settings, iterations=self.iterations, where=self.where)
        return ExactEvaluator(world).strategy(policy)

    def _contents(self, resumable: bool) -> Contents:
        """The strategy, the networks and, if it is resumable, the memories."""
        arrays = {**self.table(), **self.networks}
        if resumable and self.snapshot is not None:
            arrays |= {f"{RESUMED}{name}": array for name, array in self.snapshot.arrays.items()}
        shapes = {name: list(array.shape) for name, array in self.networks.items()}
        return Contents({"zero_sum": self.zero_sum, "training": self.training.header(), "architecture": shapes}, arrays)

    def table(self) -> dict[str, AnyArray]:
        """The arrays that hold the strategy by name, if the game can be enumerated."""
        return packed_strategy(self.strategy)

    @classmethod
    def read(cls, file: Container) -> Self:
        record = Record.read(file)
        try:
            strategy = unpacked_strategy(file, record.information_sets)
        except (ValueError, KeyError):
            raise InvalidFile(file.path, DAMAGED) from None
        return cls(make_reader=lambda: strategy, **read_fields(file, record))

    def as_json(self, *, strategy: bool = False) -> dict[str, Any]:
        return super().as_json(strategy=strategy) | self.training.as_json()


def read_fields(file: Container, record: Record) -> PolicyFields:
    """The fields of a trained policy that every kind of game has."""
    header = Fields(file.path, file.header)
    training = TrainingSummary.read(header)
    if len(training.advantage_samples) != len(record.measured.values):
        raise header.wrong("training.advantage_samples", "does not have one number per player")
    return {
        "record": record,
        "snapshot": _snapshot(file, record.iterations),
        "path": Path(file.path),
        "zero_sum": header.flag("zero_sum"),
        "training": training,
        "networks": _networks(file),
    }


def _networks(file: Container) -> Mapping[str, AnyArray]:
    names = [name for name in file.names if name.startswith(NETWORKS)]
    if not names:
        raise InvalidFile(file.path, "is damaged: it contains no network")
    for name in names:
        file.check(name, file.entry(name).shape, (np.float32,))
    return StoredArrays(file, names)


def _snapshot(file: Container, iterations: int) -> Snapshot | None:
    names = [name.removeprefix(RESUMED) for name in file.names if name.startswith(RESUMED)]
    return Snapshot(iterations, _Resumed(file, names)) if names else None


class _Resumed(Mapping[str, AnyArray]):
    """The arrays that a resume needs, each read on demand."""

    def __init__(self, file: Container, names: list[str]) -> None:
        self._file, self._names = file, names

    def __getitem__(self, name: str) -> AnyArray:
        if name not in self._names:
            raise KeyError(name)
        entry = self._file.entry(f"{RESUMED}{name}")
        array: AnyArray = np.empty(entry.shape, entry.dtype)  # writable, as PyTorch wants its arrays
        self._file.read_into(f"{RESUMED}{name}", array)
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def shape(self, name: str) -> tuple[int, ...]:
        return self._file.entry(f"{RESUMED}{name}").shape

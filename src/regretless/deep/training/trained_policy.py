"""What a training returns, and its `.rgl` file.

A trained policy is a solution: it has values, exploitability and a strategy. Of a game that can be enumerated, the file
contains the strategy as a table, so that it is read, compared and verified without PyTorch; the networks are there for
whoever wants to play or inspect them, and the memories, if they were kept, for a resume.

| array                       | shape                    | holds                                                    |
|-----------------------------|--------------------------|----------------------------------------------------------|
| solution, first_pair, keys… | as in the file of a game | the strategy at every information set                    |
| policy.NAME                 | the parameter's          | the policy network's parameters, named as in PyTorch     |
| values.NAME                 | [players, iterations, …] | Single Deep CFR instead: those of every value network    |
| training.NAME               | [any]                    | memories, networks and counters to resume from           |
| history                     | [points, 3]              | iteration, seconds, exploitability                       |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from regretless.deep.training.summary import TrainingSummary
from regretless.engines import Snapshot
from regretless.errors import InvalidFile, InvalidGame, InvalidOption, InvalidText
from regretless.files.container import Container, StoredArrays
from regretless.files.fields import Fields
from regretless.files.tensor_file import DAMAGED
from regretless.forms.history import Strategy
from regretless.games.game import CHANCE, Game
from regretless.games.registry import load as load_game
from regretless.reprs import brief
from regretless.solving.game_solution import GameSolution, packed_strategy, unpacked_strategy
from regretless.solving.record import Record
from regretless.solving.solution import Contents

__all__ = ["PolicyStrategy", "TrainedPolicy", "read_fields"]

NETWORKS = ("policy.", "values.")  # prefixes of arrays
RESUMED = "training."


class PolicyStrategy(Mapping[str, Mapping[str, float]]):
    """A strategy by the names of information sets, or called with a state of the game."""

    def __init__(self, table: Strategy, name: str, rules: Game[Any] | None) -> None:
        self._table, self._name, self._rules = table, name, rules

    def __getitem__(self, key: str) -> Mapping[str, float]:
        return self._table[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)

    def __call__(self, state: Any) -> dict[str, float]:
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
    def rules(self) -> Game[Any]:
        """The rules that states belong to."""
        if self._rules is not None:
            return self._rules
        try:
            return load_game(self._name)
        except InvalidText:
            reason = "is not a registered game: use strategy[information set] instead"
            raise InvalidOption("game", self._name, reason) from None


@dataclass(frozen=True, kw_only=True)
class TrainedPolicy(GameSolution):
    """A policy that networks learned, its exact exploitability, and how it was trained.

    >>> from regretless import train
    >>> trained = train("kuhn", iterations=2, traversals=50, value_steps=10, policy_steps=10)
    >>> trained.strategy["0:"] == trained.strategy(trained.strategy.rules.initial_states()[0])
    True
    """

    command: ClassVar[str] = "train"
    file_kinds: ClassVar[tuple[str, ...]] = ("trained-policy",)
    keeps_regrets: ClassVar[bool] = False  # its memories are large
    training: TrainingSummary = field(repr=False)
    networks: Mapping[str, NDArray[Any]] = field(repr=False)  # parameters, under their names in the file

    __repr__ = brief

    @cached_property
    def strategy(self) -> PolicyStrategy:
        """Information set -> action -> probability; `strategy(state)` takes a state of the game instead."""
        return PolicyStrategy(self.read_strategy(), self.game, self.solved_game)

    def network_strategy(self) -> Strategy:
        """The strategy, computed by the networks again: equal to `strategy` on the machine that trained them."""
        from regretless.deep.training.judge import EnumeratingJudge
        from regretless.deep.training.parameters import policy_from
        from regretless.deep.worlds.history_world import HistoryWorld

        world = HistoryWorld(self.strategy.rules)
        policy = policy_from(self.networks, world, self.training.settings, iterations=self.iterations, where=self.where)
        found: Strategy = EnumeratingJudge(world).strategy(policy)
        return found

    def _contents(self, resumable: bool) -> Contents:
        """The strategy, the networks and, if it is resumable, the memories.

        >>> import tempfile
        >>> from regretless import train
        >>> trained = train("kuhn", iterations=2, traversals=50, value_steps=10, policy_steps=10)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     trained.save(f"{folder}/kuhn.rgl")
        ...     loaded = TrainedPolicy.load(f"{folder}/kuhn.rgl")
        >>> loaded.strategy == trained.strategy, loaded.snapshot is None
        (True, True)
        """
        arrays = {**self.table(), **self.networks}
        if resumable and self.snapshot is not None:
            arrays |= {f"{RESUMED}{name}": array for name, array in self.snapshot.arrays.items()}
        shapes = {name: list(array.shape) for name, array in self.networks.items()}
        return Contents({"zero_sum": self.zero_sum, "training": self.training.header(), "architecture": shapes}, arrays)

    def table(self) -> dict[str, NDArray[Any]]:
        """The arrays that hold the strategy by name, if the game can be enumerated."""
        return packed_strategy(self.strategy)

    @classmethod
    def read(cls, file: Container, *, to_resume: bool = False) -> Self:
        record = Record.read(file)
        try:
            strategy = unpacked_strategy(file, record.information_sets)
        except (ValueError, KeyError):
            raise InvalidFile(file.path, DAMAGED) from None
        return cls(read_strategy=lambda: strategy, **read_fields(file, record))

    def as_json(self, *, strategy: bool = False) -> dict[str, Any]:
        return super().as_json(strategy=strategy) | self.training.as_json()


def read_fields(file: Container, record: Record) -> dict[str, Any]:
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


def _networks(file: Container) -> Mapping[str, NDArray[Any]]:
    names = [name for name in file.names if name.startswith(NETWORKS)]
    if not names:
        raise InvalidFile(file.path, "is damaged: it contains no network")
    for name in names:
        file.check(name, file.entry(name).shape, (np.float32,))
    return StoredArrays(file, names)


def _snapshot(file: Container, iterations: int) -> Snapshot | None:
    names = [name.removeprefix(RESUMED) for name in file.names if name.startswith(RESUMED)]
    return Snapshot(iterations, _Resumed(file, names)) if names else None


class _Resumed(Mapping[str, NDArray[Any]]):
    """The arrays that a resume needs, each read on demand."""

    def __init__(self, file: Container, names: list[str]) -> None:
        self._file, self._names = file, names

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._names:
            raise KeyError(name)
        entry = self._file.entry(f"{RESUMED}{name}")
        found: NDArray[Any] = np.empty(entry.shape, entry.dtype)  # writable, as PyTorch wants its arrays
        self._file.read_into(f"{RESUMED}{name}", found)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def shape(self, name: str) -> tuple[int, ...]:
        return self._file.entry(f"{RESUMED}{name}").shape

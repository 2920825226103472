"""What the header of each kind of `.rgl` file says: every key with its type and range, checked once, typed after that.

    solution          a solved game
    spot-solution     a solved spot
    spot-checkpoint   a solve of a spot that was interrupted

A key that is missing, of another type, out of range or at odds with another makes the file damaged, and the message
names it. Keys that are not known are left alone: later versions may write more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args

from regretless.engines.contract import Evaluation, Sampling, Updates
from regretless.errors import InvalidFile
from regretless.solvers.loop import Measurement
from regretless.solvers.solution import Reason, Settings

__all__ = ["CheckpointHeader", "Fields", "SolutionHeader", "SpotHeader"]

LARGEST = 2**62  # of counts: iterations, bytes, nodes
LONGEST_TEXT = 4096  # characters of names
LONGEST_SPOT = 2**23  # characters of the TOML of a spot


class Fields:
    """The keys of one table of a header, read by name; `where` is the table, for messages."""

    def __init__(self, path: object, table: object, where: str = "") -> None:
        self.path, self.where = path, where
        if not isinstance(table, Mapping):
            raise InvalidFile(path, f"is damaged: {where.rstrip('.') or 'its header'} is not a table")
        self.table: Mapping[str, Any] = table

    def __contains__(self, name: str) -> bool:
        return self.table.get(name) is not None

    def wrong(self, name: str, reason: str) -> InvalidFile:
        return InvalidFile(self.path, f"is damaged: {self.where}{name} {reason}")

    def value(self, name: str) -> Any:
        if name not in self.table:
            raise self.wrong(name, "is missing from its header")
        return self.table[name]

    def text(self, name: str, *, longest: int = LONGEST_TEXT) -> str:
        value = self.value(name)
        if not isinstance(value, str) or len(value) > longest:
            raise self.wrong(name, f"is not a text of at most {longest:,} characters")
        return value

    def whole(self, name: str, *, low: int = 0, high: int = LARGEST) -> int:
        value = self.value(name)
        if type(value) is not int or not low <= value <= high:
            raise self.wrong(name, f"is not a whole number from {low} to {high}")
        return value

    def number(self, name: str, *, low: float = -math.inf) -> float:
        return self._number(name, self.value(name), low)

    def numbers(self, name: str, *, count: int | None = None) -> tuple[float, ...]:
        values = self.value(name)
        if not isinstance(values, list) or not values or (count is not None and len(values) != count):
            raise self.wrong(name, f"is not a list of {count or 'some'} numbers")
        return tuple(self._number(name, value, -math.inf) for value in values)

    def flag(self, name: str) -> bool:
        value = self.value(name)
        if not isinstance(value, bool):
            raise self.wrong(name, "is neither true nor false")
        return value

    def one_of(self, name: str, allowed: tuple[str, ...]) -> str:
        value = self.value(name)
        if not isinstance(value, str) or value not in allowed:
            raise self.wrong(name, f"is not one of {', '.join(allowed)}")
        return value

    def points(self, name: str) -> tuple[Measurement, ...]:
        """A history: [iteration, seconds, exploitability], iterations rising."""
        values = self.value(name)
        if not isinstance(values, list):
            raise self.wrong(name, "is not a list of measurements")
        found: list[Measurement] = []
        for point in values:
            if not isinstance(point, list) or len(point) != 3 or type(point[0]) is not int:
                raise self.wrong(name, "is not a list of measurements")
            seconds, exploitability = (self._number(name, value, -math.inf) for value in point[1:])
            if point[0] < (found[-1].iteration if found else 0) or seconds < 0:
                raise self.wrong(name, "does not run forward")
            found.append(Measurement(point[0], seconds, exploitability))
        return tuple(found)

    def _number(self, name: str, value: object, low: float) -> float:
        if type(value) not in (int, float):
            raise self.wrong(name, "is not a number")
        try:
            number = float(cast(float, value))
        except OverflowError:
            number = math.inf
        if not math.isfinite(number) or number < low:
            raise self.wrong(name, "is out of range")
        return number


@dataclass(frozen=True, kw_only=True)
class SolutionHeader:
    """What every solution says of its solve, game or spot."""

    game: str
    variant: str
    engine: str
    device: str
    threads: int
    iterations: int
    reason: Reason
    seconds: float
    setup_seconds: float
    seconds_per_iteration: float
    memory_bytes: int
    nodes: int
    information_sets: int
    tree_hash: str
    evaluation: Evaluation
    settings: Settings
    zero_sum: bool

    @classmethod
    def read(cls, path: object, header: Mapping[str, Any]) -> SolutionHeader:
        fields = Fields(path, header)
        return cls(**_solution_fields(fields, players=None))

    @property
    def common(self) -> dict[str, Any]:
        """The fields that a `Solution` takes as they are."""
        return {name: getattr(self, name) for name in _COMMON}


@dataclass(frozen=True, kw_only=True)
class SpotHeader(SolutionHeader):
    """A solved spot."""

    spot: str  # TOML
    history: tuple[Measurement, ...]
    weight: float | None  # of the averages, where regrets are kept in 16 bits
    symmetric: bool  # whether hands that suits exchange hold equal numbers; older versions let them drift apart

    @classmethod
    def read(cls, path: object, header: Mapping[str, Any]) -> SpotHeader:
        fields = Fields(path, header)
        return cls(
            **_solution_fields(fields, players=2),
            spot=fields.text("spot", longest=LONGEST_SPOT),
            history=fields.points("history"),
            weight=fields.number("weight", low=0.0) if "weight" in fields else None,
            symmetric=fields.flag("symmetric") if "symmetric" in fields else False,
        )


@dataclass(frozen=True, kw_only=True)
class CheckpointHeader:
    """A solve of a spot that was interrupted; a spot that was saved with its regrets says as much."""

    spot: str  # TOML
    tree_hash: str
    variant: str
    settings: Settings
    iterations: int
    history: tuple[Measurement, ...]
    seconds: float
    weight: float | None  # of the averages, where regrets are kept in 16 bits

    @classmethod
    def read(cls, path: object, header: Mapping[str, Any]) -> CheckpointHeader:
        fields = Fields(path, header)
        return cls(
            spot=fields.text("spot", longest=LONGEST_SPOT),
            tree_hash=fields.text("tree_hash"),
            variant=fields.text("variant"),
            settings=_settings(fields),
            iterations=fields.whole("iterations"),
            history=fields.points("history"),
            seconds=fields.number("seconds", low=0.0),
            weight=fields.number("weight", low=0.0) if "weight" in fields else None,
        )


_COMMON = (
    "game", "variant", "engine", "device", "threads", "iterations", "reason", "seconds", "setup_seconds",
    "seconds_per_iteration", "memory_bytes", "nodes", "information_sets", "tree_hash", "evaluation", "settings",
    "zero_sum",
)  # fmt: skip


def _solution_fields(fields: Fields, *, players: int | None) -> dict[str, Any]:
    """What every solution says; `players` where the kind of file fixes their number."""
    values = fields.numbers("values", count=players)
    return {
        **{name: fields.text(name) for name in ("game", "variant", "engine", "device", "tree_hash")},
        **{name: fields.whole(name) for name in ("iterations", "memory_bytes", "nodes", "information_sets")},
        **{name: fields.number(name, low=0.0) for name in ("seconds", "setup_seconds", "seconds_per_iteration")},
        "threads": fields.whole("threads", low=1, high=2**20),
        "reason": cast(Reason, fields.one_of("reason", get_args(Reason))),
        "evaluation": Evaluation(values, fields.numbers("best_response_values", count=len(values))),
        "settings": _settings(fields),
        "zero_sum": fields.flag("zero_sum") if "zero_sum" in fields else True,
    }


def _settings(fields: Fields) -> Settings:
    given = Fields(fields.path, fields.value("settings"), "settings.")

    def optional(name: str) -> int | None:
        return given.whole(name, low=1) if given.value(name) is not None else None

    return Settings(
        iterations=given.whole("iterations", low=1),
        target=given.number("target", low=0.0) if given.value("target") is not None else None,
        measure_every=optional("measure_every"),
        updates=given.one_of("updates", tuple(Updates)),
        sampling=given.one_of("sampling", tuple(Sampling)),
        batch_size=optional("batch_size"),
        seed=given.whole("seed", low=-LARGEST),
    )

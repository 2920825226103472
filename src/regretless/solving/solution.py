"""What every solve returns: its record, and how to read, save, check and resume it."""

from __future__ import annotations

import sys
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, Self

from regretless.engines import Engine, Evaluation, Snapshot
from regretless.errors import InvalidFile, InvalidGame
from regretless.files.container import Container, Streamed, write_container
from regretless.forms.history import AnyArray, FloatArray, Strategy
from regretless.reprs import brief
from regretless.solving.kinds import ProblemKind, of_solution, open_file
from regretless.solving.record import Measurement, Reason, Record, Settings
from regretless.solving.solution_html import facts_html
from regretless.solving.verification import Verification

__all__ = ["Contents", "DecisionView", "Solution", "restore_engine"]


@dataclass(frozen=True)
class Contents:
    """What a file holds besides the record."""

    header: dict[str, object]  # fields
    arrays: Mapping[str, AnyArray | Streamed]


class DecisionView(Protocol):
    """What every solution of hold'em says about a decision."""

    @property
    def line(self) -> str: ...  # text that leads there, including cards

    @property
    def player(self) -> str | None: ...  # who acts: "ip" or "oop"

    @property
    def actions(self) -> tuple[str, ...]: ...

    @property
    def strategy(self) -> FloatArray: ...  # [actions, H]

    @property
    def frequencies(self) -> tuple[float, ...]: ...  # of the actions, over the whole range


@dataclass(frozen=True, kw_only=True)
class Solution(ABC):
    """A solved game or spot: its record, what reads its strategy, and the state that a resume starts from.

    Its row in the table of kinds says which files hold it. Subclasses add how to read it, and what of it a file holds.
    """

    record: Record
    make_reader: Callable[[], Any] = field(repr=False)  # called on first use
    snapshot: Snapshot | None = field(default=None, repr=False)  # what a resume starts from, if kept
    path: Path | None = field(default=None, repr=False)  # the file it was read from

    __repr__ = brief

    @cached_property
    def reader(self) -> Any:
        """Reads the strategy: a table of information sets, or what finds the nodes of hold'em."""
        return self.make_reader()

    def save(self, path: str | Path, *, resumable: bool | None = None) -> None:
        """Write a `.rgl` file; with `resumable`, including everything a resume needs.

        By default, that of a game can be resumed, and that of a spot cannot, because its regrets are large.
        """
        kind = self.problem_kind
        if resumable and not kind.keeps_regrets and not self.is_resumable:
            raise InvalidFile(path, "cannot be made resumable: the solution was read from a file without regrets")
        self._write(
            path, next(iter(kind.files)), self._contents(kind.keeps_regrets if resumable is None else resumable)
        )

    def checkpoint(self, path: str | Path) -> None:
        """Write what a resume needs to a `.rgl` file, as quickly as possible."""
        if kind := self.problem_kind.checkpoint:
            self._write(path, kind, self._state())
        else:
            self.save(path, resumable=True)

    @property
    def problem_kind(self) -> ProblemKind:
        """Its row in the table of kinds."""
        return of_solution(type(self))

    @abstractmethod
    def _contents(self, resumable: bool) -> Contents:
        """What a file holds besides the record."""

    def _state(self) -> Contents:
        """What a checkpoint of a kind of its own holds besides the record."""
        raise NotImplementedError

    def _write(self, path: str | Path, kind: str, contents: Contents) -> None:
        arrays = {**contents.arrays, "history": self.record.points()}
        write_container(path, kind, self.record.header() | contents.header, arrays)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a `.rgl` file; a missing, damaged or unrelated file raises `InvalidFile`."""
        return cls.read(open_file(path, *of_solution(cls).files))

    @classmethod
    @abstractmethod
    def read(cls, file: Container) -> Self:
        """The solution in an opened file."""

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled as the bytes of its file, with everything that a resume needs, if it was kept."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "solution.rgl"
            self.save(file, resumable=self.is_resumable)
            return _unpickled, (type(self), file.read_bytes(), self.path)

    @abstractmethod
    def verify(self, **options: Any) -> Verification:
        """Recompute values and exploitability by an independent route."""

    @property
    def is_resumable(self) -> bool:
        """Whether it has what a resume needs."""
        return self.snapshot is not None

    @property
    def where(self) -> str:
        """The file or the solve, as the subject of a sentence."""
        return f"the solve of {self.game}" if self.path is None else str(self.path)

    @property
    @abstractmethod
    def subject(self) -> object:
        """What was solved, as `rl.solve` takes it."""

    @property
    def strategy(self) -> Strategy:
        """Information set -> action -> probability; of hold'em from the deal, before the flop."""
        raise InvalidGame(f"{self.game}: a spot has no table of information sets: node(line) reads a decision")

    def node(self, line: str = "", cards: Sequence[int] = ()) -> DecisionView:
        """A decision of hold'em, where a line of play leads; `cards` are those that the line omits."""
        raise InvalidGame(f"{self.game}: has no lines of hold'em: strategy[information set] reads a decision")

    @property
    def game(self) -> str:
        """As users type it, or the name of a spot."""
        return self.record.game

    @property
    def variant(self) -> str:
        return self.record.variant

    @property
    def engine(self) -> str:
        return self.record.engine

    @property
    def device(self) -> str:
        return self.record.device

    @property
    def threads(self) -> int:
        return self.record.threads

    @property
    def iterations(self) -> int:
        """Iterations done, including those before a resume."""
        return self.record.iterations

    @property
    def reason(self) -> Reason:
        """Why the solve ended."""
        return self.record.reason

    @property
    def settings(self) -> Settings:
        return self.record.settings

    @property
    def evaluation(self) -> Evaluation:
        return self.record.measured

    @property
    def is_measured(self) -> bool:
        """Whether values and exploitability were computed; if not, asking for them raises `RegretlessError`."""
        return self.record.evaluation is not None

    @property
    def exploitability(self) -> float:
        """NashConv / players, in the game's units."""
        return self.evaluation.exploitability

    @property
    def nash_conv(self) -> float:
        return self.evaluation.nash_conv

    @property
    def values(self) -> tuple[float, ...]:
        """Expected utility of each player."""
        return self.evaluation.values

    @property
    def history(self) -> tuple[Measurement, ...]:
        """The measurements of exploitability, in the game's units."""
        return self.record.history

    @property
    def seconds(self) -> float:
        """Time spent solving, including measurements."""
        return self.record.seconds

    @property
    def scale(self) -> float:
        """Factor from exploitability in the game's units to exploitability in `unit`."""
        return 1.0

    @property
    def unit(self) -> str:
        """Unit of exploitability in targets and plots."""
        return "in the game's units"

    @property
    def curve(self) -> tuple[Measurement, ...]:
        """The measurements of exploitability, in `unit`."""
        return tuple(replace(point, exploitability=self.scale * point.exploitability) for point in self.history)

    def _repr_html_(self) -> str:
        """The solution in a notebook; subclasses add how it plays."""
        facts = [
            ("iterations", f"{self.iterations:,} of {self.variant}"),
            ("solved in", f"{self.seconds:.3g} s by {self.engine} on {self.device}"),
        ]
        if self.is_measured:
            facts = [
                ("exploitability", f"{self.scale * max(self.exploitability, 0.0):.3g} {self.unit}"),
                ("values", ", ".join(f"{value:.5g}" for value in self.values)),
                *facts,
            ]
        return facts_html(self.game, facts)

    def as_json(self, *, strategy: bool = False) -> dict[str, Any]:
        """The object that `regretless solve --json` prints."""
        record = self.record
        return {
            "game": record.game,
            "variant": record.variant,
            "engine": record.engine,
            "device": record.device,
            "threads": record.threads,
            "iterations": record.iterations,
            "exploitability": self.exploitability if self.is_measured else None,
            "nash_conv": self.nash_conv if self.is_measured else None,
            "values": list(self.values) if self.is_measured else None,
            "seconds": record.seconds,
            "setup_seconds": record.setup_seconds,
            "seconds_per_iteration": record.seconds_per_iteration,
            "memory_bytes": record.memory_bytes,
            "nodes": record.nodes,
            "information_sets": record.information_sets,
            "history": [[point.iteration, point.seconds, point.exploitability] for point in record.history],
        }


def _unpickled(kind: type[Solution], content: bytes, path: Path | None) -> Solution:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        file = Path(folder) / "solution.rgl"
        file.write_bytes(content)
        solution = replace(kind.load(file), path=path)
        if sys.platform == "win32":  # where each read opens the file again (`tensor_file`)
            weakref.finalize(solution, stack.pop_all().close)
        return solution


def restore_engine(engine: Engine[Any, Any], snapshot: Snapshot, where: object) -> None:
    """Restore an engine; a snapshot in `where` that does not fit it is refused."""
    try:
        engine.restore(snapshot)
    except (KeyError, ValueError):
        raise InvalidFile(where, "was written by another version with an incompatible layout") from None

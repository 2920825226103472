"""What every solve returns: its record, and how to read, save, check and resume it."""

from __future__ import annotations

import sys
import tempfile
import weakref
from abc import ABC, abstractmethod
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from regretless.engines import Engine, Evaluation, Snapshot
from regretless.errors import InvalidFile
from regretless.reprs import brief
from regretless.solving.record import Measurement, Reason, Record, Settings
from regretless.solving.solution_html import facts_html
from regretless.solving.verification import Verification

__all__ = ["Solution", "restore_engine"]


@dataclass(frozen=True, kw_only=True)
class Solution(ABC):
    """A solved game or spot. Subclasses add how to read its strategy."""

    command: ClassVar[str] = "solve"  # the subcommand that resumes it
    record: Record
    snapshot: Snapshot | None = field(default=None, repr=False)  # what a resume starts from, if kept
    path: Path | None = field(default=None, repr=False)  # the file it was read from

    __repr__ = brief

    @abstractmethod
    def save(self, path: str | Path, *, resumable: bool = False) -> None:
        """Write a `.rgl` file; with `resumable`, including everything a resume needs."""

    @classmethod
    @abstractmethod
    def load(cls, path: str | Path) -> Solution:
        """Read a `.rgl` file; a missing, damaged or unrelated file raises `InvalidFile`."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the bytes of its file, with everything that a resume needs, if it was kept."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "solution.rgl"
            self.save(file, resumable=self.snapshot is not None)
            return _unpickled, (type(self), file.read_bytes(), self.path)

    @abstractmethod
    def checkpoint(self, path: str | Path) -> None:
        """Write what a resume needs to a `.rgl` file, as quickly as possible."""

    @abstractmethod
    def verify(self, **options: Any) -> Verification:
        """Recompute values and exploitability by an independent route."""

    @property
    def where(self) -> str:
        """The file or the solve, as the subject of a sentence."""
        return f"the solve of {self.game}" if self.path is None else str(self.path)

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

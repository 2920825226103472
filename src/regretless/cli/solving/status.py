"""The state of a command's solves, from which signals are answered: what happens next, and what stopping costs."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from regretless.cli.terminal.next_commands import resume_command
from regretless.cli.terminal.numbers import duration_text
from regretless.printable import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from regretless.solving.loop import Progress

__all__ = ["BatchStatus", "SolveStatus"]

PACKED_PER_SECOND = 50e6  # bytes of an engine's memory turned into a saved result


class SolveStatus:
    """One solve, as a plan for `interruptible`; updated by the loop and when saving."""

    def __init__(
        self,
        *,
        destination: Path | None = None,
        resumed: Path | None = None,
        command: str = "solve",
        sharing: Mapping[str, object] | None = None,
    ) -> None:
        self.destination = destination  # where an interrupted solve is saved
        self.command, self.sharing = command, sharing or {}  # the subcommand that resumes it, and its options
        self.resumed = resumed
        self.began = time.monotonic()
        self.saved_at: float | None = None  # when the last checkpoint was written
        self.stop_seconds: float | None = None  # None until an iteration is done
        self.state = "solving"
        self.file: Path | None = None  # has the result, while that is printed

    def report(self, progress: Progress) -> None:
        """An iteration is done."""
        if self.stop_seconds is None:
            self.began = time.monotonic()
        self.stop_seconds = progress.stop_seconds

    def saved(self) -> None:
        """A checkpoint is written."""
        self.saved_at = time.monotonic()

    def saving(self, memory_bytes: int) -> None:
        """The result of an engine of this size is being saved: strategies are packed, values and equities computed."""
        self.state, self.stop_seconds = "saving", memory_bytes / PACKED_PER_SECOND

    def printing(self, file: Path | None) -> None:
        """Only printing is left; `file` holds the answer."""
        self.state, self.file = "printing", file

    def first(self) -> str | None:
        if self.state == "saving":
            return (
                f"the solve is done and is being saved to {_name(self.destination)}: {self._wait()}. "
                f"Ctrl-C again stops at once: {self._loss()}"
            )
        if self.state == "printing":
            return "the solve is done and its answer is being printed. Ctrl-C again stops at once"
        if self.stop_seconds is None:
            return None
        where = "" if self.destination is None else f", then saving to {_name(self.destination)}"
        return f"stopping after this iteration{where}: {self._wait()}. Ctrl-C again stops at once: {self._loss()}"

    def second(self) -> str:
        if self.state == "printing":
            saved = "" if self.file is None else f", but is in {_name(self.file)}"
            return f"stopped at once: the answer was not fully printed{saved}"
        if self.stop_seconds is None and self.state == "solving":
            unchanged = "" if self.resumed is None else f"; {_name(self.resumed)} is unchanged"
            return f"interrupted: nothing was saved, since no iteration had finished{unchanged}"
        return f"stopped at once: {self._loss()}"

    def _wait(self) -> str:
        return f"about {duration_text(max(self.stop_seconds or 0.0, 0.1))}"

    def _loss(self) -> str:
        """What stopping now would lose."""
        now = time.monotonic()
        if self.saved_at is not None and self.destination is not None:
            since = duration_text(now - self.saved_at)
            resumes = printable(resume_command(self.destination, self.command, **self.sharing))
            return f"{since} of solving since the last checkpoint are lost; {resumes}"
        unchanged = "" if self.resumed is None else f"; {_name(self.resumed)} is unchanged"
        return f"{duration_text(now - self.began)} of solving are lost{unchanged}"


def _name(path: Path | None) -> str:
    return printable(str(path))


@dataclass
class BatchStatus:
    """Many solves in parallel."""

    spots: int
    folder: Path | None

    def __post_init__(self) -> None:
        self.lock = threading.Lock()
        self.running: dict[int, float] = {}  # seconds that stopping takes, by index of the spot
        self.finished = 0
        self.over = False

    def report(self, index: int, progress: Progress) -> None:
        """A spot's solve has done an iteration."""
        with self.lock:
            self.running[index] = progress.stop_seconds

    def done(self, index: int, *, finished: bool) -> None:
        """A spot's solve has ended, and is saved if it was to be."""
        with self.lock:
            self.running.pop(index, None)
            self.finished += finished

    def first(self) -> str | None:
        with self.lock:
            if self.over:
                return "all spots are done and the answer is being printed. Ctrl-C again stops at once"
            if not self.running and not self.finished:
                return None
            wait = duration_text(max([0.1, *self.running.values()]))
            return (
                f"stopping: {len(self.running)} spots will be saved unfinished, about {wait}; {self._done_text()}. "
                "Ctrl-C again stops at once and loses the unfinished ones since their last checkpoint"
            )

    def second(self) -> str:
        with self.lock:
            if not self.running and not self.finished:
                return "interrupted: nothing was saved, since no iteration had finished"
            return f"stopped at once: unfinished spots are lost since their last checkpoint; {self._done_text()}"

    def _done_text(self) -> str:
        where = "" if self.folder is None else f" in {_name(self.folder)}"
        return f"{self.finished} of {self.spots} are finished{where}"

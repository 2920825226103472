"""The solutions and spots of the served folder: listing them, and keeping the solutions that are read open.

An open solution is found again by its name and *revision* (time and size of the file), so a file that a running solve
replaces is opened anew. Solutions are not safe to read from several threads at once: each has its lock, or is read in
turns.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from regretless.api import read_solution
from regretless.errors import Advice, InvalidFile, RegretlessError
from regretless.files.container import Container, open_container
from regretless.holdem.games.big_blinds import BigBlindSolution
from regretless.holdem.games.pricing import PricedSolution
from regretless.holdem.solution import CHECKPOINT, SpotSolution
from regretless.page.endpoint import NotFound
from regretless.page.folder import ServedFolder
from regretless.page.summaries import CHARTED, UNSHOWN, FileSummary, container_fields, toml_fields
from regretless.solving.game_solution import GameSolution
from regretless.solving.solution import Solution

__all__ = ["Library"]

MAX_OPEN_FILES = 6  # solutions
MAX_FILES = 1_000
MAX_GAME_BYTES = 256 * 2**20

SolutionType = TypeVar("SolutionType", bound=Solution)


class _Opening(NamedTuple):
    """What tells one opening of a file from another."""

    file: str
    revision: str
    slow: bool = False


@dataclass
class _OpenSolution:
    """A solution that is kept open, and the lock of whoever reads it."""

    solution: Solution
    lock: threading.Lock


class Library(ServedFolder):
    """The solutions and spots of a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._open: OrderedDict[_Opening, _OpenSolution] = OrderedDict()
        self._summarised: tuple[_Opening, Container] | None = None  # the last file that was opened for its summary
        self._summaries: dict[_Opening, FileSummary] = {}
        self._changing = threading.Lock()

    def files(self) -> tuple[list[FileSummary], bool]:
        """The folder's solutions and spots, newest first, and whether there are more.

        Other TOML files, such as games from the deal and studies, are left out: the page cannot open them.
        """
        paths = self.newest()
        summaries: list[FileSummary] = []
        for path in paths[:MAX_FILES]:
            try:
                summary = self.summary(self.name_of(path))
            except (RegretlessError, OSError):  # deleted meanwhile, or its name is not one that this server answers to
                continue
            if summary.kind != "other":
                summaries.append(summary)
        return summaries, len(paths) > MAX_FILES

    def summary(self, file: str) -> FileSummary:
        """A file as the page lists it."""
        path = self.existing(file)
        revision = self.revision(file)
        if revision is None:
            raise NotFound(f"file: {file!r} is not in the served folder", "file")
        key = _Opening(file, revision)
        summary = self._summaries.get(key)
        if summary is None:
            if len(self._summaries) > 4 * MAX_FILES:
                self._summaries.clear()
            summary = self._summaries[key] = self._summarise(path, file, revision)
        return summary

    def _summarise(self, path: Path, file: str, revision: str) -> FileSummary:
        status = path.stat()
        summary = FileSummary(
            file=file,
            kind="unreadable",
            name=path.stem,
            bytes=status.st_size,
            modified=status.st_mtime,
            revision=revision,
        )
        try:
            if path.suffix == ".toml":
                return replace(summary, **toml_fields(path))
            container = open_container(path)
            with self._changing:
                self._summarised = _Opening(file, revision), container
            return replace(summary, **container_fields(container, file))
        except RegretlessError as error:
            return replace(summary, note=self.without_folder(error.worded(Advice.in_words)))

    # --- reading -----------------------------------------------------------------------------------------------------

    @contextmanager
    def spot(self, file: str, *, slow: bool = False) -> Iterator[tuple[SpotSolution, str]]:
        """The solution of a spot, for this thread alone, and its revision.

        Reports that take long read with `slow`, an opening of their own, so that nodes need not wait for them. It has
        no lock: such requests take turns (`endpoint`), and none may keep the others out from one turn to the next.
        """
        with self._open_solution(file, SpotSolution, "a solved spot", slow=slow) as opened:
            yield opened

    @contextmanager
    def both(self, first: str, second: str) -> Iterator[tuple[SpotSolution, SpotSolution]]:
        """Two solutions to compare, which takes long."""
        with self.spot(first, slow=True) as (one, _), self.spot(second, slow=True) as (other, _):
            yield one, other

    @contextmanager
    def game(self, file: str) -> Iterator[tuple[GameSolution, str]]:
        """The solution of a game, for this thread alone, and its revision; it is read as a whole."""
        summary = self.summary(file)
        if summary.kind in UNSHOWN:
            raise NotFound(f"file: {summary.note}", "file")
        if summary.bytes > MAX_GAME_BYTES:
            raise NotFound(f"file: {file!r} is too large to browse: regretless show reads it", "file")
        with self._open_solution(file, GameSolution, "a solved game") as opened:
            yield opened

    @contextmanager
    def preflop(self, file: str) -> Iterator[tuple[BigBlindSolution, str]]:
        """The solution of a game from the deal with charts, for this thread alone, and its revision."""
        if self.summary(file).kind not in CHARTED:
            raise NotFound(f"file: {file!r} has no charts of play before the flop", "file")
        with self._open_solution(file, BigBlindSolution, "a solved game from the deal") as opened:  # type: ignore[type-abstract]
            yield opened

    @contextmanager
    def whole_game(self, file: str) -> Iterator[tuple[PricedSolution, str]]:
        """The solution of a no-limit game from the deal, for this thread alone, and its revision."""
        with self.preflop(file) as (solution, revision):
            if not isinstance(solution, PricedSolution):
                raise NotFound(f"file: {file!r} ends before the flop: it has no whole hands to play", "file")
            yield solution, revision

    @contextmanager
    def _open_solution(
        self, file: str, kind: type[SolutionType], noun: str, *, slow: bool = False
    ) -> Iterator[tuple[SolutionType, str]]:
        """The solution of a file, which must be of this kind, and its revision; read now unless it is open."""
        path = self.existing(file, ".rgl")
        revision = self.revision(file) or ""
        key = _Opening(file, revision, slow)
        with self._changing:
            opened = self._open.get(key)
        if opened is None:
            loaded = self._load(path, file, revision)
            with self._changing:
                opened = self._open.setdefault(key, loaded)
                for other in [each for each in self._open if each.file == file and each.revision != revision]:
                    del self._open[other]
                while len(self._open) > MAX_OPEN_FILES:
                    self._open.popitem(last=False)
        with self._changing:
            if key in self._open:
                self._open.move_to_end(key)
        if not isinstance(opened.solution, kind):
            raise NotFound(f"file: {file!r} is not {noun}", "file")
        with nullcontext() if slow else opened.lock:
            try:
                yield opened.solution, revision
            except InvalidFile as error:
                raise _with_name(error, path, file) from None

    def _load(self, path: Path, file: str, revision: str) -> _OpenSolution:
        """Read a solution from the container that its summary opened, if nothing has been read from it since."""
        with self._changing:
            key, container = self._summarised or (None, None)
            self._summarised = None
        try:
            if container is None or key != _Opening(file, revision):
                container = open_container(path)
            if container.kind == CHECKPOINT:
                raise InvalidFile(path, "is an interrupted solve without readable strategies: resume it to browse it")
            return _OpenSolution(read_solution(container), threading.Lock())
        except InvalidFile as error:
            raise _with_name(error, path, file) from None


def _with_name(error: InvalidFile, path: Path, file: str) -> InvalidFile:
    """An error about a path, with the file named as the page names it."""
    return InvalidFile(file, error.worded(Advice.in_words).removeprefix(f"{path}: "))

"""The files of the served folder: finding them by name, and keeping the solutions that are read open.

A name is a path relative to the folder, with slashes. It has no hidden part and no `..`, and what it leads to, links
followed, lies in the folder; anything else is refused before the system is asked about it. A study is named by its
folder, or "." if it is the served folder itself; its files are not listed one by one.

An open solution is found again by its name and *revision* (time and size of the file), so a file that a running solve
replaces is opened anew. Solutions are not safe to read from several threads at once: each has its lock, or is read in
turns.
"""

from __future__ import annotations

import os
import shlex
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Annotated, TypeVar

from regretless.api import read_solution
from regretless.cards.deck import board_text
from regretless.errors import Advice, InvalidFile, RegretlessError
from regretless.files.container import Container, open_container
from regretless.files.fields import Fields
from regretless.holdem.games.big_blinds import MILLI, UNIT, BigBlindSolution
from regretless.holdem.solution import CHECKPOINT, SpotSolution
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.toml_fields import parse_toml, read_toml_text
from regretless.holdem.studies.manifest import MANIFEST
from regretless.page.endpoint import Forbidden, NotFound
from regretless.page.naming import formation_label, range_names
from regretless.page.schema import Json, text
from regretless.solving.game_solution import GameSolution
from regretless.solving.kinds import KINDS, file_words, of_file
from regretless.solving.solution import Solution

__all__ = ["FILE", "HERE", "STATE", "File", "FileSummary", "Library", "plain_name"]

FILE = text("path relative to the served folder, with slashes", longest=300)
File = Annotated[str, FILE]
STATE = ".regretless"  # folder of the server's own files, in the served one

MAX_OPEN_FILES = 6  # solutions
MAX_FILES = 1_000
MAX_WALKED = 20_000  # files looked at to find the newest
MAX_STUDIES = 200
MAX_DEPTH = 4  # folders below the served one
MAX_GAME_BYTES = 256 * 2**20
MAX_NAME_LENGTH = 300  # characters
SUFFIXES = (".rgl", ".toml")
STUDY_PARTS = ("runs", "summary", "solutions", "summary.parquet", "runs.parquet")
HERE = "."  # the name of a study that is the served folder itself

CHARTED = ("push-fold", "holdem-game")  # kinds of games with charts of play before the flop
UNSHOWN = {row.listed for row in KINDS.values() if row.noun}  # kinds of games that the page cannot show yet

SolutionType = TypeVar("SolutionType", bound=Solution)


@dataclass(frozen=True)
class FileSummary:
    """A file, as far as its beginning tells; None where something does not apply."""

    file: str
    kind: str  # as in `files.FILE_SUMMARY`; "toml" is a spot
    name: str
    bytes: int
    modified: float  # seconds since 1970
    revision: str
    board: str | None = None
    pot: float | None = None
    stack: float | None = None
    exploitability: float | None = None
    unit: str | None = None
    iterations: int | None = None
    locks: int | None = None
    resumable: bool = False
    note: str | None = None  # why it cannot be shown
    title: str | None = None  # what the spot is called
    formation: str | None = None  # of those that ship with the package
    ranges: Mapping[str, str] | None = None  # what each player's range is called


@dataclass
class _OpenSolution:
    """A solution that is kept open, and the lock of whoever reads it."""

    solution: Solution
    lock: threading.Lock


class Library:
    """The solutions and spots of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self._open: OrderedDict[tuple[str, str, bool], _OpenSolution] = OrderedDict()
        self._unread: tuple[tuple[str, str], Container] | None = None  # opened for the last summary
        self._summaries: dict[tuple[str, str], FileSummary] = {}
        self._changing = threading.Lock()

    # --- names -------------------------------------------------------------------------------------------------------

    def path(self, file: str, suffix: str | None = None) -> Path:
        """The path of a file of the folder, which need not exist; refuses names that lead elsewhere."""
        _check_name(file, "file")
        if not file.endswith(SUFFIXES if suffix is None else suffix):
            allowed = " or ".join(SUFFIXES) if suffix is None else suffix
            raise Forbidden(f"file: {file[:80]!r} does not end in {allowed}", "file")
        return self._confined(self.folder / PurePosixPath(file), "file", file)

    def study(self, name: str) -> Path:
        """The folder of a study; refuses names that lead elsewhere, and studies whose tables lie elsewhere."""
        if name != HERE:
            _check_name(name, "study")
        path = self._confined(self.folder / PurePosixPath(name), "study", name)
        if not (path / MANIFEST).is_file():
            raise NotFound(f"study: {name!r} is not the folder of a study in the served folder", "study")
        for part in (MANIFEST, *STUDY_PARTS):
            self._confined(path / part, "study", name)
        return path

    def _confined(self, path: Path, field: str, name: str) -> Path:
        try:
            resolved = path.resolve()
        except (OSError, RuntimeError):  # a loop of links
            resolved = Path("/")
        if not resolved.is_relative_to(self.folder):
            raise Forbidden(f"{field}: {name[:80]!r} is not in the served folder", field)
        return path

    def existing(self, file: str, suffix: str | None = None) -> Path:
        """The path of a file that exists."""
        path = self.path(file, suffix)
        if not path.is_file():
            raise NotFound(f"file: {file!r} is not in the served folder", "file")
        return path

    def check_reachable(self, file: str) -> None:
        """Refuse a name under which a file would not be listed: too deep, or inside a study."""
        folders = self.path(file).relative_to(self.folder).parents
        if len(folders) > MAX_DEPTH + 1:
            raise Forbidden(f"file: {file[:80]!r} is more than {MAX_DEPTH} folders deep", "file")
        if any((self.folder / folder / MANIFEST).exists() for folder in list(folders)[:-1]):
            raise Forbidden(f"file: {file[:80]!r} is in the folder of a study", "file")

    def name_of(self, path: Path) -> str:
        """The name of a path in the folder."""
        return path.relative_to(self.folder).as_posix()

    def relative(self, path: str) -> str:
        """A path as seen from the folder, with slashes."""
        return Path(os.path.relpath(path, self.folder)).as_posix() if os.path.isabs(path) else path

    def without_folder(self, sentence: str) -> str:
        """A sentence with files named as the page names them."""
        return sentence.replace(f"{self.folder}/", "").replace(str(self.folder), self.folder.name)

    def free_name(self, title: str, reserved: set[str]) -> str:
        """A file name for a new solution with this title that neither exists nor is reserved."""
        first = plain_name(title)
        number, name = 1, f"{first}.rgl"
        while name in reserved or os.path.lexists(self.folder / name):
            number += 1
            name = f"{first}-{number}.rgl"
        return name

    def revision(self, file: str) -> str | None:
        """Changes whenever the file does; None if there is no such file."""
        try:
            status = (self.folder / file).stat()
        except OSError:
            return None
        return f"{status.st_mtime_ns:x}-{status.st_size:x}"

    # --- listing -----------------------------------------------------------------------------------------------------

    def files(self) -> tuple[list[FileSummary], bool]:
        """The folder's solutions and spots, newest first, and whether there are more.

        Other TOML files, such as games from the deal and studies, are left out: the page cannot open them.
        """
        paths: list[Path] = []
        for folder, names in self._walk():
            paths += [folder / each for each in names if each.endswith(SUFFIXES) and not each.startswith(".")]
            if len(paths) > MAX_WALKED:
                break
        paths.sort(key=_modified, reverse=True)
        summaries: list[FileSummary] = []
        for path in paths[:MAX_FILES]:
            try:
                summary = self.summary(self.name_of(path))
            except (RegretlessError, OSError):  # it has gone, or its name is not one that this server answers to
                continue
            if summary.kind != "other":
                summaries.append(summary)
        return summaries, len(paths) > MAX_FILES

    def studies(self) -> list[str]:
        """The names of the folder's studies."""
        folders = (folder for folder, names in self._walk() if MANIFEST in names)
        return [self.name_of(folder) for folder in islice(folders, MAX_STUDIES)]

    def _walk(self) -> Iterator[tuple[Path, list[str]]]:
        """Folders and the names of their files; what lies in the folders of a study is left out."""
        for folder, folders, names in os.walk(self.folder):
            depth = len(Path(folder).relative_to(self.folder).parts)
            inside = depth < MAX_DEPTH and MANIFEST not in names
            folders[:] = sorted(each for each in folders if not each.startswith(".") and inside)
            yield Path(folder), names

    def summary(self, file: str) -> FileSummary:
        """A file, as far as its beginning tells."""
        path = self.existing(file)
        revision = self.revision(file)
        if revision is None:
            raise NotFound(f"file: {file!r} is not in the served folder", "file")
        key = file, revision
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
                return replace(summary, **_described_text(path))
            container = open_container(path)
            with self._changing:
                self._unread = (file, revision), container
            return replace(summary, **_described(container, file))
        except RegretlessError as error:
            return replace(summary, note=self.without_folder(error.worded(Advice.in_words)))

    # --- reading -----------------------------------------------------------------------------------------------------

    @contextmanager
    def spot(self, file: str, *, slow: bool = False) -> Iterator[tuple[SpotSolution, str]]:
        """The solution of a spot, for this thread alone, and its revision.

        Reports that take long read with `slow`, an opening of their own, so that nodes need not wait for them. It has
        no lock: such requests take turns (`endpoint`), and none may keep the others out from one turn to the next.
        """
        with self._opened(file, SpotSolution, "a solved spot", slow) as opened:
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
        with self._opened(file, GameSolution, "a solved game", False) as opened:
            yield opened

    @contextmanager
    def preflop(self, file: str) -> Iterator[tuple[BigBlindSolution, str]]:
        """The solution of a game from the deal with charts, for this thread alone, and its revision."""
        if self.summary(file).kind not in CHARTED:
            raise NotFound(f"file: {file!r} has no charts of play before the flop", "file")
        with self._opened(file, BigBlindSolution, "a solved game from the deal", False) as opened:  # type: ignore[type-abstract]
            yield opened

    @contextmanager
    def _opened(self, file: str, kind: type[SolutionType], what: str, slow: bool) -> Iterator[tuple[SolutionType, str]]:
        path = self.existing(file, ".rgl")
        revision = self.revision(file) or ""
        key = file, revision, slow
        with self._changing:
            opened = self._open.get(key)
        if opened is None:
            loaded = self._load(path, file, revision)
            with self._changing:
                opened = self._open.setdefault(key, loaded)
                for other in [each for each in self._open if each[0] == file and each[1] != revision]:
                    del self._open[other]
                while len(self._open) > MAX_OPEN_FILES:
                    self._open.popitem(last=False)
        with self._changing:
            if key in self._open:
                self._open.move_to_end(key)
        if not isinstance(opened.solution, kind):
            raise NotFound(f"file: {file!r} is not {what}", "file")
        with nullcontext() if slow else opened.lock:
            try:
                yield opened.solution, revision
            except InvalidFile as error:
                raise _named(error, path, file) from None

    def _load(self, path: Path, file: str, revision: str) -> _OpenSolution:
        """Read a solution from the container that its summary opened, if nothing has been read from it since."""
        with self._changing:
            key, container = self._unread or (None, None)
            self._unread = None
        try:
            if container is None or key != (file, revision):
                container = open_container(path)
            if container.kind == CHECKPOINT:
                raise InvalidFile(path, "is an interrupted solve without readable strategies: resume it to browse it")
            return _OpenSolution(read_solution(container), threading.Lock())
        except InvalidFile as error:
            raise _named(error, path, file) from None


def _modified(path: Path) -> float:
    """When a file was changed; 0 if it has gone."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _named(error: InvalidFile, path: Path, file: str) -> InvalidFile:
    """An error about a path, with the file named as the page names it."""
    return InvalidFile(file, error.worded(Advice.in_words).removeprefix(f"{path}: "))


def plain_name(title: str) -> str:
    """A title as the name of a file, without suffix."""
    letters = "".join(letter if letter.isalnum() or letter in "-_+, " else "-" for letter in title).strip(" -,")
    return letters.encode()[:60].decode(errors="ignore").strip() or "spot"


def _check_name(name: str, field: str) -> None:
    plain = len(name) <= MAX_NAME_LENGTH and name.isprintable() and "\\" not in name and ":" not in name
    if not plain or any(part == "" or part.startswith(".") or len(part.encode()) > 250 for part in name.split("/")):
        raise Forbidden(f"{field}: {name[:80]!r} is not the name of a {field} in the served folder", field)


def _described_text(path: Path) -> Json:
    """The parts of a summary that a TOML file gives. One that cannot be read counts as a spot: opening it shows why."""
    try:
        is_spot = "board" in parse_toml(read_toml_text(path), path)
    except InvalidFile:
        is_spot = True
    return {"kind": "toml"} if is_spot else {"kind": "other", "note": "is not a spot: it has no board"}


def _described(file: Container, name: str) -> Json:
    """The parts of a summary that the header gives."""
    row = of_file(file.kind)
    if row is None:
        raise InvalidFile(file.path, f"contains {file_words(file.kind)}, not a solution")
    header = Fields(file.path, file.header)
    resumable = "regret.0" in file or "regret" in file
    common: Json = {"iterations": header.whole("iterations"), "resumable": resumable}
    exploitability = header.number("exploitability", low=0.0) if "exploitability" in header else None
    if not row.is_spot:
        common |= {"exploitability": exploitability, "unit": "in the game's units"}
        common["kind"] = row.listed
        if row.listed in CHARTED:
            common |= {"unit": UNIT, "exploitability": None if exploitability is None else MILLI * exploitability}
        if row.noun:
            common["note"] = (
                f"{row.noun}, which the page does not show yet: regretless show {shlex.quote(name)} --line '' reads it"
            )
        return common
    spot = Spot.parse(header.text("spot", longest=2**23), warn=False)
    return common | {
        "kind": "checkpoint" if file.kind == CHECKPOINT else row.listed,
        "board": board_text(spot.board),
        "pot": spot.pot,
        "stack": spot.stack,
        "exploitability": None if exploitability is None else 100 * exploitability / spot.pot,
        "unit": "% of the pot",
        "locks": len(spot.locks),
        "title": spot.name or None,
        "formation": formation_label(spot),
        "ranges": range_names(spot),
    }

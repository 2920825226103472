"""The served folder: which names lead to its files, and which files it has.

A name is a path relative to the folder, with slashes. It has no hidden part and no `..`, and what it leads to, links
followed, lies in the folder; anything else is refused before the system is asked about it. A study is named by its
folder, or "." if it is the served folder itself; its files are not listed one by one.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Annotated

from regretless.holdem.studies.manifest import MANIFEST
from regretless.page.endpoint import Forbidden, NotFound
from regretless.page.schema import text

__all__ = ["FILE", "SERVED_FOLDER", "STATE", "SUFFIXES", "File", "ServedFolder", "plain_name"]

FILE = text("path relative to the served folder, with slashes", longest=300)
File = Annotated[str, FILE]
STATE = ".regretless"  # folder of the server's own files, in the served one

MAX_WALKED = 20_000  # files looked at to find the newest
MAX_STUDIES = 200
MAX_DEPTH = 4  # folders below the served one
MAX_NAME_LENGTH = 300  # characters
MAX_PART_BYTES = 250  # of a folder or file in a name: file systems allow 255
MAX_TITLE_BYTES = 60  # of a title in a file name
QUOTED = 80  # characters of a refused name that the error repeats
SUFFIXES = (".rgl", ".toml")
STUDY_PARTS = ("runs", "summary", "solutions", "summary.parquet", "runs.parquet")
SERVED_FOLDER = "."  # the name of a study that is the served folder itself


def plain_name(title: str) -> str:
    """A title as the name of a file, without suffix.

    >>> plain_name("BB vs BTN: 3bet/call?"), plain_name("../..")
    ('BB vs BTN- 3bet-call', 'spot')
    """
    letters = "".join(letter if letter.isalnum() or letter in "-_+, " else "-" for letter in title).strip(" -,")
    return letters.encode()[:MAX_TITLE_BYTES].decode(errors="ignore").strip() or "spot"


class ServedFolder:
    """The names and files of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    # --- names -------------------------------------------------------------------------------------------------------

    def path(self, file: str, suffix: str | None = None) -> Path:
        """The path of a file of the folder, which need not exist; refuses names that lead elsewhere."""
        _check_name(file, "file")
        if not file.endswith(SUFFIXES if suffix is None else suffix):
            allowed = " or ".join(SUFFIXES) if suffix is None else suffix
            raise Forbidden(f"file: {file[:QUOTED]!r} does not end in {allowed}", "file")
        return self._confine(self.folder / PurePosixPath(file), "file", file)

    def study(self, name: str) -> Path:
        """The folder of a study; refuses names that lead elsewhere, and studies whose tables lie elsewhere."""
        if name != SERVED_FOLDER:
            _check_name(name, "study")
        path = self._confine(self.folder / PurePosixPath(name), "study", name)
        if not (path / MANIFEST).is_file():
            raise NotFound(f"study: {name!r} is not the folder of a study in the served folder", "study")
        for part in (MANIFEST, *STUDY_PARTS):
            self._confine(path / part, "study", name)
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
            raise Forbidden(f"file: {file[:QUOTED]!r} is more than {MAX_DEPTH} folders deep", "file")
        if any((self.folder / folder / MANIFEST).exists() for folder in list(folders)[:-1]):
            raise Forbidden(f"file: {file[:QUOTED]!r} is in the folder of a study", "file")

    def name_of(self, path: Path) -> str:
        """The name of a path in the folder."""
        return path.relative_to(self.folder).as_posix()

    def relative(self, path: str) -> str:
        """A path as seen from the folder, with slashes."""
        return Path(os.path.relpath(path, self.folder)).as_posix() if os.path.isabs(path) else path

    def without_folder(self, sentence: str) -> str:
        """A sentence with files named as the page names them."""
        return sentence.replace(f"{self.folder}/", "").replace(str(self.folder), self.folder.name)

    def free_name(self, title: str, reserved: Container[str], *, below: str = "", suffix: str = ".rgl") -> str:
        """A name for a new file (or folder, without a suffix) with this title that neither exists nor is reserved."""
        stem = f"{below}/{plain_name(title)}" if below else plain_name(title)
        number, name = 1, f"{stem}{suffix}"
        while name in reserved or os.path.lexists(self.folder / name):
            number += 1
            name = f"{stem}-{number}{suffix}"
        return name

    def revision(self, file: str) -> str | None:
        """Changes whenever the file does; None if there is no such file."""
        try:
            status = (self.folder / file).stat()
        except OSError:
            return None
        return f"{status.st_mtime_ns:x}-{status.st_size:x}"

    def _confine(self, path: Path, field: str, name: str) -> Path:
        """A path, if it leads into the folder."""
        try:
            resolved = path.resolve()
        except (OSError, RuntimeError):  # a loop of links
            resolved = Path("/")
        if not resolved.is_relative_to(self.folder):
            raise Forbidden(f"{field}: {name[:QUOTED]!r} is not in the served folder", field)
        return path

    # --- listing -----------------------------------------------------------------------------------------------------

    def newest(self) -> list[Path]:
        """The paths of the folder's files, newest first."""
        paths: list[Path] = []
        for folder, names in self._walk():
            paths += [folder / name for name in names if name.endswith(SUFFIXES) and not name.startswith(".")]
            if len(paths) > MAX_WALKED:
                break
        return sorted(paths, key=_modified, reverse=True)

    def studies(self) -> list[str]:
        """The names of the folder's studies."""
        folders = (folder for folder, names in self._walk() if MANIFEST in names)
        return [self.name_of(folder) for folder in islice(folders, MAX_STUDIES)]

    def _walk(self) -> Iterator[tuple[Path, list[str]]]:
        """Folders and the names of their files; what lies in the folders of a study is left out."""
        for folder, folders, names in os.walk(self.folder):
            depth = len(Path(folder).relative_to(self.folder).parts)
            if depth >= MAX_DEPTH or MANIFEST in names:
                folders.clear()  # os.walk goes no deeper
            folders[:] = sorted(each for each in folders if not each.startswith("."))
            yield Path(folder), names


def _check_name(name: str, field: str) -> None:
    """Refuse a name that could lead elsewhere or that a file system could not have."""
    is_plain = len(name) <= MAX_NAME_LENGTH and name.isprintable() and "\\" not in name and ":" not in name
    parts = name.split("/")
    if not is_plain or any(not part or part.startswith(".") or len(part.encode()) > MAX_PART_BYTES for part in parts):
        raise Forbidden(f"{field}: {name[:QUOTED]!r} is not the name of a {field} in the served folder", field)


def _modified(path: Path) -> float:
    """When a file was changed; 0 if it was deleted meanwhile."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0

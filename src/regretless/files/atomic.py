"""Files that appear complete or not at all.

1. Create a temporary file in the same folder and lock it.
2. Write to it, and flush it to disk (fsync).
3. Rename it over the real name, which is atomic.

A crash, a full disk or an interrupt before step 3 leaves the old file unchanged, and the temporary one is removed. A
killed process cannot remove it, but its lock ends with it: the next process that writes to that folder removes
unlocked temporary files. Temporary folders, which are never renamed, are locked and removed in the same way.

Windows neither removes nor replaces a file that is open. There, an open file needs no lock, is closed just before it
is renamed, and counts as left behind if it was last written more than a minute ago; temporary folders stay.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

from regretless.errors import InvalidFile, InvalidOption

if sys.platform != "win32":
    import fcntl

__all__ = ["check_writable", "create_temporary_folder", "is_temporary", "remove_temporary_files", "replace_file"]

LEFTOVER_SECONDS = 60.0  # since a file was last written, on Windows
_LEFTOVER = re.compile(r"\..+\.[0-9a-f]{8}\.part")
_writing: set[Path] = set()  # temporary files of this process
_changing = threading.Lock()  # locked while a temporary file is created or renamed


@contextmanager
def replace_file(path: str | Path, *, follow: bool = True) -> Iterator[Path]:
    """A temporary path to write to; if the block succeeds, it becomes `path`, or what the link `path` leads to.

    Without `follow`, a link is replaced like a file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replace_file(f"{folder}/note.txt") as temporary:
    ...         _ = temporary.write_text("whole")
    ...     os.listdir(folder), Path(folder, "note.txt").read_text()
    (['note.txt'], 'whole')
    """
    final = _destination(path, follow=follow)
    try:
        with _temporary_beside(final) as (temporary, lock):
            mode = stat.S_IMODE((final if final.exists() else temporary).stat().st_mode)
            yield temporary
            temporary.chmod(mode)  # some libraries write files that only the owner can read
            with open(temporary, "rb+") as written:
                os.fsync(written.fileno())
            with _changing:
                if sys.platform == "win32":
                    lock.close()
                os.replace(temporary, final)
            _flush_folder(final.parent)
    except OSError as error:
        raise InvalidFile(path, f"cannot be written: {reason(error)}") from error


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise `InvalidFile` now, rather than after an hour of solving, if `path` cannot be written.

    >>> check_writable("no-such-folder/leduc.rgl")
    Traceback (most recent call last):
    regretless.errors.InvalidFile: no-such-folder/leduc.rgl: cannot be written: the folder no-such-folder does not exist
    """
    try:
        with _temporary_beside(_destination(path)):
            pass
    except OSError as error:
        raise InvalidFile(path, f"cannot be written: {reason(error)}") from error


def remove_temporary_files() -> None:
    """Remove the files this process is writing, as the last step before it exits immediately.

    Afterwards the process can neither create nor rename temporary files.
    """
    _changing.acquire()
    for temporary in tuple(_writing):
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def create_temporary_folder(parent: str | Path, name: str) -> tuple[Path, Callable[[], None]]:
    """A new folder, and what unlocks it, to be called once it is no longer needed: anyone may remove it then."""
    while True:
        folder = Path(parent, f".{name}.{secrets.token_hex(4)}.part")
        folder.mkdir(mode=0o700)
        if sys.platform == "win32":
            return folder, lambda: None
        with suppress(FileNotFoundError):  # another process removed it as a leftover before it was locked
            descriptor = os.open(folder, os.O_RDONLY)
            with suppress(OSError):  # on a file system without locks, no other process can lock and remove it either
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if folder.exists():
                return folder, partial(os.close, descriptor)
            os.close(descriptor)


def is_temporary(name: str) -> bool:
    """Whether a file has the name of one that is being written, or that a killed process was writing."""
    return _LEFTOVER.fullmatch(name) is not None


def reason(error: OSError) -> str:
    """The system's message as the end of a sentence: "no space left on device"."""
    # Not error.strerror, into which libraries write sentences of their own.
    text = os.strerror(error.errno) if error.errno else str(error) or type(error).__name__
    return text[:1].lower() + text[1:]


def _destination(path: str | os.PathLike[str], *, follow: bool = True) -> Path:
    """The file itself: with `follow`, a link is followed, so that it stays a link."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidOption("path", path, "is not the path of a file")
    try:
        final = Path(os.path.realpath(path) if follow else os.path.abspath(path))
        if final.is_dir():
            raise InvalidFile(path, "cannot be written: it is a folder")
        if final.exists() and not final.is_file():
            raise InvalidFile(path, "cannot be written: it is not an ordinary file")
        if not final.parent.is_dir():
            missing = "is not a folder" if final.parent.exists() else "does not exist"
            raise InvalidFile(path, f"cannot be written: the folder {Path(path).parent} {missing}")
    except (OSError, ValueError) as error:  # a name that is too long or contains a null character
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise InvalidFile(path, f"cannot be written: {why}") from None
    return final


@contextmanager
def _temporary_beside(final: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """A new file in the same folder, and what locks it; it is removed when the block ends unless it was renamed."""
    _remove_leftovers(final.parent)
    with _changing:
        temporary, descriptor = _create_locked(final)
        _writing.add(temporary)
    lock = os.fdopen(descriptor, "rb")
    try:
        yield temporary, lock
    finally:
        lock.close()
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        _writing.discard(temporary)


def _create_locked(final: Path) -> tuple[Path, int]:
    while True:
        temporary = final.with_name(f".{final.name[:80]}.{secrets.token_hex(4)}.part")
        descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        if sys.platform == "win32":
            return temporary, descriptor
        with suppress(OSError):  # on a file system without locks, no other process can lock and remove it either
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_nlink > 0:
            return temporary, descriptor
        os.close(descriptor)  # another process removed it as a leftover before it was locked


def _remove_leftovers(folder: Path) -> None:
    """Remove temporary files and folders of dead processes; those of live ones are locked."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if is_temporary(entry.name):
                with suppress(OSError):
                    if entry.is_file(follow_symlinks=False):
                        _remove_unlocked(entry.path, os.unlink)
                    elif entry.is_dir(follow_symlinks=False):
                        _remove_unlocked(entry.path, shutil.rmtree)


def _remove_unlocked(path: str, remove: Callable[[str], None]) -> None:
    if sys.platform == "win32":
        # A younger file may be about to be renamed. Files in a folder may be in use, however old the folder is.
        if remove is os.unlink and time.time() - os.stat(path).st_mtime > LEFTOVER_SECONDS:
            remove(path)
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises OSError if it is locked
        remove(path)
    finally:
        os.close(descriptor)


def _flush_folder(folder: Path) -> None:
    """Flush the renaming to disk, where folders support it (not on Windows)."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems cannot; the file is there anyway
            os.fsync(descriptor)
    finally:
        os.close(descriptor)

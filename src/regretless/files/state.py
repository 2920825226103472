"""Files that Regretless names itself ("state files"): locks, logs, the list of solves, the parts of a study or a price.

A person may name a file behind a link. A name of our own is different: whoever prepared the folder can have put a link,
a pipe or a device under it. So from the folder that a person named (`root`) down to such a file,

1. neither a folder on the way nor the file is a link: each is opened below the one before it with O_NOFOLLOW;
2. the file is an ordinary one, which its open descriptor tells; O_NONBLOCK keeps a pipe from waiting for a writer;
3. at most a stated number of bytes is read, and nothing is truncated before all this is known.

That holds for whatever lies in the folder beforehand. `replace_state` checks the folder and then writes by its path, so
a program that may write there too could exchange the folder for a link in between; `move_state` would replace a file
that appears under the new name after it looked.

Anything else raises `InvalidFile` with one sentence. If the system refuses (a read-only folder, say), `OSError` is
raised, except where a function says otherwise.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from regretless.errors import InvalidFile
from regretless.files.atomic import reason, replace_file

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

__all__ = [
    "check_state", "check_state_folder", "create_state", "lock_state", "move_state", "open_state", "read_state",
    "remove_state", "replace_state", "state_folder",
]  # fmt: skip

LOCK_INTERVAL = 0.1  # seconds between attempts to lock a file on Windows

_HAS_FOLDER_DESCRIPTORS = os.open in os.supports_dir_fd and hasattr(os, "O_DIRECTORY")
_FILE_FLAGS = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
_FOLDER_FLAGS = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC"))


def check_state(path: Path, root: Path) -> None:
    """Refuse a file that is not an ordinary one, or that lies behind a link; it need not exist.

    >>> check_state(Path("/dev/null"), Path("/dev"))
    Traceback (most recent call last):
    regretless.errors.InvalidFile: /dev/null: is not an ordinary file
    """
    check_state_folder(path.parent, root)
    mode = _mode(path)
    if mode is not None and not stat.S_ISREG(mode):
        raise InvalidFile(path, "is a folder, not a file" if stat.S_ISDIR(mode) else "is not an ordinary file")


def check_state_folder(path: Path, root: Path) -> None:
    """Refuse a path that is not a folder or that lies behind a link; it need not exist."""
    folder = root
    for name in path.relative_to(root).parts:
        folder /= name
        mode = _mode(folder)
        if mode is None:
            return
        if not stat.S_ISDIR(mode):
            raise InvalidFile(folder, "is not a folder")


def _mode(path: Path) -> int | None:
    """What is under a name, which must not be a link; None if there is nothing."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidFile(path, f"cannot be read: {reason(error)}") from None
    if stat.S_ISLNK(mode):
        raise InvalidFile(path, "is a link, which Regretless does not follow where it keeps its own files")
    return mode


def open_state(path: Path, root: Path, flags: int) -> int:
    """A descriptor of an ordinary file; `flags` are those of `os.open`."""
    check_state(path, root)
    if _HAS_FOLDER_DESCRIPTORS:
        folder = _open_folder(path.parent, root)
        try:
            descriptor = os.open(path.name, flags | _FILE_FLAGS, 0o666, dir_fd=folder)
        finally:
            os.close(folder)
    else:
        descriptor = os.open(path, flags | _FILE_FLAGS, 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InvalidFile(path, "is not an ordinary file")
    return descriptor


def _open_folder(path: Path, root: Path, *, create: bool = False) -> int:
    """A descriptor of a folder, reached from `root` without following a link."""
    descriptor = os.open(root, _FOLDER_FLAGS & ~getattr(os, "O_NOFOLLOW", 0))
    for name in path.relative_to(root).parts:
        try:
            if create:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=descriptor)
            below = os.open(name, _FOLDER_FLAGS, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = below
    return descriptor


def state_folder(path: Path, root: Path) -> Path:
    """The folder, created if it is missing."""
    check_state_folder(path, root)
    if _HAS_FOLDER_DESCRIPTORS:
        os.close(_open_folder(path, root, create=True))
    else:
        path.mkdir(parents=True, exist_ok=True)
    return path


def read_state(path: Path, root: Path, *, maximum: int) -> bytes:
    """The first bytes of a file, at most so many; any problem raises `InvalidFile`."""
    try:
        with os.fdopen(open_state(path, root, os.O_RDONLY), "rb") as file:
            return file.read(maximum)
    except OSError as error:
        raise InvalidFile(path, f"cannot be read: {reason(error)}") from None


def create_state(path: Path, root: Path) -> BinaryIO:
    """An empty file to write and read; one that has another name too (a hard link) is refused."""
    descriptor = open_state(path, root, os.O_RDWR | os.O_CREAT)
    if os.fstat(descriptor).st_nlink > 1:
        os.close(descriptor)
        raise InvalidFile(path, "has another name too, under which it would be overwritten")
    os.ftruncate(descriptor, 0)
    return os.fdopen(descriptor, "w+b")


@contextmanager
def replace_state(path: Path, root: Path) -> Iterator[Path]:
    """A temporary path to write to, which becomes `path`; see `replace_file`. Any problem raises `InvalidFile`."""
    check_state(path, root)
    with replace_file(path, follow=False) as temporary:
        yield temporary


def move_state(path: Path, to: Path, root: Path) -> None:
    """Give an ordinary file a name that nothing has yet, creating the folders on the way there.

    Neither name may lie behind a link. Any problem raises `InvalidFile`.
    """
    check_state(path, root)
    try:
        state_folder(to.parent, root)
        if _mode(to) is not None:
            raise InvalidFile(to, "exists already")
        if not _HAS_FOLDER_DESCRIPTORS:
            os.rename(path, to)
            return
        with ExitStack() as stack:
            source = _open_folder(path.parent, root)
            stack.callback(os.close, source)
            target = _open_folder(to.parent, root)
            stack.callback(os.close, target)
            os.rename(path.name, to.name, src_dir_fd=source, dst_dir_fd=target)
    except OSError as error:
        raise InvalidFile(path, f"cannot be moved: {reason(error)}") from None


def remove_state(path: Path, root: Path) -> None:
    """Delete an ordinary file, which must not lie behind a link. Any problem raises `InvalidFile`."""
    check_state(path, root)
    try:
        if not _HAS_FOLDER_DESCRIPTORS:
            os.unlink(path)
            return
        folder = _open_folder(path.parent, root)
        try:
            os.unlink(path.name, dir_fd=folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise InvalidFile(path, f"cannot be deleted: {reason(error)}") from None


@contextmanager
def lock_state(path: Path, root: Path, *, wait: bool) -> Iterator[bool]:
    """Lock a file, created if it is missing, during the block; False if another process has locked it.

    With `wait`, the block begins once no other process has it locked. On a file system without locks, nothing is
    locked. The operating system ends the lock with the process, however that ends. Nothing is written to the file,
    which stays: if it were removed, a process that had opened it before could lock what another no longer sees.
    """
    descriptor = open_state(path, root, os.O_RDWR | os.O_CREAT)
    try:
        yield _lock(descriptor, wait)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, wait: bool) -> bool:
    if sys.platform == "win32":
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except PermissionError:  # locked; LK_LOCK would wait, but for ten seconds only
                if not wait:
                    return False
                time.sleep(LOCK_INTERVAL)
            except OSError:  # a file system without locks
                return True
            else:
                return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        pass
    return True

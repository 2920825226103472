"""Locks between processes: an empty file that one process at a time has locked.

The operating system ends the lock with the process, however that ends, so a killed process leaves nothing to clean up.
The file itself stays: if it were removed, a process that had opened it before could lock what another no longer sees.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

__all__ = ["locked_file"]


@contextmanager
def locked_file(path: Path) -> Iterator[None]:
    """Lock a file, which is created if it does not exist; raises `BlockingIOError` if another process has locked it.

    Nothing is written to the file, and a link is refused, so whatever has its name stays as it is. On a file system
    without locks, nothing is locked.
    """
    if path.is_symlink():
        raise OSError("it is a link")
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags, 0o666)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("it is not an ordinary file")
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError(error.errno, error.strerror) from None
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        pass  # the file system has no locks

"""A lock between processes, which a link cannot turn against another file."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import pytest

from regretless.storage.locks import locked_file

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="flock")


def test_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked_file(path), pytest.raises(BlockingIOError), locked_file(path):
        pass
    with locked_file(path):
        assert path.read_bytes() == b""


def test_whatever_is_in_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_text("mine")
    with locked_file(path):
        pass
    assert path.read_text() == "mine"


@POSIX
@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "folder"])
def test_only_an_ordinary_file_is_locked(tmp_path: Path, kind: str) -> None:
    path, other = tmp_path / "lock", tmp_path / "other"
    if kind == "link":
        other.write_text("mine")
    if kind.endswith("link"):
        path.symlink_to(other)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(OSError, match=r"it is a link|not an ordinary file|[Ii]s a directory"), locked_file(path):
        pass
    assert other.exists() == (kind == "link")


@POSIX
def test_a_file_system_without_locks_locks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", flock)
    with locked_file(tmp_path / "lock"), locked_file(tmp_path / "lock"):
        pass

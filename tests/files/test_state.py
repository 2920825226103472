"""Files that Regretless names itself: ordinary ones only, whatever else lies under their names."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from regretless.errors import InvalidFile
from regretless.files import state
from regretless.files.fields import DamagedFields, Fields
from regretless.files.state import (
    check_state,
    check_state_folder,
    create_state,
    lock_state,
    open_state,
    read_state,
    remove_state,
    replace_state,
    state_folder,
)


def create(path: Path, root: Path) -> None:
    create_state(path, root).close()


def lock(path: Path, root: Path) -> None:
    with lock_state(path, root, wait=False):
        pass


def read(path: Path, root: Path) -> None:
    read_state(path, root, maximum=100)


def replace(path: Path, root: Path) -> None:
    with replace_state(path, root) as temporary:
        temporary.write_text("new")


ACCESSES = (create, lock, read, replace, remove_state)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file outside the folder, which no access may change."""
    path = tmp_path / "outside" / "secret.txt"
    path.parent.mkdir()
    path.write_text("precious")
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "root"
    (path / "state").mkdir(parents=True)
    return path


@pytest.mark.parametrize("access", ACCESSES)
def test_a_link_is_not_followed(access: Callable[[Path, Path], None], root: Path, secret: Path) -> None:
    for target in (secret, secret.parent / "absent.txt"):
        link = root / "state" / "file"
        link.symlink_to(target)
        with pytest.raises(InvalidFile, match="state/file: is a link, which Regretless does not follow"):
            access(link, root)
        assert link.is_symlink()
        link.unlink()
    assert os.listdir(secret.parent) == ["secret.txt"]
    assert secret.read_text() == "precious"


@pytest.mark.parametrize("access", ACCESSES)
def test_a_folder_on_the_way_that_is_a_link_is_not_followed(
    access: Callable[[Path, Path], None], root: Path, secret: Path
) -> None:
    (root / "linked").symlink_to(secret.parent)
    for path in (root / "linked" / "secret.txt", root / "linked" / "absent" / "file"):
        with pytest.raises(InvalidFile, match="linked: is a link"):
            access(path, root)
    assert os.listdir(secret.parent) == ["secret.txt"]
    assert secret.read_text() == "precious"


@pytest.mark.parametrize("access", ACCESSES)
def test_a_pipe_a_device_and_a_folder_are_refused_at_once(access: Callable[[Path, Path], None], root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "folder").mkdir()
    for path, folder in ((root / "pipe", root), (Path("/dev/zero"), Path("/dev"))):
        with pytest.raises(InvalidFile, match="is not an ordinary file"):
            access(path, folder)
    with pytest.raises(InvalidFile, match="is a folder, not a file"):
        access(root / "folder", root)
    with pytest.raises(InvalidFile, match="pipe: is not a folder"):
        access(root / "pipe" / "file", root)


def test_the_folder_that_a_person_named_may_be_a_link(root: Path, tmp_path: Path) -> None:
    named = tmp_path / "named"
    named.symlink_to(root)
    replace(named / "state" / "file", named)
    assert read_state(named / "state" / "file", named, maximum=100) == b"new"
    assert state_folder(named / "state" / "more", named).is_dir()


def test_what_becomes_a_link_after_the_check_is_not_followed(
    root: Path, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "state" / "file").symlink_to(secret)
    (root / "linked").symlink_to(secret.parent)
    for module in ("check_state", "check_state_folder"):
        monkeypatch.setattr(f"regretless.files.state.{module}", lambda path, root: None)
    for path in (root / "state" / "file", root / "linked" / "secret.txt"):
        for access in (create, lock):
            with pytest.raises(OSError, match=r"symbolic links|Not a directory"):
                access(path, root)
    with pytest.raises(OSError, match=r"symbolic links|Not a directory"):
        state_folder(root / "linked" / "new", root)
    replace(root / "state" / "file", root)  # takes the place of the link
    assert not (root / "state" / "file").is_symlink()
    os.mkfifo(root / "pipe")
    with pytest.raises(InvalidFile, match="is not an ordinary file"):
        open_state(root / "pipe", root, os.O_RDONLY)
    assert os.listdir(secret.parent) == ["secret.txt"]
    assert secret.read_text() == "precious"


def test_a_file_with_another_name_is_not_emptied(root: Path, secret: Path) -> None:
    os.link(secret, root / "file")
    with pytest.raises(InvalidFile, match="has another name too"):
        create(root / "file", root)
    lock(root / "file", root)
    replace(root / "file", root)
    assert secret.read_text() == "precious"


def test_a_lock_changes_nothing_and_one_has_it(root: Path) -> None:
    file = root / "file"
    file.write_text("as it was")
    with lock_state(file, root, wait=False) as first, lock_state(file, root, wait=False) as second:
        assert (first, second) == (True, False)
    with lock_state(file, root, wait=True) as again:
        assert again
    assert file.read_text() == "as it was"


def test_only_so_much_is_read(root: Path) -> None:
    file = root / "large.json"
    with open(file, "wb") as opened:
        opened.truncate(2**40)
    assert read_state(file, root, maximum=10) == bytes(10)
    with pytest.raises(DamagedFields, match="is too large"):
        Fields.read(file, root, largest=1000)
    for content in (b"", b"\xff", b"[" * 100_000, b"[]", b'{"a": 1' + b"0" * 5000 + b"}"):
        file.write_bytes(content)
        with pytest.raises(DamagedFields, match="is damaged"):
            Fields.read(file, root, largest=10**6)


def test_a_file_is_created_empty_and_absent_ones_pass_the_check(root: Path) -> None:
    file = state_folder(root / "a" / "b", root) / "file"
    check_state(file, root)
    check_state_folder(root / "absent" / "more", root)
    for _ in range(2):
        with closing(create_state(file, root)) as opened:
            opened.write(b"log")
        assert file.read_bytes() == b"log"
    with pytest.raises(InvalidFile, match="no such file or directory"):
        read(root / "absent", root)


@pytest.mark.skipif(os.name != "posix", reason="flock")
def test_a_file_system_without_locks_locks_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", flock)
    with lock_state(root / "lock", root, wait=False) as first, lock_state(root / "lock", root, wait=False) as second:
        assert first
        assert second


@pytest.mark.parametrize(
    ("wait", "failures", "locked"),
    [
        (True, [errno.EACCES, errno.EACCES], True),
        (True, [errno.EINVAL], True),  # a file system without locks
        (False, [errno.EINVAL], True),
        (False, [errno.EACCES], False),
        (False, [], True),
    ],
)
def test_windows_waits_until_a_file_is_free(
    root: Path, monkeypatch: pytest.MonkeyPatch, wait: bool, failures: list[int], locked: bool
) -> None:
    failures = list(failures)

    def locking(descriptor: int, mode: int, count: int) -> None:
        if failures:
            number = errno.EDEADLK if mode == 1 else failures.pop(0)  # LK_LOCK: ten seconds are over
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(state, "sys", SimpleNamespace(platform="win32"))
    monkeypatch.setattr(state, "LOCK_INTERVAL", 0.0)
    monkeypatch.setattr(state, "msvcrt", SimpleNamespace(LK_LOCK=1, LK_NBLCK=2, locking=locking), raising=False)
    with lock_state(root / "lock", root, wait=wait) as is_locked:
        assert is_locked is locked
    assert not failures

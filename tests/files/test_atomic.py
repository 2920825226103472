"""A file appears complete or not at all, whatever happens while it is written."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from regretless import Solution, load
from regretless.errors import InvalidFile
from regretless.files import atomic, check_writable, replace_file, tensor_file
from regretless.files.atomic import create_temporary_folder
from regretless.files.container import open_container, write_container


def failing(number: int) -> Any:
    def fail(*arguments: object, **options: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(
    step: str, kuhn: Solution, kuhn_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = kuhn_file.read_bytes()
    monkeypatch.setattr(os, step, failing(errno.ENOSPC))
    with pytest.raises(InvalidFile, match="cannot be written: no space left on device"):
        kuhn.save(kuhn_file)
    monkeypatch.undo()
    assert kuhn_file.read_bytes() == before
    assert [path.name for path in kuhn_file.parent.iterdir()] == ["kuhn.rgl"]


def test_a_write_that_the_system_cuts_short(tmp_path: Path) -> None:
    """The system itself refuses to write more than 1,000 bytes to a file, as a full disk would."""
    code = f"""
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from regretless import solve
from regretless.errors import InvalidFile
solution = solve("kuhn", iterations=2, engine="reference")
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    solution.save({str(tmp_path / "kuhn.rgl")!r})
except InvalidFile as error:
    print(error)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "kuhn.rgl: cannot be written: " in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_read_only_folder_is_noticed_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "open", failing(errno.EROFS))  # permissions do not stop the superuser
    with pytest.raises(InvalidFile, match="cannot be written: read-only file system"):
        check_writable(tmp_path / "kuhn.rgl")


def test_a_folder_without_permission(kuhn: Solution, read_only_folder: Path) -> None:
    for write in (check_writable, kuhn.save):
        with pytest.raises(InvalidFile, match="cannot be written: permission denied"):
            write(read_only_folder / "kuhn.rgl")


def test_paths_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, why in [
        (tmp_path, "it is a folder"),
        (tmp_path / "none" / "kuhn.rgl", "does not exist"),
        (tmp_path / "file" / "kuhn.rgl", "is not a folder"),
        (Path("/dev/full"), "it is not an ordinary file"),
        (tmp_path / ("x" * 300), "file name too long"),
        (Path("a\0b"), "null"),
    ]:
        with pytest.raises(InvalidFile, match=why):
            check_writable(path)


def test_checking_leaves_nothing_behind(kuhn_file: Path) -> None:
    before = kuhn_file.read_bytes()
    check_writable(kuhn_file)
    check_writable(kuhn_file.with_name("new.rgl"))
    assert [path.name for path in kuhn_file.parent.iterdir()] == ["kuhn.rgl"]
    assert kuhn_file.read_bytes() == before


def test_an_error_or_an_interrupt_on_the_way_leaves_nothing(tmp_path: Path) -> None:
    def write_half(problem: type[BaseException]) -> None:
        with replace_file(tmp_path / "new.txt") as temporary:
            temporary.write_text("half")
            raise problem

    for problem in (ValueError, KeyboardInterrupt):
        with pytest.raises(problem):
            write_half(problem)
    assert list(tmp_path.iterdir()) == []


def test_the_next_writer_removes_what_a_killed_process_left(tmp_path: Path) -> None:
    code = f"""
import os, signal
from regretless.files import replace_file
with replace_file({str(tmp_path / "killed.rgl")!r}) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    for write in (check_writable, lambda path: save_text(path, "whole")):
        assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGKILL
        assert [path.suffix for path in tmp_path.iterdir()] == [".part"]
        write(tmp_path / "other.txt")
        assert {path.name for path in tmp_path.iterdir()} <= {"other.txt"}


def save_text(path: Path, text: str) -> None:
    with replace_file(path) as temporary:
        temporary.write_text(text)


def test_a_file_that_another_process_is_writing_is_left_alone(tmp_path: Path) -> None:
    code = f"""
from regretless.files import replace_file
with replace_file({str(tmp_path / "slow.txt")!r}) as temporary:
    temporary.write_text("slow")
    print(temporary.name, flush=True)
    input()
"""
    writer = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    name = writer.stdout.readline().strip()
    for notes in (".notes.part", "x.0123abcd.part"):  # one has no id, the other is not hidden: neither is ours
        (tmp_path / notes).touch()
    save_text(tmp_path / "quick.txt", "quick")
    assert {path.name for path in tmp_path.iterdir()} == {name, "quick.txt", ".notes.part", "x.0123abcd.part"}
    writer.communicate("\n")
    assert (tmp_path / "slow.txt").read_text() == "slow"
    assert not (tmp_path / name).exists()


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked on Windows")
def test_the_next_writer_removes_a_killed_process_s_folder_but_no_live_one_s(tmp_path: Path) -> None:
    outside, parent = tmp_path / "outside", tmp_path / "parent"
    for folder in (outside, parent):
        folder.mkdir()
    (outside / "kept").touch()
    code = f"""
import os, signal
from regretless.files.atomic import create_temporary_folder
folder, _ = create_temporary_folder({str(parent)!r}, "shards")
(folder / "deep").mkdir()
(folder / "deep" / "data").touch()
(folder / "link").symlink_to({str(outside)!r})
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGKILL
    live, unlock = create_temporary_folder(parent, "shards")
    (parent / ".shards.0123abcd").mkdir()  # not ours
    assert len(list(parent.iterdir())) == 3
    save_text(parent / "note.txt", "whole")
    assert {path.name for path in parent.iterdir()} == {live.name, ".shards.0123abcd", "note.txt"}
    assert (outside / "kept").exists()
    unlock()
    check_writable(parent / "note.txt")
    assert not live.exists()


def test_a_process_that_ends_at_once_takes_its_temporary_files_along(tmp_path: Path) -> None:
    code = f"""
import os
from regretless.files.atomic import remove_temporary_files, replace_file
with replace_file({str(tmp_path / "new.txt")!r}) as temporary:
    temporary.write_text("half")
    remove_temporary_files()
    os._exit(0)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_a_link_stays_a_link(kuhn: Solution, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    link = tmp_path / "kuhn.rgl"
    link.symlink_to(tmp_path / "store" / "real.rgl")
    kuhn.save(link)
    assert link.is_symlink()
    assert load(tmp_path / "store" / "real.rgl").iterations == 60


def test_permissions_are_those_of_any_new_file(kuhn: Solution, tmp_path: Path) -> None:
    kuhn.save(tmp_path / "kuhn.rgl")
    (tmp_path / "plain.txt").touch()
    assert (tmp_path / "kuhn.rgl").stat().st_mode == (tmp_path / "plain.txt").stat().st_mode


def test_the_disk_has_the_file_before_it_is_renamed_and_then_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace

    def noted_fsync(descriptor: int) -> None:
        steps.append("keep folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "keep file")
        fsync(descriptor)

    def noted_replace(source: Path, target: Path) -> None:
        steps.append("rename")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(os, "replace", noted_replace)
    with replace_file(tmp_path / "note.txt") as temporary:
        temporary.write_text("whole", encoding="utf-8")
    assert steps == ["keep file", "rename", "keep folder"]


def test_nothing_appears_once_a_process_is_about_to_end(tmp_path: Path) -> None:
    """A thread that begins to save after the temporary files are removed waits until the process has ended."""
    code = """
import os, threading
from regretless.files.atomic import remove_temporary_files, replace_file

def write():
    with replace_file("note.txt") as temporary:
        temporary.write_text("whole")

remove_temporary_files()
thread = threading.Thread(target=write, daemon=True)
thread.start()
thread.join(0.5)
print(os.listdir(), thread.is_alive(), flush=True)
os._exit(0)
"""
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert result.stdout == "[] True\n", result.stderr


# --- Windows, which neither removes nor replaces a file that is open -------------------------------------------------


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (atomic, tensor_file):
        monkeypatch.setattr(module, "sys", SimpleNamespace(platform="win32"), raising=False)

    def refusing(change: Any) -> Any:
        def refuse_open_files(*paths: Any, **options: Any) -> None:
            names = {os.path.realpath(path) for path in paths}
            for descriptor in os.listdir("/proc/self/fd"):
                if os.path.realpath(f"/proc/self/fd/{descriptor}") in names:
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            change(*paths, **options)

        return refuse_open_files

    monkeypatch.setattr(os, "replace", refusing(os.replace))
    monkeypatch.setattr(os, "unlink", refusing(os.unlink))


@pytest.mark.usefixtures("windows")
@pytest.mark.skipif(sys.platform != "linux", reason="lists open files in /proc")
def test_windows_replaces_files_that_are_closed_first(kuhn: Any, tmp_path: Path) -> None:
    path = tmp_path / "kuhn.rgl"
    kuhn.save(path)
    loaded = load(path)
    kuhn.save(path)
    loaded.save(path)
    again: Any = load(path)
    assert again.strategy == kuhn.strategy
    assert [each.name for each in tmp_path.iterdir()] == ["kuhn.rgl"]


@pytest.mark.usefixtures("windows")
@pytest.mark.skipif(sys.platform != "linux", reason="lists open files in /proc")
def test_on_windows_a_file_is_opened_for_each_read_and_may_be_replaced_between(tmp_path: Path) -> None:
    path = tmp_path / "a.rgl"
    arrays = {"first": np.arange(6).reshape(2, 3), "second": np.arange(4).reshape(2, 2)}
    write_container(path, "example", {}, arrays)
    opened = open_container(path)
    assert opened.row("first", 1).tolist() == [3, 4, 5]
    write_container(path, "example", {}, arrays)
    with pytest.raises(InvalidFile, match="was replaced after it was opened: load it again"):
        opened.row("second", 0)


@pytest.mark.usefixtures("windows")
def test_windows_removes_leftovers_only_after_a_while(tmp_path: Path) -> None:
    """Between closing and renaming, nothing but its age protects a file from other processes."""
    young, old = tmp_path / ".a.rgl.0123abcd.part", tmp_path / ".b.rgl.0123abcd.part"
    for path in (young, old):
        path.touch()
    os.utime(old, (0, 0))
    save_text(tmp_path / "note.txt", "whole")
    assert {path.name for path in tmp_path.iterdir()} == {young.name, "note.txt"}

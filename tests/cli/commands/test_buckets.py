"""`regretless buckets`: what it prints, how it fails, and that a killed build is continued."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import regretless as rl
from regretless.cli import main
from regretless.holdem.buckets import Buckets

SOURCE = str(Path(__file__).parents[3] / "src")
QUICK = ["--board", "As7s6s", "--turn", "20", "--river", "30", "--sample", "2000", "--threads", "1"]
# Saving waits until the file `go` exists, and says by the file `waiting` that it does.
GATED = """
import sys, time
from pathlib import Path
from regretless.holdem.buckets import build

def write(path, plan, tables, write=build.write_tables):
    write(path, plan, tables)
    while not Path("go").exists():
        Path("waiting").touch()
        time.sleep(0.01)

build.write_tables = write
from regretless.cli import main
sys.exit(main())
"""


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a build that was not stopped."""
    path = tmp_path_factory.mktemp("whole") / "whole.rgl"
    assert main(["buckets", *QUICK, "--out", str(path)]) == 0
    return path.read_bytes()


def test_it_prints_what_it_built(here, capsys, whole):
    assert main(["buckets", *QUICK, "--json"]) == 0
    printed = capsys.readouterr()
    answer = json.loads(printed.out)
    assert answer["file"] == "buckets-As7s6s-0-20-30.rgl"
    assert answer["streets"]["turn"]["buckets"] == 20
    assert answer["streets"]["river"]["situations"] > 100_000
    assert all(street[name] > 0 for street in answer["streets"].values() for name in ("seconds", "cpu_seconds"))
    assert answer["file_bytes"] == (here / answer["file"]).stat().st_size
    assert "on 1 thread\n" in printed.err
    table = Buckets.load(answer["file"])
    assert [table.count(street) for street in table.streets] == [169, 20, 30]
    assert (here / answer["file"]).read_bytes() == whole


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--flop", "70000"], 1, "flop: 70000 must be from 1 to 65,535 buckets"),
        (["--board", "Qs"], 1, "board: 'Qs' must be a flop: three different cards"),
        (["--board", "QsQs2h"], 1, "Qs appears twice"),
        (["--method", "ward"], 1, "method: 'ward' is not one of kmeans, percentile"),
        (["--flop", "0", "--turn", "0", "--river", "0"], 1, "no street has buckets"),
        (["--threads", "0"], 1, "threads: 0 must be at least 1"),
        (["--device", "mps"], 1, "device: 'mps' is not one of auto, cpu, cuda"),
        (["--sample", "5"], 1, "sample: 5 must be from 1,000"),
        ([*QUICK, "--out", "no/such/folder.rgl"], 1, "cannot be written: the folder no/such does not exist"),
        (
            ["--board", "As7s6s", "--turn", "60000", "--river", "0", "--sample", "1000"],
            1,
            "turn: 60000 must be at most",
        ),
    ],
)
def test_wrong_requests_are_answered_in_one_sentence(here, capsys, arguments, code, sentence):
    assert main(["buckets", *arguments]) == code
    assert sentence in capsys.readouterr().err
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"my notes", None])
def test_a_file_of_another_kind_is_not_overwritten(here, capsys, content):
    if content is None:
        rl.solve("kuhn", iterations=3).save("mine.rgl")
        content = (here / "mine.rgl").read_bytes()
    (here / "mine.rgl").write_bytes(content)
    assert main(["buckets", *QUICK, "--out", "mine.rgl"]) == 1
    sentence = "mine.rgl: exists and is not a table of card buckets: choose another name or delete it"
    assert sentence in capsys.readouterr().err
    assert (here / "mine.rgl").read_bytes() == content


def test_a_finished_table_is_built_again(here, whole):
    (here / "t.rgl").write_bytes(whole)
    assert main(["buckets", *QUICK, "--out", "t.rgl"]) == 0
    assert (here / "t.rgl").read_bytes() == whole


def test_a_table_that_does_not_fit(here, capsys, monkeypatch):
    monkeypatch.setattr("regretless.holdem.buckets.division.available_bytes", lambda: 10**8)
    assert main(["buckets"]) == 3
    assert "but only 100 MB are free" in capsys.readouterr().err


def start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """The command as a process, with stderr in a file so that it can be watched."""
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    return subprocess.Popen(
        [sys.executable, "-c", GATED, "buckets", *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=(folder / "log").open("wb"),
    )


def wait_until(process: subprocess.Popen[bytes], happened: Callable[[], bool], seconds: float = 600.0) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_build_that_was_stopped_is_continued(here, capsys, sent, whole):
    process = start(here, *QUICK, "--out", "t.rgl")
    wait_until(process, (here / "waiting").exists)  # the first checkpoint is written
    process.send_signal(sent)
    if sent == signal.SIGINT:
        wait_until(process, lambda: "stopping after the current boards" in (here / "log").read_text())
        (here / "go").touch()
    process.communicate(timeout=600)
    if sent == signal.SIGINT:
        assert process.returncode == 130
        said = (here / "log").read_text()
        lines = said.splitlines()
        assert "of the table is done; continue it with" in lines[-2]
        command = lines[-1].split()
        assert command[:2] == ["regretless", "buckets"]
        assert "Traceback" not in said
        again = [word.strip("'") for word in lines[-1].split("buckets ", 1)[1].split()]
        assert again[-2:] == ["--out", "t.rgl"]
    with pytest.raises(Exception, match="unfinished table"):
        Buckets.load(here / "t.rgl")
    assert main(["buckets", *QUICK, "--out", "t.rgl"]) == 0
    assert "river" in capsys.readouterr().out
    assert (here / "t.rgl").read_bytes() == whole
    assert sorted(path.suffix for path in here.iterdir() if path.name not in ("waiting", "go", "log")) == [".rgl"]

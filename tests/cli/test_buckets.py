"""`regretless buckets`: what it prints, how it fails, and that a killed build is continued."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from regretless.cli import main
from regretless.holdem.buckets import Buckets

SOURCE = str(Path(__file__).parent.parent.parent / "src")
QUICK = ["--board", "As7s6s", "--turn", "20", "--river", "30", "--sample", "2000", "--threads", "1"]
COMMAND = [sys.executable, "-m", "regretless", "buckets"]
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


def test_it_prints_what_it_built(here, capsys):
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
    assert main(["buckets", *QUICK, "--out", "again.rgl"]) == 0
    assert "river" in capsys.readouterr().out
    assert (here / "again.rgl").read_bytes() == (here / answer["file"]).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--flop", "70000"], 1, "flop: 70000 must be from 1 to 65,535 buckets"),
        (["--board", "Qs"], 1, "board: 'Qs' must be a flop: three different cards"),
        (["--board", "QsQs2h"], 1, "Qs appears twice"),
        (["--method", "ward"], 1, "method: 'ward' is not one of kmeans, percentile"),
        (["--flop", "0", "--turn", "0", "--river", "0"], 1, "no street has buckets"),
        (["--threads", "0"], 1, "threads: 0 must be from 1 to 1,024"),
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


def test_a_table_that_does_not_fit(here, capsys, monkeypatch):
    monkeypatch.setattr("regretless.holdem.buckets.estimate.available_bytes", lambda: 10**8)
    assert main(["buckets"]) == 3
    assert "but only 0.1 GiB are free" in capsys.readouterr().err


def start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    return subprocess.Popen(
        [sys.executable, "-c", GATED, "buckets", *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def wait_for(path: Path, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_build_that_was_stopped_is_continued(here, capsys, sent):
    process = start(here, *QUICK, "--out", "t.rgl")
    wait_for(here / "waiting")  # the first checkpoint is written
    process.send_signal(sent)
    if sent == signal.SIGINT:
        time.sleep(0.5)
        (here / "go").touch()
    _, said = process.communicate(timeout=120)
    if sent == signal.SIGINT:
        assert process.returncode == 130
        lines = said.decode().splitlines()
        assert "of the table is done; continue it with" in lines[-2]
        command = lines[-1].split()
        assert command[:2] == ["regretless", "buckets"]
        assert "Traceback" not in said.decode()
        again = [word.strip("'") for word in said.decode().splitlines()[-1].split("buckets ", 1)[1].split()]
        assert again[-2:] == ["--out", "t.rgl"]
    with pytest.raises(Exception, match="unfinished table"):
        Buckets.load(here / "t.rgl")
    assert main(["buckets", *QUICK, "--out", "t.rgl"]) == 0
    assert main(["buckets", *QUICK, "--out", "whole.rgl"]) == 0
    assert (here / "t.rgl").read_bytes() == (here / "whole.rgl").read_bytes()
    assert sorted(path.suffix for path in here.iterdir() if path.name not in ("waiting", "go")) == [".rgl", ".rgl"]

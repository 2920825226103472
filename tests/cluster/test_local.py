"""A study on processes of this machine, through the command: killed, interrupted, resumed."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from tests.cluster.studies import FLOPS, solve_here, start_command, study_text, tables

pytest.importorskip("pyarrow")

# Every process imports this when it starts: a worker waits for the file `open` before it says that its second spot is
# done, so that a study cannot end before a test has stopped it.
GATE = """
import json, time
from pathlib import Path

said = []

def dumps(value, *arguments, dumps=json.dumps, **options):
    if isinstance(value, dict) and "spot" in value:
        said.append(value)
        while len(said) == 2 and not Path({open!r}).exists():
            time.sleep(0.01)
    return dumps(value, *arguments, **options)

json.dumps = dumps
"""


def finished(folder: Path) -> int:
    return len(list((folder / "runs").glob("[!.]*.parquet")))


def wait_until_half_done(process: object, folder: Path) -> None:
    end = time.monotonic() + 600
    while finished(folder) < 2:
        assert time.monotonic() < end
        assert process.poll() is None, process.communicate()  # type: ignore[attr-defined]
        time.sleep(0.01)


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(each) for each in found.read_text().split()] if found.exists() else []


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file without which a study that is started comes no further than half way."""
    folder = tmp_path / "gate"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(GATE.format(open=str(folder / "open")), encoding="utf-8")
    before = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{before}" if before else str(folder))
    return folder / "open"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    file = tmp_path / "six.toml"
    file.write_text(study_text())
    return file


def test_a_killed_run_is_resumed_to_the_bit(study: Path, gate: Path, tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    command = ("study", "run", study, "--out", folder, "--workers", 1, "--threads", 1, "--json")
    first = start_command(*command)
    wait_until_half_done(first, folder)
    workers = children(first.pid)
    first.kill()
    first.communicate()
    before = finished(folder)
    assert 2 <= before < len(FLOPS)
    end = time.monotonic() + 600
    while any(map(is_running, workers)):  # they end by themselves
        assert time.monotonic() < end
        time.sleep(0.02)
    gate.touch()
    resumed = start_command(*command)
    out, err = resumed.communicate()
    assert resumed.returncode == 0, err
    answer = json.loads(out)
    assert (answer["done"], answer["errors"]) == (len(FLOPS), [])
    assert answer["solved"] <= len(FLOPS) - before
    solve_here(study.read_text(), tmp_path / "whole")
    assert tables(folder) == tables(tmp_path / "whole")
    assert len(tables(folder)) == 2 * len(FLOPS) + 2
    assert not list(folder.rglob("*.part"))


def test_ctrl_c_stops_cleanly_and_says_how_to_resume(study: Path, gate: Path, tmp_path: Path) -> None:
    folder = tmp_path / "stopped"
    process = start_command("study", "run", study, "--out", folder, "--workers", 1)
    wait_until_half_done(process, folder)
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 130, err
    assert "stopping: unfinished spots are left for the next run" in err
    assert f"regretless study run {study} --out {folder} --workers 1" in err
    assert 2 <= finished(folder) < len(FLOPS)
    assert not list(folder.rglob("*.part"))
    assert not (folder / "run.token").exists()


@pytest.mark.slow
def test_a_killed_worker_is_replaced(study: Path, gate: Path, tmp_path: Path) -> None:
    folder = tmp_path / "worker"
    process = start_command("study", "run", study, "--out", folder, "--workers", 1, "--json")
    wait_until_half_done(process, folder)
    for worker in children(process.pid):
        os.kill(worker, signal.SIGKILL)
    gate.touch()
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    assert json.loads(out)["done"] == len(FLOPS)

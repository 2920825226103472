"""Two hundred pairs of runs that start in the same folder at the same time: one is refused, the other is complete."""

from __future__ import annotations

import json
import multiprocessing
import shutil
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from tests.cluster.studies import InlineExecutor, solve_here, start_command, study_text, tables

from regretless.cluster.jobs import SpotOutcome, StudyJob, solve_job
from regretless.errors import InvalidFile

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.slow

IN_PROCESSES = 176  # pairs in two processes that live on; the others are pairs of commands
COMMANDS = 24
TEXT = study_text(("9s8s7s",), iterations=1)
REFUSED = "has a run in progress: another process is solving the study there"
# Every process imports this when it starts: a worker waits for the file `open` before it says that a spot is done.
GATE = """
import json, time
from pathlib import Path

def dumps(value, *arguments, dumps=json.dumps, **options):
    while isinstance(value, dict) and "spot" in value and not Path({open!r}).exists():
        time.sleep(0.01)
    return dumps(value, *arguments, **options)

json.dumps = dumps
"""


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("studies") / "solved"
    assert solve_here(TEXT, folder).done == 1
    return folder


def prepare(folder: Path, solved: Path, number: int) -> None:
    """A new folder, or one that a killed run left with its token, its lock and perhaps a solved spot."""
    if number % 3 == 1:
        shutil.copytree(solved, folder)
        (folder / "run.token").write_text("0123456789abcdef")
        (folder / "runs" / "9s8s7s.parquet").unlink()
    elif number % 3 == 2:
        folder.mkdir()
        (folder / "run.lock").touch()


def run_each(orders: Connection) -> None:
    """Run the study in each folder that is sent, and answer with the refusal or the number of spots that are done."""

    def after_the_other(job: StudyJob, tell: Callable[[SpotOutcome], None]) -> None:
        orders.send("running")
        orders.recv()
        solve_job(job, tell)

    while True:
        folder = orders.recv()
        try:
            run = solve_here(TEXT, Path(folder), InlineExecutor(after_the_other))
            orders.send(run.done if not run.errors else str(run.errors))
        except InvalidFile as error:
            orders.send(str(error))


@pytest.fixture
def pair() -> Iterator[list[Connection]]:
    """Two processes that run studies."""
    context = multiprocessing.get_context("spawn")
    pipes = [context.Pipe() for _ in range(2)]
    processes = [context.Process(target=run_each, args=(theirs,)) for _, theirs in pipes]
    for process in processes:
        process.start()
    yield [ours for ours, _ in pipes]
    for process in processes:  # one may still wait for an order, if the test failed
        process.kill()
        process.join()


def test_pairs_of_runs(pair: list[Connection], solved: Path, tmp_path: Path) -> None:
    firsts = set()
    for number in range(IN_PROCESSES):
        folder = tmp_path / str(number)
        prepare(folder, solved, number)
        for process in pair:
            process.send(str(folder))
        answers = [process.recv() for process in pair]
        assert sorted(answers) == sorted([f"{folder}: {REFUSED}", "running"]), "one waits, the other is refused"
        first = pair[answers.index("running")]
        first.send("solve")
        assert first.recv() == 1
        assert tables(folder) == tables(solved)
        assert not list(folder.rglob("*.part"))
        firsts.add(answers.index("running"))
    assert firsts == {0, 1}


def test_pairs_of_commands(solved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study, gate = tmp_path / "one.toml", tmp_path / "gate"
    study.write_text(TEXT)
    for number in range(COMMANDS):
        folder, is_open = tmp_path / str(number), gate / str(number)
        prepare(folder, solved, number)
        gate.mkdir(exist_ok=True)
        (gate / "sitecustomize.py").write_text(GATE.format(open=str(is_open)), encoding="utf-8")
        monkeypatch.setenv("PYTHONPATH", str(gate))
        command = ("study", "run", study, "--out", folder, "--workers", 1, "--threads", 1, "--json")
        both = [start_command(*command) for _ in range(2)]
        end = time.monotonic() + 120
        while all(process.poll() is None for process in both):
            assert time.monotonic() < end
            time.sleep(0.02)
        is_open.touch()
        ended = {process.wait(timeout=120): process.communicate() for process in both}
        assert sorted(ended) == [0, 1], ended
        assert ended[1] == ("", f"error: {folder}: {REFUSED}\n")
        answer = json.loads(ended[0][0])
        assert (answer["done"], answer["errors"]) == (1, [])
        assert tables(folder) == tables(solved)

"""Flops solved one after another by one process: saved, stopped, and refused in one sentence."""

from __future__ import annotations

import queue
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.page.serving import SLOW, TURN

from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.spot import Spot
from regretless.solving.options import SolveOptions
from regretless.supervision import Message, WorkerProcess
from regretless.workers.flops import MODULE, STOP, FlopTask

if sys.platform != "win32":
    import resource

OPTIONS = {"target": 1.0, "threads": 1, "device": "cpu"}


class FlopWorker:
    """A process that solves flops, and what it reports; a turn is solved like a flop."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reports: queue.Queue[Message | str] = queue.Queue()
        log = tempfile.TemporaryFile()  # noqa: SIM115  closed when the process has ended
        self.process = WorkerProcess(MODULE, log, self.reports.put, self.reports.put)

    def solve(self, fields: dict[str, Any], name: str, **options: Any) -> None:
        spot = Spot.from_mapping(fields | {"name": name})
        read = SolveOptions.read(OPTIONS | options)
        self.process.send(FlopTask(toml=spot.to_toml(), folder=str(self.folder), path=name, options=read).line())

    def until(self, *names: str) -> Message:
        """The first event with one of these names."""
        while True:
            report = self.reports.get(timeout=300)
            assert isinstance(report, dict), report
            if report["event"] in names:
                return report


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[FlopWorker]:
    worker = FlopWorker(tmp_path / "flops")
    yield worker
    worker.process.hang_up()
    while not isinstance(report := worker.reports.get(timeout=300), str):
        pass
    assert report == "ended with code 0"


def test_one_process_solves_flop_after_flop(worker: FlopWorker) -> None:
    worker.solve(TURN, "one")
    assert worker.until("progress")["exploitability"] > 0
    assert worker.until("end")["state"] == "done"
    solution = SpotSolution.load(worker.folder / "one.rgl")
    assert solution.exploitability_pct_pot <= 1.0
    worker.solve(SLOW, "two", target=1e-9)
    worker.until("progress")
    worker.process.send(STOP)
    assert worker.until("end")["state"] == "stopped"
    assert not (worker.folder / "two.rgl").exists()
    worker.process.send(STOP)  # too late for the second, and not meant for the third
    worker.solve(TURN, "three")
    assert worker.until("end")["state"] == "done"
    worker.solve(TURN, "one")
    assert worker.until("end", "progress")["event"] == "end"  # read from its file


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux")
def test_every_flop_may_take_what_is_free_then(worker: FlopWorker) -> None:
    worker.solve(TURN, "one")
    assert worker.until("end")["state"] == "done"
    kind, pid = resource.RLIMIT_DATA, worker.process.pid
    limit, hard = resource.prlimit(pid, kind)
    resource.prlimit(pid, kind, (limit // 2, hard))  # as if half had been free then
    worker.solve(TURN, "two")
    assert worker.until("end")["state"] == "done"
    assert resource.prlimit(pid, kind)[0] > limit // 2


def test_what_cannot_be_solved_ends_no_process(worker: FlopWorker) -> None:
    worker.solve(TURN, "one", device="cuda", threads=None)
    assert "cuda" in worker.until("error", "end").get("message", "cuda").lower()
    worker.solve(TURN, "two")
    assert worker.until("end")["state"] == "done"

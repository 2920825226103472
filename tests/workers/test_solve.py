"""One solve in a process of its own: what it reports, how it stops, and checkpoints that can be read."""

from __future__ import annotations

import queue
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.page.serving import RIVER, SLOW, TURN

import regretless as rl
from regretless.holdem import Spot, SpotSolution
from regretless.holdem.problem import SpotProblem
from regretless.solving.options import SolveOptions
from regretless.solving.request import make_request
from regretless.solving.solve import Hooks, solve
from regretless.supervision import Message, WorkerProcess
from regretless.workers.solve import MODULE, SolveTask


class Followed:
    """A worker with a task, and what it reports."""

    def __init__(self, folder: Path, options: dict[str, Any], **fields: str) -> None:
        self.reports: queue.Queue[Message | str] = queue.Queue()
        log = tempfile.TemporaryFile()  # noqa: SIM115  closed when the process has ended
        self.process = WorkerProcess(MODULE, log, self.reports.put, self.reports.put)
        paths = {"folder": str(folder), "file": str(folder / "solved.rgl"), "lock": str(folder / "lock")}
        self.process.send(SolveTask(**paths, **fields, options=SolveOptions.read(options)).line())

    def until(self, name: str) -> list[Message]:
        """The events up to and including one."""
        seen: list[Message] = []
        while not seen or seen[-1]["event"] != name:
            report = self.reports.get(timeout=300)
            assert isinstance(report, dict), report
            seen.append(report)
        return seen

    def exit(self) -> str:
        """Why the process ended, whatever it reported before."""
        while not isinstance(report := self.reports.get(timeout=300), str):
            pass
        return report


def toml(fields: dict[str, Any]) -> str:
    return Spot.from_mapping(fields).to_toml()


def test_a_spot_is_solved_and_saved(tmp_path: Path) -> None:
    worker = Followed(tmp_path, toml=toml(RIVER), options={"target": 1.0, "threads": 1})
    seen = worker.until("end")
    assert worker.exit() == "ended with code 0"
    names = [event["event"] for event in seen]
    assert names.index("ready") < names.index("point") < names.index("saved")
    solution = rl.load(tmp_path / "solved.rgl")
    assert (seen[-1]["state"], seen[-1]["reason"], seen[-1]["iteration"]) == ("done", "target", solution.iterations)
    assert seen[-1]["exploitability"] == solution.scale * solution.exploitability <= 1.0


@pytest.mark.parametrize("pot", [5.5, 180])
def test_the_target_is_reported_as_it_was_given(tmp_path: Path, pot: float) -> None:
    """In chips and back, 0.3 % would become 0.30000000000000004 %."""
    spot = toml(RIVER | {"pot": pot, "rules": {"chip": 0.01}})
    worker = Followed(tmp_path, toml=spot, options={"target": 0.3, "threads": 1})
    assert worker.until("ready")[-1]["target"] == 0.3
    worker.process.hang_up()
    worker.exit()


@pytest.mark.parametrize("ends", ["stop", "hang up"])
def test_a_solve_that_is_stopped_or_left_alone_saves_what_it_has(tmp_path: Path, ends: str) -> None:
    worker = Followed(tmp_path, toml=toml(SLOW), options={"iterations": 1_000_000, "threads": 1})
    reached = worker.until("progress")[-1]["iteration"]
    worker.process.send("stop") if ends == "stop" else worker.process.hang_up()
    last = worker.until("end")[-1]
    assert (last["state"], worker.exit()) == ("stopped", "ended with code 0")
    solution = rl.load(tmp_path / "solved.rgl")
    assert solution.iterations == last["iteration"] >= reached
    assert solution.snapshot is not None


def test_a_request_that_cannot_be_solved_is_one_sentence(tmp_path: Path) -> None:
    worker = Followed(tmp_path, game="kuhn", options={"iterations": 0})
    assert worker.until("error")[-1]["message"] == "iterations: 0 must be at least 1"
    assert worker.exit().startswith("ended with code 1")


def test_a_file_is_written_by_one_worker_at_a_time(tmp_path: Path) -> None:
    first = Followed(tmp_path, toml=toml(SLOW), options={"iterations": 1_000_000, "threads": 1})
    first.until("progress")
    second = Followed(tmp_path, game="kuhn", options={"iterations": 10})
    with pytest.raises(queue.Empty):
        second.reports.get(timeout=3)
    first.process.kill()
    assert first.exit() == "was ended by SIGKILL, perhaps because memory ran out"
    assert second.until("end")[-1]["state"] == "done"


def test_readable_checkpoints_change_nothing_and_can_be_read(tmp_path: Path) -> None:
    spot = Spot.from_mapping(TURN)
    saved: list[object] = []
    often = SolveOptions(iterations=12, threads=1, checkpoint=tmp_path / "turn.rgl", save_every=1e-9)
    request = replace(make_request(SpotProblem(spot), often), readable_checkpoints=True)
    with_saves, without = solve(request, Hooks(checkpointed=saved.append)), rl.solve(spot, iterations=12, threads=1)
    assert saved == [None] * len(saved)
    assert len(saved) >= 10
    assert isinstance(with_saves, SpotSolution)
    assert with_saves.evaluation == without.evaluation
    assert (with_saves.node("check").strategy == without.node("check").strategy).all()
    readable = SpotSolution.load(tmp_path / "turn.rgl")
    until_then = rl.solve(spot, iterations=readable.iterations, threads=1)
    assert readable.node("check").frequencies == pytest.approx(until_then.node("check").frequencies, abs=1e-6)
    assert readable.snapshot is not None

"""Processes of the local executor: they get a job while they write the one before, and no job of a dead one is lost."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cluster.studies import study_text

from regretless.cluster.jobs import Ended, Lost, SpotOutcome, StudyJob
from regretless.cluster.local import LocalExecutor
from regretless.holdem.studies.plan import StudyPlan
from regretless.holdem.studies.sizes import study_size

WORKER = """#!{python}
import json, os, sys

def job():
    spots = json.loads(sys.stdin.readline())["spots"]
    say(job="begun")
    return spots

def say(**said):
    print(json.dumps(said), flush=True)

def end(spot):
    say(spot=spot, error=None, exit_code=0, hopeless=False)
    say(job="ended")

{does}
"""


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], LocalExecutor]]:
    """An executor with one worker, whose program is given."""
    started: list[LocalExecutor] = []

    def with_worker(does: str) -> LocalExecutor:
        program = tmp_path / "worker"
        program.write_text(WORKER.format(python=sys.executable, does=does))
        program.chmod(0o755)
        monkeypatch.setattr("regretless.supervision.sys.executable", str(program))
        started.append(LocalExecutor(study_size(StudyPlan.parse(study_text())), workers=1, threads=1))
        return started[0]

    yield with_worker
    started[0].close()


def job(spot: str) -> StudyJob:
    return StudyJob(toml="", folder="", token="", spots=(spot,), device="cpu", threads=1, memory_bytes=0)


def submit(executor: LocalExecutor, spot: str) -> None:
    while not executor.free():
        assert executor.wait(20) == [], "it must be free before its job has ended"
    executor.submit(executor.free()[0], job(spot))


def events(executor: LocalExecutor, count: int) -> list[Ended | Lost]:
    found: list[Ended | Lost] = []
    while len(found) < count:
        found += executor.wait(20)
    return found


def test_a_process_gets_its_next_job_while_it_writes_the_last(start: Callable[[str], LocalExecutor]) -> None:
    executor = start("""
(first,) = job(); say(job="solved")
(second,) = job(); say(job="solved")
end(first)
end(second)
job()
""")
    submit(executor, "one")
    submit(executor, "two")
    expected = []
    for spot in ("one", "two"):
        expected += [Ended(job(spot), SpotOutcome(spot)), Ended(job(spot))]
    assert events(executor, 4) == expected


def test_a_job_without_anything_to_solve_frees_its_process(start: Callable[[str], LocalExecutor]) -> None:
    executor = start("end(job()[0]); job()")
    submit(executor, "one")
    assert events(executor, 2) == [Ended(job("one"), SpotOutcome("one")), Ended(job("one"))]
    assert len(executor.free()) == 1


def test_a_process_that_dies_loses_what_it_solves_and_what_it_writes(start: Callable[[str], LocalExecutor]) -> None:
    executor = start('job(); say(job="solved"); job(); os._exit(9)')
    submit(executor, "one")
    submit(executor, "two")
    reason = "its process ended with code 9"
    assert events(executor, 2) == [Lost(job("one"), reason, is_suspect=False), Lost(job("two"), reason)]
    assert len(executor.free()) == 1


def test_a_death_does_not_count_against_a_job_that_was_not_begun(start: Callable[[str], LocalExecutor]) -> None:
    executor = start('job(); say(job="solved"); sys.stdin.readline(); os._exit(9)')
    submit(executor, "one")
    submit(executor, "two")
    reason = "its process ended with code 9"
    assert events(executor, 2) == [Lost(job("one"), reason), Lost(job("two"), reason, is_suspect=False)]


def test_a_process_that_cannot_start_counts_against_its_job(start: Callable[[str], LocalExecutor]) -> None:
    """Otherwise it would be started again for ever."""
    executor = start("sys.stdin.readline(); os._exit(9)")
    submit(executor, "one")
    assert events(executor, 1) == [Lost(job("one"), "its process ended with code 9")]


def test_a_job_lost_while_it_is_written_is_reported_although_another_process_runs(
    start: Callable[[str], LocalExecutor],
) -> None:
    executor = start("""
(spot,) = job(); say(job="solved")
if spot == "one":
    os._exit(9)
end(spot)
job()
""")
    submit(executor, "one")
    found = executor.wait(20)  # that it is free, or that it has died
    while not found:
        submit(executor, "two")
        found = events(executor, 1)
    assert Lost(job("one"), "its process ended with code 9") in found, "the other job was not begun"

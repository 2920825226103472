"""Solving a job, wherever it runs: each spot is solved, read and written as it ends.

A worker that sees the folder of the study (its `run.token` has the token of the run) writes parts there itself, so what
it has solved survives the driver. Any other worker writes to a folder of its own and returns the files.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from regretless.cluster.jobs import Job, Outcome
from regretless.errors import DeviceFailed, InvalidFile, RegretlessError
from regretless.holdem.many import solve_many
from regretless.holdem.solution import SpotSolution
from regretless.holdem.studies.folder import StudyFolder
from regretless.holdem.studies.plan import StudyPlan, StudySpot

__all__ = ["TOKEN", "solve_job"]

TOKEN = "run.token"


def solve_job(job: Job, tell: Callable[[Outcome], None]) -> None:
    """Solve the spots of a job; `tell` is called as each ends."""
    plan, spots = _read(job.toml)
    with _folder(job, plan) as (folder, is_shared):
        waiting: list[StudySpot] = []
        for name in job.spots:  # those that an earlier attempt of this run has solved are done
            if is_shared and folder.part("runs", name).exists():
                tell(Outcome(name))
            else:
                waiting.append(spots[name])
        began = time.monotonic()

        def done(place: int, solution: SpotSolution) -> None:
            nonlocal began
            spot, now = waiting[place], time.monotonic()
            try:
                folder.write(spot, solution, plan, now - began)
                files = {} if is_shared else folder.files(spot.id)
            except InvalidFile as error:  # a full disk
                tell(Outcome(spot.id, str(error), error.exit_code, hopeless=True))
            else:
                tell(Outcome(spot.id, files=files))
            began = time.monotonic()

        def failed(place: int, error: RegretlessError) -> None:
            tell(Outcome(waiting[place].id, str(error), error.exit_code, hopeless=isinstance(error, DeviceFailed)))

        solve_many(
            [spot.spot for spot in waiting],
            device=job.device,
            threads=None if job.device == "cuda" else job.threads,
            done=done,
            failed=failed,
            interrupted=lambda: False,
            **plan.options,
        )


@lru_cache(maxsize=2)
def _read(toml: str) -> tuple[StudyPlan, dict[str, StudySpot]]:
    plan = StudyPlan.parse(toml)
    return plan, {spot.id: spot for spot in plan.spots}


@contextmanager
def _folder(job: Job, plan: StudyPlan) -> Iterator[tuple[StudyFolder, bool]]:
    """Where to write, and whether that is the folder of the study itself."""
    try:
        is_shared = Path(job.folder, TOKEN).read_text(encoding="utf-8") == job.token
    except OSError:
        is_shared = False
    if is_shared:
        yield StudyFolder.open(job.folder), True
        return
    with tempfile.TemporaryDirectory(prefix="regretless-study-") as scratch:
        yield StudyFolder.prepare(scratch, plan), False

"""Solving a job, wherever it runs: each spot is solved, read into rows, and written.

Only the solve and the reading need the solution. So a worker can ask for its next job as soon as the last spot is
solved (`solved`), and leave the writing, most of which is waiting for the disk, to another thread (`later`).

A worker that sees the folder of the study (its `run.token` has the token of the run) writes parts there itself, so what
it has solved survives the driver. Any other worker writes to a folder of its own and returns the files.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path

from regretless.cluster.jobs import Job, Outcome
from regretless.errors import Advice, DeviceFailed, InvalidFile, RegretlessError
from regretless.files.state import read_state
from regretless.holdem.many import solve_many
from regretless.holdem.solution import SpotSolution
from regretless.holdem.studies.folder import SpotRows, StudyFolder
from regretless.holdem.studies.plan import StudyPlan, StudySpot

__all__ = ["TOKEN", "has_token", "solve_job"]

TOKEN = "run.token"
LARGEST_TOKEN = 100  # bytes that are read of it


def solve_job(
    job: Job,
    tell: Callable[[Outcome], None],
    *,
    solved: Callable[[], None] = lambda: None,
    later: Callable[[Callable[[], None]], None] = lambda write: write(),
) -> None:
    """Solve the spots of a job.

    `tell` is called as each ends, `solved` when the last of them is solved but not yet written, and `later` with what
    is left to do for a spot when its solution is no longer needed; it must be done in the order of the calls.
    """
    plan, spots = _read(job.toml)
    with _folder(job, plan) as (folder, is_shared):
        waiting: list[StudySpot] = []
        for name in job.spots:  # those that an earlier attempt of this run has solved are done
            if is_shared and folder.part("runs", name).exists():
                tell(Outcome(name))
            else:
                waiting.append(spots[name])
        left = len(waiting)
        began = time.monotonic()

        def count() -> None:
            nonlocal left
            left -= 1
            if left == 0:
                solved()

        def done(place: int, solution: SpotSolution) -> None:
            nonlocal began
            spot, seconds = waiting[place], time.monotonic() - began
            count()
            try:
                rows = folder.read(spot, solution, plan, seconds)
            except InvalidFile as error:  # a full disk
                tell(Outcome(spot.id, str(error), error.exit_code, hopeless=True))
            else:
                then = partial(write, spot.id, rows)
                later(then) if is_shared else then()  # a folder of its own is removed when the job ends
            began = time.monotonic()

        def write(spot: str, rows: SpotRows) -> None:
            try:
                folder.write(spot, rows)
                files = {} if is_shared else folder.files(spot)
            except InvalidFile as error:
                tell(Outcome(spot, str(error), error.exit_code, hopeless=True))
            else:
                tell(Outcome(spot, files=files))

        def failed(place: int, error: RegretlessError) -> None:
            count()
            said = error.worded(_as_field)
            tell(Outcome(waiting[place].id, said, error.exit_code, hopeless=isinstance(error, DeviceFailed)))

        solve_many(
            [spot.spot for spot in waiting],
            device=job.device,
            threads=None if job.device == "cuda" else job.threads,
            done=done,
            failed=failed,
            interrupted=lambda: False,
            **plan.options,
        )


def _as_field(advice: Advice) -> str:
    """A setting that an error advises, as a study spells it."""
    return f"{advice.setting} = {json.dumps(advice.value)}"


@lru_cache(maxsize=2)
def _read(toml: str) -> tuple[StudyPlan, dict[str, StudySpot]]:
    plan = StudyPlan.parse(toml)
    return plan, {spot.id: spot for spot in plan.spots}


def has_token(folder: str | Path, token: str) -> bool:
    """Whether a path is that of the folder in which a run has written its token."""
    try:
        return read_state(Path(folder, TOKEN), Path(folder), most=LARGEST_TOKEN) == token.encode()
    except InvalidFile:
        return False


@contextmanager
def _folder(job: Job, plan: StudyPlan) -> Iterator[tuple[StudyFolder, bool]]:
    """Where to write, and whether that is the folder of the study itself."""
    if has_token(job.folder, job.token):
        yield StudyFolder.open(job.folder), True
        return
    with tempfile.TemporaryDirectory(prefix="regretless-study-") as scratch:
        yield StudyFolder.prepare(scratch, plan), False

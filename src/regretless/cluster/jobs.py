"""Jobs of a study: what is handed out to workers, how it is solved wherever it runs, and what comes back.

Everything that is handed out or comes back is text and numbers: we unpickle nothing. Each spot is solved, read into
rows, and written. Only the solve and the reading need the solution. So a worker can ask for its next job as soon as the
last spot is solved (`solved`). Writing, which mostly waits for the disk, is left to another thread (`later`).

A worker that sees the folder of the study (its `run.token` has the token of the run) writes parts there itself, so what
it has solved survives the driver. Any other worker writes to a folder of its own and returns the files.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Protocol

from regretless.errors import Advice, DeviceFailed, InvalidFile, RegretlessError
from regretless.files.state import read_state
from regretless.holdem.many import solve_spots
from regretless.holdem.solution import SpotSolution
from regretless.holdem.studies.folder import StudyFolder
from regretless.holdem.studies.parts import SpotRows
from regretless.holdem.studies.plan import StudyPlan, StudySpot

__all__ = ["TOKEN", "Ended", "Executor", "Lost", "Slot", "SpotOutcome", "StudyJob", "has_token", "solve_job"]

TOKEN = "run.token"
MAX_TOKEN = 100  # bytes of `run.token` that are read


@dataclass(frozen=True)
class StudyJob:
    """Spots to solve together: one on a CPU, many on a GPU."""

    toml: str  # of the study
    folder: str  # the study's folder, on machines that see it
    token: str  # in the folder's `run.token`: tells a worker whether it sees the same folder
    spots: tuple[str, ...]
    device: str  # "cpu" or "cuda"
    threads: int | None
    memory_bytes: int  # needed by the largest of the spots

    def as_json(self) -> dict[str, object]:
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> StudyJob:
        return cls(**{**fields, "spots": tuple(fields["spots"])})

    def failed(self, error: RegretlessError, ended: Collection[str]) -> list[SpotOutcome]:
        """The outcomes of spots that have not ended when the whole job fails: no device, an unreadable folder."""
        left = [spot for spot in self.spots if spot not in ended]
        return [SpotOutcome(spot, str(error), error.exit_code, hopeless=True) for spot in left]


@dataclass(frozen=True)
class SpotOutcome:
    """How one spot ended."""

    spot: str
    error: str | None = None  # None: solved
    exit_code: int = 0
    hopeless: bool = False  # whether every other spot would fail too: a full disk, no device
    files: Mapping[str, bytes] = field(default_factory=dict)  # for the driver to write, if the folder is not shared

    def as_json(self) -> dict[str, object]:
        """Without the files."""
        return {"spot": self.spot, "error": self.error, "exit_code": self.exit_code, "hopeless": self.hopeless}


@dataclass(frozen=True)
class Ended:
    """A spot has ended, or, without an outcome, the whole job."""

    job: StudyJob
    outcome: SpotOutcome | None = None


@dataclass(frozen=True)
class Lost:
    """A worker has died during a job; spots that had not ended are to be solved again."""

    job: StudyJob
    reason: str
    is_suspect: bool = True  # whether this job may be the cause; if not, the loss does not count against its spots


@dataclass(frozen=True)
class Slot:
    """What a job can run on."""

    device: str
    threads: int | None
    spots: int  # how many spots the job may have


class Executor(Protocol):
    """Runs jobs somewhere."""

    def memory_limit(self) -> int:
        """Bytes that one job may take at most."""
        ...

    def free(self) -> Sequence[Slot]:
        """Slots that are free now."""
        ...

    def submit(self, slot: Slot, job: StudyJob) -> None: ...

    def wait(self, seconds: float) -> Sequence[Ended | Lost]:
        """What has happened since the last call; waits at most `seconds` for the first event."""
        ...

    def close(self) -> None:
        """End everything that runs, at once."""
        ...


def solve_job(
    job: StudyJob,
    report: Callable[[SpotOutcome], None],
    *,
    solved: Callable[[], None] = lambda: None,
    later: Callable[[Callable[[], None]], None] = lambda write: write(),
) -> None:
    """Solve the spots of a job.

    `report` is called as each ends, `solved` when the last of them is solved but not yet written, and `later` with what
    is left to do for a spot when its solution is no longer needed; it must be done in the order of the calls.
    """
    plan, spots = _read(job.toml)
    with _folder(job, plan) as (folder, is_shared):
        waiting: list[StudySpot] = []
        for name in job.spots:  # skip what an earlier attempt of this run has solved
            if is_shared and folder.part("runs", name).exists():
                report(SpotOutcome(name))
            else:
                waiting.append(spots[name])
        results = _Results(plan, waiting, folder, is_shared=is_shared, report=report, solved=solved, later=later)
        threads = None if job.device == "cuda" else job.threads
        solve_spots(
            [spot.spot for spot in waiting],
            replace(plan.options, device=job.device, threads=threads),
            done=results.done,
            failed=results.failed,
            interrupted=lambda: False,
        )


class _Results:
    """What happens to the spots of a job as they end: rows are read from the solution, written and reported."""

    def __init__(
        self,
        plan: StudyPlan,
        spots: Sequence[StudySpot],
        folder: StudyFolder,
        *,
        is_shared: bool,
        report: Callable[[SpotOutcome], None],
        solved: Callable[[], None],
        later: Callable[[Callable[[], None]], None],
    ) -> None:
        self.plan, self.spots, self.folder, self.is_shared = plan, spots, folder, is_shared
        self.report, self.solved, self.later = report, solved, later
        self._unsolved = len(spots)
        self._began = time.monotonic()  # when the last spot was done, or the job began

    def done(self, number: int, solution: SpotSolution) -> None:
        """Read the rows of a solution, and write them, now or later."""
        spot, seconds = self.spots[number], time.monotonic() - self._began
        self._count()
        try:
            rows = self.folder.read(spot, solution, self.plan, seconds)
        except InvalidFile as error:  # such as a full disk
            self.report(SpotOutcome(spot.id, str(error), error.exit_code, hopeless=True))
        else:
            if self.is_shared:
                self.later(partial(self._write, spot.id, rows))
            else:
                self._write(spot.id, rows)  # at once: the temporary folder is removed when the job ends
        self._began = time.monotonic()

    def failed(self, number: int, error: RegretlessError) -> None:
        """Report a spot that could not be solved."""
        self._count()
        is_hopeless = isinstance(error, DeviceFailed)
        outcome = SpotOutcome(self.spots[number].id, error.worded(_as_field), error.exit_code, hopeless=is_hopeless)
        self.report(outcome)

    def _write(self, spot: str, rows: SpotRows) -> None:
        try:
            self.folder.write(spot, rows)
            files = {} if self.is_shared else self.folder.files(spot)
        except InvalidFile as error:
            self.report(SpotOutcome(spot, str(error), error.exit_code, hopeless=True))
        else:
            self.report(SpotOutcome(spot, files=files))

    def _count(self) -> None:
        self._unsolved -= 1
        if self._unsolved == 0:
            self.solved()


def _as_field(advice: Advice) -> str:
    """A setting that an error advises, as a study spells it."""
    return f"{advice.setting} = {json.dumps(advice.value)}"


@lru_cache(maxsize=2)
def _read(toml: str) -> tuple[StudyPlan, dict[str, StudySpot]]:
    plan = StudyPlan.parse(toml)
    return plan, {spot.id: spot for spot in plan.spots}


def has_token(folder: str | Path, token: str) -> bool:
    """Whether a run has written its token in this folder."""
    try:
        return read_state(Path(folder, TOKEN), Path(folder), maximum=MAX_TOKEN) == token.encode()
    except InvalidFile:
        return False


@contextmanager
def _folder(job: StudyJob, plan: StudyPlan) -> Iterator[tuple[StudyFolder, bool]]:
    """Where to write, and whether that is the folder of the study itself."""
    if has_token(job.folder, job.token):
        yield StudyFolder.open(job.folder), True
        return
    with tempfile.TemporaryDirectory(prefix="regretless-study-") as scratch:
        yield StudyFolder.prepare(scratch, plan), False

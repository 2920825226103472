"""A whole study: what is left to do, handed out to an executor until nothing is left.

1. Spots whose parts are in the folder are done; damaged ones are solved again.
2. Every free slot of the executor gets the next spots.
3. A spot that fails is reported and does not stop the others, except where they would all fail alike (a full disk).
4. Spots of a worker that died are handed out again; a spot that may be the cause, `RETRIES` times at most.
5. In the end the parts are merged into one file per table.

A folder has one run at a time: `run.lock` is locked while a run lasts (`open_run`), and a second run is refused. The
lock is the driver's; workers, which may be on machines that do not see the folder, recognise it by `run.token`.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from regretless.cluster.jobs import TOKEN, Ended, Executor, Lost, Slot, SpotOutcome, StudyJob, has_token
from regretless.errors import InvalidFile, RegretlessError, WouldNotFit
from regretless.files.atomic import reason
from regretless.files.state import lock_state, replace_state
from regretless.holdem.studies.folder import StudyFolder
from regretless.holdem.studies.manifest import LOCK, check_folder
from regretless.holdem.studies.plan import StudyPlan
from regretless.holdem.studies.sizes import StudySize

__all__ = ["RunFolder", "StudyProgress", "StudyRun", "open_run", "run_study"]

RETRIES = 3
POLL_SECONDS = 0.2  # between calls of `interrupted`


@dataclass(frozen=True)
class StudyProgress:
    """How far a study has come."""

    spots: int
    done: int  # including those of earlier runs
    failed: int
    running: int
    seconds: float  # of this run
    seconds_left: float | None  # None until this run has solved a spot


@dataclass(frozen=True)
class StudyRun:
    """How a run ended."""

    spots: int
    done: int
    solved: int  # by this run
    errors: Mapping[str, SpotOutcome] = field(repr=False)  # by spot
    interrupted: bool
    seconds: float
    merge_error: InvalidFile | None = None  # why the parts, which are intact, could not be merged


@dataclass(frozen=True, kw_only=True)
class RunFolder(StudyFolder):
    """The folder of a study that this process alone may run."""

    token: str  # in the folder's `run.token`


@contextmanager
def open_run(path: str | Path, plan: StudyPlan) -> Iterator[RunFolder]:
    """The folder for a plan, prepared, and locked until the block ends; refused while another process runs there."""
    check_folder(path, plan)  # nothing is created in a folder that is refused
    with ExitStack() as stack:
        try:
            Path(path).mkdir(parents=True, exist_ok=True)
            is_free = stack.enter_context(lock_state(Path(path, LOCK), Path(path), wait=False))
        except OSError as error:
            raise InvalidFile(Path(path, LOCK), f"cannot be created: {reason(error)}") from None
        if not is_free:
            raise InvalidFile(path, "has a run in progress: another process is solving the study there")
        folder = StudyFolder.prepare(path, plan)
        token_path, token = folder.path / TOKEN, secrets.token_hex(8)
        with replace_state(token_path, folder.path) as temporary:
            temporary.write_text(token, encoding="utf-8")
        try:
            yield RunFolder(folder.path, folder.manifest, token=token)
        finally:
            if has_token(path, token):  # without locks, another run may have taken over the folder
                token_path.unlink(missing_ok=True)


def run_study(
    plan: StudyPlan,
    folder: RunFolder,
    executor: Executor,
    size: StudySize,
    *,
    report: Callable[[StudyProgress], None] = lambda progress: None,
    interrupted: Callable[[], bool] = lambda: False,
) -> StudyRun:
    """Solve every spot of a study that is not in its folder yet."""
    try:
        return _Run(plan, folder, executor, size, report).until_done(interrupted)
    finally:
        executor.close()


class _Run:
    """The state of a run."""

    def __init__(
        self,
        plan: StudyPlan,
        folder: RunFolder,
        executor: Executor,
        size: StudySize,
        report: Callable[[StudyProgress], None],
    ) -> None:
        self.plan, self.folder, self.executor, self.size, self.report = plan, folder, executor, size, report
        self.done = folder.done(plan)
        self.before = len(self.done)
        self.waiting = deque(spot.id for spot in plan.spots if spot.id not in self.done)
        self.running: set[str] = set()
        self.errors: dict[str, SpotOutcome] = {}
        self.lost: Counter[str] = Counter()
        self.hopeless = False
        if self.waiting:
            folder.forget_merged()
        self.began = time.monotonic()

    def until_done(self, interrupted: Callable[[], bool]) -> StudyRun:
        self._refuse_too_large()
        self._report()
        stopped = False
        while (self.waiting and not self.hopeless) or self.running:
            if stopped := interrupted():
                break
            if not self.hopeless:
                for slot in self.executor.free():
                    if self.waiting:
                        self._submit(slot)
            for event in self.executor.wait(POLL_SECONDS):
                self._handle(event)
            self._report()
        merge_error = None
        if not stopped and self.done:
            try:
                self.folder.merge()
            except InvalidFile as error:
                merge_error = error
        return StudyRun(
            spots=len(self.plan.spots),
            done=len(self.done),
            solved=len(self.done) - self.before,
            errors=self.errors,
            interrupted=stopped,
            seconds=time.monotonic() - self.began,
            merge_error=merge_error,
        )

    def _refuse_too_large(self) -> None:
        limit = self.executor.memory_limit()
        for spot in list(self.waiting):
            if (needed := self.size.needs[spot]) > limit:
                self.waiting.remove(spot)
                error = WouldNotFit(spot, needed=needed, available=limit, memory="memory on one machine")
                self.errors[spot] = SpotOutcome(spot, str(error), error.exit_code)

    def _submit(self, slot: Slot) -> None:
        spots = tuple(self.waiting.popleft() for _ in range(min(slot.spots, len(self.waiting))))
        self.running.update(spots)
        job = StudyJob(
            toml=self.plan.toml,
            folder=str(self.folder.path.resolve()),
            token=self.folder.token,
            spots=spots,
            device=slot.device,
            threads=slot.threads,
            memory_bytes=max(self.size.needs[spot] for spot in spots),
        )
        self.executor.submit(slot, job)

    def _handle(self, event: Ended | Lost) -> None:
        if isinstance(event, Ended) and event.outcome is not None:
            self._end(event.outcome)
            return
        for spot in event.job.spots:  # none is still running if the job ended as it should
            if spot in self.running:
                self.running.discard(spot)
                if isinstance(event, Ended) or event.is_suspect:
                    self.lost[spot] += 1
                if self.lost[spot] <= RETRIES:
                    self.waiting.appendleft(spot)
                else:
                    cause = event.reason if isinstance(event, Lost) else "its worker said nothing about it"
                    self.errors[spot] = SpotOutcome(spot, f"failed {self.lost[spot]} times: {cause}", 1)

    def _end(self, outcome: SpotOutcome) -> None:
        self.running.discard(outcome.spot)
        if outcome.files:
            try:
                self.folder.receive(outcome.spot, outcome.files)
            except RegretlessError as error:
                outcome = SpotOutcome(outcome.spot, str(error), error.exit_code, hopeless=True)
        if outcome.error is None:
            self.done.add(outcome.spot)
            self.errors.pop(outcome.spot, None)  # of a worker that was taken for lost, and reports after all
        else:
            self.errors[outcome.spot] = outcome
            self.hopeless |= outcome.hopeless

    def _report(self) -> None:
        seconds, solved = time.monotonic() - self.began, len(self.done) - self.before
        left = len(self.plan.spots) - len(self.done) - len(self.errors)
        self.report(
            StudyProgress(
                spots=len(self.plan.spots),
                done=len(self.done),
                failed=len(self.errors),
                running=len(self.running),
                seconds=seconds,
                seconds_left=seconds / solved * left if solved else None,
            )
        )

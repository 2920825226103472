"""Jobs on processes of this machine, each with its own threads, or on its GPU.

On the CPU there are as many processes as cores and memory allow, and each solves one spot at a time. On a GPU one
process solves many spots together (`solving/together.py`). A process takes its next job when it has solved the
current one, and writes that one meanwhile. A process that dies is replaced.
"""

from __future__ import annotations

import json
import queue
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress

from regretless.cluster.jobs import Ended, Lost, Slot, SpotOutcome, StudyJob
from regretless.engines import available_cores
from regretless.errors import InvalidOption
from regretless.forms.memory import available_bytes
from regretless.holdem.studies.sizes import StudySize
from regretless.supervision import Message, WorkerProcess

__all__ = ["GPU_SPOTS", "PROCESS_BYTES", "LocalExecutor"]

GPU_SPOTS = 32  # in a job on a GPU; `solve_many` has as many at a time there as fit in its memory
CLOSING_SECONDS = 5.0  # for a worker to remove its temporary files; then it is killed
PROCESS_BYTES = 300 * 2**20  # of a worker besides the spot it solves: Python, NumPy, compiled kernels

_Events = queue.SimpleQueue[Ended | Lost | None]  # None: a worker has become free


class LocalExecutor:
    """Processes of this machine.

    `workers` and `threads` (of each worker) are chosen for the study unless they are given.
    """

    def __init__(self, size: StudySize, *, workers: int | None = None, threads: int | None = None) -> None:
        for name, value in (("workers", workers), ("threads", threads)):
            if value is not None and value < 1:
                raise InvalidOption(name, value, "must be at least 1")
        self.device = size.device
        if self.device == "cuda":
            for name, value in (("workers", workers), ("threads", threads)):
                if value is not None:
                    raise InvalidOption(name, value, "is for the CPU, and this study runs on a GPU")
            self._workers = [_Worker(Slot("cuda", None, GPU_SPOTS))]
        else:
            cores = available_cores()
            fit = available_bytes() // (size.memory_bytes + PROCESS_BYTES)
            if workers is None:
                workers = max(1, min(cores // (threads or 1), size.spots, fit))
            threads_each = max(1, cores // workers) if threads is None else min(threads, cores)
            self._workers = [_Worker(Slot("cpu", threads_each, 1)) for _ in range(min(workers, size.spots))]
        self.threads = self._workers[0].slot.threads
        self._events: _Events = queue.SimpleQueue()

    @property
    def workers(self) -> int:
        return len(self._workers)

    def memory_limit(self) -> int:
        """No limit: a spot that does not fit is refused by the engine, which knows what is free at that moment."""
        return sys.maxsize

    def free(self) -> Sequence[Slot]:
        return [worker.slot for worker in self._workers if worker.is_free]

    def submit(self, slot: Slot, job: StudyJob) -> None:
        worker = next(each for each in self._workers if each.is_free and each.slot == slot)
        worker.solve(job, self._events)

    def wait(self, seconds: float) -> list[Ended | Lost]:
        events: list[Ended | Lost | None] = []
        with suppress(queue.Empty):
            events.append(self._events.get(timeout=seconds))
            while True:
                events.append(self._events.get_nowait())
        return [event for event in events if event is not None]

    def close(self) -> None:
        for worker in self._workers:
            worker.hang_up()
        for worker in self._workers:
            worker.end()


class _Worker:
    """A slot for a process, which is started with the first job and again after it has died."""

    def __init__(self, slot: Slot) -> None:
        self.slot = slot
        self._jobs: _JobProcess | None = None

    @property
    def is_free(self) -> bool:
        return self._jobs is None or self._jobs.solving is None

    def solve(self, job: StudyJob, events: _Events) -> None:
        if self._jobs is None or not self._jobs.solve(job):
            self._jobs = _JobProcess(events)
            self._jobs.solve(job)

    def hang_up(self) -> None:
        if self._jobs is not None:
            self._jobs.process.hang_up()  # the worker then removes its temporary files and ends

    def end(self) -> None:
        if self._jobs is not None:
            self._jobs.process.wait(CLOSING_SECONDS)


class _JobProcess:
    """A process that solves one job while it writes the one before."""

    def __init__(self, events: _Events) -> None:
        self.solving: StudyJob | None = None
        self._jobs: list[StudyJob] = []  # those that have not ended, oldest first
        self._begun = 0  # how many of them the process has begun
        self._is_dead = False
        self._changing = threading.Lock()  # a job for a dying process is either refused or reported as lost
        self._events = events
        log = tempfile.TemporaryFile()  # noqa: SIM115  closed when the process has ended
        self.process = WorkerProcess("regretless.cluster.worker", log, self._read, self._lose)

    def solve(self, job: StudyJob) -> bool:
        """Give it a job; False if it has died."""
        with self._changing:
            if self._is_dead:
                return False
            self.solving = job
            self._jobs.append(job)
        self.process.send(json.dumps(job.as_json()))
        return True

    def _read(self, message: Message) -> None:
        """Pass on what the process reports."""
        if "spot" in message:
            job = next(each for each in self._jobs if message["spot"] in each.spots)
            self._events.put(Ended(job, SpotOutcome(**message)))
        elif message["job"] == "begun":
            self._begun += 1
        elif message["job"] == "solved":
            self.solving = None
            self._events.put(None)
        else:
            self._end(self._jobs[0])

    def _end(self, job: StudyJob) -> None:
        if self.solving is job:  # every spot had been solved before
            self.solving = None
        self._jobs.pop(0)
        self._begun -= 1
        self._events.put(Ended(job))

    def _lose(self, reason: str) -> None:
        """The process has ended: report its jobs as lost."""
        with self._changing:
            self._is_dead = True
            self.solving = None
        suspect = max(self._begun, 1) - 1  # the newest begun: older jobs were only being written
        for number, job in enumerate(self._jobs):
            self._events.put(Lost(job, f"its process {reason}", is_suspect=number == suspect))

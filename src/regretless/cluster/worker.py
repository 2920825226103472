"""A process that solves jobs: `python -m regretless.cluster.worker`.

Jobs arrive on stdin as lines of JSON. Lines of JSON on stdout answer: `{"job": "begun"}` says that a job has begun,
`{"job": "solved"}` asks for the next one while the last spot of this one is read and written, `{"spot": …}` says how a
spot ended, and `{"job": "ended"}` that all spots of the oldest job did. A thread of its own writes, so that the next
solve does not wait for the disk. When stdin closes, because the driver ended or was killed, the process ends at once:
what it was solving or writing is not counted, and temporary files are removed.
"""

from __future__ import annotations

import json
import os
import queue
import warnings
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from regretless.cluster.jobs import SpotOutcome, StudyJob, solve_job
from regretless.errors import InvalidFile, RegretlessError, RegretlessWarning
from regretless.files.atomic import remove_temporary_files
from regretless.supervision import Channel

__all__ = ["main"]

PENDING = 4  # spots whose rows may wait in memory to be written


def main() -> None:
    """Solve jobs until stdin closes."""
    channel = Channel()
    warnings.simplefilter("ignore", RegretlessWarning)  # the driver has shown them
    jobs: queue.SimpleQueue[str] = queue.SimpleQueue()
    channel.listen(jobs.put, _exit)
    writer = _Writer()
    while True:
        job = StudyJob.from_json(json.loads(jobs.get()))
        channel.send({"job": "begun"})
        ended: set[str] = set()

        def report(outcome: SpotOutcome, ended: set[str] = ended, folder: str = job.folder) -> None:
            ended.add(outcome.spot)
            if outcome.files:
                error = InvalidFile(folder, "is no longer the folder of this run")
                outcome = SpotOutcome(outcome.spot, str(error), error.exit_code, hopeless=True)
            channel.send(outcome.as_json())

        failures: list[SpotOutcome] = []
        try:
            solve_job(job, report, solved=lambda: channel.send({"job": "solved"}), later=writer)
        except RegretlessError as error:
            writer.wait()
            failures = job.failed(error, ended)
        except MemoryError:
            writer.wait()
            failures = [SpotOutcome(spot, "not enough memory", 3) for spot in job.spots if spot not in ended]
        for outcome in failures:
            report(outcome)
        writer(lambda: channel.send({"job": "ended"}))


class _Writer:
    """A thread that does what it is given, in order."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._waiting: deque[Future[None]] = deque()

    def __call__(self, write: Callable[[], None]) -> None:
        self.wait(PENDING - 1)
        self._waiting.append(self._pool.submit(write))

    def wait(self, left: int = 0) -> None:
        """Until at most so many are left to do."""
        while len(self._waiting) > left:
            self._waiting.popleft().result()


def _exit() -> None:
    remove_temporary_files()
    os._exit(0)


if __name__ == "__main__":
    main()

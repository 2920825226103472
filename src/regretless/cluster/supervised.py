"""A whole study in a process of its own: `python -m regretless.cluster.supervised`.

The supervisor writes the task as one line of JSON to stdin, and later perhaps "stop". The process answers with events:

    {"event": "begun", …}      the size of the study; its spots are handed out
    {"event": "progress", …}   the fields of `StudyProgress`, when they change
    {"event": "end", …}        how the run ended: `done`, `stopped` or `failed`, and why spots failed
    {"event": "error", …}      one sentence: the study could not be run

If stdin ends, the supervisor has died: the run stops. Every spot that is solved is in the folder of the study by then,
and another run continues from there.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass

from regretless.cluster.local import LocalExecutor
from regretless.cluster.run import StudyProgress, StudyRun, open_run, run_study
from regretless.errors import Advice, RegretlessError
from regretless.files.atomic import remove_temporary_files
from regretless.holdem.reading.columns import pyarrow
from regretless.holdem.studies.plan import StudyPlan
from regretless.holdem.studies.sizes import study_size
from regretless.supervision import Channel, Message

__all__ = ["MODULE", "StudyTask", "main"]

MODULE = "regretless.cluster.supervised"  # what a supervisor starts; this module is then called __main__
REPORT_EVERY = 0.2  # seconds
MAX_ERRORS = 20  # that are reported


@dataclass(frozen=True)
class StudyTask:
    """What is run, and where its results go."""

    toml: str
    folder: str
    threads: int | None = None  # of each spot, at most

    def line(self) -> str:
        """The task as the line that the process reads."""
        return json.dumps(asdict(self))


def main() -> int:
    """Run the study that stdin names."""
    channel = Channel()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the supervisor's terminal reaches this process too
    task = StudyTask(**json.loads(sys.stdin.readline()))
    stopping = threading.Event()
    channel.listen(lambda line: stopping.set(), stopping.set)
    try:
        channel.send(_end(_run(task, stopping.is_set, channel.send)))
    except RegretlessError as error:
        channel.send({"event": "error", "message": error.worded(Advice.in_words)})
        return error.exit_code
    except MemoryError:
        channel.send({"event": "error", "message": "not enough memory"})
        return 3
    finally:
        remove_temporary_files()
    return 0


def _run(task: StudyTask, is_stopped: Callable[[], bool], send: Callable[[Message], None]) -> StudyRun:
    pyarrow()  # before anything is solved that could not be written
    plan = StudyPlan.parse(task.toml)
    with open_run(task.folder, plan) as folder:
        size = study_size(plan)
        executor = LocalExecutor(size, threads=task.threads)
        send({"event": "begun", "spots": size.spots, "workers": executor.workers, "memory_bytes": size.memory_bytes})
        return run_study(plan, folder, executor, size, report=_reporter(send), interrupted=is_stopped)


def _reporter(send: Callable[[Message], None]) -> Callable[[StudyProgress], None]:
    """Sends the progress when it has changed, a few times per second at most."""
    sent: tuple[int, ...] = ()
    sent_at = 0.0

    def report(progress: StudyProgress) -> None:
        nonlocal sent, sent_at
        counts = (progress.done, progress.failed, progress.running)
        if counts != sent and time.monotonic() - sent_at >= REPORT_EVERY:
            sent, sent_at = counts, time.monotonic()
            send({"event": "progress", **asdict(progress)})

    return report


def _end(run: StudyRun) -> Message:
    errors = [{"spot": spot, "message": str(outcome.error)} for spot, outcome in run.errors.items()]
    merge_error = None if run.merge_error is None else str(run.merge_error)
    return {
        "event": "end",
        "state": "stopped" if run.interrupted else "failed" if errors or merge_error else "done",
        "done": run.done,
        "failed": len(errors),
        "seconds": run.seconds,
        "errors": errors[:MAX_ERRORS],
        "message": merge_error or (f"{errors[0]['spot']}: {errors[0]['message']}" if errors else None),
    }


if __name__ == "__main__":
    sys.exit(main())

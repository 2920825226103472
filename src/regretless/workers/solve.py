"""One solve in a process of its own: `python -m regretless.workers.solve`.

The supervisor writes the task as one line of JSON to stdin, and later perhaps "stop". The worker answers with events:

    {"event": "note", …}       what it is doing, or what could not be saved, in words
    {"event": "ready", …}      memory, device and threads; iterations begin
    {"event": "progress", …}   about five per second
    {"event": "point", …}      a measurement of the exploitability
    {"event": "saved", …}      the file was replaced by the solution so far, readable and resumable
    {"event": "end", …}        why the solve ended; everything is saved
    {"event": "error", …}      one sentence

If stdin ends, the supervisor has died: the worker saves and stops. Two workers never write the same file: each holds a
lock on it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from regretless.api import load, problem_of
from regretless.engines import FormKind, kernels_are_compiled
from regretless.errors import Advice, InvalidFile, RegretlessError, bytes_text
from regretless.files.state import lock_state
from regretless.forms.compile import Enumeration, report_enumeration
from regretless.holdem.estimate import estimate_spot
from regretless.holdem.problem import SpotProblem
from regretless.holdem.spots.spot import Spot
from regretless.solving.forecast import Forecast
from regretless.solving.loop import Progress, drive
from regretless.solving.options import EXACT, SolveOptions
from regretless.solving.problem import AnyProblem
from regretless.solving.request import make_request
from regretless.solving.solution import Solution
from regretless.solving.solve import Hooks, solve_problem, start
from regretless.supervision import Channel, Message, limit_memory

__all__ = ["MODULE", "Reports", "Send", "SolveTask", "main"]

MODULE = "regretless.workers.solve"  # what a supervisor starts; this module is then called __main__
REPORT_EVERY = 0.2  # seconds between reports of progress
SAVE_EVERY = 2.0  # seconds, at least
SAVING_SHARE = 0.15  # of the time, at most, is spent on saving a large solve
GAME_SHARE = 0.5  # of the free memory, at most: the size of a game is unknown until it is enumerated
BYTES_PER_SECOND = 200e6  # at which a solution is evaluated, encoded and written

Send = Callable[[Message], None]


@dataclass(frozen=True, kw_only=True)
class SolveTask:
    """What a worker solves: one of `resume`, `toml` and `game`; the other two are None."""

    folder: str  # that contains the files
    file: str  # to save to
    lock: str  # lock file, locked while the file may be written
    resume: str | None = None  # file
    toml: str | None = None  # of a spot
    game: str | None = None
    options: SolveOptions

    def line(self) -> str:
        """The task as the line that the worker reads."""
        return json.dumps({**vars(self), "options": dict(self.options.given())})

    @classmethod
    def read(cls, line: str) -> SolveTask:
        """The task of a line."""
        fields = json.loads(line)
        return cls(**{**fields, "options": SolveOptions.read(fields["options"])})


def main() -> int:
    """Solve the task that stdin names."""
    channel = Channel()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the supervisor's terminal reaches this process too
    task = SolveTask.read(sys.stdin.readline())
    limit_memory(1.0 if task.game is None else GAME_SHARE)
    iterating, stopping = threading.Event(), threading.Event()

    def stop() -> None:
        stopping.set()
        if not iterating.is_set():
            os._exit(1)  # compiling a large game takes minutes, and there is nothing to save

    def is_stopped() -> bool:  # called by the loop
        iterating.set()
        return stopping.is_set()

    channel.listen(lambda line: stop(), stop)
    try:
        with lock_state(Path(task.lock), Path(task.folder), wait=True):  # no other process writes the file
            _solve(task, is_stopped, channel.send)
    except RegretlessError as error:
        channel.send({"event": "error", "message": error.worded(Advice.in_words)})
        return error.exit_code
    except MemoryError:
        channel.send({"event": "error", "message": "not enough memory"})
        return 3
    return 0


def _solve(task: SolveTask, is_stopped: Callable[[], bool], send: Send) -> None:
    """Solve a task, save the solution and send events about it."""
    file = Path(task.file)
    options = task.options
    if task.resume is not None:
        options = replace(options, resume=load(task.resume))
    problem = problem_of(task.game if task.toml is None else Spot.parse(task.toml, warn=False), options)
    with report_enumeration(_notes(send)):
        if options.variant == EXACT:
            solution = solve_problem(problem, options)
        else:
            solution = _iterate(problem, options, file, is_stopped, send)
    if solution.reason != "interrupted":
        solution.save(file, resumable=solution.snapshot is not None)
        send({"event": "saved", "iteration": solution.iterations})
    send(
        {
            "event": "end",
            "state": "stopped" if solution.reason == "interrupted" else "done",
            "reason": solution.reason,
            "iteration": solution.iterations,
            "seconds": solution.seconds,
            "exploitability": solution.scale * max(solution.exploitability, 0.0),
        }
    )


def _notes(send: Send) -> Callable[[Enumeration], None]:
    """Notes on how far the enumeration of a game is, one per second."""
    next_note = 0.0

    def note(walk: Enumeration) -> None:
        nonlocal next_note
        if walk.seconds >= next_note:
            next_note = walk.seconds + 1.0
            size = f"{walk.nodes:,} nodes, {bytes_text(walk.memory_bytes)}"
            send({"event": "note", "message": f"enumerating the game: {size} so far"})

    return note


def _iterate(
    problem: AnyProblem,
    options: SolveOptions,
    file: Path,
    is_stopped: Callable[[], bool],
    send: Send,
) -> Solution:
    """Solve a problem by iterating, with readable checkpoints in the file."""
    request = make_request(problem, replace(options, checkpoint=file))
    target, earlier = request.settings.target, request.resume
    reports = Reports(send, problem.scale, Forecast(target), 0.0 if earlier is None else earlier.seconds)
    size = 0
    if isinstance(problem, SpotProblem):
        storage = request.settings.storage or 32
        size = estimate_spot(problem.spot, predicts=request.predicts, size=problem.public_size()).memory_bytes[storage]
        if not kernels_are_compiled(FormKind.PUBLIC, storage):
            send({"event": "note", "message": "compiling kernels for this machine: once, about 20 seconds"})

    def checkpointed(error: InvalidFile | None) -> None:
        if error is None:
            send({"event": "saved", "iteration": reports.iteration})
        else:
            send({"event": "note", "message": str(error)})

    save_every = max(SAVE_EVERY, size / BYTES_PER_SECOND / SAVING_SHARE)
    started = start(
        replace(request, save_every=save_every, readable_checkpoints=True),
        Hooks(report=reports.read, interrupted=is_stopped, checkpointed=checkpointed),
    )
    curve = () if earlier is None else earlier.curve
    send(
        {
            "event": "ready",
            "iterations": request.settings.iterations,
            "target": None if target is None else round(problem.scale * target, 12),  # 0.3, not 0.30000000000000004
            "memory_bytes": started.engine.memory_bytes,
            "device": started.engine.device,
            "threads": started.engine.threads,
            "curve": [[point.iteration, point.seconds, point.exploitability] for point in curve],
        }
    )
    return drive(started.engine, started.steps)


class Reports:
    """Turns the loop's reports into events."""

    def __init__(self, send: Send, scale: float, forecast: Forecast, seconds_before: float) -> None:
        self.send, self.scale, self.forecast = send, scale, forecast
        self.seconds_before = seconds_before  # of the solve that this one resumes
        self.iteration = 0
        self._measured: float | None = None
        self._reported = 0.0

    def read(self, progress: Progress) -> None:
        """Send what is new."""
        outlook = self.forecast.read(progress)
        self.iteration = progress.iteration
        seconds = self.seconds_before + progress.seconds
        exploitability = None if progress.exploitability is None else self.scale * max(progress.exploitability, 0.0)
        if exploitability is not None and progress.exploitability != self._measured:
            self._measured = progress.exploitability
            self.send({"event": "point", "point": [progress.iteration, seconds, exploitability]})
        now = time.monotonic()
        if now - self._reported >= REPORT_EVERY:
            self._reported = now
            self.send(
                {
                    "event": "progress",
                    "iteration": progress.iteration,
                    "seconds": seconds,
                    "exploitability": exploitability,
                    "seconds_left": None if outlook.seconds_left is None else round(outlook.seconds_left, 1),
                    "share": round(outlook.share, 4),
                }
            )


if __name__ == "__main__":
    sys.exit(main())

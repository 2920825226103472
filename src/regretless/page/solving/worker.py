"""One solve in a process of its own: `python -m regretless.page.solving.worker`.

The server writes the request as one line of JSON to stdin, and later perhaps "stop". The worker answers on stdout with
a line of JSON per event:

    {"event": "note", …}       what it is doing, or what could not be saved, in words
    {"event": "ready", …}      memory, device and threads; iterations begin
    {"event": "progress", …}   about five per second
    {"event": "point", …}      a measurement of the exploitability
    {"event": "saved", …}      the file was replaced by the solution so far, readable and resumable
    {"event": "end", …}        why the solve ended; everything is saved
    {"event": "error", …}      one sentence

If stdin ends, the server has died: the worker saves and stops, so no process is left behind. Two workers never write
the same file: each holds a lock on it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from regretless.api import load, problem_of
from regretless.engines import FormKind, PublicEngine, kernels_are_compiled
from regretless.errors import Advice, InvalidFile, RegretlessError, memory_text
from regretless.files.state import lock_state
from regretless.forms.compile import Enumeration, report_enumeration
from regretless.forms.memory import available_bytes
from regretless.forms.public import PublicForm
from regretless.holdem.estimate import estimate_spot
from regretless.holdem.problem import SpotProblem, spot_problem
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.spot import Spot
from regretless.solving.loop import Progress, drive
from regretless.solving.problem import Problem
from regretless.solving.progress.forecast import Forecast
from regretless.solving.record import Record
from regretless.solving.request import EXACT
from regretless.solving.solution import Solution
from regretless.solving.solve import make_request, solve, start

if sys.platform != "win32":
    import resource

__all__ = ["main"]

REPORT_EVERY = 0.2  # seconds between reports of progress
SAVE_EVERY = 2.0  # seconds, at least
SAVING_SHARE = 0.15  # of the time may be spent on saving a large solve
GAME_SHARE = 0.5  # of the free memory, at most: how large a game is, only enumerating it tells
BYTES_PER_SECOND = 200e6  # of a solution: values, encoding, writing


class _BrowsableSolution(SpotSolution):
    """A solution whose checkpoints can be browsed while the solve continues."""

    def checkpoint(self, path: str | Path) -> None:
        self.save(path, resumable=True)


class _BrowsableProblem(SpotProblem):
    """A spot whose checkpoints can be browsed."""

    def solution(self, record: Record, form: PublicForm, engine: PublicEngine) -> SpotSolution:
        return _BrowsableSolution(**vars(super().solution(record, form, engine)))


def main() -> int:
    """Solve what stdin asks for."""
    tell = _events()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the server's terminal reaches this process too
    asked: dict[str, Any] = json.loads(sys.stdin.readline())
    _limit_memory(GAME_SHARE if asked["game"] is not None else 1.0)
    iterating = threading.Event()
    stopping = _watch(sys.stdin, iterating)

    def stopped() -> bool:  # asked by the loop
        iterating.set()
        return stopping.is_set()

    try:
        with lock_state(Path(asked["lock"]), Path(asked["folder"]), wait=True):  # no other process writes the file
            _solve(asked, stopped, tell)
    except RegretlessError as error:
        tell({"event": "error", "message": error.worded(Advice.in_words)})
        return error.exit_code
    except MemoryError:
        tell({"event": "error", "message": "not enough memory"})
        return 3
    return 0


def _solve(asked: dict[str, Any], stopped: Callable[[], bool], tell: Callable[[dict[str, Any]], None]) -> None:
    file = Path(asked["file"])
    options: dict[str, Any] = {name: value for name, value in asked["options"].items() if value is not None}
    if asked["resume"] is not None:
        options["resume"] = load(asked["resume"], to_resume=True)
    problem = _problem(asked, options)
    with report_enumeration(_notes(tell)):
        if options.get("variant") == EXACT:
            solution = solve(problem, options)
        else:
            solution = _iterate(problem, options, file, stopped, tell)
    if solution.reason != "interrupted":
        solution.save(file, resumable=solution.snapshot is not None)
        tell({"event": "saved", "iteration": solution.iterations})
    tell(
        {
            "event": "end",
            "state": "stopped" if solution.reason == "interrupted" else "done",
            "reason": solution.reason,
            "iteration": solution.iterations,
            "seconds": solution.seconds,
            "exploitability": solution.scale * max(solution.exploitability, 0.0),
        }
    )


def _notes(tell: Callable[[dict[str, Any]], None]) -> Callable[[Enumeration], None]:
    """Notes on how far the enumeration of a game is, one per second."""
    next_note = 0.0

    def note(walk: Enumeration) -> None:
        nonlocal next_note
        if walk.seconds >= next_note:
            next_note = walk.seconds + 1.0
            size = f"{walk.nodes:,} nodes, {memory_text(walk.memory_bytes)}"
            tell({"event": "note", "message": f"enumerating the game: {size} so far"})

    return note


def _problem(asked: dict[str, Any], options: dict[str, Any]) -> Problem[Any, Any]:
    if asked["game"] is not None:
        return problem_of(asked["game"], options)
    if asked["toml"] is None and not isinstance(options.get("resume"), SpotSolution):
        return problem_of(None, options)
    spot = None if asked["toml"] is None else Spot.parse(asked["toml"], warn=False)
    return _BrowsableProblem(spot_problem(spot, options).spot)


def _iterate(
    problem: Problem[Any, Any],
    options: dict[str, Any],
    file: Path,
    stopped: Callable[[], bool],
    tell: Callable[[dict[str, Any]], None],
) -> Solution:
    request = make_request(problem, options)
    target, earlier = request.settings.target, request.resume
    reports = _Reports(tell, problem.scale, Forecast(target), 0.0 if earlier is None else earlier.seconds)
    size = 0
    if isinstance(problem, SpotProblem):
        storage = request.settings.storage or 32
        size = estimate_spot(problem.spot, predicts=request.predicts, size=problem.public_size()).memory_bytes[storage]
        if not kernels_are_compiled(FormKind.PUBLIC, storage):
            tell({"event": "note", "message": "compiling kernels for this machine: once, about 20 seconds"})

    def checkpointed(failed: InvalidFile | None) -> None:
        if failed is None:
            tell({"event": "saved", "iteration": reports.iteration})
        else:
            tell({"event": "note", "message": str(failed)})

    started = start(
        problem,
        options
        | {
            "report": reports.read,
            "interrupted": stopped,
            "checkpoint": file,
            "checkpointed": checkpointed,
            "save_every": max(SAVE_EVERY, size / BYTES_PER_SECOND / SAVING_SHARE),
        },
    )
    tell(
        {
            "event": "ready",
            "iterations": request.settings.iterations,
            "target": None if target is None else problem.scale * target,
            "memory_bytes": started.engine.memory_bytes,
            "device": started.engine.device,
            "threads": started.engine.threads,
            "curve": []
            if earlier is None
            else [[each.iteration, each.seconds, each.exploitability] for each in earlier.curve],
        }
    )
    return drive(started.engine, started.steps)


class _Reports:
    """Turns the loop's reports into events."""

    def __init__(
        self, tell: Callable[[dict[str, Any]], None], scale: float, forecast: Forecast, seconds_before: float
    ) -> None:
        self.tell, self.scale, self.forecast = tell, scale, forecast
        self.seconds_before = seconds_before  # of the solve that this one resumes
        self.iteration = 0
        self._measured: float | None = None
        self._told = 0.0

    def read(self, progress: Progress) -> None:
        """Tell the server what it does not know yet."""
        outlook = self.forecast.read(progress)
        self.iteration = progress.iteration
        seconds = self.seconds_before + progress.seconds
        known = None if progress.exploitability is None else self.scale * max(progress.exploitability, 0.0)
        if known is not None and progress.exploitability != self._measured:
            self._measured = progress.exploitability
            self.tell({"event": "point", "point": [progress.iteration, seconds, known]})
        now = time.monotonic()
        if now - self._told >= REPORT_EVERY:
            self._told = now
            self.tell(
                {
                    "event": "progress",
                    "iteration": progress.iteration,
                    "seconds": seconds,
                    "exploitability": known,
                    "seconds_left": None if outlook.seconds_left is None else round(outlook.seconds_left, 1),
                    "share": round(outlook.share, 4),
                }
            )


# --- the process -----------------------------------------------------------------------------------------------------


def _events() -> Callable[[dict[str, Any]], None]:
    """A function that writes events to what was stdout; anything else that is printed goes to stderr."""
    sys.stdout.flush()
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(event: dict[str, Any]) -> None:
        try:
            stream.write(json.dumps(event, allow_nan=False) + "\n")
            stream.flush()
        except (BrokenPipeError, ValueError):  # the server has gone: the end of stdin says so too
            pass

    return tell


def _watch(stream: TextIO, iterating: threading.Event) -> threading.Event:
    """An event that is set when the server says stop, or ends; before the first iteration, that ends the process."""
    stopping = threading.Event()

    def read() -> None:
        stream.readline()
        stopping.set()
        if not iterating.is_set():
            os._exit(1)  # compiling a large game takes minutes, and there is nothing to save

    threading.Thread(target=read, daemon=True).start()
    return stopping


def _limit_memory(share: float) -> None:
    """Let a solve that needs more memory than is free fail by itself, without harming the server."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (int(share * available_bytes()), resource.RLIM_INFINITY))
        Path("/proc/self/oom_score_adj").write_text("800")  # this process goes first if memory runs out all the same


if __name__ == "__main__":
    sys.exit(main())

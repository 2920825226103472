"""Flops of hands that are being played, solved one after another in one process: `python -m regretless.workers.flops`.

A player waits for each flop, so the process stays, with its kernels loaded. The supervisor writes tasks to stdin, each
as a line of JSON, and perhaps "stop", which ends the present solve. The worker answers with events:

    {"event": "ready"}         kernels are loaded: tasks begin at once
    {"event": "note", …}       what it is doing, in words
    {"event": "progress", …}   about five per second
    {"event": "end", …}        the flop is solved and saved, or the solve was stopped and nothing is saved
    {"event": "error", …}      one sentence; the next task may go well

Every task has one "end" or "error". If stdin ends, the process ends.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from regretless.api import load
from regretless.engines import FormKind, devices, kernels_are_compiled
from regretless.errors import Advice, RegretlessError
from regretless.holdem.expected_time import TIMED
from regretless.holdem.games.game_spots import solve_saved
from regretless.holdem.games.pricing import PricedSolution
from regretless.holdem.games.safe_spots import Blueprint
from regretless.holdem.problem import TARGET, solve_spot
from regretless.holdem.spots.spot import Spot
from regretless.solving.forecast import Forecast
from regretless.solving.options import SolveOptions, SpotKeywords
from regretless.supervision import Channel, limit_memory
from regretless.workers.solve import Reports, Send

__all__ = ["MODULE", "FlopTask", "main"]

MODULE = "regretless.workers.flops"  # what a supervisor starts; this module is then called __main__
STOP = "stop"


@dataclass(frozen=True, kw_only=True)
class FlopTask:
    """A flop to solve."""

    toml: str  # of the spot
    folder: str  # to save to; its parent exists
    path: str  # the line of the game that leads to it
    safe_in: str | None = None  # the file of the game, whose values the opponent keeps; None: solved plainly
    options: SolveOptions

    def line(self) -> str:
        """The task as the line that the worker reads."""
        return json.dumps({**vars(self), "options": dict(self.options.given())})

    @classmethod
    def read(cls, line: str) -> FlopTask:
        """The task of a line."""
        fields = json.loads(line)
        return cls(**{**fields, "options": SolveOptions.read(fields["options"])})


def main() -> int:
    """Solve the tasks that stdin names, until it ends."""
    channel = Channel()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the supervisor's terminal reaches this process too
    tasks: queue.SimpleQueue[FlopTask] = queue.SimpleQueue()
    stopping = threading.Event()

    def read(line: str) -> None:
        if line.strip() == STOP:
            stopping.set()
        else:
            stopping.clear()  # it meant the task before, which has ended
            tasks.put(FlopTask.read(line))

    limit_memory(1.0)  # while kernels are loaded
    channel.listen(read, lambda: os._exit(0))
    _load_kernels(channel.send)
    channel.send({"event": "ready"})
    while True:
        task = tasks.get()
        try:
            channel.send(_solve(task, stopping, channel.send))
        except RegretlessError as error:
            channel.send({"event": "error", "message": error.worded(Advice.in_words)})
        except MemoryError:
            channel.send({"event": "error", "message": "not enough memory"})


def _load_kernels(send: Send) -> None:
    """Solve a small spot on the fastest device and save it, so that the first flop need not wait for kernels."""
    device = "cuda" if devices.cuda_devices() else "cpu"
    if device == "cpu" and not kernels_are_compiled(FormKind.PUBLIC, 32):
        send({"event": "note", "message": "compiling kernels for this machine: once, about 20 seconds"})
    with suppress(RegretlessError, MemoryError, OSError), TemporaryDirectory() as folder:  # a task says what is wrong
        solution = solve_spot(TIMED, iterations=1, device=device, threads=1 if device == "cpu" else None)
        solution.save(Path(folder) / "timed.rgl")


def _solve(task: FlopTask, stopping: threading.Event, send: Send) -> dict[str, object]:
    """Solve a flop and save it; returns the event that says how it ended."""
    limit_memory(1.0)  # of what is free now, perhaps hours after the process began
    spot, options = Spot.parse(task.toml, warn=False), task.options
    target = TARGET if options.target is None else options.target
    blueprint = None
    if task.safe_in is not None:
        game = load(task.safe_in)
        assert isinstance(game, PricedSolution)
        blueprint = Blueprint(game.reader, game.reader.find(task.path))
    reports = Reports(send, 100 / spot.pot, Forecast(target / 100 * spot.pot), 0.0)
    keywords = cast("SpotKeywords", dict(replace(options, report=reports.read, interrupted=stopping.is_set).given()))
    began = time.monotonic()
    solution = solve_saved(spot, Path(task.folder), blueprint, **keywords)
    return {
        "event": "end",
        "state": "stopped" if solution.reason == "interrupted" else "done",
        "seconds": time.monotonic() - began,
        "device": solution.device,
    }


if __name__ == "__main__":
    sys.exit(main())

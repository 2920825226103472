"""Flops that are solved while hands are played: one at a time, in one process that stays for the next one.

A player waits for each flop, so these solves do not queue behind those of the Solve view, and their process
(`workers.flops`) begins to load its kernels when a player sits down. It ends when it has had nothing to do for a while.
The worker checks that a flop fits in the memory that is free before it takes any; if it crashes, one solve fails.

Everything here happens in the event loop of the server, so nothing needs a lock.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass

from regretless.files.state import check_state_folder, create_state, state_folder
from regretless.page.endpoint import Conflict, TooMany
from regretless.page.folder import STATE
from regretless.page.jobs import new_id
from regretless.page.library import Library
from regretless.page.schema import Json, integer, nullable, number, obj, text
from regretless.page.solve_feed import Streams
from regretless.supervision import Message, WorkerProcess
from regretless.workers.flops import MODULE, STOP, FlopTask

__all__ = ["FLOP_SOLVE", "FlopSolve", "FlopSolver"]

MAX_WAITING = 20
IDLE_SECONDS = 600.0  # without a flop, after which the process ends
CLOSING_SECONDS = 10.0
PROGRESS = ("iteration", "seconds", "exploitability", "seconds_left", "share")
FLOP_SOLVE = obj(
    {
        "id": text(),
        "line": text("of the game, to the flop"),
        "state": text(enum=["queued", "starting", "running", "stopping", "stopped", "done", "failed"]),
        "message": nullable(text("one sentence: what it does, or why it failed")),
        "place": integer("in the queue; 0 when it is its turn"),
        "iteration": integer(),
        "seconds": number("spent so far"),
        "exploitability": nullable(number("percent of the pot")),
        "target": number("percent of the pot"),
        "seconds_left": nullable(number()),
        "share": number("of the way, 0 to 1"),
        "device": nullable(text()),
    },
    "the solve of a flop that a hand waits for",
)


@dataclass(eq=False)
class FlopSolve:
    """The solve of a flop. Changed in the event loop only."""

    id: str
    task: FlopTask
    target: float  # percent of the pot
    state: str = "queued"
    message: str | None = None
    iteration: int = 0
    seconds: float = 0.0
    exploitability: float | None = None
    seconds_left: float | None = None
    share: float = 0.0
    device: str | None = None

    @property
    def is_over(self) -> bool:
        return self.state in ("stopped", "done", "failed")


class FlopSolver:
    """The flops of a server that wait or are solved, and the process that solves them."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._folder = library.folder / STATE / "play"
        check_state_folder(self._folder, library.folder)
        self._waiting: deque[FlopSolve] = deque()
        self._arrived = asyncio.Event()
        self._present: FlopSolve | None = None
        self._process: WorkerProcess | None = None
        self._serving: asyncio.Task[None] | None = None
        self._streams = Streams()
        self._closing = False

    # --- requests ----------------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Start the process, if it is not there: a hand begins."""
        if self._closing:
            raise Conflict("the server is ending")
        if self._serving is None or self._serving.done():
            self._serving = asyncio.get_running_loop().create_task(self._serve())

    def add(self, task: FlopTask, target: float) -> FlopSolve:
        """Solve a flop as soon as no other is being solved."""
        if len(self._waiting) >= MAX_WAITING:
            raise TooMany(f"{MAX_WAITING} flops are waiting already")
        self.prepare()
        solve = FlopSolve(new_id(), task, target)
        self._waiting.append(solve)
        self._arrived.set()
        return solve

    def stop(self, solve: FlopSolve) -> None:
        """Stop a solve: its flop stays unsolved. One that is over stays as it is."""
        if solve in self._waiting:
            self._waiting.remove(solve)
            self._change(solve, state="stopped")
        elif solve is self._present and not solve.is_over and self._process is not None:
            if solve.state == "starting":
                self._process.kill()  # it compiles, and would not look whether it is stopped
            else:
                self._process.send(STOP)
            self._change(solve, state="stopping")

    async def close(self) -> None:
        """End the process, and what it solves."""
        self._closing = True
        self._streams.close()
        self._arrived.set()
        if self._process is not None:
            self._process.kill()
        if self._serving is not None:
            await asyncio.wait([self._serving], timeout=CLOSING_SECONDS)

    def end_streams(self) -> None:
        """End the streams that pages follow."""
        self._streams.close()

    @property
    def is_crowded(self) -> bool:
        """Whether no more streams can be followed."""
        return self._streams.is_crowded

    def as_json(self, solve: FlopSolve) -> Json:
        """A solve as the API shows it."""
        return {
            "id": solve.id,
            "line": solve.task.path,
            "state": solve.state,
            "message": solve.message,
            "place": self._waiting.index(solve) + 1 if solve in self._waiting else 0,
            "target": solve.target,
            "device": solve.device,
            **{name: getattr(solve, name) for name in PROGRESS},
        }

    async def events_of(self, solve: FlopSolve | None) -> AsyncIterator[tuple[str, object] | None]:
        """The solve whenever it has changed, until it is over; nothing if there is none."""
        sent = None
        async for alive in self._streams.changes():
            if solve is None:
                return
            if alive:
                yield None
            elif (now := self.as_json(solve)) != sent:
                sent = now
                yield "solve", now
            if solve.is_over:
                return

    # --- the process -------------------------------------------------------------------------------------------------

    def _change(self, solve: FlopSolve, **changes: object) -> None:
        for name, value in changes.items():
            setattr(solve, name, value)
        self._streams.wake()

    async def _serve(self) -> None:
        """Let processes solve what waits, until nothing has for a while."""
        try:
            while not self._closing and await self._follow_process():
                pass
        except Exception as error:  # whatever happens to one flop must not end the server
            for solve in [self._present, *self._waiting]:
                if solve is not None:
                    message = self.library.without_folder(f"the solve could not be started: {error}")
                    self._change(solve, state="failed", message=message)
            self._waiting.clear()
        finally:
            self._process = self._present = None

    async def _follow_process(self) -> bool:
        """Let one process solve what waits until it ends; whether there may be more for another."""
        loop = asyncio.get_running_loop()
        events: asyncio.Queue[Message | str] = asyncio.Queue()

        def put(event: Message | str) -> None:  # called by the thread that follows the process
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(events.put_nowait, event)

        state_folder(self._folder, self.library.folder)
        log = create_state(self._folder / "flops.log", self.library.folder)
        process = self._process = WorkerProcess(MODULE, log, put, put)
        while not self._closing:
            if not self._waiting:
                self._arrived.clear()
                try:
                    await asyncio.wait_for(self._arrived.wait(), IDLE_SECONDS)
                except TimeoutError:
                    break
                continue
            note = None
            while not events.empty():  # what it has said meanwhile
                event = events.get_nowait()
                if isinstance(event, str):
                    return True  # it has died: another takes its place
                note = event.get("message")
            solve = self._present = self._waiting.popleft()
            self._change(solve, state="starting", message=note)
            await asyncio.to_thread(process.send, solve.task.line())
            while not solve.is_over:
                event = await events.get()
                self._read(solve, event)
                if isinstance(event, str):
                    return True
            self._present = None
        process.hang_up()
        return False

    def _read(self, solve: FlopSolve, event: Message | str) -> None:
        if isinstance(event, str):
            if solve.state == "stopping":
                self._change(solve, state="stopped", message=None)
            else:
                self._change(solve, state="failed", message=self.library.without_folder(f"the process {event}"))
            return
        match event["event"]:
            case "ready":
                self._change(solve, message=None)
            case "note":
                self._change(solve, message=event["message"])
            case "progress":
                state = "running" if solve.state == "starting" else solve.state
                self._change(solve, state=state, message=None, **{name: event[name] for name in PROGRESS})
            case "end":
                done = {"share": 1.0} if event["state"] == "done" else {}
                seconds = {"seconds": event["seconds"], "seconds_left": None, "device": event["device"]}
                self._change(solve, state=event["state"], message=None, **seconds, **done)
            case "error":
                message = self.library.without_folder(event["message"])
                self._change(solve, state="failed", message=message, seconds_left=None)

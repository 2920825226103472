"""Flops that are solved while hands are played: one at a time, in one process that stays for the next one.

A player waits for each flop, so these solves do not queue behind those of the Solve view, and their process
(`workers.flops`) begins to load its kernels when a player sits down. It ends when it has had nothing to do for a while.
The worker checks that a flop fits in the memory that is free before it takes any; if it crashes, one solve fails.

Solutions that nobody asked to keep lie in the server's own folder, so many bytes of them at most: when a flop is
solved, the oldest that no hand in play has come to are deleted.

Everything here happens in the event loop of the server, so nothing needs a lock.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator, Callable, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from regretless.errors import InvalidFile
from regretless.files.atomic import reason
from regretless.files.state import check_state_folder, create_state, remove_state, state_folder
from regretless.page.endpoint import Conflict
from regretless.page.folder import STATE
from regretless.page.jobs import new_id
from regretless.page.library import Library
from regretless.page.schema import Json, integer, nullable, number, obj, text
from regretless.page.solve_feed import Streams
from regretless.supervision import Message, WorkerProcess
from regretless.workers.flops import MODULE, STOP, FlopTask

__all__ = ["FLOP_SOLVE", "FlopSolve", "FlopSolver"]

MAX_WAITING = 20
MAX_FLOP_BYTES = 4 * 2**30  # of flops that nobody asked to keep
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

    def __init__(self, library: Library, files_in_use: Callable[[], Set[Path]]) -> None:
        self.library = library
        self._files_in_use = files_in_use
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
        """Solve a flop as soon as no other is being solved; if too many wait, its solve has failed.

        The hand has come to its flop by now, so nothing is refused: the player can ask for another solve.
        """
        solve = FlopSolve(new_id(), task, target)
        if len(self._waiting) >= MAX_WAITING:
            self._change(solve, state="failed", message=f"{MAX_WAITING} flops are waiting already")
            return solve
        self.prepare()
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

    def _fail(self, solve: FlopSolve, message: str) -> None:
        self._change(solve, state="failed", message=self.library.without_folder(message), seconds_left=None)

    async def _serve(self) -> None:
        """Let processes solve what waits, until nothing has for a while."""
        try:
            while not self._closing and await self._follow_process():
                pass
        except Exception as error:  # whatever happens to one flop must not end the server
            for solve in [self._present, *self._waiting]:
                if solve is not None:
                    self._fail(solve, f"the solve could not be started: {error}")
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
                    if not self._waiting:  # one may have arrived as the time ran out
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
            try:
                await asyncio.to_thread(self._send, process, solve.task)
            except InvalidFile as error:
                self._fail(solve, f"the solve could not be started: {error}")
            while not solve.is_over:
                event = await events.get()
                self._read(solve, event)
                if isinstance(event, str):
                    return True
            self._present = None
            if solve.state == "done":
                await asyncio.to_thread(_delete_oldest, self._folder, self.library.folder, self._files_in_use())
        process.hang_up()
        return False

    def _send(self, process: WorkerProcess, task: FlopTask) -> None:
        """Send a task, whose folder is in one that somebody may have deleted meanwhile."""
        folder = Path(task.folder).parent
        try:
            state_folder(folder, self.library.folder)
        except OSError as error:
            raise InvalidFile(folder, f"cannot be created: {reason(error)}") from None
        process.send(task.line())

    def _read(self, solve: FlopSolve, event: Message | str) -> None:
        if isinstance(event, str):
            if solve.state == "stopping":
                self._change(solve, state="stopped", message=None)
            else:
                self._fail(solve, f"the process {event}")
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
                self._fail(solve, event["message"])


def _delete_oldest(folder: Path, root: Path, in_use: Set[Path]) -> None:
    """Delete the oldest flops of a folder, but none in use, until the rest is small enough; no link is followed."""
    files = []
    with suppress(OSError, InvalidFile):
        check_state_folder(folder, root)
        with os.scandir(folder) as entries:
            games = [folder / entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        for game in games:
            with suppress(OSError), os.scandir(game) as entries:
                for entry in entries:
                    if entry.name.endswith(".rgl") and entry.is_file(follow_symlinks=False):
                        status = entry.stat(follow_symlinks=False)
                        files.append((status.st_mtime, status.st_size, game / entry.name))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= MAX_FLOP_BYTES:
            break
        if path not in in_use:
            with suppress(InvalidFile):
                remove_state(path, root)
                total -= size

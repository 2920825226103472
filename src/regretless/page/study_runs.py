"""Studies that run from the page; one at a time, the rest wait their turn.

A run is a process of its own (`cluster.supervised`). All that is kept of it is the folder of the study, which holds
every spot that is solved: a study is resumed from there, whoever started it and however that ended.

The runs change in the event loop of the server only, so nothing needs a lock.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256

from regretless.cluster.supervised import MODULE, StudyTask
from regretless.errors import RegretlessError
from regretless.files.state import check_state_folder, create_state, state_folder
from regretless.page.endpoint import Conflict, TooMany
from regretless.page.folder import STATE
from regretless.page.library import Library
from regretless.page.schema import Json, array, integer, nullable, number, obj, text
from regretless.supervision import Message, WorkerProcess

__all__ = ["RUN", "StudyRuns"]

MAX_WAITING = 20
CLOSING_SECONDS = 30.0  # for runs to end with the server
RUN = obj(
    {
        "state": text(enum=["queued", "starting", "running", "stopping", "stopped", "done", "failed"]),
        "message": nullable(text("why it failed")),
        "errors": array(obj({"spot": text(), "message": text()}), "of spots that failed"),
        "done": integer("spots that are solved"),
        "failed": integer(),
        "running": integer(),
        "seconds_left": nullable(number()),
    },
    "a run that was started from this page",
)


@dataclass
class PageRun:
    """A study that is run from the page, or was."""

    study: str
    toml: str
    state: str = "queued"
    message: str | None = None
    progress: Json = field(default_factory=lambda: {"done": 0, "failed": 0, "running": 0, "seconds_left": None})
    errors: list[Json] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        return self.state in ("stopped", "done", "failed")

    def as_json(self) -> Json:
        """What the API calls the run of a study."""
        return {"state": self.state, "message": self.message, "errors": self.errors, **self.progress}


class StudyRuns:
    """The studies of a served folder that run, wait or have ended."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.runs: dict[str, PageRun] = {}
        self._folder = library.folder / STATE / "studies"
        check_state_folder(self._folder, library.folder)
        self._processes: dict[str, WorkerProcess] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._closing = False

    def state_of(self, study: str) -> Json | None:
        """The run of a study; None if this server has not run it."""
        run = self.runs.get(study)
        return None if run is None else run.as_json()

    def add(self, study: str, toml: str) -> PageRun:
        """Run a study, or resume it, as soon as no other runs."""
        known = self.runs.get(study)
        if known is not None and not known.is_over:
            raise Conflict(f"study: {study!r} is being solved already", "study")
        if self._closing:
            raise Conflict("the server is ending")
        if sum(not run.is_over for run in self.runs.values()) >= MAX_WAITING:
            raise TooMany(f"{MAX_WAITING} studies are waiting already")
        self.runs.pop(study, None)
        run = self.runs[study] = PageRun(study, toml)
        self._start_next()
        return run

    def stop(self, study: str) -> PageRun:
        """Stop a study; what is solved stays."""
        run = self.runs.get(study)
        if run is None or run.is_over:
            raise Conflict(f"study: {study!r} is not being solved from this page", "study")
        process = self._processes.get(study)
        if process is not None and run.state == "starting":
            process.kill()  # it estimates, and has nothing to save
        elif process is not None:
            process.send("stop")
        run.state = "stopping" if study in self._tasks else "stopped"
        return run

    async def close(self) -> None:
        """Stop what runs."""
        self._closing = True
        for run in self.runs.values():
            if not run.is_over:
                self.stop(run.study)
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=CLOSING_SECONDS)
        for process in self._processes.values():
            process.kill()

    def _start_next(self) -> None:
        if self._tasks or self._closing:
            return
        run = next((run for run in self.runs.values() if run.state == "queued"), None)
        if run is not None:
            run.state = "starting"
            self._tasks[run.study] = asyncio.get_running_loop().create_task(self._run(run))

    async def _run(self, run: PageRun) -> None:
        try:
            await self._follow(run)
        except (RegretlessError, OSError) as error:
            run.state, run.message = "failed", self.library.without_folder(f"the study could not be started: {error}")
        finally:
            self._processes.pop(run.study, None)
            self._tasks.pop(run.study, None)
            self._start_next()

    async def _follow(self, run: PageRun) -> None:
        loop = asyncio.get_running_loop()
        events: asyncio.Queue[Message | str] = asyncio.Queue()

        def put(event: Message | str) -> None:  # called by the thread that follows the process
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(events.put_nowait, event)

        state_folder(self._folder, self.library.folder)
        log = create_state(self._folder / f"{sha256(run.study.encode()).hexdigest()[:16]}.log", self.library.folder)
        if run.state == "stopping":
            log.close()
            run.state = "stopped"
            return
        process = self._processes[run.study] = WorkerProcess(MODULE, log, put, put)
        path = self.library.folder / run.study
        await asyncio.to_thread(process.send, StudyTask(run.toml, str(path)).line())
        end: Message = {}
        while not isinstance(event := await events.get(), str):
            match event["event"]:
                case "begun" if run.state == "starting":
                    run.state = "running"
                case "progress":
                    run.progress = {name: event[name] for name in run.progress}
                case "error" | "end":
                    end = event
        self._end(run, end, event)

    def _end(self, run: PageRun, end: Message, reason: str) -> None:
        """Take over how a run ended, once its process has; a run that is over can be resumed."""
        message = end.get("message")
        if not end and run.state == "stopping":
            run.state = "stopped"
            return
        if not end:
            message = f"the process {reason}"
        elif end["event"] == "end":
            run.errors = end["errors"]
            run.progress = {"done": end["done"], "failed": end["failed"], "running": 0, "seconds_left": 0.0}
        run.state = end.get("state", "failed")
        run.message = message and self.library.without_folder(message)

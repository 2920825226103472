"""The queue of solves: a few run at once, each in its own process; the rest wait their turn.

A solve begins when fewer than `limit` are running and the memory that it needs is free, not counting what solves that
have just begun are about to take. One that could never fit is refused at once. A process that ends without saying why
has crashed (`supervision`): the solve says so, and keeps what was saved.

Everything here happens in the event loop of the server, so nothing needs a lock.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
import warnings
from collections.abc import AsyncIterator
from dataclasses import replace
from hashlib import sha256

from regretless.errors import InvalidFile, RegretlessError, UnreadableSolve, bytes_text
from regretless.files.container import open_container
from regretless.files.state import check_state_folder, create_state, state_folder
from regretless.forms.memory import available_bytes
from regretless.page.endpoint import Conflict, NotFound, TooMany
from regretless.page.folder import STATE
from regretless.page.jobs import MAX_SOLVES, SOLVE, JobRequest, SolveJob, new_id, saved_jobs
from regretless.page.library import Library
from regretless.page.schema import Json, Mismatch, check
from regretless.page.solve_feed import Change, SolveFeed
from regretless.solving.options import SolveOptions
from regretless.solving.record import Record
from regretless.supervision import Message, WorkerProcess
from regretless.workers.solve import MODULE, SolveTask

__all__ = ["MAX_QUEUED", "RESUMED", "SolveQueue"]

MAX_QUEUED = 50
CLOSING_SECONDS = 120.0  # for running solves to save when the server ends
RESUMED = ("variant", "storage")  # options that a file to be resumed has decided


class SolveQueue:
    """The solves of a served folder."""

    def __init__(self, library: Library, *, limit: int = 1) -> None:
        self.library = library
        self.limit = limit
        self.folder = library.folder / STATE / "solves"
        check_state_folder(self.folder, library.folder)
        self.jobs: dict[str, SolveJob] = {}
        self._processes: dict[str, WorkerProcess] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._feed = SolveFeed()
        self._revisions: dict[str, str] = {}  # of the files of stopped solves, as last read
        self._closing = False

    def open(self) -> None:
        """Read the solves of earlier servers; warns of those that cannot be read."""
        jobs, errors = saved_jobs(self.folder, self.library.folder)
        for job in jobs:
            try:  # the folder may come from somebody else
                self.library.path(job.request.file, ".rgl")
                job.saved = job.saved and self.library.revision(job.request.file) is not None
                check(self.as_json(job), SOLVE)
            except (RegretlessError, Mismatch) as error:
                errors.append(InvalidFile(self.folder / f"{job.id}.json", f"is damaged: {error}"))
            else:
                self.jobs[job.id] = job
        if errors:
            more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
            first = self.library.without_folder(str(errors[0]))
            warnings.warn(UnreadableSolve(f"a solve of an earlier server is not listed: {first}{more}"), stacklevel=2)
        for job in self.jobs.values():
            self._read_end(job)

    async def close(self) -> None:
        """Stop the running solves, and wait until they are saved."""
        self.end_streams()
        for job in list(self.jobs.values()):
            if job.id in self._tasks:
                self._stop(job)
            elif not job.is_over:
                self._end(job, "stopped", "the server ended before the solve began: resume it")
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=CLOSING_SECONDS)

    def end_streams(self) -> None:
        """End the streams that pages follow; nothing more can be started."""
        self._closing = True
        self._feed.close()

    # --- requests ----------------------------------------------------------------------------------------------------

    def get(self, id_: str) -> SolveJob:
        """The solve with this id."""
        job = self.jobs.get(id_)
        if job is None:
            raise NotFound(f"there is no solve {id_[:40]!r}")
        self._read_end(job)
        return job

    def add(self, request: JobRequest) -> SolveJob:
        """Queue a solve."""
        self._check_room()
        job = SolveJob(new_id(), request, time.time(), target=request.options.get("target"))
        job.iterations = request.options.get("iterations")
        job.saved = request.resume == request.file
        self._make_folder()
        self.jobs[job.id] = job
        while len(self.jobs) > MAX_SOLVES:
            oldest = next((each for each in self.jobs.values() if each.is_over), None)
            if oldest is None:
                break
            self.remove(oldest.id)
        self._changed(job)
        self._start_next()
        return job

    def stop(self, id_: str) -> SolveJob:
        """Stop a solve; one that runs saves first."""
        job = self.get(id_)
        if job.is_over:
            raise Conflict(f"the solve of {job.request.name} is already over")
        if job.id in self._tasks:
            self._stop(job)
        else:
            self._end(job, "stopped", None)
        return job

    def resume(self, id_: str, request: JobRequest) -> SolveJob:
        """Queue a solve that is over again, with a request that is like its own."""
        job = self.get(id_)
        if not job.is_over:
            raise Conflict(f"the solve of {job.request.name} is not over")
        self._check_room()
        if request.file in self.writing():
            raise Conflict(f"{request.file} is being solved already")
        self._make_folder()
        if any(job.request.options.get(name) != request.options.get(name) for name in ("target", "iterations")):
            job.target, job.iterations = request.options.get("target"), request.options.get("iterations")
        job.request, job.saved = request, request.resume == request.file
        job.state, job.message, job.ended, job.share, job.seconds_left = "queued", None, None, 0.0, None
        self.jobs[job.id] = self.jobs.pop(job.id)  # last in the queue
        self._changed(job)
        self._start_next()
        return job

    def remove(self, id_: str) -> None:
        """Remove a solve that is over from the list; its file stays."""
        job = self.get(id_)
        if not job.is_over:
            raise Conflict(f"the solve of {job.request.name} is not over: stop it first")
        del self.jobs[job.id]
        for suffix in (".json", ".log"):
            with contextlib.suppress(OSError):
                (self.folder / f"{job.id}{suffix}").unlink()
        self._feed.wake()

    def writing(self) -> dict[str, str]:
        """The files of solves that are not over, and the solves."""
        return {job.request.file: job.id for job in self.jobs.values() if not job.is_over}

    def rename(self, file: str, to: str) -> None:
        """Let the solves of a file follow it to another name."""
        for job in self.jobs.values():
            request = job.request
            job.request = replace(
                request,
                file=to if request.file == file else request.file,
                resume=to if request.resume == file else request.resume,
                again=to if request.again == file else request.again,
            )
            if job.request != request:
                self._changed(job)

    def as_json(self, job: SolveJob, *, curve: bool = True) -> Json:
        """A solve as the API shows it."""
        waiting = [each.id for each in self.jobs.values() if each.state == "queued"]
        position = waiting.index(job.id) + 1 if job.id in waiting else None
        revision = self.library.revision(job.request.file) if job.saved else None
        process = self._processes.get(job.id)
        pid = None if process is None else process.pid
        return job.as_json(position=position, revision=revision, pid=pid, curve=curve)

    def all_as_json(self) -> list[Json]:
        """All solves, newest first, without their curves."""
        for job in self.jobs.values():
            self._read_end(job)
        newest = sorted(self.jobs.values(), key=lambda job: job.created, reverse=True)
        return [self.as_json(job, curve=False) for job in newest]

    @property
    def is_crowded(self) -> bool:
        """Whether no more streams can be followed."""
        return self._feed.is_crowded

    def events_of(self, job: SolveJob) -> AsyncIterator[tuple[str, object] | None]:
        """The solve, then everything new about it, until it is over."""
        return self._feed.solve(job, self.as_json)

    def events(self) -> AsyncIterator[tuple[str, object] | None]:
        """The list of solves, whenever one changes its state."""
        return self._feed.solves(self.jobs.values, self.all_as_json)

    def _check_room(self) -> None:
        if self._closing:
            raise Conflict("the server is ending")
        if sum(job.state == "queued" for job in self.jobs.values()) >= MAX_QUEUED:
            raise TooMany(f"{MAX_QUEUED} solves are waiting already")

    def _read_end(self, job: SolveJob) -> None:
        """Let a solve that was under way when its server died end as its file says.

        Its process saves once more before it ends, perhaps after this server has started, and perhaps it had finished.
        """
        if job.state != "stopped":
            return
        file = job.request.file
        revision = self.library.revision(file)
        if revision is None or self._revisions.get(job.id) == revision:
            return
        self._revisions[job.id] = revision
        with contextlib.suppress(RegretlessError):  # not a solution: opening it says so
            record = Record.read(open_container(self.library.existing(file, ".rgl")))
            job.saved, job.iteration, job.seconds = True, record.iterations, record.seconds
            if record.reason != "interrupted":
                self._read_result(job, record.reason)

    def _read_result(self, job: SolveJob, reason: str) -> None:
        """Let a job be done if its file is its result, not that of the solve it resumes."""
        file = job.request.file
        is_spot = self.library.summary(file).kind == "spot"
        with self.library.spot(file) if is_spot else self.library.game(file) as (solution, _):
            scale, settings, exploitability = solution.scale, solution.settings, solution.exploitability
        target = None if settings.target is None else scale * settings.target
        has_target = job.target is None or (target is not None and math.isclose(job.target, target))
        if has_target and job.iterations in (None, settings.iterations):
            job.state, job.share, job.target = "done", 1.0, target
            job.exploitability = scale * max(exploitability, 0.0)
            job.message = _shortfall(reason, job)

    # --- processes ---------------------------------------------------------------------------------------------------

    def _changed(self, job: SolveJob) -> None:
        """A job changed its state."""
        self._feed.note(job, Change.STATE)
        job.save(self.folder, self.library.folder)
        self._feed.wake()

    def _make_folder(self) -> None:
        try:
            state_folder(self.folder, self.library.folder)
        except OSError as error:
            raise RegretlessError(f"the served folder cannot be written: {error.strerror}") from None

    def _start_next(self) -> None:
        """Start waiting solves while there is room for them."""
        for job in list(self.jobs.values()):
            if job.state != "queued" or len(self._tasks) >= self.limit or self._closing:
                continue
            promised = sum(other.request.needed_bytes for other in self.jobs.values() if other.state == "starting")
            free = available_bytes() - promised
            if job.request.needed_bytes > free and self._tasks:
                needed, left = bytes_text(job.request.needed_bytes), bytes_text(max(free, 0))
                job.message = f"waits for memory: it needs {needed}, {left} are free"
                self._changed(job)
                return
            job.state, job.message, job.started = "starting", None, time.time()
            task = asyncio.get_running_loop().create_task(self._run(job))
            self._tasks[job.id] = task
            self._changed(job)

    async def _run(self, job: SolveJob) -> None:
        try:
            await self._solve(job)
        except Exception as error:  # the queue must go on, whatever happens to one solve
            self._end(job, "failed", f"the solve could not be started: {error}")
        finally:
            self._processes.pop(job.id, None)
            self._tasks.pop(job.id, None)
            if not self._closing:
                self._start_next()

    async def _solve(self, job: SolveJob) -> None:
        if job.state == "stopping":  # before its process was started
            self._end(job, "stopped", None)
            return
        loop = asyncio.get_running_loop()
        events: asyncio.Queue[Message | str] = asyncio.Queue()

        def put(event: Message | str) -> None:  # called by the thread that follows the process
            with contextlib.suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(events.put_nowait, event)

        task = self._task(job)
        log = create_state(self.folder / f"{job.id}.log", self.library.folder)
        process = self._processes[job.id] = WorkerProcess(MODULE, log, put, put)
        await asyncio.to_thread(process.send, task.line())  # what a pipe cannot hold waits until the process reads
        end: Message = {}
        while not isinstance(event := await events.get(), str):
            if event["event"] in ("end", "error"):
                end = event
            else:
                self._read(job, event)
        if not end and job.state == "stopping":
            self._end(job, "stopped", None)
        elif not end:
            saved = "what was saved can be resumed" if job.saved else "nothing was saved yet"
            self._end(job, "failed", self.library.without_folder(f"the process {event}; {saved}"))
        elif end["event"] == "error":
            self._end(job, "failed", self.library.without_folder(end["message"]))
        else:
            job.iteration, job.seconds, job.exploitability = end["iteration"], end["seconds"], end["exploitability"]
            job.share = 1.0 if end["state"] == "done" else job.share
            self._end(job, end["state"], _shortfall(end["reason"], job))

    def _task(self, job: SolveJob) -> SolveTask:
        """What the worker solves: from the beginning, or from where the file ends."""
        request = job.request
        file = self.library.path(request.file, ".rgl")
        source = file if job.saved and file.exists() else None
        if source is None and request.resume is not None:
            source = self.library.existing(request.resume, ".rgl")
        options = request.options
        if source is not None:
            options = {name: value for name, value in options.items() if name not in RESUMED}
        return SolveTask(
            folder=str(self.library.folder),
            file=str(file),
            lock=str(self.folder / f"{sha256(request.file.encode()).hexdigest()[:16]}.lock"),
            resume=None if source is None else str(source),
            toml=request.toml if source is None else None,
            game=request.game if source is None else None,
            options=SolveOptions.read(options),
        )

    def _read(self, job: SolveJob, event: Message) -> None:
        match event["event"]:
            case "ready":
                job.iterations, job.target = event["iterations"], event["target"]
                job.memory_bytes, job.curve = event["memory_bytes"], event["curve"]
                job.device, job.threads, job.message = event["device"], event["threads"], None
                if job.state == "starting":
                    job.state = "running"
                self._changed(job)
            case "point":
                job.curve.append(event["point"])
                job.iteration, job.seconds, job.exploitability = event["point"]
            case "progress":
                job.iteration, job.seconds = event["iteration"], event["seconds"]
                job.exploitability = event["exploitability"]
                job.seconds_left, job.share = event["seconds_left"], event["share"]
                self._feed.note(job, Change.PROGRESS)
            case "saved":
                self._feed.note(job, Change.FILE)
                if not job.saved:
                    job.saved = True
                    self._changed(job)
            case "note":
                job.message = self.library.without_folder(event["message"])
                self._changed(job)
        self._feed.wake()

    def _end(self, job: SolveJob, state: str, message: str | None) -> None:
        job.state, job.message, job.ended, job.seconds_left = state, message, time.time(), None
        self._changed(job)

    def _stop(self, job: SolveJob) -> None:
        process = self._processes.get(job.id)  # None if its task has not begun
        if process is not None and job.state == "starting":
            process.kill()  # it compiles and has nothing to save
        elif process is not None:
            process.send("stop")
        if job.state in ("starting", "running"):
            job.state = "stopping"
            self._changed(job)


def _shortfall(reason: str, job: SolveJob) -> str | None:
    """What a solve that ended for this reason did not reach."""
    if reason != "iterations" or job.target is None:
        return None
    return f"the target was not reached within {job.iteration:,} iterations"

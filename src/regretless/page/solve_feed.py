"""Streams that pages follow: what is new about one solve, or the list of solves whenever it changes.

The queue says what has changed; each stream sends what it has not sent yet. Everything here happens in the event loop
of the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from regretless.page.jobs import SolveJob
from regretless.page.schema import Json

__all__ = ["Change", "SolveFeed", "Streams"]

MAX_STREAMS = 64
ALIVE_EVERY = 15.0  # seconds between signs of life in a stream
LIST_EVERY = 0.25  # seconds between two lists, at least
PROGRESS = ("iteration", "seconds", "exploitability", "seconds_left", "share")


class Change(StrEnum):
    """What changes about a solve; new points of its curve need no version."""

    STATE = "state"
    PROGRESS = "progress"
    FILE = "file"


@dataclass
class _Versions:
    """How often a solve's state, progress and file have changed; a stream sends what has a new version."""

    state: int = 1
    progress: int = 0
    file: int = 0


class Streams:
    """Streams that wake whenever something may be new."""

    def __init__(self) -> None:
        self._streams: set[asyncio.Event] = set()  # each is set when there may be something new
        self._closed = False

    @property
    def is_crowded(self) -> bool:
        """Whether no more streams can be followed."""
        return len(self._streams) >= MAX_STREAMS

    def wake(self) -> None:
        """Let every stream send what is new."""
        for event in self._streams:
            event.set()

    def close(self) -> None:
        """End all streams."""
        self._closed = True
        self.wake()

    async def changes(self) -> AsyncIterator[bool]:
        """False at once and after every change; True when nothing has happened for a while."""
        event = asyncio.Event()
        self._streams.add(event)
        try:
            yield False
            while not self._closed:
                try:
                    await asyncio.wait_for(event.wait(), ALIVE_EVERY)
                except TimeoutError:
                    yield True
                    continue
                event.clear()
                yield False
        finally:
            self._streams.discard(event)


class SolveFeed(Streams):
    """The streams of a server's solves, and the versions of these."""

    def __init__(self) -> None:
        super().__init__()
        self._versions: dict[str, _Versions] = {}  # by job

    def note(self, job: SolveJob, change: Change) -> None:
        """Take note of a change, for the next time the streams wake."""
        versions = self._versions.setdefault(job.id, _Versions())
        setattr(versions, change, getattr(versions, change) + 1)

    async def solve(self, job: SolveJob, show: Callable[[SolveJob], Json]) -> AsyncIterator[tuple[str, object] | None]:
        """The solve, then everything new about it, until it is over; `show` says how the API shows it."""
        sent, points = _Versions(state=0), 0
        async for alive in self.changes():
            if alive:
                yield None
                continue
            now = replace(self._versions.get(job.id, _Versions()))
            if now.state != sent.state:
                points, over = len(job.curve), job.is_over
                yield "solve", show(job)
                if over:
                    return
            for point in job.curve[points:]:
                yield "point", point
            points = len(job.curve)
            if now.progress != sent.progress:
                yield "progress", {name: getattr(job, name) for name in PROGRESS}
            if now.file != sent.file:
                shown = show(job)
                yield "saved", {name: shown[name] for name in ("file", "revision", "iteration")}
            sent = now

    async def solves(
        self, jobs: Callable[[], Iterable[SolveJob]], show: Callable[[], list[Json]]
    ) -> AsyncIterator[tuple[str, object] | None]:
        """The list of solves, whenever one is added, goes or changes its state; `show` says how the API shows it."""
        sent = None
        async for alive in self.changes():
            if alive:
                yield None
                continue
            now = [(job.id, self._versions.get(job.id, _Versions()).state) for job in jobs()]
            if now != sent:
                sent = now
                yield "solves", {"solves": show()}
                await asyncio.sleep(LIST_EVERY)

"""What the endpoints share: the folder's files and studies, the queue of solves, the hands being practised."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from regretless.page.library import Library
from regretless.page.practice import PracticeTable
from regretless.page.solving.queue import SolveQueue
from regretless.page.studies import StudyShelf

__all__ = ["Service"]


@dataclass(frozen=True)
class Service:
    """The state of a server."""

    library: Library
    queue: SolveQueue
    table: PracticeTable
    studies: StudyShelf
    turns: asyncio.Semaphore = field(default_factory=asyncio.Semaphore)  # of requests that take long

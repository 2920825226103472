"""What the endpoints share: the folder's files, the queue of solves, the hands being practised."""

from __future__ import annotations

from dataclasses import dataclass

from regretless.web.library import Library
from regretless.web.practice import PracticeTable
from regretless.web.solving.queue import SolveQueue

__all__ = ["Service"]


@dataclass(frozen=True)
class Service:
    """The state of a server."""

    library: Library
    queue: SolveQueue
    table: PracticeTable

"""Threads that survive forks: a forked child has none of its parent's, so work submitted to them would wait forever.

- `Workers` starts new threads in a child;
- `in_order` and `one_ahead` start threads for one piece of work and end them.

Numba's own threads are in `numba/threads.py`.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

__all__ = ["Workers", "in_order", "one_ahead"]

Item = TypeVar("Item")
Result = TypeVar("Result")


class Workers:
    """A pool of threads that is restarted in a forked process."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        self._pool = ThreadPoolExecutor(self.threads)

    def are_lost(self) -> bool:
        """Whether this is a forked process that had to start new threads; the old ones do nothing here."""
        if self._process == os.getpid():
            return False
        self._start()
        return True

    def submit(self, work: Callable[..., None], *arguments: object) -> Future[None]:
        """Run `work` on one of the threads."""
        return self._pool.submit(work, *arguments)


def in_order(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """Results of `work` on each item, in order, from a pool of threads that is only a few items ahead.

    >>> list(in_order(abs, [-1, 2, -3], threads=2))
    [1, 2, 3]
    """
    if threads == 1:
        yield from map(work, items)
        return
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def one_ahead(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Results of `work` on each item, in order: while the caller uses one, a thread works on the next.

    >>> list(one_ahead(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    with ThreadPoolExecutor(1) as pool:
        waiting: Future[Result] | None = None
        for item in items:
            ready, waiting = waiting, pool.submit(work, item)
            if ready is not None:
                yield ready.result()
        if waiting is not None:
            yield waiting.result()

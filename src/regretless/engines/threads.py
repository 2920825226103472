"""Threads that survive forks and concurrent solves.

A forked child has none of its parent's threads. Work submitted to a pool of the parent would wait forever, and GNU
OpenMP, which numba prefers, kills a child that calls it. Numba's fallback, `workqueue` (also chosen by
NUMBA_THREADING_LAYER), kills the process when two threads call it at once. So

- `Workers` starts new threads in a child;
- `in_order` starts threads for one piece of work and ends them;
- `numba_threads` lets one caller at a time use a layer that is not thread-safe;
- `numba_threads_are_lost` says whether a child must do without them.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

import numba

from regretless.errors import InvalidOption

__all__ = ["Workers", "in_order", "numba_threads", "numba_threads_are_lost"]

Item = TypeVar("Item")
Result = TypeVar("Result")

THREAD_SAFE = ("omp", "tbb")

_one_at_a_time = threading.Lock()
_lost = False


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

    def submit(self, work: Callable[..., None], *arguments: Any) -> Future[None]:
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


def numba_threads_are_lost() -> bool:
    """Whether numba's threads were running when this process was forked from another."""
    return _lost


@contextmanager
def numba_threads(count: int) -> Iterator[None]:
    """A context in which loops over `prange` run on `count` threads."""
    try:
        before = numba.get_num_threads()
    except ValueError:  # numba's message is several lines long
        layer = numba.config.THREADING_LAYER  # type: ignore[attr-defined]
        reason = f"cannot be used: numba cannot load the threading layer {layer!r} (NUMBA_THREADING_LAYER); use 1"
        raise InvalidOption("threads", count, reason) from None
    with nullcontext() if _layer() in THREAD_SAFE else _one_at_a_time:
        numba.set_num_threads(count)
        try:
            yield
        finally:
            numba.set_num_threads(before)


def _layer() -> str | None:
    """Numba's threading layer; None if it has not started any threads."""
    try:
        return str(numba.threading_layer())  # type: ignore[attr-defined]
    except ValueError:
        return None


def _note_fork() -> None:
    global _lost, _one_at_a_time
    _one_at_a_time = threading.Lock()  # a thread of the parent may have held the old one
    _lost = _layer() is not None


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_note_fork)

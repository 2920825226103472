"""Numba's threads, made safe for forks and concurrent solves.

GNU OpenMP, which numba uses where TBB is missing, kills a forked child that calls it. Numba's fallback,
`workqueue` (also chosen by NUMBA_THREADING_LAYER), kills the process when two threads call it at once. So

- `numba_threads` lets one caller at a time use a layer that is not thread-safe;
- `numba_threads_are_lost` says whether a child must do without them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import numba

from regretless.errors import InvalidOption

__all__ = ["numba_threads", "numba_threads_are_lost"]

THREAD_SAFE = ("omp", "tbb")

_one_at_a_time = threading.Lock()
_lost = False


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

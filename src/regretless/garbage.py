"""Fewer garbage collections while many objects are created that are all needed.

A collection looks at every object that is alive. While libraries load, or a thousand spots are solved at once, none of
them is garbage, and Python would look again after every few hundred.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

__all__ = ["relaxed_gc"]

OBJECTS = 100_000  # created between collections of the youngest; Python's default is 700

_lock = Lock()
_uses = 0  # of the context at the moment
_usual = gc.get_threshold()  # as it was before the first of them


@contextmanager
def relaxed_gc() -> Iterator[None]:
    """A context in which garbage is collected less often; several may overlap, also in several threads."""
    global _uses, _usual
    with _lock:
        if _uses == 0:
            _usual = gc.get_threshold()
            if 0 < _usual[0] < OBJECTS:  # 0 means never
                gc.set_threshold(OBJECTS, *_usual[1:])
        _uses += 1
    try:
        yield
    finally:
        with _lock:
            _uses -= 1
            if _uses == 0:
                gc.set_threshold(*_usual)

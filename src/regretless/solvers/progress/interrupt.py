"""Ctrl-C as a question that the loop asks between pieces of work, so that nothing is cut in half."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["catch_interrupts"]


@contextmanager
def catch_interrupts(*numbers: signal.Signals) -> Iterator[Callable[[], bool]]:
    """While open, the first Ctrl-C only sets a flag; a second one interrupts at once.

    Until the flag is first asked for there is nothing to save and nobody to look at it (a game is being compiled,
    say), so that the first one interrupts at once there. `numbers` are the signals that count, SIGINT and SIGTERM if
    none are named.
    Signals reach the main thread alone: elsewhere the flag just stays down.

    >>> with catch_interrupts() as interrupted:
    ...     interrupted()
    ...     signal.raise_signal(signal.SIGINT)
    ...     interrupted()
    False
    True
    """
    raised, asked = threading.Event(), threading.Event()

    def note(number: int, frame: FrameType | None) -> None:
        if raised.is_set() or not asked.is_set():
            raise KeyboardInterrupt
        raised.set()

    def interrupted() -> bool:
        asked.set()
        return raised.is_set()

    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return
    caught = numbers or (signal.SIGINT, signal.SIGTERM)
    previous = {number: signal.signal(number, note) for number in caught}
    try:
        yield interrupted
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)

"""Ctrl-C as a flag that the loop checks between pieces of work, so that no iteration is cut short."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["catch_interrupts"]


@contextmanager
def catch_interrupts(*numbers: signal.Signals) -> Iterator[Callable[[], bool]]:
    """A context in which the first Ctrl-C only sets a flag; a second one interrupts at once.

    Until the flag is first checked, there is nothing to save and nobody is watching it (a game may still be compiling),
    so even the first Ctrl-C interrupts at once. `numbers` are the signals to catch, by default SIGINT and SIGTERM.
    Only the main thread receives signals; in other threads the flag stays down.

    >>> with catch_interrupts() as interrupted:
    ...     interrupted()
    ...     signal.raise_signal(signal.SIGINT)
    ...     interrupted()
    False
    True
    """
    raised = watched = False  # plain variables: a thousand solves look after every iteration

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal raised
        if raised or not watched:
            raise KeyboardInterrupt
        raised = True

    def interrupted() -> bool:
        nonlocal watched
        watched = True
        return raised

    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return
    caught = numbers or (signal.SIGINT, signal.SIGTERM)
    previous = {number: signal.signal(number, note) for number in caught}
    try:
        yield interrupted
    finally:
        for number, handler in previous.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)  # None: not installed by Python

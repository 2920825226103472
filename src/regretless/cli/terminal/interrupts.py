"""What Ctrl-C and SIGTERM do to the command, from its first line to its last.

| while the command          | the first one                                  | the second one                    |
|----------------------------|------------------------------------------------|-----------------------------------|
| starts                     | one line, exit code 130                        |                                   |
| solves (`interruptible`)   | says what happens next and how long that takes | says what it costs, exit code 130 |
| has solved                 | one line, and it ends as it would              | one line, exit code 130           |
| does anything else         | `KeyboardInterrupt`, one line, exit code 130   | one line, exit code 130           |
| ends                       | nothing: the work is done                      |                                   |

Python runs signal handlers in the main thread once compiled code there returns, which takes seconds on a large flop. So
the signals of the first two rows wake a separate thread, which answers at once. It ends the process without unwinding
it (no exception passes through libraries that do not expect one), after removing temporary files.

A wrapper that forwards a signal the terminal has already sent does not count as a second Ctrl-C: signals that arrive
within a moment of each other are treated as one.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn, Protocol

__all__ = [
    "INTERRUPTED", "InterruptPlan", "SimplePlan", "ignore_from_now_on", "interruptible", "let_interrupt", "shown_bar",
    "watch",
]  # fmt: skip

INTERRUPTED = 130  # the exit code
SAME_SECONDS = 0.3  # signals this close together are one


class InterruptPlan(Protocol):
    """How to answer signals during the current work."""

    def first(self) -> str | None:
        """What happens next and how long it takes; None if nothing can be saved yet, so the process ends."""
        ...

    def second(self) -> str:
        """What stopping at once loses."""
        ...


class SimplePlan:
    """Sentences that stay the same throughout."""

    def __init__(self, first: str | None, second: str) -> None:
        self._first, self._second = first, second

    def first(self) -> str | None:
        return self._first

    def second(self) -> str:
        return self._second


_STARTING = SimplePlan(None, "interrupted")
_FINISHING = SimplePlan("finishing: almost done", "stopped at once")


class _Watch:
    """The thread that receives signals while a plan is in force."""

    def __init__(self) -> None:
        self.plan: InterruptPlan | None = None
        self.interrupted = threading.Event()
        self.heard_at: float | None = None
        self.bar: Any = None  # a progress bar on stderr; messages are printed above it
        self.numbers = [number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None))]
        if signal.getsignal(self.numbers[-1]) == signal.SIG_IGN:  # nohup
            self.numbers = self.numbers[:-1]
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._writing, False)
        threading.Thread(target=self._listen, name="signals", daemon=True).start()

    def follow(self, plan: InterruptPlan) -> None:
        self.plan, self.heard_at = plan, None
        self.interrupted.clear()
        signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        for number in self.numbers:
            signal.signal(number, lambda number, frame: None)

    def let_go(self) -> None:
        for number in self.numbers:
            signal.signal(number, self._raise)
        signal.set_wakeup_fd(-1)
        self.plan = None

    def _listen(self) -> None:
        while heard := os.read(self._reading, 64):
            for number in heard:
                if number in self.numbers:
                    self._hear(number)

    def _hear(self, number: int) -> None:
        plan, now = self.plan, time.monotonic()
        if plan is None:  # the signal arrived just before the work ended
            signal.pthread_kill(threading.main_thread().ident or 0, number)
            return
        if self.heard_at is not None:
            if now - self.heard_at > SAME_SECONDS:
                self.end(plan.second())
            return
        sentence = plan.first()
        if sentence is None:
            self.end(plan.second())
        self.heard_at = now
        self.interrupted.set()
        self._say(sentence)

    def _raise(self, number: int, frame: FrameType | None) -> None:
        if self.heard_at is not None and time.monotonic() - self.heard_at > SAME_SECONDS:
            self.end("stopped at once")
        if self.heard_at is None:
            self.heard_at = time.monotonic()
            raise KeyboardInterrupt

    def _say(self, sentence: str) -> None:
        bar = self.bar
        if bar is not None:
            bar.console.print(sentence, markup=False, highlight=False)
        else:
            _write(sentence)

    def end(self, sentence: str) -> NoReturn:
        """End the process now, leaving nothing half-written."""
        if (bar := self.bar) is not None:
            with suppress(Exception):  # nothing may keep the process from ending
                bar.stop()
        if (atomic := sys.modules.get("regretless.files.atomic")) is not None:
            atomic.remove_temporary_files()
        _write(sentence)
        os._exit(INTERRUPTED)


_watch: _Watch | None = None  # None if the command runs inside another program


def watch() -> None:
    """Receive signals from here on: the first thing the command does."""
    global _watch
    if os.name == "posix" and threading.current_thread() is threading.main_thread():
        _watch = _watch or _Watch()
        _watch.follow(_STARTING)


def let_interrupt() -> None:
    """Let signals raise `KeyboardInterrupt` from here on: the command has started and cleans up after itself."""
    if _watch is not None:
        _watch.let_go()


def ignore_from_now_on() -> None:
    """Ignore signals from here on, now that the exit code is settled: the last thing the command does."""
    if _watch is not None:
        signal.set_wakeup_fd(-1)
        for number in _watch.numbers:
            signal.signal(number, signal.SIG_IGN)
        _watch.plan = None


@contextmanager
def interruptible(plan: InterruptPlan) -> Iterator[Callable[[], bool]]:
    """Answer signals according to `plan`; yields a function that says whether there was one."""
    if _watch is None:  # called from Python, or on Windows
        from regretless.solving.interrupt import catch_interrupts

        with catch_interrupts() as interrupted:
            yield interrupted
        return
    _watch.follow(plan)
    try:
        yield _watch.interrupted.is_set
    finally:
        _watch.plan = _FINISHING


@contextmanager
def shown_bar(bar: Any) -> Iterator[None]:
    """Print messages about signals above this Rich progress bar."""
    if _watch is None:
        yield
        return
    _watch.bar = bar
    try:
        yield
    finally:
        _watch.bar = None


def _write(sentence: str) -> None:
    """Write straight to stderr, whatever locks other threads hold."""
    with suppress(OSError, ValueError):
        first = "\n" if os.isatty(2) else ""  # after the ^C that a terminal shows
        os.write(2, f"{first}{sentence}\n".encode(errors="replace"))

"""A progress line for solves called from Python; in a notebook it is updated in place under the cell."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from regretless.errors import bytes_text
from regretless.forms.compile import Enumeration, report_enumeration
from regretless.printable import printable
from regretless.solving.forecast import Forecast
from regretless.solving.loop import Progress

__all__ = ["in_notebook", "progress_line"]


def in_notebook() -> bool:
    """Whether this Python is the kernel of a notebook."""
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


@contextmanager
def progress_line(
    title: str, *, unit: str, scale: float = 1.0, target: float | None = None
) -> Iterator[Callable[[Progress], None]]:
    """A `report` function that shows exploitability times `scale`, in `unit`, which is also that of the target.

    While a game is enumerated, the line shows how many nodes there are.
    """
    write = _cell_line() if in_notebook() else _terminal_line()
    forecast = None if target is None else Forecast(target / scale)
    next_line = 0.0  # seconds

    def report(progress: Progress) -> None:
        words = [f"{printable(title)}: {progress.iteration:,} of {progress.iterations:,} iterations"]
        if progress.exploitability is not None:
            words.append(f"exploitability {scale * progress.exploitability:.3g} {unit}")
        words.append(f"{progress.seconds:.0f} s")
        left = None if forecast is None else forecast.read(progress).seconds_left
        if left is not None:
            words.append(f"about {left:.0f} s left")
        write(" · ".join(words))

    def enumerate_nodes(walk: Enumeration) -> None:
        nonlocal next_line
        if walk.seconds >= next_line:
            next_line = walk.seconds + max(1.0, 0.2 * walk.seconds)
            size = f"{walk.nodes:,} nodes · {bytes_text(walk.memory_bytes)}"
            write(f"{printable(title)}: {size} · {walk.seconds:.0f} s")

    try:
        with report_enumeration(enumerate_nodes):
            yield report
    finally:
        write("")


def _cell_line() -> Callable[[str], None]:
    display: Any = import_module("IPython.display")
    handle: Any = None

    def write(text: str) -> None:
        nonlocal handle
        if handle is None:
            handle = display.display({"text/plain": text}, raw=True, display_id=True)
        elif text:  # the last line stays
            handle.update({"text/plain": text}, raw=True)

    return write


def _terminal_line() -> Callable[[str], None]:
    """On a terminal the line is rewritten; elsewhere each report gets its own line."""
    alone = sys.stderr.isatty()
    longest = 0

    def write(text: str) -> None:
        nonlocal longest
        if alone:
            sys.stderr.write(f"\r{text.ljust(longest)}" if text else "\n")
            longest = len(text)
        elif text:
            sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    return write

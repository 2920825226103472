"""Progress on stderr while a solve runs: a bar, iterations, the exploitability measured last, time and time left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from regretless.cli.consoles import for_people
from regretless.cli.interrupts import shown_bar
from regretless.cli.numbers import duration_text
from regretless.printable import printable

if TYPE_CHECKING:
    from regretless.solvers.loop import Progress

__all__ = ["bar", "solve_bar"]


@contextmanager
def bar(what: str) -> Iterator[Callable[[float, str], None]]:
    """A bar that is told how much is done (0 to 1) and what to say; nothing where stderr is no terminal."""
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    console = for_people()
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=14),
        TextColumn("{task.fields[said]}", markup=False),
    )
    with (
        Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as shown,
        shown_bar(shown),
    ):
        task = shown.add_task(printable(what), total=None, said="setting up")

        def tell(share: float, said: str) -> None:
            shown.update(task, total=1.0, completed=min(share, 1.0), said=said)

        yield tell


@contextmanager
def solve_bar(what: str, target: float | None) -> Iterator[Callable[[Progress], None]]:
    """The bar of a solve, in the form in which the loop reports."""
    with bar(what) as tell:

        def report(progress: Progress) -> None:
            share = progress.iteration / progress.iterations
            words = [f"{progress.iteration:,} of {progress.iterations:,}"]
            if progress.exploitability is not None:
                words.append(f"exploitability {progress.exploitability:.3g}")
                if target is not None and progress.exploitability > 0:
                    # Exploitability falls about like 1/t, so its inverse tells how much of the way is done.
                    share = max(share, target / progress.exploitability)
            left = progress.seconds * (1 / share - 1) if 0 < share <= 1 else 0.0
            words.append(f"{duration_text(progress.seconds)}, {duration_text(left)} left")
            tell(share, " · ".join(words))

        yield report

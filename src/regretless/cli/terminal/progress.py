"""Progress on stderr while a command works: a bar, what is done, and the time left.

A solve shows its exploitability beside the target, in the target's unit, and an estimate of the time left as soon as
there is a trend to extrapolate. While a game is enumerated, every bar shows how many nodes there are and the memory
they take. Text that does not fit the terminal is dropped, least important first. In a file or a pipe nothing is shown,
except for what may take long without anyone noticing: training, a line for each measurement; enumerating a game, a line
after 10, 20, 40, … seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.progress import BarColumn, TaskProgressColumn, TextColumn
from rich.progress import Progress as Bar

from regretless.cli.terminal.consoles import for_people
from regretless.cli.terminal.interrupts import shown_bar
from regretless.cli.terminal.numbers import about_text, duration_text
from regretless.errors import bytes_text
from regretless.forms.compile import Enumeration, report_enumeration
from regretless.printable import printable
from regretless.solving.forecast import Forecast, Outlook
from regretless.solving.loop import Progress

__all__ = ["Details", "bar", "solve_bar"]

Details = Callable[[], Sequence[str]]  # what training adds to its bar: "loss 0.12", "memory 34 %"

BAR = 10  # columns
NAME = 24  # columns for the name of the work, at most
NARROW_NAME = 12  # the same for solves, whose messages are longer
FIRST_LINE = 10.0  # seconds of enumerating a game before the first line in a file or a pipe


@contextmanager
def bar(what: str) -> Iterator[Callable[[float, str], None]]:
    """A bar, updated with the share done (0 to 1) and a message; nothing is shown if stderr is not a terminal."""
    with _bar(what, NAME) as (update, _):
        yield update


@contextmanager
def solve_bar(
    what: str, target: float | None, *, unit: str = "", every: int | None = None, details: Details | None = None
) -> Iterator[Callable[[Progress], None]]:
    """The bar of a solve, fed by the loop's reports; exploitability and target are in `unit`.

    `every` is the number of iterations between measurements, if it is fixed. With `details`, stderr gets lines where it
    is no terminal.
    """
    forecast = Forecast(target, every=every)
    console = for_people()
    logged: float | None = None
    with _bar(what, NARROW_NAME) as (update, room):

        def report(progress: Progress) -> None:
            nonlocal logged
            outlook = forecast.read(progress)
            texts = _texts(progress, outlook, target, unit, () if details is None else details())
            update(outlook.share, next((text for text in texts if len(text) <= room), texts[-1]))
            if details is not None and not console.is_terminal and progress.exploitability != logged:
                logged = progress.exploitability
                console.print(f"{printable(what)}: {texts[0]}", style="dim")

        yield report


def _texts(
    progress: Progress, outlook: Outlook, target: float | None, unit: str, details: Sequence[str] = ()
) -> list[str]:
    """The same message at several lengths, longest first."""
    count, short_count = f"{progress.iteration:,} iterations", f"{progress.iteration:,}"
    if target is None:  # with a target, the number of iterations is only a limit, and usually far away
        count = f"{progress.iteration:,} of {progress.iterations:,} iterations"
        short_count = f"{progress.iteration:,}/{progress.iterations:,}"
    exploitability = _exploitability_text(progress.exploitability, target, unit)
    left = "" if outlook.seconds_left is None else f"{about_text(outlook.seconds_left)} left"
    spent = duration_text(progress.seconds)
    time = left or spent
    choices: list[tuple[str, ...]] = []
    if details:
        choices = [
            (count, exploitability, *details, spent, left),
            (short_count, exploitability, *details, time),
            (short_count, exploitability, details[0], time),
            (short_count, exploitability, time),
        ]
    most_important = count if target is None else exploitability
    choices += [(count, exploitability, spent, left), (count, exploitability, time)]
    choices += [(most_important, time), (most_important,)]
    return [" · ".join(word for word in words if word) for words in choices]


def _exploitability_text(exploitability: float | None, target: float | None, unit: str) -> str:
    """The exploitability and its target; "" before the first measurement."""
    if exploitability is None:
        return ""
    in_percent = unit.startswith("%")
    text = f"{exploitability:.3g} {unit}" if in_percent else f"exploitability {exploitability:.3g}"
    if target is not None:
        text += f", target {target:g}" + (" %" if in_percent else "")
    return text


@contextmanager
def _bar(what: str, longest_name: int) -> Iterator[tuple[Callable[[float, str], None], int]]:
    """A bar, and the columns left beside it for a message."""
    console = for_people()
    name = printable(what)
    name = name if len(name) <= longest_name else name[: longest_name - 1] + "…"
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=BAR),
        TaskProgressColumn("{task.percentage:>3.0f} %", text_format_no_percentage="", markup=False),
        TextColumn("{task.fields[message]}", markup=False),
    )
    room = console.width - len(name) - BAR - len(" 100 % ") - len(columns)
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as shown, shown_bar(shown):
        task = shown.add_task(name, total=None, message="setting up")
        next_line = FIRST_LINE

        def update(share: float, message: str) -> None:
            shown.update(task, total=1.0, completed=min(share, 1.0), message=message)

        def enumerate_nodes(walk: Enumeration) -> None:
            nonlocal next_line
            message = f"{walk.nodes:,} nodes · {bytes_text(walk.memory_bytes)} · {duration_text(walk.seconds)}"
            shown.update(task, message=message[: max(room, 0)])
            if not console.is_terminal and walk.seconds >= next_line:
                next_line *= 2
                console.print(f"{printable(what)}: {message} so far", style="dim")

        with report_enumeration(enumerate_nodes):
            yield update, room

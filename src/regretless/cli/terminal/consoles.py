"""Where output goes and what it may contain: answers on stdout, everything about the work itself on stderr.

Much of what is printed was written by others: names of spots and files, labels of games. So strings are printed
literally (square brackets are not markup; styles are given with `style=` or `Text`), and control characters are
escaped. On a terminal Rich fits tables to its width. In a file or a pipe, lines are as long as they need to be: the
reader of a log could not tell that a number was cut.

Tables have no borders: one style for all commands.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import StringIO
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from regretless.cli.terminal.streams import discard
from regretless.errors import RegretlessWarning
from regretless.printable import printable

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderableType

__all__ = [
    "LiteralConsole", "fact_table", "for_answers", "for_drawing", "for_people", "has_color", "note", "page_columns",
    "plain_table", "print_error", "warnings_as_lines",
]  # fmt: skip

UNBOUNDED = 100_000  # columns; longer than any line


class LiteralConsole(Console):
    """Rich's console for text written by others: no markup, no control characters."""

    is_closed = False  # whether the process that reads our pipe has ended

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Escape before the text is laid out, so that columns stay aligned."""
        return super().render_str(printable(text, lines=True), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Escape whatever else reaches the stream, except Rich's own control codes, which are marked as such."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control else Segment(printable(text, lines=True), style)

    def on_broken_pipe(self) -> None:
        """Print nothing more, but let the command finish: there may be a file to save."""
        self.is_closed = True
        discard(self.file)


def for_answers(*, fit: bool = True) -> LiteralConsole:
    """The console for results; colours only on a terminal, which wraps long lines itself unless they must `fit`."""
    return _console(fit=fit)


def for_people() -> Console:
    """The console for progress, notes and errors: stderr, so that a pipe gets only the answer."""
    return _console(fit=True, stderr=True)


def note(sentence: str) -> None:
    """One line on stderr about what was done: "saved leduc.rgl"."""
    for_people().print(printable(sentence), style="dim", soft_wrap=True)


def print_error(sentence: str) -> None:
    """One line on stderr that says what went wrong."""
    _print_labelled("error:", "bold red", sentence)


def _print_labelled(label: str, style: str, sentence: str) -> None:
    console = for_people()
    console.print(label, style=style, end=" ")
    console.print(printable(sentence), soft_wrap=True)


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print each `RegretlessWarning` as one line; other warnings are shown as Python shows them."""
    printed: set[str] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if not issubclass(category, RegretlessWarning):
            show_as_python_does(message, category, filename, lineno, file, line)
        elif str(message) not in printed:
            printed.add(str(message))
            _print_labelled("warning:", "bold yellow", str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", RegretlessWarning)
        show_as_python_does = warnings.showwarning
        warnings.showwarning = show
        yield


def for_drawing(width: int) -> Console:
    """A console that records what is printed, in full colour, to be exported as a picture."""
    return LiteralConsole(file=StringIO(), record=True, width=width, force_terminal=True, color_system="truecolor")


def has_color(console: Console) -> bool:
    """Whether colours are shown: on a terminal that has them, unless NO_COLOR is set."""
    return console.color_system is not None and not console.no_color


def page_columns(console: Console) -> int:
    """Columns available to a picture: the terminal's; in a file or a pipe, COLUMNS or 80."""
    if console.width < UNBOUNDED:
        return console.width
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) > 0 else 80


def _console(*, fit: bool, **options: Any) -> LiteralConsole:
    console = LiteralConsole(**options)
    if not fit or not _is_terminal(console.file):
        console.width = UNBOUNDED
    return console


def _is_terminal(stream: Any) -> bool:
    """Whether lines end at the edge of a screen; FORCE_COLOR, which Rich honours, only asks for colours."""
    with suppress(ValueError):  # the stream is closed
        return bool(stream.isatty())
    return False


def plain_table(left: Sequence[str] = (), right: Sequence[str] = (), *, gap: int = 2) -> Table:
    """An empty table with these columns aligned left, then these aligned right; none of them is cut."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, gap, 0, 0))
    for name in left:
        table.add_column(name, no_wrap=True)
    for name in right:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def fact_table(rows: Iterable[tuple[str, str | Text]], *, style: str = "dim") -> Table:
    """A row for each fact: its name and what it is."""
    table = Table.grid(padding=(0, 3, 0, 0))
    for name, fact in rows:
        table.add_row(Text(name, style=style), fact)
    return table

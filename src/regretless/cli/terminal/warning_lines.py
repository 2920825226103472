"""Library warnings as lines on stderr: `warning:` and one sentence, each sentence once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from regretless.errors import RegretlessWarning

__all__ = ["warnings_as_lines"]


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
            from regretless.cli.terminal.consoles import print_warning

            print_warning(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", RegretlessWarning)
        show_as_python_does = warnings.showwarning
        warnings.showwarning = show
        yield

"""Two solutions side by side: which file each letter stands for, and what differs between them."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from regretless.cli.terminal.tables import plain_table
from regretless.printable import printable
from regretless.solving.solution import Solution

__all__ = ["difference_table", "difference_text", "heading"]


def heading(letter: str, solution: Solution, how: str) -> Text:
    """A line that says which file a letter stands for."""
    return Text.assemble((f"{letter}  ", "bold"), printable(str(solution.path)), ("  " + printable(how), "dim"))


def difference_table() -> Table:
    """An empty table: a name, the number of each solution, their difference, and a unit."""
    table = plain_table([""], ["A", "B", "B − A"])
    table.add_column("", style="dim")
    return table


def difference_text(number: float, decimals: int = 2) -> str:
    """A difference with its sign.

    >>> difference_text(-1.234), difference_text(0.5, 1), difference_text(-0.001)
    ('−1.23', '+0.5', '0.00')
    """
    text = f"{number:+.{decimals}f}"
    return text.replace("-", "−") if float(text) else text[1:]

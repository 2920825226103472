"""Tables without borders: the one style in which commands print them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

__all__ = ["fact_table", "plain_table"]


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

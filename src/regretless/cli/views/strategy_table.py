"""A strategy as a table: one row per information set, the probability of each action, and a bar in their colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from rich.table import Table
from rich.text import Text

from regretless.cli.terminal.tables import plain_table
from regretless.colors import action_colors
from regretless.errors import InvalidOption
from regretless.printable import printable

__all__ = ["choose", "read_keys", "strategy_table"]

BAR = 24  # characters
MOST_COLUMNS = 4  # most actions with a column each; if there are more, a row lists what it plays

Strategy = Mapping[str, Mapping[str, float]]


def read_keys(text: str | None) -> list[str] | None:
    """Information sets from `0:,1:,2:`.

    >>> read_keys("0:,1:pb"), read_keys(None)
    (['0:', '1:pb'], None)
    """
    return None if text is None else [key.strip() for key in text.split(",") if key.strip()]


def choose(strategy: Strategy, keys: Sequence[str] | None, most: int | None) -> Strategy:
    """The information sets with these keys; without keys, the first `most`, or all."""
    if keys is None:
        return dict(islice(strategy.items(), most))
    for key in keys:
        if key not in strategy:
            known = ", ".join(islice(strategy, 6)) + (", …" if len(strategy) > 6 else "")
            raise InvalidOption("information-sets", key, f"is not an information set of this game ({known})")
    return {key: strategy[key] for key in keys}


def strategy_table(shown: Strategy, *, color: bool, rows: str = "information set") -> Table:
    """The table; without colour, the bar is made of the actions' first letters. `rows` says what its rows are."""
    shown = {
        printable(key, lines=True): {printable(action): share for action, share in played.items()}
        for key, played in shown.items()
    }
    colors = action_colors(action for played in shown.values() for action in played)
    actions = list(colors)
    table = plain_table()
    table.add_column(rows, no_wrap=True, overflow="ellipsis", min_width=len(rows))
    columns = actions if len(actions) <= MOST_COLUMNS else []
    for action in columns:
        table.add_column(Text(action, style=colors[action]), justify="right", no_wrap=True, min_width=6)
    table.add_column("strategy", no_wrap=True, overflow="ellipsis")
    for key, played in shown.items():
        cells: list[str | Text] = [
            Text(
                f"{played[action]:.1%}" if action in played else "",
                style="" if played.get(action, 0) >= 5e-4 else "dim",
            )
            for action in columns
        ]
        last = _bar(played, colors, color) if columns else _words(played, colors)
        table.add_row(Text(" · ".join(key.split("\n"))), *cells, last)
    return table


def _bar(played: Mapping[str, float], colors: Mapping[str, str], color: bool) -> Text:
    text = Text()
    reached, drawn = 0.0, 0
    for action in colors:
        reached += played.get(action, 0.0)
        length = round(reached * BAR) - drawn
        drawn += length
        text.append(("█" if color else action[:1] or "?") * length, style=colors[action] if color else "")
    return text


def _words(played: Mapping[str, float], colors: Mapping[str, str]) -> Text:
    """The actions played at least once in two hundred times, most frequent first."""
    text = Text()
    for action, probability in sorted(played.items(), key=lambda item: -item[1]):
        if probability >= 0.005:
            text.append("  " if text else "").append(action, style=colors[action]).append(f" {probability:.1%}")
    return text

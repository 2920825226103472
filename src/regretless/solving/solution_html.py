"""Solutions in a notebook: figures as a table, strategies as bars; plain HTML that loads nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from regretless.colors import game_action_colors

__all__ = ["facts_html", "strategy_html"]

MAX_ROWS = 30  # information sets shown


def facts_html(title: str, facts: Iterable[tuple[str, str]]) -> str:
    """A title and rows of name and value.

    >>> facts_html("kuhn", [("value", "-1/18")])
    '<p><b>kuhn</b></p><table><tr><th style="text-align:left">value</th><td>-1/18</td></tr></table>'
    """
    rows = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th><td>{escape(value)}</td></tr>' for name, value in facts
    )
    return f"<p><b>{escape(title)}</b></p><table>{rows}</table>"


def strategy_html(strategy: Mapping[str, Mapping[str, float]]) -> str:
    """A row per information set with its name, probabilities and a bar; the first ones of a large game."""
    colors = game_action_colors(action for played in strategy.values() for action in played)
    rows = []
    for key, _ in zip(strategy, range(MAX_ROWS), strict=False):
        played = strategy[key]
        words = ", ".join(f"{action} {share:.1%}" for action, share in played.items())
        bar = "".join(
            f'<span style="display:inline-block;height:12px;width:{160 * share:.1f}px;'
            f'background:{colors[action]}"></span>'
            for action, share in played.items()
        )
        rows.append(
            f'<tr title="{escape(words)}"><td style="text-align:left">{escape(key)}</td>'
            f'<td style="white-space:nowrap">{bar}</td><td style="text-align:left">{escape(words)}</td></tr>'
        )
    more = f"<p>… and {len(strategy) - MAX_ROWS:,} more information sets</p>" if len(strategy) > MAX_ROWS else ""
    return f"<table>{''.join(rows)}</table>{more}"

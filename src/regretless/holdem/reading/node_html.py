"""The 13 × 13 grid of a node in a notebook: cells split by action, frequencies on hover. Plain HTML, loads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from regretless.cards.hands import CLASS_NAMES
from regretless.colors import spot_colors
from regretless.forms.history import FloatArray

__all__ = ["grid_html", "legend_html"]

CELL = 34  # pixels
EMPTY = "#e3e7eb"


def legend_html(actions: Sequence[str], frequencies: Sequence[float]) -> str:
    """Each action with its colour and frequency."""
    parts = [
        f'<span style="background:{color};color:#14181c;padding:1px 6px;margin-right:6px">'
        f"{escape(action)} {'–' if np.isnan(share) else f'{share:.1%}'}</span>"
        for (action, color), share in zip(spot_colors(actions).items(), frequencies, strict=True)
    ]
    return f"<p>{''.join(parts)}</p>"


def grid_html(actions: Sequence[str], shares: FloatArray, weight: FloatArray) -> str:
    """The grid: `shares` [169, actions], NaN where no hand is held; `weight` [169], from 0 to 1, fills the cells."""
    colors = list(spot_colors(actions).values())
    rows = []
    for row in range(13):
        cells = "".join(_cell(13 * row + column, actions, colors, shares, weight) for column in range(13))
        rows.append(f"<tr>{cells}</tr>")
    return f'<table style="border-collapse:separate;border-spacing:1px">{"".join(rows)}</table>'


def _cell(place: int, actions: Sequence[str], colors: Sequence[str], shares: FloatArray, weight: FloatArray) -> str:
    name, played = CLASS_NAMES[place], shares[place]
    box = f"width:{CELL}px;height:{CELL - 8}px;padding:0;text-align:center;font-size:11px"
    if np.isnan(played).any():
        return f'<td style="{box};background:{EMPTY};color:#8a939c">{name}</td>'
    ends = np.cumsum(100 * played)
    begins = np.concatenate([[0.0], ends[:-1]])
    bands = ",".join(f"{color} {begin:.1f}% {end:.1f}%" for color, begin, end in zip(colors, begins, ends, strict=True))
    words = ", ".join(f"{action} {share:.1%}" for action, share in zip(actions, played, strict=True))
    filled = f"linear-gradient(90deg,{bands}) 0 100%/100% {100 * min(1.0, float(weight[place])):.0f}% no-repeat"
    return (
        f'<td title="{escape(f"{name}: {words}")}" style="{box};background:{filled},{EMPTY};'
        f'background-color:{EMPTY};color:#14181c">{name}</td>'
    )

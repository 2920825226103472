"""Horizontal bars, one per group, divided into shares that sum to 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from regretless.errors import InvalidOption
from regretless.plots._style import INK, PALETTE, new_figure, quiet_axes, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["stacked_bars"]

MOST_GROUPS = 400  # a taller figure is no longer readable


def stacked_bars(groups: Sequence[str], shares: Mapping[str, Sequence[float]], *, title: str) -> Figure:
    """`shares` has a list for each part, with a share for each group.

    >>> figure = stacked_bars(["paired", "trips"], {"check": [0.6, 0.9], "bet": [0.4, 0.1]}, title="Bets")
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['paired', 'trips']
    """
    if not groups or len(groups) > MOST_GROUPS:
        raise InvalidOption("groups", len(groups), f"must be from 1 to {MOST_GROUPS}")
    figure, (axes,) = new_figure(7.6, 1.4 + 0.27 * len(groups))
    quiet_axes(axes)
    axes.grid(False, axis="y")
    begun = [0.0] * len(groups)
    for number, (name, values) in enumerate(shares.items()):
        places = range(len(groups))
        axes.barh(places, values, left=begun, height=0.78, color=PALETTE[number % len(PALETTE)], label=shown(name, 24))
        begun = [start + value for start, value in zip(begun, values, strict=True)]
    axes.set_yticks(range(len(groups)), [shown(group, 30) for group in groups])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    figure.legend(frameon=False, loc="outside lower center", ncols=min(len(shares), 5), fontsize=9.5, handlelength=1.2)
    figure.suptitle(shown(title, 90), parse_math=False, fontsize=13, color=INK, x=0.01, ha="left", fontweight="bold")
    return figure

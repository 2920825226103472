"""Charts of hands: 13 × 13 classes, each cell split among the colours of its actions.

A cell is filled up to the share of the class that gets to the decision, so hands that rarely get there stand out less.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from regretless.cards.hands import CLASS_NAMES
from regretless.colors import spot_action_colors
from regretless.errors import InvalidOption
from regretless.forms.history import FloatArray
from regretless.plots._style import INK, MUTED, new_figure, plot_text, set_heading

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Chart", "charts"]

SIDE = 13
EMPTY = "#eef1f4"  # what is not in the range
WIDTH = 6.2  # inches of a chart
ACROSS = 3  # charts in a row
NAMES_ACROSS = 3  # actions in a row of the legend: more would be wider than the chart, which would then shrink
NAME_HEIGHT = 0.23  # inches of such a row
MAX_TITLE_LENGTH = 100  # characters
MAX_CHARTS = 60  # a larger figure is no longer readable


class Chart(NamedTuple):
    """What one chart shows."""

    title: str
    actions: tuple[str, ...]
    shares: FloatArray  # [169, actions] how often each class takes each action; NaN where it is not in the range
    frequencies: tuple[float, ...]  # of each action over the whole range, for the legend
    in_range: FloatArray  # [169] share of each class that is in the range here


def charts(items: Sequence[Chart], *, title: str) -> Figure:
    """Charts side by side, in rows of at most `ACROSS`.

    >>> shares = np.tile([0.25, 0.75], (169, 1))
    >>> chart = Chart("small blind", ("fold", "push"), shares, (0.25, 0.75), in_range=np.ones(169))
    >>> figure = charts([chart], title="push or fold")
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['fold 25.0 %', 'push 75.0 %']
    """
    if not items:
        raise InvalidOption("charts", list(items), "must have at least one")
    if len(items) > MAX_CHARTS:
        raise InvalidOption("charts", len(items), f"must be at most {MAX_CHARTS}")
    rows = ceil(len(items) / ACROSS)
    columns = ceil(len(items) / rows)
    legend = NAME_HEIGHT * max(ceil(len(chart.actions) / NAMES_ACROSS) for chart in items)
    figure, axes = new_figure(WIDTH * columns, (WIDTH + 0.52 + legend) * rows + 0.35, columns=columns, rows=rows)
    for each, chart in zip(axes, items, strict=False):
        _draw(each, chart)
    for each in axes[len(items) :]:
        each.set_axis_off()
    set_heading(figure, title)
    return figure


def _draw(axes: Axes, chart: Chart) -> None:
    from matplotlib.patches import Patch, Rectangle

    colors = spot_action_colors(chart.actions)
    for cell, name in enumerate(CLASS_NAMES):
        row, column = divmod(cell, SIDE)
        begin, height = 0.0, float(chart.in_range[cell])
        axes.add_patch(Rectangle((column, row), 1, 1, facecolor=EMPTY, linewidth=0))
        if not np.isnan(chart.shares[cell]).any():
            for action, share in zip(chart.actions, chart.shares[cell].tolist(), strict=True):
                corner = column + begin, row + 1 - height
                axes.add_patch(Rectangle(corner, share, height, facecolor=colors[action], linewidth=0))
                begin += share
        axes.text(column + 0.5, row + 0.52, name, ha="center", va="center", fontsize=7.5, color=INK)
    axes.set_xlim(0, SIDE)
    axes.set_ylim(SIDE, 0)
    axes.set_aspect("equal")
    axes.set_xticks(range(SIDE + 1), [""] * (SIDE + 1))
    axes.set_yticks(range(SIDE + 1), [""] * (SIDE + 1))
    axes.tick_params(length=0)
    axes.grid(True, color="white", linewidth=1.2)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_title(plot_text(chart.title, MAX_TITLE_LENGTH), loc="left", fontsize=10, color=MUTED)
    patches = [
        Patch(color=colors[action], label=f"{action} {100 * frequency:.1f} %")
        for action, frequency in zip(chart.actions, chart.frequencies, strict=True)
    ]
    axes.legend(
        handles=patches,
        loc="upper left",
        bbox_to_anchor=(0.0, -0.01),
        ncols=NAMES_ACROSS,
        frameon=False,
        fontsize=9.5,
        borderpad=0,
    )

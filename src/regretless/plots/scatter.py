"""A point per item, with an area in proportion to its weight; the outermost points carry their names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from regretless.errors import InvalidOption
from regretless.plots._style import INK, MUTED, PALETTE, new_figure, plot_text, quiet_axes, set_heading

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["scatter"]

NAMES_PER_END = 4  # points named at each end of each axis
AREA = 60.0  # of the heaviest point


def scatter(
    x: Sequence[float], y: Sequence[float], *, sizes: Sequence[float], names: Sequence[str], across: str, up: str,
    title: str,
) -> Figure:  # fmt: skip
    """Points at (x, y); those without a number are left out.

    >>> figure = scatter(
    ...     [0.2, 0.7], [30.0, 41.0], sizes=[12, 24], names=["7s5h2d", "AsKh2d"], across="bets", up="EV", title="Bets"
    ... )
    >>> len(figure.axes[0].texts)
    2
    """
    points = [point for point in range(len(x)) if math.isfinite(x[point]) and math.isfinite(y[point])]
    if not points:
        raise InvalidOption("points", len(x), "must include one that has a number")
    figure, (axes,) = new_figure(6.8, 4.8)
    quiet_axes(axes)
    heaviest = max(sizes[point] for point in points)
    areas = [AREA * sizes[point] / heaviest for point in points]
    across_values, up_values = [x[point] for point in points], [y[point] for point in points]
    axes.scatter(across_values, up_values, s=areas, color=PALETTE[0], alpha=0.45, edgecolors="none")
    ends: set[int] = set()
    for values in (x, y):
        order = sorted(points, key=lambda point, values=values: values[point])  # type: ignore[misc]
        ends.update((*order[:NAMES_PER_END], *order[-NAMES_PER_END:]))
    for point in sorted(ends):
        axes.annotate(
            plot_text(names[point], 16),
            (x[point], y[point]),
            fontsize=7.5,
            color=MUTED,
            xytext=(3, 3),
            textcoords="offset points",
        )
    axes.set_xlabel(across, color=INK)
    axes.set_ylabel(up, color=INK)
    set_heading(figure, title)
    return figure

"""What all plots share: figures without global state, colours that colour-blind readers can distinguish."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from regretless.errors import MissingExtra
from regretless.printable import printable
from regretless.reprs import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["GRID", "INK", "MUTED", "PALETTE", "new_figure", "plot_text", "quiet_axes", "set_heading"]

# Okabe & Ito (2008), without the yellow that disappears on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
INK = "#1f2933"
MUTED = "#66717c"
GRID = "#e3e7eb"
MAX_HEADING_LENGTH = 90  # characters


def new_figure(
    width: float, height: float, columns: int = 1, rows: int = 1, **options: Any
) -> tuple[Figure, list[Axes]]:
    """A figure of this size in inches with its axes, row by row; without pyplot, so nothing opens until it is shown."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        from regretless.plots.window import ShownFigure
    except ImportError:
        raise MissingExtra("matplotlib", "plot") from None
    figure = ShownFigure(figsize=(width, height), dpi=160, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, list(axes.flat)


def quiet_axes(axes: Axes) -> None:
    """Two spines, grey ticks, a pale grid behind the data."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(MUTED)
    axes.tick_params(which="both", colors=MUTED, labelcolor=INK, labelsize=9)
    axes.grid(True, which="major", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)


def set_heading(figure: Figure, title: str) -> None:
    """Write the title of a figure, in bold at the left."""
    text = plot_text(title, MAX_HEADING_LENGTH)
    figure.suptitle(text, fontsize=13, color=INK, x=0.01, ha="left", fontweight="bold")


def plot_text(text: str, length: int) -> str:
    """Text from users for a plot: on one line, at most `length` characters, safe for SVG, and no formula.

    Matplotlib reads dollars as the marks of a formula and leaves labels that begin with _ out of legends.

    >>> plot_text("raise to $20", 30), plot_text("_call", 30), plot_text("a long name", 6)
    ('raise to \\\\$20', ' _call', 'a lon…')
    """
    text = shortened(printable(text), length).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text

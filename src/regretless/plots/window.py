"""A matplotlib figure that notebooks display and that `show` opens in a window.

Figures are created without pyplot, so that nothing opens or stays in memory unasked. matplotlib's own `Figure` then
neither appears in a notebook nor shows itself: both are added here. Imported only where matplotlib is installed.
"""

from __future__ import annotations

import io
from typing import Any, cast

import matplotlib
from matplotlib.figure import Figure

from regretless.errors import RegretlessError

__all__ = ["ShownFigure", "check_window"]

WINDOWLESS = {"agg", "cairo", "pdf", "pgf", "ps", "svg", "template"}  # backends that only write files


class ShownFigure(Figure):
    """A figure that shows itself."""

    def _repr_png_(self) -> bytes:
        """The figure in a notebook."""
        picture = io.BytesIO()
        self.savefig(picture, format="png")
        return picture.getvalue()

    def show(self, warn: bool = True) -> None:
        """Open a window and wait until it is closed; in a notebook, display the figure."""
        check_window()
        from matplotlib import pyplot

        try:
            pyplot.figure(FigureClass=cast(Any, lambda *_, **__: self))  # gives this figure a window
        except ImportError as error:
            raise RegretlessError(f"no window can be opened: {error}") from None
        try:
            pyplot.show()
        finally:
            pyplot.close(self)


def check_window() -> None:
    """Raise if matplotlib opens no windows, as on a machine without a screen."""
    backend = matplotlib.get_backend()
    if backend.lower() in WINDOWLESS:
        raise RegretlessError(f"no window can be opened with matplotlib's backend {backend}: save the plot instead")

"""Plots: refused before anything is solved if they cannot be drawn, and written in the format of their suffix."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from regretless.errors import InvalidOption, MissingExtra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["check_figure", "check_shown", "save_figure"]

SUFFIXES = (".png", ".svg", ".pdf", ".jpg")


def check_figure(option: str, path: Path) -> None:
    """Raise if a plot could not be drawn or written there."""
    from regretless.files.atomic import check_writable

    if find_spec("matplotlib") is None:
        raise MissingExtra("matplotlib", "plot")
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidOption(option, str(path), f"must end in one of {', '.join(SUFFIXES)}")
    check_writable(path)


def check_shown() -> None:
    """Raise if a plot could not be shown in a window."""
    if find_spec("matplotlib") is None:
        raise MissingExtra("matplotlib", "plot")
    from regretless.plots.window import check_window

    check_window()


def save_figure(figure: Figure, path: Path) -> None:
    """Write a plot in the format given by its suffix."""
    from regretless.files.atomic import replace_file

    with replace_file(path) as temporary, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # a box is drawn for it
        figure.savefig(temporary, format=path.suffix.lower().removeprefix("."))

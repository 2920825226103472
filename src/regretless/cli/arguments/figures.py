"""Plots as files: refused before the work starts if they cannot be written, and written atomically."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from regretless.errors import InvalidOption, MissingExtra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["check_figure", "save_figure"]

FORMATS = (".png", ".svg", ".pdf", ".jpg")


def check_figure(option: str, path: Path) -> None:
    """Raise if a plot could not be drawn or written there."""
    from importlib.util import find_spec

    from regretless.storage.atomic import check_writable

    if find_spec("matplotlib") is None:
        raise MissingExtra("matplotlib", "plot")
    if path.suffix.lower() not in FORMATS:
        raise InvalidOption(option, str(path), f"must end in one of {', '.join(FORMATS)}")
    check_writable(path)


def save_figure(figure: Figure, path: Path) -> None:
    """Write a plot in the format given by its suffix."""
    import warnings

    from regretless.storage.atomic import replace_file

    with replace_file(path) as temporary, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # a box is drawn for it
        figure.savefig(temporary, format=path.suffix.lower().removeprefix("."))

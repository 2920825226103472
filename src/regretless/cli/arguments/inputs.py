"""The spot files that a command's arguments name: files, patterns that the shell did not expand, and folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from regretless.errors import InvalidFile, InvalidOption, RegretlessError

if TYPE_CHECKING:
    from regretless.holdem.spots.spot import Spot

__all__ = ["SUFFIX", "is_spot", "read_files", "read_spots", "refuse_saved", "spot_paths"]

SUFFIX = ".toml"
Made = TypeVar("Made")


def is_spot(text: str) -> bool:
    """Whether an argument names spots rather than a game; a folder with the name of a game is written `kuhn/`."""
    if text.endswith(SUFFIX):
        return True
    if os.path.isdir(text):
        from regretless.games.registry import names

        return text not in names()
    if not _is_pattern(text):
        return False
    # Text with parentheses may be a game with parameters.
    return "(" not in text or any(found.endswith(SUFFIX) for found in glob(text, recursive=True))


def spot_paths(given: tuple[str, ...]) -> tuple[list[Path], bool]:
    """Each file once, in the order given, and whether they are a batch: several, a pattern or a folder."""
    paths: list[Path] = []
    batch = len(given) > 1
    for text in given:
        if os.path.isdir(text):
            found = sorted(path for path in Path(text).iterdir() if path.suffix == SUFFIX)
            if not found:
                raise InvalidFile(text, f"contains no {SUFFIX} file")
            batch = True
        elif _is_pattern(text):
            found = sorted(path for path in map(Path, glob(text, recursive=True)) if path.suffix == SUFFIX)
            if not found:
                raise InvalidFile(text, "matches no file")
            batch = True
        elif os.path.exists(text) or text.endswith(SUFFIX):
            found = [Path(text)]
        else:
            raise InvalidFile(text, "is not the file of a spot; a game is given by itself")
        paths += found
    return list({os.path.realpath(path): path for path in reversed(paths)}.values())[::-1], batch


def refuse_saved(argument: str, given: str, instead: str) -> None:
    """Refuse a solution file where a game or a spot is expected; `instead` says what to do with it."""
    if not given.endswith(".rgl"):
        return
    if not os.path.exists(given):
        raise InvalidFile(given, "does not exist")
    raise InvalidOption(argument, given, f"is a saved solution: {instead}")


def read_spots(
    paths: Iterable[Path], make: Callable[[Spot], Made]
) -> tuple[dict[Path, Made], dict[Path, RegretlessError]]:
    """The result of `make` for each spot, and the errors of those for which it fails."""
    from regretless.holdem.spots.spot import Spot

    return read_files(paths, lambda path: make(Spot.read(path)))


def read_files(
    paths: Iterable[Path], make: Callable[[Path], Made]
) -> tuple[dict[Path, Made], dict[Path, RegretlessError]]:
    """The result of `make` for each file, and the errors of those for which it fails."""
    made: dict[Path, Made] = {}
    errors: dict[Path, RegretlessError] = {}
    for path in paths:
        try:
            made[path] = make(path)
        except RegretlessError as error:
            errors[path] = error
    return made, errors


def _is_pattern(text: str) -> bool:
    """Whether a text is a pattern; the name of an existing file never is."""
    return any(mark in text for mark in "*?[") and not os.path.exists(text)

"""The spot files that a command's arguments name: files, patterns that the shell did not expand, and folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from regretless.cli.terminal.consoles import print_error
from regretless.errors import Advice, InvalidFile, InvalidOption, RegretlessError

if TYPE_CHECKING:
    from regretless.holdem.spots.spot import Spot

__all__ = ["SUFFIX", "is_spot", "print_errors", "read_files", "read_spots", "refuse_saved", "spot_paths"]

SUFFIX = ".toml"
Result = TypeVar("Result")


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
    return "(" not in text or any(match.endswith(SUFFIX) for match in glob(text, recursive=True))


def spot_paths(arguments: Sequence[str]) -> tuple[list[Path], bool]:
    """Each file once, in the order of the arguments, and whether they are a batch: several, a pattern or a folder."""
    paths: list[Path] = []
    batch = len(arguments) > 1
    for text in arguments:
        if os.path.isdir(text):
            matches = sorted(path for path in Path(text).iterdir() if path.suffix == SUFFIX)
            if not matches:
                raise InvalidFile(text, f"contains no {SUFFIX} file")
            batch = True
        elif _is_pattern(text):
            matches = sorted(path for path in map(Path, glob(text, recursive=True)) if path.suffix == SUFFIX)
            if not matches:
                raise InvalidFile(text, "matches no file")
            batch = True
        elif os.path.exists(text) or text.endswith(SUFFIX):
            matches = [Path(text)]
        else:
            raise InvalidFile(text, "is not the file of a spot; a game is given by itself")
        paths += matches
    return list({os.path.realpath(path): path for path in reversed(paths)}.values())[::-1], batch


def refuse_saved(argument: str, name: str, instead: str) -> None:
    """Refuse a solution file where a game or a spot is expected; `instead` says what to do with it."""
    if not name.endswith(".rgl"):
        return
    if not os.path.exists(name):
        raise InvalidFile(name, "does not exist")
    raise InvalidOption(argument, name, f"is a saved solution: {instead}")


def read_spots(
    paths: Iterable[Path], read: Callable[[Spot], Result]
) -> tuple[dict[Path, Result], dict[Path, RegretlessError]]:
    """The result of `read` for each spot, and the errors of those for which it fails."""
    from regretless.holdem.spots.spot import Spot

    return read_files(paths, lambda path: read(Spot.read(path)))


def read_files(
    paths: Iterable[Path], read: Callable[[Path], Result]
) -> tuple[dict[Path, Result], dict[Path, RegretlessError]]:
    """The result of `read` for each file, and the errors of those for which it fails."""
    results: dict[Path, Result] = {}
    errors: dict[Path, RegretlessError] = {}
    for path in paths:
        try:
            results[path] = read(path)
        except RegretlessError as error:
            errors[path] = error
    return results, errors


def print_errors(errors: dict[Path, RegretlessError]) -> int:
    """Print what is wrong with each file, and return the exit code."""
    for path, error in errors.items():
        message = error.worded(Advice.as_option)
        print_error(message if message.startswith(f"{path}:") else f"{path}: {message}")
    codes = {error.exit_code for error in errors.values()}
    return codes.pop() if len(codes) == 1 else 1


def _is_pattern(text: str) -> bool:
    """Whether a text is a pattern; the name of an existing file never is."""
    return any(mark in text for mark in "*?[") and not os.path.exists(text)

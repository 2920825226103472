"""The files a command writes: solutions, under names that are unused, distinct and not an input; and plots."""

from __future__ import annotations

import os
import re
import shlex
import warnings
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from regretless.cli.terminal.consoles import for_people, print_error
from regretless.errors import Advice, InvalidFile, InvalidOption, MissingExtra, RegretlessError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from regretless.holdem.spots.spot import Spot
    from regretless.solving.solution import Solution

__all__ = [
    "check_figure", "check_out", "check_shown", "check_sources", "check_tables", "command_line", "file_stem",
    "free_path", "out_folder", "print_commands", "print_errors", "print_unfinished", "resume_command", "save_figure",
    "solution_files",
]  # fmt: skip

FIGURES = (".png", ".svg", ".pdf", ".jpg")


def file_stem(name: str) -> str:
    """The name of a game or spot as a file name, never a path.

    >>> file_stem("leduc(ranks=6)"), file_stem("/x/3bet/4bet"), file_stem("..")
    ('leduc-ranks-6', 'x-3bet-4bet', 'solution')
    """
    return re.sub(r"[^\w.]+", "-", name).strip("-.")[:60] or "solution"


def free_path(name: str, reserved: Iterable[Path] = ()) -> Path:
    """A file in the working directory that neither exists nor is `reserved`: leduc.rgl, leduc-2.rgl."""
    stem, number, reserved = file_stem(name), 1, set(reserved)
    path = Path(f"{stem}.rgl")
    while os.path.lexists(path) or path in reserved:
        number += 1
        path = Path(f"{stem}-{number}.rgl")
    return path


def check_out(out: Path | None, inputs: Iterable[Path], plot: Path | None = None) -> None:
    """Refuse to write a solution over its own input or over the plot."""
    if out is None:
        return
    if any(_is_same(out, path) for path in inputs):
        raise InvalidOption("out", str(out), "is the input: save the solution under another name, as a .rgl file")
    if out.suffix.lower() in (".toml", ".efg"):
        raise InvalidOption("out", str(out), "is named like a spot or a game: save the solution as a .rgl file")
    if plot is not None and _is_same(out, plot):
        raise InvalidOption("out", str(out), "is also the file for the plot")


def check_sources(files: Iterable[Path], spots: Iterable[Spot]) -> None:
    """Refuse to write a solution over one that a spot takes locks from."""
    sources = [Path(source) for spot in spots for lock in spot.locks if (source := getattr(lock, "source", None))]
    for file in files:
        if any(_is_same(file, source) for source in sources):
            raise InvalidOption("out", str(file), "is a solution that locks are taken from: save under another name")


def check_tables(out: Path | None, buckets: str | None) -> None:
    """Refuse to write a solution over the tables of buckets that it is solved with."""
    from regretless.holdem.buckets.plan import BucketChoice

    tables = "" if buckets is None else BucketChoice.parse(buckets).file
    if out is not None and tables and _is_same(out, Path(tables)):
        raise InvalidOption("out", str(out), "has the buckets to solve with: save the solution under another name")


def out_folder(out: Path) -> Path:
    """The folder to save several solutions in, created if it is missing."""
    from regretless.files.atomic import reason

    if not out.is_dir() and (out.exists() or out.suffix == ".rgl"):
        raise InvalidFile(out, "is not a folder: several spots are saved in one")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidFile(out, f"cannot be created: {reason(error)}") from None
    return out


def solution_files(paths: Sequence[Path], folder: Path) -> list[Path]:
    """A file in `folder` for each spot, named after the spot's file and, if names clash, its folders.

    >>> [str(file) for file in solution_files([Path("a/x.toml"), Path("b/x.toml"), Path("b/y.toml")], Path("out"))]
    ['out/a-x.rgl', 'out/b-x.rgl', 'out/y.rgl']
    """
    whole = [Path(os.path.abspath(path)).with_suffix("") for path in paths]
    lengths = [1] * len(paths)  # number of path components in each name

    def name(index: int) -> str:
        return "-".join(part.strip(os.sep) or "root" for part in whole[index].parts[-lengths[index] :])

    while True:
        named: dict[str, list[int]] = {}  # paths by their name
        for index in range(len(paths)):
            named.setdefault(name(index).casefold(), []).append(index)  # some file systems ignore case
        clashing = [index for indices in named.values() if len(indices) > 1 for index in indices]
        longer = [index for index in clashing if lengths[index] < len(whole[index].parts)]
        if not longer:
            break
        for index in longer:
            lengths[index] += 1
    numbers = {index: count for indices in named.values() for count, index in enumerate(indices, start=1)}
    ends = [f"-{numbers[index]}" if numbers[index] > 1 else "" for index in range(len(paths))]
    return [folder / f"{name(index)}{ends[index]}.rgl" for index in range(len(paths))]


def check_figure(option: str, path: Path) -> None:
    """Raise if a plot could not be drawn or written there."""
    from regretless.files.atomic import check_writable

    if find_spec("matplotlib") is None:
        raise MissingExtra("matplotlib", "plot")
    if path.suffix.lower() not in FIGURES:
        raise InvalidOption(option, str(path), f"must end in one of {', '.join(FIGURES)}")
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


def command_line(*words: str, **options: object) -> str:
    """A command of ours, quoted for a shell; options that are None are left out.

    >>> command_line("price", "a game.rgl", flops=None, threads=2)
    "regretless price 'a game.rgl' --threads 2"
    """
    given = [(f"--{name}", str(value)) for name, value in options.items() if value is not None]
    return shlex.join(["regretless", *words, *(word for pair in given for word in pair)])


def print_commands(sentence: str, *commands: str) -> None:
    """A sentence on stderr, and the commands it speaks of."""
    people = for_people()
    people.print(sentence)
    for command in commands:
        people.print(f"  {command}", style="cyan", soft_wrap=True)


def resume_command(path: Path, command: str = "solve", **options: object) -> str:
    """The command that resumes a saved solve, quoted for a shell; `options` as in `command_line`."""
    return command_line(command, resume=path, **options)


def print_unfinished(solution: Solution, path: Path, **options: object) -> None:
    """Print how far an interrupted solve got, and the command that resumes it."""
    done, total = solution.iterations, solution.settings.iterations
    command = resume_command(path, solution.problem_kind.command, **options)
    print_commands(f"interrupted after {done:,} of {total:,} iterations; resume it with", command)


def print_errors(errors: dict[Path, RegretlessError]) -> int:
    """Print what is wrong with each file, and return the exit code."""
    for path, error in errors.items():
        message = error.worded(Advice.as_option)
        print_error(message if message.startswith(f"{path}:") else f"{path}: {message}")
    codes = {error.exit_code for error in errors.values()}
    return codes.pop() if len(codes) == 1 else 1


def _is_same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)

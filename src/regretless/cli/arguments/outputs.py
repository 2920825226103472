"""The files that solutions are saved in: their names, and checks that no input is overwritten."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from regretless.errors import InvalidFile, InvalidOption

if TYPE_CHECKING:
    from regretless.holdem.spots.spot import Spot

__all__ = ["check_out", "check_sources", "check_tables", "file_stem", "free_path", "out_folder", "solution_files"]

LONGEST_STEM = 60  # characters


def file_stem(name: str) -> str:
    """The name of a game or spot as a file name, never a path.

    >>> file_stem("leduc(ranks=6)"), file_stem("/x/3bet/4bet"), file_stem("..")
    ('leduc-ranks-6', 'x-3bet-4bet', 'solution')
    """
    return re.sub(r"[^\w.]+", "-", name).strip("-.")[:LONGEST_STEM] or "solution"


def free_path(name: str, reserved: Iterable[Path] = ()) -> Path:
    """A file in the working directory that neither exists nor is `reserved`: leduc.rgl, leduc-2.rgl."""
    stem, number, reserved = file_stem(name), 1, set(reserved)
    path = Path(f"{stem}.rgl")
    while os.path.lexists(path) or path in reserved:
        number += 1
        path = Path(f"{stem}-{number}.rgl")
    return path


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


def solution_files(spot_files: Sequence[Path], folder: Path) -> list[Path]:
    """A file in `folder` for each spot, named after the spot's file and, if names clash, its folders.

    >>> [str(file) for file in solution_files([Path("a/x.toml"), Path("b/x.toml"), Path("b/y.toml")], Path("out"))]
    ['out/a-x.rgl', 'out/b-x.rgl', 'out/y.rgl']
    """
    stems = _distinct_names([Path(os.path.abspath(file)).with_suffix("").parts for file in spot_files])
    uses: Counter[str] = Counter()
    files = []
    for stem in stems:  # names that clash with all their folders are numbered: spot.toml and Spot.toml
        folded = stem.casefold()
        uses[folded] += 1
        number = f"-{uses[folded]}" if uses[folded] > 1 else ""
        files.append(folder / f"{stem}{number}.rgl")
    return files


def _distinct_names(paths: Sequence[tuple[str, ...]]) -> list[str]:
    """The last component of each path, preceded by as many of its folders as it takes to tell the paths apart."""
    lengths = [1] * len(paths)  # number of components in each name
    while True:
        names = [_join_parts(parts[-length:]) for parts, length in zip(paths, lengths, strict=True)]
        uses = Counter(name.casefold() for name in names)  # some file systems ignore case
        ambiguous = [
            index
            for index, name in enumerate(names)
            if uses[name.casefold()] > 1 and lengths[index] < len(paths[index])
        ]
        if not ambiguous:
            return names
        for index in ambiguous:
            lengths[index] += 1


def _join_parts(parts: Sequence[str]) -> str:
    """Components of a path as one name; the root of the file system is called "root"."""
    return "-".join(part.strip(os.sep) or "root" for part in parts)


def check_out(out: Path | None, inputs: Iterable[Path], plot: Path | None = None) -> None:
    """Refuse to write a solution over its own input or over the plot."""
    if out is None:
        return
    if any(_is_same_file(out, path) for path in inputs):
        raise InvalidOption("out", str(out), "is the input: save the solution under another name, as a .rgl file")
    if out.suffix.lower() in (".toml", ".efg"):
        raise InvalidOption("out", str(out), "is named like a spot or a game: save the solution as a .rgl file")
    if plot is not None and _is_same_file(out, plot):
        raise InvalidOption("out", str(out), "is also the file for the plot")


def check_sources(files: Iterable[Path], spots: Iterable[Spot]) -> None:
    """Refuse to write a solution over one whose strategy a spot's locks copy."""
    from regretless.holdem.spots.locks import LockFrom

    sources = [Path(lock.source) for spot in spots for lock in spot.locks if isinstance(lock, LockFrom)]
    for file in files:
        if any(_is_same_file(file, source) for source in sources):
            raise InvalidOption("out", str(file), "is a solution that locks are taken from: save under another name")


def check_tables(out: Path | None, buckets: str | None) -> None:
    """Refuse to write a solution over the bucket tables it is solved with."""
    from regretless.holdem.buckets.plan import BucketChoice

    if out is None or buckets is None:
        return
    tables = BucketChoice.parse(buckets).file
    if tables and _is_same_file(out, Path(tables)):
        raise InvalidOption("out", str(out), "has the buckets to solve with: save the solution under another name")


def _is_same_file(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)

"""The TOML of a spot as nested tables, from untrusted files.

1. Only a regular file of at most `LARGEST_FILE` bytes is read, so that no pipe blocks and no device is read forever.
2. UTF-8, with or without a byte order mark.
3. Nesting and dotted keys deeper than `DEEPEST` are refused before Python's parser sees them, which recurses for the
   former and takes quadratic time for the latter.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from regretless.errors import InvalidFile
from regretless.files.tensor_file import check_ordinary

__all__ = ["LARGEST_FILE", "parse_toml", "read_toml", "read_toml_text"]

LARGEST_FILE = 2 * 2**20  # bytes; a spot with thousands of locks takes a fifth of this
DEEPEST = 20  # levels of nesting; a spot has four

# Strings and comments, in which brackets and dots do not count. Possessive, to prevent backtracking.
_NO_STRUCTURE = re.compile(
    r'"""(?:[^"\\]++|\\.|"(?!""))*+(?:""")?+'
    r"|'''(?:[^']++|'(?!''))*+(?:''')?+"
    r'|"(?:[^"\\\n]++|\\.)*+"?+'
    r"|'[^'\n]*+'?+"
    r"|\#[^\n]*+",
    re.DOTALL,
)
_DOTTED = re.compile(rf"(?:\.[^.,={{}}\[\]\n]*+){{{DEEPEST}}}")
_BRACKET = re.compile(r"[][{}]")


def read_toml_text(path: str | Path) -> str:
    """The text of a TOML file; any problem raises `InvalidFile`."""
    try:
        check_ordinary(path)
        with open(path, "rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InvalidFile(path, f"cannot be read: {error.strerror}") from None
    except ValueError as error:  # null character in the name
        raise InvalidFile(path, f"cannot be read: {error}") from None
    if len(content) > LARGEST_FILE:
        raise InvalidFile(path, f"is larger than {LARGEST_FILE:,} bytes, the most that a spot may take")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        what = "is a saved solution, not a spot file" if str(path).endswith(".rgl") else "is not text in UTF-8"
        raise InvalidFile(path, what) from None


def read_toml(path: str | Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    return parse_toml(read_toml_text(path), path)


def parse_toml(text: str, source: str | Path) -> dict[str, Any]:
    """The tables of a TOML text; `source` names it in errors.

    >>> parse_toml("oop.range = 'AA'", "spot")
    {'oop': {'range': 'AA'}}
    >>> parse_toml("pot = " + "[" * 2000, "spot")
    Traceback (most recent call last):
    regretless.errors.InvalidFile: spot: is nested more than 20 deep
    """
    if len(text) > LARGEST_FILE:
        raise InvalidFile(source, f"is larger than {LARGEST_FILE:,} bytes, the most that a spot may take")
    text = text.removeprefix("\ufeff")
    structure = _NO_STRUCTURE.sub("", text)
    if _DOTTED.search(structure) or _depth(structure) > DEEPEST:
        raise InvalidFile(source, f"is nested more than {DEEPEST} deep")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number with too many digits for Python is a plain ValueError
        raise InvalidFile(source, f"is not TOML: {error}") from None


def _depth(structure: str) -> int:
    """The largest number of brackets open at once."""
    depth = deepest = 0
    for bracket in _BRACKET.findall(structure):
        depth = depth + 1 if bracket in "[{" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest

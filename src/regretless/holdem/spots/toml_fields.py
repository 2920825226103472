"""The TOML of spots, games and studies, from untrusted files: nested tables, and what each value in them must be.

1. Only a regular file of at most `MAX_FILE` bytes is read, so that no pipe blocks and no device is read forever.
2. UTF-8, with or without a byte order mark.
3. Nesting and dotted keys deeper than `MAX_DEPTH` are refused before Python's parser sees them, which recurses for the
   former and takes quadratic time for the latter.
4. Errors about values name the field as the file does: `bets.river.oop.bet`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from regretless.errors import InvalidFile, InvalidOption, RegretlessError
from regretless.files.tensor_file import check_ordinary
from regretless.spelling import did_you_mean

__all__ = [
    "MAX_FILE", "FileKind", "check_at_most", "flag_in", "number_in", "parse_toml", "player_in", "read_toml",
    "read_toml_text", "table_in", "text_in", "texts_in",
]  # fmt: skip

MAX_FILE = 2 * 2**20  # bytes; a spot with thousands of locks takes a fifth of this
MAX_DEPTH = 20  # levels of nesting; a spot has four

# Strings and comments, in which brackets and dots do not count. Possessive, to prevent backtracking.
_NO_STRUCTURE = re.compile(
    r'"""(?:[^"\\]++|\\.|"(?!""))*+(?:""")?+'
    r"|'''(?:[^']++|'(?!''))*+(?:''')?+"
    r'|"(?:[^"\\\n]++|\\.)*+"?+'
    r"|'[^'\n]*+'?+"
    r"|\#[^\n]*+",
    re.DOTALL,
)
_DOTTED = re.compile(rf"(?:\.[^.,={{}}\[\]\n]*+){{{MAX_DEPTH}}}")
_BRACKET = re.compile(r"[][{}]")

MAX_LINES = 1_000  # added, and the same number removed: each is compared with the actions of every node it passes


def read_toml_text(path: str | Path) -> str:
    """The text of a TOML file; any problem raises `InvalidFile`."""
    try:
        check_ordinary(path)
        with open(path, "rb") as file:
            content = file.read(MAX_FILE + 1)
    except OSError as error:
        raise InvalidFile(path, f"cannot be read: {error.strerror}") from None
    except ValueError as error:  # null character in the name
        raise InvalidFile(path, f"cannot be read: {error}") from None
    if len(content) > MAX_FILE:
        raise InvalidFile(path, f"is larger than {MAX_FILE:,} bytes, the most that a spot may take")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        what = "is a saved solution, not a spot file" if str(path).endswith(".rgl") else "is not text in UTF-8"
        raise InvalidFile(path, what) from None


def read_toml(path: str | Path) -> dict[str, object]:
    """The tables of a TOML file."""
    return parse_toml(read_toml_text(path), path)


def parse_toml(text: str, source: str | Path) -> dict[str, object]:
    """The tables of a TOML text; `source` names it in errors.

    >>> parse_toml("oop.range = 'AA'", "spot")
    {'oop': {'range': 'AA'}}
    >>> parse_toml("pot = " + "[" * 2000, "spot")
    Traceback (most recent call last):
    regretless.errors.InvalidFile: spot: is nested more than 20 deep
    """
    if len(text) > MAX_FILE:
        raise InvalidFile(source, f"is larger than {MAX_FILE:,} bytes, the most that a spot may take")
    text = text.removeprefix("\ufeff")
    structure = _NO_STRUCTURE.sub("", text)
    if _DOTTED.search(structure) or _depth(structure) > MAX_DEPTH:
        raise InvalidFile(source, f"is nested more than {MAX_DEPTH} deep")
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


@dataclass(frozen=True)
class FileKind:
    """A kind of TOML file: what it describes, and the tables that its fields belong in."""

    what: str  # "a spot"
    homes: Mapping[str, Sequence[str]]  # fields of each table, "" for those above all tables

    def missing(self, field: str) -> RegretlessError:
        """The error for a field that must be there."""
        return RegretlessError(f"{field}: is missing from the {self.what.split()[-1]}")

    def check_known(self, table: Mapping[str, object], known: Sequence[str], name: str) -> None:
        """Refuse a key of the table `name` that is not known, suggesting what was probably meant."""
        for key, value in table.items():
            if key not in known:
                home = next((other for other, fields in self.homes.items() if key in fields and other != name), None)
                if home is not None and not isinstance(value, Mapping):
                    hint = f"; it belongs in [{home}]" if home else "; it belongs above the tables"
                else:
                    hint = did_you_mean(str(key), known, f"it has {', '.join(known)}", cutoff=0.5)
                field = f"{name}.{key}" if name else str(key)
                raise RegretlessError(f"{field}: is not a field of {f'[{name}]' if name else self.what}{hint}")


def table_in(value: object, field: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise InvalidOption(field, value, f"must be a table: [{field}]")
    return value


def text_in(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise InvalidOption(field, value, "must be a text in quotes")
    return value


def texts_in(value: object, field: str, *, at_most: int = MAX_LINES) -> list[str]:
    if not isinstance(value, list | tuple):
        raise InvalidOption(field, value, "must be a list of texts")
    check_at_most(value, at_most, field)
    return [text_in(item, f"{field}[{number}]") for number, item in enumerate(value)]


def number_in(value: object, field: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidOption(field, value, "must be a number")
    try:
        return float(value)
    except OverflowError:
        raise InvalidOption(field, value, "is too large") from None


def flag_in(value: object, field: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidOption(field, value, "must be true or false")
    return value


def check_at_most(values: Sequence[object], limit: int, field: str) -> None:
    """Refuse a list with more entries than that."""
    if len(values) > limit:
        raise RegretlessError(f"{field}: has {len(values):,} entries; at most {limit:,} are allowed")


def player_in(value: object, field: str) -> Literal["oop", "ip"]:
    """The player that a field names."""
    if value == "oop" or value == "ip":
        return value
    raise InvalidOption(field, value, "is neither oop nor ip")

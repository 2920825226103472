"""What a value in a TOML file must be: a table, a text, a number; and which names a table may have.

Errors name the field as the file does: `bets.river.oop.bet`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from regretless.errors import InvalidOption, RegretlessError

__all__ = [
    "FileKind", "check_at_most", "flag_in", "number_in", "table_in", "text_in", "texts_in",
]  # fmt: skip

MOST_LINES = 1_000  # added, and the same number removed: each is compared with the actions of every node it passes


@dataclass(frozen=True)
class FileKind:
    """A kind of TOML file: what it describes, and the tables that its fields belong in."""

    what: str  # "a spot"
    homes: Mapping[str, Sequence[str]]  # fields of each table, "" for those above all tables

    def missing(self, field: str) -> RegretlessError:
        """The error for a field that must be there."""
        return RegretlessError(f"{field}: is missing from the {self.what.split()[-1]}")

    def check_known(self, table: Mapping[str, Any], known: Sequence[str], name: str) -> None:
        """Refuse a key of the table `name` that is not known, suggesting what was probably meant."""
        for key, value in table.items():
            if key not in known:
                close = get_close_matches(str(key), known, n=1, cutoff=0.5)
                home = next((other for other, held in self.homes.items() if key in held and other != name), None)
                if home is not None and not isinstance(value, Mapping):
                    meant = f"it belongs in [{home}]" if home else "it belongs above the tables"
                else:
                    meant = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(known)}"
                field = f"{name}.{key}" if name else str(key)
                raise RegretlessError(f"{field}: is not a field of {f'[{name}]' if name else self.what}; {meant}")


def table_in(value: object, field: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidOption(field, value, f"must be a table: [{field}]")
    return value


def text_in(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise InvalidOption(field, value, "must be a text in quotes")
    return value


def texts_in(value: object, field: str) -> list[str]:
    if not isinstance(value, list | tuple):
        raise InvalidOption(field, value, "must be a list of texts")
    check_at_most(value, MOST_LINES, field)
    return [text_in(item, f"{field}[{place}]") for place, item in enumerate(value)]


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


def check_at_most(values: Sequence[object], most: int, field: str) -> None:
    """Refuse a list with more entries than that."""
    if len(values) > most:
        raise RegretlessError(f"{field}: has {len(values):,} entries; at most {most:,} are allowed")

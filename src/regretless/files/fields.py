"""The keys of a header or a JSON file, each read by name and checked for type and range; files may come from anyone.

If a key is missing, of the wrong type or out of range, the file is damaged, and the message names the key. Unknown keys
are ignored: later versions may add more.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, cast

from regretless.errors import InvalidFile
from regretless.files.state import read_state

__all__ = ["MAX_COUNT", "DamagedFields", "Fields"]

MAX_COUNT = 2**62  # of counts: iterations, bytes, nodes
MAX_TEXT_LENGTH = 4096  # characters of names


class DamagedFields(InvalidFile):
    """A file whose keys are not as they were written."""


class Fields:
    """The keys of one table of a header, read by name; `where` names the table in messages.

    >>> fields = Fields("a.rgl", {"game": "kuhn", "iterations": -1})
    >>> fields.text("game")
    'kuhn'
    >>> fields.whole("iterations")
    Traceback (most recent call last):
    regretless.files.fields.DamagedFields: a.rgl: is damaged: iterations is not a whole number from 0 to ...
    """

    def __init__(self, path: object, table: object, where: str = "") -> None:
        self.path, self.where = path, where
        if not isinstance(table, Mapping):
            raise DamagedFields(path, f"is damaged: {where or 'its header'} is not a table")
        self.table: Mapping[str, Any] = table

    @classmethod
    def read(cls, path: Path, root: Path, *, largest: int) -> Self:
        """The keys of a JSON file of ours, below the folder `root`, of at most so many bytes."""
        content = read_state(path, root, maximum=largest + 1)
        if len(content) > largest:
            raise DamagedFields(path, "is damaged: it is too large")
        try:
            table = json.loads(content.decode("utf-8"))
        except (ValueError, RecursionError):
            raise DamagedFields(path, "is damaged: it is not JSON") from None
        return cls(path, table)

    def __contains__(self, name: str) -> bool:
        return self.table.get(name) is not None

    def wrong(self, name: str, reason: str) -> DamagedFields:
        """The error that refuses the file because of this key."""
        return DamagedFields(self.path, f"is damaged: {f'{self.where}.{name}' if self.where else name} {reason}")

    def value(self, name: str) -> Any:
        """The value of a key, of any type."""
        if name not in self.table:
            raise self.wrong(name, "is missing")
        return self.table[name]

    def text(self, name: str, *, longest: int = MAX_TEXT_LENGTH) -> str:
        """A text of at most `longest` characters."""
        value = self.value(name)
        if not isinstance(value, str) or len(value) > longest:
            raise self.wrong(name, f"is not a text of at most {longest:,} characters")
        return value

    def whole(self, name: str, *, low: int = 0, high: int = MAX_COUNT) -> int:
        """A whole number from `low` to `high`."""
        value = self.value(name)
        if type(value) is not int or not low <= value <= high:
            raise self.wrong(name, f"is not a whole number from {low} to {high}")
        return value

    def number(self, name: str, *, low: float = -math.inf) -> float:
        """A finite number of at least `low`."""
        return self._number(name, self.value(name), low)

    def numbers(self, name: str, *, count: int | None = None) -> tuple[float, ...]:
        """A list of finite numbers, `count` of them or at least one."""
        values = self.value(name)
        if not isinstance(values, list) or not values or (count is not None and len(values) != count):
            raise self.wrong(name, f"is not a {'non-empty list of' if count is None else f'list of {count}'} numbers")
        return tuple(self._number(name, value, -math.inf) for value in values)

    def flag(self, name: str) -> bool:
        """True or False."""
        value = self.value(name)
        if not isinstance(value, bool):
            raise self.wrong(name, "is neither true nor false")
        return value

    def one_of(self, name: str, allowed: tuple[str, ...]) -> str:
        """One of these texts."""
        value = self.value(name)
        if not isinstance(value, str) or value not in allowed:
            raise self.wrong(name, f"is not one of {', '.join(allowed)}")
        return value

    def _number(self, name: str, value: object, low: float) -> float:
        if type(value) not in (int, float):
            raise self.wrong(name, "is not a number")
        try:
            number = float(cast(float, value))
        except OverflowError:
            number = math.inf
        if not math.isfinite(number) or number < low:
            raise self.wrong(name, "is not finite" if low == -math.inf else f"is not a finite number from {low:g} on")
        return number

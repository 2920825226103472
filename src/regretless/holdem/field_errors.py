"""Every field of a spot that is wrong, each in the words of the error that reading it raises.

Reading stops at the first error, but a form shows the errors of all its fields. So the spot is read again and again:
each time, the field that the error names is replaced by a harmless value, until the spot can be read or an error names
a field that cannot be replaced. An error that depends on two fields, such as a range that the board blocks, appears
once both of them can be read.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from threading import Lock
from typing import Any

from regretless.errors import RegretlessError, RegretlessWarning
from regretless.holdem.form.betting import betting_of
from regretless.holdem.spots.locks import check_lock
from regretless.holdem.spots.spot import Spot

__all__ = ["CheckedSpot", "FieldError", "check_fields", "field_error"]

MAX_ERRORS = 20

_FIELD = re.compile(r"([a-z_]+(?:\[\d+\])?(?:\.[a-z_]+(?:\[\d+\])?)*): ")
_AMOUNTS = {"pot": "stack", "stack": "pot"}
_recording = Lock()  # Python records warnings for all threads at once


@dataclass(frozen=True)
class FieldError:
    """What is wrong with a field."""

    field: str  # as in the TOML: "oop.range", "bets.river.bet", "locks[0].node"; "" if no field is to blame
    message: str  # without the name of the field
    position: int | None  # in the field's text, from 1


@dataclass(frozen=True)
class CheckedSpot:
    """The spot that some fields give, or what is wrong with them."""

    spot: Spot | None
    errors: tuple[FieldError, ...]
    warnings: tuple[str, ...]


def check_fields(fields: Mapping[str, object]) -> CheckedSpot:
    """Read a spot nested as in a TOML file and its betting, collecting the errors of all fields.

    >>> fields = {"board": "Ks 9h 4h", "pot": "6o", "stack": 240, "oop": {"range": "AKx"}, "ip": {"range": "QQ"}}
    >>> [(error.field, error.message) for error in check_fields(fields | {"bets": {"bet": "50%"}}).errors]
    [('pot', "'6o' must be a number"), ('oop.range', "'AKx' at position 3: 'x' is neither s, o nor a suit")]
    """
    table: dict[str, object] = deepcopy(dict(fields))
    errors: list[FieldError] = []
    with _recording, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        spot = None
        while len(errors) < MAX_ERRORS:
            try:
                spot = Spot.from_mapping(table)
                betting = betting_of(spot)  # its tree, which may be large, is flattened only if there are locks
                for index, lock in enumerate(spot.locks):
                    check_lock(betting.tree, lock, f"locks[{index}]")
                break
            except RegretlessError as error:
                wrong = field_error(error)
                if not (wrong.field != "board" and "board" in wrong.message and _replaced(errors, "board")):
                    errors.append(wrong)
                if _replaced(errors[:-1], wrong.field) or not _replace(table, wrong.field):
                    break
    if errors:
        return CheckedSpot(None, tuple(errors), ())
    messages = dict.fromkeys(str(each.message) for each in caught if issubclass(each.category, RegretlessWarning))
    return CheckedSpot(spot, (), tuple(messages))


def field_error(error: RegretlessError) -> FieldError:
    """An error, taken apart into field and message."""
    text = str(error)
    named = getattr(error, "option", None) or getattr(error, "field", None)
    if named is None and (match := _FIELD.match(text)) is not None:
        named = match[1]
    field = str(named or "")
    if field in ("oop", "ip"):  # the whole table is missing, and its only field is the range
        return FieldError(f"{field}.range", text.removeprefix(f"{field}: "), None)
    return FieldError(field, text.removeprefix(f"{field}: "), getattr(error, "position", None))


def _replaced(errors: list[FieldError], field: str) -> bool:
    return any(error.field == field for error in errors)


def _replace(fields: dict[str, object], field: str) -> bool:
    """Replace a field by a value without errors; returns whether that was possible."""
    if field in ("oop.range", "ip.range", "oop", "ip"):
        fields[field.partition(".")[0]] = {"range": "100%"}
    elif field == "board":
        fields["board"] = "2c 7d Jh"
    elif field in _AMOUNTS:
        other = fields.get(_AMOUNTS[field])
        fields[field] = other if _is_ordinary(other) else 100
    elif field == "bets":
        fields["bets"] = {}
    else:
        return _remove(fields, field)
    return True


def _is_ordinary(amount: object) -> bool:
    return isinstance(amount, int | float) and not isinstance(amount, bool) and 1e-3 <= amount <= 1e9


def _remove(fields: dict[str, object], field: str) -> bool:
    """Remove a field, or the list that it is an entry of; returns whether it existed."""
    table: Any = fields
    *tables, last = re.sub(r"\[\d+\].*", "", field).split(".")
    for name in tables:
        table = table.get(name) if isinstance(table, dict) else None
    if not isinstance(table, dict) or last not in table:
        return False
    del table[last]
    return True

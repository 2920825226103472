"""Checks of the parameters of a game."""

from __future__ import annotations

import math

from regretless.errors import InvalidOption

__all__ = ["check_between", "check_flag", "check_positive", "check_tuple"]


def check_between(option: str, value: object, low: int, high: int) -> None:
    """Refuse anything but a whole number from `low` to `high`."""
    if type(value) is not int or not low <= value <= high:
        raise InvalidOption(option, value, f"must be a whole number from {low} to {high}")


def check_positive(option: str, value: object, reason: str) -> None:
    """Refuse anything but a number above 0."""
    if not isinstance(value, (int, float)) or type(value) is bool or not 0 < value < math.inf:
        raise InvalidOption(option, value, reason)


def check_tuple(option: str, value: object, counts: range, reason: str, *, whole: bool = False) -> None:
    """Refuse anything but a tuple of numbers above 0 whose length is in `counts`."""
    if not isinstance(value, tuple) or len(value) not in counts:
        raise InvalidOption(option, value, reason)
    for number in value:
        if whole and type(number) is not int:
            raise InvalidOption(option, value, reason)
        check_positive(option, number, reason)


def check_flag(option: str, value: object) -> None:
    """Refuse anything but True and False."""
    if type(value) is not bool:
        raise InvalidOption(option, value, "must be True or False")

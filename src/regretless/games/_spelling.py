"""How a game is spelled: its name, then the parameters that differ from their defaults."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from regretless.errors import InvalidOption

__all__ = ["check_between", "spelled"]


def spelled(name: str, rules: Callable[..., object], **values: object) -> str:
    """Text that `load` reads back as the same game.

    >>> from regretless.games.kuhn import Kuhn
    >>> spelled("kuhn", Kuhn, players=2), spelled("kuhn", Kuhn, players=3)
    ('kuhn', 'kuhn(players=3)')
    """
    defaults = inspect.signature(rules).parameters
    given = [f"{key}={value!r}".replace(" ", "") for key, value in values.items() if value != defaults[key].default]
    return f"{name}({','.join(given)})" if given else name


def check_between(option: str, value: object, low: int, high: int) -> None:
    """Refuse anything but a whole number from `low` to `high`."""
    if type(value) is not int or not low <= value <= high:
        raise InvalidOption(option, value, f"must be a whole number from {low} to {high}")

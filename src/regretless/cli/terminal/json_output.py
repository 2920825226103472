"""Results as JSON that every parser reads.

JSON has no NaN and no infinity: an undefined number (the EV of a hand with no possible opposing hand) is `null`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

__all__ = ["print_json", "strict_json"]


def print_json(result: object) -> None:
    """Print a result as one line of JSON."""
    print(strict_json(result))


def strict_json(result: object, *, indent: int | None = None) -> str:
    """A result as JSON text.

    >>> strict_json({"ev": [1.5, math.nan]})
    '{"ev": [1.5, null]}'
    """
    return json.dumps(_finite(result), allow_nan=False, indent=indent)


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value

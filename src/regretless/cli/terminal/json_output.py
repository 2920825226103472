"""The object that `--json` prints: one, on stdout, in JSON that every parser reads.

JSON has no NaN and no infinity. An undefined number (the EV of a hand with no possible opposing hand) is `null`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

__all__ = ["print_json", "strict_json"]


def print_json(answer: object) -> None:
    """Print an answer as one line of JSON."""
    print(strict_json(answer))


def strict_json(answer: object, *, indent: int | None = None) -> str:
    """An answer as JSON text.

    >>> strict_json({"ev": [1.5, math.nan]})
    '{"ev": [1.5, null]}'
    """
    return json.dumps(_finite(answer), allow_nan=False, indent=indent)


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value

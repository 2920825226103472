"""Reprs that fit on a screen: arrays are shown as their shapes, long collections as their first items.

A form or a node of a solved spot holds arrays of thousands of numbers. The default repr of a dataclass would print
tens of kilobytes of them into a notebook or a traceback.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

__all__ = ["brief", "shortened"]

MAX_LENGTH = 1_900  # characters in a repr
MAX_FIELD_LENGTH = 300
ITEMS = 8  # shown of a collection or array


def brief(thing: Any, **replacements: object) -> str:
    """The repr of a dataclass in at most 2,000 characters; `replacements` are shown in place of fields.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Deal:
    ...     board: tuple[int, ...]
    ...     chance: float
    ...     __repr__ = brief
    >>> Deal(tuple(range(100)), 1 / 3)
    Deal(board=(0, 1, 2, 3, 4, 5, 6, 7, … 100 in all), chance=0.333333)
    """
    names = [field.name for field in fields(thing) if field.repr]
    values = [replacements.get(name, getattr(thing, name)) for name in names]
    texts = [f"{name}={shortened(_text(value), MAX_FIELD_LENGTH)}" for name, value in zip(names, values, strict=True)]
    return shortened(f"{type(thing).__name__}({', '.join(texts)})", MAX_LENGTH)


def shortened(text: str, limit: int) -> str:
    """`text`, cut to `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _text(value: object) -> str:
    if isinstance(value, float):
        return repr(float(f"{value:.6g}"))
    if isinstance(value, str):
        return repr(shortened(value, MAX_FIELD_LENGTH))
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return _array(value)
    if isinstance(value, Mapping):
        items = [f"{_text(key)}: {_text(value[key])}" for key, _ in zip(value, range(ITEMS), strict=False)]
        return "{" + _listed(items, len(value)) + "}"
    if isinstance(value, tuple | list) and type(value) in (tuple, list):
        listed = _listed([_text(item) for item in value[:ITEMS]], len(value))
        comma = "," if len(value) == 1 else ""
        return f"({listed}{comma})" if isinstance(value, tuple) else f"[{listed}]"
    if is_dataclass(value) and not isinstance(value, type):
        return shortened(repr(value), MAX_FIELD_LENGTH)
    return repr(value)


def _listed(items: list[str], count: int) -> str:
    return ", ".join(items) + (f", … {count:,} in all" if count > len(items) else "")


def _array(array: Any) -> str:
    if array.ndim == 1 and len(array) <= ITEMS:
        return _text(array.tolist())
    return f"<{array.dtype} {' × '.join(f'{size:,}' for size in array.shape)}>"

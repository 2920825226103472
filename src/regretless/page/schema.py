"""JSON as the API uses it: building schemas, checking values against them, and rounding numbers.

One schema serves the OpenAPI document and the check of a request, so the two cannot disagree. The check covers `type`,
`enum`, `properties`, `required`, `additionalProperties`, `items`, and the limits of numbers, texts and lists.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from regretless.forms.history import AnyArray

__all__ = [
    "Json", "Mismatch", "Schema", "anything", "array", "boolean", "check", "integer", "nullable", "number", "obj",
    "rounded", "rounded_list", "text",
]  # fmt: skip

Json = dict[str, Any]  # an object
Schema = dict[str, Any]

MAX_TEXT_LENGTH = 100_000  # characters, unless a field says otherwise
DECIMALS = 6


# --- numbers ---------------------------------------------------------------------------------------------------------


def rounded(value: float | None) -> float | None:
    """A number as precise as a page can use; None if it is unknown.

    >>> rounded(1 / 3), rounded(float("nan"))
    (0.333333, None)
    """
    return None if value is None or not np.isfinite(value) else round(float(value), DECIMALS)


def rounded_list(values: AnyArray) -> list[float | None]:
    """The numbers of a vector; None where unknown.

    >>> rounded_list(np.array([0.5, np.nan, np.inf]))
    [0.5, None, None]
    """
    numbers: list[float] = np.round(values.astype(np.float64), DECIMALS).tolist()
    return [value if math.isfinite(value) else None for value in numbers]


# --- schemas ---------------------------------------------------------------------------------------------------------


class Mismatch(Exception):
    """A value does not match its schema."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}" if field else reason)
        self.field = field


def text(description: str = "", *, longest: int = MAX_TEXT_LENGTH, **more: object) -> Schema:
    return _described({"type": "string", "maxLength": longest, **more}, description)


def number(description: str = "", **limits: object) -> Schema:
    return _described({"type": "number", **limits}, description)


def integer(description: str = "", **limits: object) -> Schema:
    return _described({"type": "integer", **limits}, description)


def boolean(description: str = "", **more: object) -> Schema:
    return _described({"type": "boolean", **more}, description)


def array(items: Schema, description: str = "", **limits: object) -> Schema:
    return _described({"type": "array", "items": items, **limits}, description)


def obj(
    properties: Mapping[str, Schema],
    description: str = "",
    *,
    required: tuple[str, ...] | None = None,
    open_: bool = False,
) -> Schema:
    """An object; by default every property is required, and with `open_` others are allowed."""
    needed = list(properties) if required is None else list(required)
    return _described(
        {"type": "object", "properties": dict(properties), "required": needed, "additionalProperties": open_},
        description,
    )


def nullable(schema: Schema) -> Schema:
    if "type" not in schema:  # it allows anything, null too
        return schema
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    changed = schema | {"type": [*kinds, "null"]}
    return changed | {"enum": [*schema["enum"], None]} if "enum" in schema else changed


def anything(description: str = "") -> Schema:
    return _described({}, description)


def _described(schema: Schema, description: str) -> Schema:
    return schema | {"description": description} if description else schema


# --- checking --------------------------------------------------------------------------------------------------------

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "number": (int, float), "integer": (int,), "boolean": (bool,), "array": (list,),
    "object": (dict,), "null": (type(None),),
}  # fmt: skip
_NAMES = {
    "string": "a text", "number": "a number", "integer": "a whole number", "boolean": "true or false",
    "array": "a list", "object": "an object", "null": "null",
}  # fmt: skip


def check(value: object, schema: Schema, field: str = "") -> None:
    """Raise `Mismatch` if a value does not match a schema.

    >>> check({"most": 0}, obj({"most": integer(minimum=1)}))
    Traceback (most recent call last):
    regretless.page.schema.Mismatch: most: 0 is less than 1
    """
    allowed = schema.get("type", [])
    kinds = [allowed] if isinstance(allowed, str) else allowed
    if kinds and not any(_is(value, kind) for kind in kinds):
        raise Mismatch(field, f"must be {' or '.join(_NAMES[kind] for kind in kinds)}")
    if "enum" in schema and value not in schema["enum"]:
        choices = ", ".join("null" if each is None else str(each) for each in schema["enum"])
        raise Mismatch(field, f"is not one of {choices}")
    if isinstance(value, bool):
        return
    if isinstance(value, int | float):
        _check_number(value, schema, field)
    elif isinstance(value, str):
        _check_length(value, schema, field, "Length", "characters")
    elif isinstance(value, list):
        _check_length(value, schema, field, "Items", "entries")
        for index, item in enumerate(value):
            check(item, schema.get("items", {}), f"{field}[{index}]")
    elif isinstance(value, dict):
        _check_object(value, schema, field)


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind])


def _check_number(value: Any, schema: Schema, field: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise Mismatch(field, "must be a finite number")
    shown = value if abs(value) < 1e15 else "the number"
    for limit, wrong, words in (
        ("minimum", value < schema.get("minimum", -math.inf), "less than"),
        ("maximum", value > schema.get("maximum", math.inf), "more than"),
        ("exclusiveMinimum", value <= schema.get("exclusiveMinimum", -math.inf), "not above"),
    ):
        if wrong and limit in schema:
            raise Mismatch(field, f"{shown} is {words} {schema[limit]}")


def _check_length(value: str | list[Any], schema: Schema, field: str, what: str, unit: str) -> None:
    minimum, maximum = schema.get(f"min{what}", 0), schema.get(f"max{what}", math.inf)
    if not minimum <= len(value) <= maximum:
        bound = f"at least {minimum:,}" if len(value) < minimum else f"at most {maximum:,}"
        raise Mismatch(field, f"has {len(value):,} {unit}; it must have {bound}")


def _check_object(value: dict[str, Any], schema: Schema, field: str) -> None:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            raise Mismatch(f"{field}.{name}" if field else name, "is missing")
    extra = schema.get("additionalProperties", True)
    for name, item in value.items():
        inner = f"{field}.{name}" if field else str(name)
        if name in properties:
            check(item, properties[name], inner)
        elif extra is False:
            raise Mismatch(inner[:80], f"is not known here; allowed: {', '.join(properties) or 'nothing'}")
        elif isinstance(extra, dict):
            check(item, extra, inner)

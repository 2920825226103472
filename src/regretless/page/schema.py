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
MAX_NAME_LENGTH = 80  # characters of an unknown field that an error repeats
LONGEST_NUMBER = 1e15  # from which on an error does not repeat a number
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
    """A text of at most `longest` characters.

    >>> text("a suit", enum=["c", "d", "h", "s"], longest=1)
    {'type': 'string', 'maxLength': 1, 'enum': ['c', 'd', 'h', 's'], 'description': 'a suit'}
    """
    return _with_description({"type": "string", "maxLength": longest, **more}, description)


def number(description: str = "", **limits: object) -> Schema:
    """A finite number, within limits such as `minimum=0`."""
    return _with_description({"type": "number", **limits}, description)


def integer(description: str = "", **limits: object) -> Schema:
    """A whole number, within limits such as `minimum=0`."""
    return _with_description({"type": "integer", **limits}, description)


def boolean(description: str = "", **more: object) -> Schema:
    """True or false."""
    return _with_description({"type": "boolean", **more}, description)


def array(items: Schema, description: str = "", **limits: object) -> Schema:
    """A list of items that all match one schema, within limits such as `maxItems=3`."""
    return _with_description({"type": "array", "items": items, **limits}, description)


def obj(
    properties: Mapping[str, Schema],
    description: str = "",
    *,
    required: tuple[str, ...] | None = None,
    open_: bool = False,
) -> Schema:
    """An object; by default every property is required, and with `open_` others are allowed."""
    schema = {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties if required is None else required),
        "additionalProperties": open_,
    }
    return _with_description(schema, description)


def nullable(schema: Schema) -> Schema:
    """The same schema, which also allows null.

    >>> nullable({"type": "string", "enum": ["oop", "ip"]})
    {'type': ['string', 'null'], 'enum': ['oop', 'ip', None]}
    """
    if "type" not in schema:  # it allows anything, null too
        return schema
    changes: Schema = {"type": [*_types(schema), "null"]}
    if "enum" in schema:
        changes["enum"] = [*schema["enum"], None]
    return schema | changes


def anything(description: str = "") -> Schema:
    """Any value."""
    return _with_description({}, description)


def _types(schema: Schema) -> list[str]:
    """The types that a schema allows; none if it allows all."""
    allowed: str | list[str] = schema.get("type", [])
    return [allowed] if isinstance(allowed, str) else allowed


def _with_description(schema: Schema, description: str) -> Schema:
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

    >>> check({"limit": 0}, obj({"limit": integer(minimum=1)}))
    Traceback (most recent call last):
    regretless.page.schema.Mismatch: limit: 0 is less than 1
    """
    types = _types(schema)
    if types and not any(_has_type(value, name) for name in types):
        raise Mismatch(field, f"must be {' or '.join(_NAMES[name] for name in types)}")
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


def _has_type(value: object, name: str) -> bool:
    if isinstance(value, bool):  # to Python, also an int
        return name == "boolean"
    return isinstance(value, _TYPES[name])


def _check_number(value: Any, schema: Schema, field: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise Mismatch(field, "must be a finite number")
    name = value if abs(value) < LONGEST_NUMBER else "the number"
    if "minimum" in schema and value < schema["minimum"]:
        raise Mismatch(field, f"{name} is less than {schema['minimum']}")
    if "maximum" in schema and value > schema["maximum"]:
        raise Mismatch(field, f"{name} is more than {schema['maximum']}")
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        raise Mismatch(field, f"{name} is not above {schema['exclusiveMinimum']}")


def _check_length(value: str | list[Any], schema: Schema, field: str, suffix: str, unit: str) -> None:
    """Check a length against `minLength` and `maxLength`, or `minItems` and `maxItems`, as `suffix` says."""
    minimum, maximum = schema.get(f"min{suffix}", 0), schema.get(f"max{suffix}", math.inf)
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
            raise Mismatch(inner[:MAX_NAME_LENGTH], f"is not known here; allowed: {', '.join(properties) or 'nothing'}")
        elif isinstance(extra, dict):
            check(item, extra, inner)

"""A spot as JSON: fields nested as in its TOML, numbers perhaps as typed; what is wrong with it; its betting tree."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from regretless.engines import thread_limit
from regretless.errors import RegretlessError, memory_text
from regretless.forms.memory import available_bytes
from regretless.forms.public import BettingTree, NodeKind
from regretless.holdem.estimate import STORAGES, Estimate, estimate_spot
from regretless.holdem.expected_time import expected_iterations, expected_seconds
from regretless.holdem.field_errors import CheckedSpot, FieldError, check_fields
from regretless.holdem.problem import spot_predicts
from regretless.holdem.spots.locks import LockFrom
from regretless.holdem.spots.question import PLAYERS
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.toml_text import parse_toml
from regretless.page.endpoint import Refusal
from regretless.page.library import Library
from regretless.page.schema import Mismatch, Schema, check

__all__ = [
    "InvalidSpot", "check_spot", "checked_json", "error_json", "read_spot", "read_typed", "spot_fields", "spot_toml",
    "tree_json",
]  # fmt: skip

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
_AMOUNTS = ("pot", "stack")


class InvalidSpot(Refusal):
    """A spot that cannot be read, in the words of its first error."""

    status, code = 422, "invalid"

    def __init__(self, error: FieldError) -> None:
        super().__init__(f"{error.field}: {error.message}" if error.field else error.message, error.field or None)
        self.position = error.position


def spot_fields(spot: Spot, library: Library) -> dict[str, Any]:
    """The fields of a spot, nested as in its TOML."""
    return parse_toml(spot_toml(spot, library), "spot")


def spot_toml(spot: Spot, library: Library) -> str:
    """The TOML of a spot; solutions that its locks name are relative to the served folder."""
    locks = tuple(
        replace(lock, source=library.relative(lock.source)) if isinstance(lock, LockFrom) else lock
        for lock in spot.locks
    )
    return replace(spot, locks=locks).to_toml()


def check_spot(fields: Mapping[str, Any], library: Library) -> CheckedSpot:
    """Read a spot; numbers may be texts, and locks may name solutions of the served folder only."""
    given = dict(fields)
    for name in _AMOUNTS:
        given[name] = _as_number(given.get(name)) if name in given else None
        if given[name] is None:
            del given[name]
    if isinstance(rules := given.get("rules"), Mapping):
        given["rules"] = {name: _as_number(value) for name, value in rules.items() if value not in ("", None)}
    if isinstance(bets := given.get("bets"), Mapping):
        given["bets"] = _with_caps(bets)
    if given.get("name") == "":
        del given["name"]
    if isinstance(locks := given.get("locks"), list):
        given["locks"] = [_confined(lock, library) for lock in locks]
    return check_fields(given)


def read_spot(fields: Mapping[str, Any], library: Library) -> Spot:
    """The spot of some fields; raises `InvalidSpot` if there is an error."""
    checked = check_spot(fields, library)
    if checked.spot is None:
        raise InvalidSpot(checked.errors[0])
    return checked.spot


def _as_number(value: object) -> object:
    """A number that was typed; anything else stays as it is, for the spot's reader to complain about."""
    if isinstance(value, str) and len(value) <= 40 and _NUMBER.fullmatch(value.strip()):
        number = float(value)
        if not math.isfinite(number):
            return value
        return int(number) if number.is_integer() and abs(number) < 1e15 else number
    return value


def _with_caps(table: Mapping[str, Any]) -> dict[str, Any]:
    """A table of bets with `max_raises` as a number, and without keys that are empty."""
    found: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            found[name] = _with_caps(value)
        elif name == "max_raises":
            if value not in ("", None):
                found[name] = _as_number(value)
        elif value is not None:
            found[name] = value
    return found


def _confined(lock: object, library: Library) -> object:
    if isinstance(lock, Mapping) and "source" in lock:
        source = str(lock["source"])
        if source.startswith(f"{library.folder}/"):
            source = source.removeprefix(f"{library.folder}/")
        return {**lock, "source": str(library.existing(source, ".rgl"))}
    return lock


def read_typed(value: object, schema: Schema) -> Any:
    """An option as typed, or None if it was left empty; raises `Mismatch` if it is not what the schema allows."""
    number = None if value is None or (isinstance(value, str) and not value.strip()) else _as_number(value)
    if number is not None:
        whole = schema["type"] == "integer"
        if isinstance(number, str) or (whole and not isinstance(number, int)):
            raise Mismatch("", f"'{str(value)[:40]}' must be {'a whole number' if whole else 'a number'}")
        check(number, schema)
    return number


# --- answers ---------------------------------------------------------------------------------------------------------


def checked_json(
    checked: CheckedSpot, wrong_options: list[FieldError], library: Library, *, threads: int | None, target: float
) -> dict[str, Any]:
    """What is wrong with a spot and the options beside it, or its TOML and how large it is."""
    errors, estimate = [*checked.errors, *wrong_options], None
    if checked.spot is not None:
        cores = thread_limit(threads)
        try:
            found = estimate_spot(checked.spot, threads=cores, predicts=spot_predicts(checked.spot, None))
            estimate = _estimate_json(checked.spot, found, cores, target)
        except RegretlessError as error:  # too large even to count
            errors.append(FieldError("bets", str(error), None))
    return {
        "valid": not errors,
        "errors": [error_json(error) for error in errors],
        "warnings": list(checked.warnings),
        "toml": None if checked.spot is None else spot_toml(checked.spot, library),
        "estimate": estimate,
    }


def error_json(error: FieldError) -> dict[str, Any]:
    return {"field": error.field, "message": error.message, "position": error.position}


def _estimate_json(spot: Spot, found: Estimate, threads: int, target: float) -> dict[str, Any]:
    free = available_bytes()
    iterations = expected_iterations(spot, target)
    fits = {bits: found.memory_bytes[bits] <= free for bits in STORAGES}
    note = None
    if not fits[32]:
        needs = f"needs {memory_text(found.memory_bytes[32])} and {memory_text(free)} are free"
        remedy = "16 bits fit" if fits[16] else "use fewer sizes or start on a later street"
        note = f"{needs}: {remedy}"
    return {
        "nodes": found.nodes,
        "betting_nodes": found.betting_nodes,
        "runouts": list(found.runouts),
        "hands": found.hands,
        "entries": found.entries,
        "memory_bytes": {str(bits): found.memory_bytes[bits] for bits in STORAGES},
        "fits": {str(bits): fits[bits] for bits in STORAGES},
        "available_bytes": free,
        "iterations": iterations,
        "seconds": round(expected_seconds(found.entries, iterations, threads), 2),
        "file_bytes": {str(bits): found.resumable_bytes[bits] for bits in STORAGES},
        "note": note,
    }


def tree_json(spot: Spot, tree: BettingTree, most: int) -> dict[str, Any]:
    """The first nodes of a betting tree, breadth first."""
    nodes: list[dict[str, Any]] = []
    lines: list[str] = []
    depths: list[int] = []
    for node in range(min(most, len(tree.kind))):
        parent, label = int(tree.parent[node]), tree.labels[node]
        above = "" if parent < 0 else lines[parent]
        lines.append(", ".join(part for part in (above, label) if part))
        depths.append(0 if parent < 0 else depths[parent] + 1)
        kind = NodeKind(int(tree.kind[node]))
        nodes.append(
            {
                "id": node,
                "parent": None if parent < 0 else parent,
                "action": label or None,
                "line": lines[node],
                "kind": kind.name.lower(),
                "player": PLAYERS[int(tree.player[node])] if tree.player[node] >= 0 else None,
                "street": spot.streets[min(int(tree.street[node]), len(spot.streets) - 1)],
                "pot": spot.pot + float(tree.paid[node].sum()),
                "stacks": {PLAYERS[player]: spot.stack - float(tree.paid[node, player]) for player in range(2)},
                "depth": depths[node],
            }
        )
    return {"betting_nodes": len(tree.kind), "truncated": len(tree.kind) > most, "nodes": nodes}

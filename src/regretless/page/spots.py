"""Spots as they are set up: fields nested as in TOML, numbers perhaps as typed; what is wrong; the betting tree."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from regretless.engines import thread_limit
from regretless.errors import RegretlessError
from regretless.forms.memory import available_bytes
from regretless.forms.public import BettingTree, NodeKind
from regretless.holdem.estimate import STORAGES, Estimate, estimate_spot
from regretless.holdem.expected_time import expected_iterations, expected_seconds, iteration_speed
from regretless.holdem.field_errors import CheckedSpot, FieldError, check_fields
from regretless.holdem.fitting import shrink
from regretless.holdem.form.betting import betting_tree
from regretless.holdem.problem import TARGET, spot_predicts
from regretless.holdem.spots.bet_tables import every_table, read_bets
from regretless.holdem.spots.locks import LockFrom
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import PLAYERS, Lines
from regretless.holdem.spots.spot_toml import SPOT_FILE
from regretless.holdem.spots.toml_fields import parse_toml
from regretless.holdem.spots.trees import TREE_LEVELS, preset_tree
from regretless.page.endpoint import BODY_LIMIT, RefusedRequest, Routes
from regretless.page.library import Library
from regretless.page.schema import (
    Json,
    Mismatch,
    Schema,
    array,
    boolean,
    check,
    integer,
    nullable,
    number,
    obj,
    text,
)

__all__ = ["SPOT", "InvalidSpot", "SpotFields", "error_json", "read_spot", "routes", "spot_fields", "spot_toml"]

SPOT = obj(
    {
        "board": text("three, four or five cards: Qs Jh 2h"),
        "pot": {"description": "chips; a text is read as typed"},
        "stack": {"description": "chips behind; a text is read as typed"},
        "name": text(),
        "big_blind": {"description": "chips, if known; a text is read as typed"},
        "raiser": {"description": "who raised last before the flop, oop or ip, if known"},
        "oop": {"description": 'the player out of position: {"range": "22+, AKs", "name": "BB"}'},
        "ip": {"description": 'the player in position: {"range": "22+, AKs", "name": "BTN"}'},
        "bets": {"description": "bet sizes, nested as in a spot file"},
        "rules": {"description": "thresholds, chips and rake"},
        "lines": {"description": "lines given by hand: only, add, remove"},
        "locks": {"description": "locked decisions"},
    },
    "a spot, nested as in its TOML file; what is wrong in it is answered field by field",
    required=(),
    open_=True,
)
SpotFields = Annotated[Json, SPOT]
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
_AMOUNTS = ("pot", "stack", "big_blind")
ROOM = 0.9  # of the free memory for a tree that is cut to fit, so that it still does a moment later


class InvalidSpot(RefusedRequest):
    """A spot that cannot be read, in the words of its first error."""

    status, code = 422, "invalid"

    def __init__(self, error: FieldError) -> None:
        super().__init__(f"{error.field}: {error.message}" if error.field else error.message, error.field or None)
        self.position = error.position


def spot_fields(spot: Spot, library: Library) -> Json:
    """The fields of a spot, nested as in its TOML; every size is in the table of its street and player."""
    return parse_toml(spot_toml(spot, library), "spot") | {"bets": every_table(spot.bets)}


def spot_toml(spot: Spot, library: Library) -> str:
    """The TOML of a spot; solutions that its locks name are relative to the served folder."""
    locks = tuple(
        replace(lock, source=library.relative(lock.source)) if isinstance(lock, LockFrom) else lock
        for lock in spot.locks
    )
    return replace(spot, locks=locks).to_toml()


def _check_spot(fields: Mapping[str, Any], library: Library) -> CheckedSpot:
    """Read a spot; numbers may be texts, and locks may name solutions of the served folder only."""
    typed = dict(fields)
    for name in _AMOUNTS:
        typed[name] = _as_number(typed.get(name)) if name in typed else None
        if typed[name] is None:
            del typed[name]
    if isinstance(rules := typed.get("rules"), Mapping):
        typed["rules"] = {name: _as_number(value) for name, value in rules.items() if value not in ("", None)}
    if isinstance(bets := typed.get("bets"), Mapping):
        typed["bets"] = _with_caps(bets)
    if typed.get("name") == "":
        del typed["name"]
    if isinstance(locks := typed.get("locks"), list):
        typed["locks"] = [_confine_source(lock, library) for lock in locks]
    return check_fields(typed)


def read_spot(fields: Mapping[str, Any], library: Library) -> Spot:
    """The spot of some fields; raises `InvalidSpot` if there is an error."""
    checked = _check_spot(fields, library)
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


def _with_caps(table: Mapping[str, Any]) -> Json:
    """A table of bets with `max_raises` as a number, and without keys that are empty."""
    typed: Json = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            typed[name] = _with_caps(value)
        elif name == "max_raises":
            if value not in ("", None):
                typed[name] = _as_number(value)
        elif value is not None:
            typed[name] = value
    return typed


def _confine_source(lock: object, library: Library) -> object:
    """A lock whose source, if it has one, is a solution of the served folder."""
    if isinstance(lock, Mapping) and "source" in lock:
        source = str(lock["source"])
        if source.startswith(f"{library.folder}/"):
            source = source.removeprefix(f"{library.folder}/")
        return {**lock, "source": str(library.existing(source, ".rgl"))}
    return lock


def _read_typed(value: object, schema: Schema) -> Any:
    """An option as typed, or None if it was left empty; raises `Mismatch` if it is not what the schema allows."""
    number = None if value is None or (isinstance(value, str) and not value.strip()) else _as_number(value)
    if number is not None:
        is_whole = schema["type"] == "integer"
        if isinstance(number, str) or (is_whole and not isinstance(number, int)):
            raise Mismatch("", f"'{str(value)[:40]}' must be {'a whole number' if is_whole else 'a number'}")
        check(number, schema)
    return number


# --- answers ---------------------------------------------------------------------------------------------------------


def _checked_json(
    checked: CheckedSpot,
    treeless: Spot | None,
    option_errors: list[FieldError],
    library: Library,
    *,
    threads: int | None,
    target: float,
) -> Json:
    """What is wrong with a spot and the options beside it, or its TOML and how large it is; and trees to choose from.

    `treeless` is the spot with any tree, if all but its bets can be read.
    """
    errors, estimate = [*checked.errors, *option_errors], None
    cores = thread_limit(threads)
    trees = [] if treeless is None else _trees_json(treeless, checked.spot, cores, target)
    if checked.spot is not None:
        try:
            size = estimate_spot(checked.spot, threads=cores, predicts=spot_predicts(checked.spot, None))
            estimate = _estimate_json(checked.spot, size, cores, target)
        except RegretlessError as error:  # too large even to count
            errors.append(FieldError("bets", str(error), None))
    return {
        "valid": not errors,
        "trees": trees,
        "errors": [error_json(error) for error in errors],
        "warnings": list(checked.warnings),
        "toml": None if checked.spot is None else spot_toml(checked.spot, library),
        "estimate": estimate,
    }


def _treeless(checked: CheckedSpot, fields: Mapping[str, Any], library: Library) -> Spot | None:
    """The spot, with other bets if its own are missing or wrong."""
    if checked.spot is not None:
        return checked.spot
    others = {name: value for name, value in fields.items() if name not in ("bets", "lines", "locks")}
    return _check_spot(others | {"bets": {}}, library).spot


def _trees_json(spot: Spot, current: Spot | None, threads: int, target: float) -> list[Json]:
    """The trees to choose from for a spot: what each sets, what it takes, and whether it is the current one."""
    answers = []
    for level in TREE_LEVELS:
        tree = preset_tree(level, pot=spot.pot, stack=spot.stack, raiser=spot.raiser)
        bets, rules = read_bets(tree["bets"], SPOT_FILE), replace(spot.rules, **tree["rules"])
        with_tree = replace(spot, bets=bets, rules=rules, lines=Lines(), locks=())
        size = estimate_spot(with_tree, threads=threads, predicts=spot_predicts(spot, None))
        answers.append(
            {
                "level": level,
                "bets": every_table(bets),
                "rules": tree["rules"],
                "current": current is not None and current.table == with_tree.table,
                **_estimate_json(with_tree, size, threads, target),
            }
        )
    return answers


def error_json(error: FieldError) -> Json:
    return {"field": error.field, "message": error.message, "position": error.position}


def _estimate_json(spot: Spot, size: Estimate, threads: int, target: float) -> Json:
    free = available_bytes()
    iterations = expected_iterations(spot, target)
    fits = {bits: size.memory_bytes[bits] <= free for bits in STORAGES}
    return {
        "nodes": size.nodes,
        "betting_nodes": size.betting_nodes,
        "runouts": list(size.runouts),
        "hands": size.hands,
        "entries": size.entries,
        "memory_bytes": {str(bits): size.memory_bytes[bits] for bits in STORAGES},
        "fits": {str(bits): fits[bits] for bits in STORAGES},
        "available_bytes": free,
        "iterations": iterations,
        "seconds": round(expected_seconds(size.entries, iterations, threads, iteration_speed()), 2),
        "file_bytes": {str(bits): size.resumable_bytes[bits] for bits in STORAGES},
    }


def _tree_json(spot: Spot, tree: BettingTree, limit: int) -> Json:
    """The first nodes of a betting tree, breadth first."""
    nodes: list[Json] = []
    lines: list[str] = []
    depths: list[int] = []
    for node in range(min(limit, len(tree.kind))):
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
                "stacks": spot.stacks_behind(tree.paid[node]),
                "depth": depths[node],
            }
        )
    return {"betting_nodes": len(tree.kind), "truncated": len(tree.kind) > limit, "nodes": nodes}


# --- endpoints -------------------------------------------------------------------------------------------------------

_TEXT = nullable(text())
_BITS = tuple(map(str, STORAGES))
_BY_BITS = obj(dict.fromkeys(_BITS, integer()), "by bits of storage")
_ESTIMATE = {
    "nodes": integer(),
    "betting_nodes": integer(),
    "runouts": array(integer()),
    "hands": obj({"oop": integer(), "ip": integer()}),
    "entries": integer("actions × hands over all decisions"),
    "memory_bytes": _BY_BITS,
    "fits": obj(dict.fromkeys(_BITS, boolean())),
    "available_bytes": integer(),
    "iterations": integer("expected"),
    "seconds": number("expected on idle cores, within a factor of 1.5"),
    "file_bytes": obj(dict.fromkeys(_BITS, integer()), "by bits of storage; the file can be resumed"),
}
_TABLE: Json = {"type": "object"}
CHECKED = obj(
    {
        "valid": boolean(),
        "trees": array(
            obj({"level": text(), "bets": _TABLE, "rules": _TABLE, "current": boolean(), **_ESTIMATE}),
        ),
        "errors": array(obj({"field": text(), "message": text("without the field"), "position": nullable(integer())})),
        "warnings": array(text()),
        "toml": _TEXT,
        "estimate": nullable(obj(_ESTIMATE)),
    }
)
_TARGET = number("percent of the pot", exclusiveMinimum=0, maximum=100)
_THREADS = integer(minimum=1)
_Typed = Annotated[
    object,
    {"type": ["number", "string", "null"], "description": "a text is read as typed", "maxLength": 1000},
]

routes = Routes()


@routes.endpoint("POST", "/spots/check", "What is wrong with a spot, field by field; or its TOML and size", CHECKED)
def check_typed(library: Library, spot: SpotFields, threads: _Typed = None, target: _Typed = None) -> Json:
    options: dict[str, Any] = {}
    option_errors: list[FieldError] = []
    for name, value, schema in (("target", target, _TARGET), ("threads", threads, _THREADS)):
        try:
            options[name] = _read_typed(value, schema)
        except Mismatch as mismatch:
            option_errors.append(FieldError(name, str(mismatch), None))
    checked = _check_spot(spot, library)
    treeless = _treeless(checked, spot, library)
    expected = options.get("target") or TARGET
    return _checked_json(checked, treeless, option_errors, library, threads=options.get("threads"), target=expected)


@routes.endpoint(
    "POST",
    "/spots/shrink",
    "The cuts that make a spot fit in the memory that is free, and its bets after them",
    obj(
        {
            "fits": boolean(),
            "cuts": array(obj({"text": text(), "saves_bytes": nullable(integer("none: too large to count"))})),
            "memory_bytes": nullable(integer()),
            "available_bytes": integer(),
            "bets": _TABLE,
        }
    ),
)
def shrunk(
    library: Library,
    spot: SpotFields,
    threads: _Typed = None,
    storage: Annotated[int, integer(enum=list(STORAGES))] = STORAGES[0],
) -> Json:
    checked, free = read_spot(spot, library), available_bytes()
    cores = thread_limit(_read_typed(threads, _THREADS))
    room = int(ROOM * free)
    smaller = shrink(checked, storage=storage, threads=cores, predicts=spot_predicts(checked, None), available=room)
    return {
        "fits": smaller.fits,
        "cuts": [{"text": cut.text, "saves_bytes": cut.saves} for cut in smaller.cuts],
        "memory_bytes": smaller.memory_bytes,
        "available_bytes": free,
        "bets": every_table(smaller.spot.bets),
    }


@routes.endpoint(
    "POST",
    "/spots/tree",
    "The betting tree of a spot, breadth first",
    obj({"betting_nodes": integer(), "truncated": boolean(), "nodes": array({"type": "object"})}),
)
def tree(library: Library, spot: SpotFields, most: Annotated[int, integer(minimum=1, maximum=5000)] = 500) -> Json:
    checked = read_spot(spot, library)
    return _tree_json(checked, betting_tree(checked), most)


@routes.endpoint("POST", "/spots/read", "The fields of a TOML text", obj({"spot": {"type": "object"}}))
def read(library: Library, toml: Annotated[str, text(longest=BODY_LIMIT)]) -> Json:
    return {"spot": spot_fields(read_spot(parse_toml(toml, "spot"), library), library)}


@routes.endpoint("POST", "/spots/write", "The TOML text of a spot", obj({"toml": text()}))
def write(library: Library, spot: SpotFields) -> Json:
    return {"toml": spot_toml(read_spot(spot, library), library)}

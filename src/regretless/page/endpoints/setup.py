"""Setting up: what the server can do, spots checked as they are typed, ranges, formations, boards."""

from __future__ import annotations

import random
import warnings
from dataclasses import asdict
from typing import Any

import numpy as np

from regretless import __version__
from regretless.cards.categories import DRAWS, MADE
from regretless.cards.deck import DECK, board_text
from regretless.cards.hands import CLASS_NAMES, HAND_CLASS, HAND_COUNT, hand_text
from regretless.cards.ranges import FORMATS, Range
from regretless.engines import available_cores, cuda_devices
from regretless.errors import InvalidText, RegretlessError
from regretless.forms.memory import available_bytes
from regretless.games.registry import catalogue
from regretless.holdem.field_errors import FieldError
from regretless.holdem.form.betting import betting_tree
from regretless.holdem.problem import TARGET
from regretless.holdem.spots.formations import formations
from regretless.holdem.spots.toml_text import parse_toml
from regretless.page.answers.numbers import rounded_list
from regretless.page.answers.schemas import CHECKED
from regretless.page.answers.spot import (
    check_spot,
    checked_json,
    read_spot,
    read_typed,
    spot_fields,
    spot_toml,
    tree_json,
)
from regretless.page.endpoint import BODY_LIMIT, Endpoint
from regretless.page.schema import Mismatch, Schema, array, boolean, integer, nullable, number, obj, text
from regretless.page.service import Service
from regretless.page.solving.queue import MOST_QUEUED

__all__ = ["ENDPOINTS", "SPOT"]

SIZES_HELP = (
    ("33%", "a third of the pot"),
    ("2.5x", "2.5 times the bet faced; raises only"),
    ("100c", "100 chips"),
    ("e", "geometric: the same share of the pot on each street left, all-in on the last"),
    ("3e", "geometric over three streets"),
    ("a", "all-in"),
    ("50%, a", "several sizes, with commas"),
)
RANGE_HELP = (
    ("22+", "pairs from twos up"),
    ("A5s-A2s", "suited aces from five down to two"),
    ("AKo:0.5", "half of the offsuit combos"),
    ("KQ", "suited and offsuit"),
    ("76s+", "76s, 87s, … AKs"),
    ("AhKh", "one combo"),
    ("100%", "every hand"),
)

SPOT = obj(
    {
        "board": text("three, four or five cards: Qs Jh 2h"),
        "pot": {"description": "chips; a text is read as typed"},
        "stack": {"description": "chips behind; a text is read as typed"},
        "name": text(),
        "oop": {"description": 'the player out of position: {"range": "22+, AKs"}'},
        "ip": {"description": 'the player in position: {"range": "22+, AKs"}'},
        "bets": {"description": "bet sizes, nested as in a spot file"},
        "rules": {"description": "thresholds, chips and rake"},
        "lines": {"description": "lines added or removed by hand"},
        "locks": {"description": "locked decisions"},
    },
    "a spot, nested as in its TOML file; what is wrong in it is answered field by field",
    required=(),
    open_=True,
)
WEIGHTS = array(number(minimum=0, maximum=1), "weights of the 1,326 hands", minItems=HAND_COUNT, maxItems=HAND_COUNT)
ANY: Schema = {"type": "object"}


def meta(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    cores = available_cores()
    devices: list[dict[str, Any]] = [{"name": "cpu", "label": f"CPU, {cores} cores", "cores": cores}]
    if cuda_devices():
        devices.append({"name": "cuda", "label": "NVIDIA GPU", "cores": None})
    return {
        "version": __version__,
        "api": 1,
        "folder": service.library.folder.name,
        "hands": [hand_text(hand) for hand in range(HAND_COUNT)],
        "classes": list(CLASS_NAMES),
        "devices": devices,
        "defaults": {"target": TARGET, "storage": 32, "threads": None},
        "memory": {"available_bytes": available_bytes()},
        "limits": {"running": service.queue.limit, "queued": MOST_QUEUED, "body_bytes": BODY_LIMIT},
        "sizes_help": [{"text": sample, "means": means} for sample, means in SIZES_HELP],
        "range_help": [{"text": sample, "means": means} for sample, means in RANGE_HELP],
        "made": [category._asdict() for category in MADE],
        "draws": [category._asdict() for category in DRAWS],
    }


def check(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    checked = check_spot(given["spot"], service.library)
    options, wrong = {}, []
    for name, schema in (("target", _TARGET), ("threads", _THREADS)):
        try:
            options[name] = read_typed(given[name], schema)
        except Mismatch as mismatch:
            wrong.append(FieldError(name, str(mismatch), None))
    target = options.get("target") or TARGET
    return checked_json(checked, wrong, service.library, threads=options.get("threads"), target=target)


def tree(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    spot = read_spot(given["spot"], service.library)
    return tree_json(spot, betting_tree(spot), given["most"])


def read(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    spot = read_spot(parse_toml(given["toml"], "spot"), service.library)
    return {"spot": spot_fields(spot, service.library)}


def write(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    return {"toml": spot_toml(read_spot(given["spot"], service.library), service.library)}


# --- ranges, formations, boards --------------------------------------------------------------------------------------


def parse_range(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    nothing = dict.fromkeys(("weights", "classes", "combos", "percent", "text"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = Range.parse(given["text"])
    except RegretlessError as error:
        position = error.position if isinstance(error, InvalidText) else None
        sentence = {"message": str(error).removeprefix("range: "), "position": position}
        return {"valid": False, "error": sentence, **nothing}
    classes = np.bincount(HAND_CLASS, weights=found.weights, minlength=169) / np.bincount(HAND_CLASS, minlength=169)
    return {
        "valid": True,
        "error": None,
        "weights": rounded_list(found.weights),
        "classes": rounded_list(classes),
        **_size(found),
        "text": str(found),
    }


def format_range(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    found = Range(np.array(given["weights"], dtype=np.float64))
    return {"text": FORMATS[given["format"]](found.weights), **_size(found)}


def _size(found: Range) -> dict[str, float]:
    return {"combos": round(found.combos, 6), "percent": round(100 * found.combos / HAND_COUNT, 4)}


def presets(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    return {"presets": [asdict(each) | {"chip": 0.01} for each in formations()]}


def random_board(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    return {"board": board_text(random.Random(given["seed"]).sample(range(DECK), given["cards"]))}


def games(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    return {
        "games": [
            {"name": each.name, "title": each.description, "players": each.players, "parameters": dict(each.parameters)}
            for each in catalogue()
        ]
    }


_TARGET = number("percent of the pot", exclusiveMinimum=0, maximum=100)
_THREADS = integer(minimum=1)
_TYPED: Schema = {
    "type": ["number", "string", "null"],
    "description": "a text is read as typed",
    "maxLength": 1000,
    "default": None,
}

ENDPOINTS = [
    Endpoint(
        method="GET", path="/meta", summary="What the server can do, and the names of hands", handle=meta, answer=ANY
    ),
    Endpoint(
        method="POST",
        path="/spots/check",
        summary="What is wrong with a spot, field by field; or its TOML and size",
        handle=check,
        body=obj({"spot": SPOT, "threads": _TYPED, "target": _TYPED}, required=("spot",)),
        answer=CHECKED,
    ),
    Endpoint(
        method="POST",
        path="/spots/tree",
        summary="The betting tree of a spot, breadth first",
        handle=tree,
        body=obj({"spot": SPOT, "most": integer(minimum=1, maximum=5000, default=500)}, required=("spot",)),
        answer=obj({"betting_nodes": integer(), "truncated": boolean(), "nodes": array(ANY)}),
    ),
    Endpoint(
        method="POST",
        path="/spots/read",
        summary="The fields of a TOML text",
        handle=read,
        body=obj({"toml": text(longest=BODY_LIMIT)}),
        answer=obj({"spot": ANY}),
    ),
    Endpoint(
        method="POST",
        path="/spots/write",
        summary="The TOML text of a spot",
        handle=write,
        body=obj({"spot": SPOT}),
        answer=obj({"toml": text()}),
    ),
    Endpoint(
        method="POST",
        path="/ranges/parse",
        summary="Weights of a range's text",
        handle=parse_range,
        body=obj({"text": text()}),
        answer=obj({"valid": boolean(), "weights": nullable(WEIGHTS)}, open_=True),
    ),
    Endpoint(
        method="POST",
        path="/ranges/format",
        summary="Text of a range's weights",
        handle=format_range,
        body=obj({"weights": WEIGHTS, "format": text(enum=list(FORMATS), default="short")}, required=("weights",)),
        answer=obj({"text": text(), "combos": number(), "percent": number()}),
    ),
    Endpoint(
        method="GET",
        path="/presets",
        summary="Common formations: ranges, pot and stack",
        handle=presets,
        answer=obj({"presets": array(ANY)}),
    ),
    Endpoint(
        method="GET",
        path="/boards/random",
        summary="A random board",
        handle=random_board,
        query={
            "cards": integer(minimum=3, maximum=5, default=3),
            "seed": nullable(integer(minimum=0, maximum=2**53, default=None)),
        },
        answer=obj({"board": text()}),
    ),
    Endpoint(
        method="GET",
        path="/games",
        summary="Small games that can be solved",
        handle=games,
        answer=obj({"games": array(ANY)}),
    ),
]

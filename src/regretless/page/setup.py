"""Setting up: what the server can do, ranges, formations, boards, and games to choose from."""

from __future__ import annotations

import random
import warnings
from dataclasses import asdict
from functools import cache
from threading import Thread
from typing import Annotated

import numpy as np

from regretless import __version__
from regretless.cards.categories import DRAWS, MADE
from regretless.cards.deck import DECK, board_text, parse_board
from regretless.cards.hands import CLASS_NAMES, HAND_CLASS, HAND_COUNT, hand_text
from regretless.cards.preflop_equities import top_hands
from regretless.cards.ranges import FORMATS, Range
from regretless.engines import available_cores, cuda_devices
from regretless.errors import InvalidOption, InvalidText, RegretlessError
from regretless.forms.memory import available_bytes
from regretless.games.registry import catalogue
from regretless.holdem.expected_time import iteration_speed
from regretless.holdem.games.charts import chart_formations
from regretless.holdem.problem import TARGET
from regretless.holdem.spots.bet_tables import every_table, read_bets
from regretless.holdem.spots.formations import Formation, formations
from regretless.holdem.spots.spot_toml import SPOT_FILE
from regretless.page.endpoint import BODY_LIMIT, Routes
from regretless.page.library import Library
from regretless.page.queue import MAX_QUEUED, SolveQueue
from regretless.page.schema import Json, array, boolean, integer, nullable, number, obj, rounded_list, text

__all__ = ["routes"]

SIZES_HELP = (
    ("33", "33 % of the pot, as 33%"),
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
WEIGHTS = array(number(minimum=0, maximum=1), "weights of the 1,326 hands", minItems=HAND_COUNT, maxItems=HAND_COUNT)

routes = Routes()


@routes.endpoint("GET", "/meta", "What the server can do, and the names of hands", {"type": "object"})
def meta(library: Library, queue: SolveQueue) -> Json:
    Thread(target=iteration_speed, daemon=True).start()  # so that the first estimate need not wait for it
    cores = available_cores()
    devices: list[Json] = [{"name": "cpu", "label": f"CPU, {cores} cores", "cores": cores}]
    if cuda_devices():
        devices.append({"name": "cuda", "label": "NVIDIA GPU", "cores": None})
    return {
        "version": __version__,
        "api": 1,
        "folder": library.folder.name,
        "hands": [hand_text(hand) for hand in range(HAND_COUNT)],
        "classes": list(CLASS_NAMES),
        "devices": devices,
        "defaults": {"target": TARGET, "storage": 32, "threads": None},
        "memory": {"available_bytes": available_bytes()},
        "limits": {"running": queue.limit, "queued": MAX_QUEUED, "body_bytes": BODY_LIMIT},
        "sizes_help": [{"text": sample, "means": means} for sample, means in SIZES_HELP],
        "range_help": [{"text": sample, "means": means} for sample, means in RANGE_HELP],
        "made": [category._asdict() for category in MADE],
        "draws": [category._asdict() for category in DRAWS],
    }


@routes.endpoint(
    "POST",
    "/ranges/parse",
    "Weights of a range's text",
    obj({"valid": boolean(), "weights": nullable(WEIGHTS)}, open_=True),
)
def parse_range(text: Annotated[str, text()]) -> Json:
    nothing = dict.fromkeys(("weights", "classes", "combos", "percent", "text"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            hands = Range.parse(text)
    except RegretlessError as error:
        position = error.position if isinstance(error, InvalidText) else None
        sentence = {"message": str(error).removeprefix("range: "), "position": position}
        return {"valid": False, "error": sentence, **nothing}
    classes = np.bincount(HAND_CLASS, weights=hands.weights, minlength=169) / np.bincount(HAND_CLASS, minlength=169)
    return {
        "valid": True,
        "error": None,
        "weights": rounded_list(hands.weights),
        "classes": rounded_list(classes),
        **_size(hands),
        "text": str(hands),
    }


@routes.endpoint(
    "POST",
    "/ranges/format",
    "Text of a range's weights",
    obj({"text": text(), "combos": number(), "percent": number()}),
)
def format_range(
    weights: Annotated[list[float], WEIGHTS], format: Annotated[str, text(enum=list(FORMATS))] = "short"
) -> Json:
    hands = Range(np.array(weights, dtype=np.float64))
    return {"text": FORMATS[format](hands.weights), **_size(hands)}


def _size(hands: Range) -> dict[str, float]:
    return {"combos": round(hands.combos, 6), "percent": round(100 * hands.combos / HAND_COUNT, 4)}


@routes.endpoint(
    "GET",
    "/ranges/top",
    "The best hands against any other, as a range",
    obj({"text": text(), "combos": number()}, open_=True),
)
def top_range(percent: Annotated[float, number(minimum=0, maximum=100)]) -> Json:
    hands = Range(top_hands(percent))
    return {"text": str(hands), **_size(hands)}


_OBJECTS = array({"type": "object"})


@routes.endpoint(
    "GET",
    "/presets",
    "Shipped formations: ranges, pot and stack, and the fields of a spot",
    obj({"presets": _OBJECTS}),
)
def presets() -> Json:
    return {"presets": _presets()}


@cache
def _presets() -> list[Json]:
    return [asdict(each) | {"fields": _fields(each)} for each in (*formations(), *chart_formations())]


def _fields(formation: Formation) -> Json:
    fields = formation.fields()
    return fields | {"bets": every_table(read_bets(fields["bets"], SPOT_FILE))}


@routes.endpoint("GET", "/boards/random", "A random board", obj({"board": text()}))
def random_board(
    cards: Annotated[int, integer(minimum=3, maximum=5)] = 3,
    seed: Annotated[int | None, nullable(integer(minimum=0, maximum=2**53))] = None,
    keep: Annotated[str, text("cards that stay: Qs Jh 2h", longest=20)] = "",
) -> Json:
    fixed = parse_board(keep, "keep") if keep.strip() else ()
    if len(fixed) > cards:
        raise InvalidOption("keep", keep, f"has more cards than the {cards} of the board")
    deck = [card for card in range(DECK) if card not in fixed]
    return {"board": board_text((*fixed, *random.Random(seed).sample(deck, cards - len(fixed))))}


@routes.endpoint("GET", "/games", "Small games that can be solved", obj({"games": _OBJECTS}))
def games() -> Json:
    return {
        "games": [
            {"name": each.name, "title": each.description, "players": each.players, "parameters": dict(each.parameters)}
            for each in catalogue()
        ]
    }

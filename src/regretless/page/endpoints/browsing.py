"""Browsing: nodes, cards, comparisons, information sets."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from regretless.cards.deck import card_text
from regretless.cards.hands import HAND_CARDS
from regretless.errors import InvalidText, RegretlessError
from regretless.holdem.comparison import compare_in_pieces, compare_nodes
from regretless.holdem.field_errors import field_error
from regretless.holdem.spots.locks import check_lock, lock_text
from regretless.page.answers.game import game_json
from regretless.page.answers.locks import read_lock
from regretless.page.answers.node import cards_json, node_json
from regretless.page.answers.numbers import rounded
from regretless.page.answers.schemas import CARDS, COMPARISON, GAME, NODE
from regretless.page.answers.spot import error_json
from regretless.page.endpoint import Endpoint
from regretless.page.endpoints.files import FILE
from regretless.page.schema import Schema, array, boolean, integer, nullable, number, obj, text
from regretless.page.service import Service

__all__ = ["ENDPOINTS", "LOCK"]

LONGEST_SEARCH = 3.0  # seconds
LINE = text('a line of play: "check, bet 40, call, Th"', longest=1000, default="")
ANY: Schema = {"type": "object"}
LOCK = obj(
    {
        "node": text("the line that leads to the decision", longest=1000),
        "hands": text("a range; empty for all hands", default=""),
        "strategy": nullable(
            obj({}, "probability of each action") | {"additionalProperties": number(minimum=0, maximum=1)}
        ),
        "source": nullable(text("file whose strategy is kept instead", longest=300)),
    },
    "a locked decision, with either a strategy or a source",
    required=("node",),
)


def node(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    with service.library.spot(given["file"]) as (solution, revision):
        return {"file": given["file"], "revision": revision} | node_json(solution.reader, given["line"])


def cards(service: Service, given: dict[str, Any]) -> Generator[None, None, dict[str, Any]]:
    with service.library.spot(given["file"], slow=True) as (solution, _):
        return (yield from cards_json(solution.reader, given["line"], given["then"]))


def compare(service: Service, given: dict[str, Any]) -> Generator[None, None, dict[str, Any]]:
    with service.library.both(given["first"], given["second"]) as (first, second):
        found = yield from compare_in_pieces(first, second, most=given["most"], seconds=LONGEST_SEARCH)
        answer: dict[str, Any] = _without_nan(found.as_json())
        return answer


def compare_node(service: Service, given: dict[str, Any]) -> Generator[None, None, dict[str, Any]]:
    with service.library.both(given["first"], given["second"]) as (first, second):
        yield
        views = first.node(given["line"]), second.node(given["line"])
        player = given["player"]
        hands = [_without_nan(each.as_json()) for each in compare_nodes(*views, player)]
        shares = [
            dict(zip(view.actions, view.frequencies, strict=True)) if view.kind == "decision" else {} for view in views
        ]
        return {
            "line": views[0].line,
            "player": player,
            "actions": list(shares[0] | shares[1]),
            "frequencies": {action: [rounded(each.get(action)) for each in shares] for action in shares[0] | shares[1]},
            "ev": {each: [rounded(view.ev(each)) for view in views] for each in ("oop", "ip")},
            "hands": hands,
        }


def _without_nan(value: Any) -> Any:
    """The same JSON with null for NaN."""
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return rounded(value) if isinstance(value, float) else value


def check_one_lock(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    with service.library.spot(given["file"]) as (solution, _):
        reader = solution.reader
        try:
            lock = read_lock(given["lock"], service.library)
            node = check_lock(reader.form.tree, lock, "lock")
            cards = [step.card for step in lock.steps if step.card is not None]
            for number, card in enumerate(cards):
                if card in (*reader.board, *cards[:number]):
                    raise InvalidText("lock.node", lock.node or "", None, f"{card_text(card)} is already on the board")
            hands = reader.hand_numbers[int(reader.form.tree.player[node])]  # on every runout that the line allows
            hands = hands[~np.isin(HAND_CARDS[hands], cards).any(axis=1)]
            chosen = lock.range.weights[hands] > 0
        except RegretlessError as error:
            found = error_json(field_error(error))
            found["field"] = found["field"].removeprefix("lock.").removeprefix("locks.")
            return {"valid": False, "errors": [found], "text": None, "combos": None}
        if not chosen.any():
            wrong = {"field": "hands", "message": "contains no hand of the player who acts there", "position": None}
            return {"valid": False, "errors": [wrong], "text": None, "combos": None}
        shown = service.library.without_folder(lock_text(lock))
        return {"valid": True, "errors": [], "text": shown, "combos": int(chosen.sum())}


def game(service: Service, given: dict[str, Any]) -> dict[str, Any]:
    with service.library.game(given["file"]) as (solution, revision):
        answer = game_json(solution, find=given["find"], offset=given["offset"], most=given["most"])
        return {"file": given["file"], "revision": revision} | answer


_PLAYER = text(enum=["oop", "ip"])

ENDPOINTS = [
    Endpoint(
        method="GET",
        path="/node",
        summary="Everything known at a node of a solved spot",
        handle=node,
        query={"file": FILE, "line": LINE},
        answer=NODE,
    ),
    Endpoint(
        method="GET",
        path="/cards",
        summary="What each card that can come next changes",
        handle=cards,
        query={"file": FILE, "line": LINE, "then": text("actions after the card", longest=1000, default="")},
        answer=CARDS,
    ),
    Endpoint(
        method="GET",
        path="/compare",
        summary="Where two solutions on one board differ",
        handle=compare,
        query={"first": FILE, "second": FILE, "most": integer(minimum=1, maximum=200, default=20)},
        answer=COMPARISON,
    ),
    Endpoint(
        method="GET",
        path="/compare/node",
        summary="How two solutions differ at a node, hand by hand",
        handle=compare_node,
        query={"first": FILE, "second": FILE, "line": LINE, "player": _PLAYER},
        answer=ANY,
    ),
    Endpoint(
        method="POST",
        path="/locks/check",
        summary="Whether a lock fits a solved spot",
        handle=check_one_lock,
        body=obj({"file": FILE, "lock": LOCK}),
        answer=obj(
            {
                "valid": boolean(),
                "errors": array(ANY),
                "text": nullable(text("the lock in one line")),
                "combos": nullable(integer("hands that it locks")),
            }
        ),
    ),
    Endpoint(
        method="GET",
        path="/game",
        summary="Information sets of a solved game",
        handle=game,
        query={
            "file": FILE,
            "find": text("part of an information set's name", longest=200, default=""),
            "offset": integer(minimum=0, maximum=10**9, default=0),
            "most": integer(minimum=1, maximum=2000, default=200),
        },
        answer=GAME,
    ),
]

"""Browsing beyond single nodes: two solutions compared, locks checked, and the information sets of a game."""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Annotated, Any

import numpy as np

from regretless.cards.deck import card_text
from regretless.cards.hands import HAND_CARDS
from regretless.errors import InvalidText, RegretlessError
from regretless.holdem.comparison import compare_in_pieces, compare_nodes
from regretless.holdem.field_errors import field_error
from regretless.holdem.locking import lock_effect
from regretless.holdem.reading.spot_reader import SpotReader
from regretless.holdem.spots.locks import AnyLock, Lock, LockFrom, check_lock, lock_text
from regretless.holdem.spots.spot_fields import PlayerName
from regretless.page.endpoint import RefusedRequest, Routes
from regretless.page.folder import File
from regretless.page.library import Library
from regretless.page.nodes import EV_UNIT, SEAT, Line
from regretless.page.schema import Json, array, boolean, integer, nullable, number, obj, rounded, rounded_list, text
from regretless.page.spots import error_json
from regretless.solving.game_solution import GameSolution

__all__ = ["CURVE", "LOCK", "game_json", "read_lock", "routes"]

MAX_SEARCH_SECONDS = 3.0
CURVE = array(array(number()), "iteration, seconds, exploitability")
_NUMBER = nullable(number())
_TEXT = nullable(text())
_BEFORE_AFTER = array(_NUMBER, "of the first and the second solution")

routes = Routes()

# --- two solutions ---------------------------------------------------------------------------------------------------

COMPARISON = obj(
    {
        "changed": array(text("field of the spot")),
        "ev": obj({"oop": _BEFORE_AFTER, "ip": _BEFORE_AFTER}),
        "equity": obj({"oop": _BEFORE_AFTER, "ip": _BEFORE_AFTER}),
        "exploitability_pct_pot": _BEFORE_AFTER,
        "nodes": array(
            obj(
                {
                    "line": text(),
                    "player": text(),
                    "deals": integer("equivalent deals counted here"),
                    "reached": _BEFORE_AFTER,
                    "moved": number("share of play that differs, 0 to 1"),
                    "frequencies": obj({}, "before and after by action", open_=True),
                    "ev": obj({"oop": _BEFORE_AFTER, "ip": _BEFORE_AFTER}),
                }
            )
        ),
        "visited": integer("decisions compared"),
        "complete": boolean(
            "whether the nodes listed are those that differ most; the search is cut short if it is long"
        ),
        "only_first": array(text()),
        "only_second": array(text()),
    }
)


@routes.endpoint("GET", "/compare", "Where two solutions on one board differ", COMPARISON)
def compare(
    library: Library, first: File, second: File, most: Annotated[int, integer(minimum=1, maximum=200)] = 20
) -> Generator[None, None, Json]:
    with library.both(first, second) as solutions:
        comparison = yield from compare_in_pieces(*solutions, most=most, seconds=MAX_SEARCH_SECONDS)
        answer: Json = _without_nan(comparison.as_json())
        return answer


@routes.endpoint("GET", "/compare/node", "How two solutions differ at a node, hand by hand", {"type": "object"})
def compare_node(
    library: Library, first: File, second: File, *, line: Line = "", player: Annotated[PlayerName, SEAT]
) -> Generator[None, None, Json]:
    with library.both(first, second) as (one, other):
        yield
        views = one.node(line), other.node(line)
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


# --- locks -----------------------------------------------------------------------------------------------------------

LOCK = obj(
    {
        "node": text("the line that leads to the decision", longest=1000),
        "hands": text("a range; empty for all hands", default=""),
        "strategy": nullable(
            obj({}, "probability of each action") | {"additionalProperties": number(minimum=0, maximum=1)}
        ),
        "source": nullable(text("file whose strategy is kept instead", longest=300)),
        "frequencies": nullable(
            obj({}, "with a source: how often an action, or bets, is taken; hands that lose least change first")
            | {"additionalProperties": number(minimum=0, maximum=1)}
        ),
    },
    "a locked decision, with either a strategy or a source",
    required=("node",),
)


def read_lock(fields: Json, library: Library) -> AnyLock:
    """A lock to a strategy, or to that of another solution of the served folder."""
    strategy, source = fields.get("strategy"), fields.get("source")
    if (strategy is None) == (source is None):
        raise RefusedRequest("lock: give either a strategy or a source", "strategy")
    hands = fields.get("hands", "")
    frequencies = fields.get("frequencies") or {}
    if source is not None:
        where = str(library.existing(source, ".rgl"))
        return LockFrom(where, node=fields["node"], hands=hands, frequencies=frequencies)
    if frequencies:
        raise RefusedRequest("lock: frequencies need a source", "frequencies")
    lock = Lock(fields["node"], {name: float(share) for name, share in strategy.items()}, hands)  # type: ignore[union-attr]
    _ = lock.steps, lock.range
    return lock


_CHECKED_LOCK = obj(
    {
        "valid": boolean(),
        "errors": array({"type": "object"}),
        "text": nullable(text("the lock in one line")),
        "combos": nullable(integer("hands that it locks")),
        "effect": nullable(
            obj(
                {
                    "actions": array(text()),
                    "before": array(_NUMBER, "how often the range takes each action"),
                    "after": array(_NUMBER),
                    "ev_lost": number(f"{EV_UNIT}, on average over the range there, before anybody adapts"),
                }
            )
        ),
    }
)
_REFUSED_LOCK: Json = {"valid": False, "text": None, "combos": None, "effect": None}


@routes.endpoint("POST", "/locks/check", "Whether a lock fits a solved spot", _CHECKED_LOCK)
def check_one_lock(
    library: Library,
    file: File,
    lock: Annotated[Json, LOCK],
    line: Annotated[str | None, nullable(text("where the effect is measured; null: not at all", longest=1000))] = None,
) -> Json:
    with library.spot(file) as (solution, _):
        reader = solution.reader
        try:
            checked = read_lock(lock, library)
            node = check_lock(reader.form.tree, checked, "lock")
            cards = [step.card for step in checked.steps if step.card is not None]
            for number, card in enumerate(cards):
                if card in (*reader.board, *cards[:number]):
                    raise InvalidText(
                        "lock.node", checked.node or "", None, f"{card_text(card)} is already on the board"
                    )
            hands = reader.hand_numbers[int(reader.form.tree.player[node])]  # on every runout that the line allows
            hands = hands[~np.isin(HAND_CARDS[hands], cards).any(axis=1)]
            chosen = checked.range.weights[hands] > 0
        except RegretlessError as error:
            wrong = error_json(field_error(error))
            wrong["field"] = wrong["field"].removeprefix("lock.").removeprefix("locks.")
            return {**_REFUSED_LOCK, "errors": [wrong]}
        if not chosen.any():
            wrong = {"field": "hands", "message": "contains no hand of the player who acts there", "position": None}
            return {**_REFUSED_LOCK, "errors": [wrong]}
        shown = library.without_folder(lock_text(checked))
        effect = None if line is None else _effect_json(reader, checked, line)
        return {"valid": True, "errors": [], "text": shown, "combos": int(chosen.sum()), "effect": effect}


def _effect_json(reader: SpotReader, lock: AnyLock, line: str) -> Json:
    effect = lock_effect(reader, lock, reader.find(line))
    return {
        "actions": list(effect.actions),
        "before": rounded_list(np.array(effect.before)),
        "after": rounded_list(np.array(effect.after)),
        "ev_lost": rounded(effect.ev_lost),
    }


# --- games -----------------------------------------------------------------------------------------------------------

GAME = obj(
    {
        "file": text(),
        "revision": text(),
        "game": text(),
        "variant": text(),
        "iterations": integer(),
        "exploitability": number(),
        "nash_conv": number(),
        "values": array(number()),
        "unit": text(),
        "seconds": number(),
        "information_sets": integer("of the whole game"),
        "found": integer("whose names contain the text"),
        "offset": integer(),
        "actions": array(text()),
        "sets": array(
            obj(
                {
                    "key": text(),
                    "private": _TEXT,
                    "history": text(),
                    "actions": array(text()),
                    "probabilities": array(number()),
                }
            )
        ),
        "curve": CURVE,
    }
)
_CARD_FIRST = re.compile(r"([^:]*):(.*)", re.DOTALL)  # Kuhn's and Leduc's names: the player's card, then the history


def game_json(solution: GameSolution, *, find: str, offset: int, most: int) -> Json:
    """The figures of a game, and the information sets whose names contain a text."""
    strategy = solution.strategy
    keys = [key for key in strategy if find in key]
    shown = keys[offset : offset + most]
    return {
        "game": solution.game,
        "variant": solution.variant,
        "iterations": solution.iterations,
        "exploitability": solution.scale * max(solution.exploitability, 0.0),
        "nash_conv": solution.scale * max(solution.nash_conv, 0.0),
        "values": [rounded(value) for value in solution.values],
        "unit": solution.unit,
        "seconds": solution.seconds,
        "information_sets": len(strategy),
        "found": len(keys),
        "offset": offset,
        "actions": list(dict.fromkeys(action for key in shown for action in strategy[key])),
        "sets": [_set_json(key, dict(strategy[key])) for key in shown],
        "curve": [[point.iteration, point.seconds, max(point.exploitability, 0.0)] for point in solution.curve],
    }


def _set_json(key: str, played: dict[str, float]) -> Json:
    parts = _CARD_FIRST.fullmatch(key)
    return {
        "key": key,
        "private": parts[1] if parts else None,
        "history": parts[2] if parts else key,
        "actions": list(played),
        "probabilities": [rounded(share) for share in played.values()],
    }


@routes.endpoint("GET", "/game", "Information sets of a solved game", GAME)
def game(
    library: Library,
    file: File,
    find: Annotated[str, text("part of an information set's name", longest=200)] = "",
    offset: Annotated[int, integer(minimum=0, maximum=10**9)] = 0,
    most: Annotated[int, integer(minimum=1, maximum=2000)] = 200,
) -> Json:
    with library.game(file) as (solution, revision):
        return {"file": file, "revision": revision} | game_json(solution, find=find, offset=offset, most=most)

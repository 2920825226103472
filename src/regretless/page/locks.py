"""Locks as the page sends them, and whether they fit a solved spot."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from regretless.cards.deck import card_text
from regretless.cards.hands import HAND_CARDS
from regretless.cards.ranges import Range
from regretless.errors import InvalidText, RegretlessError
from regretless.holdem.field_errors import field_error
from regretless.holdem.locking import lock_effect
from regretless.holdem.reading.spot_reader import SpotReader
from regretless.holdem.spots.lines import parse_line
from regretless.holdem.spots.locks import AnyLock, Lock, LockFrom, check_lock, lock_text
from regretless.page.endpoint import RefusedRequest, Routes
from regretless.page.folder import File
from regretless.page.library import Library
from regretless.page.nodes import EV_UNIT
from regretless.page.schema import Json, array, boolean, integer, nullable, number, obj, rounded, rounded_list, text
from regretless.page.spots import error_json

__all__ = ["LOCK", "read_lock", "routes"]

_NUMBER = nullable(number())

routes = Routes()

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
    source = fields.get("source")
    if (fields.get("strategy") is None) == (source is None):
        raise RefusedRequest("lock: give either a strategy or a source", "strategy")
    hands = fields.get("hands", "")
    frequencies = fields.get("frequencies") or {}
    lock: AnyLock
    if source is not None:
        path = str(library.existing(source, ".rgl"))
        lock = LockFrom(path, node=fields["node"], hands=hands, frequencies=frequencies)
    elif frequencies:
        raise RefusedRequest("lock: frequencies need a source", "frequencies")
    else:
        lock = Lock(fields["node"], {name: float(share) for name, share in fields["strategy"].items()}, hands)
    _check_texts(lock)
    return lock


def _check_texts(lock: AnyLock) -> None:
    """Refuse a line or a range that cannot be read; the lock itself reads them only when they are needed."""
    parse_line(lock.node or "", "locks.node")
    Range.parse(lock.hands or "100%", "locks.hands")


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
            combos = _locked_combos(reader, checked, node)
        except RegretlessError as error:
            refusal = error_json(field_error(error))
            refusal["field"] = refusal["field"].removeprefix("lock.").removeprefix("locks.")
            return {**_REFUSED_LOCK, "errors": [refusal]}
        if combos == 0:
            refusal = {"field": "hands", "message": "contains no hand of the player who acts there", "position": None}
            return {**_REFUSED_LOCK, "errors": [refusal]}
        sentence = library.without_folder(lock_text(checked))
        effect = None if line is None else _effect_json(reader, checked, line)
        return {"valid": True, "errors": [], "text": sentence, "combos": combos, "effect": effect}


def _locked_combos(reader: SpotReader, lock: AnyLock, node: int) -> int:
    """How many hands of the acting player a lock at a node applies to, on every runout that its line allows."""
    for index, card in enumerate(lock.cards):
        if card in (*reader.board, *lock.cards[:index]):
            raise InvalidText("lock.node", lock.node or "", None, f"{card_text(card)} is already on the board")
    hands = reader.hand_numbers[int(reader.form.tree.player[node])]
    hands = hands[~np.isin(HAND_CARDS[hands], lock.cards).any(axis=1)]
    return int((lock.range.weights[hands] > 0).sum())


def _effect_json(reader: SpotReader, lock: AnyLock, line: str) -> Json:
    effect = lock_effect(reader, lock, reader.find(line))
    return {
        "actions": list(effect.actions),
        "before": rounded_list(np.array(effect.before)),
        "after": rounded_list(np.array(effect.after)),
        "ev_lost": rounded(effect.ev_lost),
    }

"""Hands played against a solution: the page's user takes one seat, the solution the other; and their endpoints.

`holdem.reading.playing` deals and plays; hands come from the ranges at the starting node. Each decision of the user is
judged by the solution's EV of every action with the hand:

       lost = max_a EV(a) − EV(chosen)

The opponent's hand stays on the server until the hand is over. Sessions live in memory and are dropped, oldest first,
when there are too many; each holds only the line played so far, so a session survives a better solution of its file.
"""

from __future__ import annotations

import random
import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from regretless.cards.deck import card_text
from regretless.cards.hands import HAND_CARDS, hand_text
from regretless.errors import InvalidText
from regretless.forms.public import NodeKind
from regretless.holdem.reading.line_reader import LineNode
from regretless.holdem.reading.playing import Duel, draw_hands
from regretless.holdem.reading.spot_reader import SpotReader
from regretless.holdem.spots.lines import find_action, no_such_action, parse_line
from regretless.holdem.spots.spot_fields import PLAYERS, PlayerName
from regretless.page.endpoint import Conflict, NotFound, Routes
from regretless.page.library import File, Library
from regretless.page.nodes import ACTION, CHIPS, SEAT, TILE, Line, action_list, strip_json
from regretless.page.schema import Json, array, boolean, integer, nullable, number, obj, rounded, text

__all__ = ["PracticeSession", "PracticeTable", "routes"]

MOST_SESSIONS = 200
GRADES = ("best", "fine", "inaccuracy", "mistake", "blunder")
LIMITS = (0.1, 0.5, 1.5, 5.0)  # EV lost in percent of the pot, up to which each grade but the last is given
PLAYED = 0.05  # share of the time from which an action of the solution is at least fine


@dataclass
class PracticeSession:
    """A series of hands."""

    id: str
    file: str
    seat: PlayerName | None  # None: drawn for every hand
    start: str  # line
    random: random.Random
    player: PlayerName = "oop"
    hands: dict[PlayerName, int] = field(default_factory=dict)  # among the 1,326
    line: str = ""
    feedback: Json | None = None
    dealt: int = 0
    lost: float = 0.0
    lost_pct: float = 0.0
    grades: dict[str, int] = field(default_factory=lambda: dict.fromkeys(GRADES, 0))

    # --- play --------------------------------------------------------------------------------------------------------

    def deal(self, reader: SpotReader) -> None:
        """Deal the next hand, and play until the user must act or the hand is over."""
        place = reader.find(self.start)
        if reader.form.tree.kind[place.index] in (NodeKind.FOLD, NodeKind.SHOWDOWN):
            raise InvalidText("line", self.start, None, "the hand is over there")
        self.player = self.random.choice(PLAYERS) if self.seat is None else self.seat
        self.hands = dict(zip(PLAYERS, draw_hands(reader, place, self.random), strict=True))
        self.line, self.feedback = ", ".join(place.steps), None
        self.dealt += 1
        self._play_on(reader, place)

    def act(self, reader: SpotReader, action: str) -> None:
        """Take an action, judge it, and play until the user must act again or the hand is over."""
        place = reader.find(self.line)
        if not self._duel(reader).is_turn(place):
            raise Conflict("the hand is over: deal the next one")
        labels = reader.actions(place.index)
        steps = parse_line(action, "action")
        chosen = find_action(steps[0], labels) if len(steps) == 1 else None
        if chosen is None:
            if len(steps) != 1:
                raise InvalidText("action", action, None, f"is not one action; choose from {', '.join(labels)}")
            raise no_such_action("action", action, steps[0], labels)
        self._judge(reader, place, chosen)
        self._play_on(reader, reader.act(place, chosen))

    def _duel(self, reader: SpotReader) -> Duel:
        return Duel(reader, (self.hands["ip"], self.hands["oop"]), PLAYERS.index(self.player), self.random)

    def _play_on(self, reader: SpotReader, place: LineNode) -> None:
        self.line = ", ".join(self._duel(reader).play_on(place)[-1].steps)

    def _judge(self, reader: SpotReader, place: LineNode, chosen: int) -> None:
        view = reader.view(place)
        column = int(np.flatnonzero(view.acting.hand == self.hands[self.player])[0])
        ev, strategy = view.action_ev[:, column], view.strategy[:, column]
        lost = max(0.0, float(ev.max() - ev[chosen])) if np.isfinite(ev).all() else 0.0
        share = 100 * lost / view.pot
        grade = next((name for name, limit in zip(GRADES, LIMITS, strict=False) if share <= limit), GRADES[-1])
        if strategy[chosen] >= PLAYED and grade not in GRADES[:2]:
            grade = GRADES[1]
        self.lost += lost
        self.lost_pct += share
        self.grades[grade] += 1
        self.feedback = {
            "line": view.line,
            "hand": hand_text(self.hands[self.player]),
            "chosen": view.actions[chosen],
            "best": view.actions[int(np.nanargmax(ev))] if np.isfinite(ev).any() else None,
            "ev": {name: rounded(chips) for name, chips in zip(view.actions, ev, strict=True)},
            "strategy": {name: rounded(played) for name, played in zip(view.actions, strategy, strict=True)},
            "lost": rounded(lost),
            "lost_pct_pot": rounded(share),
            "grade": grade,
        }

    # --- what the user sees ------------------------------------------------------------------------------------------

    def as_json(self, reader: SpotReader) -> Json:
        """The state of the session, without what the user must not know."""
        passed = reader.path(self.line)
        place = passed[-1]
        tree, mine = reader.form.tree, self._duel(reader).is_turn(place)
        paid = tree.paid[place.index]
        decisions = sum(self.grades.values())
        return {
            "id": self.id,
            "file": self.file,
            "hand_number": self.dealt,
            "player": self.player,
            "hand": hand_text(self.hands[self.player]),
            "hole": _cards(self.hands[self.player]),
            "board": [card_text(card) for card in (*reader.board, *place.deal.cards)],
            "line": self.line,
            "pot": reader.spot.pot + float(paid.sum()),
            "stacks": {PLAYERS[player]: reader.spot.stack - float(paid[player]) for player in range(2)},
            "to_call": float(abs(paid[0] - paid[1])) if mine else 0.0,
            "strip": strip_json(reader, passed, frequencies=False),
            "actions": action_list(reader, place) if mine else [],
            "over": not mine,
            "outcome": None if mine else self._outcome(reader, place),
            "feedback": self.feedback,
            "score": {
                "hands": self.dealt,
                "decisions": decisions,
                "lost": rounded(self.lost),
                "lost_per_decision": rounded(self.lost / decisions) if decisions else 0.0,
                "lost_pct_pot": rounded(self.lost_pct / decisions) if decisions else 0.0,
                "best": self.grades["best"],
                "grades": dict(self.grades),
            },
        }

    def _outcome(self, reader: SpotReader, place: LineNode) -> Json:
        outcome = self._duel(reader).outcome(place)
        mine = PLAYERS.index(self.player)
        won = outcome.won[mine]
        if outcome.folded is not None:
            return {
                "end": "fold",
                "opponent": None,
                "won": rounded(won),
                "text": "You fold" if outcome.folded == mine else f"Your opponent folds: you win {won:g} chips",
            }
        other: PlayerName = "oop" if self.player == "ip" else "ip"
        ahead = outcome.strength[mine] - outcome.strength[1 - mine]
        chips = f" {abs(won):g} chips" if won else ""
        text = "You split the pot" if ahead == 0 else f"You {'win' if ahead > 0 else 'lose'}{chips}"
        return {
            "end": "showdown",
            "opponent": _cards(self.hands[other]),
            "won": rounded(won),
            "text": f"{text} at showdown",
        }


def _cards(hand: int) -> list[str]:
    low, high = HAND_CARDS[hand]
    return [card_text(int(high)), card_text(int(low))]


class PracticeTable:
    """The sessions of a server."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, tuple[PracticeSession, threading.Lock]] = OrderedDict()
        self._changing = threading.Lock()

    def open(self, file: str, seat: PlayerName | None, start: str, seed: int | None) -> PracticeSession:
        """A new session, not kept yet."""
        return PracticeSession(f"p{secrets.token_hex(8)}", file, seat, start, random.Random(seed))

    def keep(self, session: PracticeSession) -> None:
        """Keep a session; the one that was used least recently is dropped if there are too many."""
        with self._changing:
            self._sessions[session.id] = session, threading.Lock()
            while len(self._sessions) > MOST_SESSIONS:
                self._sessions.popitem(last=False)

    @contextmanager
    def session(self, id_: str) -> Iterator[PracticeSession]:
        """The session with this id, for this thread alone."""
        with self._changing:
            if id_ not in self._sessions:
                raise NotFound(f"there is no practice session {id_[:40]!r}: start a new one")
            self._sessions.move_to_end(id_)
            session, lock = self._sessions[id_]
        with lock:
            yield session


# --- endpoints -------------------------------------------------------------------------------------------------------

PRACTICE = obj(
    {
        "id": text(),
        "file": text(),
        "hand_number": integer(),
        "player": text(enum=["oop", "ip"]),
        "hand": text(),
        "hole": array(text()),
        "board": array(text()),
        "line": text(),
        "pot": number(),
        "stacks": CHIPS,
        "to_call": number(),
        "strip": array(TILE, "without frequencies"),
        "actions": array(ACTION, "empty when the hand is over"),
        "over": boolean(),
        "outcome": nullable(
            obj({"end": text(), "opponent": nullable(array(text())), "won": number("chips"), "text": text()})
        ),
        "feedback": nullable(
            obj(
                {
                    "line": text(),
                    "hand": text(),
                    "chosen": text(),
                    "best": nullable(text()),
                    "ev": obj({}, "chips by action", open_=True),
                    "strategy": obj({}, "probability by action", open_=True),
                    "lost": number("chips"),
                    "lost_pct_pot": number(),
                    "grade": text(enum=list(GRADES)),
                },
                "about the last decision",
            )
        ),
        "score": obj(
            {
                "hands": integer(),
                "decisions": integer(),
                "lost": number(),
                "lost_per_decision": number(),
                "lost_pct_pot": number("per decision"),
                "best": integer(),
                "grades": obj({}, open_=True),
            }
        ),
    }
)
_STATE = obj({"practice": PRACTICE})

routes = Routes()


@routes.endpoint("POST", "/practice", "Sit down and be dealt a hand", _STATE, status=201)
def begin(
    table: PracticeTable,
    library: Library,
    file: File,
    player: Annotated[PlayerName | None, nullable(SEAT)] = None,
    line: Line = "",
    seed: Annotated[int | None, nullable(integer(minimum=0, maximum=2**53))] = None,
) -> Json:
    session = table.open(file, player, line, seed)
    with library.spot(file) as (solution, _):
        session.deal(solution.reader)
        state = session.as_json(solution.reader)
    table.keep(session)
    return {"practice": state}


@routes.endpoint("GET", "/practice/{id}", "The hand being played", _STATE)
def state(table: PracticeTable, library: Library, id: str) -> Json:
    with table.session(id) as session, library.spot(session.file) as (solution, _):
        return {"practice": session.as_json(solution.reader)}


@routes.endpoint("POST", "/practice/{id}/act", "Take an action and be judged", _STATE)
def act(table: PracticeTable, library: Library, id: str, action: Annotated[str, text(longest=100)]) -> Json:
    with table.session(id) as session, library.spot(session.file) as (solution, _):
        session.act(solution.reader, action)
        return {"practice": session.as_json(solution.reader)}


@routes.endpoint("POST", "/practice/{id}/deal", "The next hand", _STATE)
def deal(table: PracticeTable, library: Library, id: str) -> Json:
    with table.session(id) as session, library.spot(session.file) as (solution, _):
        session.deal(solution.reader)
        return {"practice": session.as_json(solution.reader)}

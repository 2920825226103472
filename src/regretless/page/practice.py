"""Hands played against a solution: the page's user takes one seat, the solution the other; and their endpoints.

`holdem.reading.playing` deals and plays; hands come from the ranges at the starting node. Each decision of the user is
judged by the solution's EV of every action with the hand:

       lost = max_a EV(a) − EV(chosen)

A session deals from one solution or from several. It may be limited to some streets and kinds of decision: then both
seats are played by the solution until the user has such a decision. With `single`, one decision is asked of each hand,
any of those that come up, and the next hand follows at once.

The opponent's hand stays on the server until the hand is over. Sessions live in memory and are dropped, oldest first,
when there are too many; each holds only the line played so far, so a session survives a better solution of its file.
"""

from __future__ import annotations

import random
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from regretless.cards.deck import card_text
from regretless.cards.hands import HAND_CARDS, hand_text
from regretless.errors import InvalidText
from regretless.forms.public import NodeKind
from regretless.holdem.reading.line_reader import LineNode
from regretless.holdem.reading.playing import Duel, draw_hands
from regretless.holdem.reading.spot_reader import SpotReader
from regretless.holdem.spots.lines import find_action, no_such_action, parse_line
from regretless.holdem.spots.spot_fields import PLAYERS, STREETS, PlayerName
from regretless.page.endpoint import Conflict, NotFound, Routes
from regretless.page.library import FILE, Library
from regretless.page.mistakes import MISTAKE, MistakeList
from regretless.page.nodes import ACTION, CHIPS, EV_UNIT, SEAT, TILE, Line, action_list, street_of, strip_json
from regretless.page.schema import Json, array, boolean, integer, nullable, number, obj, rounded, text

__all__ = ["PracticeSession", "PracticeTable", "routes"]

MAX_SESSIONS = 200
MAX_FILES = 200  # that a session deals from
MAX_DEALS = 300  # until a hand comes to a decision that is asked
FACING = ("check", "bet")  # nobody has bet on this street, or there is a bet to answer
GRADES = ("best", "fine", "inaccuracy", "mistake", "blunder")
LIMITS = (0.1, 0.5, 1.5, 5.0)  # EV lost in percent of the pot, up to which each grade but the last is given
PLAYED = 0.05  # share of the time from which an action of the solution is at least fine


class NoSuchDecision(NotFound):
    """No decision that is asked comes up in a solution."""


@dataclass
class PracticeSession:
    """A series of hands."""

    id: str
    files: tuple[str, ...]  # to deal from
    seat: PlayerName | None  # None: drawn for every hand
    start: str  # line
    random: random.Random
    streets: frozenset[str] = frozenset(STREETS)  # whose decisions are asked
    facing: frozenset[str] = frozenset(FACING)  # kinds of decision that are asked
    single: bool = False  # one decision per hand
    passed_over: set[str] = field(default_factory=set)  # files in which no decision that is asked came up
    file: str = ""  # of this hand
    player: PlayerName = "oop"
    hands: dict[PlayerName, int] = field(default_factory=dict)  # among the 1,326
    line: str = ""
    feedback: Json | None = None
    dealt: int = 0
    lost: float = 0.0
    lost_pct: float = 0.0
    grades: dict[str, int] = field(default_factory=lambda: dict.fromkeys(GRADES, 0))

    # --- play --------------------------------------------------------------------------------------------------------

    def choose_file(self) -> str:
        """The file that the next hand is dealt from."""
        self.file = self.random.choice([each for each in self.files if each not in self.passed_over])
        return self.file

    def deal(self, reader: SpotReader) -> None:
        """Deal the next hand, and play until the user must act or the hand is over."""
        start = reader.find(self.start)
        if reader.form.tree.kind[start.index] in (NodeKind.FOLD, NodeKind.SHOWDOWN):
            raise InvalidText("line", self.start, None, "the hand is over there")
        if not self.single and self._asks_everything:
            self._draw(reader, start)
            self.line = ", ".join(self._duel(reader).play_on(start)[-1].steps)
        else:
            self.line = self._find_decision(reader, start)
        self.dealt += 1

    @property
    def _asks_everything(self) -> bool:
        return self.streets == frozenset(STREETS) and self.facing == frozenset(FACING)

    def _draw(self, reader: SpotReader, start: LineNode) -> None:
        self.player = self.random.choice(PLAYERS) if self.seat is None else self.seat
        self.hands = dict(zip(PLAYERS, draw_hands(reader, start, self.random), strict=True))

    def _find_decision(self, reader: SpotReader, start: LineNode) -> str:
        """The line to a decision of the user that is asked, in a hand that the solution plays for both."""
        for _ in range(MAX_DEALS):
            self._draw(reader, start)
            duel, node, candidates = self._duel(reader), start, []
            while duel.is_turn(node := duel.play_on(node)[-1]):
                if self._is_asked(reader, node):
                    candidates.append(node)
                    if not self.single:
                        break
                node = reader.act(node, duel.draw(node))
            if candidates:
                return ", ".join(self.random.choice(candidates).steps)
        raise NoSuchDecision(f"no hand of {self.file!r} came to such a decision in {MAX_DEALS} deals", "streets")

    def _is_asked(self, reader: SpotReader, node: LineNode) -> bool:
        paid = reader.form.tree.paid[node.index]
        facing = "bet" if abs(float(paid[0] - paid[1])) > 0 else "check"
        return facing in self.facing and street_of(reader, node) in self.streets

    def act(self, reader: SpotReader, action: str) -> None:
        """Take an action, judge it, and play until the user must act again or the hand is over."""
        node = reader.find(self.line)
        if not self._duel(reader).is_turn(node):
            raise Conflict("the hand is over: deal the next one")
        labels = reader.actions(node.index)
        steps = parse_line(action, "action")
        chosen = find_action(steps[0], labels) if len(steps) == 1 else None
        if chosen is None:
            if len(steps) != 1:
                raise InvalidText("action", action, None, f"is not one action; choose from {', '.join(labels)}")
            raise no_such_action("action", action, steps[0], labels)
        self._judge(reader, node, chosen)
        if not self.single:
            self._play_on(reader, reader.act(node, chosen))

    def _duel(self, reader: SpotReader) -> Duel:
        return Duel(reader, (self.hands["ip"], self.hands["oop"]), PLAYERS.index(self.player), self.random)

    def _play_on(self, reader: SpotReader, node: LineNode) -> None:
        self.line = ", ".join(self._duel(reader).play_on(node)[-1].steps)

    def _judge(self, reader: SpotReader, node: LineNode, chosen: int) -> None:
        view = reader.view(node)
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
            "file": self.file,
            "board": [card_text(card) for card in (*reader.board, *node.deal.cards)],
            "line": view.line,
            "big_blind": reader.spot.big_blind,
            "pot": view.pot,
            "hand": hand_text(self.hands[self.player]),
            "actions": action_list(reader, node),
            "chosen": view.actions[chosen],
            "best": view.actions[int(np.nanargmax(ev))] if np.isfinite(ev).any() else None,
            "ev": {name: rounded(chips) for name, chips in zip(view.actions, ev, strict=True)},
            "strategy": {name: rounded(played) for name, played in zip(view.actions, strategy, strict=True)},
            "lost": rounded(lost),
            "lost_pct_pot": rounded(share),
            "grade": grade,
        }

    def mistake(self) -> Json | None:
        """The last decision, if it belongs on the list of mistakes."""
        feedback = self.feedback
        if feedback is None or feedback["grade"] in GRADES[:2]:
            return None
        names = ("file", "line", "hand", "chosen", "lost_pct_pot", "grade")
        board, best = " ".join(feedback["board"]), feedback["best"] or ""
        return {name: feedback[name] for name in names} | {
            "player": self.player, "board": board, "best": best, "time": time.time(),
        }  # fmt: skip

    # --- what the user sees ------------------------------------------------------------------------------------------

    def as_json(self, reader: SpotReader) -> Json:
        """The state of the session, without what the user must not know."""
        path = reader.path(self.line)
        node = path[-1]
        tree, is_turn = reader.form.tree, self._duel(reader).is_turn(node)
        paid = tree.paid[node.index]
        decisions = sum(self.grades.values())
        return {
            "id": self.id,
            "files": list(self.files),
            "single": self.single,
            "file": self.file,
            "hand_number": self.dealt,
            "player": self.player,
            "seats": {player: reader.spot.position_of(player) for player in PLAYERS},
            "big_blind": reader.spot.big_blind,
            "hand": hand_text(self.hands[self.player]),
            "hole": _cards(self.hands[self.player]),
            "board": [card_text(card) for card in (*reader.board, *node.deal.cards)],
            "line": self.line,
            "pot": reader.spot.pot + float(paid.sum()),
            "stacks": {PLAYERS[player]: reader.spot.stack - float(paid[player]) for player in range(2)},
            "to_call": float(abs(paid[0] - paid[1])) if is_turn else 0.0,
            "strip": strip_json(reader, path, frequencies=False),
            "actions": action_list(reader, node) if is_turn else [],
            "over": not is_turn,
            "outcome": None if is_turn else self._outcome(reader, node),
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

    def _outcome(self, reader: SpotReader, node: LineNode) -> Json:
        outcome = self._duel(reader).outcome(node)
        own = PLAYERS.index(self.player)
        won = outcome.won[own]
        if outcome.folded is not None:
            return {
                "end": "fold",
                "opponent": None,
                "won": rounded(won),
                "text": "You fold" if outcome.folded == own else f"Your opponent folds: you win {won:g} chips",
            }
        other: PlayerName = "oop" if self.player == "ip" else "ip"
        ahead = outcome.strength[own] - outcome.strength[1 - own]
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

    def open(
        self, files: Sequence[str], seat: PlayerName | None, start: str, seed: int | None, **filters: Any
    ) -> PracticeSession:
        """A new session, not kept yet."""
        return PracticeSession(f"p{secrets.token_hex(8)}", tuple(files), seat, start, random.Random(seed), **filters)

    def keep(self, session: PracticeSession) -> None:
        """Keep a session; the one that was used least recently is dropped if there are too many."""
        with self._changing:
            self._sessions[session.id] = session, threading.Lock()
            while len(self._sessions) > MAX_SESSIONS:
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
        "files": array(text(), "that hands are dealt from"),
        "single": boolean("one decision per hand"),
        "file": text("of this hand"),
        "hand_number": integer(),
        "player": text(enum=["oop", "ip"]),
        "seats": obj({"oop": text(), "ip": text()}, "what the players are called: their positions, if known"),
        "big_blind": nullable(number("chips, if known")),
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
                    "file": text(),
                    "board": array(text()),
                    "line": text(),
                    "big_blind": nullable(number("chips, if known")),
                    "pot": number("chips"),
                    "hand": text(),
                    "actions": array(ACTION),
                    "chosen": text(),
                    "best": nullable(text()),
                    "ev": obj({}, f"{EV_UNIT} by action", open_=True),
                    "strategy": obj({}, "probability by action", open_=True),
                    "lost": number(EV_UNIT),
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
_STREETS = nullable(array(text(enum=list(STREETS)), "whose decisions are asked; all by default", maxItems=3))
_FACING = nullable(array(text(enum=list(FACING)), "kinds of decision that are asked; all by default", maxItems=2))
_STATE = obj({"practice": PRACTICE})

routes = Routes()


@routes.endpoint("POST", "/practice", "Sit down and be dealt a hand", _STATE, status=201)
def begin(
    table: PracticeTable,
    library: Library,
    files: Annotated[list[str], array(FILE, "solved spots to deal from", minItems=1, maxItems=MAX_FILES)],
    player: Annotated[PlayerName | None, nullable(SEAT)] = None,
    line: Line = "",
    seed: Annotated[int | None, nullable(integer(minimum=0, maximum=2**53))] = None,
    streets: Annotated[list[str] | None, _STREETS] = None,
    facing: Annotated[list[str] | None, _FACING] = None,
    single: Annotated[bool, boolean("ask one decision of each hand, and deal the next at once")] = False,
) -> Json:
    for file in files:
        if library.summary(file).kind != "spot":
            raise NotFound(f"file: {file!r} is not a solved spot", "files")
    filters = {"streets": frozenset(streets or STREETS), "facing": frozenset(facing or FACING), "single": single}
    session = table.open(files, player, line, seed, **filters)
    state = _next_hand(session, library)
    table.keep(session)
    return {"practice": state}


def _next_hand(session: PracticeSession, library: Library) -> Json:
    """Deal from one of the files; those without a decision that is asked are passed over while there are others."""
    while True:
        with library.spot(session.choose_file()) as (solution, _):
            try:
                session.deal(solution.reader)
            except NoSuchDecision:
                session.passed_over.add(session.file)
                if session.passed_over.issuperset(session.files):
                    session.passed_over.clear()  # the next deal tries them again
                    raise
                continue
            return session.as_json(solution.reader)


@routes.endpoint(
    "GET", "/practice/mistakes", "The mistakes that cost most, of all sessions", obj({"mistakes": array(MISTAKE)})
)
def list_mistakes(mistakes: MistakeList, most: Annotated[int, integer(minimum=1, maximum=500)] = 50) -> Json:
    return {"mistakes": mistakes.worst(most)}


@routes.endpoint("DELETE", "/practice/mistakes", "Forget all mistakes", obj({"mistakes": array(MISTAKE)}))
def forget_mistakes(mistakes: MistakeList) -> Json:
    mistakes.forget()
    return {"mistakes": mistakes.worst(1)}


@routes.endpoint("GET", "/practice/{id}", "The hand being played", _STATE)
def state(table: PracticeTable, library: Library, id: str) -> Json:
    with table.session(id) as session, library.spot(session.file) as (solution, _):
        return {"practice": session.as_json(solution.reader)}


@routes.endpoint("POST", "/practice/{id}/act", "Take an action and be judged", _STATE)
def act(
    table: PracticeTable,
    library: Library,
    mistakes: MistakeList,
    id: str,
    action: Annotated[str, text(longest=100)],
) -> Json:
    with table.session(id) as session:
        with library.spot(session.file) as (solution, _):
            session.act(solution.reader, action)
            played = session.as_json(solution.reader)
        if mistake := session.mistake():
            mistakes.add(mistake)
        return {"practice": _next_hand(session, library) if session.single else played}


@routes.endpoint("POST", "/practice/{id}/deal", "The next hand", _STATE)
def deal(table: PracticeTable, library: Library, id: str) -> Json:
    with table.session(id) as session:
        session.feedback = None
        return {"practice": _next_hand(session, library)}

"""A series of hands against a solution: the page's user takes one seat, the solution the other.

`holdem.reading.playing` deals and plays; hands come from the ranges at the starting node. Each decision of the user is
judged (`hands`).

A session deals from one solution or from several. It may be limited to some streets and kinds of decision: then the
solution plays both seats until the user has such a decision. With `single`, the user decides once per hand, at any such
decision of the hand, and the next hand follows at once.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field

from regretless.errors import InvalidText
from regretless.forms.public import NodeKind
from regretless.holdem.reading.line_reader import LineNode
from regretless.holdem.reading.playing import Duel, draw_hands
from regretless.holdem.reading.spot_reader import SpotReader
from regretless.holdem.spots.spot_fields import PLAYERS, STREETS, PlayerName
from regretless.page.endpoint import Conflict, NotFound
from regretless.page.hands import (
    GOOD_GRADES,
    GRADES,
    chosen_action,
    feedback_json,
    hand_json,
    judge,
    outcome_json,
)
from regretless.page.nodes import street_of
from regretless.page.schema import Json, rounded

__all__ = ["FACING", "NoSuchDecision", "PracticeSession"]

MAX_DEALS = 300  # until a hand comes to a decision that the user wants
FACING = ("check", "bet")  # nobody has bet on this street, or there is a bet to answer


class NoSuchDecision(NotFound):
    """No decision that the user wants comes up in a solution."""


@dataclass
class PracticeSession:
    """A series of hands."""

    id: str
    files: tuple[str, ...]  # to deal from
    seat: PlayerName | None  # None: drawn for every hand
    start: str  # line
    random: random.Random
    streets: frozenset[str] = frozenset(STREETS)  # on which the user decides
    facing: frozenset[str] = frozenset(FACING)  # the kinds of decision that the user makes
    single: bool = False  # one decision per hand
    passed_over: set[str] = field(default_factory=set)  # files in which no decision that the user wants came up
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
        self.file = self.random.choice([file for file in self.files if file not in self.passed_over])
        return self.file

    def deal(self, reader: SpotReader) -> None:
        """Deal the next hand, and play until the user must act or the hand is over."""
        start = reader.find(self.start)
        if reader.form.tree.kind[start.index] in (NodeKind.FOLD, NodeKind.SHOWDOWN):
            raise InvalidText("line", self.start, None, "the hand is over there")
        if not self.single and self._decides_everywhere:
            self._draw(reader, start)
            self._play_on(reader, start)
        else:
            self.line = self._find_decision(reader, start)
        self.dealt += 1

    @property
    def _decides_everywhere(self) -> bool:
        return self.streets == frozenset(STREETS) and self.facing == frozenset(FACING)

    def _draw(self, reader: SpotReader, start: LineNode) -> None:
        """Draw the user's seat and both hands."""
        self.player = self.random.choice(PLAYERS) if self.seat is None else self.seat
        self.hands = dict(zip(PLAYERS, draw_hands(reader, start, self.random), strict=True))

    def _find_decision(self, reader: SpotReader, start: LineNode) -> str:
        """The line to a decision for the user, in a new hand that the solution plays for both until then."""
        for _ in range(MAX_DEALS):
            self._draw(reader, start)
            duel, node, candidates = self._duel(reader), start, []
            while duel.is_persons_turn(node := duel.play_on(node)[-1]):
                if self._is_wanted(reader, node):
                    candidates.append(node)
                    if not self.single:
                        break
                node = reader.act(node, duel.draw_action(node))
            if candidates:
                return ", ".join(self.random.choice(candidates).steps)
        raise NoSuchDecision(f"no hand of {self.file!r} came to such a decision in {MAX_DEALS} deals", "streets")

    def _is_wanted(self, reader: SpotReader, node: LineNode) -> bool:
        """Whether the user wants to make the decision at a node."""
        paid = reader.form.tree.paid[node.index]
        facing = "check" if paid[0] == paid[1] else "bet"
        return facing in self.facing and street_of(reader, node) in self.streets

    def act(self, reader: SpotReader, action: str) -> None:
        """Take an action, judge it, and play until the user must act again or the hand is over."""
        node = reader.find(self.line)
        if not self._duel(reader).is_persons_turn(node):
            raise Conflict("the hand is over: deal the next one")
        chosen = chosen_action(action, reader.actions(node.index))
        self._judge(reader, node, chosen)
        if not self.single:
            self._play_on(reader, reader.act(node, chosen))

    def _duel(self, reader: SpotReader) -> Duel:
        return Duel(reader, (self.hands["ip"], self.hands["oop"]), PLAYERS.index(self.player), self.random)

    def _play_on(self, reader: SpotReader, node: LineNode) -> None:
        """Let the solution act from a node until it is the user's turn or the hand is over."""
        self.line = ", ".join(self._duel(reader).play_on(node)[-1].steps)

    def _judge(self, reader: SpotReader, node: LineNode, chosen: int) -> None:
        """Grade an action and count what it loses."""
        duel = self._duel(reader)
        judgement = judge(reader, node, duel.hands[duel.person], chosen)
        assert judgement is not None  # the hand was dealt from the range
        self.lost += judgement.lost
        self.lost_pct += judgement.lost_pct
        self.grades[judgement.grade] += 1
        feedback = feedback_json(duel, node, chosen, judgement, big_blind=reader.spot.big_blind)
        self.feedback = {"file": self.file, **feedback}

    def mistake(self) -> Json | None:
        """The last decision, if it belongs on the list of mistakes."""
        feedback = self.feedback
        if feedback is None or feedback["grade"] in GOOD_GRADES:
            return None
        names = ("file", "line", "hand", "chosen", "lost_pct_pot", "grade")
        return {name: feedback[name] for name in names} | {
            "player": self.player,
            "board": " ".join(feedback["board"]),
            "best": feedback["best"] or "",
            "time": time.time(),
        }

    # --- what the user sees ------------------------------------------------------------------------------------------

    def as_json(self, reader: SpotReader) -> Json:
        """The state of the session, without what the user must not know."""
        path, duel = reader.path(self.line), self._duel(reader)
        is_turn = duel.is_persons_turn(path[-1])
        decisions = sum(self.grades.values())
        return {
            "id": self.id,
            "files": list(self.files),
            "single": self.single,
            "file": self.file,
            "hand_number": self.dealt,
            "seats": {player: reader.spot.position_of(player) for player in PLAYERS},
            "big_blind": reader.spot.big_blind,
            **hand_json(duel, path, reader.spot.stack, may_act=is_turn),
            "over": not is_turn,
            "outcome": None if is_turn else outcome_json(duel, path[-1]),
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

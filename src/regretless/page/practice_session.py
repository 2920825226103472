"""A series of hands against a solution: the page's user takes one seat, the solution the other.

`holdem.reading.playing` deals and plays; hands come from the ranges at the starting node. Each decision of the user is
judged by the solution's EV of every action with the hand:

       lost = max_a EV(a) − EV(chosen)

A session deals from one solution or from several. It may be limited to some streets and kinds of decision: then the
solution plays both seats until the user has such a decision. With `single`, the user decides once per hand, at any such
decision of the hand, and the next hand follows at once.
"""

from __future__ import annotations

import random
import time
from bisect import bisect_left
from dataclasses import dataclass, field

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
from regretless.page.endpoint import Conflict, NotFound
from regretless.page.nodes import action_list, street_of, strip_json
from regretless.page.schema import Json, rounded

__all__ = ["FACING", "GRADES", "NoSuchDecision", "PracticeSession"]

MAX_DEALS = 300  # until a hand comes to a decision that the user wants
FACING = ("check", "bet")  # nobody has bet on this street, or there is a bet to answer
GRADES = ("best", "fine", "inaccuracy", "mistake", "blunder")
GOOD_GRADES = ("best", "fine")
MAX_LOSSES = (0.1, 0.5, 1.5, 5.0)  # EV lost in percent of the pot, at most, for each grade but the last
PLAYED = 0.05  # an action that the solution takes this often is at least fine


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
            while duel.is_turn(node := duel.play_on(node)[-1]):
                if self._is_wanted(reader, node):
                    candidates.append(node)
                    if not self.single:
                        break
                node = reader.act(node, duel.draw(node))
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
        if not self._duel(reader).is_turn(node):
            raise Conflict("the hand is over: deal the next one")
        labels = reader.actions(node.index)
        steps = parse_line(action, "action")
        if len(steps) != 1:
            raise InvalidText("action", action, None, f"is not one action; choose from {', '.join(labels)}")
        chosen = find_action(steps[0], labels)
        if chosen is None:
            raise no_such_action("action", action, steps[0], labels)
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
        view = reader.view(node)
        column = int(np.flatnonzero(view.acting.hand == self.hands[self.player])[0])
        ev, strategy = view.action_ev[:, column], view.strategy[:, column]
        lost = max(0.0, float(ev.max() - ev[chosen])) if np.isfinite(ev).all() else 0.0
        lost_pct = 100 * lost / view.pot
        grade = _grade(lost_pct, float(strategy[chosen]))
        self.lost += lost
        self.lost_pct += lost_pct
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
            "strategy": {name: rounded(share) for name, share in zip(view.actions, strategy, strict=True)},
            "lost": rounded(lost),
            "lost_pct_pot": rounded(lost_pct),
            "grade": grade,
        }

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
        path = reader.path(self.line)
        node = path[-1]
        is_turn = self._duel(reader).is_turn(node)
        paid = reader.form.tree.paid[node.index]
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
            "stacks": reader.spot.stacks_behind(paid),
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
        """Who won how much, and the opponent's hand if it is shown."""
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


def _grade(lost_pct: float, frequency: float) -> str:
    """The grade of an action by the EV it loses, in percent of the pot, and by how often the solution takes it."""
    grade = GRADES[bisect_left(MAX_LOSSES, lost_pct)]
    return "fine" if frequency >= PLAYED and grade not in GOOD_GRADES else grade


def _cards(hand: int) -> list[str]:
    low, high = HAND_CARDS[hand]
    return [card_text(int(high)), card_text(int(low))]

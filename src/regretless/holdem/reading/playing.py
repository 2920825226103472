"""One hand of a person against a solved strategy: the deal, the opponent's actions, and what the hand is worth.

1. Both hands are drawn together in proportion to the players' reach where play begins, without shared cards.
2. The opponent draws actions from the solution's strategy for its hand; cards are drawn from what is left of the deck.
3. When the hand is over, it is worth its payoff in chips. If both were all-in before the last card, the mean payoff
   over all cards that could have come after the last action has the same mean over many hands, and varies less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

import numpy as np

from regretless.cards.equity import equity
from regretless.cards.evaluator import evaluate
from regretless.cards.hands import HAND_CARDS, HAND_COUNT
from regretless.cards.ranges import Range
from regretless.errors import InvalidText
from regretless.forms.history import FloatArray
from regretless.forms.public import NodeKind
from regretless.holdem.reading.line_reader import LineReader, Place

__all__ = ["Duel", "Outcome", "draw_hands"]

BOARD_SIZES = (0, 3, 4, 5)  # cards on the board, street by street


@dataclass(frozen=True)
class Outcome:
    """How a hand ended, in position first."""

    folded: int | None  # who folded; None at a showdown
    strength: tuple[int, int]  # at a showdown: larger wins; equal at a fold
    won: tuple[float, float]  # payoffs in chips


def draw_hands(reader: LineReader, place: Place, random: Random) -> tuple[int, int]:
    """Hands among the 1,326, in position first, as likely as both are to be held at a place together."""
    held = [reader.solved_hands(player, place.deal) for player in range(2)]
    weight = [place.reach[player][positions] for player, (_, positions) in enumerate(held)]
    first = _draw(weight[0] * reader.met(0, place.reach[1])[held[0][1]], place, random)
    hand = int(held[0][0][first])
    apart = ~np.isin(HAND_CARDS[held[1][0]], HAND_CARDS[hand]).any(axis=1)
    return hand, int(held[1][0][_draw(weight[1] * apart, place, random)])


def _draw(weight: FloatArray, place: Place, random: Random) -> int:
    total = np.cumsum(weight)
    if not (math.isfinite(total[-1]) and total[-1] > 0):
        raise InvalidText("line", ", ".join(place.steps), None, "the line is never played with any hand")
    return int(np.searchsorted(total, random.random() * total[-1], side="right").clip(0, len(total) - 1))


@dataclass(frozen=True)
class Duel:
    """A hand in progress: who holds what, and which player is the person."""

    reader: LineReader
    hands: tuple[int, int]  # among the 1,326, in position first
    person: int
    random: Random

    def play_on(self, place: Place) -> list[Place]:
        """Deal and let the opponent act until the person must act or the hand is over; returns every place passed."""
        passed = [place]
        while True:
            place = passed[-1]
            kind = self.reader.tree.kind[place.node]
            if kind == NodeKind.CHANCE:
                known = {int(card) for hand in self.hands for card in HAND_CARDS[hand]}
                left = [card for card in self.reader.cards(place) if card not in known]
                passed.append(self.reader.deal(place, *self.random.sample(left, self.reader.count(place))))
            elif kind == NodeKind.DECISION and not self.is_turn(place):
                passed.append(self.reader.act(place, _draw(self.strategy(place), place, self.random)))
            else:
                return passed

    def is_turn(self, place: Place) -> bool:
        """Whether the person acts at a place."""
        tree = self.reader.tree
        return bool(tree.kind[place.node] == NodeKind.DECISION and tree.player[place.node] == self.person)

    def strategy(self, place: Place) -> FloatArray:
        """[actions] what the solution does with the hand of the player who acts."""
        player = int(self.reader.tree.player[place.node])
        hands, positions = self.reader.solved_hands(player, place.deal)
        position = int(positions[np.flatnonzero(hands == self.hands[player])[0]])
        found: FloatArray = self.reader.strategy(place)[:, position]
        return found

    def board(self, place: Place) -> tuple[int, ...]:
        return (*self.reader.board, *place.deal.cards)

    def outcome(self, place: Place) -> Outcome:
        """What the hand is worth to each player, now that it is over."""
        tree, pay, node = self.reader.tree, self.reader.payoffs, place.node
        if tree.kind[node] == NodeKind.FOLD:
            folded = int(tree.player[node])
            first, second = (float((pay.lose if player == folded else pay.win)[node, player]) for player in range(2))
            return Outcome(folded, (0, 0), (first, second))
        board = self.board(place)
        first, second = evaluate([[*HAND_CARDS[hand].tolist(), *board] for hand in self.hands]).tolist()
        return Outcome(None, (first, second), self._paid(node, float(first > second), float(first == second)))

    def expected(self, place: Place) -> tuple[float, float] | None:
        """The mean payoffs over the cards that came after the last action; None if no card did."""
        tree, node, deals = self.reader.tree, place.node, 0
        while tree.kind[parent := int(tree.parent[node])] == NodeKind.CHANCE:
            node, deals = parent, deals + 1
        if deals == 0:
            return None
        board = self.board(place)
        known = board[: BOARD_SIZES[BOARD_SIZES.index(len(board)) - deals]]
        found = equity(_alone(self.hands[0]), _alone(self.hands[1]), known)
        return self._paid(place.node, found.win, found.tie)

    def _paid(self, node: int, win: float, tie: float) -> tuple[float, float]:
        """Payoffs at a showdown that the player in position wins and ties with these probabilities."""
        pay, lose = self.reader.payoffs, 1 - win - tie
        first = win * pay.win[node, 0] + tie * pay.tie[node, 0] + lose * pay.lose[node, 0]
        second = lose * pay.win[node, 1] + tie * pay.tie[node, 1] + win * pay.lose[node, 1]
        return float(first), float(second)


def _alone(hand: int) -> Range:
    """The range of one hand."""
    weights = np.zeros(HAND_COUNT)
    weights[hand] = 1.0
    return Range(weights)

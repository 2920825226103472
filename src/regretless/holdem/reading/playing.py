"""One hand of a person against a solved strategy: the deal, the opponent's actions, and what the hand is worth.

1. Both hands are drawn together in proportion to the players' reach where play begins, without shared cards.
2. The opponent draws actions from the solution's strategy for its hand; cards are drawn from what is left of the deck.
3. When the hand is over, it is worth its payoff in chips. If both were all-in before the last card, the mean payoff
   over all cards that could have come after the last action has the same mean over many hands, and varies less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from random import Random
from statistics import fmean, stdev

import numpy as np

from regretless.cards.equity import equity
from regretless.cards.evaluator import evaluate
from regretless.cards.hands import HAND_CARDS, HAND_COUNT
from regretless.cards.ranges import Range
from regretless.errors import InvalidText
from regretless.forms.history import FloatArray
from regretless.forms.public import NodeKind
from regretless.holdem.reading.line_reader import LineNode, LineReader

__all__ = ["BOARD_SIZES", "Duel", "HandResult", "Score", "draw_hands"]

BOARD_SIZES = (0, 3, 4, 5)  # cards on the board, street by street


@dataclass(frozen=True)
class HandResult:
    """How a hand ended, in position first."""

    folded: int | None  # who folded; None at a showdown
    strength: tuple[int, int]  # at a showdown: larger wins; equal at a fold
    payoffs: tuple[float, float]  # chips


@dataclass
class Score:
    """The results of the hands played to the end, in units.

    >>> score = Score("bb")
    >>> score.add(1.5, 1.5)
    >>> score.add(-10, -2)
    >>> score.total, score.per_hundred, score.adjusted_per_hundred, round(score.standard_error, 9)
    (-8.5, -425.0, -25.0, 175.0)
    """

    unit: str  # of results, such as "bb"
    results: list[float] = field(default_factory=list)
    adjusted: list[float] = field(default_factory=list)  # all-ins replaced by their average over the cards to come

    def add(self, result: float, adjusted: float) -> None:
        self.results.append(result)
        self.adjusted.append(adjusted)

    @property
    def total(self) -> float:
        return sum(self.results)

    @property
    def per_hundred(self) -> float:
        """Per hundred hands; there must be a hand."""
        return 100 * fmean(self.results)

    @property
    def adjusted_per_hundred(self) -> float:
        """The same with all-ins adjusted."""
        return 100 * fmean(self.adjusted)

    @property
    def standard_error(self) -> float:
        """Of the adjusted result per hundred hands; there must be two."""
        return 100 * stdev(self.adjusted) / math.sqrt(len(self.adjusted))


def draw_hands(reader: LineReader, node: LineNode, random: Random) -> tuple[int, int]:
    """Hands among the 1,326, in position first, drawn with the probability that both players hold them at a node."""
    hands, positions = reader.solved_hands(0, node.deal)
    weight = node.reach[0][positions] * reader.met(0, node.reach[1])[positions]
    first = int(hands[_draw_index(weight, node, random)])
    hands, positions = reader.solved_hands(1, node.deal)
    disjoint = ~np.isin(HAND_CARDS[hands], HAND_CARDS[first]).any(axis=1)
    second = int(hands[_draw_index(node.reach[1][positions] * disjoint, node, random)])
    return first, second


def _draw_index(weight: FloatArray, node: LineNode, random: Random) -> int:
    total = np.cumsum(weight)
    if not (math.isfinite(total[-1]) and total[-1] > 0):
        raise InvalidText("line", ", ".join(node.steps), None, "the line is never played with any hand")
    return int(np.searchsorted(total, random.random() * total[-1], side="right").clip(0, len(total) - 1))


@dataclass(frozen=True)
class Duel:
    """A hand in progress: who holds what, and which player is the person."""

    reader: LineReader
    hands: tuple[int, int]  # among the 1,326, in position first
    person: int
    random: Random

    def play_on(self, node: LineNode) -> list[LineNode]:
        """Deal and let the opponent act until the person has a choice or the hand is over; every node passed."""
        nodes = [node]
        while True:
            node = nodes[-1]
            kind = self.reader.tree.kind[node.index]
            may_choose = self.is_persons_turn(node) and len(self.reader.actions(node.index)) > 1
            if kind == NodeKind.CHANCE:
                dead = {int(card) for hand in self.hands for card in HAND_CARDS[hand]}
                nodes.append(self.reader.deal(node, *self.reader.draw(node, dead, self.random)))
            elif kind == NodeKind.DECISION and not may_choose:  # the person's only action is played for them
                nodes.append(self.reader.act(node, self.draw_action(node)))
            else:
                return nodes

    def draw_action(self, node: LineNode) -> int:
        """An action, as often as the solution takes it with the hand of the player who acts."""
        return _draw_index(self.strategy(node), node, self.random)

    def is_persons_turn(self, node: LineNode) -> bool:
        """Whether the person acts at a node."""
        tree = self.reader.tree
        return bool(tree.kind[node.index] == NodeKind.DECISION and tree.player[node.index] == self.person)

    def strategy(self, node: LineNode) -> FloatArray:
        """[actions] what the solution does with the hand of the player who acts."""
        player = int(self.reader.tree.player[node.index])
        hands, positions = self.reader.solved_hands(player, node.deal)
        position = int(positions[np.flatnonzero(hands == self.hands[player])[0]])
        strategy: FloatArray = self.reader.strategy(node)[:, position]
        return strategy

    def board(self, node: LineNode) -> tuple[int, ...]:
        return (*self.reader.board, *node.deal.cards)

    def outcome(self, node: LineNode) -> HandResult:
        """What each player wins or loses, now that the hand is over."""
        tree, pay, index = self.reader.tree, self.reader.payoffs, node.index
        if tree.kind[index] == NodeKind.FOLD:
            folded = int(tree.player[index])
            first, second = (float((pay.lose if player == folded else pay.win)[index, player]) for player in range(2))
            return HandResult(folded, (0, 0), (first, second))
        board = self.board(node)
        first, second = evaluate([[*HAND_CARDS[hand].tolist(), *board] for hand in self.hands]).tolist()
        return HandResult(None, (first, second), self._paid(index, float(first > second), float(first == second)))

    def person_result(self, node: LineNode) -> tuple[float, float]:
        """Chips that the person wins, now that the hand is over, and the same with an all-in adjusted."""
        result, expected = self.outcome(node).payoffs[self.person], self.expected(node)
        return result, result if expected is None else expected[self.person]

    def expected(self, node: LineNode) -> tuple[float, float] | None:
        """The mean payoffs over the cards that came after the last action; None if no card did."""
        tree, index, deals = self.reader.tree, node.index, 0
        while tree.kind[parent := int(tree.parent[index])] == NodeKind.CHANCE:
            index, deals = parent, deals + 1
        if deals == 0:
            return None
        board = self.board(node)
        street = BOARD_SIZES.index(len(board))
        earlier = board[: BOARD_SIZES[street - deals]]
        odds = equity(_alone(self.hands[0]), _alone(self.hands[1]), earlier)
        return self._paid(node.index, odds.win, odds.tie)

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

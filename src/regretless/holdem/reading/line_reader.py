"""Following a line of play through a solved hold'em form to the strategy at its end.

An action multiplies the reach of the player who takes it by their strategy. A deal renames hands to those of the solved
runout (`suits`) and removes those it blocks; reading a strategy renames them back to the cards dealt.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import DECK, board_text
from regretless.cards.hands import CLASS_NAMES, HAND_CLASS, hand_text
from regretless.cards.ranges import Range
from regretless.errors import InvalidText
from regretless.forms.blockers import met
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import BettingTree, Hands, NodeKind, Payoffs, PublicForm
from regretless.forms.walking import action_labels
from regretless.holdem.form.suits import Deal, find_deal
from regretless.holdem.reading.evaluation import Evaluator, Strategies
from regretless.holdem.spots.lines import LineStep, find_action, no_such_action, parse_line
from regretless.holdem.spots.spot_fields import PLAYERS, PlayerName
from regretless.reprs import brief

__all__ = ["FormReader", "LineNode", "LineReader", "NodeStrategy", "class_shares"]


@dataclass(frozen=True)
class LineNode:
    """A node that a line of play leads to: a betting node on a runout, with each hand's reach."""

    index: int  # of the betting node
    deal: Deal
    reach: tuple[FloatArray, FloatArray]  # [H] per player, hands named as in the solved runout
    steps: tuple[str, ...] = ()


@dataclass(frozen=True)
class NodeStrategy:
    """The acting player's strategy at a node, hand by hand, without the hands that the board blocks."""

    line: str  # text that leads here, including cards
    player: PlayerName
    actions: tuple[str, ...]
    hand: IntArray  # [H] number among the 1,326
    reach: FloatArray  # [H] weight of the hand here
    weight: FloatArray  # [H] the same × that of the opposing hands it can face
    strategy: FloatArray  # [actions, H]

    def __repr__(self) -> str:
        return brief(self, hand=[hand_text(int(hand)) for hand in self.hand])

    @property
    def frequencies(self) -> tuple[float, ...]:
        """How often each action is taken, over the whole range; NaN if no hand gets here."""
        total = float(self.weight.sum())
        return tuple(float(self.weight @ row) / total if total > 0 else float("nan") for row in self.strategy)

    def grid(self) -> FloatArray:
        """[169, actions] how often each class takes each action, weighting its hands; NaN where no hand is left."""
        return class_shares(self.hand, self.weight, self.strategy)

    def class_weights(self) -> FloatArray:
        """[169] the share of each class that is in the range here, of its hands that the board leaves."""
        cells = HAND_CLASS[self.hand]
        hands = np.bincount(cells, minlength=169)
        return np.bincount(cells, weights=self.reach, minlength=169) / np.maximum(hands, 1)

    def only(self, hands: Range) -> NodeStrategy:
        """The same node with only some of the hands, over which frequencies are taken."""
        selected = hands.weights[self.hand] > 0
        return replace(
            self,
            hand=self.hand[selected],
            reach=self.reach[selected],
            weight=self.weight[selected],
            strategy=self.strategy[:, selected],
        )

    def as_json(self, *, hands: bool = True) -> dict[str, Any]:
        """The node with its frequencies and classes of hands and, with `hands`, every hand."""
        result: dict[str, Any] = {
            "line": self.line,
            "player": self.player,
            "actions": list(self.actions),
            "frequencies": [None if np.isnan(each) else each for each in self.frequencies],
            "classes": {
                name: self._by_action(row)
                for name, row in zip(CLASS_NAMES, self.grid(), strict=True)
                if not np.isnan(row).any()
            },
        }
        if hands:
            result["hands"] = {
                hand_text(int(hand)): self._by_action(row) for hand, row in zip(self.hand, self.strategy.T, strict=True)
            }
        return result

    def _by_action(self, row: FloatArray) -> dict[str, float]:
        return dict(zip(self.actions, row.tolist(), strict=True))


def class_shares(hand: IntArray, weight: FloatArray, strategy: FloatArray) -> FloatArray:
    """[169, actions] how often each class takes each action, weighting its hands; NaN where no hand has weight."""
    cells = HAND_CLASS[hand]
    total = np.bincount(cells, weights=weight, minlength=169)
    by_action = [np.bincount(cells, weights=weight * row, minlength=169) for row in strategy]
    shares = np.full((169, len(strategy)), np.nan)
    present = total > 0
    shares[present] = (np.array(by_action) / np.where(present, total, 1.0)).T[present]
    return shares


class LineReader(ABC):
    """Finds nodes of a solved game or spot by lines of play."""

    board: tuple[int, ...] = ()  # board at the root
    tree: BettingTree
    hands: tuple[Hands, Hands]
    payoffs: Payoffs

    @property
    @abstractmethod
    def hand_numbers(self) -> tuple[IntArray, IntArray]:
        """Per player, the number among the 1,326 of each hand."""

    @abstractmethod
    def strategy(self, node: LineNode) -> FloatArray:
        """[actions, H] what the player who acts does, hands named as in the solved runout."""

    @abstractmethod
    def deal(self, node: LineNode, *cards: int) -> LineNode:
        """The node after a deal."""

    @abstractmethod
    def dead(self, player: int, deal: Deal) -> NDArray[np.bool_]:
        """[H] hands that a deal blocks, named as in the solved runout."""

    @abstractmethod
    def count(self, node: LineNode) -> int:
        """How many cards are dealt at a chance node."""

    @property
    def root(self) -> LineNode:
        return LineNode(0, Deal(), (self.hands[0].weight, self.hands[1].weight))

    def find(self, line: str, cards: Sequence[int] = ()) -> LineNode:
        """Where a line of play leads.

        `cards` are those omitted from the line, in the order they are dealt (the board at the root may come first). An
        action after a card that neither names is refused.
        """
        return self.path(line, cards)[-1]

    def path(self, line: str, cards: Sequence[int] = ()) -> list[LineNode]:
        """Every node on a line of play, from the root to where it leads; `cards` as in `find`."""
        node, undealt, steps = self.root, list(cards), list(parse_line(line, "line"))
        nodes = [node]
        if undealt[: len(self.board)] == list(self.board):
            undealt = undealt[len(self.board) :]
        while steps:
            if steps[0].card is not None:
                node = self._dealt(node, steps, line)
                nodes.append(node)
                continue
            while self._is_chance(node):
                if not undealt:
                    raise self._missing_card(node, steps[0], line)
                node = self._dealt_from(undealt, node)
                nodes.append(node)
            step = steps.pop(0)
            labels = self.actions(node.index)
            action = find_action(step, labels)
            if action is None:
                raise no_such_action("line", line, step, labels)
            node = self.act(node, action)
            nodes.append(node)
        while undealt:
            node = self._dealt_from(undealt, node)
            nodes.append(node)
        return nodes

    def _missing_card(self, node: LineNode, step: LineStep, line: str) -> InvalidText:
        cards = len(self.board) + len(node.deal.cards)
        expected = {0: "a flop of 3 cards is", 3: "a turn card is", 4: "a river card is"}[cards]
        example = board_text(self.cards(node)[: self.count(node)])
        why = f"{expected} expected before '{step}', such as {example}"
        return InvalidText("line", line, step.position, why)

    def _is_chance(self, node: LineNode) -> bool:
        return bool(self.tree.kind[node.index] == NodeKind.CHANCE)

    def _dealt_from(self, undealt: list[int], node: LineNode) -> LineNode:
        """The node after the first cards of `undealt`, which are removed from it."""
        where = f"after {', '.join(node.steps)}" if node.steps else "here"
        if not self._is_chance(node):
            raise InvalidText("board", board_text(undealt[:1]), None, f"no card is dealt {where}")
        cards = undealt[: self.count(node)]
        del undealt[: len(cards)]
        if len(cards) < self.count(node):
            raise InvalidText("board", board_text(cards), None, f"{self.count(node)} cards are dealt {where}")
        for number, card in enumerate(cards):
            if card not in self.cards(node) or card in cards[:number]:
                raise InvalidText("board", board_text([card]), None, f"is already on the board {where}")
        return self.deal(node, *cards)

    def _dealt(self, node: LineNode, steps: list[LineStep], line: str) -> LineNode:
        """The node after the cards that `steps` begins with, which are removed from it."""
        position = steps[0].position
        if not self._is_chance(node):
            choices = ", ".join(self.actions(node.index))
            advice = f"choose from {choices}" if choices else "the hand is over"
            raise InvalidText("line", line, position, f"no card is dealt here; {advice}")
        cards: list[int] = []
        for step in steps[: self.count(node)]:
            if step.card is None:
                break
            if step.card not in self.cards(node) or step.card in cards:
                raise InvalidText("line", line, step.position, f"{step} is already on the board")
            cards.append(step.card)
        if len(cards) < self.count(node):
            raise InvalidText("line", line, position, f"{self.count(node)} cards are dealt here")
        del steps[: len(cards)]
        return self.deal(node, *cards)

    def actions(self, node: int) -> tuple[str, ...]:
        tree = self.tree
        return action_labels(tree, node)

    def cards(self, node: LineNode) -> list[int]:
        """Cards that can come next, lowest first."""
        dealt = {*self.board, *node.deal.cards}
        return [card for card in range(DECK) if card not in dealt]

    def draw(self, node: LineNode, dead: Set[int], random: Random) -> Sequence[int]:
        """The cards of a deal at a chance node, drawn at random without those that are dead."""
        return random.sample([card for card in self.cards(node) if card not in dead], self.count(node))

    def act(self, node: LineNode, action: int) -> LineNode:
        tree = self.tree
        child = int(tree.first_child[node.index]) + action
        player = int(tree.player[node.index])
        strategy = self.strategy(node)
        moved = node.reach[player] * strategy[action]
        reach = (moved, node.reach[1]) if player == 0 else (node.reach[0], moved)
        return LineNode(child, node.deal, reach, (*node.steps, tree.labels[child]))

    def played(self, node: LineNode) -> NodeStrategy:
        """Only strategy and weights, which is much faster than a full view."""
        player = int(self.tree.player[node.index])
        hands, solved = self.solved_hands(player, node.deal)
        weight = node.reach[player] * self.met(player, node.reach[1 - player])
        strategy = self.strategy(node)
        return NodeStrategy(
            line=", ".join(node.steps),
            player=PLAYERS[player],
            actions=self.actions(node.index),
            hand=hands,
            reach=node.reach[player][solved],
            weight=weight[solved],
            strategy=strategy[:, solved],
        )

    def before_cards(self) -> Iterator[LineNode]:
        """Every decision before the next cards are dealt, those that take fewer actions first."""
        waiting = [self.root]
        for node in waiting:  # grows during the loop
            if self.tree.kind[node.index] == NodeKind.DECISION:
                yield node
                waiting += [self.act(node, action) for action in range(len(self.actions(node.index)))]

    def pairs(self, node: LineNode) -> float:
        """How likely both players are to get here: the total weight of all pairs of hands that share no card."""
        return float(node.reach[0] @ self.met(0, node.reach[1]))

    def met(self, player: int, opponent_reach: FloatArray) -> FloatArray:
        """[H] the opponent's reach that each hand of a player can face; exactly 0 where there is none."""
        reach: FloatArray = met(self.hands[player], self.hands[1 - player], opponent_reach[None], DECK)[0]
        return reach

    def solved_hands(self, player: int, deal: Deal) -> tuple[IntArray, IntArray]:
        """Hands that a deal does not block, as numbers among the 1,326, and their positions in the solved runout."""
        reads = self.read_by(deal, player)
        live = np.flatnonzero(~self.dead(player, deal)[reads])
        return self.hand_numbers[player][live], reads[live]

    def read_by(self, deal: Deal, player: int) -> IntArray:
        """[H] the hand of the solved runout that each hand of a player reads."""
        return np.arange(len(self.hands[player].weight)) if deal.hands is None else deal.hands[player]


class FormReader(LineReader):
    """Finds nodes of a solved form, which has every runout or one that stands for it."""

    def __init__(self, form: PublicForm, strategies: Strategies) -> None:
        self.form, self.tree, self.hands, self.payoffs = form, form.tree, form.hands, form.payoffs
        self.strategies = strategies
        self.evaluator = Evaluator(form, strategies)

    @property
    @abstractmethod
    def group(self) -> IntArray:
        """The renamings of suits behind the form's permutations, rows of `SUIT_PERMUTATIONS`."""

    def strategy(self, node: LineNode) -> FloatArray:
        return self.strategies.strategy(node.index, node.deal.runout)

    def dead(self, player: int, deal: Deal) -> NDArray[np.bool_]:
        return self.evaluator.dead(player, deal.street, deal.runout)

    def count(self, node: LineNode) -> int:
        return int(self.form.streets[node.deal.street + 1].cards.shape[1])

    def deal(self, node: LineNode, *cards: int) -> LineNode:
        deal = find_deal(self.form, self.group, node.deal, *cards)
        reach = []
        for player in range(2):
            before, after = self.read_by(node.deal, player), self.read_by(deal, player)
            renamed = np.empty_like(node.reach[player])
            renamed[after] = node.reach[player][before]
            reach.append(np.where(self.dead(player, deal), 0.0, renamed))
        child = int(self.tree.first_child[node.index])
        return LineNode(child, deal, (reach[0], reach[1]), (*node.steps, board_text(cards)))

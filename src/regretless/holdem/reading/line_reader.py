"""Following a line of play through a solved hold'em form to the strategy at its end.

An action multiplies the reach of the player who takes it by their strategy. A deal renames hands to those of the solved
runout (`suits`) and removes those it blocks; reading a strategy renames them back to the cards dealt.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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
from regretless.holdem.form.suits import Deal, find_deal
from regretless.holdem.reading.evaluation import Evaluator, Strategies
from regretless.holdem.spots.lines import Step, find_action, no_such_action, parse_line
from regretless.holdem.spots.spot_fields import PLAYERS, PlayerName
from regretless.reprs import brief

__all__ = ["FormReader", "LineReader", "Place", "Played", "class_shares"]


@dataclass(frozen=True)
class Place:
    """A place in a solved form: a betting node on a runout, with each hand's reach."""

    node: int
    deal: Deal
    reach: tuple[FloatArray, FloatArray]  # [H] per player, hands named as in the solved runout
    steps: tuple[str, ...] = ()


@dataclass(frozen=True)
class Played:
    """The acting player's strategy at a place, hand by hand, without the hands that the board blocks."""

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
        """[169, actions] how often each class takes each action, weighting its hands; NaN where no hand is held."""
        return class_shares(self.hand, self.weight, self.strategy)

    def held(self) -> FloatArray:
        """[169] the share of each class that is in the range here, of its hands that the board leaves."""
        cells = HAND_CLASS[self.hand]
        hands = np.bincount(cells, minlength=169)
        return np.bincount(cells, weights=self.reach, minlength=169) / np.maximum(hands, 1)

    def only(self, hands: Range) -> Played:
        """The same place with only some of the hands, over which frequencies are taken."""
        kept = hands.weights[self.hand] > 0
        return replace(
            self,
            hand=self.hand[kept],
            reach=self.reach[kept],
            weight=self.weight[kept],
            strategy=self.strategy[:, kept],
        )

    def as_json(self, *, hands: bool = True) -> dict[str, Any]:
        """The node with its frequencies and classes of hands and, with `hands`, every hand."""
        answer: dict[str, Any] = {
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
            answer["hands"] = {
                hand_text(int(hand)): self._by_action(row) for hand, row in zip(self.hand, self.strategy.T, strict=True)
            }
        return answer

    def _by_action(self, row: FloatArray) -> dict[str, float]:
        return dict(zip(self.actions, row.tolist(), strict=True))


def class_shares(hand: IntArray, weight: FloatArray, strategy: FloatArray) -> FloatArray:
    """[169, actions] how often each class takes each action, weighting its hands; NaN where no hand has weight."""
    cells = HAND_CLASS[hand]
    total = np.bincount(cells, weights=weight, minlength=169)
    taken = [np.bincount(cells, weights=weight * row, minlength=169) for row in strategy]
    shares = np.full((169, len(strategy)), np.nan)
    held = total > 0
    shares[held] = (np.array(taken) / np.where(held, total, 1.0)).T[held]
    return shares


class LineReader(ABC):
    """Finds nodes of a solved game or spot by lines of play."""

    board: tuple[int, ...] = ()  # board at the root
    tree: BettingTree
    hands: tuple[Hands, Hands]
    payoffs: Payoffs

    @property
    @abstractmethod
    def held(self) -> tuple[IntArray, IntArray]:
        """Per player, the number among the 1,326 of each hand."""

    @abstractmethod
    def strategy(self, place: Place) -> FloatArray:
        """[actions, H] what the player who acts does, hands named as in the solved runout."""

    @abstractmethod
    def deal(self, place: Place, *cards: int) -> Place:
        """The place after a deal."""

    @abstractmethod
    def dead(self, player: int, deal: Deal) -> NDArray[np.bool_]:
        """[H] hands that a deal blocks, named as in the solved runout."""

    @abstractmethod
    def count(self, place: Place) -> int:
        """How many cards are dealt at a chance node."""

    @property
    def root(self) -> Place:
        return Place(0, Deal(), (self.hands[0].weight, self.hands[1].weight))

    def find(self, line: str, cards: Sequence[int] = ()) -> Place:
        """Where a line of play leads.

        `cards` are those omitted from the line, in the order they are dealt (the board at the root may come first). An
        action after a card that neither names is refused.
        """
        return self.path(line, cards)[-1]

    def path(self, line: str, cards: Sequence[int] = ()) -> list[Place]:
        """Every place on a line of play, from the root to where it leads; `cards` as in `find`."""
        place, given, steps = self.root, list(cards), list(parse_line(line, "line"))
        passed = [place]
        if given[: len(self.board)] == list(self.board):
            given = given[len(self.board) :]
        while steps:
            if steps[0].card is not None:
                place = self._dealt(place, steps, line)
                passed.append(place)
                continue
            while self._is_chance(place):
                if not given:
                    raise self._missing_card(place, steps[0], line)
                place = self._dealt_from(given, place)
                passed.append(place)
            step = steps.pop(0)
            labels = self.actions(place.node)
            action = find_action(step, labels)
            if action is None:
                raise no_such_action("line", line, step, labels)
            place = self.act(place, action)
            passed.append(place)
        while given:
            place = self._dealt_from(given, place)
            passed.append(place)
        return passed

    def _missing_card(self, place: Place, step: Step, line: str) -> InvalidText:
        cards = len(self.board) + len(place.deal.cards)
        expected = {0: "a flop of 3 cards is", 3: "a turn card is", 4: "a river card is"}[cards]
        example = board_text(self.cards(place)[: self.count(place)])
        why = f"{expected} expected before '{step}', such as {example}"
        return InvalidText("line", line, step.position, why)

    def _is_chance(self, place: Place) -> bool:
        return bool(self.tree.kind[place.node] == NodeKind.CHANCE)

    def _dealt_from(self, given: list[int], place: Place) -> Place:
        """The place after the first cards of `given`, which are removed from it."""
        where = f"after {', '.join(place.steps)}" if place.steps else "here"
        if not self._is_chance(place):
            raise InvalidText("board", board_text(given[:1]), None, f"no card is dealt {where}")
        cards = given[: self.count(place)]
        del given[: len(cards)]
        if len(cards) < self.count(place):
            raise InvalidText("board", board_text(cards), None, f"{self.count(place)} cards are dealt {where}")
        for number, card in enumerate(cards):
            if card not in self.cards(place) or card in cards[:number]:
                raise InvalidText("board", board_text([card]), None, f"is already on the board {where}")
        return self.deal(place, *cards)

    def _dealt(self, place: Place, steps: list[Step], line: str) -> Place:
        """The place after the cards that `steps` begins with, which are removed from it."""
        position = steps[0].position
        if not self._is_chance(place):
            choices = ", ".join(self.actions(place.node))
            there = f"choose from {choices}" if choices else "the hand is over"
            raise InvalidText("line", line, position, f"no card is dealt here; {there}")
        cards: list[int] = []
        for step in steps[: self.count(place)]:
            if step.card is None:
                break
            if step.card not in self.cards(place) or step.card in cards:
                raise InvalidText("line", line, step.position, f"{step} is already on the board")
            cards.append(step.card)
        if len(cards) < self.count(place):
            raise InvalidText("line", line, position, f"{self.count(place)} cards are dealt here")
        del steps[: len(cards)]
        return self.deal(place, *cards)

    def actions(self, node: int) -> tuple[str, ...]:
        tree = self.tree
        return tree.labels[int(tree.first_child[node]) : int(tree.first_child[node + 1])]

    def cards(self, place: Place) -> list[int]:
        """Cards that can come next, lowest first."""
        table = {*self.board, *place.deal.cards}
        return [card for card in range(DECK) if card not in table]

    def act(self, place: Place, action: int) -> Place:
        tree = self.tree
        child = int(tree.first_child[place.node]) + action
        player = int(tree.player[place.node])
        strategy = self.strategy(place)
        moved = place.reach[player] * strategy[action]
        reach = (moved, place.reach[1]) if player == 0 else (place.reach[0], moved)
        return Place(child, place.deal, reach, (*place.steps, tree.labels[child]))

    def played(self, place: Place) -> Played:
        """Only strategy and weights, which is much faster than a full view."""
        player = int(self.tree.player[place.node])
        hands, solved = self.solved_hands(player, place.deal)
        weight = place.reach[player] * self.met(player, place.reach[1 - player])
        strategy = self.strategy(place)
        return Played(
            line=", ".join(place.steps),
            player=PLAYERS[player],
            actions=self.actions(place.node),
            hand=hands,
            reach=place.reach[player][solved],
            weight=weight[solved],
            strategy=strategy[:, solved],
        )

    def before_cards(self) -> Iterator[Place]:
        """Every decision before the next cards are dealt, those that take fewer actions first."""
        waiting = [self.root]
        for place in waiting:  # grows during the loop
            if self.tree.kind[place.node] == NodeKind.DECISION:
                yield place
                waiting += [self.act(place, action) for action in range(len(self.actions(place.node)))]

    def pairs(self, place: Place) -> float:
        """How likely both players are to get here: the total weight of all pairs of hands that share no card."""
        return float(place.reach[0] @ self.met(0, place.reach[1]))

    def met(self, player: int, opponent_reach: FloatArray) -> FloatArray:
        """[H] the opponent's reach that each hand of a player can face; exactly 0 where there is none."""
        found: FloatArray = met(self.hands[player], self.hands[1 - player], opponent_reach[None], DECK)[0]
        return found

    def solved_hands(self, player: int, deal: Deal) -> tuple[IntArray, IntArray]:
        """Hands that a deal does not block, as numbers among the 1,326, and their positions in the solved runout."""
        reads = self.read_by(deal, player)
        living = np.flatnonzero(~self.dead(player, deal)[reads])
        return self.held[player][living], reads[living]

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

    def strategy(self, place: Place) -> FloatArray:
        return self.strategies.strategy(place.node, place.deal.runout)

    def dead(self, player: int, deal: Deal) -> NDArray[np.bool_]:
        return self.evaluator.dead(player, deal.street, deal.runout)

    def count(self, place: Place) -> int:
        return int(self.form.streets[place.deal.street + 1].cards.shape[1])

    def deal(self, place: Place, *cards: int) -> Place:
        deal = find_deal(self.form, self.group, place.deal, *cards)
        reach = []
        for player in range(2):
            before, after = self.read_by(place.deal, player), self.read_by(deal, player)
            renamed = np.empty_like(place.reach[player])
            renamed[after] = place.reach[player][before]
            reach.append(np.where(self.dead(player, deal), 0.0, renamed))
        child = int(self.tree.first_child[place.node])
        return Place(child, deal, (reach[0], reach[1]), (*place.steps, board_text(cards)))

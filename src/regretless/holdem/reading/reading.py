"""Reading a solved spot: from a line of play to everything known there.

1. Follow the line from the root: an action multiplies the reach of who takes it by their strategy, a card renames
   hands to those of the runout that was solved (`suits`) and takes out what it blocks.
2. Values of the streets before the last were kept when the solve ended; those of the last street are worked out here,
   from one runout's strategies (`evaluation`), so a file need not hold them.
3. Rename back to what was dealt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import board_text
from regretless.cards.equity import hand_equities
from regretless.cards.ranges import Range
from regretless.errors import InvalidText
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import Kind, PublicForm
from regretless.holdem.form.runouts import holdem_hands
from regretless.holdem.form.suits import Deal, find_deal, spot_group
from regretless.holdem.reading.evaluation import Evaluator, Strategies
from regretless.holdem.reading.nodes import HandTable, NodeKind, NodeView, Runout, RunoutReport
from regretless.holdem.spots.lines import find_action, no_such_action, parse_line
from regretless.holdem.spots.locks import LockedHands
from regretless.holdem.spots.spot import PLAYERS, Spot

__all__ = ["Answers", "Place", "Played", "SpotReader"]

_KINDS: dict[int, NodeKind] = {
    Kind.DECISION: "decision",
    Kind.CHANCE: "chance",
    Kind.FOLD: "fold",
    Kind.SHOWDOWN: "showdown",
}


class Answers(Strategies, Protocol):
    """Strategies and, of the streets before the last, values."""

    @property
    def probability_bits(self) -> int:
        """Bits that are kept of a probability."""
        ...

    def values(self, player: int, node: int, runout: int) -> FloatArray:
        """[H] values of a betting node before the last street, times the opponent's reach that they meet."""
        ...

    def strategies(self, node: int, runouts: slice) -> NDArray[np.float32]:
        """[runouts chosen, actions, H] average strategy at a betting node."""
        ...

    def all_values(self, player: int, street: int) -> NDArray[np.float32]:
        """[runouts, nodes of the street, H] values of a street before the last."""
        ...

    def equities(self, player: int, node: int) -> FloatArray | None:
        """[H] equity at a node of the first street where two cards are to come, if it was kept."""
        ...


@dataclass(frozen=True)
class Place:
    """Somewhere in a solved spot: a betting node on a runout, and how likely each hand gets there."""

    node: int
    deal: Deal
    reach: tuple[FloatArray, FloatArray]  # [H] of each player, hands named as in the runout that was solved
    steps: tuple[str, ...] = ()


@dataclass(frozen=True)
class Played:
    """What the player who acts does at a place, hand by hand; hands that the board blocks are left out."""

    hand: IntArray  # [H] number among the 1,326
    weight: FloatArray  # [H] weight of the hand here × that of the opposing hands that it can meet
    strategy: FloatArray  # [actions, H]


class SpotReader:
    """Finds nodes of a solved spot and reads what is known there."""

    def __init__(self, spot: Spot, form: PublicForm, answers: Answers) -> None:
        self.spot = spot
        self.form = form
        self.answers = answers
        self.evaluator = Evaluator(form, answers)

    @cached_property
    def group(self) -> IntArray:
        return spot_group(self.spot)

    @cached_property
    def held(self) -> tuple[IntArray, IntArray]:
        """Which of the 1,326 hands each hand of the form is."""
        return holdem_hands(self.spot.board, self.spot.ip), holdem_hands(self.spot.board, self.spot.oop)

    @cached_property
    def locked(self) -> LockedHands:
        """Which hands the spot's locks hold, and where."""
        return LockedHands(self.form, self.spot.locks, self.held)

    @property
    def root(self) -> Place:
        return Place(0, Deal(), (self.form.hands[0].weight, self.form.hands[1].weight))

    # --- following a line --------------------------------------------------------------------------------------------

    def find(self, line: str, cards: Sequence[int] = ()) -> Place:
        """Where a line of play leads.

        `cards` are those that the line leaves out, in the order they are dealt (the spot's own board may come first);
        where neither names a card, it is the first that can be dealt.
        """
        place, given = self.root, list(cards)
        if given[: len(self.spot.board)] == list(self.spot.board):
            given = given[len(self.spot.board) :]
        for step in parse_line(line, "node"):
            if step.card is not None:
                place = self._dealt(place, step.card, line, step.position)
                continue
            while self._is_chance(place):
                place = self._dealt_from(given, place) if given else self.deal(place, self.cards(place)[0])
            labels = self.actions(place.node)
            action = find_action(step, labels)
            if action is None:
                raise no_such_action("node", line, step, labels)
            place = self.act(place, action)
        while given:
            place = self._dealt_from(given, place)
        return place

    def _is_chance(self, place: Place) -> bool:
        return bool(self.form.tree.kind[place.node] == Kind.CHANCE)

    def _dealt_from(self, given: list[int], place: Place) -> Place:
        card = given.pop(0)
        where = f"after {', '.join(place.steps)}" if place.steps else "here"
        if not self._is_chance(place):
            raise InvalidText("board", board_text([card]), None, f"no card is dealt {where}")
        if card not in self.cards(place):
            raise InvalidText("board", board_text([card]), None, f"is already on the board {where}")
        return self.deal(place, card)

    def _dealt(self, place: Place, card: int, line: str, position: int) -> Place:
        if not self._is_chance(place):
            raise InvalidText(
                "node", line, position, f"no card is dealt here; choose from {', '.join(self.actions(place.node))}"
            )
        if card not in self.cards(place):
            raise InvalidText("node", line, position, f"{board_text([card])} is already on the board")
        return self.deal(place, card)

    def actions(self, node: int) -> tuple[str, ...]:
        tree = self.form.tree
        return tree.labels[int(tree.first_child[node]) : int(tree.first_child[node + 1])]

    def cards(self, place: Place) -> list[int]:
        """Cards that can come next, lowest first."""
        table = {*self.spot.board, *place.deal.cards}
        return [card for card in range(52) if card not in table]

    def act(self, place: Place, action: int) -> Place:
        tree = self.form.tree
        child = int(tree.first_child[place.node]) + action
        player = int(tree.player[place.node])
        strategy = self.answers.strategy(place.node, place.deal.runout)
        moved = place.reach[player] * strategy[action]
        reach = (moved, place.reach[1]) if player == 0 else (place.reach[0], moved)
        return Place(child, place.deal, reach, (*place.steps, tree.labels[child]))

    def deal(self, place: Place, card: int) -> Place:
        deal = find_deal(self.form, self.group, place.deal, card)
        reach = []
        for player in range(2):
            before = _read_by(place.deal, player, len(place.reach[player]))
            after = _read_by(deal, player, len(place.reach[player]))
            renamed = np.empty_like(place.reach[player])
            renamed[after] = place.reach[player][before]
            reach.append(np.where(self.evaluator.dead(player, deal.street, deal.runout), 0.0, renamed))
        child = int(self.form.tree.first_child[place.node])
        return Place(child, deal, (reach[0], reach[1]), (*place.steps, board_text([card])))

    def children(self, place: Place) -> Iterator[Place]:
        """Every place one step further, each deal by itself."""
        kind = self.form.tree.kind[place.node]
        if kind == Kind.CHANCE:
            yield from (self.deal(place, card) for card in self.cards(place))
        elif kind == Kind.DECISION:
            yield from (self.act(place, action) for action in range(len(self.actions(place.node))))

    # --- what is known there -----------------------------------------------------------------------------------------

    def view(self, place: Place) -> NodeView:
        tree, node, deal = self.form.tree, place.node, place.deal
        kind = _KINDS[int(tree.kind[node])]
        actor = int(tree.player[node]) if kind in ("decision", "fold") else -1
        children = list(range(int(tree.first_child[node]), int(tree.first_child[node + 1])))
        worth = [
            self._values(player, place, [node, *children] if kind == "decision" and player == actor else [node])
            for player in range(2)
        ]
        tables = [self._table(player, place, worth[player][0]) for player in range(2)]
        actions = self.actions(node) if kind == "decision" else ()
        strategy = action_ev = np.zeros((0, 0))
        locked = np.zeros(0, dtype=np.bool_)
        if kind == "decision":
            shown = self._shown(actor, deal)
            strategy = self.answers.strategy(node, deal.runout)[:, shown]
            locked = self.locked.hands(node, deal.runout)[shown]
            action_ev = np.array([self._chips(actor, place, values)[shown] for values in worth[actor][1:]])
        return NodeView(
            line=", ".join(place.steps),
            board=(*self.spot.board, *deal.cards),
            kind=kind,
            player=PLAYERS[actor] if actor >= 0 else None,
            pot=self.spot.pot + float(tree.paid[node].sum()),
            stacks={PLAYERS[player]: self.spot.stack - float(tree.paid[node, player]) for player in range(2)},
            actions=actions,
            strategy=strategy,
            action_ev=action_ev,
            locked=locked,
            hands={PLAYERS[player]: tables[player] for player in range(2)},
        )

    def runout_report(self, place: Place, then: str = "") -> RunoutReport:
        """What each card that can come next does to frequencies, EV and equity, `then` being played after it."""
        if not self._is_chance(place):
            actions = ", ".join(self.actions(place.node))
            there = f"the actions are {actions}" if actions else "the hand is over"
            raise InvalidText("node", ", ".join(place.steps), None, f"no card is dealt here; {there}")
        runouts = tuple(self._runout(self.deal(place, card), then) for card in self.cards(place))
        return RunoutReport(", ".join(place.steps), ", ".join(map(str, parse_line(then, "then"))), runouts)

    def _runout(self, dealt: Place, then: str) -> Runout:
        place = dealt
        for step in parse_line(then, "then"):
            labels = self.actions(place.node) if not self._is_chance(place) else ()
            action = find_action(step, labels)
            if action is None:
                raise no_such_action("then", then, step, labels)
            place = self.act(place, action)
        view = self.view(place)
        acts = view.kind == "decision"
        possible = self.pairs(dealt)
        return Runout(
            card=dealt.deal.cards[-1],
            player=view.player if acts else None,
            reached=self.pairs(place) / possible if possible > 0 else float("nan"),
            frequencies=dict(zip(view.actions, view.frequencies, strict=True)) if acts else {},
            pot=view.pot,
            ev={player: view.ev(player) for player in PLAYERS},
            equity={player: view.equity(player) for player in PLAYERS},
        )

    def played(self, place: Place) -> Played:
        """Strategy and weights alone, which is much quicker than `view`."""
        player = int(self.form.tree.player[place.node])
        hands, solved = self.solved_hands(player, place.deal)
        weight = place.reach[player] * self.evaluator.met(player, place.reach[1 - player])
        strategy = self.answers.strategy(place.node, place.deal.runout)
        return Played(hand=hands, weight=weight[solved], strategy=strategy[:, solved])

    def pairs(self, place: Place) -> float:
        """How likely both players get here together: the weights of all pairs of hands that share no card."""
        return float(place.reach[0] @ self.evaluator.met(0, place.reach[1]))

    def _table(self, player: int, place: Place, values: FloatArray) -> HandTable:
        shown = self._shown(player, place.deal)
        living = self._living(player, place.deal)
        return HandTable(
            hand=self.held[player][living],
            weight=place.reach[player][shown],
            ev=self._chips(player, place, values)[shown],
            equity=self.equity(player, place)[shown],
            matchups=self.evaluator.met(player, place.reach[1 - player])[shown],
        )

    def solved_hands(self, player: int, deal: Deal) -> tuple[IntArray, IntArray]:
        """Hands that a deal leaves possible, as numbers among the 1,326, and where the solved runout has each."""
        return self.held[player][self._living(player, deal)], self._shown(player, deal)

    def _living(self, player: int, deal: Deal) -> IntArray:
        """Hands that the cards as dealt leave possible."""
        reads = _read_by(deal, player, len(self.form.hands[player].weight))
        return np.flatnonzero(~self.evaluator.dead(player, deal.street, deal.runout)[reads])

    def _shown(self, player: int, deal: Deal) -> IntArray:
        """The solved hands that these read."""
        return _read_by(deal, player, len(self.form.hands[player].weight))[self._living(player, deal)]

    def _chips(self, player: int, place: Place, values: FloatArray) -> FloatArray:
        """[H] chips from this node on: what was paid before it is not deducted."""
        met = self.evaluator.met(player, place.reach[1 - player])
        chips = np.divide(values, met, out=np.full(len(met), np.nan), where=met > 0)
        return np.asarray(chips + self.form.tree.paid[place.node, player])

    def _values(self, player: int, place: Place, nodes: list[int]) -> list[FloatArray]:
        """Values [H] of nodes that are `place.node` itself or follow an action of the player there."""
        if place.deal.street < len(self.form.streets) - 1:
            return [self.answers.values(player, node, place.deal.runout) for node in nodes]
        found = self.evaluator.values(player, place.node, place.deal.runout, place.reach[1 - player])
        return [found[node] for node in nodes]

    def equity(self, player: int, place: Place) -> FloatArray:
        """[H] equity of each hand of a player, hands named as in the runout that was solved."""
        to_come = len(self.form.streets) - 1 - place.deal.street
        if to_come < 2:
            return self.evaluator.equity(player, place.deal.street, place.deal.runout, place.reach[1 - player])
        kept = self.answers.equities(player, place.node)
        if kept is not None:
            return kept
        if not self.evaluator.met(player, place.reach[1 - player]).any():
            return np.full(len(place.reach[player]), np.nan)
        # Every hand is in, however unlikely, so that each has an equity; the largest reach counts as 1.
        villain = place.reach[1 - player] / place.reach[1 - player].max()
        hero = self._range(player, np.ones(len(place.reach[player])))
        return hand_equities(hero, self._range(1 - player, villain), self.spot.board)[self.held[player]]

    def _range(self, player: int, reach: FloatArray) -> Range:
        """Reach on the first street as a range."""
        weights = np.zeros(1326)
        weights[self.held[player]] = reach
        return Range(weights)


def _read_by(deal: Deal, player: int, hands: int) -> IntArray:
    return np.arange(hands) if deal.hands is None else deal.hands[player]

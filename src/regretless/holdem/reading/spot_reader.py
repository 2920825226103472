"""Reading a solved spot: from a line of play to everything known there.

1. Follow the line from the root (`line_reader`).
2. Values of the streets before the last were stored when the solve ended; those of the last street are computed here,
   from one runout's strategies (`evaluation`), so files need not contain them.
3. Rename back to the cards dealt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from regretless.cards.equity import hand_equities_together
from regretless.cards.hands import HAND_COUNT
from regretless.cards.ranges import Range
from regretless.engines import PublicEngine, available_cores
from regretless.errors import InvalidText
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import NodeKind, PublicForm
from regretless.holdem.form.runouts import spot_hands
from regretless.holdem.form.suits import spot_group
from regretless.holdem.reading.encoded_strategies import EncodedStrategies, layout
from regretless.holdem.reading.evaluation import Strategies, places
from regretless.holdem.reading.line_reader import FormReader, Place
from regretless.holdem.reading.nodes import HandTable, KindName, NodeView, Runout, RunoutReport
from regretless.holdem.spots.lines import find_action, no_such_action, parse_line
from regretless.holdem.spots.locks import LockedHands
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import PLAYERS

if TYPE_CHECKING:
    from regretless.engines import StrategyEncoder

__all__ = ["Answers", "EngineAnswers", "SpotReader"]

TOGETHER = 32  # ranges at most whose equities are computed together


class Answers(Strategies, EncodedStrategies, Protocol):
    """Strategies, and values of the streets before the last."""

    @property
    def probability_bits(self) -> int:
        """Bits per stored probability."""

    def values(self, player: int, node: int, runout: int) -> FloatArray:
        """[H] values of a betting node before the last street, times the opposing reach."""

    def all_values(self, player: int, street: int) -> NDArray[np.float32]:
        """[runouts, nodes of the street, H] values of a street before the last."""

    def equities(self, player: int, node: int) -> FloatArray | None:
        """[H] equity at a node of the first street with two cards to come, if it was stored."""


class EngineAnswers:
    """Average strategies of an engine, and their values before the last street."""

    def __init__(self, engine: PublicEngine) -> None:
        self.engine = engine

    @property
    def probability_bits(self) -> int:
        return self.engine.storage

    def strategy(self, node: int, runout: int) -> FloatArray:
        return self.engine.strategy(node, runout)

    @property
    def threads(self) -> int:
        return self.engine.threads if self.engine.device == "cpu" else available_cores()

    def encoder(self, street: int, runouts: slice, rows: NDArray[Any]) -> Callable[[], None]:
        averages = [self.engine.averages(player, street, runouts) for player in range(2)]
        return partial(self._encoder.encode, street, averages, rows)

    def values(self, player: int, node: int, runout: int) -> FloatArray:
        street = int(self.engine.form.tree.street[node])
        found: FloatArray = self.early[player][street][runout, self.place[node]].astype(np.float64)
        return found

    def all_values(self, player: int, street: int) -> NDArray[np.float32]:
        return self.early[player][street]

    def equities(self, player: int, node: int) -> FloatArray | None:
        return None

    @cached_property
    def early(self) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
        """Per player, for each street before the last, [runouts, nodes of the street, H]."""
        return self.engine.values_before_last(0), self.engine.values_before_last(1)

    @cached_property
    def place(self) -> IntArray:
        return places(self.engine.form.tree)

    @cached_property
    def _encoder(self) -> StrategyEncoder:
        from regretless.engines import StrategyEncoder  # loads numba

        return StrategyEncoder(self.engine.form, layout(self.engine.form)[0])


class SpotReader(FormReader):
    """Finds nodes of a solved spot and reads everything known there."""

    def __init__(self, spot: Spot, form: PublicForm, answers: Answers) -> None:
        super().__init__(form, answers)
        self.spot = spot
        self.board = spot.board
        self.answers = answers
        self._equities: dict[tuple[int, bytes], FloatArray] = {}  # on the flop, by player and range that it faces

    @cached_property
    def group(self) -> IntArray:
        return spot_group(self.spot)

    @cached_property
    def held(self) -> tuple[IntArray, IntArray]:
        return spot_hands(self.spot)

    @cached_property
    def locked(self) -> LockedHands:
        """Which hands are locked, and where."""
        return LockedHands(self.form, self.spot.locks, self.held)

    def children(self, place: Place) -> Iterator[Place]:
        """Every place one step further, with each deal separate."""
        kind = self.form.tree.kind[place.node]
        if kind == NodeKind.CHANCE:
            yield from (self.deal(place, card) for card in self.cards(place))
        elif kind == NodeKind.DECISION:
            yield from (self.act(place, action) for action in range(len(self.actions(place.node))))

    def view(self, place: Place) -> NodeView:
        tree, node, deal = self.form.tree, place.node, place.deal
        kind = cast(KindName, NodeKind(int(tree.kind[node])).name.lower())
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
            shown = self.solved_hands(actor, deal)[1]
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
        """Frequencies, EV and equity for each card that can come next, with `then` played after it."""
        runouts = tuple(self.runouts(place, then))
        return RunoutReport(", ".join(place.steps), ", ".join(map(str, parse_line(then, "then"))), runouts)

    def runouts(self, place: Place, then: str = "") -> Iterator[Runout]:
        """The same, card by card."""
        if not self._is_chance(place):
            actions = ", ".join(self.actions(place.node))
            there = f"the actions are {actions}" if actions else "the hand is over"
            raise InvalidText("line", ", ".join(place.steps), None, f"no card is dealt here; {there}")
        for card in self.cards(place):
            yield self._runout(self.deal(place, card), then)

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

    def _table(self, player: int, place: Place, values: FloatArray) -> HandTable:
        hands, shown = self.solved_hands(player, place.deal)
        return HandTable(
            hand=hands,
            weight=place.reach[player][shown],
            ev=self._chips(player, place, values)[shown],
            equity=self.equity(player, place)[shown],
            matchups=self.evaluator.met(player, place.reach[1 - player])[shown],
        )

    def _chips(self, player: int, place: Place, values: FloatArray) -> FloatArray:
        """[H] chips from this node on, without deducting what was paid before."""
        met = self.evaluator.met(player, place.reach[1 - player])
        chips = np.divide(values, met, out=np.full(len(met), np.nan), where=met > 0)
        return np.asarray(chips + self.form.tree.paid[place.node, player])

    def _values(self, player: int, place: Place, nodes: list[int]) -> list[FloatArray]:
        """Values [H] of nodes that are `place.node` itself or follow an action there."""
        if place.deal.street < len(self.form.streets) - 1:
            return [self.answers.values(player, node, place.deal.runout) for node in nodes]
        found = self.evaluator.values(player, place.node, place.deal.runout, place.reach[1 - player])
        return [found[node] for node in nodes]

    def equity(self, player: int, place: Place) -> FloatArray:
        """[H] equity of each hand of a player, hands named as in the solved runout."""
        to_come = len(self.form.streets) - 1 - place.deal.street
        if to_come < 2:
            return self.evaluator.equity(player, place.deal.street, place.deal.runout, place.reach[1 - player])
        kept = self.answers.equities(player, place.node)
        if kept is not None:
            return kept
        key = _facing(player, place)
        if key not in self._equities:
            self._find_equities([(player, place)])
        return self._equities[key]

    def find_equities(self, wanted: Sequence[Place]) -> None:
        """Compute the equities at places on the flop together, which is much faster than one place after another."""
        asked: dict[tuple[int, bytes], tuple[int, Place]] = {}  # many places face the same range
        if len(self.form.streets) == 3:
            for place in wanted:
                for player in range(2):
                    if place.deal.street == 0 and self.answers.equities(player, place.node) is None:
                        asked[_facing(player, place)] = player, place
        left = [each for key, each in asked.items() if key not in self._equities]
        size = max(1, min(TOGETHER, -(-len(left) // self.answers.threads)))
        with ThreadPoolExecutor(self.answers.threads) as pool:
            list(pool.map(self._find_equities, (left[at : at + size] for at in range(0, len(left), size))))

    def _find_equities(self, asked: Sequence[tuple[int, Place]]) -> None:
        pairs = {}
        for player, place in asked:
            reach = place.reach[1 - player]
            if not self.evaluator.met(player, reach).any():
                self._equities[_facing(player, place)] = np.full(len(place.reach[player]), np.nan)
                continue
            # Every hand is included, however unlikely, so that each has an equity; the largest reach counts as 1.
            hero = self._range(player, np.ones(len(place.reach[player])))
            pairs[_facing(player, place)] = hero, self._range(1 - player, reach / reach.max())
        found = hand_equities_together(list(pairs.values()), self.spot.board)
        for key, equities in zip(pairs, found, strict=True):
            self._equities[key] = equities[self.held[key[0]]]

    def _range(self, player: int, reach: FloatArray) -> Range:
        """Reach on the first street as a range."""
        weights = np.zeros(HAND_COUNT)
        weights[self.held[player]] = reach
        return Range(weights)


def _facing(player: int, place: Place) -> tuple[int, bytes]:
    """A player and the range that it faces at a place."""
    return player, place.reach[1 - player].tobytes()

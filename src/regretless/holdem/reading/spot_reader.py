"""Reading a solved spot: from a line of play to everything known there.

1. Follow the line from the root (`line_reader`).
2. Values of the streets before the last were stored when the solve ended; those of the last street are computed here,
   from one runout's strategies (`evaluation`), so files need not contain them.
3. Rename back to the cards dealt.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol, cast

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
from regretless.holdem.reading.evaluation import Strategies, street_rows
from regretless.holdem.reading.line_reader import FormReader, LineNode
from regretless.holdem.reading.nodes import HandTable, KindName, NodeView, Runout, RunoutReport
from regretless.holdem.spots.lines import find_action, no_such_action, parse_line
from regretless.holdem.spots.locked_nodes import LockedHands
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import PLAYERS

if TYPE_CHECKING:
    from regretless.engines import StrategyEncoder

__all__ = ["EngineResults", "EvaluatedResults", "SpotReader", "SpotResults"]

RANGES_AT_ONCE = 32  # ranges at most whose equities are computed together


class SpotResults(Strategies, EncodedStrategies, Protocol):
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


class EvaluatedResults(ABC):
    """Results whose values before the last street are computed when the first is read."""

    form: PublicForm

    @cached_property
    @abstractmethod
    def early_values(self) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
        """Per player, for each street before the last, [runouts, nodes of the street, H]."""

    @cached_property
    def _street_row(self) -> IntArray:
        return street_rows(self.form.tree)

    def values(self, player: int, node: int, runout: int) -> FloatArray:
        street = int(self.form.tree.street[node])
        values: FloatArray = self.early_values[player][street][runout, self._street_row[node]].astype(np.float64)
        return values

    def all_values(self, player: int, street: int) -> NDArray[np.float32]:
        return self.early_values[player][street]

    def equities(self, player: int, node: int) -> FloatArray | None:
        return None


class EngineResults(EvaluatedResults):
    """Average strategies of an engine, and their values before the last street."""

    def __init__(self, engine: PublicEngine) -> None:
        self.engine, self.form = engine, engine.form

    @property
    def probability_bits(self) -> int:
        return self.engine.storage

    def strategy(self, node: int, runout: int) -> FloatArray:
        return self.engine.strategy(node, runout)

    @property
    def threads(self) -> int:
        return self.engine.threads if self.engine.device == "cpu" else available_cores()

    def encoder(self, street: int, runouts: slice, rows: NDArray[np.generic]) -> Callable[[], None]:
        averages = [self.engine.averages(player, street, runouts) for player in range(2)]
        return partial(self._encoder.encode, street, averages, rows)

    @cached_property
    def early_values(self) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
        return self.engine.values_before_last(0), self.engine.values_before_last(1)

    @cached_property
    def _encoder(self) -> StrategyEncoder:
        from regretless.engines import StrategyEncoder  # loads numba

        return StrategyEncoder(self.form, layout(self.form)[0])


class SpotReader(FormReader):
    """Finds nodes of a solved spot and reads everything known there."""

    def __init__(self, spot: Spot, form: PublicForm, results: SpotResults) -> None:
        super().__init__(form, results)
        self.spot = spot
        self.board = spot.board
        self.results = results
        self._equities: dict[tuple[int, bytes], FloatArray] = {}  # on the flop, by player and range that it faces

    @cached_property
    def group(self) -> IntArray:
        return spot_group(self.spot)

    @cached_property
    def hand_numbers(self) -> tuple[IntArray, IntArray]:
        return spot_hands(self.spot)

    @cached_property
    def locked(self) -> LockedHands:
        """Which hands are locked, and where."""
        return LockedHands(self.form, self.spot.locks, self.hand_numbers)

    def children(self, node: LineNode) -> Iterator[LineNode]:
        """Every node one step further, with each deal separate."""
        kind = self.form.tree.kind[node.index]
        if kind == NodeKind.CHANCE:
            yield from (self.deal(node, card) for card in self.cards(node))
        elif kind == NodeKind.DECISION:
            yield from (self.act(node, action) for action in range(len(self.actions(node.index))))

    def view(self, node: LineNode) -> NodeView:
        tree, index, deal = self.form.tree, node.index, node.deal
        kind = cast(KindName, NodeKind(int(tree.kind[index])).name.lower())
        actor = int(tree.player[index]) if kind in ("decision", "fold") else -1
        children = list(range(int(tree.first_child[index]), int(tree.first_child[index + 1])))
        values_of = [
            self._values(player, node, [index, *children] if kind == "decision" and player == actor else [index])
            for player in range(2)
        ]
        tables = [self._table(player, node, values_of[player][0]) for player in range(2)]
        actions = self.actions(index) if kind == "decision" else ()
        strategy = action_ev = np.zeros((0, 0))
        locked = np.zeros(0, dtype=np.bool_)
        if kind == "decision":
            shown = self.solved_hands(actor, deal)[1]
            strategy = self.results.strategy(index, deal.runout)[:, shown]
            locked = self.locked.hands(index, deal.runout)[shown]
            action_ev = self._action_ev(actor, node, values_of[actor][1:])
        return NodeView(
            line=", ".join(node.steps),
            board=(*self.spot.board, *deal.cards),
            kind=kind,
            player=PLAYERS[actor] if actor >= 0 else None,
            pot=self.spot.pot + float(tree.paid[index].sum()),
            stacks={PLAYERS[player]: self.spot.stack - float(tree.paid[index, player]) for player in range(2)},
            actions=actions,
            strategy=strategy,
            action_ev=action_ev,
            locked=locked,
            hands={PLAYERS[player]: tables[player] for player in range(2)},
        )

    def action_ev(self, node: LineNode) -> FloatArray:
        """[actions, H] EV in chips of each action at a decision, for the hands that the board leaves its player."""
        tree, index = self.form.tree, node.index
        children = list(range(int(tree.first_child[index]), int(tree.first_child[index + 1])))
        player = int(tree.player[index])
        return self._action_ev(player, node, self._values(player, node, children))

    def _action_ev(self, player: int, node: LineNode, values: list[FloatArray]) -> FloatArray:
        shown = self.solved_hands(player, node.deal)[1]
        return np.array([self._chips(player, node, each)[shown] for each in values])

    def runout_report(self, node: LineNode, then: str = "") -> RunoutReport:
        """Frequencies, EV and equity for each card that can come next, with `then` played after it."""
        runouts = tuple(self.runouts(node, then))
        return RunoutReport(", ".join(node.steps), ", ".join(map(str, parse_line(then, "then"))), runouts)

    def runouts(self, node: LineNode, then: str = "") -> Iterator[Runout]:
        """The rows of `runout_report`, card by card."""
        if not self._is_chance(node):
            actions = ", ".join(self.actions(node.index))
            advice = f"the actions are {actions}" if actions else "the hand is over"
            raise InvalidText("line", ", ".join(node.steps), None, f"no card is dealt here; {advice}")
        for card in self.cards(node):
            yield self._runout(self.deal(node, card), then)

    def _runout(self, dealt: LineNode, then: str) -> Runout:
        node = dealt
        for step in parse_line(then, "then"):
            labels = self.actions(node.index) if not self._is_chance(node) else ()
            action = find_action(step, labels)
            if action is None:
                raise no_such_action("then", then, step, labels)
            node = self.act(node, action)
        view = self.view(node)
        acts = view.kind == "decision"
        possible = self.pairs(dealt)
        return Runout(
            card=dealt.deal.cards[-1],
            player=view.player if acts else None,
            reached=self.pairs(node) / possible if possible > 0 else float("nan"),
            frequencies=dict(zip(view.actions, view.frequencies, strict=True)) if acts else {},
            pot=view.pot,
            ev={player: view.ev(player) for player in PLAYERS},
            equity={player: view.equity(player) for player in PLAYERS},
        )

    def _table(self, player: int, node: LineNode, values: FloatArray) -> HandTable:
        hands, shown = self.solved_hands(player, node.deal)
        return HandTable(
            hand=hands,
            weight=node.reach[player][shown],
            ev=self._chips(player, node, values)[shown],
            equity=self.equity(player, node)[shown],
            matchups=self.met(player, node.reach[1 - player])[shown],
        )

    def _chips(self, player: int, node: LineNode, values: FloatArray) -> FloatArray:
        """[H] chips from this node on, without deducting what was paid before."""
        met = self.met(player, node.reach[1 - player])
        chips = np.divide(values, met, out=np.full(len(met), np.nan), where=met > 0)
        return np.asarray(chips + self.form.tree.paid[node.index, player])

    def _values(self, player: int, node: LineNode, indices: list[int]) -> list[FloatArray]:
        """Values [H] of betting nodes: `node` itself, or those after its actions."""
        if node.deal.street < len(self.form.streets) - 1:
            return [self.results.values(player, index, node.deal.runout) for index in indices]
        values = self.evaluator.values(player, node.index, node.deal.runout, node.reach[1 - player])
        return [values[index] for index in indices]

    def equity(self, player: int, node: LineNode) -> FloatArray:
        """[H] equity of each hand of a player, hands named as in the solved runout."""
        to_come = len(self.form.streets) - 1 - node.deal.street
        if to_come < 2:
            return self.evaluator.equity(player, node.deal.street, node.deal.runout, node.reach[1 - player])
        stored = self.results.equities(player, node.index)
        if stored is not None:
            return stored
        key = _facing(player, node)
        if key not in self._equities:
            self._find_equities([(player, node)])
        return self._equities[key]

    def find_equities(self, nodes: Sequence[LineNode]) -> None:
        """Compute the equities at nodes on the flop together, which is much faster than one node after another."""
        by_range: dict[tuple[int, bytes], tuple[int, LineNode]] = {}  # many nodes face the same range
        if len(self.form.streets) == 3:
            for node in nodes:
                for player in range(2):
                    if node.deal.street == 0 and self.results.equities(player, node.index) is None:
                        by_range[_facing(player, node)] = player, node
        left = [each for key, each in by_range.items() if key not in self._equities]
        size = max(1, min(RANGES_AT_ONCE, -(-len(left) // self.results.threads)))
        with ThreadPoolExecutor(self.results.threads) as pool:
            list(pool.map(self._find_equities, (left[first : first + size] for first in range(0, len(left), size))))

    def _find_equities(self, facing: Sequence[tuple[int, LineNode]]) -> None:
        pairs = {}
        for player, node in facing:
            reach = node.reach[1 - player]
            if not self.met(player, reach).any():
                self._equities[_facing(player, node)] = np.full(len(node.reach[player]), np.nan)
                continue
            # Every hand is included, however unlikely, so that each has an equity; the largest reach counts as 1.
            hero = self._range(player, np.ones(len(node.reach[player])))
            pairs[_facing(player, node)] = hero, self._range(1 - player, reach / reach.max())
        results = hand_equities_together(list(pairs.values()), self.spot.board)
        for key, equities in zip(pairs, results, strict=True):
            self._equities[key] = equities[self.hand_numbers[key[0]]]

    def _range(self, player: int, reach: FloatArray) -> Range:
        """Reach on the first street as a range."""
        weights = np.zeros(HAND_COUNT)
        weights[self.hand_numbers[player]] = reach
        return Range(weights)


def _facing(player: int, node: LineNode) -> tuple[int, bytes]:
    """A player and the range that it faces at a node."""
    return player, node.reach[1 - player].tobytes()

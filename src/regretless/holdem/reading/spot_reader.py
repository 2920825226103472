"""Reading a solved spot: from a line of play to everything known there.

1. Follow the line from the root (`line_reader`).
2. Values of the streets before the last were stored when the solve ended; those of the last street are computed here,
   from one runout's strategies (`evaluation`), so files need not contain them.
3. Rename back to the cards dealt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import cast

import numpy as np

from regretless.cards.equity import hand_equities_together
from regretless.cards.hands import HAND_COUNT
from regretless.cards.ranges import Range
from regretless.errors import InvalidText
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import NodeKind, PublicForm
from regretless.forms.walking import children
from regretless.holdem.form.runouts import spot_hands
from regretless.holdem.form.suits import spot_group
from regretless.holdem.reading.line_reader import FormReader, LineNode
from regretless.holdem.reading.nodes import HandTable, KindName, NodeView, Runout, RunoutReport
from regretless.holdem.reading.spot_results import SpotResults
from regretless.holdem.spots.lines import find_action, no_such_action, parse_line
from regretless.holdem.spots.locked_nodes import LockedHands
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import PLAYERS

__all__ = ["SpotReader"]

RANGES_AT_ONCE = 32  # most ranges whose equities are computed together


class SpotReader(FormReader):
    """Finds nodes of a solved spot and reads everything known there."""

    def __init__(self, spot: Spot, form: PublicForm, results: SpotResults) -> None:
        super().__init__(form, results)
        self.spot = spot
        self.board = spot.board
        self.results = results
        self._equities: dict[tuple[int, bytes], FloatArray] = {}  # on the flop, by `_equity_key`

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
        """Everything known at a node: the actions, and both players' hands."""
        tree, index, deal = self.form.tree, node.index, node.deal
        kind = cast(KindName, NodeKind(int(tree.kind[index])).name.lower())
        actor = int(tree.player[index]) if kind in ("decision", "fold") else -1
        below = children(tree, index) if kind == "decision" else range(0)
        values = [self._values(player, node, [index, *below] if player == actor else [index]) for player in range(2)]
        strategy = action_ev = np.zeros((0, 0))
        locked = np.zeros(0, dtype=np.bool_)
        if kind == "decision":
            _, solved = self.solved_hands(actor, deal)
            strategy = self.results.strategy(index, deal.runout)[:, solved]
            locked = self.locked.hands(index, deal.runout)[solved]
            action_ev = self._action_ev(actor, node, values[actor][1:])
        return NodeView(
            line=", ".join(node.steps),
            board=(*self.spot.board, *deal.cards),
            kind=kind,
            player=PLAYERS[actor] if actor >= 0 else None,
            pot=self.spot.pot + float(tree.paid[index].sum()),
            stacks=self.spot.stacks_behind(tree.paid[index]),
            actions=self.actions(index) if kind == "decision" else (),
            strategy=strategy,
            action_ev=action_ev,
            locked=locked,
            hands={PLAYERS[player]: self._table(player, node, values[player][0]) for player in range(2)},
        )

    def action_ev(self, node: LineNode) -> FloatArray:
        """[actions, H] EV in chips of each action at a decision, for the hands that the board leaves its player."""
        player = int(self.form.tree.player[node.index])
        return self._action_ev(player, node, self._values(player, node, children(self.form.tree, node.index)))

    def _action_ev(self, player: int, node: LineNode, values: list[FloatArray]) -> FloatArray:
        _, solved = self.solved_hands(player, node.deal)
        return np.array([self._chips(player, node, each)[solved] for each in values])

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
        hands, solved = self.solved_hands(player, node.deal)
        return HandTable(
            hand=hands,
            weight=node.reach[player][solved],
            ev=self._chips(player, node, values)[solved],
            equity=self.equity(player, node)[solved],
            matchups=self.met(player, node.reach[1 - player])[solved],
        )

    def _chips(self, player: int, node: LineNode, values: FloatArray) -> FloatArray:
        """[H] chips from this node on, without deducting what was paid before."""
        met = self.met(player, node.reach[1 - player])
        chips = np.divide(values, met, out=np.full(len(met), np.nan), where=met > 0)
        return np.asarray(chips + self.form.tree.paid[node.index, player])

    def _values(self, player: int, node: LineNode, indices: Iterable[int]) -> list[FloatArray]:
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
        key = _equity_key(player, node)
        if key not in self._equities:
            self._compute_equities([(player, node)])
        return self._equities[key]

    def find_equities(self, nodes: Sequence[LineNode]) -> None:
        """Compute the equities at nodes on the flop together, which is much faster than one node after another."""
        if len(self.form.streets) != 3:
            return
        missing: dict[tuple[int, bytes], tuple[int, LineNode]] = {}  # many nodes face the same range
        for node in nodes:
            for player in range(2):
                key = _equity_key(player, node)
                stored = node.deal.street > 0 or self.results.equities(player, node.index) is not None
                if not stored and key not in self._equities:
                    missing[key] = player, node
        by_range = list(missing.values())
        size = max(1, min(RANGES_AT_ONCE, -(-len(by_range) // self.results.threads)))
        batches = [by_range[first : first + size] for first in range(0, len(by_range), size)]
        with ThreadPoolExecutor(self.results.threads) as pool:
            list(pool.map(self._compute_equities, batches))

    def _compute_equities(self, nodes: Sequence[tuple[int, LineNode]]) -> None:
        """Store the equities of some players at nodes of the flop."""
        ranges = {}
        for player, node in nodes:
            key, reach = _equity_key(player, node), node.reach[1 - player]
            if not self.met(player, reach).any():
                self._equities[key] = np.full(len(node.reach[player]), np.nan)
                continue
            # Every hand is included, however unlikely, so that each has an equity; the largest reach counts as 1.
            hero = self._range(player, np.ones(len(node.reach[player])))
            ranges[key] = hero, self._range(1 - player, reach / reach.max())
        results = hand_equities_together(list(ranges.values()), self.spot.board)
        for key, equities in zip(ranges, results, strict=True):
            self._equities[key] = equities[self.hand_numbers[key[0]]]

    def _range(self, player: int, reach: FloatArray) -> Range:
        """Reach on the first street as a range."""
        weights = np.zeros(HAND_COUNT)
        weights[self.hand_numbers[player]] = reach
        return Range(weights)


def _equity_key(player: int, node: LineNode) -> tuple[int, bytes]:
    """What a player's equities on the flop depend on: the player, and the range that the opponent has left."""
    return player, node.reach[1 - player].tobytes()

"""A reader for whole hands against a game from the deal: every flop is solved again when it is dealt.

1. Before the flop, the strategy is that of the game's solution.
2. When a flop is dealt and somebody can still act, the spot there is solved with the ranges that arrive.
3. After it, nodes keep the game's numbers and payoffs, and strategies come from that spot, which has the same betting.

A player may arrive with a hand that the solution never plays this way. The spot's ranges lack it, so the other player
does not expect it; asked what to do with it, the reader gives every action the same probability.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import board_text
from regretless.cards.hands import HAND_COUNT, blocked_by
from regretless.forms.history import FloatArray
from regretless.forms.public import NodeKind
from regretless.holdem.form.runouts import FLOP
from regretless.holdem.form.suits import Deal
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.game_spots import spot_at
from regretless.holdem.games.reader import DealtReader
from regretless.holdem.reading.line_reader import LineNode
from regretless.holdem.reading.spot_reader import SpotReader
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.spot import Spot

__all__ = ["ResolvingReader"]


class ResolvingReader(DealtReader):
    """Finds nodes of a game from the deal, with a strategy on every flop; it keeps the solution of one flop."""

    def __init__(self, game: HoldemGame, reader: DealtReader, solve: Callable[[Spot, LineNode], SpotSolution]) -> None:
        """`solve` solves a spot that begins at a node of `reader`."""
        self.tree, self.hands, self.payoffs = reader.tree, reader.hands, reader.payoffs
        self._game, self._reader, self._solve = game, reader, solve
        self._flop = ""  # the line to the flop that was solved last
        self._solution: SpotSolution | None = None

    def strategy(self, node: LineNode) -> FloatArray:
        if node.deal.street == 0:
            return self._reader.strategy(node)
        reader, in_spot = self.in_spot(node)
        hands, positions = reader.solved_hands(int(self.tree.player[node.index]), in_spot.deal)
        actions = len(self.actions(node.index))
        strategy = np.full((actions, HAND_COUNT), 1 / actions)
        strategy[:, hands] = reader.strategy(in_spot)[:, positions]
        return strategy

    def in_spot(self, node: LineNode) -> tuple[SpotReader, LineNode]:
        """The spot that was solved on the way to a node after the flop, and the node in it."""
        reader = self._solution_of(node).reader
        return reader, reader.find(", ".join(node.steps[self._steps_to_flop(node) :]))

    def deal(self, node: LineNode, *cards: int) -> LineNode:
        deal = Deal(node.deal.street + 1, cards=(*node.deal.cards, *cards))
        live = ~self.dead(0, deal)
        child = int(self.tree.first_child[node.index])
        reach = (node.reach[0] * live, node.reach[1] * live)
        dealt = LineNode(child, deal, reach, (*node.steps, board_text(cards)))
        if deal.street == 1 and self.tree.kind[child] == NodeKind.DECISION:
            self._solution_of(dealt)
        return dealt

    def dead(self, player: int, deal: Deal) -> NDArray[np.bool_]:
        return blocked_by(deal.cards)

    def count(self, node: LineNode) -> int:
        return FLOP if node.deal.street == 0 else 1

    def _solution_of(self, node: LineNode) -> SpotSolution:
        """The solution of the flop on the way to a node."""
        flop = ", ".join(node.steps[: self._steps_to_flop(node)])
        if self._solution is None or flop != self._flop:
            self._solution = None  # before the next one takes its memory
            at_flop = self._reader.find(flop)
            self._solution = self._solve(spot_at(self._game, self._reader, flop, any_hand=True), at_flop)
            self._flop = flop
        return self._solution

    def _steps_to_flop(self, node: LineNode) -> int:
        return 1 + node.steps.index(board_text(node.deal.cards[:FLOP]))

"""Readers of solved games from the deal: from a line of play to the strategy of every hand there, on any board.

Both players may hold any of the 1,326 hands, and renaming suits changes nothing. A `DealtFormReader` reads a public
form, in which every hand has a strategy of its own on every board or on one that stands for it. A `BucketedReader`
reads a game solved with buckets: nothing is stored per board, because what a hand does is what its bucket does, and
its bucket follows from the board.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import board_text
from regretless.cards.hands import CLASS_NAMES, HAND_CLASS, HAND_COUNT, hand_text
from regretless.cards.isomorphism import SUIT_PERMUTATIONS
from regretless.forms.bucketed import BucketedForm
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import DEAD
from regretless.holdem.form.runouts import FLOP
from regretless.holdem.form.suits import Deal
from regretless.holdem.games.boards import GameBuckets
from regretless.holdem.reading.line_reader import FormReader, LineNode, LineReader

__all__ = ["BucketedReader", "DealtFormReader", "DealtReader"]

BUCKETED_BOARDS = 64  # whose buckets stay in memory


class DealtReader(LineReader):
    """Finds nodes of a game from the deal."""

    @property
    def hand_numbers(self) -> tuple[IntArray, IntArray]:
        return np.arange(HAND_COUNT), np.arange(HAND_COUNT)

    def preflop(self) -> dict[str, dict[str, float]]:
        """Information set -> action -> probability before the flop, such as "AKs:raise 5"."""
        strategies = {}
        for node in self.before_cards():
            actions, line = self.actions(node.index), ", ".join(node.steps)
            hands = self.preflop_hands(int(self.tree.player[node.index]))
            for name, row in zip(hands, self.strategy(node)[:, list(hands.values())].T, strict=True):
                strategies[f"{name}:{line}"] = dict(zip(actions, row.tolist(), strict=True))
        return strategies

    def class_strategy(self, node: int) -> FloatArray:
        """[actions, 169] what each class of hands does at a betting node before the flop."""
        hands = list(self.preflop_hands(int(self.tree.player[node])).values())
        return self.strategy(LineNode(node, Deal(), (np.empty(0), np.empty(0))))[:, hands]

    def preflop_hands(self, player: int) -> dict[str, int]:
        """The names of information sets before the flop, each with the position of a hand: the first of a class."""
        class_of = HAND_CLASS[self.hand_numbers[player]]
        return {name: int(np.argmax(class_of == number)) for number, name in enumerate(CLASS_NAMES)}


class DealtFormReader(FormReader, DealtReader):
    """Finds nodes of a public form from the deal."""

    @property
    def group(self) -> IntArray:
        return np.arange(len(SUIT_PERMUTATIONS))


class FlopHoldemReader(DealtFormReader):
    """Finds nodes of flop hold'em, whose rules name every hand by its cards."""

    def preflop_hands(self, player: int) -> dict[str, int]:
        return {hand_text(int(hand)): position for position, hand in enumerate(self.hand_numbers[player])}


class BucketedReader(DealtReader):
    """Finds nodes of a game solved with buckets; `bucket_strategy(node)` is [actions, K]."""

    def __init__(self, form: BucketedForm, buckets: GameBuckets, bucket_strategy: Callable[[int], FloatArray]) -> None:
        self.tree, self.hands, self.payoffs = form.tree, form.hands, form.payoffs
        self.buckets, self.bucket_strategy = buckets, bucket_strategy
        self._bucket = lru_cache(BUCKETED_BOARDS)(lambda cards: buckets.of(np.array([cards], dtype=np.uint8))[0])

    def strategy(self, node: LineNode) -> FloatArray:
        bucket = self._bucket(node.deal.cards)
        strategy: FloatArray = self.bucket_strategy(node.index)[:, np.maximum(bucket, 0)] * (bucket != DEAD)
        return strategy

    def dead(self, player: int, deal: Deal) -> NDArray[np.bool_]:
        dead: NDArray[np.bool_] = self._bucket(deal.cards) == DEAD
        return dead

    def count(self, node: LineNode) -> int:
        return FLOP if node.deal.street == 0 else 1

    def deal(self, node: LineNode, *cards: int) -> LineNode:
        deal = replace(node.deal, street=node.deal.street + 1, cards=(*node.deal.cards, *cards))
        live = ~self.dead(0, deal)
        child = int(self.tree.first_child[node.index])
        return LineNode(child, deal, (node.reach[0] * live, node.reach[1] * live), (*node.steps, board_text(cards)))

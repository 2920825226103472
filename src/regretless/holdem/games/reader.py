"""Reading a solved game from the deal: the strategy of every hand on any line and any board.

Nothing is stored per board: what a hand does is what its bucket does, and its bucket follows from the board.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import board_text
from regretless.cards.hands import CLASS_NAMES, HAND_CLASS, HAND_COUNT
from regretless.forms.bucketed import BucketedForm
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import DEAD
from regretless.holdem.form.suits import Deal
from regretless.holdem.games.boards import GameBuckets
from regretless.holdem.reading.line_reader import LineNode, LineReader

__all__ = ["NoLimitReader"]

BOARDS_KEPT = 64
FLOP = 3  # cards


class NoLimitReader(LineReader):
    """Finds nodes of a game from the deal; `bucket_strategy(node)` is [actions, K]."""

    def __init__(self, form: BucketedForm, buckets: GameBuckets, bucket_strategy: Callable[[int], FloatArray]) -> None:
        self.tree, self.hands, self.payoffs = form.tree, form.hands, form.payoffs
        self.buckets, self.bucket_strategy = buckets, bucket_strategy
        self._bucket = lru_cache(maxsize=BOARDS_KEPT)(lambda cards: buckets.of(np.array([cards], dtype=np.uint8))[0])

    @property
    def hand_numbers(self) -> tuple[IntArray, IntArray]:
        return np.arange(HAND_COUNT), np.arange(HAND_COUNT)

    def strategy(self, place: LineNode) -> FloatArray:
        bucket = self._bucket(place.deal.cards)
        found: FloatArray = self.bucket_strategy(place.index)[:, np.maximum(bucket, 0)] * (bucket != DEAD)
        return found

    def dead(self, player: int, deal: Deal) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self._bucket(deal.cards) == DEAD
        return found

    def count(self, place: LineNode) -> int:
        return FLOP if place.deal.street == 0 else 1

    def deal(self, place: LineNode, *cards: int) -> LineNode:
        deal = replace(place.deal, street=place.deal.street + 1, cards=(*place.deal.cards, *cards))
        live = ~self.dead(0, deal)
        child = int(self.tree.first_child[place.index])
        return LineNode(child, deal, (place.reach[0] * live, place.reach[1] * live), (*place.steps, board_text(cards)))

    def preflop(self) -> dict[str, dict[str, float]]:
        """Information set -> action -> probability before the flop, such as "AKs:raise 5"."""
        found = {}
        first = [int(np.flatnonzero(each == HAND_CLASS)[0]) for each in range(len(CLASS_NAMES))]
        for place in self.before_cards():
            actions, line = self.actions(place.index), ", ".join(place.steps)
            for name, row in zip(CLASS_NAMES, self.strategy(place)[:, first].T, strict=True):
                found[f"{name}:{line}"] = dict(zip(actions, row.tolist(), strict=True))
        return found

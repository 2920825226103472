"""Boards of a whole game, dealt from 52 cards: from a game and its card buckets to a bucketed form.

Flops, turns and rivers are drawn as in `forms.drawn_runouts`: each in random orders that are followed to their end, so
that all come up equally often, and a batch is a function of its iteration. Against the deck of 52, two hands leave 48
cards for the flop, 45 for the turn and 44 for the river, so the weights of the three deals are

    C(52, 3) / C(48, 3) / B        49 / 45        48 / 44
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from math import comb
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import DECK
from regretless.cards.evaluator import hand_strengths
from regretless.cards.hands import HAND_CLASS, HAND_COUNT
from regretless.cards.ranges import Range
from regretless.errors import InvalidOption
from regretless.forms.bucketed import BucketedForm, Runouts
from regretless.forms.drawn_runouts import deal_order
from regretless.forms.history import IntArray
from regretless.forms.public import DEAD
from regretless.holdem.buckets.table import NO_BUCKET
from regretless.holdem.form.betting import betting_of
from regretless.holdem.form.runouts import hands_of
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.spots.question import STREETS

__all__ = ["DealtRunouts", "HandBuckets", "compile_game"]

CLASSES = 169  # of hands, before the flop
CARDS = (3, 4, 5)  # on the board, by street


class HandBuckets(Protocol):
    """A card abstraction for all boards: `holdem.buckets.Buckets`."""

    def count(self, street: Any) -> int:
        """Buckets of a street."""

    def lookup(self, boards: NDArray[np.uint8]) -> NDArray[np.uint16]:
        """[n, 1326] the bucket of every hand on boards [n, cards]; `NO_BUCKET` where it is blocked."""


def compile_game(game: HoldemGame, buckets: HandBuckets, *, count: int, seed: int = 0) -> BucketedForm:
    """A game from the deal: 169 classes of hands before the flop, buckets after it, `count` boards per iteration."""
    if count < 1:
        raise InvalidOption("sample_runouts", count, "must be at least 1")
    betting, everything, every_hand = betting_of(game), Range.parse("100%"), np.arange(HAND_COUNT)
    numbers = (CLASSES, *(buckets.count(street) for street in STREETS))
    return BucketedForm(
        name=game.name or "game",
        deck=DECK,
        tree=betting.tree,
        hands=hands_of((every_hand, every_hand), everything, everything),
        payoffs=betting.payoffs,
        buckets=(numbers, numbers),
        runouts=DealtRunouts(buckets, count=count, seed=seed),
        unit=game.big_blind,
    )


class DealtRunouts:
    """Batches of boards."""

    def __init__(self, buckets: HandBuckets, *, count: int, seed: int = 0) -> None:
        self.buckets, self.count, self.seed = buckets, count, seed
        self._weight = np.ones((1 + len(STREETS), count))
        self._weight[1:] = np.array([comb(52, 3) / comb(48, 3) / count, 49 / 45, 48 / 44])[:, None]

    def draw(self, iteration: int) -> Runouts:
        """The batch of an iteration."""
        boards = self.boards(iteration)
        found: list[IntArray] = [HAND_CLASS.astype(np.int32)[None]]
        for cards in CARDS:
            map_ = self.buckets.lookup(np.ascontiguousarray(boards[:, :cards])).astype(np.int32)
            found.append(np.where(map_ == NO_BUCKET, np.int32(DEAD), map_))
        strength = hand_strengths(boards)
        return Runouts(self._weight, (tuple(found), tuple(found)), (strength, strength))

    def boards(self, iteration: int) -> NDArray[np.uint8]:
        """[B, 5] the boards of an iteration."""
        flops = _flops()
        drawn = []
        for visit in range((iteration - 1) * self.count, iteration * self.count):
            path, times = 0, visit
            dealt: tuple[int, ...] = ()
            for street, number in enumerate((len(flops), 49, 48), start=1):
                times, place = divmod(times, number)
                chosen = deal_order(self.seed, street, path, times, number)[place]
                path = path * number + chosen
                dealt += flops[chosen] if street == 1 else (_left(dealt)[chosen],)
            drawn.append(dealt)
        return np.array(drawn, dtype=np.uint8)


@cache
def _flops() -> list[tuple[int, ...]]:
    return list(combinations(range(DECK), 3))


def _left(dealt: tuple[int, ...]) -> list[int]:
    return [card for card in range(DECK) if card not in dealt]

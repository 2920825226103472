"""Boards for a game from the deal: flop, turn and river drawn from the whole deck.

A batch has B boards. Flops are drawn one from each of B equal parts of all 22,100, in an order that puts alike flops
next to each other; turns and rivers likewise, one from each of B equal parts of the cards left, the parts paired at
random (a Latin hypercube). Summed over the batch, every board is as likely as any other, whatever was drawn in earlier
iterations, and the flops, turns and rivers of a batch resemble those of the deck more than independent draws would.

Cards are drawn without regard to the players' hands, and a hand that shares a card with the board is dead. Two hands
leave 48 cards, so with w the weight of a deal,

    flop     w = C(52, 3) / C(48, 3) / B       turn     w = 49 / 45       river     w = 48 / 44

and every pair of hands meets each board that blocks neither with the right probability.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import combinations
from math import comb
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import DECK
from regretless.cards.evaluator import hand_strengths
from regretless.cards.hands import HAND_CARDS, HAND_CLASS, HAND_COUNT
from regretless.cards.ranges import Range
from regretless.cards.situation_tables import SITUATION_COUNTS
from regretless.cards.situations import board_rows
from regretless.errors import InvalidOption
from regretless.forms.bucketed import BucketedForm, Runouts
from regretless.forms.history import IntArray
from regretless.forms.public import DEAD, BettingTree, NodeKind
from regretless.holdem.buckets.table import NO_BUCKET
from regretless.holdem.form.betting import betting_of
from regretless.holdem.form.runouts import hands_of
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.spots.spot_fields import STREETS, StreetName
from regretless.seeds import check_seed

__all__ = [
    "DrawnBoards", "GameBuckets", "Lookup", "acting_streets", "blocked", "flops_in_order", "game_buckets", "make_form",
]  # fmt: skip

SIZES = (3, 4, 5)  # cards on the board after each deal
WEIGHTS = (comb(52, 3) / comb(48, 3), 49 / 45, 48 / 44)


class Lookup(Protocol):
    """A card abstraction: `Buckets` or `DividedBuckets`."""

    def count(self, street: StreetName) -> int: ...

    def lookup(self, boards: NDArray[np.uint8]) -> NDArray[np.uint16]: ...


class GameBuckets:
    """The buckets of every street of a game: the 169 classes before the flop, then those of a card abstraction.

    A street on which nobody acts needs none, and has one bucket for all hands.
    """

    def __init__(self, abstraction: Lookup | None, acting: Mapping[StreetName, bool]) -> None:
        self.abstraction, self.acting = abstraction, acting

    def count(self, street: StreetName) -> int:
        """How many buckets a street after the deal has."""
        if not self.acting[street]:
            return 1
        assert self.abstraction is not None
        return self.abstraction.count(street)

    @property
    def counts(self) -> tuple[int, ...]:
        """Per street, from before the flop on."""
        return (SITUATION_COUNTS[0], *(self.count(street) for street in STREETS))

    def of(self, boards: NDArray[np.uint8]) -> IntArray:
        """[n, 1326] the bucket of every hand on boards [n, 0 to 5]; `DEAD` where the board blocks it."""
        if boards.shape[1] == 0:
            return np.repeat(HAND_CLASS[None].astype(np.int32), len(boards), axis=0)
        if not self.acting[STREETS[SIZES.index(boards.shape[1])]]:
            return np.where(blocked(boards), DEAD, 0).astype(np.int32)
        assert self.abstraction is not None
        bucket = self.abstraction.lookup(boards)
        return np.where(bucket == NO_BUCKET, DEAD, bucket.astype(np.int32)).astype(np.int32)


class DrawnBoards:
    """Batches of boards. All draws follow from the seed and the iteration."""

    def __init__(self, buckets: GameBuckets, *, count: int, seed: int) -> None:
        if count < 1:
            raise InvalidOption("sample_runouts", count, "must be at least 1")
        self.buckets, self.count, self.seed = buckets, count, check_seed(seed, bits=32)

    def boards(self, iteration: int) -> NDArray[np.uint8]:
        """[B, 5] the boards of an iteration. NumPy guarantees that `RandomState` never changes."""
        random = np.random.RandomState([self.seed, iteration % 2**32, iteration // 2**32])
        count = self.count
        # one point in each of B equal parts of [0, 1), for the flop, the turn and the river
        flop_points, *later_points = [(np.arange(count) + random.random_sample(count)) / count for _ in range(3)]
        flops = flops_in_order()
        boards = flops[_part(len(flops), flop_points)]
        for points in later_points:
            in_deck = np.ones((count, DECK), dtype=np.bool_)
            np.put_along_axis(in_deck, boards.astype(np.int64), False, axis=1)
            cards = np.nonzero(in_deck)[1].reshape(count, -1)  # [B, cards in the deck], lowest first
            drawn = _part(cards.shape[1], points[random.permutation(count)])
            boards = np.hstack([boards, cards[np.arange(count), drawn][:, None].astype(np.uint8)])
        return boards

    def draw(self, iteration: int) -> Runouts:
        """The batch of an iteration."""
        boards = self.boards(iteration)
        maps = (self.buckets.of(boards[:1, :0]), *(self.buckets.of(boards[:, :size]) for size in SIZES))
        strength = np.where(maps[-1] == DEAD, DEAD, hand_strengths(boards)).astype(np.int32)
        weight = np.ones((4, self.count))
        weight[1:] = np.array(WEIGHTS)[:, None]
        weight[1] /= self.count
        return Runouts(weight, (maps, maps), (strength, strength))


def _part(number: int, points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Which of this many equal parts of [0, 1) each point is in."""
    return np.minimum((number * points).astype(np.int64), number - 1)


@cache
def flops_in_order() -> NDArray[np.uint8]:
    """[22100, 3] every flop; those that differ only in the names of the suits are next to each other."""
    flops = np.array(list(combinations(range(DECK), 3)), dtype=np.uint8)
    flops = flops[np.argsort(board_rows(flops), kind="stable")]
    flops.flags.writeable = False
    return flops


def blocked(boards: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """[n, 1326] hands that share a card with a board."""
    on_board = np.zeros((len(boards), DECK), dtype=np.bool_)
    np.put_along_axis(on_board, boards.astype(np.int64), True, axis=1)
    return np.asarray(on_board[:, HAND_CARDS].any(axis=2))


def acting_streets(tree: BettingTree) -> dict[StreetName, bool]:
    """Whether anybody acts on each street after the deal."""
    acts = tree.street[tree.kind == NodeKind.DECISION]
    return {street: bool((acts == number).any()) for number, street in enumerate(STREETS, start=1)}


def game_buckets(
    game: HoldemGame, abstraction: Lookup | None, covered: tuple[StreetName, ...], choice: str = ""
) -> GameBuckets:
    """The buckets of a game; `covered` are the streets of the abstraction. Refuses one that lacks a street.

    `choice` is the user's text for the abstraction, which the error shows; by default, its streets.
    """
    acting = acting_streets(betting_of(game).tree)
    for street in STREETS:
        if acting[street] and street not in covered:
            choice = choice or ", ".join(covered) or "none"
            raise InvalidOption("buckets", choice, f"has no buckets for the {street}, on which the players act")
    return GameBuckets(abstraction, acting)


def make_form(game: HoldemGame, buckets: GameBuckets, *, count: int, seed: int) -> BucketedForm:
    """The form of a game, with `count` boards per iteration; payoffs in chips, values in big blinds."""
    betting, everything = betting_of(game), Range.parse("100%")
    hands = np.arange(HAND_COUNT)
    return BucketedForm(
        name=game.name or "hold'em",
        deck=DECK,
        tree=betting.tree,
        hands=hands_of((hands, hands), everything, everything),
        payoffs=betting.payoffs,
        buckets=(buckets.counts, buckets.counts),
        runouts=DrawnBoards(buckets, count=count, seed=seed),
        unit=game.big_blind,
    )

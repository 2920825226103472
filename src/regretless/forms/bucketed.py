"""The bucketed form: the public form with runouts drawn at random and hands in buckets.

A public form has every runout of every street. For hold'em from the deal there are billions, so two things change:

1. Runouts are *drawn*. A batch has B of them, each with one deal per street. Where a street begins, the reach of its
   hands is multiplied by the runout's weight, the probability of the deal divided by the probability of drawing it,
   and by 0 where the deal blocks the hand. Every pair of hands then meets each deal that blocks neither with the right
   probability on average, so the values of a batch are unbiased: their mean over all batches is that of the public
   form. What happens before the first deal depends on no draw and is exact.
2. Regrets and averages are stored per *bucket*, not per runout and hand: K buckets on a street, and for each runout
   a map from hands to buckets. A map may also be lossless, with one bucket for every hand of every runout.

With n deals equally likely to be drawn, and each dealt with probability p to hands that it does not block, the weight
of a deal is n · p; the weights of the first deal are also divided by B. In hold'em, a turn is drawn from 49 cards and
dealt from the 45 that two hands leave, so it weighs 49 / 45.

Runouts of a public form are drawn evenly (`DrawnRunouts`). Draws are numbered 0, 1, 2, … over all iterations. With n_1
deals on the first street that has any,

    draw d    takes deal d mod n_1 of a random order of those deals, which changes every n_1 draws,

so the deal has come up v = ⌊d / n_1⌋ times before. Below that deal, the next street takes deal v mod n_2 of an order of
its own in the same way, and so on. Each draw by itself is uniform, and in every cycle of n_1 · n_2 · … draws each
runout comes up exactly once. All orders follow from the seed, so a batch is a function of its iteration.

A form stores equivalent deals once, with the permutations of hands that give the others. All of them are drawn: with π
the permutation, hand h has on the deal the strength and the bucket that π(h) has on the stored runout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from regretless.errors import InvalidOption
from regretless.forms.history import AnyArray, FloatArray, IntArray
from regretless.forms.public import DEAD, BettingTree, Hands, Payoffs, PublicForm
from regretless.reprs import brief
from regretless.seeds import check_seed

__all__ = [
    "BucketMaps", "BucketedForm", "DrawnRunouts", "RunoutSource", "Runouts", "bucketed_form", "deal_order", "lossless",
]  # fmt: skip


@dataclass(frozen=True)
class Runouts:
    """A batch of B runouts in a game with S streets. Street 0 has no cards, so all runouts share its maps."""

    weight: FloatArray  # [S, B]  multiplies the reach where a street begins; 1 on street 0
    bucket: tuple[tuple[IntArray, ...], tuple[IntArray, ...]]  # per player and street, [B, H]; [1, H] on street 0
    strength: tuple[IntArray, IntArray]  # [B, H] per player: larger wins, equal ties

    __repr__ = brief


class RunoutSource(Protocol):
    """Where runouts come from. A hand that a runout blocks has bucket and strength `DEAD`."""

    @property
    def count(self) -> int:
        """Runouts per batch."""

    def draw(self, iteration: int) -> Runouts:
        """The batch of an iteration (1, 2, …): a function of nothing else, so that a solve can be resumed."""


@dataclass(frozen=True)
class BucketedForm:
    """A two-player poker game as arrays, except for its runouts."""

    name: str
    deck: int  # number of cards: 52 in hold'em
    tree: BettingTree
    hands: tuple[Hands, Hands]
    payoffs: Payoffs
    buckets: tuple[tuple[int, ...], tuple[int, ...]]  # per player: their number on each street
    runouts: RunoutSource
    unit: float = 1.0  # chips in the unit that values of the whole game are given in, such as a big blind

    __repr__ = brief


# --- from a public form -----------------------------------------------------------------------------------------------

# Per player and street, [R, H] the bucket of each hand on each runout of a form; what it says of dead hands is ignored.
BucketMaps = tuple[tuple[IntArray, ...], tuple[IntArray, ...]]


def bucketed_form(
    form: PublicForm, maps: BucketMaps, *, buckets: Sequence[Sequence[int]] | None = None, count: int, seed: int = 0
) -> BucketedForm:
    """A public form with buckets and with `count` runouts drawn per iteration.

    `buckets` are their numbers per player and street, by default the largest bucket of each map plus 1.

    >>> from regretless.forms.public_poker import compile_public
    >>> from regretless.games import Leduc
    >>> form = compile_public(Leduc())
    >>> bucketed = bucketed_form(form, lossless(form), count=3)
    >>> bucketed.buckets, bucketed.runouts.draw(1).weight[1]  # one of 6 cards is drawn, one of 4 is dealt
    (((6, 36), (6, 36)), array([0.5, 0.5, 0.5]))
    """
    if count < 1:
        raise InvalidOption("sample_runouts", count, "must be at least 1")
    check_seed(seed, bits=32)
    if buckets is None:
        buckets = [[int(map_.max()) + 1 for map_ in of_player] for of_player in maps]
    return BucketedForm(
        name=form.name,
        deck=form.deck,
        tree=form.tree,
        hands=form.hands,
        payoffs=form.payoffs,
        buckets=(tuple(buckets[0]), tuple(buckets[1])),
        runouts=DrawnRunouts(form, maps, count=count, seed=seed),
        unit=form.unit,
    )


def lossless(form: PublicForm) -> BucketMaps:
    """One bucket for each hand on each runout; equivalent hands share one."""

    def maps_of(player: int) -> tuple[IntArray, ...]:
        alike = form.symmetry.hands[player].astype(np.int32)
        hands = alike.shape[1]
        first = [np.arange(len(street.parent), dtype=np.int32)[:, None] * hands for street in form.streets]
        return tuple(begin + alike[street.symmetry] for begin, street in zip(first, form.streets, strict=True))

    return maps_of(0), maps_of(1)


class DrawnRunouts:
    """Batches of runouts of a public form."""

    def __init__(self, form: PublicForm, maps: BucketMaps, *, count: int, seed: int) -> None:
        self.form, self.count, self.seed = form, count, seed
        self._maps = tuple(
            tuple(
                np.where(street.dead[player], DEAD, map_).astype(np.int32)
                for street, map_ in zip(form.streets, maps[player], strict=True)
            )
            for player in range(2)
        )
        self._deals = [_Deals(form, street) for street in range(1, len(form.streets))]

    def draw(self, iteration: int) -> Runouts:
        """The batch of an iteration."""
        form, count = self.form, self.count
        runout = np.zeros(count, dtype=np.int64)
        hands: list[AnyArray] = [np.arange(len(each.weight))[None].repeat(count, axis=0) for each in form.hands]
        path = np.zeros(count, dtype=np.int64)  # numbers the sequence of deals so far
        visits = (iteration - 1) * count + np.arange(count, dtype=np.int64)  # of that sequence
        weight: FloatArray = np.ones((len(form.streets), count))
        buckets: tuple[list[IntArray], list[IntArray]] = ([self._maps[0][0]], [self._maps[1][0]])
        for street, deals in enumerate(self._deals, start=1):
            cycle, turn = visits // deals.number, visits % deals.number
            draws = zip(path.tolist(), cycle.tolist(), turn.tolist(), strict=True)
            chosen = np.array(
                [deal_order(self.seed, street, *order, deals.number)[position] for *order, position in draws]
            )
            path, visits = path * deals.number + chosen, cycle
            runout, copy, deal_weights = (each[runout, chosen] for each in (deals.runout, deals.copy, deals.weight))
            weight[street] = deal_weights / (count if street == 1 else 1)
            for player in range(2):
                hands[player] = np.take_along_axis(form.permutations[player][copy], hands[player], axis=1)
                buckets[player].append(np.take_along_axis(self._maps[player][street][runout], hands[player], axis=1))
        first, second = (
            np.take_along_axis(form.strength[player][runout], hands[player], axis=1) for player in range(2)
        )
        return Runouts(weight, (tuple(buckets[0]), tuple(buckets[1])), (first, second))


class _Deals:
    """The deals of a street below each of the R runouts of the street before: n of them, equivalent ones included."""

    def __init__(self, form: PublicForm, street: int) -> None:
        street_deals, before = form.streets[street], form.streets[street - 1]
        copies = np.diff(street_deals.first_copy)
        runout_of = np.repeat(np.arange(len(street_deals.parent)), copies)  # of every deal
        numbers = np.bincount(street_deals.parent[runout_of], minlength=len(before.parent))
        if len(set(numbers.tolist())) != 1:
            raise InvalidOption("sample_runouts", street, "is a street whose runouts have different numbers of deals")
        self.number = int(numbers[0])
        self.runout = runout_of.reshape(-1, self.number)  # [R, n]
        self.copy = street_deals.copies.astype(np.int64).reshape(-1, self.number)  # [R, n]
        self.weight = self.number * street_deals.probability[self.runout]  # [R, n]


@lru_cache(maxsize=4096)
def deal_order(seed: int, street: int, path: int, cycle: int, number: int) -> list[int]:
    """A random order of so many deals that follow those in `path`. NumPy guarantees that `RandomState` is stable."""
    words = [seed, street, path % 2**32, path // 2**32, cycle % 2**32, cycle // 2**32]
    order: list[int] = np.random.RandomState(words).permutation(number).tolist()
    return order

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
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import BettingTree, Hands, Payoffs
from regretless.reprs import brief

__all__ = ["BucketedForm", "RunoutSource", "Runouts"]


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

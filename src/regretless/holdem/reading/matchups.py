"""The reach that each hand faces, beats or ties: running sums instead of tables of pairs.

With r the opponent's reach, P its running sum in order of strength, and C the running sums of the reach that contains a
given card, a hand h with cards c and d faces, among the hands weaker than itself,

    W(h) = P[weaker than h] − C_c[weaker than h] − C_d[weaker than h]

and E(h) is the same with "weaker or equal", V(h) with all hands. The opponent's hand with the same two cards is as
strong as h: it is subtracted twice in E and V, so it is added back once.

Where h blocks nearly all of the reach, these sums cancel and mostly rounding error remains. Such hands are rare and
are compared pair by pair instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regretless.forms.blockers import compatible, met, nearly_blocked, same_reach
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import Hands

__all__ = ["Met", "Showdown"]

_STEP = 1 << 20  # above every strength, so that keys of different cards never mix


class Met(NamedTuple):
    """[rows, H] reach of weaker hands, of weaker or equal ones, and of all that share no card."""

    weaker: FloatArray
    not_stronger: FloatArray
    all: FloatArray


class Showdown:
    """Which hands beat which on a final board, from one player's point of view."""

    def __init__(self, own: Hands, other: Hands, own_strength: IntArray, other_strength: IntArray, deck: int) -> None:
        self.own, self.other, self.deck = own, other, deck
        self.own_strength, self.other_strength = own_strength, other_strength
        self.alive = own_strength >= 0
        living = np.flatnonzero(other_strength >= 0)
        self.order = living[np.argsort(other_strength[living], kind="stable")]
        strength = other_strength[self.order].astype(np.int64)
        mine = own_strength.astype(np.int64)
        keys = (other.cards[self.order].astype(np.int64) * _STEP + strength[:, None]).T.ravel()
        by_key = np.argsort(keys, kind="stable")
        self.by_card = by_key % len(self.order)  # positions in `order`, card by card, weakest first
        keys = keys[by_key]
        cards = own.cards.astype(np.int64) * _STEP
        self.start = np.searchsorted(keys, cards)  # [H, 2] where the hands with each own card begin
        self.until = [np.searchsorted(strength, mine, side) for side in ("left", "right")]
        self.card_until = [np.searchsorted(keys, cards + mine[:, None], side) for side in ("left", "right")]

    def met(self, reach: FloatArray) -> Met:
        """For rows of reach [rows, H of the opponent]; dead hands face nothing."""
        sorted_reach = reach[:, self.order]
        running = _running(sorted_reach)
        cards = _running(sorted_reach[:, self.by_card])
        begun = cards[:, self.start[:, 0]] + cards[:, self.start[:, 1]]
        weaker, not_stronger = (
            running[:, until] - cards[:, card_until[:, 0]] - cards[:, card_until[:, 1]] + begun
            for until, card_until in zip(self.until, self.card_until, strict=True)
        )
        live = np.zeros_like(reach)
        live[:, self.order] = sorted_reach
        everyone = met(self.own, self.other, live, self.deck)
        not_stronger += same_reach(self.own, live)
        little = nearly_blocked(everyone, live) & self.alive
        if little.any():
            free, mine = compatible(self.own, self.other)[little], self.own_strength[little, None]
            weaker[:, little] = live @ (free & (self.other_strength < mine)).T
            not_stronger[:, little] = live @ (free & (self.other_strength <= mine)).T
        return Met(weaker * self.alive, not_stronger * self.alive, everyone * self.alive)


def _running(values: FloatArray) -> FloatArray:
    """[rows, n + 1] sums of the first 0, 1, … n."""
    sums = np.zeros((values.shape[0], values.shape[1] + 1))
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return sums

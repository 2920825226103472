"""How much of the opponent's range a hand can face, given that hands that share a card exclude each other.

With r the opponent's reach, S[c] the part of it that contains card c, and h a hand with cards c and d,

    met(h)  =  Σ r  −  S[c]  −  S[d]  +  r[same two cards]

Where blockers leave almost nothing, the difference is mostly rounding error, so the rest is summed hand by hand. In 64
bits a sum is exact to 1e-16, so a remainder of at least `MIN_REMAINDER` of it has ten correct digits.

Blockers are computed only here, except where that is impossible: `cards.equity` is in a lower layer, the kernels of the
public engines sum in their own order, and `holdem.unmerged` shares no code with what it checks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regretless.forms.history import FloatArray
from regretless.forms.public import Hands

__all__ = ["compatible", "met", "nearly_blocked", "same_reach"]

MIN_REMAINDER = 1e-6  # of the total reach; a smaller remainder is summed directly


def met(own: Hands, other: Hands, reach: FloatArray, deck: int) -> FloatArray:
    """[rows, H] reach [rows, H of the other] that each hand can face; exactly 0 where there is none.

    >>> hands = Hands(weight=np.ones(2), cards=np.array([[0, 1], [2, 3]]), same=np.array([0, 1]))
    >>> met(hands, hands, np.array([[0.25, 1.0]]), deck=4)
    array([[1.  , 0.25]])
    """
    cards = other.cards.T.ravel()
    if cards.min(initial=0) < 0:  # one-card hands have no second card to block
        cards = np.where(cards < 0, deck, cards)
    by_card = np.zeros((len(reach), deck + 1))
    for row, weights in zip(by_card, reach, strict=True):
        row[:] = np.bincount(cards, np.concatenate((weights, weights)), minlength=deck + 1)
    by_card[:, deck] = 0.0
    total = reach.sum(axis=1, keepdims=True)
    first, second = (by_card.take(own.cards[:, column], axis=1) for column in range(2))
    remaining: FloatArray = total - first - second + same_reach(own, reach)
    inexact = nearly_blocked(remaining, reach)
    if inexact.any():
        remaining[:, inexact] = reach @ compatible(own, other)[inexact].T
    return remaining


def nearly_blocked(remaining: FloatArray, reach: FloatArray) -> NDArray[np.bool_]:
    """[H] hands that face so little in some row that a difference of sums is inaccurate; `remaining` is [rows, H]."""
    inexact: NDArray[np.bool_] = (remaining < MIN_REMAINDER * reach.sum(axis=1, keepdims=True)).any(axis=0)
    return inexact


def same_reach(own: Hands, reach: FloatArray) -> FloatArray:
    """[rows, H] the opponent's reach with the same two cards."""
    return np.where(own.same >= 0, reach.take(own.same, axis=1), 0.0)


def compatible(own: Hands, other: Hands) -> NDArray[np.bool_]:
    """[H, H of the other] whether two hands share no card."""
    shared = np.zeros((len(own.cards), len(other.cards)), dtype=np.bool_)
    for own_card in own.cards.T[:, :, None]:
        for other_card in other.cards.T:
            shared |= (own_card == other_card) & (own_card >= 0)
    return ~shared

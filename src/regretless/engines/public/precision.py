"""How large the values of a form are, and how many of their digits survive: what decides number formats and units."""

from __future__ import annotations

import numpy as np

from regretless.forms.blockers import met
from regretless.forms.history import FloatArray
from regretless.forms.public import Hands, PublicForm

__all__ = ["largest_value", "met_weights", "needs_wide_tiles"]

MOST_CANCELLED = 8  # times what is left, over all pairs of hands, before terminals need 64-bit numbers
MOST_CANCELLED_OF_A_HAND = 1000  # the same for a single hand, whose strategy alone would suffer


def met_weights(hands: tuple[Hands, Hands], deck: int) -> tuple[FloatArray, FloatArray]:
    """[H] of each player: weight of the other range that shares no card with each hand."""
    first, second = (met(hands[own], hands[1 - own], hands[1 - own].weight[None], deck)[0] for own in range(2))
    return first, second


def largest_value(form: PublicForm, met: FloatArray, own: int) -> float:
    """The most that a hand of a player can win or lose in one iteration; `met` [H] is the weight that each hand meets.

    Values of one player are in proportion to the other's weights, so each player needs a unit of their own: in one unit
    for both, those of the player who meets the lighter range could be too small for a half.
    """
    return float(np.abs([form.payoffs.win[:, own], form.payoffs.lose[:, own]]).max() * met.max())


def needs_wide_tiles(hands: tuple[Hands, Hands], met: tuple[FloatArray, FloatArray]) -> bool:
    """Whether sums over the range minus sums over blockers would leave too few of 24 bits.

    `met` [H] of each player is the weight that each hand meets. Two measures of how much larger the sums are than what
    is left of them: over all pairs of hands, from which exploitability is computed, and for the worst hand.
    """
    weights = [float(held.weight.sum()) for held in hands]
    pairs = float(hands[0].weight @ met[0])
    worst = max(
        float(np.max(weights[1 - own] / met[own][(met[own] > 0) & (hands[own].weight > 0)], initial=1.0))
        for own in range(2)
    )
    return weights[0] * weights[1] > MOST_CANCELLED * pairs or worst > MOST_CANCELLED_OF_A_HAND

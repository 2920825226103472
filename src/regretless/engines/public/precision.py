"""How large the values of a form are, and how many digits survive: this decides number formats and units."""

from __future__ import annotations

import numpy as np

from regretless.forms.blockers import met
from regretless.forms.history import FloatArray
from regretless.forms.public import Hands, PublicForm

__all__ = ["largest_value", "met_weights", "needs_wide_tiles"]

MOST_CANCELLED = 8  # ratio of sums to what remains of them, over all pairs of hands, that still allows 32 bits
MOST_CANCELLED_OF_A_HAND = 1000  # the same for a single hand, since only its own strategy would suffer


def met_weights(hands: tuple[Hands, Hands], deck: int) -> tuple[FloatArray, FloatArray]:
    """[H] per player: weight of the other range that shares no card with each hand."""
    first, second = (met(hands[own], hands[1 - own], hands[1 - own].weight[None], deck)[0] for own in range(2))
    return first, second


def largest_value(form: PublicForm, met: FloatArray, own: int) -> float:
    """The most that a player's hand can win or lose in one iteration; `met` [H] is the opposing weight it faces.

    One player's values are proportional to the other's weights, so each player has their own unit: with a common one,
    the values of the player who faces the lighter range could be too small for half precision.
    """
    return float(np.abs([form.payoffs.win[:, own], form.payoffs.lose[:, own]]).max() * met.max())


def needs_wide_tiles(hands: tuple[Hands, Hands], met: tuple[FloatArray, FloatArray]) -> bool:
    """Whether sums over the range minus sums over blockers would leave too few of 24 bits.

    `met` [H] per player is the opposing weight that each hand faces. The ratio of sums to what remains of them is
    measured over all pairs of hands, which determine exploitability, and for the worst hand.
    """
    weights = [float(held.weight.sum()) for held in hands]
    pairs = float(hands[0].weight @ met[0])
    worst = max(
        float(np.max(weights[1 - own] / met[own][(met[own] > 0) & (hands[own].weight > 0)], initial=1.0))
        for own in range(2)
    )
    return weights[0] * weights[1] > MOST_CANCELLED * pairs or worst > MOST_CANCELLED_OF_A_HAND

"""Discounted CFR (Brown & Sandholm, AAAI 2019, arXiv 1809.04040), and linear CFR, its special case.

At iteration t, before the new regret r is added:

    R ← R · (t−1)^α / ((t−1)^α + 1)    where R > 0
    R ← R · (t−1)^β / ((t−1)^β + 1)    where R < 0
    S ← S · ((t−1) / t)^γ + π_i · σ

The paper discounts after adding, with index t; shifting the index by one gives the same sequence of strategies and
lets one pass over memory do both. The next strategy is matched on regrets that already carry the next discount: a
common factor, which changes only the rounding and makes it that of the paper's order. Linear CFR is α = β = γ = 1: the
discount is then (t−1)/t for everything.

A delay d replaces t−1 by max(t−1−d, 0) where regrets are discounted, but not in the average. With d = 1, the positive
regrets of the first iteration, against a uniform opponent, are forgotten in the second. (While the discount is 0, the
next strategy is matched on undiscounted regrets.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from regretless.errors import InvalidOption
from regretless.variants.variant import Weights

__all__ = ["Discounted", "discount"]


@dataclass(frozen=True, kw_only=True)
class Discounted:
    """Discounted CFR; the defaults are the paper's recommendation.

    >>> weights = Discounted().weights(2)
    >>> weights.positive_discount, weights.negative_discount, weights.average_decay
    (0.5, 0.5, 0.25)
    """

    alpha: float = 1.5  # exponent for positive regrets; larger forgets less
    beta: float = 0.0  # exponent for negative regrets; 0 halves them every iteration
    gamma: float = 2.0  # exponent of the average; 0 weights all iterations equally
    delay: int = 0  # iterations by which regret discounts lag; 1 forgets the regrets of the first

    def __post_init__(self) -> None:
        if self.gamma < 0:
            raise InvalidOption("gamma", self.gamma, "must be at least 0")
        if self.delay < 0:
            raise InvalidOption("delay", self.delay, "must be at least 0")

    def weights(self, t: int) -> Weights:
        done = max(t - 1 - self.delay, 0)
        return Weights(
            positive_discount=discount(done, self.alpha),
            negative_discount=discount(done, self.beta),
            average_decay=((t - 1) / t) ** self.gamma,
            prediction_discount=discount(t - self.delay, self.alpha) if t > self.delay else 1.0,
        )


def discount(iterations: int, exponent: float) -> float:
    """t^e / (t^e + 1) after t iterations; 1 if t^e is infinite."""
    if iterations == 0 and exponent < 0:
        return 1.0
    power = float(iterations) ** exponent
    return 1.0 if math.isinf(power) else power / (power + 1.0)

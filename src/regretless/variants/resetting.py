"""Discounted CFR that restarts its average at powers of 4, as postflop-solver does (b-inary, 2022).

Iterations counted from 0, u = t − 1, and p the largest power of 4 not above u (0 where u = 0):

    R ← R · (u−1)^α / ((u−1)^α + 1)    where R > 0; 0 where u ≤ 1
    R ← R · (u−1)^β / ((u−1)^β + 1)    where R < 0
    S ← S · ((u−p) / (u−p+1))^γ + π_i · σ

with α = 1.5, β = 0 and γ = 3. The decay is 0 at u = 0, 1, 4, 16, 64, …: earlier strategies are forgotten, and those
since then weigh 1, 2³, 3³, … The discounts of regrets are those of Brown & Sandholm (AAAI 2019, arXiv 1809.04040), one
iteration late, so that the regrets against the first, uniform strategy are forgotten too. There is no paper; the
equations come from its source code, which leaves the own reach π_i out of the average. Here it is kept.

Kept for comparison: `benchmarks/holdem_variants.py` measures it beside the presets.
"""

from __future__ import annotations

from dataclasses import dataclass

from regretless.errors import InvalidOption
from regretless.variants.discounted import discount
from regretless.variants.variant import Weights

__all__ = ["Resetting"]


@dataclass(frozen=True, kw_only=True)
class Resetting:
    """Discounted CFR whose average restarts at powers of 4."""

    alpha: float = 1.5  # exponent for positive regrets; larger forgets less
    beta: float = 0.0  # exponent for negative regrets; 0 halves them every iteration
    gamma: float = 3.0  # exponent of the average since the last reset; 0 weights all iterations equally

    def __post_init__(self) -> None:
        if self.gamma < 0:
            raise InvalidOption("gamma", self.gamma, "must be at least 0")

    def weights(self, t: int) -> Weights:
        done = t - 1
        since = done - _power_of_4(done)
        return Weights(
            positive_discount=discount(max(done - 1, 0), self.alpha),
            negative_discount=discount(max(done - 1, 0), self.beta),
            average_decay=(since / (since + 1)) ** self.gamma if since else 0.0,
        )


def _power_of_4(number: int) -> int:
    """The largest power of 4 up to a number; 0 for 0."""
    return 1 << ((number.bit_length() - 1) & ~1) if number else 0

"""Discounted CFR with exponents that change as it runs: HS-DCFR (Zhang, McAleer & Sandholm, 2024, arXiv 2404.09097).

With n iterations in total, u = t − 1 of them done and x = u / n (at most 1):

    α = 1 + 3x    β = −1 − 2x    γ = γ₀ − 5x    where γ₀ = 30 in the paper
    R ← R · u^α / (u^α + 1)      where R > 0
    R ← R · u^β / (u^β + 1)      where R < 0
    S ← S · (u / t)^γ + π_i · σ
    next σ ∝ R⁺ · t^α′ / (t^α′ + 1)    where α′ is the α of iteration t + 1

As in `discounted`, the paper discounts after adding, with index t; here the index is shifted by one, and the next
strategy is matched on regrets that already carry the next discount. The horizon n must
be known from the start, so this suits a solve of a given number of iterations, not one that runs to a target.
Beyond the horizon the exponents stay constant.
"""

from __future__ import annotations

from dataclasses import dataclass

from regretless.errors import InvalidOption
from regretless.variants.discounted import discount
from regretless.variants.variant import Weights

__all__ = ["Scheduled"]


@dataclass(frozen=True, kw_only=True)
class Scheduled:
    """HS-DCFR: forgets much at first and little at the end."""

    horizon: int  # iterations of the whole solve
    gamma: float = 30.0  # exponent of the average at the start; it ends 5 lower

    def __post_init__(self) -> None:
        if self.horizon < 1:
            raise InvalidOption("horizon", self.horizon, "must be at least 1")
        if self.gamma < 5:
            raise InvalidOption("gamma", self.gamma, "must be at least 5")

    def weights(self, t: int) -> Weights:
        done = t - 1
        x = self._share_done(done)
        return Weights(
            positive_discount=discount(done, 1 + 3 * x),
            negative_discount=discount(done, -1 - 2 * x),
            average_decay=(done / t) ** (self.gamma - 5 * x),
            prediction_discount=discount(t, 1 + 3 * self._share_done(t)),
        )

    def _share_done(self, iterations: int) -> float:
        return min(iterations / self.horizon, 1.0)

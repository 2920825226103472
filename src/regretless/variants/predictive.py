"""Predictive CFR: play as if the last regret were about to occur again.

PCFR+ (Farina, Kroer & Sandholm, AAAI 2021, arXiv 2007.14358):

    R ← max(R + r, 0)
    next σ ∝ max(R + r, 0)            the regret r just observed is added once more
    S ← S + t² · π_i · σ

PDCFR+ (Xu et al., IJCAI 2024, arXiv 2404.13891), with α = 2.3 and γ = 5:

    R ← max(R · (t−1)^α / ((t−1)^α + 1) + r, 0)
    next σ ∝ max(R · t^α / (t^α + 1) + r, 0)
    S ← S · ((t−1) / t)^γ + π_i · σ

The prediction of the next regret is the last regret, as in both papers' experiments.
"""

from __future__ import annotations

from dataclasses import dataclass

from regretless.errors import InvalidOption
from regretless.variants.discounted import discount
from regretless.variants.variant import Weights

__all__ = ["PredictiveDiscountedPlus", "PredictivePlus"]


@dataclass(frozen=True, kw_only=True)
class PredictivePlus:
    """PCFR+ with the quadratic average of its paper."""

    power: float = 2.0  # iteration t has weight t^power in the average; 0 weights all equally

    def __post_init__(self) -> None:
        if self.power < 0:
            raise InvalidOption("power", self.power, "must be at least 0")

    def weights(self, t: int) -> Weights:
        return Weights(floor=True, prediction=1.0, average_weight=float(t) ** self.power)


@dataclass(frozen=True, kw_only=True)
class PredictiveDiscountedPlus:
    """PDCFR+: predictive, discounted, floored at 0."""

    alpha: float = 2.3  # exponent of the regret discount; larger forgets less
    gamma: float = 5.0  # exponent of the average; 0 weights all iterations equally

    def __post_init__(self) -> None:
        if self.gamma < 0:
            raise InvalidOption("gamma", self.gamma, "must be at least 0")

    def weights(self, t: int) -> Weights:
        return Weights(
            positive_discount=discount(t - 1, self.alpha),
            floor=True,
            average_decay=((t - 1) / t) ** self.gamma,
            prediction=1.0,
            prediction_discount=discount(t, self.alpha),
        )

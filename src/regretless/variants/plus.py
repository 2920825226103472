"""CFR+ (Tammelin, 2014, arXiv 1407.5042).

    R ← max(R + r, 0)
    S ← S + w_t · π_i · σ        w_t = t^power, or max(t − delay, 0)^power

The paper's weight is max(t − d, 0) with a delay d. Power 1 without delay is OpenSpiel's CFR+; power 2 is the quadratic
average that Brown & Sandholm (2019) found better in practice.
"""

from __future__ import annotations

from dataclasses import dataclass

from regretless.errors import InvalidOption
from regretless.variants.variant import Weights

__all__ = ["Plus"]


@dataclass(frozen=True, kw_only=True)
class Plus:
    """CFR+: regrets never fall below 0, and later strategies weigh more."""

    power: float = 1.0  # iteration t has weight t^power in the average; 0 weights all equally
    delay: int = 0  # iterations left out of the average

    def __post_init__(self) -> None:
        if self.power < 0:
            raise InvalidOption("power", self.power, "must be at least 0")
        if self.delay < 0:
            raise InvalidOption("delay", self.delay, "must be at least 0")

    def weights(self, t: int) -> Weights:
        counted = t - self.delay
        return Weights(floor=True, average_weight=float(counted) ** self.power if counted > 0 else 0.0)

"""Counterfactual regret minimization as originally published (Zinkevich et al., NeurIPS 2007).

    R ← R + r
    S ← S + π_i · σ

Regrets are never discounted and every iteration weighs the same. The paper updates all players at once; whether
players are updated at once or in turn is the solver's choice, not the variant's.
"""

from __future__ import annotations

from dataclasses import dataclass

from regretless.variants.variant import Weights

__all__ = ["Vanilla"]


@dataclass(frozen=True)
class Vanilla:
    """CFR without discounts."""

    def weights(self, t: int) -> Weights:
        return Weights()

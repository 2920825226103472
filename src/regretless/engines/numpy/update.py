"""The seven numbers of a variant in array operations, for one player's regrets and averages (`variants/variant.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless.variants.variant import Weights

__all__ = ["next_average", "next_regret", "to_match"]

Array = Any  # numpy.ndarray, or cupy.ndarray, on which these NumPy functions work as well


def next_regret(regret: Array, new: Array, weights: Weights) -> Array:
    """R ← R · (positive or negative discount) + r, not below 0 if the variant floors."""
    updated = regret * np.where(regret > 0, weights.positive_discount, weights.negative_discount) + new
    return np.maximum(updated, 0.0) if weights.floor else updated


def to_match(regret: Array, new: Array, weights: Weights) -> Array:
    """R · prediction_discount + prediction · r: what the next strategy is matched to."""
    return regret * weights.prediction_discount + weights.prediction * new


def next_average(average: Array, reach: Array, strategy: Array, weights: Weights) -> Array:
    """S ← S · average_decay + average_weight · π · σ"""
    return average * weights.average_decay + weights.average_weight * reach * strategy

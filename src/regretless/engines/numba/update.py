"""The seven numbers of a variant, applied to one regret and one average in compiled code (`variants/variant.py`).

With r the new counterfactual regret and W · π · σ what is added to the average:

    R ← max(R · (positive or negative discount) + r, floor)      floor: 0, or −∞ where regrets may be negative
    S ← S · average_decay + W · π · σ
    next σ ∝ max(R · prediction_discount + prediction · r, 0)

Kernels of all forms call these functions for single numbers. The public form works on sixteen at a time and fuses each
product with its sum: `public/kernels/nodes.py` writes the same lines for vectors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.compiling import inlined

__all__ = ["StepWeights", "next_average", "next_regret", "step_weights", "to_match"]


class StepWeights(NamedTuple):
    """A variant's numbers for one iteration, in an engine's number format."""

    positive_discount: np.floating
    negative_discount: np.floating
    floor: np.floating  # 0, or −∞
    average_decay: np.floating
    average_weight: np.floating
    prediction: np.floating
    prediction_discount: np.floating


@inlined
def step_weights(row: np.void, like: NDArray[np.floating]) -> StepWeights:
    """A row of a schedule in the number format of an array."""
    number = like.dtype.type
    return StepWeights(
        number(row["positive_discount"]),
        number(row["negative_discount"]),
        number(0.0) if row["floor"] != 0.0 else number(-np.inf),
        number(row["average_decay"]),
        number(row["average_weight"]),
        number(row["prediction"]),
        number(row["prediction_discount"]),
    )


@inlined
def next_regret(regret: np.floating, new: np.floating, weights: StepWeights) -> np.floating:
    """R after an iteration that adds `new`."""
    discount = weights.positive_discount if regret > 0.0 else weights.negative_discount
    return max(regret * discount + new, weights.floor)


@inlined
def to_match(regret: np.floating, new: np.floating, weights: StepWeights) -> np.floating:
    """What the next strategy is matched to, from R after the iteration."""
    return regret * weights.prediction_discount + weights.prediction * new


@inlined
def next_average(average: np.floating, added: np.floating, weights: StepWeights) -> np.floating:
    """S after an iteration; `added` is W · π · σ."""
    return average * weights.average_decay + added

"""What a CFR variant is: seven numbers for every iteration.

With r the counterfactual regrets of iteration t, π the player's own reach and σ the strategy just played, an engine
computes, for every information set of the updating player:

    R ← R · positive_discount    where R > 0
    R ← R · negative_discount    where R < 0
    R ← R + r
    R ← max(R, 0)                if floor
    S ← S · average_decay + average_weight · π · σ
    next σ ∝ max(R · prediction_discount + prediction · r, 0), uniform over the legal actions where all are 0

Every variant in this package is a choice of these numbers, so an engine applies them in one pass over memory and
never asks which variant it runs.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from regretless.errors import InvalidOption

__all__ = ["ROW", "Schedule", "Variant", "Weights", "predicts", "schedule", "stores_predictions"]

MAX_CACHED_ROWS = 256  # iterations of a variant whose weights are computed once


class Weights(NamedTuple):
    """The numbers an engine applies in one iteration; the defaults are those of CFR as first published.

    All must be finite and at least 0; `schedule` checks them. A named tuple, because a long solve creates millions.
    """

    positive_discount: float = 1.0  # multiplies positive regrets before the new ones are added
    negative_discount: float = 1.0  # multiplies negative regrets before the new ones are added
    floor: bool = False  # whether regrets below 0 become 0 after adding
    average_decay: float = 1.0  # multiplies the sum of strategies before this one is added
    average_weight: float = 1.0  # weight of this iteration's strategy in that sum
    prediction: float = 0.0  # how many times this iteration's regret is added again for the next strategy; 0 or 1
    prediction_discount: float = 1.0  # multiplies the regrets when the next strategy is matched on them


ROW = np.dtype([(name, np.float64) for name in Weights._fields], align=True)  # one iteration; `floor` is 1 or 0
Schedule = NDArray[np.void]  # [iterations] of ROW: `schedule["floor"]` is a column, `schedule[0]["floor"]` a number


class Variant(Protocol):
    """A CFR variant. Iterations count from 1."""

    def weights(self, t: int) -> Weights:
        """Numbers an engine applies at iteration t (t = 1, 2, …)."""


def schedule(variant: Variant, first: int, count: int) -> Schedule:
    """Weights of iterations `first`, …, `first + count − 1`, one row each.

    >>> from regretless.variants import Plus
    >>> schedule(Plus(), first=3, count=2)["average_weight"]  # CFR+ weighs iteration t by t
    array([3., 4.])
    """
    if first + count <= MAX_CACHED_ROWS + 1 and type(variant).__hash__ not in (None, object.__hash__):
        with suppress(Exception):  # some parameter cannot be hashed, or there are weights for fewer iterations
            return _first_rows(cast(Hashable, variant))[first - 1 : first - 1 + count].copy()
    return _rows(variant, first, count)


def _rows(variant: Variant, first: int, count: int) -> Schedule:
    try:
        rows = [variant.weights(t) for t in range(first, first + count)]
    except OverflowError:
        raise InvalidOption("variant", variant, "has weights that are too large for a number") from None
    try:
        columns = np.array(rows, dtype=np.float64).reshape(count, len(Weights._fields))
    except (TypeError, ValueError, OverflowError):
        raise _refusal(rows, first) from None
    if not (np.isfinite(columns).all() and (columns >= 0).all()):
        raise _refusal(rows, first)
    return columns.view(ROW)[:, 0]


def _refusal(rows: Sequence[object], first: int) -> InvalidOption:
    """The first weights of iterations `first`, … that an engine cannot apply, and why."""
    for t, row in enumerate(rows, first):
        if not isinstance(row, tuple | list) or len(row) != len(Weights._fields):
            why = f"at iteration {t} must be Weights, {len(Weights._fields)} numbers: {', '.join(Weights._fields)}"
            return InvalidOption("variant", row, why)
        for name, number in zip(Weights._fields, row, strict=True):
            if not _is_weight(number):
                why = f"is the {name} of iteration {t}, but must be a number, at least 0 and finite"
                return InvalidOption("variant", number, why)
    raise AssertionError("every row can be applied")


def _is_weight(number: Any) -> bool:
    try:
        return 0 <= float(number) < math.inf
    except (TypeError, ValueError, OverflowError):  # not a number, or a whole one that no float can hold
        return False


@lru_cache(maxsize=16, typed=True)  # named tuples of different types may be equal
def _first_rows(variant: Variant) -> Schedule:
    """Those of a variant that is compared by its parameters: solves of a few hundred iterations are often repeated."""
    return _rows(variant, 1, MAX_CACHED_ROWS)


def predicts(schedule: Schedule) -> bool:
    """Whether strategies are matched to something else than the regrets.

    Without prediction, a positive factor on all regrets changes no strategy.
    """
    return bool(schedule["prediction"].any() or schedule["prediction_discount"].min(initial=1.0) <= 0)


def stores_predictions(variant: Variant) -> bool:
    """Whether predictions are stored beside the regrets from the first iteration on."""
    return predicts(schedule(variant, first=1, count=1))

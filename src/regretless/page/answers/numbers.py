"""Numbers for JSON: rounded to what a page can use, with null for what is unknown."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["rounded", "rounded_list"]

DECIMALS = 6


def rounded(value: float | None) -> float | None:
    """A number, or None if it is unknown.

    >>> rounded(1 / 3), rounded(float("nan"))
    (0.333333, None)
    """
    return None if value is None or not np.isfinite(value) else round(float(value), DECIMALS)


def rounded_list(values: NDArray[Any]) -> list[float | None]:
    """The numbers of a vector; None where unknown.

    >>> rounded_list(np.array([0.5, np.nan]))
    [0.5, None]
    """
    found: list[float | None] = np.round(values.astype(np.float64), DECIMALS).tolist()
    return [None if value != value else value for value in found] if np.isnan(values).any() else found

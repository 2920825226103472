"""From accumulated numbers to probabilities: each divided by their sum, uniform where the sum is 0."""

from __future__ import annotations

import numpy as np

from regretless.forms.history import AnyArray, FloatArray, IntArray

__all__ = ["MIN_NORMAL", "normalise", "normalise_columns"]

# The smallest normal number. Every engine, in its own number format, treats a smaller sum as 0: such a sum has lost
# precision, and 1 / sum overflows. Only a long chain of improbable moves makes one.
MIN_NORMAL = float(np.finfo(np.float64).tiny)


def normalise(sums: FloatArray, first: IntArray) -> FloatArray:
    """[…, Q] over pairs: those of information set i are first[i] : first[i + 1].

    >>> normalise(np.array([1.0, 3.0, 0.0, 0.0]), np.array([0, 2, 4]))
    array([0.25, 0.75, 0.5 , 0.5 ])
    """
    if not sums.size:
        return sums
    actions = np.diff(first)
    total = np.add.reduceat(sums, first[:-1], axis=-1)
    is_usable = total >= MIN_NORMAL
    factor = np.where(is_usable, 1.0 / np.where(is_usable, total, 1.0), 0.0)
    uniform = np.where(is_usable, 0.0, 1.0 / actions)
    shares: FloatArray = sums * np.repeat(factor, actions, axis=-1) + np.repeat(uniform, actions, axis=-1)
    return shares


def normalise_columns(sums: AnyArray) -> FloatArray:
    """[…, actions, H] over the hands or buckets at a node.

    >>> normalise_columns(np.array([[1.0, 0.0], [3.0, 0.0]])).tolist()
    [[0.25, 0.5], [0.75, 0.5]]
    """
    wide = sums.astype(np.float64)
    total = wide.sum(axis=-2, keepdims=True)
    return np.where(total > 0, wide / np.where(total > 0, total, 1.0), 1.0 / wide.shape[-2])

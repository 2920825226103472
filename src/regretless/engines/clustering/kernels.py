"""Compiled loops of k-means.

Features and centroids are whole numbers whose squared lengths are at most 2²³. Then every product, partial sum and
half of a squared length is exact in float32, so the order of the arithmetic does not matter: it can be vectorised,
fused and shared among threads, and the results are equal to the last bit. (A GPU would compute the same.)

The nearest centroid c to a row x is the one with the largest x·c − |c|²/2; among equally near ones, the first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regretless.compiling import fast_kernel, kernel

__all__ = ["WIDTH", "add_rows", "assign_rows", "nearer", "own_distances"]

WIDTH = 8  # columns per pass; the number of columns must be a multiple


@fast_kernel
def assign_rows(
    features: NDArray[np.uint16],  # [rows, columns]
    columns: NDArray[np.float32],  # [columns, centroids]
    offsets: NDArray[np.float32],  # [centroids]  −|c|²/2
    scores: NDArray[np.float32],  # [centroids]  scratch
    labels: NDArray[np.uint16],  # [rows]  result
) -> None:
    """The nearest centroid of each row."""
    for row in range(len(features)):
        for one in range(len(scores)):
            scores[one] = offsets[one]
        for first in range(0, features.shape[1], WIDTH):  # eight columns at a time: fewer loads and stores of scores
            a, b = np.float32(features[row, first]), np.float32(features[row, first + 1])
            c, d = np.float32(features[row, first + 2]), np.float32(features[row, first + 3])
            e, f = np.float32(features[row, first + 4]), np.float32(features[row, first + 5])
            g, h = np.float32(features[row, first + 6]), np.float32(features[row, first + 7])
            a_column, b_column, c_column, d_column = (
                columns[first], columns[first + 1], columns[first + 2], columns[first + 3],
            )  # fmt: skip
            e_column, f_column, g_column, h_column = (
                columns[first + 4], columns[first + 5], columns[first + 6], columns[first + 7],
            )  # fmt: skip
            for one in range(len(scores)):
                scores[one] += (
                    a * a_column[one] + b * b_column[one] + c * c_column[one] + d * d_column[one]
                    + e * e_column[one] + f * f_column[one] + g * g_column[one] + h * h_column[one]
                )  # fmt: skip
        best = scores[0]
        for one in range(len(scores)):
            best = scores[one] if scores[one] > best else best  # noqa: FURB136  numba's max is slower: it checks for NaN
        nearest = 0
        while scores[nearest] != best:
            nearest += 1
        labels[row] = nearest


@kernel
def add_rows(
    features: NDArray[np.uint16],
    weights: NDArray[np.int64],  # [rows]
    labels: NDArray[np.uint16],  # [rows]
    sums: NDArray[np.int64],  # [centroids, columns]  added to
    totals: NDArray[np.int64],  # [centroids]  added to
) -> None:
    """Add each row to the sum of its cluster."""
    for row in range(len(features)):
        label = labels[row]
        totals[label] += weights[row]
        for column in range(features.shape[1]):
            sums[label, column] += weights[row] * features[row, column]


@kernel
def own_distances(
    features: NDArray[np.uint16],
    labels: NDArray[np.uint16],  # [rows]
    centroids: NDArray[np.uint16],  # [centroids, columns]
    distances: NDArray[np.int64],  # [rows]  result
) -> None:
    """The squared distance of each row to the centroid of its cluster."""
    for row in range(len(features)):
        distances[row] = squared_distance(features[row], centroids[labels[row]])


@kernel
def squared_distance(one: NDArray[np.uint16], other: NDArray[np.uint16]) -> int:
    total = np.int64(0)
    for column in range(len(one)):
        difference = np.int64(one[column]) - np.int64(other[column])
        total += difference * difference
    return int(total)


@kernel
def nearer(features: NDArray[np.uint16], centroid: NDArray[np.uint16], distances: NDArray[np.int64]) -> None:
    """Lower the squared distances [rows] to those to a new centroid, where it is nearer."""
    for row in range(len(features)):
        distances[row] = min(distances[row], squared_distance(features[row], centroid))

"""k-means on rows of whole numbers, with weights.

1. k-means++ (Arthur & Vassilvitskii, 2007): the first centroid is a random row; each further one is a row drawn in
   proportion to its weight times its squared distance to the nearest centroid so far.
2. Lloyd's iterations: assign every row to its nearest centroid; move each centroid to the weighted mean of its rows,
   rounded to whole numbers. A centroid that has lost all its rows moves to the row that is farthest from its own.
3. Stop when no centroid moves, or after `ITERATIONS`.

The same seed gives the same centroids whatever the number of threads, and on a GPU (`torch/clustering.py`): all sums
are exact. Features and centroids are whole numbers whose squared lengths are at most 2²³. Then every product, partial
sum and half of a squared length is exact in float32, so the order of the arithmetic does not matter: it can be
vectorised, fused and shared among threads, and the results are equal to the last bit.

The nearest centroid c to a row x is the one with the largest x·c − |c|²/2; among equally near ones, the first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from regretless.compiling import fast_kernel, kernel
from regretless.engines.threads import in_order
from regretless.errors import RegretlessError

__all__ = [
    "ITERATIONS",
    "MAX_CLUSTERS",
    "MAX_SQUARE",
    "WIDTH",
    "CentroidLookup",
    "CentroidSample",
    "TooFewRows",
    "add_rows",
    "assign_rows",
    "find_centroids",
    "nearer",
    "own_distances",
    "rounded_means",
]

WIDTH = 8  # columns per pass; the number of columns must be a multiple
ITERATIONS: Final = 50
MAX_SQUARE: Final = 2**23  # squared length of a row
MAX_CLUSTERS: Final = 2**16 - 1
BLOCK_ROWS = 8192  # per piece of work

Rows = NDArray[np.uint16]  # [rows, columns]


class TooFewRows(RegretlessError):
    """There are fewer different rows than requested clusters."""

    def __init__(self, requested: int, different: int) -> None:
        rows = f"the rows have only {different:,} different values"
        super().__init__(f"{requested:,} clusters were asked for, but {rows}")
        self.different = different


@dataclass(frozen=True)
class CentroidLookup:
    """Assigns rows to the nearest of some centroids; may be called from several threads."""

    centroids: Rows  # [centroids, columns]

    def __post_init__(self) -> None:
        exact = self.centroids.astype(np.float64)
        if self.centroids.shape[1] % WIDTH:
            raise ValueError(f"{self.centroids.shape[1]} columns: must be a multiple of {WIDTH}")
        object.__setattr__(self, "_columns", np.ascontiguousarray(exact.T, dtype=np.float32))
        object.__setattr__(self, "_offsets", (-(exact * exact).sum(axis=1) / 2).astype(np.float32))

    def labels(self, rows: Rows) -> NDArray[np.uint16]:
        """[rows] number of the nearest centroid; among equally near ones, the first."""
        nearest = np.empty(len(rows), dtype=np.uint16)
        columns: NDArray[np.float32] = self._columns  # type: ignore[attr-defined]
        offsets: NDArray[np.float32] = self._offsets  # type: ignore[attr-defined]
        assign_rows(rows, columns, offsets, np.empty(len(offsets), dtype=np.float32), nearest)
        return nearest


class CentroidSample(Protocol):
    """Weighted rows, and what k-means asks of them."""

    def total(self) -> int:
        """The weight of all rows or, once there are centroids, weight × squared distance to the nearest of them."""

    def draw(self, mass: int) -> NDArray[np.uint16]:
        """[columns] the row at which the running sum of what `total` adds up passes `mass`."""

    def add(self, centroid: NDArray[np.uint16]) -> None:
        """Take one more centroid into account."""

    def moved(self, centroids: Rows) -> Rows:
        """Where step 2 moves the centroids."""


class NumbaCentroidSample:
    """A sample on the processor."""

    def __init__(self, rows: Rows, weights: NDArray[np.int64], threads: int) -> None:
        self.rows, self.weights, self.threads = rows, weights, threads
        self._distances = np.full(len(rows), MAX_SQUARE, dtype=np.int64)
        self._sums = np.cumsum(weights)
        self._blocks = [rows[start : start + BLOCK_ROWS] for start in range(0, len(rows), BLOCK_ROWS)]

    def total(self) -> int:
        return int(self._sums[-1]) if len(self._sums) else 0

    def draw(self, mass: int) -> NDArray[np.uint16]:
        row: NDArray[np.uint16] = self.rows[np.searchsorted(self._sums, mass, side="right")]
        return row

    def add(self, centroid: NDArray[np.uint16]) -> None:
        nearer(self.rows, centroid, self._distances)
        self._sums = np.cumsum(self.weights * self._distances)

    def moved(self, centroids: Rows) -> Rows:
        labels = np.concatenate(list(in_order(CentroidLookup(centroids).labels, self._blocks, self.threads)))
        return _means(self.rows, self.weights, labels, centroids)


def find_centroids(
    rows: Rows,
    weights: NDArray[np.int64],
    count: int,
    *,
    seed: int,
    threads: int = 1,
    make: Callable[[Rows, NDArray[np.int64]], CentroidSample] | None = None,
    tell: Callable[[float], None] = lambda share: None,
) -> Rows:
    """[count, columns] centroids; `tell` is called with the share of the work that is done, and may raise to stop it.

    `make` puts the rows and their weights on another device; `threads` are not used then.
    """
    _check(rows, weights, count)
    sample = NumbaCentroidSample(rows, weights, threads) if make is None else make(rows, weights)
    centroids = _first_centroids(sample, rows.shape[1], count, seed, lambda share: tell(share / 2))
    for iteration in range(ITERATIONS):
        tell(0.5 + iteration / (2 * ITERATIONS))
        moved = sample.moved(centroids)
        if np.array_equal(moved, centroids):
            break
        centroids = moved
    return centroids


def _check(rows: Rows, weights: NDArray[np.int64], count: int) -> None:
    if not 1 <= count <= MAX_CLUSTERS:
        raise ValueError(f"{count} clusters: must be from 1 to {MAX_CLUSTERS}")
    if len(weights) != len(rows) or (len(weights) and weights.min() < 1):
        raise ValueError("every row needs a weight of at least 1")
    squares = np.empty(len(rows), dtype=np.int64)
    own_distances(rows, np.zeros(len(rows), dtype=np.uint16), np.zeros((1, rows.shape[1]), dtype=np.uint16), squares)
    if len(rows) and squares.max() > MAX_SQUARE:
        raise ValueError(f"a row is longer than the square root of {MAX_SQUARE}: its products would be rounded")


def _first_centroids(
    sample: CentroidSample, columns: int, count: int, seed: int, tell: Callable[[float], None]
) -> Rows:
    """Step 1."""
    random = np.random.default_rng(seed)
    centroids = np.empty((count, columns), dtype=np.uint16)
    for number in range(count):
        tell(number / count)
        if (total := sample.total()) == 0:
            raise TooFewRows(count, number)
        centroids[number] = sample.draw(int(random.integers(total)))
        sample.add(centroids[number])
    return centroids


def _means(rows: Rows, weights: NDArray[np.int64], labels: NDArray[np.uint16], centroids: Rows) -> Rows:
    """Step 2: where the centroids move."""
    sums, totals = np.zeros(centroids.shape, dtype=np.int64), np.zeros(len(centroids), dtype=np.int64)
    add_rows(rows, weights, labels, sums, totals)
    return rounded_means(rows, labels, centroids, sums, totals)


def rounded_means(
    rows: Rows,
    labels: NDArray[np.uint16],
    centroids: Rows,
    sums: NDArray[np.int64],  # [centroids, columns] weighted sums of their rows
    totals: NDArray[np.int64],  # [centroids] sums of the weights
) -> Rows:
    """The means of all centroids that have rows; the others move to the farthest rows."""
    members = np.maximum(totals, 1)[:, None]
    moved: Rows = ((2 * sums + members) // (2 * members)).astype(np.uint16)
    empty = np.flatnonzero(totals == 0)
    if len(empty):
        away = np.empty(len(rows), dtype=np.int64)
        own_distances(rows, labels, centroids, away)
        moved[empty] = rows[np.argsort(-away, kind="stable")[: len(empty)]]
    return moved


# --- kernels ---------------------------------------------------------------------------------------------------------


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
    """The squared distance of two rows."""
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

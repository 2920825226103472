"""How the situations of one street become buckets, once centroids or percentiles are known.

| method     | features                                                                  | bucket                      |
|------------|---------------------------------------------------------------------------|-----------------------------|
| kmeans     | flop, turn: cumulative histogram of the strength on the river             | of the nearest centroid     |
|            | river: strength against each of eight clusters of opposing hands          |                             |
| percentile | expected strength                                                         | how many limits it reaches  |

Centroids and percentiles are found on a sample of deals:

1. Draw boards with their probabilities, and on each board several hands: features are computed for all hands of a board
   at once, so more hands per board cost little. Equal situations are merged, with weights.
2. k-means: centroids of the features, weakest first (`engines.numba.clustering`). Percentiles: limits that divide the
   sample into equal shares by expected strength.

The same seed gives the same result on any number of threads and on a GPU.

Memory and time are estimated before anything is built. Memory covers the finished tables, the sample and the boards
being worked on. Times are CPU times measured on a server core; they predict the order of magnitude, which the progress
of a build then corrects.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from regretless.cards.features import (
    CLUSTER_HANDS,
    CLUSTERS,
    COLUMNS,
    SituationBatch,
    histogram_features,
    opponent_features,
    situation_batch,
    strength_points,
)
from regretless.engines import in_order
from regretless.errors import InvalidOption, WouldNotFit
from regretless.forms.memory import available_bytes
from regretless.holdem.buckets.plan import BOARD_CARDS, BucketPlan
from regretless.holdem.spots.spot_fields import StreetName

if TYPE_CHECKING:
    from regretless.engines import CentroidLookup, CentroidSample, TorchCentroidLookup

__all__ = [
    "HANDS_PER_BOARD",
    "BucketDivision",
    "BucketEstimate",
    "NearestCentroid",
    "Percentiles",
    "bytes_per_situation",
    "check_fits",
    "estimate_buckets",
    "kmeans_features",
    "train",
]  # fmt: skip

Number = TypeVar("Number", np.uint16, np.int32)
HANDS_PER_BOARD = {"flop": 400, "turn": 100, "river": 100}  # flop features take longest
SAMPLING_SHARE = 0.5  # of the time, for progress: the rest is k-means
PROGRAM_BYTES = 300 * 2**20  # libraries, compiled kernels, and the tables that number situations
THREAD_BYTES = 24 * 2**20  # boards being worked on
SAMPLE_BYTES = 48  # per sampled deal, beside its features: weight, distance, chances, label
BOARD_SECONDS = {  # features of all hands of a board
    "kmeans": {"flop": 24e-3, "turn": 1.2e-3, "river": 95e-6},
    "percentile": {"flop": 22e-3, "turn": 0.9e-3, "river": 30e-6},
}
# The nearest of k centroids with d columns takes k · (a + b · d).
CENTROID_SECONDS, COLUMN_SECONDS = 0.9e-9, 0.033e-9
TRAINING_PASSES = 60  # over the sample, of the same cost


class BucketDivision(Protocol):
    """Divides situations among buckets; may be used from several threads."""

    @property
    def parameters(self) -> NDArray[np.generic]:
        """The numbers that define it, as files keep them."""
        ...

    def buckets(self, batch: SituationBatch) -> NDArray[np.uint16]:
        """[situations] bucket of each situation."""
        ...

    def on(self, device: str) -> BucketDivision:
        """The same division, computed on a device if that makes it faster."""
        ...


@dataclass(frozen=True)
class NearestCentroid:
    """The bucket of the nearest centroid."""

    parameters: NDArray[np.uint16]  # [buckets, columns]  centroids
    device: str = "cpu"  # that searches; all devices find the same centroid

    @cached_property
    def _nearest(self) -> CentroidLookup | TorchCentroidLookup:
        if self.device != "cpu":
            from regretless.engines import TorchCentroidLookup

            return TorchCentroidLookup(self.parameters, self.device)
        from regretless.engines import CentroidLookup  # loads numba, which reading a file does not need

        return CentroidLookup(self.parameters)

    def on(self, device: str) -> NearestCentroid:
        return NearestCentroid(self.parameters, device)

    def buckets(self, batch: SituationBatch) -> NDArray[np.uint16]:
        return self._nearest.labels(kmeans_features(batch))


@dataclass(frozen=True)
class Percentiles:
    """The number of limits that a situation's points reach."""

    parameters: NDArray[np.int32]  # [buckets - 1]  rising

    def buckets(self, batch: SituationBatch) -> NDArray[np.uint16]:
        return np.searchsorted(self.parameters, strength_points(batch), side="right").astype(np.uint16)

    def on(self, device: str) -> Percentiles:
        return self


def kmeans_features(batch: SituationBatch) -> NDArray[np.uint16]:
    """[situations, columns] what k-means compares on this street."""
    return opponent_features(batch) if batch.boards.shape[1] == 5 else histogram_features(batch)


def train(
    plan: BucketPlan, street: StreetName, *, threads: int, device: str = "cpu", report: Callable[[float], None]
) -> BucketDivision:
    """Find the division of a street; `report` gets the share that is done, and may raise to stop it."""
    from regretless.engines import TooFewRows, find_centroids  # loads numba

    count = plan.count(street)

    def report_sampling(share: float) -> None:
        report(SAMPLING_SHARE * share)

    if plan.method == "percentile":
        points, weights = _sample(plan, street, strength_points, threads, report_sampling)
        return Percentiles(_limits(points, weights, count, street))
    rows, weights = _sample(plan, street, kmeans_features, threads, report_sampling)
    try:
        centroids = find_centroids(
            rows,
            weights,
            count,
            seed=plan.seed,
            threads=threads,
            make=_sample_on(device),
            tell=lambda share: report(SAMPLING_SHARE + (1 - SAMPLING_SHARE) * share),
        )
    except TooFewRows as error:
        limit = f"must be at most {error.different:,}"
        reason = f"{limit}: the sample has no more different situations; try a larger sample"
        raise InvalidOption(street, count, reason) from None
    # Strengths against clusters count by their hands; a cumulative histogram falls as the strength rises.
    by_column = CLUSTER_HANDS if street == "river" else np.full(centroids.shape[1], -1)
    weakest_first = np.argsort(centroids.astype(np.int64) @ by_column, kind="stable")
    return NearestCentroid(np.ascontiguousarray(centroids[weakest_first]))


def _sample_on(device: str) -> Callable[[NDArray[np.uint16], NDArray[np.int64]], CentroidSample] | None:
    """What puts a sample on a device; None for the CPU."""
    if device == "cpu":
        return None
    from regretless.engines import TorchCentroidSample  # loads PyTorch

    return partial(TorchCentroidSample, device=device)


def _sample(
    plan: BucketPlan,
    street: StreetName,
    features: Callable[[SituationBatch], NDArray[Number]],
    threads: int,
    report: Callable[[float], None],
) -> tuple[NDArray[Number], NDArray[np.int64]]:
    """Step 1: features of the sampled situations, and their weights."""
    boards, hands = plan.boards(street), HANDS_PER_BOARD[street]
    random = np.random.default_rng((plan.seed, BOARD_CARDS[street]))
    drawn = random.multinomial(-(-plan.sample // hands), boards.weights / boards.weights.sum())
    chosen = np.flatnonzero(drawn)
    seeds = random.integers(2**63, size=len(chosen))

    def sample_board(number: int) -> tuple[NDArray[Number], NDArray[np.int64]]:
        situations = situation_batch(BOARD_CARDS[street], boards.rows[chosen[number] : chosen[number] + 1])
        times = np.random.default_rng(seeds[number]).multinomial(
            hands * drawn[chosen[number]], situations.hands / situations.hands.sum()
        )
        drawn_situations = np.flatnonzero(times)
        return features(situations)[drawn_situations], times[drawn_situations]

    rows, weights = [], []
    for number, (board_rows, times) in enumerate(in_order(sample_board, range(len(chosen)), threads)):
        report(number / len(chosen))
        rows.append(board_rows)
        weights.append(times)
    return np.concatenate(rows), np.concatenate(weights)


def _limits(points: NDArray[np.int32], weights: NDArray[np.int64], count: int, street: StreetName) -> NDArray[np.int32]:
    """Step 2, percentiles: `count` − 1 rising limits. A bucket begins at the first value past an equal share."""
    values, value_of = np.unique(points, return_inverse=True)
    if count > len(values):
        reason = f"must be at most {len(values):,}: the sample has no more different strengths"
        raise InvalidOption(street, count, reason)
    below = np.cumsum(np.bincount(value_of, weights=weights)) / weights.sum()  # share up to and including each value
    ends = np.searchsorted(below, np.arange(1, count) / count)  # the value that crosses each share
    # Values that more than one share ends in would leave buckets empty: give each limit a value of its own.
    ends = np.maximum.accumulate(ends - np.arange(count - 1)) + np.arange(count - 1)
    ends = np.minimum(ends, len(values) - count + np.arange(count - 1))
    return values[ends + 1].astype(np.int32)


@dataclass(frozen=True)
class BucketEstimate:
    """The size of a plan."""

    situations: dict[StreetName, int]
    file_bytes: int
    memory_bytes: int
    seconds: dict[StreetName, float]  # on that number of threads


def bytes_per_situation(buckets: int) -> int:
    """One byte if every bucket fits, else two."""
    return 1 if buckets <= 256 else 2


def estimate_buckets(plan: BucketPlan, *, threads: int) -> BucketEstimate:
    """Memory and time of a plan.

    >>> estimate = estimate_buckets(BucketPlan(river=200), threads=2)
    >>> estimate.situations, estimate.file_bytes
    ({'river': 123156254}, 123156254)
    """
    situations = {street: plan.situations(street) for street in plan.streets}
    table = sum(count * bytes_per_situation(plan.count(street)) for street, count in situations.items())
    sample = plan.sample * (2 * 2 * COLUMNS + SAMPLE_BYTES)  # features of two bytes, by board and then joined
    seconds = {street: _seconds(plan, street) / threads for street in plan.streets}
    return BucketEstimate(situations, table, table + sample + PROGRAM_BYTES + threads * THREAD_BYTES, seconds)


def check_fits(plan: BucketPlan, *, threads: int, available: int | None = None) -> BucketEstimate:
    """The estimate; raises `WouldNotFit` if it is more than the machine has free."""
    estimate = estimate_buckets(plan, threads=threads)
    free = available_bytes() if available is None else available
    if estimate.memory_bytes > free:
        raise WouldNotFit("the table", needed=estimate.memory_bytes, available=free, hint="build fewer streets")
    return estimate


def _seconds(plan: BucketPlan, street: StreetName) -> float:
    boards, count = plan.boards(street), plan.count(street)
    sampled = min(len(boards.rows), plan.sample / HANDS_PER_BOARD[street])
    features = (len(boards.rows) + sampled) * BOARD_SECONDS[plan.method][street]
    if plan.method == "percentile":
        return features
    columns = CLUSTERS if street == "river" else COLUMNS
    nearest = count * (CENTROID_SECONDS + COLUMN_SECONDS * columns)
    return features + nearest * (boards.situations + TRAINING_PASSES * plan.sample)

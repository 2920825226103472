"""Centroids and percentiles, found on a sample of deals.

1. Draw boards with their probabilities, and on each board several hands: features are computed for all hands of a board
   at once, so more hands per board cost little. Equal situations are merged, with weights.
2. k-means: centroids of the features, weakest first (`engines.numba.clustering`). Percentiles: limits that divide the
   sample into equal shares by expected strength.

The same seed gives the same result on any number of threads and on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from regretless.cards.features.batches import SituationBatch, batch
from regretless.cards.features.opponents import CLUSTER_HANDS
from regretless.cards.features.strength import strength_points
from regretless.engines import in_order
from regretless.errors import InvalidOption
from regretless.holdem.buckets.division import Division, NearestCentroid, Percentiles, kmeans_features
from regretless.holdem.buckets.plan import BOARD_CARDS, BucketPlan
from regretless.holdem.spots.question import StreetName

if TYPE_CHECKING:
    from regretless.engines import CentroidSample

__all__ = ["HANDS_PER_BOARD", "train"]

Number = TypeVar("Number", np.uint16, np.int32)

HANDS_PER_BOARD = {"flop": 400, "turn": 100, "river": 100}  # flop features take longest

SAMPLING_SHARE = 0.5  # of the time, for progress: the rest is k-means


def train(
    plan: BucketPlan, street: StreetName, *, threads: int, device: str = "cpu", tell: Callable[[float], None]
) -> Division:
    """Find the division of a street; `tell` is given the share that is done, and may raise to stop it."""
    from regretless.engines import TooFewRows, find_centroids  # loads numba

    count = plan.count(street)

    def sampled(share: float) -> None:
        tell(SAMPLING_SHARE * share)

    if plan.method == "percentile":
        return Percentiles(_limits(*_sample(plan, street, strength_points, threads, sampled), count, street))
    rows, weights = _sample(plan, street, kmeans_features, threads, sampled)
    try:
        centroids = find_centroids(
            rows,
            weights,
            count,
            seed=plan.seed,
            threads=threads,
            make=_sample_on(device),
            tell=lambda share: tell(SAMPLING_SHARE + (1 - SAMPLING_SHARE) * share),
        )
    except TooFewRows as error:
        reason = (
            f"must be at most {error.different:,}: the sample has no more different situations; try a larger sample"
        )
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
    tell: Callable[[float], None],
) -> tuple[NDArray[Number], NDArray[np.int64]]:
    """Step 1: features of the sampled situations, and their weights."""
    boards, hands = plan.boards(street), HANDS_PER_BOARD[street]
    random = np.random.default_rng((plan.seed, BOARD_CARDS[street]))
    drawn = random.multinomial(-(-plan.sample // hands), boards.weights / boards.weights.sum())
    chosen = np.flatnonzero(drawn)
    seeds = random.integers(2**63, size=len(chosen))

    def sample_board(place: int) -> tuple[NDArray[Number], NDArray[np.int64]]:
        taken = batch(BOARD_CARDS[street], boards.rows[chosen[place] : chosen[place] + 1])
        times = np.random.default_rng(seeds[place]).multinomial(
            hands * drawn[chosen[place]], taken.hands / taken.hands.sum()
        )
        held = np.flatnonzero(times)
        return features(taken)[held], times[held]

    rows, weights = [], []
    for place, (found, times) in enumerate(in_order(sample_board, range(len(chosen)), threads)):
        tell(place / len(chosen))
        rows.append(found)
        weights.append(times)
    return np.concatenate(rows), np.concatenate(weights)


def _limits(points: NDArray[np.int32], weights: NDArray[np.int64], count: int, street: StreetName) -> NDArray[np.int32]:
    """Step 2, percentiles: `count` − 1 rising limits. A bucket begins at the first value past an equal share."""
    values, places = np.unique(points, return_inverse=True)
    if count > len(values):
        reason = f"must be at most {len(values):,}: the sample has no more different strengths"
        raise InvalidOption(street, count, reason)
    below = np.cumsum(np.bincount(places, weights=weights)) / weights.sum()  # share up to and including each value
    ends = np.searchsorted(below, np.arange(1, count) / count)  # the value that crosses each share
    # Values that more than one share ends in would leave buckets empty: give each limit a value of its own.
    ends = np.maximum.accumulate(ends - np.arange(count - 1)) + np.arange(count - 1)
    ends = np.minimum(ends, len(values) - count + np.arange(count - 1))
    return values[ends + 1].astype(np.int32)

"""Centroids and percentiles: the nearest one, in order of strength, in equal shares."""

from __future__ import annotations

import numpy as np
import pytest
from tests.holdem.buckets.plans import FLOP, PERCENTILES, PLAN

from regretless.cards.features import maximum_points, situation_batch, strength_points
from regretless.cards.isomorphism import canonical_boards
from regretless.errors import InvalidOption, WouldNotFit
from regretless.files import open_container
from regretless.holdem.buckets import BucketPlan, build_buckets
from regretless.holdem.buckets.division import check_fits, estimate_buckets, kmeans_features


def test_each_hand_has_the_bucket_of_its_nearest_centroid(path, table):
    centroids = open_container(path).array("river.division").astype(int)
    rows = PLAN.boards("river").rows[5:8]
    taken = situation_batch(5, rows)
    distances = ((kmeans_features(taken)[:, None].astype(int) - centroids[None]) ** 2).sum(axis=2)
    for number, board in enumerate(canonical_boards(5).cards[rows]):
        chosen = taken.local[number] >= 0
        expected = distances[taken.local[number][chosen]].argmin(axis=1)
        np.testing.assert_array_equal(table.of("river", board)[chosen], expected)


def test_buckets_rise_with_strength(table):
    """Buckets are ordered by their centroids' strength, which blockers and the sample change a little."""
    for street, size in (("turn", 4), ("river", 5)):
        points = strength_points(situation_batch(size, PLAN.boards(street).rows)) / maximum_points(size)
        buckets = table.table(street)
        means = np.bincount(buckets, weights=points) / np.bincount(buckets)
        assert (np.diff(means) > -0.06).all()
        assert np.corrcoef(np.argsort(np.argsort(means)), np.arange(len(means)))[0, 1] > 0.98
        assert means[0] < 0.2
        assert means[-1] > 0.9


def test_percentiles_divide_deals_into_equal_shares_by_strength():
    table = build_buckets(PERCENTILES, threads=2)
    for street, size in (("turn", 4), ("river", 5)):
        boards = PERCENTILES.boards(street)
        taken = situation_batch(size, boards.rows)
        points, buckets = strength_points(taken), table.table(street)
        order = np.argsort(points, kind="stable")
        assert (np.diff(buckets[order].astype(int)) >= 0).all()
        shares = np.bincount(buckets, weights=taken.hands * np.repeat(boards.weights, np.diff(boards.starts)))
        assert len(shares) == table.count(street)
        assert shares.min() > 0
        if street == "turn":
            np.testing.assert_allclose(shares / shares.sum(), 1 / 20, atol=0.01)


@pytest.mark.parametrize("method", ["kmeans", "percentile"])
def test_more_buckets_than_different_hands_are_refused(method):
    plan = BucketPlan(flop=2000, board=FLOP, sample=1000, method=method)
    with pytest.raises(InvalidOption, match=r"flop: 2000 must be at most \d+: the sample has no more different"):
        build_buckets(plan, threads=1)


def test_a_table_that_does_not_fit_is_refused_before_it_is_built():
    plan = BucketPlan(flop=200, turn=200, river=1000)
    found = estimate_buckets(plan, threads=2)
    assert found.situations == {"flop": 1_286_792, "turn": 13_960_050, "river": 123_156_254}
    assert found.file_bytes == 1_286_792 + 13_960_050 + 2 * 123_156_254
    with pytest.raises(WouldNotFit, match=r"the table needs \d+ MB of memory, but only 100 MB are free"):
        check_fits(plan, threads=2, available=10**8)

"""Features of hands against plain enumerations: every opposing hand, every runout, in exact fractions."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from regretless.cards.evaluator import hand_strengths
from regretless.cards.features import (
    CLUSTERS,
    COLUMNS,
    HISTOGRAM_LEVELS,
    OPPONENT_CLUSTERS,
    OPPONENT_LEVELS,
    class_histogram_features,
    histogram_features,
    maximum_points,
    opponent_features,
    situation_batch,
    strength_points,
)
from regretless.cards.hands import HAND_CARDS, HAND_CLASS
from regretless.cards.isomorphism import CanonicalBoards, canonical_boards
from regretless.engines.numba.clustering import CentroidLookup, find_centroids

SHARE_A_CARD = (HAND_CARDS[:, None, :, None] == HAND_CARDS[None, :, None, :]).any(axis=(2, 3))


def strengths_of(hand: int, rivers: np.ndarray) -> list[Fraction]:
    """Strength of one hand on each river, by comparing it with every hand that can oppose it."""
    strengths = hand_strengths(rivers).astype(int)
    opposing = ~SHARE_A_CARD[hand] & (strengths >= 0)
    points = (strengths[:, [hand]] > strengths) * 2 + (strengths[:, [hand]] == strengths)
    assert (opposing.sum(axis=1) == 990).all()
    return [Fraction(int(total), 1980) for total in (points * opposing).sum(axis=1)]


def rivers_of(board: np.ndarray, hand: int) -> np.ndarray:
    dead = {*board.tolist(), *HAND_CARDS[hand].tolist()}
    left = [card for card in range(52) if card not in dead]
    return np.array([[*board, *more] for more in combinations(left, 5 - len(board))], dtype=np.uint8)


def cumulative(strengths: list[Fraction]) -> list[int]:
    """The cumulative histogram with each strength shared between the two nearest bins, in units of 1/512."""
    bins = [Fraction(0)] * (COLUMNS + 2)
    for strength in strengths:
        low = int(strength * COLUMNS)
        above = strength * COLUMNS - low
        bins[low] += 1 - above
        bins[low + 1] += above
    sums = [sum(bins[: column + 1], Fraction(0)) / len(strengths) for column in range(COLUMNS)]
    return [int(share * HISTOGRAM_LEVELS + Fraction(1, 2)) for share in sums]


def some_hands(size: int, boards: int, hands: int, seed: int):
    """A batch of random boards, and (situation, hand, board) for some hands of each."""
    random = np.random.default_rng(seed)
    rows = np.sort(random.choice(len(canonical_boards(size).cards), boards, replace=False))
    batch = situation_batch(size, rows)
    chosen = []
    for number, board in enumerate(batch.boards):
        some = random.choice(np.flatnonzero(batch.local[number] >= 0), hands, replace=False)
        chosen += [(batch.local[number, hand], int(hand), board) for hand in some]
    return batch, chosen


@pytest.mark.parametrize(("size", "boards", "hands"), [(5, 20, 20), (4, 4, 4), (3, 1, 2)])
def test_points_are_those_of_an_enumeration(size, boards, hands):
    batch, chosen = some_hands(size, boards, hands, seed=size)
    points = strength_points(batch)
    for situation, hand, board in chosen:
        expected = strengths_of(hand, rivers_of(board, hand))
        assert Fraction(int(points[situation]), maximum_points(size)) == sum(expected) / len(expected)


@pytest.mark.parametrize(("size", "boards", "hands"), [(4, 4, 4), (3, 1, 2)])
def test_histograms_are_those_of_an_enumeration(size, boards, hands):
    batch, chosen = some_hands(size, boards, hands, seed=10 + size)
    features = histogram_features(batch)
    assert features.shape == (batch.situations, COLUMNS)
    for situation, hand, board in chosen:
        assert features[situation].tolist() == cumulative(strengths_of(hand, rivers_of(board, hand)))


def test_histograms_keep_the_mean():
    batch, _ = some_hands(4, 5, 1, seed=1)
    means = 1 - histogram_features(batch).astype(float).sum(axis=1) / COLUMNS / HISTOGRAM_LEVELS
    np.testing.assert_allclose(means, strength_points(batch) / maximum_points(4), atol=0.5 / HISTOGRAM_LEVELS)


def test_strengths_against_clusters_are_those_of_an_enumeration():
    batch, chosen = some_hands(5, 10, 20, seed=2)
    features = opponent_features(batch)
    for situation, hand, board in chosen:
        strengths = hand_strengths(board).astype(int)
        for cluster in range(CLUSTERS):
            opposing = ~SHARE_A_CARD[hand] & (strengths >= 0) & (OPPONENT_CLUSTERS[HAND_CLASS] == cluster)
            points = 2 * (strengths[opposing] < strengths[hand]).sum() + (strengths[opposing] == strengths[hand]).sum()
            expected = Fraction(int(points), 2 * int(opposing.sum())) * OPPONENT_LEVELS + Fraction(1, 2)
            assert features[situation, cluster] == int(expected)


@pytest.mark.parametrize("size", [3, 4, 5])
def test_a_batch_numbers_each_situation_once_and_counts_its_hands(size):
    batch, _ = some_hands(size, 30, 1, seed=3)
    assert sorted(batch.local[batch.local >= 0].tolist()) == list(range(batch.situations))
    live = (52 - size) * (51 - size) // 2
    assert np.add.reduceat(batch.hands, batch.starts[:-1]).tolist() == [live] * 30


def test_classes_of_hands_before_the_flop():
    boards = canonical_boards(5)
    rows = np.random.default_rng(4).choice(len(boards.cards), 30, replace=False)
    some = CanonicalBoards(boards.cards[rows], boards.multiplicity[rows])
    aces = np.flatnonzero(HAND_CLASS == 0)
    strengths = []
    for river, times in zip(some.cards, some.multiplicity, strict=True):
        for hand in aces:
            if not np.isin(HAND_CARDS[hand], river).any():
                strengths += strengths_of(int(hand), river[None]) * int(times)
    assert class_histogram_features(some)[0].tolist() == cumulative(strengths)


def test_seven_cards_cannot_block_all_hands_of_a_cluster():
    cluster = OPPONENT_CLUSTERS[HAND_CLASS]
    assert np.unique(cluster).tolist() == list(range(CLUSTERS))
    for one in range(CLUSTERS):
        hands = HAND_CARDS[cluster == one]
        held = np.sort(np.bincount(hands.ravel(), minlength=52))  # in how many of them each card is
        assert held[-7:].sum() < len(hands)


@pytest.mark.slow
def test_the_clusters_of_opposing_hands_are_the_best_of_fifty():
    features = class_histogram_features(canonical_boards(5))
    weights = np.bincount(HAND_CLASS).astype(np.int64)

    def spread(centroids: np.ndarray) -> int:
        nearest = centroids[CentroidLookup(centroids).labels(features)].astype(int)
        return int((weights * ((features.astype(int) - nearest) ** 2).sum(axis=1)).sum())

    best = min((find_centroids(features, weights, CLUSTERS, seed=seed) for seed in range(50)), key=spread)
    weakest_first = best[np.argsort(-best.astype(int).sum(axis=1))]
    np.testing.assert_array_equal(CentroidLookup(weakest_first).labels(features), OPPONENT_CLUSTERS)

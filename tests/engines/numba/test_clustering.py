from functools import partial

import numpy as np
import pytest

from regretless.engines.numba.clustering import MAX_SQUARE, CentroidLookup, TooFewRows, find_centroids
from regretless.engines.threads import in_order


def random_rows(count: int, columns: int, seed: int) -> np.ndarray:
    """Rows as long as allowed: the hardest for exact arithmetic."""
    most = int((MAX_SQUARE / columns) ** 0.5)
    return np.random.default_rng(seed).integers(most + 1, size=(count, columns)).astype(np.uint16)


def squares(rows: np.ndarray, centroids: np.ndarray) -> np.ndarray:
    """[rows, centroids] squared distances, in whole numbers."""
    return ((rows[:, None].astype(np.int64) - centroids[None].astype(np.int64)) ** 2).sum(axis=2)


@pytest.mark.parametrize(("columns", "count"), [(8, 1), (8, 7), (8, 200), (32, 33)])
def test_the_nearest_centroid_is_exact(columns, count):
    rows = random_rows(500, columns, seed=1)
    centroids = random_rows(count, columns, seed=2)
    np.testing.assert_array_equal(CentroidLookup(centroids).labels(rows), squares(rows, centroids).argmin(axis=1))


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize(("columns", "count"), [(8, 1), (8, 200), (32, 33)])
def test_pytorch_finds_the_same_labels_and_centroids(columns, count, device, monkeypatch):
    pytest.importorskip("torch")
    from regretless.engines.numba.clustering import NumbaCentroidSample
    from regretless.engines.torch import clustering as on_torch

    monkeypatch.setattr(on_torch, "SCORES", 50_000)  # in several pieces
    rows, centroids = random_rows(3000, columns, seed=1), random_rows(count, columns, seed=2)
    rows[1000:2000] = rows[:1000]
    centroids[count // 2 :] = centroids[: count - count // 2]  # equally near ones, of which the second has no rows
    labels = on_torch.TorchCentroidLookup(centroids, device).labels(rows)
    np.testing.assert_array_equal(labels, CentroidLookup(centroids).labels(rows))
    assert labels.dtype == np.uint16
    weights = np.random.default_rng(3).integers(1, 9, size=len(rows))
    one, two = NumbaCentroidSample(rows, weights, 1), on_torch.TorchCentroidSample(rows, weights, device)
    np.testing.assert_array_equal(two.moved(centroids), one.moved(centroids))
    for place in (0, 7, 0.5, 0.999):
        total = one.total()
        assert two.total() == total
        at = place if type(place) is int else int(place * total)
        drawn = one.draw(at)
        np.testing.assert_array_equal(two.draw(at), drawn)
        one.add(drawn)
        two.add(drawn)


def test_pytorch_draws_the_same_rows_where_rows_have_nothing_in_common():
    """Their distances may exceed the square of the longest row, where those on a processor end."""
    pytest.importorskip("torch")
    from regretless.engines.torch.clustering import TorchCentroidSample

    random = np.random.default_rng(1)
    rows = np.zeros((200, 16), dtype=np.uint16)
    rows[np.arange(200), random.integers(16, size=200)] = random.integers(1500, 2896, size=200)
    weights = random.integers(1, 9, size=200)
    on_torch = find_centroids(rows, weights, 12, seed=2, make=partial(TorchCentroidSample, device="cpu"))
    np.testing.assert_array_equal(on_torch, find_centroids(rows, weights, 12, seed=2))


@pytest.mark.gpu
def test_centroids_do_not_depend_on_the_device():
    rows, weights = random_rows(30_000, 32, seed=4), np.random.default_rng(5).integers(1, 9, size=30_000)
    on_cpu = find_centroids(rows, weights, 300, seed=6)
    pytest.importorskip("torch")
    from regretless.engines.torch.clustering import TorchCentroidSample

    on_gpu = find_centroids(rows, weights, 300, seed=6, make=partial(TorchCentroidSample, device="cuda"))
    np.testing.assert_array_equal(on_cpu, on_gpu)


def test_of_equally_near_centroids_the_first_counts():
    centroids = np.array([[9] * 8, [4] * 8, [6] * 8, [4] * 8], dtype=np.uint16)
    assert CentroidLookup(centroids).labels(np.full((1, 8), 5, dtype=np.uint16)).tolist() == [1]


def test_near_misses_at_full_length():
    """Distances that differ by one part in sixteen million."""
    far = np.full((1, 8), 1024, dtype=np.uint16)
    centroids = np.zeros((2, 8), dtype=np.uint16)
    centroids[1, 0] = 1
    assert squares(far, centroids)[0].tolist() == [8 * 1024**2, 7 * 1024**2 + 1023**2]
    assert CentroidLookup(centroids).labels(far).tolist() == [1]


def test_separated_clusters_are_found():
    random = np.random.default_rng(3)
    middles = np.array([[100] * 8, [500] * 8, [900] * 8])
    rows = (middles[random.integers(3, size=600)] + random.integers(-20, 21, size=(600, 8))).astype(np.uint16)
    centroids = find_centroids(rows, np.ones(600, dtype=np.int64), 3, seed=0)
    assert np.abs(np.sort(centroids.astype(int), axis=0) - middles).max() <= 3


def test_the_same_seed_gives_the_same_centroids_on_any_number_of_threads():
    rows, weights = random_rows(30_000, 8, seed=4), np.random.default_rng(5).integers(1, 9, size=30_000)
    one, four = (find_centroids(rows, weights, 40, seed=6, threads=threads) for threads in (1, 4))
    np.testing.assert_array_equal(one, four)
    assert not np.array_equal(one, find_centroids(rows, weights, 40, seed=7))


def test_a_weight_is_a_number_of_equal_rows():
    rows, times = random_rows(200, 8, seed=8), np.random.default_rng(9).integers(1, 5, size=200)
    weighted = find_centroids(rows, times, 5, seed=1)
    repeated = find_centroids(np.repeat(rows, times, axis=0), np.ones(times.sum(), dtype=np.int64), 5, seed=1)
    np.testing.assert_array_equal(weighted, repeated)


def test_at_the_end_centroids_are_the_means_of_their_rows():
    rows, weights = random_rows(300, 8, seed=10), np.random.default_rng(11).integers(1, 4, size=300)
    centroids = find_centroids(rows, weights, 4, seed=2)
    labels = CentroidLookup(centroids).labels(rows)
    for number, centroid in enumerate(centroids):
        mean = np.average(rows[labels == number].astype(float), axis=0, weights=weights[labels == number])
        np.testing.assert_allclose(centroid, mean, atol=0.5 + 1e-9)


def test_as_many_clusters_as_different_rows():
    rows = np.repeat(random_rows(6, 8, seed=12), 10, axis=0)
    centroids = find_centroids(rows, np.ones(60, dtype=np.int64), 6, seed=0)
    assert squares(rows, centroids).min(axis=1).max() == 0
    with pytest.raises(TooFewRows, match="7 clusters were asked for, but the rows have only 6 different values"):
        find_centroids(rows, np.ones(60, dtype=np.int64), 7, seed=0)


def test_a_centroid_without_rows_moves_to_the_farthest_row():
    from regretless.engines.numba import clustering as kmeans

    rows = np.array([[0] * 8, [1] * 8, [2] * 8, [50] * 8], dtype=np.uint16)
    centroids = np.array([[1] * 8, [500] * 8], dtype=np.uint16)
    moved = kmeans._means(rows, np.ones(4, dtype=np.int64), np.zeros(4, dtype=np.uint16), centroids)
    assert moved[:, 0].tolist() == [13, 50]


@pytest.mark.parametrize(
    ("rows", "weights", "count", "reason"),
    [
        (np.full((2, 8), 1025, dtype=np.uint16), [1, 1], 1, "would be rounded"),
        (np.zeros((2, 8), dtype=np.uint16), [1, 0], 1, "a weight of at least 1"),
        (np.zeros((2, 8), dtype=np.uint16), [1, 1], 0, "must be from 1"),
        (np.zeros((2, 7), dtype=np.uint16), [1, 1], 1, "must be a multiple of 8"),
    ],
)
def test_what_would_not_be_exact_is_refused(rows, weights, count, reason):
    with pytest.raises(ValueError, match=reason):
        find_centroids(rows, np.array(weights, dtype=np.int64), count, seed=0)


def test_results_come_in_order_and_a_failure_is_passed_on():
    def invert(number: int) -> float:
        return 1 / number

    assert list(in_order(invert, range(1, 100), threads=3)) == [1 / number for number in range(1, 100)]
    with pytest.raises(ZeroDivisionError):
        list(in_order(invert, [1, 2, 0, 3], threads=3))

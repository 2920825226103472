"""Sixteen numbers at a time: storage in 16 bits, and rounding."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from regretless.compiling import fast_kernel as kernel
from regretless.engines.formats import GOLDEN
from regretless.engines.layout import LANES
from regretless.engines.numba.public.kernels.lanes import load, store_rounded


@kernel
def store_all(
    source: NDArray[np.generic], target: NDArray[np.generic], seed: int, roundings: NDArray[np.uint32]
) -> None:
    for index in range(0, source.size, LANES):
        store_rounded(target, index, load(source, index), seed, roundings, index)


def copy(source: NDArray[np.generic], target: NDArray[np.generic], salt: int) -> None:
    store_all(source, target, salt, np.arange(source.size, dtype=np.uint32) * np.uint32(GOLDEN))


def as_halves(numbers: NDArray[np.float32], salt: int = 0) -> NDArray[np.float32]:
    halves = np.zeros(len(numbers), dtype=np.int16)
    copy(numbers, halves, salt)
    again = np.zeros(len(numbers), dtype=np.float32)
    copy(halves, again, salt)
    np.testing.assert_array_equal(again, halves.view(np.float16))
    return again


def test_half_precision_errors_are_below_a_step_and_cancel() -> None:
    random = np.random.default_rng(0)
    signs = random.choice([-1.0, 1.0], size=2**18)
    numbers = (signs * 10.0 ** random.uniform(-4, 4, size=2**18)).astype(np.float32)
    errors = (as_halves(numbers) - numbers) / np.abs(numbers)
    assert np.abs(errors).max() < 2.0**-10
    assert abs(errors.mean()) < 2e-6  # a tenth of a percent of a step


def test_small_steps_add_up() -> None:
    """Adding a hundredth of a step at a time: rounded to nearest, the sum would stay at 1."""
    sums = np.ones(2**12, dtype=np.float32)
    for salt in range(1000):
        sums = as_halves(sums * np.float32(1 + 1e-5), salt)
    assert sums.mean() == pytest.approx(1.01, abs=1e-4)
    assert sums.std() < 5e-3


@pytest.mark.parametrize(
    ("number", "stored"),
    [(0.0, 0.0), (-0.0, 0.0), (1.0, 1.0), (-2.5, -2.5), (7e4, 65504.0), (-1e30, -65504.0), (1e-9, 0.0)],
)
def test_numbers_inside_and_outside_half_precision(number: float, stored: float) -> None:
    assert as_halves(np.full(LANES, number, dtype=np.float32)).tolist() == [stored] * LANES


def test_the_probability_of_rounding_up_is_the_fraction() -> None:
    kept = np.zeros(2**16, dtype=np.uint16)
    for number in (0.0, 3.0, 0.01, 12345.25, 65534.9, 65535.0):
        copy(np.full(kept.size, number, dtype=np.float32), kept, 7)
        assert set(np.unique(kept)) <= {int(number), int(np.ceil(number))}
        assert kept.mean() == pytest.approx(number, abs=0.005)
    copy(np.array([-5.0, 70000.0] * 8, dtype=np.float32), kept[:LANES], 0)
    assert kept[:2].tolist() == [0, 65535]


@pytest.mark.parametrize("stored", [np.int16, np.uint16])
def test_equal_numbers_with_equal_draws_stay_equal(stored: type) -> None:
    """This keeps equivalent hands bit-identical in 16 bits."""
    random = np.random.default_rng(3)
    numbers = np.tile(random.uniform(1, 60000, 16), 2).astype(np.float32)
    roundings = np.tile(random.integers(0, 2**32, 16, dtype=np.uint32), 2)
    seen = set()
    for seed in range(200):
        kept = np.zeros(32, dtype=stored)
        store_all(numbers, kept, seed, roundings)
        np.testing.assert_array_equal(kept[:16], kept[16:])
        seen.add(int(kept[0]))
    assert len(seen) > 1  # at random, not to the nearest

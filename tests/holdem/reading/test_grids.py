"""The 13 × 13 grid of a node."""

from __future__ import annotations

import numpy as np

from regretless.holdem.reading.grids import make_grid
from regretless.holdem.solution import SpotSolution


def test_the_grid(river: SpotSolution) -> None:
    view = river.node()
    grid = view.grid()
    assert grid.shape == (169, 3)
    held = ~np.isnan(grid[:, 0])
    np.testing.assert_allclose(grid[held].sum(axis=1), 1, atol=1e-6)
    assert held.sum() == 9  # AKs, AKo, KQs, QJs, T9s, 99, 88, 77, 22
    np.testing.assert_array_equal(make_grid(view, "oop", "weight").weight > 0, held)

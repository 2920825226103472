"""Sums become probabilities, for one game or several side by side."""

from __future__ import annotations

import numpy as np

from regretless.forms.normalise import MIN_NORMAL, normalise, normalise_columns

FIRST = np.array([0, 2, 5, 6])


def test_each_information_set_is_divided_by_its_sum() -> None:
    sums = np.array([[1.0, 3.0, 0.0, 0.0, 0.0, 7.0], [MIN_NORMAL / 4, MIN_NORMAL / 4, 2.0, 0.0, 2.0, 0.0]])
    expected = [[0.25, 0.75, 1 / 3, 1 / 3, 1 / 3, 1.0], [0.5, 0.5, 0.5, 0.0, 0.5, 1.0]]
    np.testing.assert_allclose(normalise(sums, FIRST), expected, rtol=1e-15)
    for row, each in zip(sums, expected, strict=True):
        np.testing.assert_allclose(normalise(row, FIRST), each, rtol=1e-15)


def test_a_game_without_decisions_has_none_to_divide() -> None:
    assert normalise(np.zeros((3, 0)), np.array([0])).shape == (3, 0)


def test_columns_of_several_runouts_are_divided_by_their_sums() -> None:
    sums = np.array([[[1.0, 0.0], [3.0, 0.0]], [[0.0, 2.0], [5.0, 2.0]]], dtype=np.float32)
    expected = [[[0.25, 0.5], [0.75, 0.5]], [[0.0, 0.5], [1.0, 0.5]]]
    result = normalise_columns(sums)
    assert result.dtype == np.float64
    np.testing.assert_allclose(result, expected)

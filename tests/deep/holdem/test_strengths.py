"""Strengths in PyTorch are those of the evaluator."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from regretless.cards.evaluator import evaluate  # noqa: E402
from regretless.deep.holdem.strengths import Strengths  # noqa: E402


def hands(count: int, size: int) -> np.ndarray:
    """Random cards; a third of them from two suits, where flushes and straight flushes are common."""
    drawn = np.random.default_rng(size).random((count, 52))
    drawn[::3, np.arange(52) % 4 > 1] += 1
    return np.argsort(drawn, axis=1)[:, :size].astype(np.uint8)


@pytest.mark.parametrize("size", [5, 6, 7])
def test_every_hand_is_as_strong_as_the_evaluator_says(size: int) -> None:
    cards = hands(60_000, size)
    expected = evaluate(cards)
    assert len(np.unique(expected)) > 2500  # of 7,462
    np.testing.assert_array_equal(Strengths("cpu").of(torch.from_numpy(cards)).numpy(), expected)


@pytest.mark.gpu
@pytest.mark.parametrize("size", [5, 7])
def test_a_gpu_finds_the_same(size: int) -> None:
    cards = hands(500_000, size)
    found = Strengths("cuda").of(torch.from_numpy(cards).cuda())
    np.testing.assert_array_equal(found.cpu().numpy(), evaluate(cards))

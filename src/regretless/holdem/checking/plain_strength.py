"""Hand strength at showdown directly from the rules, in plain NumPy: no lookup tables, no compiled kernels.

The engines use `cards.evaluator`. `verification` uses this instead, so that a mistake in either would show.

A strength is an integer, larger for the better hand:

    category · 2²⁶ + first · 2¹³ + second

where `first` and `second` are sets of ranks, one bit each: those that make the category, then the kickers. Sets with
the same number of ranks compare as hands do, highest rank first.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from regretless.forms.history import IntArray

__all__ = ["showdown_strengths"]

_WHEEL = 0b1_0000_0000_1111  # A 2 3 4 5


def showdown_strengths(board: Sequence[int] | IntArray, hands: IntArray) -> IntArray:
    """[H] strength of hands [H, 2] on a five-card board, or one board [H, 5] each, that shares no card with them.

    >>> from regretless.cards.deck import parse_board
    >>> hands = np.array([parse_board(text) for text in ("Ah Kd", "7c 7d", "9s 2s")])
    >>> showdown_strengths(parse_board("Qs Js Ts 8s 7h"), hands).argsort().tolist()  # trips, straight, flush
    [1, 0, 2]
    """
    shared = np.broadcast_to(np.array(board, dtype=np.int64), (len(hands), 5))
    cards = np.concatenate([hands.astype(np.int64), shared], axis=1)
    ranks, suits = cards // 4, cards % 4
    counts, suit_counts = _counts(ranks, 13), _counts(suits, 4)
    flush_suit = suit_counts.argmax(axis=1)
    in_flush = (suits == flush_suit[:, None]) & (suit_counts.max(axis=1) >= 5)[:, None]

    held = _ranks(counts >= 1)
    flush = np.bitwise_or.reduce(np.where(in_flush, 1 << ranks, 0), axis=1)
    four, three, pairs = _ranks(counts == 4), _ranks(counts == 3), _ranks(counts >= 2)
    best_four, best_three, best_pair, two_pairs = _top(four, 1), _top(three, 1), _top(pairs, 1), _top(pairs, 2)
    full_of = _top(pairs & ~best_three, 1)
    straight, straight_flush = _straights()[held], _straights()[flush]
    none = np.zeros_like(held)

    cases = [
        (straight_flush > 0, 8, straight_flush, none),
        (four > 0, 7, best_four, _top(held & ~best_four, 1)),
        ((three > 0) & (full_of > 0), 6, best_three, full_of),
        (flush > 0, 5, _top(flush, 5), none),
        (straight > 0, 4, straight, none),
        (three > 0, 3, best_three, _top(held & ~best_three, 2)),
        (two_pairs != best_pair, 2, two_pairs, _top(held & ~two_pairs, 1)),
        (pairs > 0, 1, best_pair, _top(held & ~best_pair, 3)),
    ]
    return np.select(
        [applies for applies, *_ in cases],
        [(category << 26) + (first << 13) + second for _, category, first, second in cases],
        default=_top(held, 5) << 13,
    )


def _counts(numbers: IntArray, size: int) -> IntArray:
    """[H, size] how often each number below `size` occurs in a row."""
    flat = np.arange(len(numbers))[:, None] * size + numbers
    return np.bincount(flat.ravel(), minlength=len(numbers) * size).reshape(-1, size)


def _ranks(chosen: NDArray[np.bool_]) -> IntArray:
    """[H] sets of ranks from [H, 13] flags."""
    sets: IntArray = (chosen.astype(np.int64) << np.arange(13)).sum(axis=1)
    return sets


def _top(ranks: IntArray, count: int) -> IntArray:
    """The highest `count` ranks of each set, or all if there are fewer."""
    return _tops()[count][ranks]


@cache
def _tops() -> list[IntArray]:
    """For each number of ranks to keep, the highest ranks of each of the 8,192 sets."""
    sets = np.arange(1 << 13)
    kept = [np.zeros_like(sets)]
    for _ in range(5):
        others = sets & ~kept[-1]
        highest = np.where(others > 0, 1 << (np.frexp(others.astype(np.float64))[1] - 1).clip(0), 0)
        kept.append(kept[-1] | highest)
    return kept


@cache
def _straights() -> IntArray:
    """For each of the 8,192 sets, the highest rank of its best straight, as a set; empty if there is none."""
    sets = np.arange(1 << 13)
    found = np.where(sets & _WHEEL == _WHEEL, 1 << 3, 0)
    for high in range(4, 13):
        five = 0b11111 << (high - 4)
        found = np.where(sets & five == five, 1 << high, found)
    return found

"""Tables that give the strength of 5, 6 or 7 cards with one addition per card and two lookups.

Strengths are dense: 0 is the worst five cards (7-5-4-3-2), 7,461 the royal flush; equal hands have equal numbers.

1. Without a flush, only the number of cards of each rank matters. The counts of ranks 2..8 are digits of a base-5
   number, those of 9..A of another; each card adds its digit, so one sum per hand encodes both numbers.
2. Vectors of counts are numbered without gaps: n cards with high digits H and low digits L have number
   `high_offset[n - 5, H] + low_position[L]`, where L is numbered among the low halves with the same number of cards.
   That is 6,175 + 18,395 + 49,205 numbers for 5, 6 and 7 cards, which fit in the L2 cache.
3. Five cards are ordered by category, then by their ranks, most frequent first. The strength of six or seven cards is
   the best that remains when one card is removed.
4. With a flush, only the ranks in that suit matter (seven cards cannot contain both a flush and a full house), so a
   table over the 2^13 sets of ranks is enough.

The tables are built on first use, in about a tenth of a second.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["CATEGORY_CLASSES", "StrengthTables", "strength_tables"]

# Number of different strengths in each category, weakest first.
CATEGORY_CLASSES: Final = {
    "high card": 1277,
    "pair": 2860,
    "two pair": 858,
    "three of a kind": 858,
    "straight": 10,
    "flush": 1277,
    "full house": 156,
    "four of a kind": 156,
    "straight flush": 10,
}
HIGH_CARD, PAIR, TWO_PAIR, TRIPS, STRAIGHT, FLUSH, FULL_HOUSE, QUADS, STRAIGHT_FLUSH = range(9)

LOW_RANKS, HIGH_RANKS = 7, 6  # 2..8 and 9..A
LOW_BITS, HIGH_BITS = 17, 14  # 5^7 < 2^17 and 5^6 < 2^14
SUIT_BITS = 32  # four suit counters of four bits each sit above both halves
WHEEL = 0b1_0000_0000_1111  # A-2-3-4-5

IntArray = NDArray[np.int64]


class StrengthTables(NamedTuple):
    """The tables of the compiled evaluator; a named tuple, because numba accepts those as arguments."""

    card_key: NDArray[np.int64]  # [52]       digit of the rank, plus one in the counter of the suit
    card_bit: NDArray[np.int64]  # [52]       bit 13 · suit + rank
    low_position: NDArray[np.uint16]  # [5^7]      number of a low half among those with the same number of cards
    high_offset: NDArray[np.int32]  # [3, 5^6]   where a high half of 5, 6, 7 cards starts
    rank_strength: NDArray[np.int16]  # [73775]    strength without a flush
    flush_strength: NDArray[np.int16]  # [2^13]     strength of a set of ranks in one suit


@cache
def strength_tables() -> StrengthTables:
    """The tables, built once per process."""
    low_position, high_offset, counts = _number_the_counts()
    flush_scores = _flush_scores()
    scores = _rank_scores(counts[0])
    ordered = np.unique(np.concatenate([scores, flush_scores[flush_scores >= 0]]))
    rank_strength = np.searchsorted(ordered, scores)
    for extra_cards in (1, 2):  # six cards from five, seven from six, numbered consecutively
        best = _best_without_one(counts[extra_cards], rank_strength, low_position, high_offset[extra_cards - 1])
        rank_strength = np.concatenate([rank_strength, best])
    cards = np.arange(52)
    ranks, suits = cards // 4, cards % 4
    digit = np.where(ranks < LOW_RANKS, 5**ranks, 5 ** (ranks % LOW_RANKS) << LOW_BITS)
    return StrengthTables(
        card_key=digit + (np.int64(1) << (SUIT_BITS + 4 * suits)),
        card_bit=np.int64(1) << (13 * suits + ranks),
        low_position=low_position.astype(np.uint16),
        high_offset=high_offset.astype(np.int32),
        rank_strength=rank_strength.astype(np.int16),
        flush_strength=_flush_strengths(ordered, flush_scores),
    )


def _number_the_counts() -> tuple[IntArray, IntArray, list[IntArray]]:
    """Step 2: positions, offsets, and the vectors of counts [numbers, 13] for 5, 6 and 7 cards in that order."""
    low_digits, high_digits = _digits(LOW_RANKS), _digits(HIGH_RANKS)
    low_size, high_size = low_digits.sum(axis=1), high_digits.sum(axis=1)
    halves = [np.flatnonzero(low_size == size) for size in range(8)]
    low_position = np.zeros(5**LOW_RANKS, dtype=np.int64)
    for half in halves:
        low_position[half] = np.arange(len(half))
    high_offset = np.zeros((3, 5**HIGH_RANKS), dtype=np.int64)
    counts = []
    start = 0
    for size in (5, 6, 7):
        high = np.flatnonzero(high_size <= size)
        low = [halves[missing] for missing in size - high_size[high]]
        lengths = np.array([len(half) for half in low])
        high_offset[size - 5, high] = start + np.cumsum(lengths) - lengths
        start += int(lengths.sum())
        counts.append(np.hstack([low_digits[np.concatenate(low)], np.repeat(high_digits[high], lengths, axis=0)]))
    return low_position, high_offset, counts


def _digits(length: int) -> IntArray:
    """Base-5 digits of 0 … 5^length - 1, least significant first: [5^length, length]."""
    return np.arange(5**length)[:, None] // 5 ** np.arange(length) % 5


def _rank_scores(counts: IntArray) -> IntArray:
    """Step 3: scores that order five cards without a flush: by category, then by ranks, most frequent first."""
    order = np.argsort(-(counts * 13 + np.arange(13)), axis=1)[:, :5]  # count first, then rank
    frequency = np.take_along_axis(counts, order, axis=1)
    masks = (counts > 0) @ (1 << np.arange(13))
    top = _straight_top(masks)
    category = np.select(
        [
            frequency[:, 0] == 4,
            (frequency[:, 0] == 3) & (frequency[:, 1] == 2),
            frequency[:, 0] == 3,
            (frequency[:, 0] == 2) & (frequency[:, 1] == 2),
            frequency[:, 0] == 2,
            top >= 0,
        ],
        [QUADS, FULL_HOUSE, TRIPS, TWO_PAIR, PAIR, STRAIGHT],
        HIGH_CARD,
    )
    kickers = np.where(frequency > 0, order, 0) @ 13 ** np.arange(4, -1, -1)
    return category * 13**5 + np.where(category == STRAIGHT, top, kickers)


def _flush_scores() -> IntArray:
    """The same score for every set of exactly five ranks in one suit; -1 for other sets."""
    masks = np.arange(2**13)
    ranks = masks[:, None] >> np.arange(13) & 1
    top = _straight_top(masks)
    kickers = np.where(ranks.sum(axis=1) == 5, _rank_scores(ranks), 0) % 13**5  # ranks only: the category is a flush
    scores = np.where(top >= 0, STRAIGHT_FLUSH * 13**5 + top, FLUSH * 13**5 + kickers)
    return np.where(ranks.sum(axis=1) == 5, scores, -1)


def _straight_top(masks: IntArray) -> IntArray:
    """Highest rank of a straight (5 for A-2-3-4-5); -1 where the ranks form none."""
    top = np.full(len(masks), -1)
    top[masks == WHEEL] = 3
    for rank in range(4, 13):
        top[masks == 0b11111 << (rank - 4)] = rank
    return top


def _flush_strengths(ordered: IntArray, scores: IntArray) -> NDArray[np.int16]:
    """Step 4: strength of every set of five or more ranks; 0 for smaller sets, which are never looked up."""
    masks = np.arange(2**13)
    strength = np.where(scores >= 0, np.searchsorted(ordered, scores), 0)
    sizes = (masks[:, None] >> np.arange(13) & 1).sum(axis=1)
    for size in range(6, 14):
        larger = masks[sizes == size]
        for rank in range(13):
            containing = larger[larger >> rank & 1 == 1]
            strength[containing] = np.maximum(strength[containing], strength[containing ^ (1 << rank)])
    return strength.astype(np.int16)


def _best_without_one(
    counts: IntArray, rank_strength: IntArray, low_position: IntArray, high_offset: IntArray
) -> IntArray:
    """Step 3 with one more card: the best strength over all ways to remove a card."""
    low = counts[:, :LOW_RANKS] @ 5 ** np.arange(LOW_RANKS)
    high = counts[:, LOW_RANKS:] @ 5 ** np.arange(HIGH_RANKS)
    best = np.zeros(len(counts), dtype=np.int64)
    for rank in range(13):
        rows = np.flatnonzero(counts[:, rank])
        fewer_low = low[rows] - (5**rank if rank < LOW_RANKS else 0)
        fewer_high = high[rows] - (5 ** (rank - LOW_RANKS) if rank >= LOW_RANKS else 0)
        best[rows] = np.maximum(best[rows], rank_strength[high_offset[fewer_high] + low_position[fewer_low]])
    return best

"""The buckets of a spot: for every runout of its form, the bucket of each hand.

The first street, and every street for which no number is given, is lossless. Elsewhere, hands are divided by

    percentile   expected strength: the share of opposing hands that a hand beats, ties counting half, averaged over the
                 cards to come; a bucket is an equal part of the range from 0 to 1

which does not depend on the names of suits, so equivalent hands share a bucket.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from regretless.cards.deck import DECK
from regretless.cards.evaluator import BLOCKED, hand_strengths
from regretless.forms.drawn_runouts import BucketMaps, lossless
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import PublicForm
from regretless.holdem.bucketed.choice import BucketChoice
from regretless.holdem.form.runouts import spot_hands
from regretless.holdem.spots.spot import Spot

__all__ = ["SpotBuckets", "spot_buckets"]

SpotBuckets = tuple[BucketMaps, tuple[tuple[int, ...], tuple[int, ...]]]  # maps, and numbers per player and street


def spot_buckets(spot: Spot, form: PublicForm, choice: BucketChoice) -> SpotBuckets:
    """The maps of a spot's form."""
    held = spot_hands(spot)
    every = lossless(form)
    maps: tuple[list[IntArray], list[IntArray]] = ([], [])
    counts: tuple[list[int], list[int]] = ([], [])
    for number, (street, boards) in enumerate(zip(spot.streets, _boards(spot, form), strict=True)):
        count = choice.count(street)
        of_hands = None if count is None else _percentiles(boards, count)
        for player in range(2):
            map_ = every[player][number] if of_hands is None else of_hands[:, held[player]]
            maps[player].append(map_)
            counts[player].append(len(form.hands[player].weight) * len(boards) if count is None else count)
    return (tuple(maps[0]), tuple(maps[1])), (tuple(counts[0]), tuple(counts[1]))


def _boards(spot: Spot, form: PublicForm) -> list[IntArray]:
    """[R, cards] the whole board of every runout, street by street."""
    found: list[IntArray] = [np.array([spot.board], dtype=np.uint8)]
    for street in form.streets[1:]:
        found.append(np.hstack([found[-1][street.parent], street.cards.astype(np.uint8)]))
    return found


def _percentiles(boards: IntArray, count: int) -> IntArray:
    """[n, 1326] buckets by expected strength; 0 for hands that a board blocks."""
    shares = np.array([_strength_shares(board.tolist()) for board in boards])
    return np.minimum((shares * count).astype(np.int32), count - 1)


def _strength_shares(board: list[int]) -> FloatArray:
    """[1326] the share of other hands that each hand beats on average over the cards to come; 0 if blocked."""
    left = [card for card in range(DECK) if card not in board]
    finals = [[*board, *more] for more in combinations(left, 5 - len(board))]
    total, times = np.zeros(1326), np.zeros(1326)
    for strengths in hand_strengths(np.array(finals, dtype=np.uint8)):
        live = strengths != BLOCKED
        _, places, sizes = np.unique(strengths[live], return_inverse=True, return_counts=True)
        weaker = np.cumsum(sizes) - sizes
        total[live] += ((weaker + sizes / 2) / live.sum())[places]
        times += live
    return np.divide(total, times, out=np.zeros(1326), where=times > 0)

"""Hand strength: the share of opposing hands that a hand beats on the river, ties counting half.

The opponent may hold any two of the remaining cards with equal probability. Before the river, a hand has a strength on
every runout. Their mean is its expected strength, E[HS]; their distribution also tells a made hand from a draw with the
same mean. Both are exact: every runout is visited.

As features for clustering, a distribution becomes the cumulative histogram of strengths. The squared distance between
two such rows is a discrete form of ∫ (F − G)², where F and G are the distribution functions. Like the earth mover's
distance ∫ |F − G|, it grows with how far probability has to move, but its centroids are means, as k-means needs.

A strength between two bins is shared between them in proportion, so that the histogram keeps the mean exactly.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from regretless.cards.features.batches import SituationBatch
from regretless.cards.hands import HAND_CARDS, HAND_CLASS
from regretless.cards.isomorphism import CanonicalBoards
from regretless.cards.strength_tables import strength_tables

__all__ = [
    "COLUMNS",
    "LEVELS",
    "MOST_POINTS",
    "class_histogram_features",
    "histogram_features",
    "most_points",
    "strength_points",
]

COLUMNS: Final = 32  # of a cumulative histogram: bins 0/32, 1/32, … 32/32, without the last, where it is always 1
LEVELS: Final = 512  # what a share of 1 becomes, so that features are whole numbers
MOST_POINTS: Final = 1980  # two for each opposing hand on a river

RUNOUTS = {3: 47 * 46 // 2, 4: 46, 5: 1}  # of a hand, by number of cards on the board


def strength_points(batch: SituationBatch) -> NDArray[np.int32]:
    """[situations] two points for each opposing hand beaten and one for each tie, added up over all runouts."""
    from regretless.cards.features._kernels import runout_points

    points = np.empty(batch.local.shape, dtype=np.int32)
    runout_points(batch.boards, HAND_CARDS, strength_tables(), points)
    chosen = batch.local >= 0
    found = np.empty(batch.situations, dtype=np.int32)
    found[batch.local[chosen]] = points[chosen]
    return found


def most_points(size: int) -> int:
    """Points of a hand that beats everything on every runout."""
    return MOST_POINTS * RUNOUTS[size]


def histogram_features(batch: SituationBatch) -> NDArray[np.uint16]:
    """[situations, 32] cumulative histogram of the strengths on the river, in units of 1/512; flop and turn only."""
    from regretless.cards.features._kernels import runout_histograms

    histograms = np.zeros((batch.situations, COLUMNS + 2), dtype=np.int32)
    low_bin, low_share = _bins()
    runout_histograms(
        batch.boards, HAND_CARDS, strength_tables(), low_bin, low_share, MOST_POINTS, batch.local, histograms
    )
    return _cumulative(histograms, most_points(batch.boards.shape[1]))


def class_histogram_features(rivers: CanonicalBoards) -> NDArray[np.uint16]:
    """[169, 32] the same before the flop, over these rivers: of the strength on the river of each class of hands."""
    from regretless.cards.features._kernels import class_histograms

    histograms = np.zeros((169, COLUMNS + 2), dtype=np.int64)
    low_bin, low_share = _bins()
    class_histograms(
        rivers.cards, rivers.multiplicity, HAND_CARDS, strength_tables(), low_bin, low_share, MOST_POINTS, HAND_CLASS,
        histograms,
    )  # fmt: skip
    return _cumulative(histograms, histograms.sum(axis=1, keepdims=True))


@cache
def _bins() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """[1981] the bin at or below each number of points, and its share of `MOST_POINTS`; the next bin gets the rest."""
    scaled = np.arange(MOST_POINTS + 1, dtype=np.int64) * COLUMNS
    return scaled // MOST_POINTS, MOST_POINTS - scaled % MOST_POINTS


def _cumulative(
    histograms: NDArray[np.int32] | NDArray[np.int64], total: int | NDArray[np.int64]
) -> NDArray[np.uint16]:
    """Cumulative histograms as multiples of 1/LEVELS, rounded."""
    sums = np.cumsum(histograms[:, :COLUMNS], axis=1, dtype=np.int64)
    return ((2 * LEVELS * sums + total) // (2 * total)).astype(np.uint16)

"""Features that describe the hands of a street, as rows of whole numbers: the input of card abstraction.

**Strength** is the share of opposing hands that a hand beats on the river, ties counting half. The opponent may hold
any two of the remaining cards with equal probability. Before the river, a hand has a strength on every runout. Their
mean is its expected strength, E[HS]; their distribution also tells a made hand from a draw with the same mean. Both are
exact: every runout is visited.

As features for clustering, a distribution becomes the cumulative histogram of strengths. The squared distance between
two such rows is a discrete form of ∫ (F − G)², where F and G are the distribution functions. Like the earth mover's
distance ∫ |F − G|, it grows with how far probability has to move, but its centroids are means, as k-means needs. A
strength between two bins is shared between them in proportion, so that the histogram keeps the mean exactly.

**Strength against clusters of opposing hands** (OCHS, "opponent cluster hand strength"), on the river. A hand's
strength against all hands hides what it beats: a busted draw beats other busted draws only, a middling pair beats the
weak half of everything. So the 169 classes of opposing hands are divided into eight clusters, and a hand is described
by eight strengths, one against each (Johanson, Burch, Valenzano & Bowling, "Evaluating State-Space Abstractions in
Extensive-Form Games", AAMAS 2013). The clusters are those of k-means on the classes' cumulative histograms of strength
over all rivers (`class_histogram_features`), each class weighted by its number of hands: the best of fifty starts. They
never change, so they are constants of this module; a test computes them again. Seven cards cannot block all hands of a
cluster, so each of these strengths is always defined.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from regretless.cards.hands import HAND_CARDS, HAND_CLASS
from regretless.cards.isomorphism import CanonicalBoards, canonical_boards
from regretless.cards.situations import first_situations, hand_situations
from regretless.cards.strength_tables import strength_tables

__all__ = [
    "CLUSTERS", "CLUSTER_HANDS", "COLUMNS", "HISTOGRAM_LEVELS", "OPPONENT_CLUSTERS", "OPPONENT_LEVELS",
    "SituationBatch", "class_histogram_features", "histogram_features", "maximum_points", "opponent_features",
    "situation_batch", "strength_points",
]  # fmt: skip

COLUMNS: Final = 32  # of a cumulative histogram: bins 0/32, 1/32, … 32/32, without the last, where it is always 1
HISTOGRAM_LEVELS: Final = 512  # what a share of 1 becomes, so that features are whole numbers
RIVER_POINTS: Final = 1980  # two for each opposing hand on a river

RUNOUTS = {3: 47 * 46 // 2, 4: 46, 5: 1}  # of a hand, by number of cards on the board

CLUSTERS: Final = 8
OPPONENT_LEVELS: Final = 1024  # what a strength of 1 becomes

# The grid of classes from aces down, suited hands above the diagonal; 0 is the weakest cluster.
OPPONENT_CLUSTERS: Final[NDArray[np.int64]] = np.array(
    [int(cluster) for row in (
        "7555555555444",
        "5755554444444",
        "5575333333222",
        "5537333322222",
        "5533733222211",
        "5433363111111",
        "5433216111111",
        "4422211611100",
        "4422211161000",
        "4422111106000",
        "4422111000400",
        "4422110000040",
        "4222110000004",
    ) for cluster in row]
)  # fmt: skip

# [8] how many of the 1,326 hands are in each cluster
CLUSTER_HANDS: Final[NDArray[np.int64]] = np.bincount(OPPONENT_CLUSTERS[HAND_CLASS])


@dataclass(frozen=True)
class SituationBatch:
    """Some canonical boards of one size. Their situations are numbered from 0, in the order of the boards."""

    boards: NDArray[np.uint8]  # [boards, size]
    multiplicity: NDArray[np.int64]  # [boards]  how many boards each stands for
    starts: NDArray[np.int64]  # [boards + 1]  first situation of each board
    local: NDArray[np.int32]  # [boards, 1326]  situation of each hand, of isomorphic hands only the first; −1: none
    hands: NDArray[np.int32]  # [situations]  how many hands of the board each situation stands for

    @property
    def situations(self) -> int:
        return int(self.starts[-1])


def situation_batch(size: int, rows: NDArray[np.int64]) -> SituationBatch:
    """The boards in these rows of `canonical_boards(size)`."""
    from regretless.cards._feature_kernels import number_situations

    canonical = canonical_boards(size)
    boards = np.ascontiguousarray(canonical.cards[rows])
    first, after = (first_situations(size)[row].astype(np.int64) for row in (rows, rows + 1))
    starts = np.concatenate([[0], np.cumsum(after - first)])
    indices = hand_situations(boards)
    local, hands = np.empty(indices.shape, dtype=np.int32), np.zeros(starts[-1], dtype=np.int32)
    number_situations(indices, first, starts, local, hands)
    return SituationBatch(boards, canonical.multiplicity[rows], starts, local, hands)


def strength_points(batch: SituationBatch) -> NDArray[np.int32]:
    """[situations] two points for each opposing hand beaten and one for each tie, added up over all runouts."""
    from regretless.cards._feature_kernels import runout_points

    points = np.empty(batch.local.shape, dtype=np.int32)
    runout_points(batch.boards, HAND_CARDS, strength_tables(), points)
    chosen = batch.local >= 0
    of_situation = np.empty(batch.situations, dtype=np.int32)
    of_situation[batch.local[chosen]] = points[chosen]
    return of_situation


def maximum_points(size: int) -> int:
    """Points of a hand that beats everything on every runout."""
    return RIVER_POINTS * RUNOUTS[size]


def histogram_features(batch: SituationBatch) -> NDArray[np.uint16]:
    """[situations, 32] cumulative histogram of the strengths on the river, in units of 1/512; flop and turn only."""
    from regretless.cards._feature_kernels import runout_histograms

    histograms = np.zeros((batch.situations, COLUMNS + 2), dtype=np.int32)
    low_bin, low_share = _bins()
    runout_histograms(
        batch.boards, HAND_CARDS, strength_tables(), low_bin, low_share, RIVER_POINTS, batch.local, histograms
    )
    return _cumulative(histograms, maximum_points(batch.boards.shape[1]))


def class_histogram_features(rivers: CanonicalBoards) -> NDArray[np.uint16]:
    """[169, 32] the same before the flop, over these rivers: of the strength on the river of each class of hands."""
    from regretless.cards._feature_kernels import class_histograms

    histograms = np.zeros((169, COLUMNS + 2), dtype=np.int64)
    low_bin, low_share = _bins()
    class_histograms(
        rivers.cards, rivers.multiplicity, HAND_CARDS, strength_tables(), low_bin, low_share, RIVER_POINTS, HAND_CLASS,
        histograms,
    )  # fmt: skip
    return _cumulative(histograms, histograms.sum(axis=1, keepdims=True))


@cache
def _bins() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """[1981] the bin at or below each number of points, and its share of `RIVER_POINTS`; the next bin gets the rest."""
    scaled = np.arange(RIVER_POINTS + 1, dtype=np.int64) * COLUMNS
    return scaled // RIVER_POINTS, RIVER_POINTS - scaled % RIVER_POINTS


def _cumulative(
    histograms: NDArray[np.int32] | NDArray[np.int64], total: int | NDArray[np.int64]
) -> NDArray[np.uint16]:
    """Cumulative histograms as multiples of 1/512, rounded."""
    sums = np.cumsum(histograms[:, :COLUMNS], axis=1, dtype=np.int64)
    return ((2 * HISTOGRAM_LEVELS * sums + total) // (2 * total)).astype(np.uint16)


def opponent_features(batch: SituationBatch) -> NDArray[np.uint16]:
    """[situations, 8] strength against each cluster in units of 1/1024."""
    from regretless.cards._feature_kernels import opponent_points

    features = np.empty((batch.situations, CLUSTERS), dtype=np.uint16)
    cluster = OPPONENT_CLUSTERS[HAND_CLASS]
    opponent_points(batch.boards, HAND_CARDS, strength_tables(), cluster, OPPONENT_LEVELS, batch.local, features)
    return features

"""Strength on the river against clusters of opposing hands (OCHS, "opponent cluster hand strength").

A hand's strength against all hands hides what it beats: a busted draw beats other busted draws only, a middling pair
beats the weak half of everything. So the 169 classes of opposing hands are divided into eight clusters, and a hand is
described by eight strengths, one against each (Johanson, Burch, Valenzano & Bowling, "Evaluating State-Space
Abstractions in Extensive-Form Games", AAMAS 2013).

The clusters are those of k-means on the classes' cumulative histograms of strength over all rivers
(`strength.class_histogram_features`), each class weighted by its number of hands: the best of fifty starts. They never
change, so they are written down here; a test computes them again. Seven cards cannot block all hands of a cluster, so
each of these strengths is always defined.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from regretless.cards.features.batches import SituationBatch
from regretless.cards.hands import HAND_CARDS, HAND_CLASS
from regretless.cards.strength_tables import strength_tables

__all__ = ["CLUSTERS", "CLUSTER_HANDS", "LEVELS", "OPPONENT_CLUSTERS", "opponent_features"]

CLUSTERS: Final = 8
LEVELS: Final = 1024  # what a strength of 1 becomes, so that features are whole numbers

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


def opponent_features(batch: SituationBatch) -> NDArray[np.uint16]:
    """[situations, 8] strength against each cluster in units of 1/1024."""
    from regretless.cards.features._kernels import opponent_points

    features = np.empty((batch.situations, CLUSTERS), dtype=np.uint16)
    cluster = OPPONENT_CLUSTERS[HAND_CLASS]
    opponent_points(batch.boards, HAND_CARDS, strength_tables(), cluster, LEVELS, batch.local, features)
    return features

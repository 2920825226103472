"""How the situations of one street become buckets, once centroids or percentiles are known.

| method     | features                                                                  | bucket                      |
|------------|---------------------------------------------------------------------------|-----------------------------|
| kmeans     | flop, turn: cumulative histogram of the strength on the river             | of the nearest centroid     |
|            | river: strength against each of eight clusters of opposing hands          |                             |
| percentile | expected strength                                                         | how many limits it reaches  |
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from regretless.cards.features.batches import SituationBatch
from regretless.cards.features.opponents import opponent_features
from regretless.cards.features.strength import histogram_features, strength_points

if TYPE_CHECKING:
    from regretless.engines import CentroidLookup, TorchCentroidLookup

__all__ = ["Division", "NearestCentroid", "Percentiles", "kmeans_features"]


class Division(Protocol):
    """Divides situations among buckets; may be used from several threads."""

    @property
    def parameters(self) -> NDArray[Any]:
        """The numbers that define it, as files keep them."""
        ...

    def buckets(self, batch: SituationBatch) -> NDArray[np.uint16]:
        """[situations] bucket of each situation."""
        ...

    def on(self, device: str) -> Division:
        """The same division, computed on a device if that makes it faster."""
        ...


@dataclass(frozen=True)
class NearestCentroid:
    """The bucket of the nearest centroid."""

    parameters: NDArray[np.uint16]  # [buckets, columns]  centroids
    device: str = "cpu"  # on which it is searched for; all devices find the same

    @cached_property
    def _nearest(self) -> CentroidLookup | TorchCentroidLookup:
        if self.device != "cpu":
            from regretless.engines import TorchCentroidLookup

            return TorchCentroidLookup(self.parameters, self.device)
        from regretless.engines import CentroidLookup  # loads numba, which reading a file does not need

        return CentroidLookup(self.parameters)

    def on(self, device: str) -> NearestCentroid:
        return NearestCentroid(self.parameters, device)

    def buckets(self, batch: SituationBatch) -> NDArray[np.uint16]:
        return self._nearest.labels(kmeans_features(batch))


@dataclass(frozen=True)
class Percentiles:
    """The number of limits that a situation's points reach."""

    parameters: NDArray[np.int32]  # [buckets - 1]  rising

    def buckets(self, batch: SituationBatch) -> NDArray[np.uint16]:
        return np.searchsorted(self.parameters, strength_points(batch), side="right").astype(np.uint16)

    def on(self, device: str) -> Percentiles:
        return self


def kmeans_features(batch: SituationBatch) -> NDArray[np.uint16]:
    """[situations, columns] what k-means compares on this street."""
    return opponent_features(batch) if batch.boards.shape[1] == 5 else histogram_features(batch)

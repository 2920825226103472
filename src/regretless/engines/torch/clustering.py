"""k-means in PyTorch, for a GPU: the same centroids and labels as on the processor, to the last bit.

Scores x·c − |c|²/2 are matrix products in float32, exact for whole numbers this small (`numba/clustering.py` says why)
as long as PyTorch multiplies in full float32, which is its default. Distances and sums over rows are whole numbers in
float64. `argmax` returns the first of equal scores.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless.engines.numba.clustering import MAX_SQUARE, Rows, rounded_means
from regretless.forms.history import AnyArray

__all__ = ["TorchCentroidLookup", "TorchCentroidSample"]

SCORES = 2**25  # computed at a time, to bound memory


class TorchCentroidLookup:
    """Assigns rows to the nearest of some centroids; may be called from several threads."""

    def __init__(self, centroids: Rows, device: str) -> None:
        self.device = device
        exact = centroids.astype(np.float64)
        self._columns = torch.from_numpy(exact.T.astype(np.float32)).to(device)  # [columns, centroids]
        self._offsets = torch.from_numpy((-(exact * exact).sum(axis=1) / 2).astype(np.float32)).to(device)

    def labels(self, rows: Rows) -> NDArray[np.uint16]:
        """[rows] number of the nearest centroid; among equally near ones, the first."""
        return _downloaded(self.on_device(_uploaded(rows, self.device).float())).astype(np.uint16)

    def on_device(self, rows: Tensor) -> Tensor:
        """[rows] the same for rows [rows, columns] in float32 on the device."""
        step = max(SCORES // len(self._offsets), 1)
        pieces = [
            torch.addmm(self._offsets, rows[begin : begin + step], self._columns).argmax(dim=1)
            for begin in range(0, len(rows), step)
        ]
        return torch.cat(pieces) if pieces else torch.empty(0, dtype=torch.int64)


class TorchCentroidSample:
    """A sample of weighted rows on a device: a `numba.clustering.CentroidSample`."""

    def __init__(self, rows: Rows, weights: NDArray[np.int64], device: str) -> None:
        self.rows, self.device = rows, device
        self._rows = _uploaded(rows, device).double()
        self._near = self._rows.float()
        self._weights = torch.from_numpy(weights).to(device)
        self._distances = torch.full((len(rows),), MAX_SQUARE, dtype=torch.float64, device=device)
        self._sums = torch.cumsum(self._weights, dim=0)

    def total(self) -> int:
        return int(self._sums[-1]) if len(self._sums) else 0

    def draw(self, mass: int) -> NDArray[np.uint16]:
        row: NDArray[np.uint16] = self.rows[int(torch.searchsorted(self._sums, mass, right=True))]
        return row

    def add(self, centroid: NDArray[np.uint16]) -> None:
        away = (self._rows - _uploaded(centroid, self.device).double()).square_().sum(dim=1)
        self._distances = torch.minimum(self._distances, away)
        self._sums = torch.cumsum(self._weights * self._distances.long(), dim=0)

    def moved(self, centroids: Rows) -> Rows:
        labels = TorchCentroidLookup(centroids, self.device).on_device(self._near)
        sums = torch.zeros(centroids.shape, dtype=torch.float64, device=self.device)
        sums.index_add_(0, labels, self._rows * self._weights[:, None])
        totals = torch.zeros(len(centroids), dtype=torch.int64, device=self.device)
        totals.index_add_(0, labels, self._weights)
        nearest = _downloaded(labels).astype(np.uint16)
        return rounded_means(self.rows, nearest, centroids, _downloaded(sums).astype(np.int64), _downloaded(totals))


def _uploaded(rows: NDArray[np.uint16], device: str) -> Tensor:
    """Rows on a device, as int16: features are far below 2¹⁵, and PyTorch does little with uint16."""
    return torch.from_numpy(np.ascontiguousarray(rows).view(np.int16)).to(device)


def _downloaded(numbers: Tensor) -> AnyArray:
    downloaded: AnyArray = numbers.cpu().numpy()
    return downloaded

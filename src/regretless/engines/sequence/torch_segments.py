"""Sums and maxima over slices of a tensor, on every device of PyTorch, without atomic additions.

`torch.segment_reduce` adds the elements of a slice in a fixed order on CPU and CUDA, so results repeat to the last
bit; Apple's MPS lacks it and uses the indexed form instead. The first axis is cut into slices; further axes (a batch of
games) are kept.
"""

from __future__ import annotations

import numpy as np
import torch

from regretless.forms.history import IntArray

__all__ = ["Segments"]


class Segments:
    """Adjacent slices of the first axis: slice k is `bounds[k] : bounds[k + 1]`."""

    def __init__(self, bounds: IntArray, device: torch.device) -> None:
        self.count = len(bounds) - 1
        self.bounds = torch.as_tensor(np.asarray(bounds, dtype=np.int64), device=device)
        counts = np.diff(bounds)
        self.empty = bool(counts.sum() == 0)
        self.indexed = device.type == "mps"
        index = np.repeat(np.arange(self.count), counts) if self.indexed else np.zeros(0, dtype=np.int64)
        self.index = torch.as_tensor(index, device=device)

    def sum(self, values: torch.Tensor) -> torch.Tensor:
        """Sum of each slice; 0 where it is empty."""
        if self.indexed:
            return values.new_zeros((self.count, *values.shape[1:])).index_add_(0, self.index, values)
        return torch.segment_reduce(values, "sum", offsets=self.bounds, axis=0, unsafe=True)

    def max(self, values: torch.Tensor) -> torch.Tensor:
        """Maximum of each slice; none may be empty."""
        if self.indexed:
            lowest = values.new_full((self.count, *values.shape[1:]), -torch.inf)
            return lowest.index_reduce_(0, self.index, values, "amax")
        return torch.segment_reduce(values, "max", offsets=self.bounds, axis=0, unsafe=True)

    @property
    def memory_bytes(self) -> int:
        return self.bounds.nbytes + self.index.nbytes

"""Memories of samples with a fixed capacity, never cleared between iterations.

Reservoir sampling (Vitter, 1985, algorithm R): sample number n of the stream goes to slot n while n < capacity; after
that it replaces a uniformly chosen slot with probability capacity / (n + 1). At any time the memory is a uniform subset
of all samples that were offered.

A batch is inserted at once: every sample draws the slot it would have drawn on its own, and where several draw the same
slot, the last one stays, as if they had been inserted one by one.

A sample holds an observation, a target per action (NaN marks an action that is not legal) and the iteration it is from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from regretless.deep.settings import MemoryPlace, Replacement, Weighting
from regretless.errors import EmptyMemory, InvalidOption
from regretless.forms.history import AnyArray

__all__ = ["MEMORY_ARRAYS", "Memory", "ReservoirBatch", "Samples", "sample_bytes"]

MEMORY_ARRAYS = ("observations", "targets", "iterations", "seen")  # of a snapshot

CHUNK = 1_000_000  # rows read at a time when all rows are read


class Samples(NamedTuple):
    """Samples that traversals collected."""

    observations: Tensor  # [n, K] integers
    targets: Tensor  # [n, A] float32, NaN where an action is not legal


class ReservoirBatch(NamedTuple):
    """Samples to fit a network to."""

    observations: Tensor  # [n, K]
    targets: Tensor  # [n, A]  NaN where an action is not legal
    weights: Tensor  # [n]     of a sample's squared error


def sample_bytes(observation_size: int, observation_dtype: torch.dtype, actions: int) -> int:
    """Bytes that a memory allocates per sample."""
    return observation_size * observation_dtype.itemsize + actions * 4 + 4


class Memory:
    """Flat tensors of `capacity` samples, on the device or in the host's pinned memory."""

    def __init__(
        self,
        name: str,
        capacity: int,
        *,
        observation_size: int,
        observation_dtype: torch.dtype,
        actions: int,
        device: torch.device,
        place: MemoryPlace = "device",
        replacement: Replacement = "reservoir",
    ) -> None:
        self.name = name  # for messages: "the strategy memory"
        self.capacity = capacity
        self.replacement = replacement
        self.device = device
        self.seen = 0  # samples offered so far
        storage = torch.device("cpu") if place == "host" else device
        pin = place == "host" and device.type == "cuda"

        def empty(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
            return torch.empty(shape, dtype=dtype, device=storage, pin_memory=pin)

        self._observations = empty((capacity, observation_size), observation_dtype)
        self._targets = empty((capacity, actions), torch.float32)
        self._iterations = empty((capacity,), torch.int32)
        self.storage = self._observations.device  # where the samples are

    def __len__(self) -> int:
        return min(self.seen, self.capacity)

    @property
    def memory_bytes(self) -> int:
        return sum(tensor.nbytes for tensor in self._tensors().values())

    def add(self, samples: Samples, iteration: int, generator: torch.Generator) -> None:
        """Offer samples in the order of their rows; the generator is on the samples' device."""
        count = len(samples.targets)
        if not count:
            return
        slot = self._slots(count, samples.targets.device, generator)
        self.seen += count
        rows = _last_of_each(slot, self.capacity)
        slot = slot[rows].to(self.storage)
        self._observations[slot] = samples.observations[rows].to(self._observations)
        self._targets[slot] = samples.targets[rows].to(self._targets)
        self._iterations[slot] = iteration

    def _slots(self, count: int, device: torch.device, generator: torch.Generator) -> Tensor:
        """[count] the slot that each new sample draws; `capacity` and above: none."""
        number = torch.arange(self.seen, self.seen + count, dtype=torch.int64, device=device)
        if self.replacement == "window":
            return number % self.capacity
        if self.seen + count <= self.capacity:
            return number
        drawn = torch.rand(count, dtype=torch.float64, device=device, generator=generator)
        return torch.where(number < self.capacity, number, (drawn * (number + 1)).long())

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        """[count] rows, uniformly with replacement; the generator is on the device of the samples."""
        if not len(self):
            raise EmptyMemory(self.name)
        drawn = torch.rand(count, dtype=torch.float64, device=self.storage, generator=generator)
        return (drawn * len(self)).long()

    def read(self, rows: Tensor | slice, *, iteration: int, weighting: Weighting = "linear") -> ReservoirBatch:
        """Some rows, on the device; with linear weighting, one of iteration t weighs t · 2/T, T = `iteration`."""
        iterations = self._iterations[rows].to(self.device, non_blocking=True)
        weights = iterations * (2.0 / iteration) if weighting == "linear" else torch.ones_like(iterations).float()
        return ReservoirBatch(
            self._observations[rows].to(self.device, non_blocking=True),
            self._targets[rows].to(self.device, non_blocking=True),
            weights,
        )

    def merged(self, observations: int, *, iteration: int, weighting: Weighting = "linear") -> ReservoirBatch:
        """One row per observation that occurs, for observations that are numbered from 0.

        Its weight is the sum of the weights, its target the weighted mean, so the squared error of this batch has the
        same gradient as that of all samples. Sums are in float64.
        """
        if not len(self):
            raise EmptyMemory(self.name)
        actions = self._targets.shape[1]
        weight = torch.zeros(observations, dtype=torch.float64, device=self.device)
        target = torch.zeros((observations, actions), dtype=torch.float64, device=self.device)
        for start in range(0, len(self), CHUNK):
            rows = slice(start, min(start + CHUNK, len(self)))
            batch = self.read(rows, iteration=iteration, weighting=weighting)
            number = batch.observations[:, 0].long()
            weights = batch.weights.double()
            weight.index_add_(0, number, weights)
            target.index_add_(0, number, batch.targets.double() * weights[:, None])
        occurring = weight.nonzero()[:, 0]
        weight = weight[occurring]
        targets = (target[occurring] / weight[:, None]).float()
        return ReservoirBatch(occurring[:, None], targets, (weight / weight.mean()).float())

    def root_mean_square(self) -> float:
        """Of all targets of legal actions."""
        total, count = 0.0, 0
        for start in range(0, len(self), CHUNK):
            targets = self._targets[start : min(start + CHUNK, len(self))]
            total += float(targets.nan_to_num().square().sum(dtype=torch.float64))
            count += int((~targets.isnan()).sum())
        return (total / count) ** 0.5 if count else 0.0

    def snapshot(self) -> dict[str, AnyArray]:
        """The samples in the memory, and how many were ever offered."""
        arrays = {name: tensor[: len(self)].cpu().numpy().copy() for name, tensor in self._tensors().items()}
        return {**arrays, "seen": np.array(self.seen, np.int64)}

    def restore(self, arrays: Mapping[str, AnyArray]) -> None:
        """Continue from a snapshot of a memory with the same shape."""
        seen = int(arrays["seen"])
        rows = min(seen, self.capacity)
        for name, tensor in self._tensors().items():
            array = arrays[name]
            if array.shape != (rows, *tensor.shape[1:]):
                reason = f"does not fit {self.name}, which needs {(rows, *tensor.shape[1:])}"
                raise InvalidOption(name, array.shape, reason)
            tensor[:rows] = torch.as_tensor(array).to(tensor)
        self.seen = seen

    def _tensors(self) -> dict[str, Tensor]:
        return {"observations": self._observations, "targets": self._targets, "iterations": self._iterations}


def _last_of_each(slot: Tensor, capacity: int) -> Tensor:
    """Rows to write: those with a slot below `capacity` that no later row has."""
    rows = (slot < capacity).nonzero()[:, 0]
    ordered, order = torch.sort(slot[rows], stable=True)
    last = torch.ones_like(ordered, dtype=torch.bool)
    last[:-1] = ordered[1:] != ordered[:-1]
    return rows[order[last]]

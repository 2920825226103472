"""Regret update, averaging and regret matching as tensor operations: the seven numbers of a variant in one pass.

    R ← max(R⁺ · positive_discount + R⁻ · negative_discount + r, floor)    floor is 0, or −∞ where there is none
    S ← S · average_decay + average_weight · π · σ
    next σ ∝ max(R · prediction_discount + prediction · r, 0), uniform where all are 0

The weights are read from a table on the device, never by the host, so that a captured graph can be replayed for the
next iteration without new arguments.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from regretless.forms.history import IntArray
from regretless.variants.variant import Schedule, Weights

__all__ = ["LearnedTensors", "ScheduleRunner", "Segments", "match", "update"]

CAPACITY = 4096  # iterations whose weights are on the device at once
WARM_UPS = 3  # iterations before one is recorded: libraries initialise on first use, which must not be recorded


class Segments:
    """Adjacent slices of the first axis: slice k is `bounds[k] : bounds[k + 1]`; further axes (games) are kept.

    `torch.segment_reduce` adds the elements of a slice in a fixed order on CPU and CUDA, without atomic additions, so
    results repeat to the last bit; Apple's MPS lacks it and uses the indexed form instead.
    """

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


@dataclass
class LearnedTensors:
    """Regret, average and strategy (`contract.LEARNED`) of one player, by sequence or pair."""

    regret: torch.Tensor
    average: torch.Tensor
    strategy: torch.Tensor


class ScheduleRunner:
    """Runs iterations whose weights lie in a table on the device, as a CUDA graph where possible.

    On CUDA, unless `graph` is False, one iteration is recorded as a graph and replayed. Where recording fails, the
    operations are issued one by one: slower, with the same results.
    """

    def __init__(self, device: torch.device, dtype: torch.dtype, *, graph: bool) -> None:
        self.rows = torch.zeros((CAPACITY, len(Weights._fields)), dtype=dtype, device=device)
        self.next = torch.zeros(1, dtype=torch.int64, device=device)
        self.wants_graph = graph and device.type == "cuda"
        self.graph: torch.cuda.CUDAGraph | None = None

    def run(self, schedule: Schedule, step: Callable[[], None], state: list[torch.Tensor]) -> None:
        """Call `step`, which reads `next_row` and changes the tensors of `state`, once per row of the schedule."""
        with torch.no_grad():
            if self.wants_graph and len(schedule):
                self.wants_graph = False  # one attempt
                self._record(schedule, step, state)
            for begin in range(0, len(schedule), CAPACITY):
                rows = schedule[begin : begin + CAPACITY]
                self._load(rows)
                for _ in range(len(rows)):
                    if self.graph is not None:
                        self.graph.replay()
                    else:
                        step()

    def _record(self, schedule: Schedule, step: Callable[[], None], state: list[torch.Tensor]) -> None:
        """Record one iteration; what the warm-up changes is undone."""
        before = [tensor.clone() for tensor in state]
        warm_up = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        warm_up.wait_stream(torch.cuda.current_stream())
        self._load(schedule[:1].repeat(WARM_UPS + 1))
        with torch.cuda.stream(warm_up):
            for _ in range(WARM_UPS):
                step()
        torch.cuda.current_stream().wait_stream(warm_up)
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                step()
        except RuntimeError as error:
            warnings.warn(f"CUDA graph not used: {error}", RuntimeWarning, stacklevel=4)
        else:
            self.graph = graph
        for tensor, saved in zip(state, before):
            tensor.copy_(saved)

    def _load(self, schedule: Schedule) -> None:
        """Load up to `CAPACITY` rows and start at the first."""
        rows = schedule.copy()
        rows["floor"] = np.where(schedule["floor"] != 0.0, 0.0, -np.inf)
        numbers = torch.as_tensor(rows.view(np.float64).reshape(len(rows), len(Weights._fields)))
        self.rows[: len(rows)].copy_(numbers.to(self.rows.dtype))
        self.next.zero_()

    def next_row(self) -> dict[str, torch.Tensor]:
        """The next row on the device, by column; `floor` is the lowest regret allowed, 0 or −∞."""
        row = self.rows.index_select(0, self.next)[0]
        self.next.add_(1)
        return dict(zip(Weights._fields, row.unbind(), strict=True))


def match(positive: torch.Tensor, actions: Segments, set_of: torch.Tensor, uniform: torch.Tensor) -> torch.Tensor:
    """Probabilities proportional to non-negative numbers; `uniform` where all of a set are 0."""
    total = actions.sum(positive).index_select(0, set_of)
    # Totals below the smallest normal number are too small to divide by, and count as 0.
    return torch.where(total >= torch.finfo(total.dtype).tiny, positive / total, uniform)


def update(
    learned: LearnedTensors,
    weights: dict[str, torch.Tensor],
    counterfactual_regret: torch.Tensor,
    reach_times_strategy: torch.Tensor,
    actions: Segments,
    set_of: torch.Tensor,
    uniform: torch.Tensor,
) -> None:
    """Apply one iteration to all information sets of a player, in place."""
    regret = learned.regret
    gains, losses = regret.clamp(min=0), regret.clamp(max=0)
    discounted = gains.mul_(weights["positive_discount"]).add_(losses.mul_(weights["negative_discount"]))
    torch.maximum(discounted.add_(counterfactual_regret), weights["floor"], out=regret)
    learned.average.mul_(weights["average_decay"]).add_(reach_times_strategy * weights["average_weight"])
    predicted = (regret * weights["prediction_discount"]).add_(counterfactual_regret * weights["prediction"])
    learned.strategy.copy_(match(predicted.clamp_(min=0), actions, set_of, uniform))

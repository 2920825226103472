"""Regret update, averaging and regret matching as tensor operations: the seven numbers of a variant in one pass.

    R ← max(R⁺ · positive_discount + R⁻ · negative_discount + r, floor)    floor is 0, or −∞ where there is none
    S ← S · average_decay + average_weight · π · σ
    next σ ∝ max(R · prediction_discount + prediction · r, 0), uniform where all are 0

The weights are read from a table on the device, never by the host, so that a captured graph can be replayed for the
next iteration without new arguments.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from regretless.engines.sequence.torch_segments import Segments
from regretless.variants.variant import Schedule, Weights

__all__ = ["ScheduleTable", "Tables", "match", "update"]

CAPACITY = 4096  # iterations whose weights are on the device at once


@dataclass
class Tables:
    """What CFR updates, over the sequences or pairs of one player."""

    regret: torch.Tensor
    average: torch.Tensor
    strategy: torch.Tensor


class ScheduleTable:
    """Weights of the coming iterations on the device, and which row is next."""

    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        self.rows = torch.zeros((CAPACITY, len(Weights._fields)), dtype=dtype, device=device)
        self.next = torch.zeros(1, dtype=torch.int64, device=device)

    def load(self, schedule: Schedule) -> None:
        """Load up to `CAPACITY` rows and start at the first."""
        rows = schedule.copy()
        rows["floor"] = np.where(schedule["floor"] != 0.0, 0.0, -np.inf)
        numbers = torch.as_tensor(rows.view(np.float64).reshape(len(rows), len(Weights._fields)))
        self.rows[: len(rows)].copy_(numbers.to(self.rows.dtype))
        self.next.zero_()

    def take(self) -> dict[str, torch.Tensor]:
        """The next row on the device, by column; `floor` is the lowest regret allowed, 0 or −∞."""
        row = self.rows.index_select(0, self.next)[0]
        self.next.add_(1)
        return dict(zip(Weights._fields, row.unbind(), strict=True))


def match(positive: torch.Tensor, actions: Segments, set_of: torch.Tensor, uniform: torch.Tensor) -> torch.Tensor:
    """Probabilities proportional to non-negative numbers; `uniform` where all of a set are 0."""
    total = actions.sum(positive).index_select(0, set_of)
    return torch.where(total >= torch.finfo(total.dtype).tiny, positive / total, uniform)


def update(
    tables: Tables,
    weights: dict[str, torch.Tensor],
    counterfactual_regret: torch.Tensor,
    reach_times_strategy: torch.Tensor,
    actions: Segments,
    set_of: torch.Tensor,
    uniform: torch.Tensor,
) -> None:
    """Apply one iteration to all information sets of a player, in place."""
    regret = tables.regret
    gains, losses = regret.clamp(min=0), regret.clamp(max=0)
    discounted = gains.mul_(weights["positive_discount"]).add_(losses.mul_(weights["negative_discount"]))
    torch.maximum(discounted.add_(counterfactual_regret), weights["floor"], out=regret)
    tables.average.mul_(weights["average_decay"]).add_(reach_times_strategy * weights["average_weight"])
    predicted = (regret * weights["prediction_discount"]).add_(counterfactual_regret * weights["prediction"])
    tables.strategy.copy_(match(predicted.clamp_(min=0), actions, set_of, uniform))

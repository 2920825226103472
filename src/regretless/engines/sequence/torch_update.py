"""Regret update, averaging and regret matching as tensor operations: the seven numbers of a rule, applied at once.

    R ← max(R⁺ · positive_discount + R⁻ · negative_discount + r, lowest)    lowest is 0 with a floor, else −∞
    S ← S · average_decay + average_weight · π · σ
    next σ ∝ max(R · prediction_discount + prediction · r, 0), uniform where all are 0

The weights are read from a table on the device, never by the host, so that a captured graph can be replayed for the
next iteration without a word from Python.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from regretless.engines.sequence.torch_segments import Segments
from regretless.variants.variant import Schedule

__all__ = ["FLOOR", "ScheduleTable", "Tables", "match", "update"]

FLOOR = 2  # column of a schedule that says whether regrets are floored
CAPACITY = 4096  # iterations whose weights lie on the device at once


@dataclass
class Tables:
    """What CFR updates, over the sequences or pairs of one player."""

    regret: torch.Tensor
    average: torch.Tensor
    strategy: torch.Tensor


class ScheduleTable:
    """Weights of the coming iterations on the device, and which of them is next."""

    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        self.rows = torch.zeros((CAPACITY, 7), dtype=dtype, device=device)
        self.next = torch.zeros(1, dtype=torch.int64, device=device)

    def load(self, schedule: Schedule) -> None:
        """Put up to `CAPACITY` rows in place and start at the first."""
        rows = np.array(schedule, dtype=np.float64)
        rows[:, FLOOR] = np.where(rows[:, FLOOR] != 0.0, 0.0, -np.inf)
        self.rows[: len(rows)].copy_(torch.as_tensor(rows).to(self.rows.dtype))
        self.next.zero_()

    def take(self) -> tuple[torch.Tensor, ...]:
        """The next row as seven numbers on the device."""
        row = self.rows.index_select(0, self.next)[0]
        self.next.add_(1)
        return row.unbind()


def match(positive: torch.Tensor, actions: Segments, set_of: torch.Tensor, uniform: torch.Tensor) -> torch.Tensor:
    """Probabilities in proportion to numbers that are not negative; `uniform` where all of a set are 0."""
    total = actions.sum(positive).index_select(0, set_of)
    return torch.where(total >= torch.finfo(total.dtype).tiny, positive / total, uniform)


def update(
    tables: Tables,
    weights: tuple[torch.Tensor, ...],
    counterfactual_regret: torch.Tensor,
    reach_times_strategy: torch.Tensor,
    actions: Segments,
    set_of: torch.Tensor,
    uniform: torch.Tensor,
) -> None:
    """Apply one iteration to all information sets of a player, in place."""
    positive_discount, negative_discount, lowest, average_decay, average_weight, prediction, prediction_discount = (
        weights
    )
    regret = tables.regret
    discounted = regret.clamp(min=0).mul_(positive_discount).add_(regret.clamp(max=0).mul_(negative_discount))
    torch.maximum(discounted.add_(counterfactual_regret), lowest, out=regret)
    tables.average.mul_(average_decay).add_(reach_times_strategy * average_weight)
    predicted = (regret * prediction_discount).add_(counterfactual_regret * prediction).clamp_(min=0)
    tables.strategy.copy_(match(predicted, actions, set_of, uniform))

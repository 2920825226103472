"""What one iteration changes in a player's numbers, on whole blocks: the equations of `variants/variant.py`."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from regretless.engines.public.formats import NumberFormat
from regretless.engines.public.portable.blocks import Block
from regretless.engines.public.portable.numbers import Chances, Numbers, as_floats, by_decision, store
from regretless.engines.public.portable.plan import Batch
from regretless.variants.variant import Weights

__all__ = ["Learning"]


class Learning:
    """The update of one player in one iteration."""

    def __init__(
        self,
        number_format: NumberFormat,
        numbers: tuple[Numbers, Numbers, Numbers],
        weights: Weights,
        chances: Sequence[Chances],
        salt: int,
    ) -> None:
        """`numbers` are regrets, predictions (or regrets again) and averages; `weights` those of the format.

        `chances` of each street round numbers in 16 bits.
        """
        self.regret, self.matched, self.average = numbers
        self.weights, self.chances, self.salt = weights, chances, salt
        self.reach_share = number_format.reach_share
        self.rounds = number_format.one > 1

    def update(
        self, block: Block, batches: Sequence[Batch], reach: torch.Tensor, values: torch.Tensor, worths: torch.Tensor
    ) -> None:
        """Update a block from own reach and the values after every entry, which are overwritten.

        Rows are [runouts, entries, hands]; `worths` are [runouts, decisions, hands] the values of decisions.
        """
        weights, street, runouts = self.weights, block.street, block.runouts
        chance = self.chances[street].draw(runouts, self.salt) if self.rounds else None
        average = self.average.streets[street][runouts]
        summed = as_floats(average).mul_(weights.average_decay).add_(reach, alpha=weights.average_weight)
        if chance is not None:
            store(average, summed, chance)
        for batch in batches:
            by_decision(values, batch).sub_(worths[:, batch.decisions, None])
        regret = self.regret.streets[street][runouts]
        kept = _discounted(as_floats(regret), weights).add_(values)
        if weights.floor:
            kept.clamp_min_(0.0)
        if self.matched is not self.regret:
            predicted = torch.add(kept * weights.prediction_discount, values, alpha=weights.prediction)
            store(self.matched.streets[street][runouts], predicted, chance)
        store(regret, kept, chance)


def _discounted(regret: torch.Tensor, weights: Weights) -> torch.Tensor:
    """Regrets times the discount of their sign, in new memory."""
    positive, negative = weights.positive_discount, weights.negative_discount
    if positive == negative:
        return regret * positive
    if positive == 0.0:
        return regret.clamp_max(0.0).mul_(negative)
    return torch.nn.functional.leaky_relu(regret, negative / positive).mul_(positive)

"""How an engine of the public form samples runouts, and the weights that a decision applies at each of its visits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regretless.forms.public import PublicForm
from regretless.forms.sampled import SampledRunouts
from regretless.variants.variant import Schedule, Variant, schedule

__all__ = ["RunoutSampling", "VisitWeights"]

ROWS = 256  # computed at a time


@dataclass(frozen=True, kw_only=True)
class RunoutSampling:
    """Which runouts of a public form an iteration walks (`forms/sampled.py`), and by which variant they learn."""

    variant: Variant
    first: int  # the first street of which runouts are drawn
    count: int
    seed: int = 0

    def of(self, form: PublicForm) -> SampledRunouts:
        """The runouts of a form."""
        return SampledRunouts(form, first=self.first, count=self.count, seed=self.seed)


class VisitWeights:
    """The numbers of a variant by visit: row k − 1 is for a decision that is visited for the k-th time.

    The schedule of an iteration is not enough: decisions on drawn runouts were visited less often.
    """

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.rows: Schedule = schedule(variant, first=1, count=0)

    def reach(self, visits: int) -> Schedule:
        """At least so many rows."""
        while len(self.rows) < visits:
            following = min(ROWS, visits) if len(self.rows) == 0 else len(self.rows)
            self.rows = np.concatenate([self.rows, schedule(self.variant, len(self.rows) + 1, following)])
        return self.rows

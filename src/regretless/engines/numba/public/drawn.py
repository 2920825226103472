"""The arguments of walks that learn on sampled runouts only (`forms/sampled.py`).

Kernels walk the runouts of a table, in its order, and find numbers and lists by what a row says about its runout. So
an iteration gets a table of its own, with the rows of the runouts that it draws:

    parent, first_child    rows of this table
    probability            times how much a drawn runout counts more
    step                   the visit of the runout, by which its row of a variant's weights is found

Whatever follows those rows is blank. If runouts of the second street are drawn, so are the blocks that threads share:
always the same number, of which the last may be empty.
"""

from __future__ import annotations

import numpy as np

from regretless.engines.formats import SALT, NumberFormat
from regretless.engines.layout import shard_ends
from regretless.engines.numba.public.jobs import Division, Job, Steps, divide, make_steps
from regretless.engines.numba.public.plan import WalkPlan
from regretless.engines.numba.public.records import RUNOUT, Records
from regretless.engines.sampled import RunoutSampling, VisitWeights
from regretless.forms.public import PublicForm

__all__ = ["DrawnRunoutRows"]


class DrawnRunoutRows:
    """The runouts of one iteration after another; both players' walks use the same."""

    def __init__(self, form: PublicForm, sampling: RunoutSampling, number: NumberFormat, reach_share: float) -> None:
        self.form, self.sampled = form, sampling.of(form)
        self.table = np.zeros(sum(self.sampled.most), dtype=RUNOUT)
        self.blocks = np.array([1, *(1 + end for end in shard_ends(self.sampled.most[1])[1:])], dtype=np.int32)
        self._ends = self.blocks.copy()
        self._weights, self._number, self._reach_share = VisitWeights(sampling.variant), number, reach_share
        self._totals = np.zeros(1)  # weight of an average after every number of visits
        self.steps = make_steps(0)

    @property
    def nbytes(self) -> int:
        """Bytes of the table; what visits need is small."""
        return self.table.nbytes

    def total_weight(self, visits: int) -> float:
        """The total weight of an average after so many visits."""
        return float(self._totals[visits])

    def divide(self, plan: WalkPlan, members: int, whole: Division) -> Division:
        """How threads share the blocks, given how they share those of all runouts."""
        if self.sampled.first > 1:
            return whole
        return divide(plan, self.sampled.most[1], members, len(self.blocks) - 1)

    def job(self, job: Job) -> Job:
        """The job of a walk on the runouts drawn last."""
        blocks = job.blocks if self.sampled.first > 1 else job.blocks._replace(runout=self.blocks)
        return job._replace(tables=job.tables._replace(runouts=self.table), blocks=blocks)

    def draw(self, iteration: int, everything: Records) -> bool:
        """Set the table, of rows of `everything`; returns whether there are other `steps` than before."""
        table, first_row, parent_row, start = self.table, 0, np.zeros(0, dtype=np.int64), 0
        for number, (street, draw) in enumerate(zip(self.form.streets, self.sampled.draw(iteration), strict=True)):
            runouts, count = draw.runout, len(draw.runout)
            rows = table[start : start + count]
            rows[:] = everything[first_row + runouts]
            rows["probability"] *= draw.factor
            rows["step"] = draw.visit - 1
            rows["first_child"] = 0
            if number:
                rows["parent"] = parent_row[street.parent[runouts]]
                parents, first = np.unique(rows["parent"], return_index=True)
                table["first_child"][parents] = start + first
            if number == 1:
                self.blocks[:] = np.minimum(self._ends, 1 + count)
            parent_row = np.zeros(len(street.parent), dtype=np.int64)
            parent_row[runouts] = np.arange(start, start + count)
            start, first_row = start + count, first_row + len(street.parent)
        table[start:] = np.zeros(1, dtype=RUNOUT)
        table["parent"][start:] = -1
        return self._reach(iteration)

    def _reach(self, visits: int) -> bool:
        """Have steps for so many visits."""
        if visits <= len(self.steps.weights):
            return False
        rows = self._weights.reach(visits)
        steps: Steps = make_steps(len(rows))
        steps.weights[:] = rows
        decays, gains, totals = [], [], [0.0]
        for row in rows:
            decay, gain, total = self._number.in_steps(
                row["average_decay"][None], row["average_weight"][None], totals[-1]
            )
            decays.append(decay)
            gains.append(gain)
            totals.append(total)
        steps.weights["average_decay"], steps.weights["average_weight"] = np.concatenate(decays), np.concatenate(gains)
        steps.extras["reach_share"] = self._reach_share
        steps.extras["salt"] = np.arange(1, len(rows) + 1) * SALT % 2**24
        self.steps, self._totals = steps, np.array(totals)
        return True

"""Walks that go one runout of the second street at a time, with averages or with a given strategy.

A given strategy is read runout by runout and held in 32 bits: the first street, and everything that follows one runout
of the second. So it takes a small fraction of the memory of a solve.
"""

from __future__ import annotations

import numpy as np

from regretless.engines.contract import PublicStrategy
from regretless.engines.public.compiled.jobs import Division, Job, Scratch, aligned, make_steps
from regretless.engines.public.compiled.team import Team
from regretless.engines.public.layout import Layout, checked_rows

__all__ = ["GivenRows", "RunoutWalk"]


class RunoutWalk:
    """A walk without learning, in parts: FIRST, BELOW for each runout of the second street, LAST."""

    def __init__(self, own: int, mode: int, job: Job, scratch: Scratch) -> None:
        self.own, self.mode, self.scratch = own, mode, scratch
        self._team, self._steps = Team(Division(each=int(job.blocks.size > 0))), make_steps(1)
        self._ends = np.zeros(2, dtype=np.int32)
        if job.blocks.size > 0:  # there is a second street
            lines = aligned(job.blocks.size, np.float64)
            job = job._replace(blocks=job.blocks._replace(lines=lines, runout=self._ends))
        self.job = job
        self._team.hold(self._steps, job, job, self.scratch)

    def run(self, part: int, runout: int = 0) -> None:
        """One part of the walk; `runout` is the one to walk in BELOW."""
        self._ends[:] = 1 + runout, 2 + runout  # runout 0 is the first street's
        self._team.run(1, [(self.own, self.mode)], parts=part)


class GivenRows:
    """A strategy as averages in 32 bits: the first street, one runout of the second, and what follows that runout."""

    def __init__(self, layout: Layout, strategy: PublicStrategy) -> None:
        self.layout, self.strategy = layout, strategy
        streets = layout.form.streets
        most = np.zeros(len(streets), dtype=np.int64)
        for runout in range(len(streets[1].parent) if len(streets) > 1 else 0):
            most = np.maximum(most, [last - first for first, last in self._runouts(runout)])
        most[0] = 1
        self.window = layout.window(most)
        self.first = [0] * len(streets)
        self.numbers = [aligned(int(size)) for size in self.window.entries]
        self._read(0, range(1))

    def read(self, runout: int) -> None:
        """Read the strategies of a runout of the second street and of the runouts that follow it."""
        for street, (first, last) in list(enumerate(self._runouts(runout)))[1:]:
            self._read(street, range(first, last))

    def job(self, own: int, job: Job) -> Job:
        """The job of a walk that plays the strategies read last; `aim` points it to those read next."""
        mine, theirs = self.numbers[own], self.numbers[1 - own]
        learned = job.learned._replace(
            regret=mine, matched=mine, average=mine, other_matched=theirs, other_average=theirs
        )
        aimed = job._replace(plan=job.plan._replace(streets=job.plan.streets.copy()), learned=learned)
        self.aim(own, aimed)
        return aimed

    def aim(self, own: int, job: Job) -> None:
        """Point a job from `job` to the strategies read last, in place: handing over another job takes milliseconds."""
        for who, player in (("own", own), ("other", 1 - own)):
            skipped = np.array(self.first) * self.window.runout_size[player]
            job.plan.streets[f"{who}_at"] = self.window.street_at[player] - skipped

    def _runouts(self, runout: int) -> list[tuple[int, int]]:
        """The runouts of each street that belong to one of the second street."""
        found = [(0, 1), (runout, runout + 1)]
        for street in self.layout.form.streets[1:-1]:
            first, last = found[-1]
            found.append((int(street.first_child[first]), int(street.first_child[last])))
        return found[: len(self.layout.form.streets)]

    def _read(self, street: int, runouts: range) -> None:
        self.first[street] = runouts.start
        for player in range(2):
            for node in self.layout.decisions(player, street):
                for runout in runouts:
                    rows = checked_rows(self.layout.form, self.strategy, node, runout)
                    self.window.write(self.numbers[player], node, runout - runouts.start, rows)

"""A team of threads that carries out whole orders in compiled code: many iterations, or all walks of a measurement.

`RunoutWalk` goes one runout of the second street at a time, with the averages or with a `StreamedStrategy`, which is
read runout by runout and therefore takes a small fraction of the memory of a solve.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import NamedTuple

import numpy as np

from regretless.engines.contract import PublicStrategy
from regretless.engines.layout import Layout, checked_rows
from regretless.engines.numba.public.jobs import (
    Division,
    Job,
    KernelArguments,
    Steps,
    WalkScratch,
    aligned,
    make_steps,
    second_runouts,
)
from regretless.engines.numba.public.kernels.arguments import ARGUMENT_BYTES, write_arguments
from regretless.engines.numba.public.kernels.iterate import BELOW, FIRST, FIRST_WALK, LAST, iterate
from regretless.engines.numba.public.kernels.team import signals_size
from regretless.engines.threads import Workers

__all__ = ["RunoutWalk", "StreamedStrategy", "Team", "Walk"]

MAX_WALKS = 4  # of an order: both players', with a best response and with the average


class Walk(NamedTuple):
    """One walk over the public tree."""

    own: int  # the player whose values are computed
    mode: int  # LEARN, BEST or MEAN, as in `kernels/walk.py`


class RunoutWalk:
    """A walk without learning, in parts: FIRST, BELOW for each runout of the second street, LAST."""

    def __init__(self, walk: Walk, job: Job, scratch: WalkScratch) -> None:
        self.walk, self.scratch = walk, scratch
        self._team, self._steps = Team(Division(each=int(job.blocks.size > 0))), make_steps(1)
        self._ends = np.zeros(2, dtype=np.int32)
        if job.blocks.size > 0:  # there is a second street
            lines = aligned(job.blocks.size, np.float64)
            job = job._replace(blocks=job.blocks._replace(lines=lines, runout=self._ends))
        self.job = job
        self._team.use(self._steps, job, job, self.scratch, self._team.division)

    def run(self, part: int, runout: int = 0) -> None:
        """One part of the walk; `runout` is the one to walk in BELOW."""
        self._ends[:] = 1 + runout, 2 + runout  # runout 0 is the first street's
        self._team.run(1, [self.walk], parts=part)


class StreamedStrategy:
    """A strategy in place of the averages, in 32 bits: the first street, one runout of the second, and what follows it.

    `read` replaces the runout of the second street.
    """

    def __init__(self, layout: Layout, strategy: PublicStrategy) -> None:
        self.layout, self.strategy = layout, strategy
        streets = layout.form.streets
        longest = np.zeros(len(streets), dtype=np.int64)  # runouts of each street that one runout of the second needs
        for runout in range(second_runouts(layout.form)):
            longest = np.maximum(longest, [last - first for first, last in self._runouts(runout)])
        longest[0] = 1
        self.window = layout.window(longest)
        self.first_runout = [0] * len(streets)  # the runout of each street that was read first
        self.numbers = [aligned(int(size)) for size in self.window.entries]
        self._read_street(0, range(1))

    def read(self, runout: int) -> None:
        """Read the strategies of a runout of the second street and of the runouts that follow it."""
        for street, (first, last) in list(enumerate(self._runouts(runout)))[1:]:
            self._read_street(street, range(first, last))

    def job(self, own: int, job: Job) -> Job:
        """The job of a walk that plays the strategies read last; `aim` points it to those read next."""
        own_numbers, other_numbers = self.numbers[own], self.numbers[1 - own]
        learned = job.learned._replace(
            regret=own_numbers,
            matched=own_numbers,
            average=own_numbers,
            other_matched=other_numbers,
            other_average=other_numbers,
        )
        aimed = job._replace(plan=job.plan._replace(streets=job.plan.streets.copy()), learned=learned)
        self.aim(own, aimed)
        return aimed

    def aim(self, own: int, job: Job) -> None:
        """Point a job from `job` to the strategies read last, in place: handing over another job takes milliseconds."""
        for who, player in (("own", own), ("other", 1 - own)):
            skipped = np.array(self.first_runout) * self.window.runout_size[player]
            job.plan.streets[f"{who}_at"] = self.window.street_at[player] - skipped

    def _runouts(self, runout: int) -> list[tuple[int, int]]:
        """The runouts of each street that belong to one of the second street."""
        ranges = [(0, 1), (runout, runout + 1)]
        for street in self.layout.form.streets[1:-1]:
            first, last = ranges[-1]
            ranges.append((int(street.first_child[first]), int(street.first_child[last])))
        return ranges[: len(self.layout.form.streets)]

    def _read_street(self, street: int, runouts: range) -> None:
        self.first_runout[street] = runouts.start
        for player in range(2):
            for node in self.layout.decisions(player, street):
                for runout in runouts:
                    rows = checked_rows(self.layout.form, self.strategy, node, runout)
                    self.window.write(self.numbers[player], node, runout - runouts.start, rows)


class Team:
    """The calling thread and others, with the arguments that they share."""

    def __init__(self, division: Division) -> None:
        self.division = division
        self._signals = aligned(signals_size(division.members), np.int64)
        self._order = np.zeros(FIRST_WALK + 2 * MAX_WALKS, dtype=np.int64)
        self._memory = aligned(2 * ARGUMENT_BYTES, np.uint8)
        self._workers = Workers(division.members - 1) if division.members > 1 else None
        self._others: dict[int, Future[None]] = {}  # the work of the other members, done when they have left

    def use(self, steps: Steps, first: Job, second: Job, scratch: WalkScratch, division: Division) -> None:
        """Use these arguments from now on: the players' jobs, room for all slots, and how the blocks are shared."""
        self.division = division
        self._arguments = KernelArguments(steps, first, scratch), KernelArguments(steps, second, scratch)
        self._kinds = first.learned.regret, scratch.tile.reach
        write_arguments(self._memory, *self._arguments)

    def run(
        self,
        rows: int,
        walks: Sequence[Walk],
        *,
        predicts: bool = False,
        parts: int = FIRST | BELOW | LAST,
    ) -> None:
        """For each of the first rows of the steps, these walks in turn."""
        order = [*self.division, len(self._arguments[0].job.plan.streets), rows, predicts, parts, len(walks)]
        for walk in walks:
            order += walk
        self._order[: len(order)] = order
        if self._workers is not None and rows > 0:
            self._call(self._workers)
        self._work(0)

    def _call(self, workers: Workers) -> None:
        """Bring in the members that have left compiled code. Those that come late find less to do, or nothing."""
        if workers.are_lost():
            self._others = {}
        for member in range(1, self.division.members):
            if member not in self._others or self._others[member].done():
                self._others[member] = workers.submit(self._work, member)

    def _work(self, member: int) -> None:
        iterate(self._signals, self._order, member, self._memory, *self._kinds)

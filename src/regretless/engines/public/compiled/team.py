"""A team of threads that carries out whole orders in compiled code: many iterations, or all walks of a measurement."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

import numpy as np

from regretless.engines.public.compiled.jobs import Division, Held, Job, Scratch, Steps, aligned
from regretless.engines.public.compiled.kernels.held import HELD_BYTES, hold
from regretless.engines.public.compiled.kernels.iterate import (
    BELOW,
    FIRST,
    FIRST_WALK,
    LAST,
    iterate,
)
from regretless.engines.public.compiled.kernels.team import signals_size
from regretless.engines.threads import Workers

__all__ = ["Team"]

MOST_WALKS = 4


class Team:
    """The calling thread and others, with the arguments that they share."""

    def __init__(self, division: Division) -> None:
        self.division = division
        self._signals = aligned(signals_size(division.members), np.int64)
        self._order = np.zeros(FIRST_WALK + 2 * MOST_WALKS, dtype=np.int64)
        self._memory = aligned(2 * HELD_BYTES, np.uint8)
        self._workers = Workers(division.members - 1) if division.members > 1 else None
        self._others: dict[int, Future[None]] = {}  # the work of the other members, done when they have left

    def hold(self, steps: Steps, first: Job, second: Job, scratch: Scratch) -> None:
        """Use these arguments from now on: the players' jobs, and room for all slots."""
        self._held = Held(steps, first, scratch), Held(steps, second, scratch)
        self._kinds = first.learned.regret, scratch.tile.reach
        hold(self._memory, *self._held)

    def run(
        self,
        rows: int,
        walks: Sequence[tuple[int, int]],
        *,
        predicts: bool = False,
        parts: int = FIRST | BELOW | LAST,
    ) -> None:
        """For each of the first rows of the steps, these walks in turn: a player and a mode each."""
        order = [*self.division, len(self._held[0].job.plan.streets), rows, predicts, parts, len(walks)]
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

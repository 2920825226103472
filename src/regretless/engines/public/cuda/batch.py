"""Many spots on one device, advanced and evaluated together: one sequence of launches serves them all.

Spots of a batch may differ in tree, ranges, boards and weights, but have equally many streets, the same storage and
the same kind of kernels (`kind_of`). Each is a `CudaPublicEngine` of its own, which can be read and saved alone; its
numbers are those that it would have found alone.

Weights of all spots are uploaded together, and values at the roots downloaded together: a transfer of a few bytes takes
about as long as an iteration of a river.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from regretless.engines.contract import Evaluation
from regretless.engines.public.cuda.arena import Arena
from regretless.engines.public.cuda.device import Buffer
from regretless.engines.public.cuda.engine import CudaPublicEngine
from regretless.engines.public.cuda.records import STEP
from regretless.engines.public.cuda.walks import CAPACITY, WAYS, Mode, SpotWalks, Walks
from regretless.variants.variant import Schedule

__all__ = ["CudaBatch", "kind_of"]


def _with_own_jobs(engine: CudaPublicEngine) -> SpotWalks:
    """The spot of an engine, with jobs that the engine's own walks do not change."""
    engine.fill_jobs()
    spot = copy(engine.spot)
    spot.jobs = engine.spot.jobs.copy()
    return spot


def kind_of(engine: CudaPublicEngine) -> Hashable:
    """Equal for engines that can be in one batch."""
    return len(engine.form.streets), engine.storage, engine.wide, engine.predicts, frozenset(engine.fixed)


class CudaBatch:
    """Engines of one kind on one device; while they are in a batch, only it may advance them."""

    def __init__(self, engines: Sequence[CudaPublicEngine], arena: Arena) -> None:
        self.engines, self.kind = tuple(engines), kind_of(engines[0])
        self._on = on = engines[0].on
        self._spots = [_with_own_jobs(engine) for engine in engines]
        ends = np.cumsum([0, *(int(spot.line_values[0].size) for spot in self._spots)])
        self._steps = on.zeros(len(engines) * CAPACITY, STEP)
        self._values = [on.zeros(int(ends[-1]), np.dtype(np.float32)) for _ in range(WAYS)]
        steps_at = on.address(self._steps)
        for number, spot in enumerate(self._spots):
            spot.jobs["steps"] = steps_at + number * CAPACITY * STEP.itemsize
            spot.line_values = [values[ends[number] : ends[number + 1]] for values in self._values]
        first = engines[0]
        with arena:
            self._walks = Walks(on, self._spots, storage=first.storage, wide=first.wide, predicts=first.predicts)
        if not all(engine.has_lists for engine in engines):
            self._walks.make_lists()
            for engine in engines:
                engine.has_lists = True
        # Where the values of each player's hands at the roots are, and which part of them belongs to a spot.
        self._roots, self._parts = [], []
        for own in range(2):
            hands = [len(engine.form.hands[own].weight) for engine in engines]
            places = [np.arange(count) + ends[number] for number, count in enumerate(hands)]
            self._roots.append(on.upload(np.concatenate(places)))
            self._parts.append(np.cumsum([0, *hands]))
        self._retired: Buffer = None  # what retired spots learn

    def retire(self, numbers: Iterable[int]) -> None:
        """Leave spots as they are from now on: the launches still include them, but change scratch memory instead."""
        if self._retired is None:
            most = max(int(engine.layout.entries.max()) for engine in self.engines)
            self._retired = self._on.zeros(most, np.dtype(np.float32))
        for number in numbers:
            jobs = self._spots[number].jobs
            for name in ("regret", "matched", "average", "other_matched", "other_average"):
                jobs[name] = self._on.address(self._retired)
            jobs["lock_count"] = 0
        self._walks.update()

    def advance(self, schedules: Sequence[Schedule | None]) -> None:
        """Run one iteration of every spot per row of its schedule; None for a retired spot."""
        count = max(len(rows) for rows in schedules if rows is not None)
        steps = np.zeros((len(schedules), count), dtype=STEP)
        found: dict[tuple[int, int, float], tuple[NDArray[np.void], float]] = {}  # most spots take the same steps
        for number, (engine, rows) in enumerate(zip(self.engines, schedules, strict=True)):
            if rows is not None:
                key = id(rows), engine.iteration, engine.weight
                if key not in found:
                    found[key] = engine.next_steps(rows), engine.weight
                steps[number], engine.weight = found[key]
        self._walks.run(steps, self._steps, self._launch)
        for engine, rows in zip(self.engines, schedules, strict=True):
            engine.iteration += count if rows is not None else 0

    def _launch(self) -> None:
        """One iteration."""
        for own in range(2):
            if own not in self.engines[0].fixed:
                self._walks.walk(own, Mode.LEARN)
                for number, engine in enumerate(self.engines):
                    if engine.locked[own]:
                        self._walks.hold(number, own)
        self._walks.tick()

    def evaluate(self) -> list[Evaluation]:
        """Values and best responses of every spot's average strategy."""
        found = []  # by player and way
        for own in range(2):
            self._walks.walk(own, Mode.MEAN, Mode.BEST)
            found.append([self._values_of(own, way) for way in range(WAYS)])
        return [
            engine.evaluation(*([found[own][way][number] for own in range(2)] for way in range(WAYS)))
            for number, engine in enumerate(self.engines)
        ]

    def _values_of(self, own: int, way: int) -> list[float]:
        values: NDArray[np.float32] = self._on.download(self._on.take(self._values[way], self._roots[own]))
        parts = np.split(values, self._parts[own][1:-1])
        return [engine.value_of(own, part) for engine, part in zip(self.engines, parts, strict=True)]

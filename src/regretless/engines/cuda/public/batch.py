"""Many spots on one device, advanced and evaluated together: one sequence of launches serves them all.

Spots of a batch may differ in tree, ranges, boards and weights, but have equally many streets, the same storage and
the same kind of kernels (`kind_of`). Each is a `CudaPublicEngine` of its own, which can be read and saved alone, and
ends up with the same numbers as if it had been advanced alone.

`SharedCuda` is the device that they share: it uploads the tables of new engines together and forms batches of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from regretless.engines.contract import Evaluation, SharedDevice
from regretless.engines.cuda.device import IF_FULL, Arena, Records, open_device
from regretless.engines.cuda.public.engine import CudaPublicEngine
from regretless.engines.cuda.public.records import STEP
from regretless.engines.cuda.public.walks import Walks
from regretless.forms.public import PublicForm
from regretless.variants.variant import Schedule

__all__ = ["CudaBatch", "SharedCuda", "kind_of"]


class SharedCuda:
    """One CUDA device."""

    engine, device = CudaPublicEngine.name, CudaPublicEngine.device

    def __init__(self) -> None:
        self._on = open_device(advice=IF_FULL)
        self._arena = Arena(self._on)

    def free_bytes(self) -> int:
        return self._on.free_bytes()

    @contextmanager
    def creating(self) -> Iterator[None]:
        self._arena = Arena(self._on)  # the previous arena is freed with the engines that use it
        with self._arena:
            yield

    def create(self, form: PublicForm, *, storage: int) -> CudaPublicEngine:
        return CudaPublicEngine(form, device=self._on, storage=storage, tables=self._arena)

    def kind_of(self, engine: CudaPublicEngine) -> Hashable:
        return kind_of(engine)

    def batch(self, engines: Sequence[CudaPublicEngine]) -> CudaBatch:
        return CudaBatch(engines, self._arena)


if TYPE_CHECKING:
    _conforms: type[SharedDevice[CudaPublicEngine]] = SharedCuda


def kind_of(engine: CudaPublicEngine) -> Hashable:
    """Equal for engines that can be in one batch."""
    return (
        len(engine.form.streets),
        engine.storage,
        engine.wide,
        engine.products,
        engine.has_places,
        engine.predicts,
        frozenset(engine.fixed),
    )


class CudaBatch:
    """Engines of one kind on one device; while they are in a batch, only it may advance them."""

    def __init__(self, engines: Sequence[CudaPublicEngine], arena: Arena) -> None:
        self.engines, self.kind = tuple(engines), kind_of(engines[0])
        for engine in engines:
            engine.fill_jobs()
        self._spots = [engine.spot.twin() for engine in engines]  # their jobs stay when an engine walks alone
        # As long as jobs point to these tables, they must not be freed; an engine that walks alone replaces its own.
        self._lock_tables = [engine.lock_tables for engine in engines]
        self._active = set(range(len(engines)))
        self._value_units = np.array([engine.value_units for engine in engines])
        first = engines[0]
        with arena:
            self._walks = Walks(
                first.on,
                self._spots,
                storage=first.storage,
                wide=first.wide,
                predicts=first.predicts,
                products=first.products,
            )
        if not all(engine.has_lists for engine in engines):
            self._walks.make_lists()
            for engine in engines:
                engine.has_lists = True

    def retire(self, numbers: Iterable[int]) -> None:
        """Leave spots as they are from now on."""
        self._active -= set(numbers)
        self._walks.keep_only(sorted(self._active))

    def advance(self, schedules: Sequence[Schedule | None]) -> None:
        """Run one iteration of every spot per row of its schedule; None for a retired spot."""
        # Most spots take the same steps from the same weight of averages, so these are computed once.
        computed: dict[tuple[int, int, float], tuple[Records, float]] = {}
        steps: list[Records | None] = []
        for engine, rows in zip(self.engines, schedules, strict=True):
            if rows is None:
                steps.append(None)
                continue
            key = id(rows), engine.iteration, engine.weight
            if key not in computed:
                computed[key] = engine.next_steps(rows), engine.weight
            own_steps, engine.weight = computed[key]
            steps.append(own_steps)
            engine.iteration += len(own_steps)
        different = [own_steps for own_steps, _ in computed.values()]
        self._walks.learn(different[0] if len(different) == 1 else _stack(steps), self.engines[0].learning)

    def evaluate(self, numbers: Sequence[int]) -> list[Evaluation]:
        """Values and best responses of the average strategies of these spots."""
        values, best = self._walks.evaluate(0, 1) * self._value_units
        for own in self.engines[0].learning:
            np.maximum(best[:, own], values[:, own], out=best[:, own])
        for own in self.engines[0].fixed:
            best[:, own] = values[:, own]
        chosen = list(numbers)
        pairs = zip(values[chosen].tolist(), best[chosen].tolist(), strict=True)
        return [Evaluation(tuple(value), tuple(response)) for value, response in pairs]


def _stack(steps: Sequence[Records | None]) -> Records:
    """[spots, iterations]; zeros for retired spots."""
    active = [(number, rows) for number, rows in enumerate(steps) if rows is not None]
    stacked = np.zeros((len(steps), len(active[0][1])), dtype=STEP)
    for number, rows in active:
        stacked[number] = rows
    return stacked

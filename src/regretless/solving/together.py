"""Many solves on one device, in step.

Each solve is a generator (`loop.steps`) that asks its engine either to advance or to evaluate. The solves of a batch
start together, so they usually ask for the same thing. In each round, a batch

1. evaluates, if any solve asks for that, and answers the solves that did;
2. otherwise advances all by the smallest number of iterations any of them asks for;
3. retires those that have ended.

So every solve has its own target, history, checkpoints and interrupts, and the same numbers as alone. All are told the
same duration of an advance, so that they keep asking for the same number of iterations, and for the same schedule.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from regretless.engines import BatchMember, EngineBatch, SharedDevice
from regretless.errors import RegretlessError
from regretless.solving.loop import Reply, Step
from regretless.solving.solution import Solution
from regretless.solving.solve import Started
from regretless.variants.variant import Schedule, Variant, predicts, schedule

__all__ = ["SharedSchedules", "drive_together"]

MAX_SCHEDULES = 16


class SharedSchedules:
    """Schedules that all solves of a batch share, since most of them are always at the same iteration."""

    def __init__(self) -> None:
        # By the id of a variant; the variant is stored too, so that no other object can get its id.
        self._latest: dict[tuple[int, int, int], tuple[Variant, Schedule]] = {}

    def __call__(self, variant: Variant, first: int, count: int) -> Schedule:
        key = id(variant), first, count
        if key not in self._latest:
            if len(self._latest) == MAX_SCHEDULES:
                del self._latest[next(iter(self._latest))]
            self._latest[key] = variant, schedule(variant, first, count)
        return self._latest[key][1]


@dataclass
class _SolveInStep:
    """A solve in a batch."""

    index: int
    started: Started
    engine: BatchMember
    step: Step = None
    advanced: float = 0.0  # seconds of advancing since the step was requested, if only part of it is done
    over: bool = False


Resume = Callable[[_SolveInStep, Reply], None]


def drive_together(
    solves: Mapping[int, Started],
    device: SharedDevice[BatchMember],
    *,
    done: Callable[[int, Solution], None],
    failed: Callable[[int, RegretlessError], None],
) -> None:
    """Run solves whose engines are on one device to their ends; `done` and `failed` get their position."""

    def resume(solve: _SolveInStep, reply: Reply) -> None:
        try:
            solve.step = solve.started.steps.send(reply)
        except StopIteration as end:
            solve.over = True
            done(solve.index, end.value)
        except RegretlessError as error:
            solve.over = True
            failed(solve.index, error)

    waiting = [_SolveInStep(index, started, started.engine) for index, started in solves.items()]
    for solve in waiting:
        resume(solve, None)
    while waiting := [solve for solve in waiting if not solve.over]:
        groups: dict[Hashable, list[_SolveInStep]] = {}
        for solve in waiting:
            if solve.step is not None:
                solve.engine.get_ready(solve.step)
            groups.setdefault(device.kind_of(solve.engine), []).append(solve)
        for group in groups.values():
            try:
                _run(group, device.batch([solve.engine for solve in group]), resume)
            except RegretlessError as error:  # of the device; solves that have ended keep what they had
                for solve in group:
                    if not solve.over:
                        solve.over = True
                        failed(solve.index, error)


def _run(group: list[_SolveInStep], batch: EngineBatch, resume: Resume) -> None:
    """Run a batch until all of it has ended, or a solve needs other kernels."""
    active = list(enumerate(group))
    while True:
        ended = [number for number, solve in active if solve.over]
        if ended:
            active = [(number, solve) for number, solve in active if not solve.over]
            if not active:
                return
            batch.retire(ended)
        measured = [(number, solve) for number, solve in active if solve.step is None]
        if measured:
            evaluations = batch.evaluate([number for number, _ in measured])
            for (_, solve), evaluation in zip(measured, evaluations, strict=True):
                resume(solve, evaluation)
        elif _must_store_predictions(active):
            return
        else:
            _advance(active, len(group), batch, resume)


def _must_store_predictions(active: list[tuple[int, _SolveInStep]]) -> bool:
    """Whether a solve asks for iterations with predictions that its engine does not store yet.

    Its engine becomes one of another kind then, in another batch.
    """
    predicting = {key for key, step in _schedules(active).items() if predicts(step)}
    return any(not solve.engine.predicts for _, solve in active if id(solve.step) in predicting)


def _schedules(active: list[tuple[int, _SolveInStep]]) -> dict[int, Schedule]:
    """The different schedules that solves ask for, by identity; mostly there is one."""
    return {id(solve.step): solve.step for _, solve in active if solve.step is not None}


def _advance(active: list[tuple[int, _SolveInStep]], size: int, batch: EngineBatch, resume: Resume) -> None:
    """Advance all by the smallest number of iterations that any asks for."""
    requested = _schedules(active)
    count = min(len(step) for step in requested.values())
    equal: dict[bytes, Schedule] = {}  # equal schedules become one object, even if solves asked for different lengths
    now = {key: equal.setdefault(step[:count].tobytes(), step[:count]) for key, step in requested.items()}
    later = {key: step[count:] for key, step in requested.items()}
    schedules: list[Schedule | None] = [None] * size
    for number, solve in active:
        schedules[number] = now[id(solve.step)]
    began = time.perf_counter()
    batch.advance(schedules)
    seconds = time.perf_counter() - began
    for _, solve in active:
        rest = later[id(solve.step)]
        solve.advanced += seconds
        if len(rest):
            solve.step = rest
        else:
            duration, solve.advanced = solve.advanced, 0.0
            resume(solve, duration)

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
class _RunningSolve:
    """A solve in a batch."""

    index: int
    started: Started
    request: Step = None  # iterations to advance, or None to evaluate
    advanced: float = 0.0  # seconds of advancing since the request, if only part of it is done
    over: bool = False


Resume = Callable[[_RunningSolve, Reply], None]


def drive_together(
    solves: Mapping[int, Started],
    device: SharedDevice[BatchMember],
    *,
    done: Callable[[int, Solution], None],
    failed: Callable[[int, RegretlessError], None],
) -> None:
    """Run solves whose engines are on one device to their ends; `done` and `failed` get their position."""

    def resume(solve: _RunningSolve, reply: Reply) -> None:
        try:
            solve.request = solve.started.steps.send(reply)
        except StopIteration as end:
            solve.over = True
            done(solve.index, end.value)
        except RegretlessError as error:
            solve.over = True
            failed(solve.index, error)

    waiting = [_RunningSolve(index, started) for index, started in solves.items()]
    for solve in waiting:
        resume(solve, None)
    while waiting := [solve for solve in waiting if not solve.over]:
        groups: dict[Hashable, list[_RunningSolve]] = {}
        for solve in waiting:
            if solve.request is not None:
                solve.started.engine.get_ready(solve.request)
            groups.setdefault(device.kind_of(solve.started.engine), []).append(solve)
        for group in groups.values():
            try:
                _run(group, device.batch([solve.started.engine for solve in group]), resume)
            except RegretlessError as error:  # of the device; solves that have ended keep what they had
                for solve in group:
                    if not solve.over:
                        solve.over = True
                        failed(solve.index, error)


def _run(group: list[_RunningSolve], batch: EngineBatch, resume: Resume) -> None:
    """Run a batch until all of it has ended, or a solve needs other kernels.

    Solves are numbered by their position in the group, as `EngineBatch` numbers its engines.
    """
    active = list(enumerate(group))
    while True:
        ended = [number for number, solve in active if solve.over]
        if ended:
            active = [(number, solve) for number, solve in active if not solve.over]
            if not active:
                return
            batch.retire(ended)
        measured = [(number, solve) for number, solve in active if solve.request is None]
        if measured:
            evaluations = batch.evaluate([number for number, _ in measured])
            for (_, solve), evaluation in zip(measured, evaluations, strict=True):
                resume(solve, evaluation)
        elif _must_store_predictions(active):
            return
        else:
            _advance(active, len(group), batch, resume)


def _must_store_predictions(active: list[tuple[int, _RunningSolve]]) -> bool:
    """Whether a solve asks for iterations with predictions that its engine does not store yet.

    Its engine becomes one of another kind then, in another batch.
    """
    predicting = {key for key, requested in _schedules(active).items() if predicts(requested)}
    return any(not solve.started.engine.predicts for _, solve in active if id(solve.request) in predicting)


def _schedules(active: list[tuple[int, _RunningSolve]]) -> dict[int, Schedule]:
    """The different schedules that solves ask for, by identity; mostly there is one."""
    return {id(solve.request): solve.request for _, solve in active if solve.request is not None}


def _advance(active: list[tuple[int, _RunningSolve]], size: int, batch: EngineBatch, resume: Resume) -> None:
    """Advance all by the smallest number of iterations that any asks for."""
    requested = _schedules(active)
    count = min(map(len, requested.values()))
    # EngineBatch converts each distinct object once, so equal schedules must become one object.
    equal: dict[bytes, Schedule] = {}
    now = {key: equal.setdefault(rows[:count].tobytes(), rows[:count]) for key, rows in requested.items()}
    later = {key: rows[count:] for key, rows in requested.items()}
    schedules: list[Schedule | None] = [None] * size
    for number, solve in active:
        schedules[number] = now[id(solve.request)]
    began = time.perf_counter()
    batch.advance(schedules)
    seconds = time.perf_counter() - began
    for _, solve in active:
        rest = later[id(solve.request)]
        solve.advanced += seconds
        if len(rest):
            solve.request = rest
        else:
            duration, solve.advanced = solve.advanced, 0.0
            resume(solve, duration)

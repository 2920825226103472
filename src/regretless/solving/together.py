"""Many solves on one device, in step.

Each solve is a generator (`loop.steps`) that asks to be advanced or evaluated. Those of a batch start together, so they
mostly ask for the same; a batch

1. evaluates all its spots if any of them asks for that, and answers those that did;
2. else advances all by the smallest number of iterations that any of them asks for;
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
from regretless.solving.loop import Answer, Wish
from regretless.solving.solution import Solution
from regretless.solving.solve import Started
from regretless.variants.variant import Schedule, Variant, predicts, schedule

__all__ = ["SharedSchedules", "drive_together"]

KEPT_SCHEDULES = 16


class SharedSchedules:
    """Schedules that all solves of a batch share, since most of them are always at the same iteration."""

    def __init__(self) -> None:
        self._latest: dict[tuple[int, int, int], tuple[Variant, Schedule]] = {}  # holds variants: ids are theirs

    def __call__(self, variant: Variant, first: int, count: int) -> Schedule:
        key = id(variant), first, count
        if key not in self._latest:
            if len(self._latest) == KEPT_SCHEDULES:
                del self._latest[next(iter(self._latest))]
            self._latest[key] = variant, schedule(variant, first, count)
        return self._latest[key][1]


@dataclass
class _Solve:
    """A solve in a batch."""

    place: int
    started: Started
    engine: BatchMember
    wish: Wish = None
    advanced: float = 0.0  # seconds of advancing since the wish was made, if only part of it is fulfilled
    over: bool = False


Resume = Callable[[_Solve, Answer], None]


def drive_together(
    solves: Mapping[int, Started],
    device: SharedDevice[BatchMember],
    *,
    done: Callable[[int, Solution], None],
    failed: Callable[[int, RegretlessError], None],
) -> None:
    """Run solves whose engines are on one device to their ends; `done` and `failed` get their position."""

    def resume(solve: _Solve, answer: Answer) -> None:
        try:
            solve.wish = solve.started.steps.send(answer)
        except StopIteration as end:
            solve.over = True
            done(solve.place, end.value)
        except RegretlessError as error:
            solve.over = True
            failed(solve.place, error)

    waiting = [_Solve(place, started, started.engine) for place, started in solves.items()]
    for solve in waiting:
        resume(solve, None)
    while waiting := [solve for solve in waiting if not solve.over]:
        groups: dict[Hashable, list[_Solve]] = {}
        for solve in waiting:
            if solve.wish is not None:
                solve.engine.get_ready(solve.wish)
            groups.setdefault(device.kind_of(solve.engine), []).append(solve)
        for group in groups.values():
            try:
                _run(group, device.batch([solve.engine for solve in group]), resume)
            except RegretlessError as error:  # of the device; solves that have ended keep what they had
                for solve in group:
                    if not solve.over:
                        solve.over = True
                        failed(solve.place, error)


def _run(group: list[_Solve], batch: EngineBatch, resume: Resume) -> None:
    """Run a batch until all of it has ended, or a solve needs other kernels."""
    active = list(enumerate(group))
    while True:
        ended = [number for number, solve in active if solve.over]
        if ended:
            active = [(number, solve) for number, solve in active if not solve.over]
            if not active:
                return
            batch.retire(ended)
        measured = [(number, solve) for number, solve in active if solve.wish is None]
        if measured:
            evaluations = batch.evaluate([number for number, _ in measured])
            for (_, solve), evaluation in zip(measured, evaluations, strict=True):
                resume(solve, evaluation)
        elif _must_store_predictions(active):
            return
        else:
            _advance(active, len(group), batch, resume)


def _must_store_predictions(active: list[tuple[int, _Solve]]) -> bool:
    """Whether a solve asks for iterations that its engine is not ready for: it becomes one of another kind."""
    ahead = {key for key, wish in _wishes(active).items() if predicts(wish)}
    return bool(ahead) and any(not solve.engine.predicts for _, solve in active if id(solve.wish) in ahead)


def _wishes(active: list[tuple[int, _Solve]]) -> dict[int, Schedule]:
    """The different schedules that solves ask for, by identity; mostly there is one."""
    return {id(solve.wish): solve.wish for _, solve in active if solve.wish is not None}


def _advance(active: list[tuple[int, _Solve]], size: int, batch: EngineBatch, resume: Resume) -> None:
    """Advance all by the smallest number of iterations that any asks for."""
    wishes = _wishes(active)
    count = min(len(wish) for wish in wishes.values())
    alike: dict[bytes, Schedule] = {}  # solves that ask for different numbers of iterations mostly take the same now
    now = {key: alike.setdefault(wish[:count].tobytes(), wish[:count]) for key, wish in wishes.items()}
    later = {key: wish[count:] for key, wish in wishes.items()}
    schedules: list[Schedule | None] = [None] * size
    for number, solve in active:
        schedules[number] = now[id(solve.wish)]
    began = time.perf_counter()
    batch.advance(schedules)
    lasted = time.perf_counter() - began
    for _, solve in active:
        rest = later[id(solve.wish)]
        solve.advanced += lasted
        if len(rest):
            solve.wish = rest
        else:
            lasted_whole, solve.advanced = solve.advanced, 0.0
            resume(solve, lasted_whole)

"""The loop: iterate, measure, save, stop, report.

1. Between measurements, the engine gets pieces of work that last about a fifth of a second, so that progress bars move
   and interrupts are noticed while compiled code still runs many iterations per call.
2. Exploitability is measured when `Stop` says so. With a target, intervals shrink as the target gets closer;
   without one, the next measurement is after another tenth of the iterations done.
3. Checkpoints are written at regular intervals and when the solve is interrupted.
4. A resumed solve adds to the history and seconds of the earlier one; if nothing is left to do, it does nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol, TypeVar, cast

from regretless.engines import Evaluation
from regretless.errors import InvalidOption, RegretlessError
from regretless.solving.record import Measurement, Reason
from regretless.variants.variant import Schedule, Variant, schedule

__all__ = ["Answer", "Checkpoints", "Iterating", "Outcome", "Progress", "Stop", "Wish", "drive", "run", "steps"]

PIECE_SECONDS = 0.2  # target length of an uninterrupted piece of work
LARGEST_PIECE = 20_000  # iterations; bounds the schedule held in memory
FASTEST = 3  # b in e ≈ c · t^−b: exploitability hardly ever falls faster
FARTHEST = 2  # the next measurement is after at most this many times the iterations of the last
BYTES_PER_SECOND = 200e6  # checksums and writing, until a checkpoint has been timed


Wish = Schedule | None  # what a solve asks of its engine: to advance, or to evaluate the average strategy
Answer = float | Evaluation | None  # the seconds that advancing took, or the evaluation; None to begin
Result = TypeVar("Result")


class Iterating(Protocol):
    """What the loop needs from an engine; without `measures`, it never evaluates."""

    @property
    def iteration(self) -> int: ...

    def advance(self, schedule: Schedule) -> None: ...

    def evaluate(self) -> Evaluation: ...


@dataclass(frozen=True)
class Progress:
    """What a progress bar shows."""

    iteration: int
    iterations: int  # where the solve ends unless it meets a target first
    seconds: float
    exploitability: float | None  # as last measured
    stop_seconds: float = 0.0  # how long an interrupt would take now: one more piece, measuring and saving
    iteration_seconds: float = 0.0  # the part of `seconds` spent in iterations


@dataclass(frozen=True, kw_only=True)
class Checkpoints:
    """When and how the state of a solve is saved."""

    write: Callable[[Outcome], None]
    every: float  # seconds between checkpoints
    size: int = 0  # approximate bytes

    def __post_init__(self) -> None:
        if not self.every > 0:
            raise InvalidOption("save_every", self.every, "must be above 0 seconds")


@dataclass(frozen=True, kw_only=True)
class Stop:
    """When a solve ends: after `iterations`, or as soon as the exploitability is at most `target`."""

    iterations: int  # in total, including those before a resume
    target: float | None = None  # in the game's units; None runs all iterations
    measure_every: int | None = None  # iterations between measurements; None: as `next_measurement` says

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise InvalidOption("iterations", self.iterations, "must be at least 1")
        if self.target is not None and not self.target > 0:
            raise InvalidOption("target", self.target, "must be above 0")
        if self.measure_every is not None and self.measure_every < 1:
            raise InvalidOption("measure_every", self.measure_every, "must be at least 1")

    def next_measurement(self, iteration: int, last: Measurement | None = None) -> int:
        """The iteration after which exploitability is measured next; `last` is the last measurement.

        Without a target, that is after another tenth of the iterations done. With one, it is where the target would be
        met if exploitability fell as 1/t³, but after at most twice the iterations of the last. Hardly any solve
        converges that fast, so few iterations are wasted, and about ten measurements find the target.

        >>> stop = Stop(iterations=1000)
        >>> [stop.next_measurement(done) for done in (0, 1, 9, 20, 48, 50, 199, 200)]
        [1, 2, 10, 22, 50, 55, 200, 220]
        >>> stop = Stop(iterations=1000, target=0.1)
        >>> [stop.next_measurement(100, Measurement(100, 0.5, found)) for found in (5.0, 0.3, 0.2, 0.11)]
        [200, 145, 130, 105]
        """
        if self.measure_every is not None or self.target is None or last is None:
            step = self.measure_every or _round_step(iteration // 10)
            return min((iteration // step + 1) * step, self.iterations)
        growth = min(math.pow(max(last.exploitability, 0.0) / self.target, 1 / FASTEST), FARTHEST)
        after = max(math.ceil(last.iteration * growth), last.iteration + 1, iteration + 1)
        step = _round_step(after // 15)
        return min(-(-after // step) * step, self.iterations)

    def last_planned(self, history: Sequence[Measurement]) -> Measurement | None:
        """The last measurement that was due, given the ones before it.

        Interrupts may have caused others, which must not change when a resumed solve measures.
        """
        last, due = None, 0
        for point in history:
            if point.iteration >= due:
                last, due = point, self.next_measurement(point.iteration, point)
        return last


@lru_cache(maxsize=1024)
def _round_step(largest: int) -> int:
    """The largest of 1, 2, 5, 10, 20, … up to `largest`."""
    decade = int(10 ** (len(str(largest)) - 1))
    return max(decade * factor for factor in (1, 2, 5) if decade * factor <= max(largest, 1))


@dataclass(frozen=True)
class Outcome:
    """What a record takes from a run, finished or not; history and seconds include the solve it resumed."""

    reason: Reason
    iterations: int
    evaluation: Evaluation | None  # of the average strategy; None if the loop does not measure
    history: tuple[Measurement, ...]
    seconds: float  # including measurements
    seconds_per_iteration: float  # of this run, without measurements


def run(engine: Iterating, variant: Variant, stop: Stop, **options: Any) -> Outcome:
    """Iterate until `stop` says so, measuring exploitability along the way; `options` are those of `steps`.

    >>> from regretless.games import Kuhn
    >>> from regretless.variants import Plus
    >>> from regretless.solving import CFR
    >>> run(CFR(Kuhn()), Plus(), Stop(iterations=1000, target=0.01)).reason
    'target'
    """
    return drive(engine, steps(engine, variant, stop, **options))


def drive(engine: Iterating, solve: Generator[Wish, Answer, Result]) -> Result:
    """Carry out what a solve asks of its engine; returns what the solve returns."""
    answer: Answer = None
    while True:
        try:
            wish = solve.send(answer)
        except StopIteration as end:
            return cast(Result, end.value)
        if wish is None:
            answer = engine.evaluate()
        else:
            began = time.perf_counter()
            engine.advance(wish)
            answer = time.perf_counter() - began


def steps(
    engine: Iterating,
    variant: Variant,
    stop: Stop,
    *,
    before: tuple[Measurement, ...] = (),
    seconds_before: float = 0.0,
    checkpoints: Checkpoints | None = None,
    report: Callable[[Progress], None] | None = None,
    interrupted: Callable[[], bool] = lambda: False,
    weigh: Callable[[Variant, int, int], Schedule] = schedule,
    measures: bool = True,
) -> Generator[Wish, Answer, Outcome]:
    """The loop as a generator, so that many solves can share a device: it yields what the engine shall do next.

    That is a schedule to advance by, to which the answer is the seconds it took, or None to be sent an evaluation.
    `before` and `seconds_before` are the history and duration of the solve that this one resumes. `weigh` makes
    schedules; solves of a batch may share them. Without `measures`, nothing is evaluated: the exact exploitability of
    some games takes far longer than their iterations.
    """
    began = last_saved = time.perf_counter()
    started_at = engine.iteration
    history: list[Measurement] = []  # of this run, seconds since it began
    iteration_seconds = lasted = measuring = 0.0
    saving = 0.0 if checkpoints is None else checkpoints.size / BYTES_PER_SECOND
    piece = 1
    exploitability: float | None = None
    evaluation: Evaluation | None = None
    planned = stop.last_planned(before)

    def tell() -> None:
        if report is None:
            return
        seconds = time.perf_counter() - began
        stopping = lasted + measuring + saving
        report(Progress(engine.iteration, stop.iterations, seconds, exploitability, stopping, iteration_seconds))

    def outcome(
        reason: Reason, evaluation: Evaluation | None, points: Sequence[Measurement], seconds: float
    ) -> Outcome:
        return Outcome(
            reason,
            engine.iteration,
            evaluation,
            _joined(before, points, seconds_before),
            seconds_before + seconds,
            iteration_seconds / max(engine.iteration - started_at, 1),
        )

    def is_due() -> bool:
        """Whether it is time for a checkpoint."""
        return checkpoints is not None and time.perf_counter() - last_saved >= checkpoints.every

    def save(evaluation: Evaluation | None, save_began: float) -> None:
        nonlocal last_saved, saving
        assert checkpoints is not None
        checkpoints.write(outcome("interrupted", evaluation, history, save_began - began))
        last_saved = time.perf_counter()
        saving = last_saved - save_began

    while True:
        measure_at = engine.iteration
        if history or not _is_over(stop, engine.iteration, before):
            measure_at = stop.next_measurement(engine.iteration, planned) if measures else stop.iterations
        while engine.iteration < measure_at and not interrupted():
            count = min(piece, measure_at - engine.iteration)
            rows = weigh(variant, engine.iteration + 1, count)
            took = yield rows
            assert isinstance(took, float)
            lasted = took
            iteration_seconds += lasted
            if count == piece:
                piece = max(1, min(2 * piece, LARGEST_PIECE, int(count * PIECE_SECONDS / max(lasted, 1e-9))))
            if engine.iteration == measure_at:  # the report and checkpoint below include the new exploitability
                break
            tell()
            if is_due():
                save_began = time.perf_counter()
                measured = (yield None) if measures else None
                assert measured is None or isinstance(measured, Evaluation)
                save(measured, save_began)
        if not measures:
            tell()
        elif not history or history[-1].iteration < engine.iteration:  # else an interrupt came right after measuring
            measuring_began = time.perf_counter()
            found = yield None
            assert isinstance(found, Evaluation)
            evaluation = found
            measuring = time.perf_counter() - measuring_began
            exploitability = found.exploitability
            if not math.isfinite(exploitability):  # must never be reported as an answer
                raise RegretlessError(f"the exploitability after {engine.iteration:,} iterations is {exploitability}")
            history.append(Measurement(engine.iteration, time.perf_counter() - began, exploitability))
            if engine.iteration == measure_at:
                planned = history[-1]
            tell()
        reason = _reason_to_stop(stop, engine.iteration, exploitability, interrupted())
        if reason is not None:
            seconds = history[-1].seconds if history else time.perf_counter() - began
            if reason == "interrupted" and checkpoints is not None:
                # An uninterrupted solve would not have made a measurement that only the interrupt caused.
                due = history if not history or history[-1] is planned else history[:-1]
                checkpoints.write(outcome(reason, evaluation, due, seconds))
            return outcome(reason, evaluation, history, seconds)
        if is_due():
            save(evaluation, time.perf_counter())


def _joined(before: Sequence[Measurement], after: Sequence[Measurement], seconds: float) -> tuple[Measurement, ...]:
    """The convergence curves of a solve that took `seconds` and of the one that resumed it, joined."""
    if not before and not seconds:
        return tuple(after)
    later = tuple(replace(point, seconds=seconds + point.seconds) for point in after)
    first = later[0].iteration if later else None
    return (*(point for point in before if first is None or point.iteration < first), *later)


def _is_over(stop: Stop, iteration: int, before: Sequence[Measurement]) -> bool:
    """Whether the earlier solve's last measurement was at this iteration and shows that nothing is left to do."""
    if not before or before[-1].iteration != iteration:
        return False
    return _reason_to_stop(stop, iteration, before[-1].exploitability, False) is not None


def _reason_to_stop(stop: Stop, iteration: int, exploitability: float | None, interrupted: bool) -> Reason | None:
    if stop.target is not None and exploitability is not None and exploitability <= stop.target:
        return "target"
    if iteration >= stop.iterations:
        return "iterations"
    return "interrupted" if interrupted else None

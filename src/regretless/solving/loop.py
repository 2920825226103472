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

__all__ = ["Checkpoints", "Iterating", "Outcome", "Progress", "Reply", "Step", "Stop", "drive", "run", "steps"]

PIECE_SECONDS = 0.2  # target length of an uninterrupted piece of work
MAX_PIECE = 20_000  # iterations; bounds the schedule held in memory
FASTEST = 3  # b in e ≈ c · t^−b: exploitability hardly ever falls faster
FARTHEST = 2  # the next measurement is after at most this many times the iterations of the last
BYTES_PER_SECOND = 200e6  # checksums and writing, until a checkpoint has been timed


Step = Schedule | None  # what a solve asks of its engine: to advance, or to evaluate the average strategy
Reply = float | Evaluation | None  # the seconds that advancing took, or the evaluation; None to begin
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
    evaluation: Evaluation | None = None  # as last measured in this run


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
        >>> [stop.next_measurement(100, Measurement(100, 0.5, measured)) for measured in (5.0, 0.3, 0.2, 0.11)]
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


def drive(engine: Iterating, solve: Generator[Step, Reply, Result]) -> Result:
    """Carry out what a solve asks of its engine; returns what the solve returns."""
    reply: Reply = None
    while True:
        try:
            step = solve.send(reply)
        except StopIteration as end:
            return cast(Result, end.value)
        if step is None:
            reply = engine.evaluate()
        else:
            began = time.perf_counter()
            engine.advance(step)
            reply = time.perf_counter() - began


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
) -> Generator[Step, Reply, Outcome]:
    """The loop as a generator, so that many solves can share a device: it yields what the engine should do next.

    It yields a schedule to advance by, and is sent the seconds that took; or None, and is sent an evaluation.
    `before` and `seconds_before` are the history and duration of the solve that this one resumes. `weigh` makes
    schedules; solves of a batch may share them. Without `measures`, nothing is evaluated: the exact exploitability of
    some games takes far longer than their iterations.
    """
    loop = _Loop(
        engine,
        variant,
        stop,
        before=before,
        seconds_before=seconds_before,
        checkpoints=checkpoints,
        report=report,
        interrupted=interrupted,
        weigh=weigh,
        measures=measures,
    )
    while True:
        yield from loop.advance()
        yield from loop.measure()
        if (reason := loop.reason_to_stop()) is not None:
            return loop.end(reason)
        loop.save_if_due()


class _Loop:
    """One run: start, advance, measure, checkpoint, stop."""

    def __init__(
        self,
        engine: Iterating,
        variant: Variant,
        stop: Stop,
        *,
        before: tuple[Measurement, ...],
        seconds_before: float,
        checkpoints: Checkpoints | None,
        report: Callable[[Progress], None] | None,
        interrupted: Callable[[], bool],
        weigh: Callable[[Variant, int, int], Schedule],
        measures: bool,
    ) -> None:
        self.engine, self.variant, self.stop, self.weigh, self.measures = engine, variant, stop, weigh, measures
        self.before, self.seconds_before = before, seconds_before
        self.checkpoints, self.report, self.interrupted = checkpoints, report, interrupted
        self.began = self.last_saved = time.perf_counter()
        self.first_iteration = engine.iteration
        self.history: list[Measurement] = []  # of this run, seconds since it began
        self.evaluation: Evaluation | None = None
        self.planned = stop.last_planned(before)  # the last measurement that was not caused by an interrupt
        self.measure_at = engine.iteration
        self.piece = 1  # iterations until the next report
        self.iteration_seconds = 0.0
        # How long an interrupt would take now: the last piece, measurement and checkpoint.
        self.piece_seconds = self.measuring_seconds = 0.0
        self.saving_seconds = 0.0 if checkpoints is None else checkpoints.size / BYTES_PER_SECOND

    # --- advance -----------------------------------------------------------------------------------------------------

    def advance(self) -> Generator[Step, Reply, None]:
        """Iterate up to the next measurement, in pieces, or until interrupted."""
        engine = self.engine
        self.measure_at = self._next_measurement()
        while engine.iteration < self.measure_at and not self.interrupted():
            count = min(self.piece, self.measure_at - engine.iteration)
            seconds = yield self.weigh(self.variant, engine.iteration + 1, count)
            assert isinstance(seconds, float)
            self.piece_seconds = seconds
            self.iteration_seconds += seconds
            if count == self.piece:
                fitting = int(count * PIECE_SECONDS / max(seconds, 1e-9))
                self.piece = max(1, min(2 * self.piece, MAX_PIECE, fitting))
            if engine.iteration == self.measure_at:  # the next report and checkpoint include the new exploitability
                return
            self._report()
            if self._is_checkpoint_due():
                save_began = time.perf_counter()
                evaluation = (yield None) if self.measures else None
                assert evaluation is None or isinstance(evaluation, Evaluation)
                self._save(evaluation, save_began)

    def _next_measurement(self) -> int:
        """The iteration to measure at next: this one, if a resumed solve has nothing left to do."""
        iteration = self.engine.iteration
        if not self.history and _is_over(self.stop, iteration, self.before):
            return iteration
        return self.stop.next_measurement(iteration, self.planned) if self.measures else self.stop.iterations

    # --- measure -----------------------------------------------------------------------------------------------------

    def measure(self) -> Generator[Step, Reply, None]:
        """Evaluate the average strategy, unless an interrupt came right after the last measurement; then report."""
        iteration = self.engine.iteration
        if not self.measures:
            self._report()
            return
        if self.history and self.history[-1].iteration == iteration:
            return
        began = time.perf_counter()
        evaluation = yield None
        assert isinstance(evaluation, Evaluation)
        self.measuring_seconds = time.perf_counter() - began
        self.evaluation = evaluation
        exploitability = evaluation.exploitability
        if not math.isfinite(exploitability):  # must never be reported as an answer
            raise RegretlessError(f"the exploitability after {iteration:,} iterations is {exploitability}")
        self.history.append(Measurement(iteration, time.perf_counter() - self.began, exploitability))
        if iteration == self.measure_at:
            self.planned = self.history[-1]
        self._report()

    def _report(self) -> None:
        if self.report is None:
            return
        self.report(
            Progress(
                iteration=self.engine.iteration,
                iterations=self.stop.iterations,
                seconds=time.perf_counter() - self.began,
                exploitability=self._exploitability(),
                stop_seconds=self.piece_seconds + self.measuring_seconds + self.saving_seconds,
                iteration_seconds=self.iteration_seconds,
                evaluation=self.evaluation,
            )
        )

    def _exploitability(self) -> float | None:
        """As last measured in this run."""
        return None if self.evaluation is None else self.evaluation.exploitability

    # --- checkpoint --------------------------------------------------------------------------------------------------

    def save_if_due(self) -> None:
        """Write a checkpoint with the last evaluation, if it is time for one."""
        if self._is_checkpoint_due():
            self._save(self.evaluation, time.perf_counter())

    def _is_checkpoint_due(self) -> bool:
        return self.checkpoints is not None and time.perf_counter() - self.last_saved >= self.checkpoints.every

    def _save(self, evaluation: Evaluation | None, began: float) -> None:
        assert self.checkpoints is not None
        self.checkpoints.write(self._outcome("interrupted", evaluation, self.history, began - self.began))
        self.last_saved = time.perf_counter()
        self.saving_seconds = self.last_saved - began

    # --- stop --------------------------------------------------------------------------------------------------------

    def reason_to_stop(self) -> Reason | None:
        """Why the run ends here, if it does."""
        return _reason_to_stop(self.stop, self.engine.iteration, self._exploitability(), interrupted=self.interrupted())

    def end(self, reason: Reason) -> Outcome:
        """The outcome; that of an interrupted run is also written as a checkpoint."""
        history = self.history
        seconds = history[-1].seconds if history else time.perf_counter() - self.began
        if reason == "interrupted" and self.checkpoints is not None:
            # An uninterrupted solve would not have made a measurement that only the interrupt caused.
            due = history if not history or history[-1] is self.planned else history[:-1]
            self.checkpoints.write(self._outcome(reason, self.evaluation, due, seconds))
        return self._outcome(reason, self.evaluation, history, seconds)

    def _outcome(
        self, reason: Reason, evaluation: Evaluation | None, points: Sequence[Measurement], seconds: float
    ) -> Outcome:
        iterations = self.engine.iteration
        return Outcome(
            reason=reason,
            iterations=iterations,
            evaluation=evaluation,
            history=_join_histories(self.before, points, self.seconds_before),
            seconds=self.seconds_before + seconds,
            seconds_per_iteration=self.iteration_seconds / max(iterations - self.first_iteration, 1),
        )


def _join_histories(
    before: Sequence[Measurement], after: Sequence[Measurement], seconds: float
) -> tuple[Measurement, ...]:
    """The history of a solve that took `seconds`, then that of the one that resumed it."""
    later = tuple(replace(point, seconds=seconds + point.seconds) for point in after)
    if later:  # the second may have measured the last iteration of the first again
        before = [point for point in before if point.iteration < later[0].iteration]
    return (*before, *later)


def _is_over(stop: Stop, iteration: int, before: Sequence[Measurement]) -> bool:
    """Whether the earlier solve's last measurement was at this iteration and shows that nothing is left to do."""
    if not before or before[-1].iteration != iteration:
        return False
    return _reason_to_stop(stop, iteration, before[-1].exploitability, interrupted=False) is not None


def _reason_to_stop(stop: Stop, iteration: int, exploitability: float | None, *, interrupted: bool) -> Reason | None:
    if stop.target is not None and exploitability is not None and exploitability <= stop.target:
        return "target"
    if iteration >= stop.iterations:
        return "iterations"
    return "interrupted" if interrupted else None

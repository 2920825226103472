"""The loop, written once: iterate, measure now and then, stop, report.

A *problem* is anything that can advance by a schedule of weights and say how exploitable its average strategy is: the
recursion on the rules of a game, or an engine on a compiled form. Between measurements the loop hands the problem
pieces that last about a fifth of a second, so that a progress bar lives and an interrupt is heard, while compiled code
still runs many iterations in one call.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from regretless.engines.engine import Evaluation
from regretless.errors import InvalidOption, RegretlessError
from regretless.rules.rule import Rule, Schedule, schedule

__all__ = ["Measurement", "Outcome", "Problem", "Progress", "Stop", "run"]

PIECE_SECONDS = 0.2  # how long one uninterrupted piece of work should last
LARGEST_PIECE = 20_000  # iterations; bounds the schedule held in memory


class Problem(Protocol):
    """What the loop asks of a solver."""

    @property
    def iteration(self) -> int: ...

    def advance(self, schedule: Schedule) -> None: ...

    def evaluate(self) -> Evaluation: ...


@dataclass(frozen=True)
class Measurement:
    """One point of a convergence curve."""

    iteration: int
    seconds: float  # since the loop began, measuring included
    exploitability: float


@dataclass(frozen=True)
class Progress:
    """What a progress bar shows."""

    iteration: int
    iterations: int  # where the solve ends if no target is met before
    seconds: float
    exploitability: float | None  # the last one measured


@dataclass(frozen=True, kw_only=True)
class Stop:
    """When a solve ends: after `iterations`, or as soon as the exploitability is at most `target`."""

    iterations: int  # counted from the very first, also after a resume
    target: float | None = None  # in the game's units; None runs all iterations
    measure_every: int | None = None  # iterations between measurements; None: by a tenth of those done

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise InvalidOption("iterations", self.iterations, "must be at least 1")
        if self.target is not None and not self.target > 0:
            raise InvalidOption("target", self.target, "must be above 0")
        if self.measure_every is not None and self.measure_every < 1:
            raise InvalidOption("measure_every", self.measure_every, "must be at least 1")

    def next_measurement(self, iteration: int) -> int:
        """The iteration after which exploitability is measured next.

        >>> stop = Stop(iterations=1000)
        >>> [stop.next_measurement(done) for done in (0, 1, 9, 20, 48, 50, 199, 200)]
        [1, 2, 10, 22, 50, 55, 200, 220]
        """
        step = self.measure_every or _round_step(iteration // 10)
        return min((iteration // step + 1) * step, self.iterations)


def _round_step(largest: int) -> int:
    """The largest of 1, 2, 5, 10, 20, … that is not above `largest`."""
    decade = int(10 ** (len(str(largest)) - 1))
    return max(decade * factor for factor in (1, 2, 5) if decade * factor <= max(largest, 1))


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    reason: Literal["iterations", "target", "interrupted"]
    evaluation: Evaluation  # of the average strategy at the end
    history: tuple[Measurement, ...]
    seconds: float  # measuring included
    iteration_seconds: float  # iterations alone, so that their speed can be told


def run(
    problem: Problem,
    rule: Rule,
    stop: Stop,
    *,
    report: Callable[[Progress], None] = lambda progress: None,
    interrupted: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Iterate until `stop` says so, measuring exploitability on the way.

    >>> from regretless.games import Kuhn
    >>> from regretless.rules import Plus
    >>> from regretless.solvers import CFR
    >>> run(CFR(Kuhn()), Plus(), Stop(iterations=1000, target=0.01)).reason
    'target'
    """
    began = time.perf_counter()
    history: list[Measurement] = []
    iteration_seconds = 0.0
    piece = 1
    exploitability: float | None = None
    while True:
        measure_at = stop.next_measurement(problem.iteration)
        while problem.iteration < measure_at and not interrupted():
            count = min(piece, measure_at - problem.iteration)
            rows = schedule(rule, problem.iteration + 1, count)
            piece_began = time.perf_counter()
            problem.advance(rows)
            lasted = time.perf_counter() - piece_began
            iteration_seconds += lasted
            if count == piece:
                piece = max(1, min(2 * piece, LARGEST_PIECE, int(count * PIECE_SECONDS / max(lasted, 1e-9))))
            if problem.iteration < measure_at:  # else the report below tells it with its own exploitability
                report(Progress(problem.iteration, stop.iterations, time.perf_counter() - began, exploitability))
        evaluation = problem.evaluate()
        exploitability = evaluation.exploitability
        if not math.isfinite(exploitability):  # never printed as an answer
            raise RegretlessError(f"the exploitability after {problem.iteration:,} iterations is {exploitability}")
        history.append(Measurement(problem.iteration, time.perf_counter() - began, exploitability))
        report(Progress(problem.iteration, stop.iterations, history[-1].seconds, exploitability))
        reason = _reason_to_stop(stop, problem.iteration, exploitability, interrupted())
        if reason is not None:
            return Outcome(reason, evaluation, tuple(history), history[-1].seconds, iteration_seconds)


def _reason_to_stop(
    stop: Stop, iteration: int, exploitability: float, interrupted: bool
) -> Literal["iterations", "target", "interrupted"] | None:
    if stop.target is not None and exploitability <= stop.target:
        return "target"
    if iteration >= stop.iterations:
        return "iterations"
    return "interrupted" if interrupted else None

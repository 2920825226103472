"""How much longer a solve will take, from the trend of its exploitability.

Exploitability falls roughly as a power of the iterations, e ≈ c · t^−b, a line in log t and log e. The line is fitted
by least squares to the measurements of the latter half (early iterations fall at a different rate), or to the last
three if that half has fewer, and predicts the iteration t* that meets the target. The time until then is

    seconds left = (t* − t) · seconds per iteration + measurements until t* · seconds per measurement

where measurements are counted as the loop makes them (`Stop.next_measurement`), on the fitted line. If measurements are
too few, too close together or not falling, there is no estimate, which is better than a wrong one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from regretless.solving.loop import Progress, Stop
from regretless.solving.record import Measurement

__all__ = ["Forecast", "Outlook"]

MIN_MEASUREMENTS = 3  # measurements needed for a trend
MIN_SECONDS = 1.0  # seconds of solving before the first forecast
FIRST = 16  # iterations before the first forecast
FLATTEST = 0.25  # exponent b below which a solve is considered stalled
WINDOW = 2  # the trend covers the last half of the iterations
GROWTH = math.log(1.075)  # of iterations from one measurement to the next, without a target


@dataclass(frozen=True)
class Outlook:
    """How far a solve is, and how much time is left."""

    share: float  # of the whole time, 0 to 1
    seconds_left: float | None


class _TargetCrossing(NamedTuple):
    """Where the fitted line meets the target."""

    iteration: float
    exponent: float  # b


class Forecast:
    """Follows the reports of the loop, in the unit of the target."""

    def __init__(self, target: float | None, *, every: int | None = None) -> None:
        self.target = target
        self.every = every  # iterations between measurements; None: as the loop chooses
        self._history: list[Measurement] = []
        self._began_at: int | None = None  # iterations done before the first report, for example before a resume
        self._end: float | None = None  # seconds at which the solve should end
        self._share = 0.0

    def read(self, progress: Progress) -> Outlook:
        """Process a report and return the outlook."""
        measured = progress.exploitability
        if self._began_at is None:
            self._began_at = max(progress.iteration - 1, 0)
        fresh = measured is not None and (not self._history or self._history[-1].exploitability != measured)
        if fresh and measured is not None:
            self._history.append(Measurement(progress.iteration, progress.seconds, measured))
        if fresh or self.target is None:
            self._end = self._predict(progress)
        seconds_left = None if self._end is None else self._end - progress.seconds
        if seconds_left is not None and seconds_left <= 0:
            seconds_left = None
        if measured is not None and self.target is not None and measured <= self.target:
            share = 1.0
        elif seconds_left is not None:
            share = progress.seconds / (progress.seconds + seconds_left)
        else:
            share = 0.0 if self.target is not None else progress.iteration / progress.iterations
        self._share = max(self._share, share)  # a progress bar must not move backwards
        return Outlook(self._share, seconds_left)

    def _predict(self, progress: Progress) -> float | None:
        """When the solve should end, in seconds since it began."""
        done = progress.iteration - (self._began_at or 0)
        if progress.seconds < MIN_SECONDS or done < 1:
            return None
        last, measurements = float(progress.iterations), 0.0
        if self.target is not None:
            crossing = self._target_met(last)
            if crossing is None:
                return None
            last = max(crossing.iteration, progress.iteration)
            measurements = self._measurements(progress.iteration, crossing)
        elif self.every is None:
            measurements = min(last - progress.iteration, math.log(last / progress.iteration) / GROWTH)
        more = last - progress.iteration
        if self.every is not None:
            measurements = more / self.every
        per_iteration = progress.iteration_seconds / done
        per_measurement = (progress.seconds - progress.iteration_seconds) / max(len(self._history), 1)
        return progress.seconds + more * per_iteration + measurements * per_measurement

    def _measurements(self, iteration: int, crossing: _TargetCrossing) -> int:
        """How many measurements the loop makes from an iteration until the target is met."""
        assert self.target is not None
        last = crossing.iteration
        stop, count = Stop(iterations=max(math.ceil(last), 1), target=self.target), 0
        while iteration < last:
            expected = self.target * (last / iteration) ** crossing.exponent
            iteration = stop.next_measurement(iteration, Measurement(iteration, 0.0, expected))
            count += 1
        return count

    def _target_met(self, iterations: float) -> _TargetCrossing | None:
        """Where the fitted line meets the target, at most after `iterations`."""
        assert self.target is not None
        points = [point for point in self._history if point.exploitability > 0]
        recent = [point for point in points if WINDOW * point.iteration >= self._history[-1].iteration]
        recent = points[-max(len(recent), MIN_MEASUREMENTS) :]
        if len(recent) < MIN_MEASUREMENTS or recent[-1].iteration < max(FIRST, 1.5 * recent[0].iteration):
            return None
        log_t = [math.log(point.iteration) for point in recent]
        log_e = [math.log(point.exploitability) for point in recent]
        mean_t, mean_e = sum(log_t) / len(log_t), sum(log_e) / len(log_e)
        covariance = sum((t - mean_t) * (e - mean_e) for t, e in zip(log_t, log_e, strict=True))
        exponent = -covariance / sum((t - mean_t) ** 2 for t in log_t)
        if exponent < FLATTEST:
            return None
        log_crossing = mean_t + (mean_e - math.log(self.target)) / exponent
        return _TargetCrossing(math.exp(min(log_crossing, math.log(iterations))), exponent)

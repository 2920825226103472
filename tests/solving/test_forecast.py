"""The time left is shown once there is a trend, is right within a small factor, and is never shown without one."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from regretless.solving.forecast import Forecast
from regretless.solving.loop import Progress, Stop
from regretless.solving.record import Measurement

# A turn, until its target of 0.1 % of the pot: (iteration, exploitability). The command used to say "2 h 33 min left"
# on the way.
TURN = [
    (1, 93.4), (2, 113.0), (3, 102.1), (4, 81.2), (5, 58.8), (6, 43.0), (7, 34.1), (8, 30.2), (9, 25.6), (10, 24.1),
    (11, 22.5), (12, 20.2), (13, 17.0), (14, 15.0), (15, 13.3), (16, 12.5), (17, 12.0), (18, 11.1), (19, 10.5),
    (20, 9.38), (22, 7.86), (24, 6.61), (26, 5.55), (28, 4.94), (30, 4.30), (32, 3.84), (34, 3.24), (36, 2.86),
    (38, 2.59), (40, 2.31), (42, 2.13), (44, 1.94), (46, 1.74), (48, 1.58), (50, 1.42), (55, 1.14), (60, 0.948),
    (65, 0.800), (70, 0.706), (75, 0.588), (80, 0.519), (85, 0.448), (90, 0.404), (95, 0.376), (100, 0.332),
    (110, 0.367), (120, 0.316), (130, 0.294), (140, 0.248), (150, 0.204), (160, 0.183), (170, 0.157), (180, 0.138),
    (190, 0.119), (200, 0.110), (220, 0.091),
]  # fmt: skip


def reports(curve: list[tuple[int, float]], per_iteration: float, per_measurement: float) -> list[Progress]:
    return [
        Progress(t, 10_000, t * per_iteration + count * per_measurement, e, iteration_seconds=t * per_iteration)
        for count, (t, e) in enumerate(curve, 1)
    ]


def measured(curve: Callable[[float], float], target: float, stop: Stop | None = None) -> list[tuple[int, float]]:
    """The measurements of a solve with a target whose exploitability is `curve`."""
    stop = stop or Stop(iterations=10_000, target=target)
    points = [Measurement(1, 0.0, curve(1))]
    while points[-1].exploitability > target and points[-1].iteration < stop.iterations:
        t = stop.next_measurement(points[-1].iteration, points[-1])
        points.append(Measurement(t, 0.0, curve(t)))
    return [(point.iteration, point.exploitability) for point in points]


def power_law(exponent: float, target: float, stop: Stop | None = None) -> list[tuple[int, float]]:
    return measured(lambda t: 5 / t**exponent, target, stop)


def turn(t: float) -> float:
    """The turn after any iteration."""
    return float(np.exp(np.interp(math.log(t), *np.log(TURN).T)))


@pytest.mark.parametrize("per_measurement", [0.001, 0.2, 1.0])
@pytest.mark.parametrize("exponent", [0.7, 1.0, 2.0])
def test_a_power_law_is_foretold(exponent: float, per_measurement: float) -> None:
    target = 5 / 400**exponent
    seen = reports(power_law(exponent, target), 0.2, per_measurement)
    end = seen[-1].seconds
    forecast = Forecast(target)
    told = [(forecast.read(each), each) for each in seen]
    first = next(each.iteration for outlook, each in told if outlook.seconds_left is not None)
    assert first <= 32
    for outlook, each in told:
        if first <= each.iteration <= 360:  # later, a single measurement decides
            assert outlook.seconds_left is not None
            assert outlook.seconds_left == pytest.approx(end - each.seconds, rel=0.35)
    assert told[-1][0].share == 1.0
    shares = [outlook.share for outlook, _ in told]
    assert shares == sorted(shares)


@pytest.mark.parametrize("every", [None, 5])
def test_a_real_solve_is_foretold_within_a_small_factor(every: int | None) -> None:
    seen = reports(measured(turn, 0.1, Stop(iterations=10_000, target=0.1, measure_every=every)), 0.3, 0.5)
    end = seen[-1].seconds
    forecast = Forecast(0.1, every=every)
    told = [(forecast.read(each).seconds_left, end - each.seconds, each.iteration) for each in seen]
    assert all(left is None for left, _, iteration in told if iteration < 16)
    for left, true, _ in told[:-1]:
        assert left is None or left < 4 * true + 1
    late = [(left, true) for left, true, iteration in told if 30 < iteration < 100]
    assert late
    assert all(left is not None and true / 2 < left < 2 * true for left, true in late)


def test_no_forecast_for_a_solve_that_does_not_improve() -> None:
    forecast = Forecast(0.1)
    for each in reports([(t, 1 + 0.1 * (t % 3)) for t in range(1, 200)], 0.1, 0.1):
        assert forecast.read(each).seconds_left is None


def test_a_target_that_the_iterations_do_not_reach_ends_with_them() -> None:
    forecast = Forecast(1e-9)
    for each in reports(power_law(1.0, 0.02, Stop(iterations=10_000)), 0.2, 0.0):
        left = forecast.read(each).seconds_left
    assert left == pytest.approx((10_000 - each.iteration) * 0.2)


def test_without_a_target_iterations_are_counted() -> None:
    forecast = Forecast(None)
    for t in range(1, 50):
        outlook = forecast.read(Progress(t, 100, 0.1 * t, None, iteration_seconds=0.1 * t))
    assert outlook.seconds_left == pytest.approx(5.1)
    assert outlook.share == pytest.approx(0.49)


def test_a_resumed_solve_is_timed_from_where_it_began() -> None:
    forecast = Forecast(None)
    for t in range(501, 521):
        outlook = forecast.read(Progress(t, 1000, 0.1 * (t - 500), None, iteration_seconds=0.1 * (t - 500)))
    assert outlook.seconds_left == pytest.approx(48)

"""How long a solve is said to take: within a factor of 1.5 of what it takes."""

from __future__ import annotations

import time

import pytest

import regretless as rl
from regretless.holdem import Spot
from regretless.holdem.estimate import estimate_spot
from regretless.holdem.expected_time import expected_iterations, expected_seconds, iteration_speed
from regretless.holdem.spots.formations import formations
from regretless.holdem.spots.trees import TreeLevel

FACTOR = 1.5
EVERY = 5  # iterations between measurements


def spot_of(key: str, board: str, level: TreeLevel = "usual") -> Spot:
    formation = next(each for each in formations() if each.key == key)
    return Spot.from_mapping(formation.fields(level) | {"board": board})


@pytest.mark.filterwarnings("ignore")
def test_most_turns_take_the_expected_iterations() -> None:
    ratios = []
    for formation in formations():
        spot = spot_of(formation.key, "Th 7h 2d 4c")
        solution = rl.solve(spot, target=0.5, measure_every=EVERY, threads=1)
        ratios.append(expected_iterations(spot, 0.5) / solution.iterations)
    assert all(0.5 < ratio < 2 for ratio in ratios), ratios
    assert sum(1 / FACTOR < ratio < FACTOR for ratio in ratios) >= 8, ratios


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("key", "board"), [("4bet-btn-bb", "Jh 8d 3c"), ("3bet-utg-bb", "Qs 6s 2d")])
def test_flops_take_the_expected_time_of_a_core(key: str, board: str) -> None:
    spot = spot_of(key, board)
    expected = expected_seconds(estimate_spot(spot).entries, expected_iterations(spot, 0.5), 1, iteration_speed())
    started = time.process_time()
    rl.solve(spot, target=0.5, threads=1)
    assert 1 / FACTOR < expected / (time.process_time() - started) < FACTOR


def test_finer_targets_and_larger_trees_take_longer() -> None:
    spots = [spot_of("srp-btn-bb", "Ks 7d 2c", level) for level in ("small", "usual", "fine")]  # type: ignore[arg-type]
    iterations = [expected_iterations(spot, 0.5) for spot in spots]
    assert iterations == sorted(iterations)
    assert expected_iterations(spots[0], 0.1) > 2 * expected_iterations(spots[0], 0.5)
    assert expected_seconds(10**9, 100, 2, 1e-9) == pytest.approx(expected_seconds(10**9, 100, 1, 1e-9) / 2, rel=0.02)


def test_the_speed_of_this_machine_is_measured_once() -> None:
    speed = iteration_speed()
    assert 1e-11 < speed < 1e-7
    assert iteration_speed() == speed

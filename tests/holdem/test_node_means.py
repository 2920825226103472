"""Averages over the hands at a node: one player's gain is the other's loss, even on lines that are rarely taken."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regretless.holdem.problem import solve_spot
from regretless.holdem.reading.nodes import NodeView
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.spot import Spot

sys.path.insert(0, str(Path(__file__).parent))
from random_spots import random_spot

BLOCKED: dict[str, Any] = {
    "board": "9d Qs Qd As Ad",
    "pot": 100,
    "stack": 300,
    "oop": {"range": "Ah4d, KK:0.00001, JJ"},
    "ip": {"range": "AhJs, AhKh, 7c5c:0.00001, AhTc"},
    "bets": {"bet": "100%", "raise": "a"},
    "rules": {"add_allin": 0},
}


def views(solution: SpotSolution, *, every: int = 13) -> Iterator[NodeView]:
    """Every betting node, on a subset of the runouts."""
    waiting = [solution.reader.root]
    while waiting:
        place = waiting.pop()
        view = solution.reader.view(place)
        yield view
        children = list(solution.reader.children(place))
        waiting += children[::every] if view.kind == "chance" else children


def check_chips(view: NodeView, rake: float, rake_cap: float, tolerance: float) -> None:
    """The EVs sum to the pot minus at most the maximum rake, and the equities to 1."""
    if not view.reached:
        return
    house = min(rake * (view.pot + sum(view.stacks.values())), rake_cap)
    total = view.ev("oop") + view.ev("ip")
    assert view.pot - house - tolerance <= total <= view.pot + tolerance, view.line
    assert view.equity("oop") + view.equity("ip") == pytest.approx(1, abs=1e-9), view.line
    if view.kind == "decision":
        assert sum(view.frequencies) == pytest.approx(1, abs=1e-6), view.line


@pytest.mark.parametrize("iterations", [100, 3000])
@pytest.mark.parametrize("seed", range(8))
def test_evs_of_a_river_sum_to_the_pot_at_every_node(seed: int, iterations: int) -> None:
    spot = random_spot(seed, 5)
    solution = solve_spot(spot, iterations=iterations, threads=1)
    for view in views(solution):
        check_chips(view, spot.rules.rake, spot.rules.rake_cap, 1e-8 * spot.pot)


@pytest.mark.parametrize("seed", range(3))
def test_evs_of_a_turn_sum_to_the_pot_at_every_node(seed: int) -> None:
    spot = random_spot(seed, 4)
    solution = solve_spot(spot, iterations=100, threads=1)
    for view in views(solution):
        check_chips(view, spot.rules.rake, spot.rules.rake_cap, 1e-5 * spot.pot)


@pytest.mark.parametrize("iterations", [500, 5000])
def test_hands_that_face_almost_nothing(iterations: int) -> None:
    solution = solve_spot(Spot.from_mapping(BLOCKED), iterations=iterations, threads=1)
    reached = 0
    for view in views(solution):
        check_chips(view, 0.0, 0.0, 1e-8 * solution.spot.pot)
        reached += view.reached
        for table in view.hands.values():  # NaN exactly where no opposing hand is possible
            np.testing.assert_array_equal(np.isnan(table.ev), table.matchups == 0)
            np.testing.assert_array_equal(np.isnan(table.equity), table.matchups == 0)
    assert reached > 5


def test_equity_of_a_flop_is_known_for_hands_that_are_never_held(flop: SpotSolution) -> None:
    reader = flop.reader
    place = reader.find("check")
    empty = replace(place, reach=(place.reach[0], np.zeros_like(place.reach[1])))
    assert not np.isnan(reader.equity(1, empty)).any()  # oop never gets here; each hand still has an equity against ip
    assert np.isnan(reader.equity(0, empty)).all()

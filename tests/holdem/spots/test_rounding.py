from __future__ import annotations

import tomllib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regretless.errors import RoundedSizes
from regretless.holdem.form.betting import betting_tree
from regretless.holdem.problem import solve_spot
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.spot import Spot


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"pot": 5.5, "bets": {"bet": "33%"}},
            "rules.chip: a bet of 33% is 1.815 and becomes 2 (36.4% of the pot) in chips of 1; set chip = 0.01",
        ),
        (
            {"pot": 10, "bets": {"bet": "20%, 75%"}},
            "rules.chip: a bet of 75% is 7.5 and becomes 8 (80.0% of the pot) in chips of 1; set chip = 0.01",
        ),
        (
            {"pot": 4, "bets": {"bet": "25%", "raise": "2.5x"}},
            "rules.chip: a raise of 2.5x facing 1 is 2.5 and becomes 3 in chips of 1; set chip = 0.01",
        ),
        (  # facing the smaller bet: facing 20 it would be 50
            {"pot": 10, "bets": {"bet": "30%, 200%", "raise": "2.5x"}},
            "rules.chip: a raise of 2.5x facing 3 is 7.5 and becomes 8 in chips of 1; set chip = 0.01",
        ),
        (
            {"pot": 100, "bets": {"bet": "33%"}, "rules": {"chip": 10}},
            "rules.chip: a bet of 33% is 33 and becomes 30 (30.0% of the pot) in chips of 10; set chip = 0.1",
        ),
        (
            {"pot": 100, "bets": {"bet": "2.4c"}},
            "rules.chip: a bet of 2.4c is 2.4 and becomes 2 in chips of 1; set chip = 0.01",
        ),
        (
            {"pot": 0.75, "stack": 20, "bets": {"bet": "33%"}},
            "rules.min_bet: a bet of 33% is 0.2475 and becomes 1 (133.3% of the pot), the smallest bet; "
            "set min_bet = 0.1 and chip = 0.001",
        ),
    ],
)
def test_a_size_that_rounding_moves_far_is_named(fields: dict[str, Any], change: dict[str, Any], message: str) -> None:
    with pytest.warns(RoundedSizes) as caught:
        spot = Spot.from_mapping(fields | change)
    assert [str(each.message) for each in caught] == [message]
    remedy = message.partition("; set ")[2].replace(" and ", "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Spot.from_mapping(fields | change | {"rules": tomllib.loads(remedy)})
    assert len(betting_tree(spot).kind) > 1


@pytest.mark.parametrize(
    "change",
    [
        {"pot": 5.5, "bets": {"bet": "33%"}, "rules": {"chip": 0.01}},
        {"pot": 5.5, "stack": 20.5, "bets": {"bet": "a", "raise": "a"}},  # all-in is not rounded
        {"pot": 5.5, "bets": {"bet": "2c", "raise": "3x"}},  # whole chips as asked
        {"pot": 5.5, "bets": {"bet": "2c", "raise": "1c"}},  # becomes the smallest raise, as the game demands
        {"pot": 100.5, "bets": {"bet": "33%"}},  # 33.165 is hardly moved
    ],
)
def test_sizes_close_to_the_request_do_not_warn(fields: dict[str, Any], change: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Spot.from_mapping(fields | change)


def test_reference_spots_raise_no_warning(reference: tuple[Spot, dict[str, Any]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Spot.parse(reference[0].to_toml())


def test_a_spot_warns_when_read_but_not_when_its_solution_is_opened(fields: dict[str, Any], tmp_path: Path) -> None:
    with pytest.warns(RoundedSizes):
        spot = Spot.from_mapping(fields | {"pot": 5.5, "bets": {"bet": "33%"}})
    (tmp_path / "spot.toml").write_text(spot.to_toml())
    reads: list[Callable[[], Spot]] = [lambda: Spot.parse(spot.to_toml()), lambda: Spot.read(tmp_path / "spot.toml")]
    for read in reads:
        with pytest.warns(RoundedSizes):
            assert read() == spot
    with warnings.catch_warnings():
        warnings.simplefilter("error", RoundedSizes)
        solve_spot(spot, iterations=2, threads=1).save(tmp_path / "spot.rgl")
        assert SpotSolution.load(tmp_path / "spot.rgl").spot == spot

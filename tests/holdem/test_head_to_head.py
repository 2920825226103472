"""Two solutions of a spot against each other, compared with the spot played out history by history."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.holdem.spot_game import SpotGame

import regretless as rl
from regretless.errors import InvalidFile, InvalidGame, InvalidOption
from regretless.holdem.problem import solve_spot
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.locks import Lock
from regretless.holdem.spots.spot import Spot
from regretless.solving.readable.best_response import expected_values

SMALL: dict[str, Any] = {
    "board": "7c 6c 2c Qc",
    "pot": 30,
    "stack": 50,
    "oop": {"range": "55, AhKh"},
    "ip": {"range": "44, KQs"},
    "bets": {"bet": "75%", "raise": "a"},
    "rules": {"rake": 0.05, "rake_cap": 2.5},
}
SPOT = Spot.from_mapping(SMALL)


def solved(iterations: int, locks: Sequence[Lock] = ()) -> SpotSolution:
    return solve_spot(SPOT, iterations=iterations, threads=1, locks=list(locks))


def played_out(first: SpotSolution, second: SpotSolution) -> tuple[float, ...]:
    """The values if the first is player 0 and the second player 1."""
    game = SpotGame(first)
    strategies = game.strategy, SpotGame(second).strategy
    mixed = {key: strategies[int(key[0])][key] for key in game.strategy}
    return expected_values(game, mixed)


def check(first: SpotSolution, second: SpotSolution) -> None:
    one_way, other_way = played_out(first, second), played_out(second, first)
    for result, seats in (
        (first.against(second), (one_way, other_way)),
        (second.against(first), (other_way, one_way)),
    ):
        assert result.seats[0] == pytest.approx(seats[0], abs=1e-5)
        assert result.seats[1][::-1] == pytest.approx(seats[1], abs=1e-5)


def test_values_are_those_of_the_spot_played_out() -> None:
    better, worse = solved(80), solved(2)
    check(better, worse)
    result = better.against(worse)
    assert result.edge > 0.05
    assert worse.against(better).edge == -result.edge
    assert result.as_json()["edge_pct_pot"] == pytest.approx(100 * result.edge / 30)
    assert 27.5 <= sum(result.seats[0]) < 30  # the pot less rake


def test_a_solution_wins_nothing_from_itself() -> None:
    solution = solved(5)
    result = solution.against(solution)
    assert result.edge == 0
    assert result.seats[0] == pytest.approx(solution.values, abs=1e-5)


def test_locks_may_name_suits_that_the_other_solution_merges() -> None:
    """Then the two were solved on different runouts."""
    merged = solved(30)
    locked = solved(30, [Lock("", {"check": 1.0}, hands="5h5d"), Lock("check, check, Ah, check", {"check": 1.0})])
    assert len(merged.reader.group) > len(locked.reader.group)
    check(merged, locked)


def test_a_file_plays_what_was_saved(tmp_path: Path) -> None:
    better, worse = solved(40), solved(2)
    worse.save(tmp_path / "worse.rgl")
    assert better.against(rl.load(tmp_path / "worse.rgl")).edge == pytest.approx(better.against(worse).edge, abs=1e-5)


def test_buckets_play_against_a_solution_without() -> None:
    exact = solved(80)
    few = rl.solve(SPOT, buckets="river=2,method=percentile", iterations=20, threads=1)
    assert isinstance(few, SpotSolution)
    check(exact, few)
    assert exact.against(few).edge > 0


def test_what_cannot_be_played_is_refused() -> None:
    first = solved(1)
    other = solve_spot(Spot.from_mapping(SMALL | {"board": "7c 6c 2c Qd", "stack": 60}), iterations=1, threads=1)
    with pytest.raises(InvalidFile, match=r"is a solve of a different spot from .*: they differ in board, stack"):
        first.against(other)
    with pytest.raises(InvalidOption, match="flops: 25 is not for spots"):
        first.against(first, flops=25)
    with pytest.raises(InvalidGame, match="cannot be played against each other"):
        first.against(rl.solve("kuhn", iterations=1))

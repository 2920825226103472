"""The independent evaluation of solved spots, checked against the engine, other code, and games with few hands."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regretless.cards.evaluator import evaluate
from regretless.errors import InvalidOption, WouldNotFit
from regretless.holdem.checking.plain_strength import showdown_strengths
from regretless.holdem.problem import solve_spot
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.locks import Lock, LockFrom
from regretless.holdem.spots.spot import Spot
from regretless.solvers.readable.best_response import evaluate as evaluate_game

sys.path.insert(0, str(Path(__file__).parent))
from spot_game import SpotGame

SMALL: dict[str, Any] = {
    "pot": 30,
    "stack": 50,
    "oop": {"range": "AhKh, 9c9d, Td8d:0.3"},
    "ip": {"range": "AhJh, 8c8d:0.5, 9c7c, QdQs"},
    "bets": {"bet": "75%", "raise": "a"},
    "rules": {"rake": 0.05, "rake_cap": 2.5},
}


def test_strengths_order_hands_as_the_other_evaluator_does() -> None:
    random = np.random.default_rng(0)
    seen = set()
    for _ in range(80):
        cards = random.permutation(52)
        board, hands = cards[:5], cards[5:51].reshape(-1, 2)
        mine = showdown_strengths(board.tolist(), hands)
        shared = np.broadcast_to(board, (len(hands), 5))
        theirs = evaluate(np.hstack([shared, hands]).astype(np.uint8)).astype(np.int64)
        np.testing.assert_array_equal(
            np.sign(mine[:, None] - mine), np.sign(theirs[:, None] - theirs), err_msg=str(board)
        )
        seen |= set((mine >> 26).tolist())
    assert seen >= set(range(8))


def test_a_solve_reports_the_true_exploitability(river: SpotSolution, turn: SpotSolution) -> None:
    for solution in (river, turn):
        found = solution.verify()
        assert found.exact
        assert found.exploitability == pytest.approx(found.reported, abs=5e-7 * found.pot)
        for player in ("oop", "ip"):
            assert found.ev[player] == pytest.approx(solution.ev[player], abs=5e-7 * found.pot)
        assert sum(found.ev.values()) == pytest.approx(found.pot, abs=1e-9)


@pytest.mark.parametrize(
    "fields",
    [
        {"board": "7h 6s 2h Qc 3d"},
        {"board": "7h 6s 2h Qc 3d", "rules": {"rake": 0.1}},
        {"board": "7h 6s 2h Qc", "bets": {"bet": "a"}},
        {  # hearts, diamonds and spades are interchangeable
            "board": "7c 6c 2c Qc",
            "oop": {"range": "Ac5d, Ac5h, Ac5s"},
            "ip": {"range": "Kc4d, Kc4h, Kc4s, Ac5d:0.2, Ac5h:0.2, Ac5s:0.2, 8c3d, 8c3h, 8c3s"},
            "bets": {"bet": "a"},
        },
    ],
    ids=["river", "raked river", "turn", "merged turn"],
)
def test_the_readable_best_response_finds_the_same(fields: dict[str, Any]) -> None:
    solution = solve_spot(Spot.from_mapping(SMALL | fields), iterations=15, threads=1)
    found = solution.verify()
    game = SpotGame(solution)
    brute = evaluate_game(game, game.free)
    assert found.values == pytest.approx(brute.values, abs=1e-9)
    assert found.exploitability == pytest.approx(brute.exploitability, abs=1e-9)
    assert found.reported == pytest.approx(brute.exploitability, abs=1e-6 * found.pot)
    assert found.exploitability > 2e-5 * found.pot  # something to find


def test_a_best_response_keeps_to_locks() -> None:
    fields = SMALL | {"board": "7h 6s 2h Qc 3d"}
    locks = [Lock("", {"check": 0.3, "bet 22.5": 0.7}, hands="9c9d"), Lock("check", {"check": 1.0})]
    fields["rules"] = {"chip": 0.1, "add_allin": 0}
    solution = solve_spot(Spot.from_mapping(fields), iterations=40, threads=1, locks=locks)
    found = solution.verify()
    everybody = {"AhJh", "8d8c", "9c7c", "QsQd"}
    game = SpotGame(solution, {"": {"9d9c"}, "check": everybody})
    brute = evaluate_game(game, game.free)
    assert found.exploitability == pytest.approx(brute.exploitability, abs=1e-9)
    assert found.reported == pytest.approx(brute.exploitability, abs=1e-6 * found.pot)
    free = SpotGame(solution)
    assert evaluate_game(free, free.strategy).exploitability > found.exploitability + 0.01 * found.pot


def test_locks_on_single_cards_and_combos_are_found_on_the_full_deck() -> None:
    spot = Spot.from_mapping(SMALL | {"board": "7c 6c 2c Qc", "oop": {"range": "55, AK"}, "ip": {"range": "44, KQ"}})
    locks = [Lock("check, check, Ah, check", {"check": 1.0}), Lock("", {"check": 1.0}, hands="5h5d")]
    found = solve_spot(spot, iterations=30, threads=1, locks=locks).verify()
    assert found.exploitability == pytest.approx(found.reported, abs=1e-6 * found.pot)


def test_a_player_held_as_in_another_solution(tmp_path: Path) -> None:
    spot = Spot.from_mapping(SMALL | {"board": "7c 6c 2c Qc", "oop": {"range": "55, AK"}, "ip": {"range": "44, KQ"}})
    solve_spot(spot, iterations=5, threads=1).save(tmp_path / "first.rgl")
    lock = LockFrom(source=str(tmp_path / "first.rgl"), player="oop")
    solution = solve_spot(spot, iterations=100, threads=1, locks=[lock])
    solution.save(tmp_path / "second.rgl")
    for found in (solution.verify(), SpotSolution.load(tmp_path / "second.rgl").verify()):
        assert found.exploitability == pytest.approx(found.reported, abs=1e-6 * found.pot)
    free = solve_spot(spot, iterations=5, threads=1).verify()
    assert found.exploitability < 0.1 * free.exploitability  # oop's mistakes do not count


def test_a_sampled_flop_is_within_its_standard_error(flop: SpotSolution) -> None:
    exact = flop.verify(full=True)
    assert (exact.exact, exact.turns, exact.runouts) == (True, None, 2352)
    assert exact.exploitability == pytest.approx(exact.reported, abs=1e-6 * exact.pot)
    told: list[tuple[int, int]] = []
    for seed in range(2):
        found = flop.verify(turns=6, seed=seed, report=lambda *done: told.append(done))
        assert (found.exact, found.turns, found.runouts, found.all_runouts) == (False, 6, 288, 2352)
        assert found.standard_error is not None
        assert 0 < found.standard_error < exact.exploitability
        assert abs(found.exploitability - exact.exploitability) < 4 * found.standard_error
        for player in ("oop", "ip"):  # the solution's own values serve as control variates
            assert found.ev[player] == pytest.approx(exact.ev[player], abs=1e-4 * exact.pot)
    assert told[:288] == [(done, 288) for done in range(1, 289)]
    assert flop.verify(turns=49).exact


def test_options_that_a_spot_cannot_use_are_refused(river: SpotSolution, flop: SpotSolution) -> None:
    for options, solution in (
        ({"turns": 4}, river),
        ({"seed": 4}, river),
        ({"full": True, "turns": 4}, flop),
        ({"full": True, "seed": 4}, flop),
        ({"turns": 1}, flop),
        ({"turns": 50}, flop),
        ({"seed": -1}, flop),
        ({"game": None}, flop),
    ):
        with pytest.raises(InvalidOption, match=next(reversed(options))):
            solution.verify(**options)


def test_memory_is_checked_first(flop: SpotSolution) -> None:
    with pytest.raises(WouldNotFit, match="verifying"):
        flop.verify(available=10_000_000)


@pytest.mark.parametrize("name", ["river_wide", "turn_paired_donk"])
def test_the_estimate_of_memory_is_enough_and_not_too_much(
    name: str, read_reference: Callable[[str], tuple[Spot, dict[str, Any]]], tmp_path: Path
) -> None:
    solve_spot(read_reference(name)[0], iterations=2, threads=1).save(tmp_path / "spot.rgl")
    loaded = SpotSolution.load(tmp_path / "spot.rgl")
    tracemalloc.start()
    try:
        found = loaded.verify()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= found.memory_bytes <= 1.5 * peak + 20 * 2**20

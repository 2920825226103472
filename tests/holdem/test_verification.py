"""The independent evaluation of solved spots, checked against the engine, other code, and games with few hands."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.holdem.random_spots import narrow_flop, random_spot
from tests.holdem.spot_game import SpotGame

from regretless.cards.evaluator import evaluate
from regretless.errors import InvalidOption, WouldNotFit
from regretless.holdem.problem import solve_spot
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.locks import Lock, LockFrom
from regretless.holdem.spots.spot import Spot
from regretless.holdem.unmerged import showdown_strengths
from regretless.solving.readable.best_response import evaluate as evaluate_game

slow = pytest.mark.slow

SMALL: dict[str, Any] = {
    "pot": 30,
    "stack": 50,
    "oop": {"range": "AhKh, 9c9d, Td8d:0.3"},
    "ip": {"range": "AhJh, 8c8d:0.5, 9c7c, QdQs"},
    "bets": {"bet": "75%", "raise": "a"},
    "rules": {"rake": 0.05, "rake_cap": 2.5},
}
CONCENTRATED: dict[str, Any] = {  # nearly all that a best response gains, it gains on a few of the turn cards
    "board": "5h 3h 2h",
    "pot": 1,
    "stack": 2,
    "oop": {"range": "Js7s,As6c"},
    "ip": {"range": "Jd6d,QcJh,5c2s,Kh2s,KhKc,4c2d,QcTh,QhTd,Js2c:0.1,Jd2h:0.01,AhJh,6c5c"},
    "bets": {
        "bet": "33%",
        "raise": "3.09x",
        "flop": {"bet": "200%", "raise": "2.5x", "ip": {"bet": "3e100%"}},
        "turn": {"ip": {"raise": "a"}},
    },
    "rules": {"add_allin": 1, "force_allin": 0.411, "merge": 0.542},
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


def test_flops_are_evaluated_on_every_runout(flop: SpotSolution) -> None:
    reports: list[tuple[int, int]] = []
    found = flop.verify(report=lambda *done: reports.append(done))
    assert (found.exact, found.turns, found.runouts, found.agrees) == (True, None, 2352, True)
    assert found.exploitability == pytest.approx(found.reported, abs=1e-6 * found.pot)
    assert reports == sorted(set(reports))
    assert reports[-1] == (2352, 2352)
    for same in (flop.verify(full=True), flop.verify(turns=49)):
        assert (same.exploitability, same.values) == (found.exploitability, found.values)


def test_a_right_flop_is_not_rejected_where_the_gain_sits_on_few_turns() -> None:
    solution = solve_spot(Spot.from_mapping(CONCENTRATED), target=0.3, measure_every=10, threads=1)
    assert solution.verify(seed=6).agrees
    for seed in range(20):
        assert solution.verify(turns=2, seed=seed).agrees is None


def test_some_turns_give_a_lower_bound(flop: SpotSolution, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = flop.verify()
    found = flop.verify(turns=6, seed=1)
    assert (found.exact, found.turns, found.runouts, found.all_runouts) == (False, 6, 288, 2352)
    assert (found.agrees, found.ev, found.values) == (None, None, ())
    assert 0 < found.exploitability < exact.exploitability
    assert found.exploitability < flop.verify(turns=48).exploitability < exact.exploitability
    assert replace(found, reported=0.9 * found.exploitability).agrees is False
    assert replace(exact, reported=0.9 * exact.exploitability).agrees is False
    assert replace(exact, reported=1.1 * exact.exploitability).agrees is False

    monkeypatch.setattr("regretless.holdem.verification.PATIENCE", 0.0)  # as if it took minutes
    assert flop.verify().turns == 12
    assert flop.verify(full=True).exact


def test_the_bound_is_tight_if_everything_is_gained_on_the_evaluated_turns() -> None:
    fields = SMALL | {"board": "7h 6s 2h", "bets": {"turn": {"bet": "a"}, "river": {"bet": "a"}}}
    solution = solve_spot(Spot.from_mapping(fields), iterations=5, threads=1)
    exact, bound = solution.verify().exploitability, solution.verify(turns=48).exploitability
    assert 0.95 * exact < bound < exact  # nobody bets on the flop


@pytest.mark.parametrize("seeds", [range(4), *(pytest.param(range(s, s + 10), marks=slow) for s in range(4, 604, 10))])
def test_verdicts_on_random_flops_are_right(seeds: range, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """604 files, half of them with few combos: right figures are never rejected; wrong ones are if all is evaluated."""
    for seed in seeds:
        spot = random_spot(seed, 3) if seed % 2 else narrow_flop(seed)
        storage, iterations = (16, 32)[seed // 2 % 2], 3 + seed % 40
        solve_spot(spot, iterations=iterations, threads=1, storage=storage, measure_every=iterations).save(
            tmp_path / "flop.rgl"
        )
        solution = SpotSolution.load(tmp_path / "flop.rgl")
        found = solution.verify(seed=seed)
        assert (found.exact, found.agrees) == (True, True), seed
        margin = 2 * found.tolerance
        for wrong in (0.8 * found.reported - margin, 1.25 * found.reported + margin):
            assert replace(found, reported=wrong).agrees is False, seed
        with monkeypatch.context() as patch:
            patch.setattr("regretless.holdem.verification.PATIENCE", 0.0)
            some = solution.verify(seed=seed)  # what a flop gets that would take minutes
        assert (some.exact, some.turns, some.agrees) == (False, 12, None), seed
        assert some.exploitability <= found.exploitability + 1e-9 * found.pot, seed


def test_options_that_a_spot_cannot_use_are_refused(river: SpotSolution, flop: SpotSolution) -> None:
    for options, solution in (
        ({"turns": 4}, river),
        ({"seed": 4}, river),
        ({"full": True, "turns": 4}, flop),
        ({"full": True, "seed": 4}, flop),
        ({"turns": 0}, flop),
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

from __future__ import annotations

import random
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regretless as rl
from regretless.engines.numba.public.engine import NumbaPublicEngine
from regretless.errors import InvalidOption, WouldNotFit, bytes_text
from regretless.holdem import fitting
from regretless.holdem.estimate import estimate_spot
from regretless.holdem.fitting import check_fits
from regretless.holdem.form.runouts import compile_spot
from regretless.holdem.many import SpotsFailed, solve_many
from regretless.holdem.problem import solve_spot, spot_predicts
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.locks import Lock
from regretless.holdem.spots.spot import Spot

Read = Callable[[str], tuple[Spot, dict[str, Any]]]


def check_against(spot: Spot, answer: dict[str, Any], exploitability: float, storage: int = 32) -> SpotSolution:
    solution = solve_spot(spot, target=exploitability, storage=storage)
    assert solution.exploitability_pct_pot <= exploitability
    for player in ("oop", "ip"):
        assert solution.ev[player] == pytest.approx(answer["ev"][player], abs=0.0005 * spot.pot)
        assert solution.equity[player] == pytest.approx(answer["equity"][player], abs=2e-6)
    # EV per hand: the weighted mean difference between two solvers, both of which have converged.
    for player in ("oop", "ip"):
        table = solution.root.hands[player]
        theirs = np.array([answer[f"{player}_hands"][name] for name in table.texts()])
        off = table.mean(np.abs(table.ev - theirs))
        assert off < 0.01 * spot.pot
    return solution


@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("name", ["river_narrow", "river_rake", "river_wide"])
def test_rivers_agree_with_an_independent_solver(name: str, storage: int, read_reference: Read) -> None:
    check_against(*read_reference(name), exploitability=0.02, storage=storage)


def test_the_exact_value_of_a_river(read_reference: Read) -> None:
    spot, _ = read_reference("river_narrow")
    solution = solve_spot(spot, target=0.001)
    assert solution.ev["oop"] == pytest.approx(30.560928, abs=0.001)


FORTY_COMBOS = [
    ("AK, KQs, QJs, T9s, 99-77, 22", "AA-QQ, AK, KQ, JTs, T9s, 55"),
    ("AKs, AQ, KJs, QJs, JTs, T9s, 99, 88", "AA, AK, KQs, KTs, QTs, AJs, T9s, 77, 66"),
    ("22, 33, AT, KQs, KTs, QJs, T9s, A5s-A4s", "JJ-TT, AT, AKs, KJs, QTs, T9s, 98s, 87s"),
    ("KJs, KTs, QJs, QTs, JTs, T9s, 99-77, A5s, A4s", "AA, KK, AK, AQs, AJs, KQs, T9s, 66"),
]
# Another solver's table for such a river: linear CFR, iterations -> the sum of both players' gains in % of the pot.
PUBLISHED = {100: 0.087, 500: 0.012, 1000: 0.003}


@pytest.mark.parametrize("variant", ["river", "linear"])
@pytest.mark.parametrize(("oop", "ip"), FORTY_COMBOS)
def test_how_soon_a_river_of_forty_combos_is_solved(fields: dict[str, Any], oop: str, ip: str, variant: str) -> None:
    """Half-pot and pot bets, raises, one pot behind, 21 nodes; docs/performance.md states what is asserted here."""
    fields |= {"stack": 100, "oop": {"range": oop}, "ip": {"range": ip}}
    spot = Spot.from_mapping(fields)
    chosen = {} if variant == "river" else {"variant": variant}  # the default is `river`
    solution = solve_spot(spot, iterations=1000, measure_every=100, **chosen)
    assert solution.variant == variant
    assert (solution.record.nodes, solution.root.actions) == (21, ("check", "bet 50", "all-in 100"))
    assert solution.node("bet 50").actions == ("fold", "call", "all-in 100")
    assert all(39 <= len(solution.root.hands[player].texts()) <= 46 for player in ("oop", "ip"))

    def lowest(iterations: int) -> float:
        """The lowest sum of both players' gains measured by then, in % of the pot; rounding moves single points."""
        gains = [2 * point.exploitability for point in solution.history if point.iteration <= iterations]
        return 100 * min(gains) / spot.pot

    found = {iterations: lowest(iterations) for iterations in PUBLISHED}
    if variant == "river":
        assert found[100] <= 1.5 * PUBLISHED[100]
        assert found[500] <= PUBLISHED[500]
        assert found[1000] <= PUBLISHED[1000]
    else:
        assert all(2 * PUBLISHED[iterations] < found[iterations] < 10 * PUBLISHED[iterations] for iterations in found)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["turn_example", "turn_paired_donk"])
def test_turns_agree_with_an_independent_solver(name: str, read_reference: Read) -> None:
    check_against(*read_reference(name), exploitability=0.02)


@pytest.mark.slow
def test_a_flop_agrees_with_an_independent_solver(read_reference: Read) -> None:
    check_against(*read_reference("flop_3bet"), exploitability=0.1)


def test_rake_leaves_the_pot(read_reference: Read) -> None:
    spot, answer = read_reference("river_rake")
    solution = solve_spot(spot, target=0.1)
    assert sum(solution.ev.values()) == pytest.approx(sum(answer["ev"].values()), abs=0.05)
    assert sum(solution.ev.values()) < spot.pot


def test_a_spot_file_with_only_rake_has_no_cap() -> None:
    spot = Spot.parse("""
        board = "Kh Qs Js 2c 3d"
        pot = 1000
        stack = 200
        oop.range = "AK"
        ip.range = "QQ, T9"
        bets.bet = ""
        rules.add_allin = 0
        rules.rake = 0.05
        """)
    assert sum(solve_spot(spot, iterations=1).ev.values()) == pytest.approx(950, rel=1e-6)


def test_json_has_the_keys_that_scripts_rely_on(river: SpotSolution) -> None:
    answer = river.as_json(strategy=True)
    expected = {
        "game", "variant", "engine", "device", "threads", "iterations", "exploitability", "nash_conv", "values",
        "seconds", "setup_seconds", "seconds_per_iteration", "memory_bytes", "nodes", "information_sets", "history",
        "exploitability_pct_pot", "pot", "ev", "equity", "root", "locks",
    }  # fmt: skip
    assert set(answer) == expected
    assert set(answer["root"]) == {"player", "actions", "frequencies", "hands"}
    hand = answer["root"]["hands"]["oop"]["AcKc"]
    assert set(hand["strategy"]) == set(answer["root"]["actions"])
    assert "hands" not in river.as_json()["root"]
    assert answer["exploitability_pct_pot"] == pytest.approx(answer["exploitability"])  # the pot is 100


def test_the_request_decides_when_a_solve_stops(fields: dict[str, Any]) -> None:
    spot = Spot.from_mapping(fields)
    assert solve_spot(spot).exploitability_pct_pot <= 0.3
    assert solve_spot(spot, iterations=7).iterations == 7
    assert solve_spot(spot, iterations=7).reason == "iterations"
    assert solve_spot(spot, target=5, iterations=500).reason == "target"
    assert solve_spot(spot, interrupted=lambda: True).reason == "interrupted"


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"target": 0}, "target"),
        ({"threads": -1}, "threads"),
        ({"storage": 8}, "storage"),
        ({"iterations": 0}, "iterations"),
        ({"variant": "best"}, "variant"),
    ],
)
def test_bad_options_are_named(fields: dict[str, Any], options: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidOption, match=f"^{name}: "):
        solve_spot(Spot.from_mapping(fields), **options)


def test_only_the_solve_of_a_spot_is_resumed_without_one() -> None:
    with pytest.raises(InvalidOption, match=r"^resume: .* is not the solve of a spot$"):
        solve_spot(resume=rl.solve("kuhn", iterations=1))


def test_locks_that_a_resume_would_change_are_named(river: SpotSolution) -> None:
    with pytest.raises(InvalidOption, match=r"^locks: \[Lock\(.*\)\] cannot be changed by a resume$"):
        solve_spot(resume=river, locks=[Lock(node="check", strategy={"check": 1.0})])


def test_a_solve_that_does_not_fit_is_refused_before_allocating(
    fields: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    fields |= {"board": "Kh Qs Js", "oop": {"range": "100%"}, "ip": {"range": "100%"}, "stack": 1000}
    spot = Spot.from_mapping(fields)
    monkeypatch.setattr(fitting, "available_bytes", lambda: 10**8)
    with pytest.raises(WouldNotFit) as caught:
        solve_spot(spot)
    assert caught.value.needed > 10**8
    assert "start on a later street or with narrower ranges" in str(caught.value)
    assert check_fits(spot, available=10**15).nodes > 10**5


def test_a_refusal_suggests_half_the_bits_where_they_fit(fields: dict[str, Any]) -> None:
    spot = Spot.from_mapping(fields | {"board": "Kh Qs Js", "oop": {"range": "100%"}, "ip": {"range": "100%"}})
    needed = estimate_spot(spot).memory_bytes
    with pytest.raises(WouldNotFit, match=f"storage=16 needs {re.escape(bytes_text(needed[16]))}, which fits"):
        check_fits(spot, available=needed[16] + 1)
    with pytest.raises(WouldNotFit, match=r"in 16 bits .*: it fits with "):
        check_fits(spot, storage=16, available=needed[16] - 1)


def test_the_estimate_is_close_to_the_memory_used(
    river: SpotSolution, turn: SpotSolution, read_reference: Read
) -> None:
    spot, _ = read_reference("turn_paired_donk")
    solution = solve_spot(spot, iterations=1, threads=1)
    assert 1.0 <= estimate_spot(spot, threads=1).solving_bytes[32] / solution.record.memory_bytes <= 1.05


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("cards", [3, 4, 5])
def test_the_estimate_of_a_tiny_spot_is_at_least_the_memory_used(cards: int, storage: int, threads: int) -> None:
    """Few hands share a card, so the lists of hands by card are mostly padding."""
    source = random.Random(cards)
    deck = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
    for count in (1, 2, 3, 5, 8):
        drawn = source.sample(deck, cards + 4 * count)
        board, held = drawn[:cards], ["".join(drawn[first : first + 2]) for first in range(cards, len(drawn), 2)]
        ranges = {"oop": {"range": ", ".join(held[:count])}, "ip": {"range": ", ".join(held[count:])}}
        spot = Spot.from_mapping({"board": " ".join(board), "pot": 100, "stack": 50, "bets": {"bet": "a"}} | ranges)
        used = NumbaPublicEngine(compile_spot(spot), storage=storage, threads=threads).memory_bytes
        assert 1.0 <= estimate_spot(spot, threads=threads).solving_bytes[storage] / used <= 1.05


@pytest.mark.parametrize("storage", [32, 16])
def test_predictions_are_counted_before_they_are_stored(
    read_reference: Read, storage: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spot, _ = read_reference("turn_paired_donk")
    plain, predicting = (estimate_spot(spot, threads=1, predicts=predicts) for predicts in (False, True))
    asked: dict[str, Any] = {"iterations": 1, "threads": 1, "storage": storage}
    solution = solve_spot(spot, variant="predictive-plus", **asked)
    assert 1.0 <= predicting.solving_bytes[storage] / solution.record.memory_bytes <= 1.05
    assert plain.solving_bytes[storage] < solution.record.memory_bytes
    solution.checkpoint(tmp_path / "spot.rgl")
    resumed = SpotSolution.load(tmp_path / "spot.rgl")
    monkeypatch.setattr(fitting, "available_bytes", lambda: plain.memory_bytes[storage])
    refused = f"{spot.name} in {storage} bits needs"
    solve_spot(spot, **asked)
    with pytest.raises(WouldNotFit, match=refused):
        solve_spot(spot, variant="predictive-plus", **asked)
    with pytest.raises(SpotsFailed, match=refused):
        solve_many([spot], variant="predictive-plus", **asked)
    with pytest.raises(WouldNotFit, match=refused):
        _ = resumed.root
    monkeypatch.setattr(fitting, "available_bytes", lambda: predicting.memory_bytes[storage])
    assert resumed.root.actions == solution.root.actions
    assert len(solve_many([spot], variant="predictive-plus", **asked)) == 1


@pytest.mark.parametrize("storage", [32, 16])
def test_the_estimate_covers_saving(read_reference: Read, tmp_path: Path, storage: int) -> None:
    spot, _ = read_reference("turn_example")
    solve_spot(spot, iterations=1, threads=1, storage=storage).save(tmp_path / "spot.rgl")  # compile kernels
    estimated = estimate_spot(spot, threads=1).memory_bytes[storage]
    tracemalloc.start()
    solve_spot(spot, iterations=1, threads=1, storage=storage).save(tmp_path / "spot.rgl", resumable=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.5 * estimated < peak < 1.1 * estimated + 2**21


def test_an_estimate_is_quick_and_half_the_bits_take_half_the_memory(read_reference: Read) -> None:
    spot, answer = read_reference("flop_3bet")
    size = estimate_spot(spot)
    assert size.entries == 155_952_394
    assert size.solving_bytes[32] <= answer["memory_bytes"]["32"]
    assert size.solving_bytes[16] <= answer["memory_bytes"]["16"]
    assert size.memory_bytes[16] < 1.1 * size.solving_bytes[16]  # saving works in blocks


@pytest.mark.parametrize("light", ["oop", "ip"])
def test_16_bits_solve_a_range_that_is_much_lighter_than_the_other(fields: dict[str, Any], light: str) -> None:
    """The opponent's values are just as small, and must not round to 0."""
    fields["oop"]["range"], fields["ip"]["range"] = "AA, T9s", "QJs, 88"
    fields[light]["range"] = ", ".join(f"{hand}:0.00000001" for hand in fields[light]["range"].split(", "))
    solution = solve_spot(Spot.from_mapping(fields), iterations=200, threads=1, storage=16)
    assert solution.exploitability_pct_pot < 0.5


FILES = {
    "a river": ("Kh Qs Js 2c 3d", 300, "100%", "100%", "50%"),
    "a turn": ("Kh Qs Js 2c", 300, "A2+", "AK,QQ,JTs", "50%"),
    "a flop": ("9h 8h 7h", 100, "AA,KK,QJs,A5s", "TT,AK", "a"),
}


@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("variant", ["postflop", "predictive-plus"])
@pytest.mark.parametrize("name", FILES)
def test_the_size_of_a_file_is_known_before(name: str, variant: str, storage: int, tmp_path: Path) -> None:
    board, stack, oop, ip, bet = FILES[name]
    fields = {"board": board, "pot": 100, "stack": stack, "oop": {"range": oop}, "ip": {"range": ip}}
    spot = Spot.from_mapping(fields | {"bets": {"bet": bet}})
    estimate = estimate_spot(spot, predicts=spot_predicts(spot, variant))
    solution = solve_spot(spot, iterations=2, variant=variant, storage=storage, threads=1)
    for resumable, expected in ((False, estimate.file_bytes), (True, estimate.resumable_bytes[storage])):
        solution.save(tmp_path / "spot.rgl", resumable=resumable)
        assert expected == pytest.approx((tmp_path / "spot.rgl").stat().st_size, rel=0.03)

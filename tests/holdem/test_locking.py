"""Locked decisions: a locked node is equivalent to a tree without the other actions; strategies of another solution."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regretless.errors import RegretlessError
from regretless.holdem.form.suits import spot_group
from regretless.holdem.locking import lock_effect, with_strategies
from regretless.holdem.problem import solve_spot
from regretless.holdem.reading.spot_results import EngineResults
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.locks import Lock, LockFrom, lock_strategy
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import PLAYERS


@pytest.mark.parametrize("variant", ["discounted", "plus", "predictive-plus"])
def test_a_locked_action_is_a_tree_without_the_others(fields: dict[str, Any], variant: str) -> None:
    fields["rules"] = {"add_allin": 0}
    locked = solve_spot(
        Spot.from_mapping(fields),
        target=0.02,
        variant=variant,
        locks=[Lock("check", {"check": 1}), Lock("bet 50", {"call": 1})],
    )
    lines = ["check, bet 50", "check, bet 100", "bet 50, fold", "bet 50, raise 125"]
    pruned = solve_spot(Spot.from_mapping(fields | {"lines": {"remove": lines}}), target=0.02, variant=variant)
    for player in ("oop", "ip"):
        assert locked.ev[player] == pytest.approx(pruned.ev[player], abs=1e-4)
    assert locked.node("check").frequencies == pytest.approx((1, 0, 0), abs=1e-6)
    assert locked.exploitability_pct_pot <= 0.02


def test_chosen_hands_are_held_and_the_rest_is_free(fields: dict[str, Any]) -> None:
    free = solve_spot(Spot.from_mapping(fields), target=0.02)
    lock = Lock("", {"bet 100": 0.25, "check": 0.75}, hands="AK, 22")
    held = solve_spot(Spot.from_mapping(fields), target=0.02, locks=[lock])
    strategy = {row["hand"]: row["strategy"] for row in held.root.rows("oop")}
    for name, played in strategy.items():
        if name[0] + name[2] in ("AK", "22"):
            assert played["bet 100"] == pytest.approx(0.25, abs=1e-6)
            assert played["check"] == pytest.approx(0.75, abs=1e-6)
    others = [name for name in strategy if name[0] + name[2] not in ("AK", "22")]
    assert any(abs(strategy[name]["check"] - 0.75) > 0.1 for name in others)
    assert held.exploitability_pct_pot <= 0.02
    assert held.ev["oop"] < free.ev["oop"]  # a suboptimal strategy costs something


def test_a_lock_holds_on_every_runout_or_on_one(turn: SpotSolution) -> None:
    every = solve_spot(turn.spot, iterations=20, locks=[Lock("check, check, check", {"check": 1})])
    one = solve_spot(turn.spot, iterations=20, locks=[Lock("check, check, Ac, check", {"check": 1})])
    for card in ("Ac", "Ad", "4h"):
        assert every.node(f"check, check, {card}, check").frequencies[0] == pytest.approx(1, abs=1e-5)
    assert one.node("check, check, Ac, check").frequencies[0] == pytest.approx(1, abs=1e-5)
    assert one.node("check, check, Ah, check").frequencies[0] < 0.999


def test_a_lock_that_tells_suits_apart_is_solved_with_less_symmetry() -> None:
    fields = {
        "pot": 10, "stack": 10, "oop": {"range": "AA, KK"}, "ip": {"range": "AK, QQ"}, "bets": {"bet": "a"},
    }  # fmt: skip
    plain = Spot.from_mapping(fields | {"board": "Qs Js 2h 2d"})
    assert len(spot_group(plain)) > 1
    suited = Spot.from_mapping(
        fields | {"board": "Qs Js 2h 2d", "locks": [{"node": "", "strategy": {"check": 1}, "hands": "AhAc"}]}
    )
    assert len(spot_group(suited)) == 1
    solution = solve_spot(suited, iterations=50)
    aces = next(row["strategy"] for row in solution.root.rows("oop") if row["hand"] == "AhAc")
    assert aces["check"] == pytest.approx(1, abs=1e-6)
    assert Spot.parse(suited.to_toml()) == suited
    np.testing.assert_allclose(sum(solution.ev.values()), 10, atol=2e-6)


@pytest.mark.parametrize(
    ("lock", "field", "reason"),
    [
        ({"node": "bet 7", "strategy": {"fold": 1}}, "locks[0].node", "no 'bet 7' here"),
        ({"node": "check, check", "strategy": {"fold": 1}}, "locks[0].node", "nobody acts there"),
        ({"node": "Ah", "strategy": {"fold": 1}}, "locks[0].node", "no card is dealt here"),
        ({"node": "", "strategy": {"fold": 1}}, "locks[0].strategy", "is not an action there; choose from check"),
        ({"node": "", "strategy": {"check": 0.5}}, "locks[0].strategy", "must be 1"),
        ({"node": "", "strategy": {"check": 2}}, "locks[0].strategy", "must be from 0 to 1"),
        ({"node": "", "strategy": {"check": 1}, "hands": "66"}, "locks[0].hands", "contains no hand"),
        ({"node": "", "strategy": {"check": 1}, "hands": "6y"}, "locks[0].hands", "position 2"),
        ({"node": "", "strateg": {"check": 1}}, "locks[0].strateg", "did you mean strategy?"),
        ({"node": ""}, "locks[0].strategy", "is missing"),
    ],
)
def test_a_bad_lock_is_named(fields: dict[str, Any], lock: dict[str, Any], field: str, reason: str) -> None:
    with pytest.raises(RegretlessError) as caught:
        solve_spot(Spot.from_mapping(fields | {"locks": [lock]}), iterations=1)
    assert str(caught.value).startswith(f"{field}: ")
    assert reason in str(caught.value)


def test_a_lock_on_one_card_keeps_that_card_apart() -> None:
    """On Qs Js 2h 2d hearts and diamonds play alike, unless a lock holds for the ace of hearts alone."""
    fields = {
        "board": "Qs Js 2h 2d",
        "pot": 10, "stack": 10, "oop": {"range": "AA, KK"}, "ip": {"range": "AK, QQ"}, "bets": {"bet": "a"},
    }  # fmt: skip
    whole = Spot.from_mapping(fields)
    locked = Spot.from_mapping(fields | {"locks": [{"node": "check, check, Ah", "strategy": {"check": 1}}]})
    assert len(spot_group(whole)) > len(spot_group(locked)) == 1
    solution = solve_spot(locked, iterations=50, threads=1)
    assert solution.node("check, check, Ah").frequencies == pytest.approx((1, 0), abs=1e-12)
    assert solution.node("check, check, Ad").frequencies[0] < 0.999


@pytest.fixture(scope="module")
def source(turn: SpotSolution, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A solve far from equilibrium, so that playing its strategy makes a visible difference."""
    path = tmp_path_factory.mktemp("source") / "early.rgl"
    solve_spot(turn.spot, iterations=4, threads=1).save(path)
    return str(path)


@pytest.mark.parametrize("storage", [32, 16])
def test_every_decision_of_a_player(turn: SpotSolution, source: str, storage: int) -> None:
    solution = solve_spot(turn.spot, target=0.1, threads=1, storage=storage, locks=[LockFrom(source, player="oop")])
    given = SpotSolution.load(source)
    for line in ("", "check, bet 30", "check, check, Ac", "check, check, 4h"):
        mine, theirs = solution.node(line), given.node(line)
        if mine.player == "oop":
            np.testing.assert_allclose(mine.strategy, theirs.strategy, atol=5e-7 if storage == 32 else 2e-5)
            assert mine.locked.all()
        else:
            assert not mine.locked.any()
    # The other player finds the best response: nothing is left to gain, and it earns more than in equilibrium.
    assert solution.exploitability_pct_pot <= 0.1
    assert solution.ev["ip"] > turn.ev["ip"] + 0.5
    assert sum(solution.ev.values()) == pytest.approx(turn.spot.pot, abs=5e-5)
    best = given.evaluation.best_response_values[0]
    assert solution.ev["ip"] == pytest.approx(best, abs=0.002 * turn.spot.pot + 0.02)


def test_one_node_and_some_of_its_hands(turn: SpotSolution, source: str) -> None:
    locks = [LockFrom(source, node="check, check, check", hands="AA, KJ")]
    solution = solve_spot(turn.spot, iterations=60, threads=1, locks=locks)
    given = SpotSolution.load(source)
    for card in ("Ac", "4h", "8c"):
        mine, theirs = solution.node(f"check, check, {card}, check"), given.node(f"check, check, {card}, check")
        held = [name[0] + name[2] in ("AA", "KJ") for name in mine.hands["ip"].texts()]
        assert mine.locked.tolist() == held
        np.testing.assert_allclose(mine.strategy[:, held], theirs.strategy[:, held], atol=5e-7)
        assert np.abs(mine.strategy[:, ~np.array(held)] - theirs.strategy[:, ~np.array(held)]).max() > 0.05
    assert not solution.node("check").locked.any()


def learned(solution: SpotSolution) -> list[np.ndarray]:
    answers = solution.reader.results
    assert isinstance(answers, EngineResults)
    snapshot = answers.engine.snapshot()
    return list(snapshot.arrays.values())


@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("kind", ["player", "node"])
def test_a_resume_needs_no_source_and_ends_with_the_same_numbers(
    turn: SpotSolution, source: str, tmp_path: Path, kind: str, storage: int
) -> None:
    moved = tmp_path / "moved.rgl"
    moved.write_bytes(Path(source).read_bytes())
    lock = LockFrom(str(moved), player="ip") if kind == "player" else LockFrom(str(moved), node="check, check")
    locks = [lock, Lock("check", {"check": 1}, hands="AA")]
    options: dict[str, Any] = {"threads": 1, "storage": storage, "locks": locks}
    straight = solve_spot(turn.spot, iterations=30, **options)
    solve_spot(turn.spot, iterations=12, **options).save(tmp_path / "half.rgl", resumable=True)
    moved.unlink()
    resumed = solve_spot(resume=tmp_path / "half.rgl", iterations=30, threads=1)
    for mine, theirs in zip(learned(resumed), learned(straight), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert resumed.exploitability == straight.exploitability
    resumed.save(tmp_path / "done.rgl")
    loaded = SpotSolution.load(tmp_path / "done.rgl")
    assert loaded.spot == resumed.spot
    assert loaded.node("check").locked.all() == (kind == "player")
    assert loaded.node("check").locked.any()


@pytest.mark.parametrize("line", ["", "check", "check, check, Ac", "check, check, 4h, check"])
def test_a_frequency_is_reached_in_the_solution_by_hands_that_lose_least(
    turn: SpotSolution, tmp_path: Path, line: str
) -> None:
    turn.save(tmp_path / "free.rgl")
    lock = LockFrom(str(tmp_path / "free.rgl"), node=line, frequencies={"bets": 0.6})
    effect = lock_effect(turn.reader, lock, turn.reader.find(line))
    bets = [place for place, action in enumerate(effect.actions) if action != "check"]
    assert sum(effect.after[place] for place in bets) == pytest.approx(0.6, abs=1e-9)
    assert effect.ev_lost > 0
    solution = solve_spot(turn.spot, target=0.1, threads=1, locks=[lock])
    view = solution.node(line)
    np.testing.assert_allclose(view.strategy, effect.strategy, atol=1e-6)
    assert view.locked.all()
    if not line:  # elsewhere, other hands arrive once both players adapt
        assert sum(view.frequencies[place] for place in bets) == pytest.approx(0.6, abs=1e-6)
    # A flat mix of the same frequency costs more.
    flat = {"check": 0.4, **{effect.actions[place]: 0.6 / len(bets) for place in bets}}
    assert lock_effect(turn.reader, Lock(line, flat), turn.reader.find(line)).ev_lost > effect.ev_lost


def test_a_frequency_of_some_hands_and_on_every_card(turn: SpotSolution, tmp_path: Path) -> None:
    turn.save(tmp_path / "free.rgl")
    lock = LockFrom(str(tmp_path / "free.rgl"), node="check, check", hands="AK, 77", frequencies={"bets": 0})
    solution = solve_spot(turn.spot, iterations=20, threads=1, storage=16, locks=[lock])
    for card in ("Ac", "Ad", "4h", "8c"):
        view = solution.node(f"check, check, {card}")
        names = [name[0] + name[2] in ("AK", "77") for name in view.hands["oop"].texts()]
        assert view.locked.tolist() == names
        np.testing.assert_allclose(view.strategy[0, names], 1, atol=1e-4)
    assert solution.verify().exploitability_pct_pot == pytest.approx(solution.exploitability_pct_pot, abs=1e-3)


def test_later_locks_win(turn: SpotSolution, source: str) -> None:
    checks = Lock("check", {"check": 1})
    over = solve_spot(turn.spot, iterations=10, threads=1, locks=[LockFrom(source, player="ip"), checks])
    assert over.node("check").frequencies[0] == pytest.approx(1)
    under = solve_spot(turn.spot, iterations=10, threads=1, locks=[checks, LockFrom(source, player="ip")])
    given = SpotSolution.load(source).node("check")
    np.testing.assert_allclose(under.node("check").strategy, given.strategy, atol=5e-7)


def test_a_source_that_tells_suits_apart_leaves_less_to_merge(tmp_path: Path) -> None:
    fields = {
        "board": "8s 8d 3c Kh",
        "pot": 40,
        "stack": 60,
        "oop": {"range": "AK, 99, 33"},
        "ip": {"range": "AA, KJ, 55"},
        "bets": {"bet": "a"},
    }
    spot = Spot.from_mapping(fields)
    assert len(spot_group(spot)) == 2
    lock = Lock("", {"check": 1}, hands="AsKs")
    solve_spot(spot, iterations=5, threads=1, locks=[lock]).save(tmp_path / "suits.rgl")
    solution = solve_spot(spot, iterations=5, threads=1, locks=[LockFrom(str(tmp_path / "suits.rgl"), player="oop")])
    assert len(spot_group(solution.spot)) == 1
    rows = {row["hand"]: row["strategy"]["check"] for row in solution.node().rows("oop")}
    assert rows["AsKs"] == pytest.approx(1)
    assert rows["AdKd"] < 0.99
    assert Spot.parse(solution.spot.to_toml()).locks[0].suits == solution.spot.locks[0].suits  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"board": "8s 8d 3c Kd"}, "is a solve of 8s 8d 3c Kh, not of 8s 8d 3c Kd"),
        ({"oop": {"range": "AK, KQs, 99, 77, 33, A8s, 76s, TT"}}, "has no TdTc and 5 more hands in the range of oop"),
        ({"bets": {"bet": "75%, 50%", "raise": "a"}}, "has check, bet 30"),
        ({"lines": {"add": ["check, bet 12, raise 40"]}}, "has no line 'check, bet 12'"),
    ],
)
def test_a_decision_missing_from_the_source_is_named(
    turn_fields: dict[str, Any], source: str, change: dict[str, Any], reason: str
) -> None:
    spot = Spot.from_mapping(turn_fields | change)
    with pytest.raises(RegretlessError) as caught:
        solve_spot(spot, iterations=1, threads=1, locks=[LockFrom(source, player="oop")])
    assert str(caught.value).startswith("locks[0].source: ")
    assert reason in str(caught.value)


def test_an_independent_evaluation_agrees(turn: SpotSolution, source: str) -> None:
    """Unmerged, in 64 bits: what is reported around a locked player, or a locked node, is exact."""
    for lock in (LockFrom(source, player="oop"), LockFrom(source, node="check, check")):
        solution = solve_spot(turn.spot, iterations=20, threads=1, locks=[lock])
        exact = solution.verify()
        assert exact.exploitability_pct_pot == pytest.approx(solution.exploitability_pct_pot, abs=2e-5)
        assert exact.ev["oop"] == pytest.approx(solution.ev["oop"], abs=2e-5)


SWAPPED = {  # strategies that merge as many suits as the spot, or that tell some apart
    "all hands": [Lock("check", {"check": 1.0})],
    "some hands": [Lock("check", {"bet 50": 1.0}, "QQ"), Lock("", {"check": 1.0})],
    "one hand": [Lock("check", {"bet 50": 1.0}, "QdQc"), Lock("bet 50", {"fold": 1.0})],
}


@pytest.mark.parametrize("from_file", [False, True])
@pytest.mark.parametrize("locks", SWAPPED.values(), ids=SWAPPED)
def test_other_strategies_are_evaluated_as_if_nothing_was_locked(
    locks: list[Lock], from_file: bool, tmp_path: Path
) -> None:
    fields = {"board": "Kh 7h 2c 2d", "pot": 100, "stack": 120, "bets": {"bet": "50%"}}
    spot = Spot.from_mapping(fields | {"oop": {"range": "AK, 99, 65s"}, "ip": {"range": "QQ, A7s, KQ"}})
    base = solve_spot(spot, iterations=30)
    if from_file:
        base.save(tmp_path / "base.rgl")
        base = SpotSolution.load(tmp_path / "base.rgl")
    swapped = with_strategies(base, locks)

    for line in ("", "check", "bet 50", "check, check, As", "bet 50, call, 8h, check"):
        before, after = base.node(line), swapped.node(line)
        expected = before.strategy.copy()
        for lock in locks:
            if lock.node == line:
                chosen = lock.range.weights[before.acting.hand] > 0
                expected[:, chosen] = lock_strategy(lock, before.actions)[:, None]
        assert np.allclose(after.strategy, expected, atol=1e-4)
    checked = swapped.verify().ev
    assert checked is not None
    assert swapped.ev["oop"] == pytest.approx(checked["oop"], abs=1e-3)
    swapped.save(tmp_path / "swapped.rgl")
    source = str(tmp_path / "swapped.rgl")
    best = [solve_spot(spot, iterations=400, locks=[LockFrom(source, player=player)]) for player in PLAYERS]
    gained = best[0].ev["oop"] - swapped.ev["oop"] + best[1].ev["ip"] - swapped.ev["ip"]
    assert swapped.exploitability == pytest.approx(gained / 2, abs=0.05)
    assert swapped.exploitability > base.exploitability

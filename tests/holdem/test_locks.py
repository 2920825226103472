"""Locked decisions: a locked node is equivalent to a tree without the other actions, and both players adapt to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from regretless.errors import RegretlessError
from regretless.holdem.form.suits import spot_group
from regretless.holdem.problem import solve_spot
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.locks import Lock
from regretless.holdem.spots.spot import Spot


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
        ({"node": "", "strateg": {"check": 1}}, "locks[0].strateg", "did you mean 'strategy'?"),
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

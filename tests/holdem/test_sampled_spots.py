"""Spots and games on some flops, solved on sampled runouts without buckets: measured, locked, resumed like others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import regretless as rl
from regretless.cards.deck import parse_board
from regretless.errors import InvalidOption
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.real_cards import RealCardsSolution
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.locks import Lock
from regretless.holdem.spots.spot import Spot

DATA = Path(__file__).parents[1] / "data"
RANGES = {"oop": {"range": "AKs, QJs, T9s, 99"}, "ip": {"range": "AA, KQs, JTs, 55"}}
TURN = Spot.from_mapping(RANGES | {"board": "Kh Qs Js 2c", "pot": 100, "stack": 200, "bets": {"bet": "100%"}})
FLOP = Spot.from_mapping(RANGES | {"board": "Kh Qs Js", "pot": 100, "stack": 100, "bets": {"bet": "a"}})
MONOTONE = replace(FLOP, board=parse_board("Kh Qh Jh"))
GAME = HoldemGame.from_mapping(
    {
        "stack": 2,
        "small_blind": 0.5,
        "big_blind": 1,
        "preflop": {"open": ""},
        "bets": {"river": {"bet": "a"}},
        "rules": {"add_allin": 0},
    }
)


def test_a_reference_turn_is_solved() -> None:
    """To the value that other solvers agree on (`test_reference_spots.py`)."""
    spot = Spot.read(DATA / "turn_example.toml")
    exact, found = rl.solve(spot, target=0.2, threads=1), rl.solve(spot, sample_runouts=8, iterations=800, threads=1)
    assert isinstance(found, SpotSolution)
    assert (found.settings.sample_runouts, found.settings.buckets, found.device) == (8, None, "cpu")
    assert found.exploitability_pct_pot < 1
    assert found.ev["oop"] == pytest.approx(exact.ev["oop"], abs=0.003 * spot.pot)
    assert found.verify().exploitability == pytest.approx(found.exploitability, abs=1e-3)


@pytest.mark.parametrize("spot", [FLOP, MONOTONE], ids=["rainbow", "monotone"])
def test_a_flop_is_solved_however_its_suits_are_merged(spot: Spot) -> None:
    exact = rl.solve(spot, target=0.2, threads=1)
    few, many = (rl.solve(spot, sample_runouts=64, iterations=count, threads=1) for count in (20, 500))
    assert many.exploitability_pct_pot < few.exploitability_pct_pot / 3
    assert many.ev["oop"] == pytest.approx(exact.ev["oop"], abs=1)
    assert many.verify().exploitability == pytest.approx(many.exploitability, abs=1e-3)


@pytest.mark.parametrize("storage", [32, 16])
def test_a_resumed_solve_ends_with_the_same_numbers(tmp_path: Path, storage: int) -> None:
    path = tmp_path / "turn.rgl"
    straight = rl.solve(TURN, sample_runouts=5, seed=7, storage=storage, iterations=40)
    rl.solve(TURN, sample_runouts=5, seed=7, storage=storage, iterations=17).save(path, resumable=True)
    resumed = rl.solve(resume=path, iterations=40)
    assert (resumed.settings.sample_runouts, resumed.settings.seed) == (5, 7)
    assert resumed.exploitability == straight.exploitability
    other = rl.solve(TURN, sample_runouts=5, seed=8, storage=storage, iterations=40)
    assert other.exploitability != straight.exploitability
    for option, value in (("sample_runouts", 6), ("seed", 8)):
        with pytest.raises(InvalidOption, match=f"{option}: {value} cannot resume .*, which was started with"):
            rl.solve(resume=path, iterations=50, **{option: value})


def test_locks_hold() -> None:
    found = rl.solve(TURN, sample_runouts=8, iterations=60, locks=[Lock("", {"check": 1.0})])
    assert found.root.frequencies[0] == pytest.approx(1.0)


def test_a_game_does_not_depend_on_threads_or_a_break(tmp_path: Path) -> None:
    options: dict[str, Any] = {"flops": "7c 7d 7h", "sample_runouts": 8}
    straight = rl.solve(GAME, iterations=8, threads=1, **options)
    assert isinstance(straight, RealCardsSolution)
    rl.solve(GAME, iterations=3, threads=2, **options).save(tmp_path / "game.rgl", resumable=True)
    resumed = rl.solve(resume=tmp_path / "game.rgl", iterations=8, threads=2)
    assert resumed.exploitability == straight.exploitability


@pytest.mark.slow
def test_a_game_on_some_flops_is_solved() -> None:
    options: dict[str, Any] = {"flops": "7c 7d 7h, Ah Kh Qh"}
    few, many = (rl.solve(GAME, sample_runouts=32, iterations=count, **options) for count in (40, 640))
    exact = rl.solve(GAME, target=1, **options)
    assert many.exploitability < few.exploitability / 5
    assert many.values[0] == pytest.approx(exact.values[0], abs=0.003)


def test_what_cannot_be_sampled_is_refused_by_name() -> None:
    with pytest.raises(InvalidOption, match="sample_runouts: 4 needs cards to come, and a river has none"):
        rl.solve(replace(TURN, board=(*TURN.board, 1)), sample_runouts=4)
    with pytest.raises(InvalidOption, match="sample_runouts: 0 must be at least 1"):
        rl.solve(TURN, sample_runouts=0)
    with pytest.raises(
        InvalidOption, match="sample_runouts: 4 cannot be combined with device cuda: use numba or numpy"
    ):
        rl.solve(TURN, sample_runouts=4, device="cuda")
    with pytest.raises(InvalidOption, match="sample_runouts: 4 cannot be combined with the cuda engine"):
        rl.solve(TURN, sample_runouts=4, engine="cuda")
    with pytest.raises(InvalidOption, match="seed: 4 decides which runouts are drawn: give sample_runouts too"):
        rl.solve(TURN, seed=4)
    with pytest.raises(InvalidOption, match="sample_runouts: 4 is for one spot at a time"):
        rl.solve_many([TURN], sample_runouts=4)  # type: ignore[call-arg]
    with pytest.raises(InvalidOption, match="shards: 1 cannot be combined with sample_runouts"):
        rl.solve(GAME, flops="7c 7d 7h", sample_runouts=4, shards=1)
    exact = rl.solve(TURN, iterations=2)
    with pytest.raises(InvalidOption, match=r"sample_runouts: 4 cannot resume .*, which was started without"):
        rl.solve(resume=exact, sample_runouts=4)

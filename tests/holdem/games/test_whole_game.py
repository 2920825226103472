"""No-limit hold'em from the deal, solved with buckets on drawn boards: saved, read, resumed and refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.holdem.quick_tables import SPEC, fake_tables

import regretless as rl
from regretless.cards.deck import parse_board
from regretless.cards.hands import CLASS_NAMES, HAND_CLASS
from regretless.cards.preflop_equities import BOARDS, CLASS_SIZES, class_equities
from regretless.engines import memory
from regretless.errors import InvalidFile, InvalidOption, InvalidText, RegretlessError, WouldNotFit
from regretless.holdem.buckets import BucketPlan
from regretless.holdem.buckets.division import Percentiles
from regretless.holdem.buckets.table import DividedBuckets
from regretless.holdem.games import whole_game as problem
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.whole_game import NoLimitSolution

PUSH_FOLD = HoldemGame.from_mapping(
    {"stack": 10, "small_blind": 0.5, "big_blind": 1, "preflop": {"limp": False, "open": "a"}}
)
SMALL = HoldemGame.from_mapping(
    {
        "stack": 6,
        "small_blind": 0.5,
        "big_blind": 1,
        "preflop": {"limp": True, "open": "a"},
        "bets": {"bet": "a"},
        "name": "small",
    }
)
NOBODY = dict.fromkeys(("flop", "turn", "river"), False)


@pytest.fixture
def quick_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problem, "build_buckets", fake_tables)


def push_fold_gain(solution: NoLimitSolution) -> tuple[float, float]:
    """The value to the small blind and the exploitability, in big blinds, from exact equities."""
    stack = solution.rules.stack
    chart = solution.strategy
    push = np.array([chart[f"{name}:"]["all-in 10"] for name in CLASS_NAMES])
    call = np.array([chart[f"{name}:all-in 10"]["call"] for name in CLASS_NAMES])
    tables = class_equities()
    deals = tables.pairs / tables.pairs.sum()
    showdown = stack * (2 * (2 * tables.wins + tables.ties) / (2 * tables.pairs * BOARDS) - 1)  # [push, call]
    pushed = (deals * (call * showdown + (1 - call) * 1.0)).sum(axis=1)  # if every hand is pushed
    folded = -0.5 * deals.sum(axis=1)
    called = -(deals * push[:, None] * showdown).sum(axis=0)
    given_up = -(deals * push[:, None]).sum(axis=0)
    first = float(push @ pushed + (1 - push) @ folded)
    second = float((0.5 * (1 - push)[:, None] * deals).sum())
    best_first = float(np.maximum(pushed, folded).sum())
    best_second = second + float(np.maximum(called, given_up).sum())
    return first, (best_first + best_second) / 2


def test_push_or_fold_comes_close_to_its_exact_solution() -> None:
    """The error shrinks as more boards are drawn. Exact: −45.3708 mbb, 58.28 % pushed, 37.38 % called."""
    found = [rl.solve(PUSH_FOLD, sample_runouts=64, iterations=count, threads=1) for count in (20, 320)]
    prices = [push_fold_gain(solution) for solution in found]
    assert prices[1][1] < prices[0][1] / 3
    assert prices[1][1] < 0.002  # 2 mbb per game
    assert prices[1][0] == pytest.approx(-0.0453708, abs=0.002)
    push = np.array([found[1].strategy[f"{name}:"]["all-in 10"] for name in CLASS_NAMES])
    assert push @ CLASS_SIZES / 1326 == pytest.approx(0.5828, abs=0.02)


def test_nothing_is_said_of_exploitability_that_was_not_computed(tmp_path: Path) -> None:
    solution = rl.solve(PUSH_FOLD, iterations=2, threads=1)
    answer = solution.as_json()
    assert answer["exploitability"] is answer["values"] is answer["exploitability_mbb"] is None
    assert (answer["boards"], answer["history"]) == (32, [])
    with pytest.raises(RegretlessError, match="exploitability was not computed"):
        _ = solution.exploitability
    assert "exploitability" not in solution._repr_html_()
    solution.save(tmp_path / "game.rgl")
    assert rl.load(tmp_path / "game.rgl").as_json() == answer


@pytest.mark.parametrize("resumable", [False, True])
def test_a_file_reads_the_same(quick_tables: None, tmp_path: Path, resumable: bool) -> None:
    solved = rl.solve(SMALL, buckets=SPEC, sample_runouts=3, iterations=4, threads=1)
    solved.save(tmp_path / "game.rgl", resumable=resumable)
    read = rl.load(tmp_path / "game.rgl")
    assert isinstance(read, NoLimitSolution)
    assert read.as_json(strategy=True) == solved.as_json(strategy=True)
    for line in ("", "call", "call, check, Qs Jh 2h", "call, check, Qs Jh 2h, check, check, 2c, check"):
        one, other = read.node(line), solved.node(line)
        assert np.array_equal(one.strategy, other.strategy)
        assert np.array_equal(one.hand, other.hand)
        assert one.line == line
    flop = read.node("call, check", parse_board("Qs Jh 2h"))
    assert (flop.player, len(flop.hand), flop.actions) == ("oop", 1176, ("check", "all-in 5"))
    assert np.allclose(flop.strategy.sum(axis=0), 1.0)


def test_classes_play_alike_before_the_flop(quick_tables: None) -> None:
    solved = rl.solve(SMALL, buckets=SPEC, sample_runouts=3, iterations=4, threads=1)
    played = solved.node("call")
    for number in (0, 50, 168):
        rows = played.strategy[:, number == HAND_CLASS]
        assert (rows == rows[:, :1]).all()
        assert solved.strategy[f"{CLASS_NAMES[number]}:call"]["check"] == rows[0, 0]


def test_a_resumed_solve_ends_with_the_same_bits(quick_tables: None, tmp_path: Path) -> None:
    options: dict[str, Any] = {"buckets": SPEC, "sample_runouts": 3, "threads": 1}
    whole = rl.solve(SMALL, iterations=8, **options)
    seen = [0]
    stopped = rl.solve(
        SMALL,
        iterations=8,
        checkpoint=tmp_path / "game.rgl",
        report=lambda progress: seen.append(progress.iteration),
        interrupted=lambda: seen[-1] >= 3,
        **options,
    )
    assert 3 <= stopped.iterations < 8
    assert stopped.reason == "interrupted"
    resumed = rl.solve(resume=tmp_path / "game.rgl")
    assert resumed.iterations == 8
    assert resumed.snapshot is not None
    assert whole.snapshot is not None
    for name, array in whole.snapshot.arrays.items():
        assert np.array_equal(array, resumed.snapshot.arrays[name])
    for option, value in (("buckets", "flop=3,turn=2,river=2"), ("sample_runouts", 5), ("seed", 2)):
        with pytest.raises(InvalidOption, match=f"^{option}: .* cannot resume"):
            rl.solve(resume=tmp_path / "game.rgl", **{option: value})
    with pytest.raises(InvalidOption, match="is a solve of a different game"):
        rl.solve(PUSH_FOLD, resume=tmp_path / "game.rgl", iterations=20)


def test_predictions_are_counted_before_they_are_stored(quick_tables: None, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"buckets": SPEC, "sample_runouts": 3, "iterations": 2, "threads": 1}
    needed = rl.solve(SMALL, **options).record.memory_bytes
    monkeypatch.setattr(memory, "available_bytes", lambda: needed)
    rl.solve(SMALL, **options)
    with pytest.raises(WouldNotFit, match="small in the numba engine needs"):
        rl.solve(SMALL, variant="predictive-plus", **options)


def test_a_resume_refuses_a_file_with_other_buckets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plan = BucketPlan(flop=2, turn=2, river=2, method="percentile")
    tables = fake_tables(plan)
    monkeypatch.setattr(problem.Buckets, "load", lambda path: tables)
    rl.solve(SMALL, buckets="some.rgl", sample_runouts=1, iterations=1).save(tmp_path / "game.rgl")
    other = Percentiles(np.zeros(1, dtype=np.int32))
    monkeypatch.setattr(tables, "division", lambda street: other)
    with pytest.raises(InvalidFile, match=r"some.rgl: has other buckets than .*game.rgl was started with"):
        rl.solve(resume=tmp_path / "game.rgl", iterations=2)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({}, InvalidOption, "buckets: is missing: give a file"),
        ({"buckets": "flop=2"}, InvalidOption, "has no buckets for the turn, on which the players act"),
        (
            {"buckets": "flop=2,turn=2,river=lossless"},
            InvalidOption,
            "buckets: 'flop=2,turn=2,river=lossless' has no buckets for the river, on which the players act",
        ),
        ({"buckets": "flop=lossless"}, InvalidOption, "'flop=lossless' has no buckets for the flop"),
        ({"buckets": "flop=0"}, InvalidText, "neither lossless nor"),
        ({"buckets": "missing.rgl"}, InvalidFile, "does not exist"),
        ({"buckets": SPEC, "target": 1.0}, InvalidOption, "target: 1.0 is not for games from the deal"),
        ({"buckets": SPEC, "sample_runouts": 0}, InvalidOption, "sample_runouts: 0 must be at least 1"),
        ({"buckets": SPEC, "seed": -1}, InvalidOption, "seed: -1 must be from 0 to"),
        ({"buckets": SPEC, "engine": "matrix"}, InvalidOption, "cannot solve a game from the deal"),
    ],
)
def test_wrong_options_are_refused_by_name(
    quick_tables: None, options: dict[str, Any], error: type[RegretlessError], says: str
) -> None:
    with pytest.raises(error, match=says):
        rl.solve(SMALL, **options)


def test_damaged_files_are_refused(quick_tables: None, tmp_path: Path) -> None:
    solved = rl.solve(SMALL, buckets=SPEC, sample_runouts=1, iterations=1, threads=1)
    assert solved.buckets is not None
    plan = BucketPlan(flop=2, turn=2, method="percentile")
    lacking = DividedBuckets(plan, {street: solved.buckets.divisions[street] for street in plan.streets})
    replace(solved, buckets=lacking).save(tmp_path / "game.rgl")
    with pytest.raises(InvalidFile, match="is damaged: buckets: 'flop, turn' has no buckets for the river"):
        rl.load(tmp_path / "game.rgl")


def test_lines_that_do_not_exist_are_refused(quick_tables: None) -> None:
    solved = rl.solve(SMALL, buckets=SPEC, sample_runouts=1, iterations=1, threads=1)
    with pytest.raises(InvalidText, match="nobody acts there"):
        solved.node("fold")
    with pytest.raises(InvalidText, match="3 cards are dealt here"):
        solved.node("call, check, Qs, check")
    with pytest.raises(InvalidText, match="already on the board"):
        solved.node("call, check, Qs Jh 2h, check, check, Qs")

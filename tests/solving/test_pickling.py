"""Solutions and errors pickle, so that they travel between the processes of a pool."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle  # noqa: TID251 (only what these tests pickle themselves)
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.holdem.quick_tables import SPEC, fake_tables

import regretless as rl
from regretless.errors import Advice, DeviceFailed, InvalidFile, InvalidOption, InvalidText, MissingExtra, WouldNotFit
from regretless.files import tensor_file
from regretless.holdem.games import whole_game as problem
from regretless.holdem.games.game import HoldemGame
from regretless.solving import solution as solution_module
from regretless.solving.solution import Solution

RANGES = {"oop": {"range": "AKs, QJs, T9s, 99"}, "ip": {"range": "AA, KQs, JTs, 55"}}
TURN = rl.Spot.from_mapping(RANGES | {"board": "Kh Qs Js 2c", "pot": 100, "stack": 200, "bets": {"bet": "100%"}})
WHOLE = HoldemGame.from_mapping(
    {"stack": 6, "small_blind": 0.5, "big_blind": 1, "preflop": {"limp": True, "open": "a"}, "bets": {"bet": "a"}}
)

SOLVES: dict[str, Callable[[], Solution]] = {
    "game": lambda: rl.solve("leduc", iterations=20),
    "public": lambda: rl.solve("leduc", form="public", iterations=20),
    "exact": lambda: rl.solve("kuhn", variant="lp"),
    "push-fold": lambda: rl.solve("push-fold(stack=2)", iterations=20),
    "spot": lambda: rl.solve(TURN, iterations=20, threads=1),
    "spot-16": lambda: rl.solve(TURN, iterations=20, threads=1, storage=16),
    "buckets": lambda: rl.solve(TURN, buckets="river=10,method=percentile", iterations=5, seed=3, threads=1),
    "whole": lambda: rl.solve(WHOLE, buckets=SPEC, iterations=5, threads=1),
}


@pytest.mark.parametrize("name", SOLVES)
def test_a_pickled_solution_is_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problem, "build_buckets", fake_tables)
    solution: Any = SOLVES[name]()
    copied: Any = pickle.loads(pickle.dumps(solution))
    assert type(copied) is type(solution)
    assert copied.record == solution.record
    assert copied.path is None
    assert (copied.snapshot is None) == (solution.snapshot is None)
    if isinstance(solution, rl.SpotSolution):  # as after `save`, which stores probabilities in fewer bits
        np.testing.assert_allclose(copied.root.strategy, solution.root.strategy, atol=1e-6)
    else:
        assert copied.strategy == solution.strategy  # type: ignore[attr-defined]
    again = pickle.loads(pickle.dumps(copied))
    assert again.as_json(strategy=True) == copied.as_json(strategy=True)


@pytest.mark.parametrize("name", ["game", "spot"])
def test_a_loaded_or_pickled_solution_resumes(name: str, tmp_path: Path) -> None:
    solution = SOLVES[name]()
    solution.save(tmp_path / "a.rgl", resumable=True)
    loaded = rl.load(tmp_path / "a.rgl")
    copied = pickle.loads(pickle.dumps(loaded))
    assert copied.path == loaded.path
    again, other = (rl.solve(resume=each, iterations=40) for each in (solution, copied))
    assert again.exploitability == other.exploitability
    assert again.iterations == other.iterations == 40


def test_a_pickled_solution_can_be_read_where_files_are_opened_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    content = pickle.dumps(SOLVES["spot"]())
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for module in (solution_module, tensor_file):
        monkeypatch.setattr(module, "sys", SimpleNamespace(platform="win32"))
    copied = pickle.loads(content)
    assert copied.root.strategy.shape[1] > 0
    assert len(os.listdir(tmp_path)) == 1
    del copied
    gc.collect()
    assert os.listdir(tmp_path) == []


def solve_in_a_process(text: str) -> rl.Solution:
    return rl.solve(text, iterations=10, engine="reference")


def test_a_pool_solves() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        (solution,) = pool.map(solve_in_a_process, ["kuhn"])
        assert solution.strategy == solve_in_a_process("kuhn").strategy
        with pytest.raises(InvalidText, match="kuhm"):
            pool.map(solve_in_a_process, ["kuhm"])


@pytest.mark.parametrize(
    "error",
    [
        InvalidOption("pot", -5, "must be above 0"),
        InvalidText("range", "AKx", 3, "'x' is neither s, o nor a suit"),
        InvalidFile(Path("a.rgl"), "is empty"),
        MissingExtra("matplotlib", "plot"),
        WouldNotFit("a flop", needed=3, available=2, advice=[Advice("storage", 16, "fits")]),
        DeviceFailed("the GPU is full", advice=[Advice("device", "cpu", "helps")]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_pickled_error_is_the_same(error: rl.RegretlessError) -> None:
    copied = pickle.loads(pickle.dumps(error))
    assert type(copied) is type(error)
    assert str(copied) == str(error)
    assert vars(copied) == vars(error)
    assert copied.worded(Advice.in_words) == error.worded(Advice.in_words)

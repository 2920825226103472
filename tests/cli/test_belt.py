"""One path for everything that is solved, each step once: parsing, checking, making a request, choosing an engine."""

from __future__ import annotations

import importlib.util
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import regretless as rl
from regretless.files.container import Container
from regretless.solving import request
from regretless.solving.options import SolveOptions
from regretless.solving.problem import Problem
from regretless.solving.public_problem import PublicFormProblem

SPOT = """
board = "Kh Qs Js 2c"
pot = 100
stack = 200
oop.range = "AK, QJs"
ip.range = "QQ, JTs"
bets.bet = "50%"
"""
GAME = """
stack = 20
small_blind = 1
big_blind = 2
preflop.open = "2x"
preflop.3bet = ""
bets.bet = "100%"
bets.raise = ""
rules.chip = 1
"""
ONCE = {"options checked": 1, "request made": 1}

counts: Counter[str] = Counter()


def counted(monkeypatch: pytest.MonkeyPatch, step: str, owner: Any, name: str) -> None:
    original: Callable[..., Any] = getattr(owner, name)

    def wrapper(*arguments: Any, **keywords: Any) -> Any:
        counts[step] += 1
        return original(*arguments, **keywords)

    monkeypatch.setattr(owner, name, wrapper)


@pytest.fixture(autouse=True)
def steps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Counts the steps of a solve in a folder with a spot and a game."""
    counted(monkeypatch, "TOML parsed", tomllib, "loads")
    counted(monkeypatch, "options checked", SolveOptions, "check")
    counted(monkeypatch, "request made", request, "_settings")
    counted(monkeypatch, "engine chosen", PublicFormProblem, "choose")
    counted(monkeypatch, "engine chosen", Problem, "choose")
    counted(monkeypatch, "file opened", Container, "__init__")
    monkeypatch.chdir(tmp_path)
    Path("spot.toml").write_text(SPOT, encoding="utf-8")
    Path("game.toml").write_text(GAME, encoding="utf-8")
    counts.clear()
    yield
    counts.clear()


def taken() -> dict[str, int]:
    """The steps so far, which are then forgotten."""
    steps = dict(counts)
    counts.clear()
    return steps


BUCKETS = {"buckets": "river=5,method=percentile"}
ALL_BUCKETS = {"buckets": "flop=2,turn=2,river=2,method=percentile"}
SOLVES = [
    pytest.param("leduc", {}, ONCE, id="game"),
    pytest.param("kuhn", {"variant": "lp", "iterations": None}, ONCE, id="exact"),
    pytest.param("kuhn", {"form": "public"}, {**ONCE, "engine chosen": 1}, id="public"),
    pytest.param("push-fold(stack=10)", {}, ONCE, id="push-fold"),
    pytest.param("spot.toml", {}, {**ONCE, "TOML parsed": 1, "engine chosen": 1}, id="spot"),
    pytest.param("spot.toml", BUCKETS, {**ONCE, "TOML parsed": 1}, id="buckets"),
    pytest.param("game.toml", {**ALL_BUCKETS, "sample_runouts": 1}, {**ONCE, "TOML parsed": 1}, id="whole-game"),
]


@pytest.mark.parametrize(("what", "options", "expected"), SOLVES)
def test_python_takes_each_step_once(what: str, options: dict[str, Any], expected: dict[str, int]) -> None:
    rl.solve(what, **{"iterations": 2, **options})
    assert taken() == expected


@pytest.mark.parametrize(("what", "options", "expected"), SOLVES)
def test_the_command_takes_each_step_once(
    run: Any, what: str, options: dict[str, Any], expected: dict[str, int]
) -> None:
    given = {name: value for name, value in {"iterations": 2, **options}.items() if value is not None}
    words = [word for name, value in given.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    assert run("solve", what, *words, "--out", "out.rgl", "--json").code == 0
    assert taken() == expected


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs PyTorch")
def test_training_takes_the_same_steps() -> None:
    rl.train("kuhn", iterations=1, traversals=10, value_steps=2, policy_steps=2)
    assert taken() == ONCE


@pytest.mark.parametrize("what", ["leduc", "spot.toml"])
def test_a_file_is_opened_once(what: str) -> None:
    rl.solve(what, iterations=2).save("solved.rgl", resumable=True)
    counts.clear()
    solution: Any = rl.load("solved.rgl")
    assert solution.node("check").actions if what == "spot.toml" else solution.strategy
    assert taken()["file opened"] == 1
    rl.solve(resume="solved.rgl", iterations=4)
    assert taken()["file opened"] == 1

"""One path for everything that is solved, each step once: parsing, checking, making a request, choosing an engine."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import regretless as rl
from regretless.api import problem_of
from regretless.engines import choice, creation
from regretless.files.container import Container, open_container
from regretless.holdem.form import betting
from regretless.solving import request
from regretless.solving.options import SolveOptions

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
preflop.limp = false
preflop.open = "a"
"""
ONCE = {"options checked": 1, "request made": 1}
GAMES = {**ONCE, "engine created": 1}
HOLDEM = {**GAMES, "TOML parsed": 1, "betting built": 1}

counts: Counter[str] = Counter()


def counting(step: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(*arguments: Any, **keywords: Any) -> Any:
        counts[step] += 1
        return original(*arguments, **keywords)

    return wrapper


def count_calls(monkeypatch: pytest.MonkeyPatch, step: str, original: Callable[..., Any]) -> None:
    """Count the calls of a function under every name that a module has given it."""
    wrapper = counting(step, original)
    for name, module in list(sys.modules.items()):
        if name.startswith("regretless"):
            for attribute in [each for each, value in vars(module).items() if value is original]:
                monkeypatch.setattr(module, attribute, wrapper)


@pytest.fixture(autouse=True)
def steps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Counts the steps of a solve in a folder with a spot and a game."""
    import regretless.cluster.jobs
    import regretless.page.app  # noqa: F401  before calls are counted, so that all names are there

    betting.forget_betting()
    monkeypatch.setattr(tomllib, "loads", counting("TOML parsed", tomllib.loads))
    monkeypatch.setattr(SolveOptions, "check", counting("options checked", SolveOptions.check))
    monkeypatch.setattr(Container, "__init__", counting("file opened", Container.__init__))
    count_calls(monkeypatch, "request made", request.make_request)
    count_calls(monkeypatch, "engine chosen", choice.choose_public)
    count_calls(monkeypatch, "engine created", creation.create)
    monkeypatch.setattr(betting.Betting, "__init__", counting("betting built", betting.Betting.__init__))
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
    betting.forget_betting()
    return steps


BUCKETS = {"buckets": "river=5,method=percentile"}
SOLVES = [
    pytest.param("leduc", {}, GAMES, id="game"),
    pytest.param("kuhn", {"variant": "lp", "iterations": None}, GAMES, id="exact"),
    pytest.param("kuhn", {"form": "public"}, GAMES, id="public"),
    pytest.param("push-fold(stack=10)", {}, GAMES, id="push-fold"),
    pytest.param("spot.toml", {}, {**HOLDEM, "engine chosen": 1}, id="spot"),
    pytest.param("spot.toml", BUCKETS, HOLDEM, id="buckets"),
    pytest.param("game.toml", {"sample_runouts": 1}, HOLDEM, id="whole-game"),
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
    assert taken() == {**ONCE, "engine created": 1}  # the engine that measures


@pytest.mark.parametrize("what", ["leduc", "spot.toml"])
def test_a_file_is_opened_once(what: str) -> None:
    rl.solve(what, iterations=2).save("solved.rgl", resumable=True)
    counts.clear()
    solution = rl.load("solved.rgl")
    assert solution.node("check").actions if what == "spot.toml" else solution.strategy
    assert taken()["file opened"] == 1
    rl.solve(resume="solved.rgl", iterations=4)
    assert taken()["file opened"] == 1


def test_a_price_opens_its_game_once(run: Any) -> None:
    assert run("solve", "game.toml", "--iterations", "2", "--sample-runouts", "1", "--out", "game.rgl").code == 0
    taken()
    assert run("price", "game.rgl", "--json").code == 0
    assert taken() == {"file opened": 1, "TOML parsed": 1, "betting built": 1}


def test_a_study_takes_each_step_once_per_spot(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("duckdb")
    from tests.cluster.studies import FLOPS, solve_here, study_text

    from regretless.holdem.expected_time import iteration_speed

    iteration_speed()  # once per process, by solving a spot: not a step of the study
    taken()
    assert solve_here(study_text(FLOPS[:2], iterations=2, more=""), tmp_path / "study").done == 2
    assert taken() == {
        "TOML parsed": 2,  # where the study is started, and where its spots are solved
        "betting built": 1,  # both flops have the same
        "options checked": 4,  # those of the study with its TOML, those of each spot as it is solved
        "request made": 2,
        "engine chosen": 3,  # once to estimate the study
        "engine created": 2,
    }


def test_a_node_of_the_page_opens_its_file_once(tmp_path: Path) -> None:
    pytest.importorskip("starlette")
    from starlette.testclient import TestClient

    from regretless.page.app import make_app

    rl.solve("spot.toml", iterations=2).save("spot.rgl")
    taken()
    with TestClient(make_app(tmp_path, token=None), base_url="http://127.0.0.1:8040") as client:
        node = {"file": "spot.rgl", "line": "check"}
        assert client.get("/api/v1/node", params=node).status_code == 200
        assert taken() == {"file opened": 1, "TOML parsed": 1, "betting built": 1}
        assert client.get("/api/v1/node", params=node | {"line": ""}).status_code == 200
        assert taken() == {}


AGAIN: dict[str, Callable[[], object]] = {
    "TOML parsed": lambda: rl.Spot.read("spot.toml"),
    "options checked": lambda: SolveOptions().check(problem_of("spot.toml", SolveOptions()).kind),
    "request made": lambda: request.make_request(problem_of("spot.toml", SolveOptions()), SolveOptions()),
    "engine chosen": lambda: request.make_request(problem_of("spot.toml", SolveOptions()), SolveOptions()).choice,
    "engine created": lambda: rl.engines.create("auto", rl.holdem.compile_spot(rl.Spot.read("spot.toml"))),
    "betting built": lambda: (betting.forget_betting(), rl.holdem.betting_tree(rl.Spot.read("spot.toml"))),
    "file opened": lambda: open_container("spot.rgl"),
}


@pytest.mark.parametrize("step", AGAIN)
def test_a_step_that_is_taken_again_is_counted(step: str) -> None:
    rl.solve("spot.toml", iterations=2).save("spot.rgl")
    before = counts[step]
    AGAIN[step]()
    assert counts[step] > before

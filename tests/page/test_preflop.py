"""Charts before the flop: those of the solution itself, and the spots that a line of play leads to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.holdem.quick_tables import SPEC, fake_tables
from tests.page.serving import API

import regretless as rl
from regretless.cards.hands import CLASS_NAMES
from regretless.cards.ranges import Range
from regretless.holdem.games import whole_game
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.push_fold import PushFoldSolution
from regretless.holdem.spots.spot import Spot
from regretless.page.app import make_app

GAME = HoldemGame.from_mapping(
    {
        "stack": 12,
        "small_blind": 1,
        "big_blind": 2,
        "preflop": {"limp": True, "open": "a"},
        "bets": {"bet": "a"},
        "name": "small",
    }
)


@pytest.fixture
def charts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(whole_game, "build_buckets", fake_tables)
    folder = tmp_path / "served"
    folder.mkdir()
    rl.solve("push-fold(stack=10)").save(folder / "push-fold.rgl")
    rl.solve("kuhn", iterations=10).save(folder / "kuhn.rgl")
    rl.solve(GAME, buckets=SPEC, sample_runouts=3, iterations=4, threads=1).save(folder / "game.rgl")
    with TestClient(make_app(folder, token=None), base_url="http://127.0.0.1:8040") as client:
        yield client


def test_push_or_fold_is_two_charts_with_its_value_and_exploitability(charts: TestClient) -> None:
    answer = charts.get(f"{API}/preflop", params={"file": "push-fold.rgl"}).json()
    solution = rl.solve("push-fold(stack=10)")
    assert isinstance(solution, PushFoldSolution)
    assert answer["values"][0] == pytest.approx(-0.045371, abs=2e-6)
    assert 0 <= answer["exploitability"] < 1e-4
    first, reply = answer["charts"]
    assert (first["seat"], first["pot"], first["stack"], reply["seat"], reply["pot"]) == ("SB", 1.5, 9.5, "BB", 11.0)
    push, call = first["actions"][1], reply["actions"][1]
    assert (push["name"], push["amount"], push["next"], push["ends"]) == ("push", 10.0, "push", None)
    assert (call["next"], call["ends"], call["pot"]) == ("push, call", "showdown", 20.0)
    assert push["frequency"] == pytest.approx(solution.pushed, abs=1e-6)
    for name in ("AA", "72o", "K2s"):
        shown = first["classes"][CLASS_NAMES.index(name)]
        assert shown == pytest.approx(list(solution.strategy[f"{name}:"].values()), abs=1e-6)


def test_decisions_that_are_not_sent_are_counted(charts: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert charts.get(f"{API}/preflop", params={"file": "push-fold.rgl"}).json()["omitted"] == 0
    monkeypatch.setattr("regretless.page.preflop.MAX_CHARTS", 1)
    answer = charts.get(f"{API}/preflop", params={"file": "push-fold.rgl"}).json()
    assert (len(answer["charts"]), answer["omitted"]) == (1, 1)


def test_a_line_to_the_flop_is_a_spot_with_the_ranges_that_arrive(charts: TestClient) -> None:
    answer = charts.get(f"{API}/preflop", params={"file": "game.rgl"}).json()
    by_line = {chart["line"]: chart for chart in answer["charts"]}
    assert answer["stack"] == 6.0
    limp = next(action for action in by_line[""]["actions"] if action["name"] == "call")
    assert limp["next"] in by_line
    check = next(action for action in by_line["call"]["actions"] if action["name"] == "check")
    assert (check["ends"], check["pot"]) == ("flop", 2.0)
    spot = charts.get(f"{API}/preflop/spot", params={"file": "game.rgl", "line": "call, check"}).json()["spot"]
    assert (spot["pot"], spot["stack"]) == (2.0, 5.0)
    limped = np.array([row[by_line[""]["actions"].index(limp)] for row in by_line[""]["classes"]])
    arrived = Range.parse(spot["ip"]["range"])
    for name in ("AA", "T9s", "72o"):
        combos = Range.parse(name).weights > 0
        assert arrived.weights[combos].mean() == pytest.approx(limped[CLASS_NAMES.index(name)], abs=6e-3)
    solvable = Spot.from_mapping(spot | {"board": "Ks 7d 2c"})
    assert (solvable.pot, solvable.position_of("ip"), solvable.raiser) == (2.0, "SB", None)


def test_a_spot_after_a_line_has_the_rake_and_the_antes_of_its_game(charts: TestClient, tmp_path: Path) -> None:
    raked = replace(GAME, stack=14, ante=1, rules=replace(GAME.rules, rake=0.05, rake_cap=3.0))
    rl.solve(raked, buckets=SPEC, sample_runouts=3, iterations=4, threads=1).save(tmp_path / "served" / "raked.rgl")
    spot = charts.get(f"{API}/preflop/spot", params={"file": "raked.rgl", "line": "call, check"}).json()["spot"]
    assert (spot["pot"], spot["stack"]) == (3.0, 5.5)
    rules = Spot.from_mapping(spot | {"board": "Ks 7d 2c"}).rules
    assert (rules.rake, rules.rake_cap) == (0.05, 1.5)


@pytest.mark.parametrize(
    ("path", "params", "status", "sentence"),
    [
        ("/preflop", {"file": "kuhn.rgl"}, 404, "file: 'kuhn.rgl' has no charts of play before the flop"),
        ("/preflop/spot", {"file": "push-fold.rgl"}, 404, "ends before the flop"),
        ("/preflop/spot", {"file": "game.rgl", "line": "fold"}, 422, "leads to no flop on which somebody can bet"),
        ("/preflop/spot", {"file": "game.rgl", "line": "raise 99"}, 422, "raise 99"),
    ],
)
def test_what_has_no_chart_or_no_flop_is_refused(
    charts: TestClient, path: str, params: dict[str, str], status: int, sentence: str
) -> None:
    answer = charts.get(API + path, params=params)
    assert answer.status_code == status
    assert sentence in answer.json()["error"]["message"]

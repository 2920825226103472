"""`regretless verify` on games and spots, as a table and as JSON."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import regretless as rl

TURN = """
board = "8s 8d 3c Kh"
pot = 40
stack = 60
oop.range = "AK, KQs, 99"
ip.range = "AA, KJ, QQ:0.5"
bets.bet = "75%"
"""
FLOP = """
board = "8s 8d 3c"
pot = 40
stack = 30
oop.range = "AKs, 99"
ip.range = "KJs, QQ"
bets.bet = "a"
"""


@pytest.mark.parametrize("game", ["kuhn", "leduc"])
def test_games(run, game: str) -> None:
    solved = run("solve", game, "--iterations", "50", "--out", "game.rgl", "--json").json
    found = run("verify", "game.rgl", "--json").json
    assert found["exploitability"] == pytest.approx(solved["exploitability"], abs=1e-12)
    assert found["reported"] == solved["exploitability"]
    assert found["values"] == pytest.approx(solved["values"], abs=1e-12)
    assert found["agrees"] is True
    shown = run("verify", "game.rgl")
    assert (shown.code, shown.out.split()[0]) == (0, game)
    assert "reported" in shown.out


def test_spots(run, tmp_path: Path) -> None:
    (tmp_path / "turn.toml").write_text(TURN)
    solved = run("solve", "turn.toml", "--iterations", "40", "--out", "turn.rgl", "--json").json
    result = run("verify", "turn.rgl", "--json")
    assert (result.code, result.err) == (0, "")
    found = result.json
    assert found["reported_pct_pot"] == solved["exploitability_pct_pot"]
    assert found["exploitability_pct_pot"] == pytest.approx(solved["exploitability_pct_pot"], abs=1e-4)
    assert found["ev"]["oop"] == pytest.approx(solved["ev"]["oop"], abs=1e-4)
    assert sum(found["ev"].values()) == pytest.approx(40, abs=1e-9)
    assert (found["exact"], found["turns"], found["runouts"]) == (True, None, 48)
    assert found["agrees"] is True
    shown = run("verify", "turn.rgl")
    assert "all 48 runouts" in shown.out
    assert "probabilities in 32 bits" in shown.out
    assert f"{solved['exploitability_pct_pot']:.5f}" in shown.out
    assert shown.out.splitlines()[-1] == "they agree"


def test_a_wrong_figure_exits_with_1(run, tmp_path: Path) -> None:
    """The file states that nothing is gained by a best response."""
    solution = rl.solve(rl.Spot.parse(TURN), iterations=10)
    stated = replace(solution.evaluation, best_response_values=solution.evaluation.values)
    replace(solution, record=replace(solution.record, evaluation=stated)).save(tmp_path / "wrong.rgl")
    found = run("verify", "wrong.rgl", "--json")
    assert (found.code, found.json["agrees"]) == (1, False)
    assert found.json["reported_pct_pot"] == 0.0
    assert found.json["exploitability_pct_pot"] == pytest.approx(solution.exploitability_pct_pot, abs=1e-4)
    shown = run("verify", "wrong.rgl")
    assert shown.code == 1
    assert shown.out.splitlines()[-1] == "the recomputed exploitability differs from what the solve reported"


def test_flops(run, tmp_path: Path) -> None:
    (tmp_path / "flop.toml").write_text(FLOP)
    solved = run("solve", "flop.toml", "--iterations", "30", "--out", "flop.rgl", "--json").json
    found = run("verify", "flop.rgl", "--json", "--seed", "3").json
    assert (found["exact"], found["turns"], found["runouts"], found["agrees"]) == (True, None, 2352, True)
    assert found["exploitability_pct_pot"] == pytest.approx(solved["exploitability_pct_pot"], abs=1e-4)
    assert found["ev"]["oop"] == pytest.approx(solved["ev"]["oop"], abs=1e-4)
    shown = run("verify", "flop.rgl")
    assert "all 2,352 runouts" in shown.out


def test_some_turns_of_a_flop_leave_it_undecided(run, tmp_path: Path) -> None:
    (tmp_path / "flop.toml").write_text(FLOP)
    solved = run("solve", "flop.toml", "--iterations", "30", "--out", "flop.rgl", "--json").json
    some = run("verify", "flop.rgl", "--json", "--turns", "4", "--seed", "3")
    found = some.json
    assert (found["exact"], found["turns"], found["runouts"], found["all_runouts"]) == (False, 4, 192, 2352)
    assert (some.code, found["agrees"], found["ev"]) == (0, None, None)
    assert 0 < found["exploitability_pct_pot"] < solved["exploitability_pct_pot"]
    again = run("verify", "flop.rgl", "--json", "--turns", "4", "--seed", "3").json
    assert again["exploitability"] == found["exploitability"]
    shown = run("verify", "flop.rgl", "--turns", "2")
    assert shown.code == 0
    assert "2 of 49 turns, 96 of 2,352 runouts" in shown.out
    assert "at least" in shown.out
    assert shown.out.splitlines()[-1].startswith("undecided: ")


def test_mistakes_give_one_sentence(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "turn.toml").write_text(TURN)
    run("solve", "turn.toml", "--iterations", "2", "--out", "turn.rgl")
    run("solve", "kuhn", "--iterations", "2", "--out", "kuhn.rgl")
    for arguments, sentence in (
        (("none.rgl",), "none.rgl: does not exist"),
        (("turn.toml",), "turn.toml: is not solved"),
        (("turn.rgl", "--turns", "3"), "turns: 3 applies to flops only"),
        (("turn.rgl", "--seed", "3"), "seed: 3 applies to flops only"),
        (("kuhn.rgl", "--full"), "full: True is for hold'em spots"),
    ):
        result = run("verify", *arguments)
        assert (result.code, result.out) == (1, "")
        assert sentence in result.err
        assert result.err.count("\n") == 1
    for module in ("holdem", "solving"):
        monkeypatch.setattr(f"regretless.{module}.verification.available_bytes", lambda: 1000)
    for file in ("turn.rgl", "kuhn.rgl"):
        result = run("verify", file)
        assert result.code == 3
        assert "needs" in result.err

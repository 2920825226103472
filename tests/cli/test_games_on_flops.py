"""Whole games on flops on the command line: every command that reads them, and flops solved when they are asked for."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path

import pytest

import regretless as rl
from regretless.holdem.games.game import HoldemGame

GAME = """
stack = 3
small_blind = 0.5
big_blind = 1
preflop.open = "a"
bets.river.bet = "a"
rules.add_allin = 0
"""
FLOP = "7c 7d 7h"  # of all flops, the one with the fewest turns and rivers
RIVER = f"call, check, {FLOP}, check, check, 2c, check, check, 2d"


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "game.rgl"
    rl.solve(HoldemGame.parse(GAME), flops=FLOP, iterations=4, storage=16, device="cpu", threads=1).save(path)
    return path


@pytest.fixture
def saved(solved: Path, tmp_path: Path) -> str:
    shutil.copy(solved, tmp_path / "game.rgl")
    return "game.rgl"


def test_solving_prints_the_keys_of_a_game(run, tmp_path: Path) -> None:
    (tmp_path / "game.toml").write_text(GAME, encoding="utf-8")
    words = ("game.toml", "--flops", FLOP, "--iterations", "3", "--storage", "16", "--device", "cpu")
    answer = run("solve", *words, "--json").json
    assert answer["flops"] == 1
    assert answer["exploitability_mbb"] == pytest.approx(1000 * answer["exploitability"])
    assert answer["values"][0] == pytest.approx(-answer["values"][1], abs=1e-3)


def test_estimating(run, tmp_path: Path) -> None:
    (tmp_path / "game.toml").write_text(GAME, encoding="utf-8")
    answer = run("estimate", "game.toml", "--flops", "subset(25)", "--json").json
    assert (answer["game"], answer["flops"], answer["runouts"]["river"]) == ("game.toml", 25, 41695)
    assert answer["memory_bytes"]["16"] < answer["memory_bytes"]["32"]
    assert answer["flops_that_fit"]["16"] >= answer["flops_that_fit"]["32"]
    shown = run("estimate", "game.toml", "--flops", "subset(25)").out
    assert "flops that would fit: " in shown
    assert "memory, 16 bits" in shown
    assert "shards" not in shown
    shards = run("estimate", "game.toml", "--flops", "subset(25)", "--shards", "4", "--json").json["shard_bytes"]
    assert len(shards["32"]) == 4
    assert sum(shards["32"]) == pytest.approx(answer["memory_bytes"]["32"], rel=0.1)
    assert "the largest of 4 shards: " in run("estimate", "game.toml", "--flops", "subset(25)", "--shards", "4").out
    alone = run("estimate", "game.toml", "--shards", "4")
    assert alone.err == "error: shards: 4 is for hold'em from the deal on some flops\n"
    for device, flops, why in (
        ("cuda", (), "'cuda' is for a game on flops: give --flops too"),
        ("mps", ("--flops", "subset(25)"), "'mps' is not one of cpu, cuda"),
        ("cuda:9", ("--flops", "subset(25)"), "'cuda:9' is not available: "),
    ):
        assert f"error: device: {why}" in run("estimate", "game.toml", *flops, "--device", device).err
    both = run("estimate", "game.toml", "--flops", "25", "--buckets", "flop=5,turn=5,river=5")
    assert (both.code, both.err.startswith("error: buckets: ")) == (1, True)
    assert run("estimate", "kuhn", "--flops", "25").err == "error: flops: '25' does not apply to kuhn\n"


def test_showing(run, saved: str) -> None:
    shown = run("show", saved).out
    assert "3 big blinds" in shown
    assert "1, with real cards: 7s 7h 7d" in shown
    assert "mbb/g" in shown
    assert "big blinds per game" in shown
    assert "--line shows other decisions: 'call', 'all-in 3'" in shown
    river = run("show", saved, "--line", RIVER, "--hands", "AA", "--json").json
    assert river["actions"] == ["check", "all-in 2"]
    assert len(river["hands"]) == 6


def test_a_flop_that_was_not_solved_is_solved_when_it_is_asked_for(run, saved: str, tmp_path: Path) -> None:
    line = "call, check, Ks Kd Kc"
    refused = run("show", saved, "--line", line)
    assert refused.code == 1
    assert refused.err.endswith("suits: --resolve solves it with the ranges that arrive there\n")
    assert not (tmp_path / "game.flops").exists()
    first = run("show", saved, "--line", line, "--resolve", "--json")
    assert first.code == 0, first.err
    (file,) = (tmp_path / "game.flops").iterdir()
    assert file.name == "call-check-Ks-Kd-Kc.rgl"
    written = file.stat().st_mtime_ns
    assert run("show", saved, "--line", line, "--json").json["ev"] == first.json["ev"]
    assert run("show", saved, "--line", f"{line}, check", "--resolve", "--player", "oop").code == 0
    assert run("show", str(file)).code == 0  # a solution like any other
    assert file.stat().st_mtime_ns == written
    for words in (("--line", "call"), ("--line", "all-in, call")):
        assert "leads to no flop" in run("show", saved, *words, "--resolve").err


def test_a_flop_is_solved_safely(run, saved: str, tmp_path: Path) -> None:
    line = f"call, check, {FLOP}"
    safe = run("show", saved, "--line", line, "--resolve", "--safe", "--json")
    assert safe.code == 0, safe.err
    assert [file.name for file in (tmp_path / "game.flops").iterdir()] == ["call-check-7c-7d-7h-safe.rgl"]
    assert safe.json["game"] == f"{line}, safe"
    assert "was not reached" not in run("show", saved, "--line", line, "--resolve", "--safe").out
    assert run("show", saved, "--line", line, "--safe").err == (
        "error: safe: True says how a flop is solved again: add --resolve\n"
    )
    other = run("show", saved, "--line", "call, check, Ks Kd Kc", "--resolve", "--safe")
    assert other.err == "error: safe: True needs the values of hands on Ks Kd Kc, which was not solved\n"
    price = run("price", saved, "--flops", FLOP, "--safe")
    assert price.err == (
        "error: safe: True needs the values of hands on every flop, which only a game solved with buckets has\n"
    )


def test_resolving_is_for_whole_games(run) -> None:
    rl.solve("kuhn", iterations=1).save("kuhn.rgl")
    assert run("show", "kuhn.rgl", "--resolve").err.startswith("error: resolve: 'kuhn.rgl' is not a no-limit game")


def test_exporting_and_drawing(run, saved: str, tmp_path: Path) -> None:
    assert run("export", saved, "--out", "game.csv").code == 0
    ranges = run("export", saved, "--ranges", "short", "--format", "json").json
    assert {each["action"] for each in ranges if not each["line"]} == {"fold", "call", "all-in 3"}
    rows = list(csv.DictReader(io.StringIO(run("export", saved, "--line", RIVER, "--hands", "AA").out)))
    assert [row["hand"] for row in rows][:1] == ["AdAc"]
    assert run("plot", saved, "--charts", "--out", "charts.svg").code == 0
    assert run("plot", saved, "--out", "curve.svg").code == 0
    assert "<svg" in (tmp_path / "charts.svg").read_text()


def test_comparing_strategies_before_the_flop(run, saved: str, tmp_path: Path) -> None:
    game = HoldemGame.parse(GAME)
    rl.solve(game, flops=FLOP, iterations=2, storage=16, device="cpu", threads=1).save(tmp_path / "other.rgl")
    answer = run("compare", saved, "other.rgl", "--json").json
    assert answer["shared"] == 169 * 4
    assert answer["exploitability"][0] < answer["exploitability"][1]
    assert "big blinds per game" in run("compare", saved, "other.rgl").out


def test_two_solutions_against_each_other(run, saved: str, tmp_path: Path) -> None:
    game = HoldemGame.parse(GAME)
    rl.solve(game, flops=FLOP, iterations=1, storage=16, device="cpu", threads=1).save(tmp_path / "other.rgl")
    shown = run("compare", saved, "other.rgl", "--ev", "--threads", "1")
    assert shown.code == 0, shown.err
    answer = run("compare", saved, "other.rgl", "--ev", "--json").json
    assert answer["flops"] == 1
    assert answer["edge_mbb"] == pytest.approx(1000 * answer["edge"])
    assert f"A wins {answer['edge_mbb']:.4g} mbb/g from B; mean of both seats, on 1 flop, exact" in shown.out
    assert "A small blind, B big blind" in shown.out
    other = "2c 2d 2h"
    assert "--resolve solves it" in run("compare", saved, "other.rgl", "--ev", "--flops", other).err
    again = run("compare", saved, "other.rgl", "--ev", "--flops", other, "--resolve", "--target", "100", "--json").json
    assert again["edge"] != answer["edge"]


def test_playing_a_hand(run, saved: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in ("1", "2", "3"):
        monkeypatch.setattr("sys.stdin", io.StringIO("call\ncheck\ncheck\ncheck\ncheck\ncheck\n" * 3))
        played = run("play", saved, "--seed", seed, "--hands", "1")
        assert "hand 1: you are the small blind" in played.out
        if "the board brings" in played.out:
            flop = played.out.split("the board brings ")[1].split("\n")[0]
            assert flop.count("7") == 3


def test_verifying_says_what_checks_it(run, saved: str) -> None:
    refused = run("verify", saved)
    assert (refused.code, refused.err.count("\n")) == (1, 1)
    assert "regretless price" in refused.err

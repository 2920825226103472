"""`regretless compare`: spots, nodes hand by hand, and games."""

from __future__ import annotations

from pathlib import Path

import pytest

from regretless.holdem.problem import solve_spot
from regretless.holdem.spots.locks import Lock
from regretless.holdem.spots.spot import Spot

RIVER = {
    "board": "Kh Qs Js 2c 3d",
    "pot": 100,
    "stack": 200,
    "oop": {"range": "AK, KQs, QJs, T9s, 99-77, 22"},
    "ip": {"range": "AA-QQ, AK, KQ, JTs, T9s, 55"},
    "bets": {"bet": "50%, 100%", "raise": "2.5x"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("solved")
    spot = Spot.from_mapping(RIVER)
    solve_spot(spot, target=0.1, threads=1).save(folder / "a.rgl")
    solve_spot(spot, target=0.1, threads=1, locks=[Lock("check", {"check": 1})]).save(folder / "b.rgl")
    other = Spot.from_mapping(RIVER | {"board": "Kh Qs Js 2c 4d"})
    solve_spot(other, iterations=5, threads=1).save(folder / "other.rgl")
    return folder


@pytest.fixture
def compare(run, folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)
    return lambda *options: run("compare", *options)


def test_spots(compare) -> None:
    shown = compare("a.rgl", "b.rgl")
    assert shown.code == 0, shown.err
    assert "differ in locks" in shown.out
    assert "check   ip acts" in shown.out
    answer = compare("a.rgl", "b.rgl", "--json").json
    assert answer["first"] == "a.rgl"
    assert sum(pair[0] for pair in answer["ev"].values()) == pytest.approx(100, abs=1e-4)
    first, second = answer["ev"]["ip"]
    assert second < first  # a lock costs its owner
    assert f"{second - first:+.2f}".replace("-", "−") in shown.out
    locked = next(node for node in answer["nodes"] if node["line"] == "check")
    assert locked["frequencies"]["check"][1] == pytest.approx(1)
    assert f"{100 * locked['frequencies']['check'][0]:.1f}" in shown.out
    assert len(compare("a.rgl", "b.rgl", "--top", "2", "--json").json["nodes"]) == 2
    assert "the same at every node that both reach" in compare("a.rgl", "a.rgl").out
    assert max(map(len, shown.out.splitlines())) <= 100


def test_differences_at_unreached_nodes_are_not_called_equal(compare, folder: Path) -> None:
    for name, answer in (("never_a", "fold"), ("never_b", "call")):
        locks = [Lock("", {"check": 1}), Lock("bet 50", {answer: 1})]
        solve_spot(Spot.from_mapping(RIVER), iterations=5, threads=1, locks=locks).save(folder / f"{name}.rgl")
    for options in ((), ("--all",)):
        shown = compare("never_a.rgl", "never_b.rgl", *options).out
        assert "they play the same at every node that both reach" in shown
        assert "nodes that both have" not in shown


def test_a_node_hand_by_hand(compare) -> None:
    shown = compare("a.rgl", "b.rgl", "--line", "check", "--hands", "AA, KQs", "--all")
    assert shown.code == 0, shown.err
    answer = compare("a.rgl", "b.rgl", "--line", "check", "--hands", "AA, KQs", "--all", "--json").json
    assert answer["player"] == "ip"
    assert {row["hand"][0] + row["hand"][2] for row in answer["hands"]} == {"AA", "KQ"}
    for row in answer["hands"]:
        line = next(line for line in shown.out.splitlines() if line.startswith(row["hand"]))
        assert f"{row['strategy']['check'][0]:.1%}" in line
        assert f"{row['ev'][1]:.2f}" in line
    other = compare("a.rgl", "b.rgl", "--line", "check", "--player", "oop", "--json").json
    assert other["player"] == "oop"
    assert other["hands"][0]["strategy"] == {}


def test_games(run) -> None:
    for name, iterations in (("a", "10"), ("b", "100")):
        run("solve", "kuhn", "--engine", "numpy", "--iterations", iterations, "--out", f"{name}.rgl")
    shown = run("compare", "a.rgl", "b.rgl", "--top", "3")
    assert shown.code == 0, shown.err
    answer = run("compare", "a.rgl", "b.rgl", "--all", "--json").json
    assert answer["shared"] == 12
    moved = [each["moved"] for each in answer["information_sets"].values()]
    assert moved == sorted(moved, reverse=True)
    first = next(iter(answer["information_sets"]))
    assert first in shown.out
    assert len(run("compare", "a.rgl", "b.rgl", "--top", "3", "--json").json["information_sets"]) == 3
    assert list(run("compare", "a.rgl", "b.rgl", "--information-sets", "2:,0:", "--json").json["information_sets"]) == [
        "2:",
        "0:",
    ]
    named = run("compare", "a.rgl", "b.rgl", "--information-sets", "0:").out
    assert f"{sum(each > 0 for each in moved)} of 12 information sets are played differently" in named
    run("solve", "leduc", "--engine", "numpy", "--iterations", "2", "--out", "leduc.rgl")
    other = run("compare", "a.rgl", "leduc.rgl")
    assert other.code == 1
    assert "leduc.rgl: has no information set in common with a.rgl" in other.err


def test_spots_against_each_other(compare) -> None:
    shown = compare("a.rgl", "b.rgl", "--ev")
    assert shown.code == 0, shown.err
    answer = compare("a.rgl", "b.rgl", "--ev", "--json").json
    assert (answer["first"], answer["second"]) == ("a.rgl", "b.rgl")
    assert answer["edge_pct_pot"] == answer["edge"] > 0  # of a pot of 100; b always checks behind
    assert f"A wins {answer['edge_pct_pot']:.4g} % of the pot from B" in shown.out
    assert "A oop, B ip" in shown.out
    assert f"{answer['seats'][1][0]:.2f}" in shown.out
    assert "neither wins; mean of both seats, exact" in compare("a.rgl", "a.rgl", "--ev").out
    assert "B wins" in compare("b.rgl", "a.rgl", "--ev").out


def test_games_against_each_other(run) -> None:
    for name, iterations in (("a", "5"), ("b", "100")):
        run("solve", "kuhn", "--engine", "numpy", "--iterations", iterations, "--out", f"{name}.rgl")
    shown = run("compare", "a.rgl", "b.rgl", "--ev")
    assert shown.code == 0, shown.err
    answer = run("compare", "a.rgl", "b.rgl", "--ev", "--json").json
    assert answer["game"] == "kuhn"
    assert f"B wins {-answer['edge']:.4g} chips per game from A" in shown.out
    assert "A player 1, B player 0" in shown.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["a.rgl", "other.rgl", "--ev"], "other.rgl: is a solve of a different spot from a.rgl: they differ in board"),
        (["a.rgl", "b.rgl", "--ev", "--flops", "25"], "flops: '25' is not for spots: every runout is evaluated"),
        (["a.rgl", "b.rgl", "--flops", "25"], "flops: '25' does not apply to whole spots: add --ev"),
        (["a.rgl", "b.rgl", "--ev", "--top", "3"], "top: 3 does not apply to --ev"),
        (["a.rgl", "b.rgl", "--ev", "--threads", "0"], "threads: 0 is not for spots"),
        (["a.rgl", "b.rgl", "--ev", "--target", "3"], "target: 3.0 is for re-solved flops: add --resolve"),
        (["a.rgl", "other.rgl"], "board: 'Kh Qs Js 2c 3d and Kh Qs Js 2c 4d' are different boards"),
        (["a.rgl", "none.rgl"], "none.rgl: does not exist"),
        (["a.rgl", "b.rgl", "--hands", "AA"], "hands: 'AA' does not apply to whole spots: --line names the node"),
        (["a.rgl", "b.rgl", "--information-sets", "0:"], "information-sets: '0:' does not apply to whole spots"),
        (["a.rgl", "b.rgl", "--line", "bet 7"], "no 'bet 7' here"),
        (["a.rgl", "b.rgl", "--line", "check", "--hands", "66"], "ip holds none of these here"),
        (["a.rgl", "b.rgl", "--top", "0"], "top: 0 must be at least 1"),
    ],
)
def test_a_wrong_request_gives_one_sentence(compare, options: list[str], words: str) -> None:
    result = compare(*options)
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert words in result.err

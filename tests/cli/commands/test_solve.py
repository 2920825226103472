"""`regretless solve`: the contract of --json, the summary, files and pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from regretless import load, solve
from regretless.solving import Solution

KEYS = [
    "game", "variant", "engine", "device", "threads", "iterations", "exploitability", "nash_conv", "values", "seconds",
    "setup_seconds", "seconds_per_iteration", "memory_bytes", "nodes", "information_sets", "history",
]  # fmt: skip


def test_json_is_one_object_with_exactly_these_keys(run) -> None:
    result = run("solve", "kuhn", "--variant", "plus", "--iterations", "1000", "--json")
    assert result.code == 0
    assert list(result.json) == KEYS
    assert result.out.count("\n") == 1
    assert result.err == ""
    answer = result.json
    assert (answer["game"], answer["variant"], answer["iterations"], answer["device"]) == ("kuhn", "plus", 1000, "cpu")
    assert (answer["nodes"], answer["information_sets"]) == (58, 12)
    assert answer["exploitability"] == answer["nash_conv"] / 2 <= 1e-4
    assert abs(answer["values"][0] + 1 / 18) < 1e-3
    assert answer["history"][-1] == [1000, answer["seconds"], answer["exploitability"]]


def test_strategy_is_added_on_request(run) -> None:
    answer = run("solve", "kuhn", "--json", "--strategy", "--iterations", "10").json
    assert list(answer) == [*KEYS, "strategy"]
    assert len(answer["strategy"]) == 12
    assert sum(answer["strategy"]["0:pb"].values()) == pytest.approx(1)


def test_the_library_gives_the_same_answer(run) -> None:
    answer = run(
        "solve", "leduc(ranks=2)", "--variant", "discounted", "--iterations", "50", "--json", "--strategy"
    ).json
    solution = solve("leduc(ranks=2)", variant="discounted", iterations=50)
    assert answer["strategy"] == solution.strategy
    assert answer["exploitability"] == solution.exploitability


def test_the_exact_answer(run) -> None:
    answer = run("solve", "kuhn", "--variant", "lp", "--json").json
    assert list(answer) == KEYS
    assert abs(answer["values"][0] + 1 / 18) < 1e-9
    assert abs(answer["exploitability"]) < 1e-9


def test_a_target_stops_the_solve_early(run) -> None:
    answer = run("solve", "kuhn", "--target", "0.01", "--json").json
    assert answer["exploitability"] <= 0.01
    assert answer["iterations"] < 1000
    result = run("solve", "kuhn", "--target", "0.0001", "--iterations", "10")
    assert "the target of 0.0001 was not reached" in result.out


@pytest.mark.parametrize("sampling", ["chance", "external", "outcome"])
def test_sampling_is_repeatable_by_seed(sampling: str, run) -> None:
    line = [
        "solve",
        "kuhn",
        "--sampling",
        sampling,
        "--variant",
        "vanilla",
        "--iterations",
        "200",
        "--json",
        "--strategy",
    ]
    first, again, other = run(*line, "--seed", "1"), run(*line, "--seed", "1"), run(*line, "--seed", "2")
    assert first.json["strategy"] == again.json["strategy"] != other.json["strategy"]


def test_the_summary_of_a_small_game_is_complete(run) -> None:
    result = run("solve", "kuhn", "--iterations", "100")
    assert result.code == 0
    assert "kuhn plus · 100 iterations" in result.out
    for words in (
        "exploitability",
        "(NashConv / 2)",
        "NashConv",
        "chips per game",
        "player 0 −0.05",
        "58 nodes",
        "memory",
    ):
        assert words in result.out
    for key in solve("kuhn", iterations=1).strategy:
        assert f"\n{key} " in result.out
    assert max(map(len, result.out.splitlines())) <= 80


def test_the_summary_of_a_large_game_shows_the_beginning(run) -> None:
    result = run("solve", "leduc", "--iterations", "5", "--out", "leduc.rgl")
    assert "… and 924 more information sets: regretless show leduc.rgl --strategy" in result.out
    assert "saved leduc.rgl" in result.err
    whole = run("show", "leduc.rgl", "--strategy")
    assert len(whole.out.splitlines()) > 936


def test_more_actions_than_columns_are_listed(run) -> None:
    result = run("solve", "liars_dice(sides=3)", "--iterations", "50")
    assert "points per game" in result.out
    assert "liar 100.0%" in result.out


def test_more_than_two_players_give_a_note(run) -> None:
    result = run("solve", "kuhn(players=3)", "--iterations", "5", "--engine", "numpy")
    assert "need not approach an equilibrium" in " ".join(result.out.split())


def test_a_picture_and_a_file(run, tmp_path: Path) -> None:
    result = run("solve", "kuhn", "--iterations", "50", "--plot", "kuhn.png", "--out", "kuhn.rgl", "--json")
    assert result.code == 0
    assert (tmp_path / "kuhn.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads(run("show", "kuhn.rgl", "--json").out) == result.json
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kuhn.png", "kuhn.rgl"]


def test_resume_saves_to_the_same_file(run, tmp_path: Path) -> None:
    line = ["--variant", "discounted", "--engine", "reference", "--updates", "simultaneous"]
    whole = run("solve", "kuhn", *line, "--iterations", "80", "--json", "--strategy").json
    run("solve", "kuhn", *line, "--iterations", "33", "--out", "part.rgl")
    resumed = run("solve", "--resume", "part.rgl", "--iterations", "80", "--json", "--strategy")
    assert resumed.code == 0
    assert resumed.json["strategy"] == whole["strategy"]
    assert resumed.json["exploitability"] == whole["exploitability"]
    assert resumed.json["engine"] == "reference"
    saved = load(tmp_path / "part.rgl")
    assert (saved.iterations, saved.settings.updates) == (80, "simultaneous")


def test_resume_to_another_file_leaves_the_first(run, tmp_path: Path) -> None:
    run("solve", "kuhn", "--iterations", "20", "--out", "part.rgl")
    before = (tmp_path / "part.rgl").read_bytes()
    assert run("solve", "kuhn", "--resume", "part.rgl", "--iterations", "40", "--out", "more.rgl").code == 0
    assert (tmp_path / "part.rgl").read_bytes() == before
    assert load(tmp_path / "more.rgl").iterations == 40


def interrupted_after(count: int) -> Solution:
    """What a solve of 200 iterations returns when it is interrupted by Ctrl-C."""
    reports: list[int] = []
    return solve(
        "kuhn",
        iterations=200,
        engine="reference",
        report=lambda progress: reports.append(progress.iteration),
        interrupted=lambda: bool(reports) and reports[-1] >= count,
    )


def interrupted_solve(
    problem: object, options: dict[str, Any], request: object, destination: Path, *others: object
) -> tuple[Solution, None]:
    solution = interrupted_after(40)
    solution.checkpoint(destination)
    return solution, None


def test_an_interrupt_saves_under_an_unused_name_and_says_how_to_resume(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run("solve", "kuhn", "--iterations", "200", "--engine", "reference", "--json", "--strategy").json
    (tmp_path / "kuhn.rgl").write_text("somebody else's")
    with monkeypatch.context() as patch:
        patch.setattr("regretless.cli.solving.one._solve", interrupted_solve)
        result = run("solve", "kuhn", "--iterations", "200")
    assert result.code == 130
    assert "regretless solve --resume kuhn-2.rgl" in result.err
    assert (tmp_path / "kuhn.rgl").read_text() == "somebody else's"
    resumed = run("solve", "--resume", "kuhn-2.rgl", "--json", "--strategy")  # as the printed command says
    assert resumed.code == 0
    assert resumed.json["iterations"] == 200
    assert resumed.json["strategy"] == whole["strategy"]


GENERAL_SUM = """EFG 2 R "dilemma" { "A" "B" }
p "" 1 1 "" { "C" "D" } 0
p "" 2 1 "" { "C" "D" } 0
t "" 1 "" { 3, 3 }
t "" 2 "" { 0, 5 }
p "" 2 1 "" { "C" "D" } 0
t "" 3 "" { 5, 0 }
t "" 4 "" { 1, 1 }
"""


def test_a_general_sum_game_gives_a_note(run, tmp_path: Path) -> None:
    (tmp_path / "dilemma.efg").write_text(GENERAL_SUM)
    note = "need not approach an equilibrium"
    assert note in " ".join(run("solve", "dilemma.efg", "--out", "dilemma.rgl").out.split())
    assert note in " ".join(run("show", "dilemma.rgl").out.split())
    assert note not in " ".join(run("solve", "kuhn", "--iterations", "10").out.split())

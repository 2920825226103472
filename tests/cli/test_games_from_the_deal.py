"""Push or fold and game files on the command line: solve, show, estimate, verify, plot."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import regretless as rl
from regretless.cards.ranges import Range
from regretless.cli.views import game_show
from regretless.holdem.buckets import BucketPlan, build_buckets
from regretless.holdem.buckets.division import Percentiles
from regretless.holdem.buckets.table import empty_table, write_tables
from regretless.holdem.games.push_fold import PushFoldSolution

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "push.rgl"
    rl.solve("push-fold(stack=8)").save(path)
    return path


def test_solving_push_or_fold(run) -> None:
    result = run("solve", "push-fold(stack=10)", "--json")
    assert result.code == 0
    answer = result.json
    assert 1000 * answer["values"][0] == pytest.approx(-45.3708, abs=1e-3)
    assert answer["exploitability_mbb"] <= 1e-5
    assert answer["root"] == {"player": "ip", "actions": ["fold", "push"], "frequencies": answer["root"]["frequencies"]}
    assert (answer["stack"], answer["ranges"]) == (
        10,
        {"push": pytest.approx(0.5828, abs=5e-5), "call": answer["ranges"]["call"]},
    )
    assert "strategy" not in answer


def test_showing_push_or_fold(run, saved: Path) -> None:
    shown = run("show", str(saved)).out
    assert "8 big blinds" in shown
    assert "mbb/g" in shown
    assert shown.count("AKs") == 2  # one chart for each player
    assert "the first decision: ip acts: fold" in shown
    assert "push: oop acts: fold" in shown
    one = run("show", str(saved), "--line", "push")
    assert one.out.count("AKs") == 1
    by_hand = run("show", str(saved), "--line", "push", "--hands", "AA")
    assert "AhAs" in by_hand.out or "AsAh" in by_hand.out
    assert run("show", str(saved), "--line", "push", "--json").json["classes"]["AA"]["call"] == pytest.approx(1)
    assert len(run("show", str(saved), "--strategy", "--json").json["strategy"]) == 338
    refused = run("show", str(saved), "--line", "fold")
    assert refused.code == 1
    assert "line: 'fold': nobody acts there" in refused.err
    assert run("show", str(saved), "--line", "push", "--runouts").code == 1


def test_a_long_heading_is_broken_between_words(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solution = rl.load(saved)
    assert isinstance(solution, PushFoldSolution)
    console = Console(file=io.StringIO(), width=36, color_system=None)
    monkeypatch.setattr(game_show, "for_answers", lambda: console)
    game_show.show_line(solution.node("push"), by_hand=True, as_json=False)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert lines[0].startswith("push: oop acts: fold ")
    assert lines[1].startswith("  ")
    assert all(len(line) <= 36 for line in lines)


def test_verifying_and_comparing(run, saved: Path) -> None:
    assert run("verify", str(saved), "--json").json["agrees"]
    assert run("compare", str(saved), str(saved)).code == 0


def test_charts(run, saved: Path, tmp_path: Path) -> None:
    assert run("plot", str(saved), "--charts", "--out", "charts.svg").code == 0
    drawn = (tmp_path / "charts.svg").read_text()
    assert "<svg" in drawn
    assert (
        run("plot", "kuhn", "--charts").err == "error: charts: 'kuhn' is not one saved game of hold'em from the deal\n"
    )
    refused = run("plot", str(saved), "--charts", "--iterations", "5")
    assert "iterations: 5 does not apply to --charts" in refused.err
    assert run("plot", str(saved), "--charts", "--line", "push", "--out", "one.svg").code == 0
    assert len((tmp_path / "one.svg").read_text()) < 0.7 * len(drawn)
    assert "line: 'push' is only for --charts" in run("plot", str(saved), "--line", "push").err
    assert "line: 'fold': nobody acts there" in run("plot", str(saved), "--charts", "--line", "fold").err


def test_exporting_ranges(run, saved: Path, tmp_path: Path) -> None:
    solution = rl.load(saved)
    assert isinstance(solution, PushFoldSolution)
    text = run("export", str(saved), "--ranges", "short").out
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == ["# the first decision: ip acts", "# push: oop acts"]
    ranges = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line and not line.startswith("#"))
    assert Range.parse(ranges["push"]).combos / 1326 == pytest.approx(solution.pushed, abs=1e-4)
    assert Range.parse(ranges["call"]).combos / 1326 == pytest.approx(solution.called, abs=1e-4)
    rows = run("export", str(saved), "--ranges", "gto+", "--format", "json").json
    assert [(row["line"], row["player"], row["action"]) for row in rows] == [
        ("", "ip", "fold"), ("", "ip", "push"), ("push", "oop", "fold"), ("push", "oop", "call"),
    ]  # fmt: skip
    assert Range.parse(rows[1]["range"]) == Range.parse(ranges["push"])
    assert run("export", str(saved), "--ranges", "weights", "--line", "push", "--out", "call.csv").code == 0
    written = list(csv.DictReader(io.StringIO((tmp_path / "call.csv").read_text())))
    assert [len(row["range"].split()) for row in written] == [1326, 1326]
    assert Range.parse(written[1]["range"]).combos == pytest.approx(float(written[1]["combos"]))
    for words, says in (
        (("--ranges", "long"), "ranges: 'long' is not one of short, gto+, weights"),
        (("--ranges", "short", "--format", "xml"), "format: 'xml' is not one of txt, csv, json, parquet"),
        (("--ranges", "short", "--hands", "AA"), "hands: 'AA' does not apply to --ranges"),
        (("--ranges", "short", "--line", "fold"), "line: 'fold': nobody acts there"),
        (("--format", "txt"), "format: 'txt' is not one of csv, json, parquet"),
    ):
        refused = run("export", str(saved), *words)
        assert (refused.code, refused.err.startswith(f"error: {says}")) == (1, True), refused.err


def test_exporting_a_decision(run, saved: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run("export", str(saved), "--line", "push").out)))
    assert len(rows) == 1326
    assert list(rows[0]) == ["line", "player", "hand", "weight", "matchups", "fold", "call"]
    called = sum(float(row["call"]) * float(row["weight"]) * float(row["matchups"]) for row in rows)
    faced = sum(float(row["weight"]) * float(row["matchups"]) for row in rows)
    shown = run("show", str(saved), "--line", "push", "--json").json
    assert called / faced == pytest.approx(shown["frequencies"][1])
    aces = run("export", str(saved), "--line", "push", "--hands", "AA", "--format", "json").json
    assert len(aces["hands"]) == 6
    assert len(list(csv.DictReader(io.StringIO(run("export", str(saved)).out)))) == 676
    assert "street: 'flop' does not apply to a game" in run("export", str(saved), "--street", "flop").err


def test_estimating(run, tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "heads_up_20bb.toml", tmp_path / "game.toml")
    shutil.copy(EXAMPLES / "turn.toml", tmp_path / "turn.toml")
    shown = run("estimate", "game.toml").out
    assert "22,393" in shown
    assert "river 123,156,254" in shown
    assert "16 bits" not in shown  # in which games cannot be solved
    answer = run("estimate", "game.toml", "--buckets", "flop=9,turn=9,river=1000", "--json").json
    assert answer["game"] == "game.toml"
    assert answer["buckets"]["river"] == 1000
    both = run("estimate", "game.toml", "turn.toml", "--json").json
    assert [set(each) & {"game", "spot"} for each in both["spots"]] == [{"game"}, {"spot"}]
    assert "buckets: 'flop=5' is for games" in run("estimate", "turn.toml", "--buckets", "flop=5").err
    assert "threads: 2 is for spots" in run("estimate", "game.toml", "--threads", "2").err
    lacking = run("estimate", "game.toml", "--buckets", "river=1000")
    assert lacking.err == (
        "error: buckets: 'river=1000' does not say how many buckets the flop has: add flop=NUMBER or flop=lossless\n"
    )
    named = run("estimate", "push-fold(stack=12)", "--json").json
    assert (named["game"], named["nodes"], named["information_sets"]) == ("push-fold(stack=12)", 86_191, 338)
    assert "information sets" in run("estimate", "leduc").out
    assert "did you mean leduc" in run("estimate", "leduk").err
    assert "buckets: 'flop=5' does not apply to leduc" in run("estimate", "leduc", "--buckets", "flop=5").err


def test_the_tree_of_a_game(run, tmp_path: Path) -> None:
    text = "stack = 6\nsmall_blind = 1\nbig_blind = 2\nante = 0.5\n[preflop]\nopen = 'a'\n"
    (tmp_path / "game.toml").write_text(text)
    shown = run("show", "game.toml", "--tree").out.splitlines()
    assert shown[0] == "preflop, blinds 1/2, ante 0.5, stack 6"
    assert any(line.endswith("ip all-in 5.5") for line in shown)
    assert any("flop, pot 5" in line for line in shown)
    tree = run("show", "game.toml", "--tree", "--json").json
    assert (tree["player"], tree["paid"]) == ("ip", {"oop": 2.5, "ip": 1.5})
    assert list(tree["actions"]) == ["fold", "call", "all-in 5.5"]


def test_a_game_is_solved_and_shown(run, tmp_path: Path) -> None:
    text = "stack = 10\nsmall_blind = 0.5\nbig_blind = 1\npreflop.open = 'a'\npreflop.limp = false\n"
    (tmp_path / "game.toml").write_text(text)
    answer = run("solve", "game.toml", "--iterations", "20", "--sample-runouts", "4", "--out", "g.rgl", "--json").json
    assert (answer["game"], answer["boards"], answer["exploitability"]) == ("game", 80, None)
    assert answer["root"]["actions"] == ["fold", "all-in 10"]
    shown = run("show", "g.rgl").out
    assert "80 drawn, 4 per iteration" in shown
    assert "exploitability" not in shown
    assert "--line shows other decisions: 'all-in 10', …" in shown
    unmeasured = run("plot", "g.rgl")
    assert unmeasured.err.startswith("error: g.rgl: its exploitability was not measured, so there is no curve to draw")
    ranges = run("export", "g.rgl", "--ranges", "short").out
    assert ranges.startswith("# the first decision: ip acts\nfold: ")
    chart = run("show", "g.rgl", "--line", "all-in 10").out
    assert "all-in 10: oop acts: fold" in chart
    resumed = run("solve", "--resume", "g.rgl", "--iterations", "30", "--json").json
    assert (resumed["iterations"], resumed["boards"]) == (30, 120)


def test_a_game_without_buckets_is_refused_in_one_sentence(run, tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "heads_up_100bb.toml", tmp_path / "game.toml")
    for words, says in (
        ((), "buckets: is missing: give a file from regretless buckets"),
        (("--buckets", "none.rgl"), "none.rgl: does not exist"),
        (("--buckets", "none.rgl", "--target", "1"), "target: 1.0 is not for games from the deal"),
        (("--buckets", "flop=9", "--lock", "call: AA = fold"), "lock: "),
    ):
        refused = run("solve", "game.toml", *words)
        assert refused.code == 1
        assert refused.err.startswith(f"error: {says}")
        assert len(refused.err.splitlines()) == 1


def test_tables_that_do_not_fit_a_game_are_refused_in_one_sentence(run, saved: Path, tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "heads_up_100bb.toml", tmp_path / "game.toml")
    build_buckets(BucketPlan(flop=3, board=(0, 1, 2), sample=1000, method="percentile"), "one.rgl", threads=1)
    plan = BucketPlan(flop=2, method="percentile")
    table = empty_table(plan, "flop", Percentiles(np.zeros(1, dtype=np.int32)))
    write_tables("unfinished.rgl", plan, {"flop": table})
    table.boards_done = len(plan.boards("flop").rows)
    write_tables("flop.rgl", plan, {"flop": table})
    whole = (tmp_path / "flop.rgl").read_bytes()
    refused = run("solve", "game.toml", "--buckets", "flop.rgl", "--out", "./flop.rgl")
    assert refused.err.startswith("error: out: 'flop.rgl' has the buckets to solve with: save the solution under")
    assert (tmp_path / "flop.rgl").read_bytes() == whole
    (tmp_path / "cut.rgl").write_bytes(whole[: len(whole) // 2])
    for file, says in (
        ("one.rgl", "one.rgl: has the buckets of one flop only: a game needs those of all boards"),
        ("flop.rgl", "buckets: 'flop.rgl' has no buckets for the turn, on which the players act"),
        ("unfinished.rgl", "unfinished.rgl: "),
        ("cut.rgl", "cut.rgl: "),
        (str(saved), f"{saved}: "),
    ):
        refused = run("solve", "game.toml", "--buckets", file)
        assert (refused.code, refused.out) == (1, "")
        assert refused.err.startswith(f"error: {says}"), refused.err
        assert len(refused.err.splitlines()) == 1

"""`regretless export`: what the columns mean, how large the file will be, and that it is complete or absent."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from regretless.cards.ranges import Range
from regretless.holdem.exports import decisions
from regretless.holdem.problem import solve_spot
from regretless.holdem.reading.columns import DEFINITIONS
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.spot import Spot

TURN = {
    "board": "Kh Qs Js 2c",
    "pot": 100,
    "stack": 200,
    "oop": {"range": "AK, KQs, QJs, T9s, 99-77, 22"},
    "ip": {"range": "AA-QQ, AK, KQ, JTs, T9s, 55"},
    "bets": {"bet": "75%"},
    "rules": {"add_allin": 0},
}


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("solved") / "turn.rgl"
    solve_spot(Spot.from_mapping(TURN), iterations=20, threads=1).save(path)
    return path


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_an_export_has_the_columns_behind_the_averages_of_show(run, solved: Path) -> None:
    rows = [row for row in rows_of(run("export", str(solved), "--line", "check").out) if row["ev"]]
    shown = run("show", str(solved), "--line", "check", "--json").json["node"]
    for player in ("oop", "ip"):
        of = [row for row in rows if row["player"] == player]
        weight = [float(row["weight"]) * float(row["matchups"]) for row in of]
        for column in ("ev", "equity"):
            mean = sum(w * float(row[column]) for w, row in zip(weight, of, strict=True)) / sum(weight)
            assert mean == pytest.approx(shown[column][player], abs=1e-9)


def test_every_column_is_defined_in_the_help_and_in_the_files(run, solved: Path, tmp_path: Path) -> None:
    from pyarrow import parquet

    told = run("export", "--columns")
    assert told.code == 0
    assert all(name in told.out for name in DEFINITIONS)
    for others in (["--all"], [str(solved)], ["--street", "turn"]):
        refused = run("export", "--columns", *others)
        assert refused.code == 2
        assert "takes nothing else" in refused.err
    assert run("export", str(solved), "--street", "turn", "--out", "turn.csv").code == 0
    rows = rows_of((tmp_path / "turn.csv").read_text())
    assert set(rows[0]) == set(DEFINITIONS)
    for lines, name in ((["--street", "turn"], "several.json"), (["--line", "check"], "one.json")):
        assert run("export", str(solved), *lines, "--out", name).code == 0
        assert json.loads((tmp_path / name).read_text())["definitions"]["weight"] == DEFINITIONS["weight"]
    assert run("export", str(solved), "--street", "turn", "--out", "turn.parquet").code == 0
    schema = parquet.read_schema(tmp_path / "turn.parquet")
    assert schema.field("weight").metadata[b"definition"].decode() == DEFINITIONS["weight"]


@pytest.fixture(scope="module")
def nodes(solved: Path) -> int:
    return sum(1 for _ in decisions(SpotSolution.load(solved)))


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_the_size_is_printed_before_a_long_export(run, solved: Path, nodes: int, tmp_path: Path, kind: str) -> None:
    result = run("export", str(solved), "--all", "--out", f"all.{kind}")
    assert result.code == 0, result.err
    said, saved = result.err.splitlines()
    assert said.startswith(f"{nodes:,} nodes")
    assert saved == f"saved {nodes:,} nodes to all.{kind}"
    number, unit = said.split("about ")[1].split()[:2]
    told = float(number) * {"KB": 10**3, "MB": 10**6, "GB": 10**9}[unit]
    size = (tmp_path / f"all.{kind}").stat().st_size
    assert size / 3 < told < size * 4
    if kind == "csv":
        rows = (tmp_path / "all.csv").read_text().count("\n") - 1
        assert f"{rows:,} rows" in said


def test_an_export_that_would_not_fit_is_refused_at_once(
    run, solved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from regretless.cli.commands import export

    monkeypatch.setattr(export.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 1000})())
    result = run("export", str(solved), "--all", "--out", "all.csv")
    assert result.code == 1
    assert "all.csv: would take about" in result.err
    assert list(tmp_path.iterdir()) == []


def test_one_player_and_some_hands(run, solved: Path) -> None:
    rows = rows_of(run("export", str(solved), "--line", "check", "--player", "ip", "--hands", "AA, KQs").out)
    assert {row["player"] for row in rows} == {"ip"}
    assert {row["hand"][0] + row["hand"][2] for row in rows} == {"AA", "KQ"}
    several = rows_of(run("export", str(solved), "--street", "turn", "--player", "oop", "--hands", "22").out)
    assert {row["player"] for row in several} == {"oop"}
    assert {row["hand"][0] + row["hand"][2] for row in several} == {"22"}
    whole = rows_of(run("export", str(solved), "--street", "turn", "--player", "oop").out)
    assert {row["player"] for row in whole} == {"oop"}
    assert {row["line"] for row in whole} == {"", "check, bet 75"}
    cards = rows_of(run("export", str(solved), "--line", "check, check", "--board", "Ac").out)
    assert cards
    assert not [row for row in cards if "Ac" in row["hand"]]


@pytest.mark.parametrize("where", [["--line", "check"], ["--street", "river"], ["--all"]], ids=" ".join)
@pytest.mark.parametrize(
    ("hands", "words"),
    [
        (["--hands", "66"], "hands: '66': oop and ip hold none of these here"),
        (["--hands", "55", "--player", "oop"], "hands: '55': oop holds none of these here"),
        (["--hands", "2c2d"], "hands: '2d2c': oop and ip hold none of these here"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_hands_that_nobody_holds_are_refused(
    run, solved: Path, tmp_path: Path, where: list[str], hands: list[str], words: str
) -> None:
    result = run("export", str(solved), *where, *hands, "--out", "none.csv")
    assert result.code == 1
    assert result.err == f"error: {words}\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--player", "button"], "player: 'button' is neither oop nor ip"),
        (["--hands", "AKx"], "hands: 'AKx'"),
        (["--line", "check", "--board", "Kh"], "board: 'Kh': no card is dealt after check"),
        (["--line", "check, check", "--board", "Kh"], "board: 'Kh': is already on the board after check, check"),
        (["--street", "flop"], "street: 'flop' is not one of turn, river"),
    ],
)
def test_invalid_values_are_refused_by_name(run, solved: Path, options: list[str], words: str) -> None:
    result = run("export", str(solved), *options)
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert words in result.err


def test_the_input_is_never_overwritten(run, solved: Path) -> None:
    before = solved.read_bytes()
    result = run("export", str(solved), "--format", "csv", "--out", str(solved))
    assert result.code == 1
    assert "choose another name" in result.err
    assert solved.read_bytes() == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_an_interrupted_export_leaves_nothing(solved: Path, tmp_path: Path, number: signal.Signals) -> None:
    code = (
        "import os, sys\n"
        "from regretless.holdem import exports\n"
        "views, rows = [], exports.long_rows\n"
        "def long_rows(view):\n"
        "    views.append(view)\n"
        f"    if len(views) == 3: os.kill(os.getpid(), {int(number)})\n"
        "    return rows(view)\n"
        "exports.long_rows = long_rows\n"
        "from regretless.cli import main\n"
        "sys.exit(main())\n"
    )
    source = str(Path(__file__).parents[3] / "src")
    process = subprocess.Popen(
        [sys.executable, "-c", code, "export", str(solved), "--all", "--out", "all.csv"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": source},
        stderr=subprocess.PIPE,
        text=True,
    )
    _, err = process.communicate(timeout=600)
    assert process.returncode == 130, err
    assert "interrupted: all.csv was not written" in err
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_a_file_name_with_another_format_is_refused(run, solved: Path, tmp_path: Path) -> None:
    result = run("export", str(solved), "--format", "csv", "--out", "turn.parquet")
    assert (result.code, result.out) == (1, "")
    assert "format: 'csv' does not match the name of turn.parquet" in result.err
    assert not (tmp_path / "turn.parquet").exists()
    assert run("export", str(solved), "--out", "TURN.CSV").code == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--out", "turn"], "out: 'turn' does not end in a format, such as .csv: say which with --format"),
        (["--format", "parquet"], "out: is missing: parquet is not written to stdout; name a file"),
    ],
)
def test_a_missing_format_or_file_is_named(run, solved: Path, options: list[str], words: str) -> None:
    result = run("export", str(solved), *options)
    assert (result.code, result.out) == (1, "")
    assert words in result.err


def test_hands_in_neither_range_are_refused(run, solved: Path) -> None:
    result = run("export", str(solved), "--hands", "72o")
    assert (result.code, result.out) == (1, "")
    assert "hands: '72o': oop and ip hold none of these here" in result.err


@pytest.mark.parametrize("text_format", ["short", "gto+", "weights"])
def test_the_ranges_of_a_spot_s_actions_are_text_for_other_programs(run, solved: Path, text_format: str) -> None:
    """Together, the ranges of all actions are the range that arrives at the node."""
    node = SpotSolution.load(solved).node("check")
    rows = run("export", str(solved), "--line", "check", "--ranges", text_format, "--format", "json").json
    assert [row["action"] for row in rows] == list(node.actions)
    assert [row["player"] for row in rows] == ["ip"] * len(rows)
    total = sum(Range.parse(row["range"]).combos for row in rows)
    assert total == pytest.approx(float(node.acting.weight.sum()), abs=0.2)  # weights have three decimals
    text = run("export", str(solved), "--line", "check", "--ranges", text_format).out.splitlines()
    assert text == ["# check: ip acts", *(f"{row['action']}: {row['range']}" for row in rows)]


def test_ranges_are_those_of_one_decision(run, solved: Path) -> None:
    showdown = run("export", str(solved), "--line", "check, check", "--ranges", "short")
    assert showdown.err == "error: line: 'check, check' leads to no decision: nobody acts there\n"
    everywhere = run("export", str(solved), "--all", "--ranges", "short")
    assert everywhere.err == "error: all: True does not apply to --ranges\n"

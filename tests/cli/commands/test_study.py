"""`regretless study`: estimates, reports whose figures follow from the solutions themselves, and errors in one line."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Run
from tests.cluster.studies import FLOPS, solve_here, study_text

import regretless as rl
from regretless.cluster.jobs import SpotOutcome
from regretless.cluster.run import StudyRun, open_run
from regretless.errors import InvalidFile
from regretless.holdem.studies.plan import StudyPlan
from regretless.holdem.studies.reports import Coverage
from regretless.installing import install_command

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
from pyarrow import parquet

TEXT = study_text(more='keep.hands = true\nkeep.lines = ["", "check", "check, check, any"]\nvary.stack = [100, 150]')


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("studies") / "study"
    solve_here(TEXT, folder)
    return folder


@pytest.fixture(scope="module")
def solutions() -> dict[str, Any]:
    """The same spots, solved directly."""
    return {spot.id: (spot, rl.solve(spot.spot, iterations=10, threads=1)) for spot in StudyPlan.parse(TEXT).spots}


def direct(solutions: dict[str, Any], line: str, take: Any, keep: Any = lambda spot: True) -> float:
    """Σ weight · reach · x / Σ weight · reach, from the solutions."""
    total = weights = 0.0
    for spot, solution in solutions.values():
        if keep(spot):
            reader = solution.reader
            reach = reader.pairs(reader.find(line)) / reader.pairs(reader.root)
            total += spot.flop.multiplicity * reach * take(solution.node(line))
            weights += spot.flop.multiplicity * reach
    return total / weights


@pytest.mark.parametrize("line", ["", "check"])
def test_totals_equal_a_direct_computation(folder: Path, solutions: dict[str, Any], line: str) -> None:
    report = rl.Study(folder).report(line)
    total = report.total
    for number, action in enumerate(report.actions):
        expected = direct(solutions, line, lambda node, number=number: node.frequencies[number])
        assert total.frequencies[action] == pytest.approx(expected, rel=1e-12)
    assert total.oop_ev == pytest.approx(direct(solutions, line, lambda node: node.ev("oop")), rel=1e-12)
    assert total.ip_equity == pytest.approx(direct(solutions, line, lambda node: node.equity("ip")), rel=1e-12)
    assert sum(total.frequencies.values()) == pytest.approx(1)
    assert total.spots == 2 * len(FLOPS)
    assert sum(row.weight for row in report.rows) == pytest.approx(total.weight)


def test_groups_equal_a_direct_computation(folder: Path, solutions: dict[str, Any]) -> None:
    report = rl.Study(folder).report(by=("suits", "stack"), sort="bet")
    bets = [row.frequencies["bet 30"] for row in report.rows]
    assert bets == sorted(bets, reverse=True)
    (row,) = (row for row in report.rows if row.group == ("rainbow", 150.0))
    rainbow = {"As7h2d", "Ts9h8d", "Ks6h6d", "5s4h3d"}
    chosen = lambda spot: spot.flop.text in rainbow and spot.spot.stack == 150  # noqa: E731
    assert row.spots == 4
    assert row.oop_ev == pytest.approx(direct(solutions, "", lambda node: node.ev("oop"), chosen), rel=1e-12)


def test_rows_are_sorted_by_any_of_the_columns_they_are_grouped_by(folder: Path) -> None:
    study = rl.Study(folder)
    order = ["rainbow", "two-tone", "monotone"]
    for sort, expected in (
        (None, lambda suits, high: (order.index(suits), "AKQJT98765432".index(high))),
        ("high", lambda suits, high: ("AKQJT98765432".index(high), order.index(suits))),
    ):
        groups = [row.group for row in study.report(by=("suits", "high"), sort=sort).rows]
        assert groups == sorted(groups, key=lambda group: expected(*group)), sort


def test_a_line_with_any_card_adds_up_to_the_line_before_it(folder: Path, solutions: dict[str, Any]) -> None:
    study = rl.Study(folder)
    report = study.report("check, check, any", by="turn")
    after = sum(
        spot.flop.multiplicity * solution.reader.pairs(solution.reader.find("check, check"))
        / solution.reader.pairs(solution.reader.root) for spot, solution in solutions.values()
    )  # fmt: skip
    assert report.total.weight == pytest.approx(after)
    assert study.report("check, check, 2c", by="turn").total.spots == 2 * len(FLOPS)
    assert study.report("check, check, Qs", by="turn").total.spots == 2 * (len(FLOPS) - 1)


def test_hands_equal_the_solutions(folder: Path, solutions: dict[str, Any]) -> None:
    sql = "SELECT hand, action, frequency, ev FROM hands WHERE spot = $spot AND line = '' ORDER BY hand, action"
    found = rl.Study(folder).query(sql, {"spot": "QsJh2h-1"}).to_pylist()
    node = solutions["QsJh2h-1"][1].root
    expected = sorted(
        (row["hand"], action, share, row["ev"]) for row in node.rows("oop") for action, share in row["strategy"].items()
    )
    assert [tuple(row.values()) for row in found] == expected


def test_the_command_reports(run: Run, folder: Path, tmp_path: Path) -> None:
    answer = run("study", "report", str(folder), "--by", "high", "--sort", "bet", "--json").json
    assert answer["total"]["spots"] == 12
    assert {row["high"] for row in answer["rows"]} == set("QA9TK5")
    shown = run("study", "report", str(folder), "--by", "flop", "--where", "paired or monotone")
    assert [line.split()[0] for line in shown.out.splitlines()[2:]] == ["9s8s7s", "Ks6h6d", "all"]
    run("study", "report", str(folder), "--by", "texture", "--out", "report.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "report.csv").read_text())))
    assert [row["texture"] for row in rows] == ["rainbow", "two-tone", "monotone", "paired rainbow"]
    said = run("study", "report", str(folder), "--sql", "SELECT count(*) AS n FROM runs", "--json")
    assert said.json == [{"n": 12}]
    assert run("study", "report", str(folder), "--sql", "FROM runs", "--out", "runs.parquet").code == 0
    assert run("study", "report", str(folder), "--plot", "report.png").code == 0
    assert (tmp_path / "report.png").stat().st_size > 5_000


@pytest.fixture(scope="module")
def incomplete(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study without two spots of the monotone flop and one of the paired flop."""
    copied = tmp_path_factory.mktemp("studies") / "incomplete"
    shutil.copytree(folder, copied)
    for spot in ("9s8s7s-1", "9s8s7s-2", "Ks6h6d-2"):
        (copied / "runs" / f"{spot}.parquet").unlink()
    return copied


def test_an_incomplete_study_says_so_in_every_form(run: Run, incomplete: Path, tmp_path: Path) -> None:
    weight = 1 - (4 + 4 + 12) / (2 * (12 + 24 + 4 + 24 + 12 + 24))
    said = "incomplete: 9 of 12 spots are solved, with 90.0% of the weight; shares and means are over these"
    shown = run("study", "report", str(incomplete))
    assert (shown.out.splitlines()[1], shown.err) == (said, "")
    answer = run("study", "report", str(incomplete), "--json").json
    assert answer["coverage"] == {"solved": 9, "spots": 12, "weight": pytest.approx(weight), "complete": False}
    for name in ("report.csv", "report.parquet"):
        assert run("study", "report", str(incomplete), "--out", name).err.splitlines()[0] == said
    (row, *_) = csv.DictReader(io.StringIO((tmp_path / "report.csv").read_text()))
    assert (row["solved_spots"], row["planned_spots"]) == ("9", "12")
    (first, *_) = parquet.read_table(tmp_path / "report.parquet").to_pylist()
    assert (first["solved_spots"], first["planned_spots"]) == (9, 12)
    counted = run("study", "report", str(incomplete), "--sql", "SELECT count(*) AS n FROM runs", "--json")
    assert (counted.json, counted.err.strip()) == ([{"n": 9}], said)
    study = rl.Study(incomplete)
    assert study.plot_frequencies().get_suptitle().startswith("9 of 12 spots of Study: oop")
    assert study.plot_ev().get_suptitle().startswith("9 of 12 spots of Study: ")
    assert repr(study).endswith("9 of 12 spots)")


def test_only_the_flops_that_were_chosen_count_as_missing(run: Run, incomplete: Path) -> None:
    shown = run("study", "report", str(incomplete), "--where", "two-tone").out
    assert "incomplete" not in shown
    shown = run("study", "report", str(incomplete), "--where", "paired").out
    assert "incomplete: 1 of 2 spots are solved, with 50.0% of the weight" in shown
    refused = run("study", "report", str(incomplete), "--where", "monotone")
    assert refused.err == "error: where: 'monotone': matches no flop that is solved yet\n"
    assert rl.Study(incomplete).coverage("paired two-tone") == Coverage(0, 0, None)


def test_a_complete_study_says_nothing(run: Run, folder: Path) -> None:
    assert "incomplete" not in run("study", "report", str(folder)).out
    assert run("study", "report", str(folder), "--json").json["coverage"]["complete"] is True
    assert run("study", "report", str(folder), "--sql", "SELECT count(*) AS n FROM runs").err == ""
    assert str(rl.Study(folder).coverage()) == "all 12 spots are solved"


def test_what_is_missing_is_known_without_a_plan_that_can_be_read(incomplete: Path, tmp_path: Path) -> None:
    copied = tmp_path / "old"
    shutil.copytree(incomplete, copied)
    manifest = json.loads((copied / "study.json").read_text())
    (copied / "study.json").write_text(json.dumps(manifest | {"toml": "sizes_of_an_older_version = 1"}))
    report = rl.Study(copied).report()
    assert report.coverage == Coverage(9, 12, None)
    assert str(report.coverage) == "incomplete: 9 of 12 spots are solved; shares and means are over these"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--by", "textur"), "by: 'textur' is not a column to group by; did you mean texture?"),
        (("--sort", "raise"), "sort: 'raise' is not one of check, bet, "),
        (("--line", "bet 31"), "line: 'bet 31': is not in the study, which has '', 'check', 'check, check, any'"),
        (("--line", "jump"), "line: 'jump' at position 1: 'jump' is neither an action nor a card"),
        (("--where", "trips"), "where: 'trips': matches no flop in the study"),
        (("--out", "x.txt"), "out: 'x.txt' must end in .csv or .parquet"),
        (("--sql", "SELECT * FROM nothing"), "Table with name nothing does not exist"),
        (("--sql", "SELECT 1; SELECT 2"), "must be one SELECT"),
        (("--sql", "COPY runs TO 'x.csv'"), "must be one SELECT"),
        (("--sql", "SET enable_external_access = true"), "must be one SELECT"),
        (("--sql", "SELECT * FROM read_text('/etc/hostname')"), "Permission Error"),
        (("--sql", "SELECT * FROM glob('*')"), "Permission Error"),
        (("--sql", "SELECT * FROM '/etc/hostname'"), "does not exist"),
        (("--sql", "SELECT 1 +"), "syntax error"),
    ],
)
def test_mistakes_in_reports_are_one_sentence(run: Run, folder: Path, options: tuple[str, ...], sentence: str) -> None:
    result = run("study", "report", str(folder), *options)
    assert result.code == 1
    assert sentence in result.err
    assert result.err.count("\n") == 1


def test_an_estimate_comes_first(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "study.toml").write_text(TEXT)
    answer = run("study", "estimate", "study.toml", "--json").json
    assert answer["spots"] == 12
    assert 0 < answer["hours"] < 1
    shown = run("study", "estimate", "study.toml").out
    assert "12" in shown
    assert "more than is free" not in shown
    monkeypatch.setattr("regretless.forms.memory.available_bytes", lambda: 2**10)
    assert "for the largest spot, 32 bits   more than is free" in run("study", "estimate", "study.toml").out


def test_a_wrong_study_is_refused_before_anything_is_written(run: Run, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(TEXT.replace("pot = 60", "pot = -60"))
    result = run("study", "run", "study.toml", "--out", "out")
    assert (result.code, result.err) == (1, "error: pot: -60 must be above 0\n")
    assert not (tmp_path / "out").exists()
    assert run("study", "run", "study.toml").code == 2
    assert run("study", "report", "missing").err.startswith("error: missing: does not exist: regretless study run")


def test_plots_show_every_flop(folder: Path) -> None:
    figure = rl.Study(folder).plot_ev(action="bet")
    assert math.prod(figure.axes[0].collections[0].get_offsets().shape) == 2 * len(FLOPS)
    assert len(rl.Study(folder).to_pandas("runs")) == 12


MISSING = """
import sys
sys.modules[{library!r}] = None
from regretless.cli import main
sys.exit(main({words!r}))
"""


def test_what_stops_a_run_is_said_once(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = {"As7h2d": SpotOutcome("As7h2d", "As7h2d needs more memory", 3)}
    for spot in ("QsJh2h", "9s8s7s"):  # of two workers
        failed[spot] = SpotOutcome(spot, f"summary/{spot}.parquet: cannot be written: no space left", 1, hopeless=True)
    ended = StudyRun(spots=6, done=0, solved=0, errors=failed, interrupted=False, seconds=1.0)
    monkeypatch.setattr("regretless.cluster.run.run_study", lambda *arguments, **options: ended)
    (tmp_path / "study.toml").write_text(study_text())
    result = run("study", "run", "study.toml", "--out", "study")
    assert result.code == 1
    assert result.err.count("error: ") == 2
    assert result.err.count("no space left") == 1
    assert "stopped because the other spots would fail too; once that is fixed, resume it with\n" in result.err


def test_a_second_run_is_refused_in_one_sentence(run: Run, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(study_text())
    with open_run(tmp_path / "study", StudyPlan.parse(study_text())):
        result = run("study", "run", "study.toml", "--out", "study")
    assert (result.code, result.out) == (1, "")
    assert result.err == "error: study: has a run in progress: another process is solving the study there\n"


TOO_LARGE = SpotOutcome("QsJh2h", "QsJh2h needs 3.0 GB of memory, but only 2.0 GB are free", 3)
OTHER = SpotOutcome("As7h2d", "failed 4 times: its process ended with code 9", 1)


@pytest.mark.parametrize(
    ("errors", "merge_error", "code", "advice"),
    [
        ([TOO_LARGE], None, 3, "with more memory, try the failed spots again with"),
        ([TOO_LARGE, OTHER], None, 1, "try the failed spots again with"),
        ([], InvalidFile("study/runs.parquet", "cannot be written: no space left on device"), 1,
         "once that is fixed, merge the spots into one file per table with"),
    ],
)  # fmt: skip
def test_a_run_that_is_not_complete_says_what_to_do(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    errors: list[SpotOutcome],
    merge_error: InvalidFile | None,
    code: int,
    advice: str,
) -> None:
    failed = {each.spot: each for each in errors}
    ended = StudyRun(spots=6, done=4, solved=4, errors=failed, interrupted=False, seconds=1.0, merge_error=merge_error)
    monkeypatch.setattr("regretless.cluster.run.run_study", lambda *arguments, **options: ended)
    (tmp_path / "study.toml").write_text(study_text())
    result = run("study", "run", "study.toml", "--out", "study")
    assert result.code == code
    assert result.err.splitlines()[-2:] == [advice, "  regretless study run study.toml --out study"]
    assert result.err.count("error: ") == len(errors) + (merge_error is not None)


@pytest.mark.parametrize(
    ("library", "words", "extra"),
    [
        ("pyarrow", ["study", "run", "study.toml", "--out", "x"], "report"),
        ("duckdb", ["study", "report", "FOLDER"], "report"),
        ("ray", ["study", "run", "study.toml", "--out", "x", "--ray", "auto"], "cluster"),
    ],
)
def test_a_missing_extra_is_one_line(tmp_path: Path, folder: Path, library: str, words: list[str], extra: str) -> None:
    (tmp_path / "study.toml").write_text(TEXT)
    given = [str(folder) if word == "FOLDER" else word for word in words]
    code = MISSING.format(library=library, words=given)
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr == f"error: {library} is not installed: {install_command(extra)}\n"

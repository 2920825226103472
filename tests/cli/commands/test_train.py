"""`regretless train`: every option honoured, which shows in the answer, or refused by name; files, Ctrl-C, resume."""

from __future__ import annotations

import csv
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import regretless as rl
from regretless.cli.commands.train import train as command
from regretless.cli.terminal import progress as bars
from regretless.deep.trained_policy import TrainedPolicy
from regretless.engines.devices import available_cores
from regretless.solving.forecast import Outlook
from regretless.solving.loop import Progress

SOURCE = str(Path(__file__).parents[3] / "src")
Answer = dict[str, Any]
QUICK: dict[str, Any] = {"iterations": 3, "traversals": 20, "value_steps": 2, "policy_steps": 2, "width": 4}


def words(options: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for name, value in options.items():
        found += [f"--{name.strip('_').replace('_', '-')}", *([] if value is True else [str(value)])]
    return found


def differs(*keys: str) -> Callable[[Answer, Answer], bool]:
    return lambda answer, without: all(answer[key] != without[key] for key in keys)


def sets(name: str, value: Any) -> Callable[[Answer, Answer], bool]:
    return lambda answer, without: answer["settings"][name] == value != without["settings"][name]


def wrote(name: str) -> Callable[[Answer, Answer], bool]:
    return lambda answer, without: any(each.startswith(name) for each in answer["files"])


@dataclass(frozen=True)
class Row:
    """An option with a value: how it shows in the answer, or None if it is refused."""

    option: str
    value: Any
    shows: Callable[[Answer, Answer], bool] | None
    also: dict[str, Any] = field(default_factory=dict)
    resumed: bool = False  # whether a resume may have it

    def __str__(self) -> str:
        return f"{self.option}={self.value}"


OUT = {"out": "out.rgl"}
ROWS = [
    Row("preset", "fhp", sets("batch", 10_000), also={"advantage_capacity": 1000, "strategy_capacity": 1000}),
    Row("preset", "huge", None),
    Row("algorithm", "single", differs("variant")),
    Row("algorithm", "double", None),
    Row("iterations", 5, lambda answer, without: answer["iterations"] == 5, resumed=True),
    Row("iterations", 0, None),
    Row("target", 50.0, lambda answer, without: answer["iterations"] == 1),
    Row("target", -1.0, None),
    Row("traversals", 30, differs("samples")),
    Row("traversals", 0, None),
    Row("seed", 5, differs("exploitability")),
    Row("seed", "x", None),
    Row("measure_every", 2, lambda answer, without: [row[0] for row in answer["history"]] == [2, 3]),
    Row("measure_every", 0, None),
    Row("width", 5, sets("width", 5)),
    Row("width", -5, None),
    Row("value_steps", 3, sets("value_steps", 3)),
    Row("policy_steps", 3, sets("policy_steps", 3)),
    Row("batch", 100, sets("batch", 100)),
    Row("learning_rate", 0.01, sets("learning_rate", 0.01)),
    Row("learning_rate", "nan", None),
    Row("advantage_capacity", 10, lambda answer, without: answer["memory_fill"]["advantages"] == [1.0, 1.0]),
    Row("strategy_capacity", 10, lambda answer, without: answer["memory_fill"]["strategy"] == 1.0),
    Row("set_", "weighting=uniform", sets("weighting", "uniform")),
    Row("set_", "from_scratch=false", sets("from_scratch", False)),
    Row("set_", "gradient-clip=2.5", sets("gradient_clip", 2.5)),
    Row("set_", "no_such=1", None),
    Row("set_", "seed=3", None),  # an option, not a setting
    Row("set_", "resume=x", None),
    Row("set_", "weighting", None),
    Row("set_", "width=9", None),  # given by --width as well
    Row("device", "cpu", lambda answer, without: answer["device"] == "cpu", resumed=True),
    Row("device", "tpu", None),
    Row("threads", 2, lambda answer, without: answer["threads"] == min(2, available_cores()), resumed=True),
    Row("threads", 0, None),
    Row("strategy", True, lambda answer, without: len(answer["strategy"]) == 12, resumed=True),
    Row("out", "out.rgl", wrote("out.rgl"), resumed=True),
    Row("out", "kuhn.toml", None),
    Row("keep_memories", True, lambda answer, without: answer["files"]["out.rgl"] > 4000, also=OUT),
    Row("keep_memories", True, None),  # without a file
    Row("save_every", 1e-9, wrote("out.rgl"), also=OUT),
    Row("save_every", 5.0, None),
    Row("tensorboard", "runs", wrote("runs"), resumed=True),
    Row("plot", "plot.svg", wrote("plot.svg"), resumed=True),
    Row("plot", "plot.txt", None),
]


def test_every_option_has_a_row() -> None:
    assert {row.option for row in ROWS} == set(inspect.signature(command).parameters) - {
        "context",
        "game",
        "json_",
        "resume",
    }


@pytest.fixture(scope="module")
def plain() -> Answer:
    return rl.train("kuhn", **QUICK).as_json()


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_an_option_is_honoured_or_refused(row: Row, run, plain: Answer, tmp_path: Path) -> None:
    quick = {**QUICK, **row.also}
    quick = {name: value for name, value in quick.items() if name != row.option}
    result = run("train", "kuhn", *words(quick), *words({row.option: row.value}), "--json")
    if row.shows is None:
        assert result.code in (1, 2), result
        assert result.out == ""
        assert re.match(rf"error: .*({row.option.strip('_').replace('_', '-')}|{row.value})", result.err), result.err
        assert list(tmp_path.iterdir()) == []
        return
    assert result.code == 0, result.err
    files = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert row.shows(result.json | {"files": files}, plain), result.json


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file = tmp_path_factory.mktemp("stopped") / "stopped.rgl"
    done = [0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("regretless.solving.loop.PIECE_SECONDS", 0.0)
        rl.train(
            "kuhn",
            checkpoint=file,
            report=lambda progress: done.append(progress.iteration),
            interrupted=lambda: done[-1] >= 1,
            **QUICK,
        )
    return file.read_bytes()


RESUMABLE = [row for row in ROWS if row.resumed]
FIXED = [Row("algorithm", "single", None), Row("seed", 5, None), Row("width", 5, None), Row("preset", "small", None)]


@pytest.mark.parametrize("row", [*RESUMABLE, *FIXED], ids=str)
def test_a_resume_keeps_its_settings(row: Row, run, plain: Answer, interrupted: bytes, tmp_path: Path) -> None:
    (tmp_path / "stopped.rgl").write_bytes(interrupted)
    result = run("train", "--resume", "stopped.rgl", *words({row.option: row.value}), "--json")
    if row.shows is None:
        assert (result.code, result.out) == (1, "")
        assert result.err.startswith(f"error: {row.option}: ")
        assert (tmp_path / "stopped.rgl").read_bytes() == interrupted
        return
    assert result.code == 0, result.err
    files = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert row.shows(result.json | {"files": files}, plain)
    if row.option not in ("iterations", "threads"):
        assert result.json["exploitability"] == plain["exploitability"]


def test_the_answer_has_the_keys_of_a_solve_and_more(run, plain: Answer) -> None:
    result = run("train", "kuhn", *words(QUICK), "--json")
    solved = run("solve", "kuhn", "--iterations", "5", "--json").json
    assert list(result.json)[: len(solved)] == list(solved)
    assert list(result.json)[len(solved) :] == ["settings", "samples", "memory_fill", "value_losses"]
    assert result.json["exploitability"] == plain["exploitability"]


# --- a trained policy wherever a solution is taken -------------------------------------------------------------------


@pytest.fixture
def file(run, tmp_path: Path) -> Path:
    assert run("train", "kuhn", *words(QUICK), "--out", "trained.rgl", "--json").code == 0
    return tmp_path / "trained.rgl"


def test_show_and_verify_read_it(run, file: Path) -> None:
    shown = run("show", "trained.rgl")
    assert shown.code == 0
    assert "kuhn deep-cfr, external sampling · 3 iterations · torch on cpu" in shown.out
    assert re.search(r"^samples +[\d,]+ drawn; memories .* full *$", shown.out, re.MULTILINE)
    answer = run("show", "trained.rgl", "--json", "--strategy").json
    assert len(answer["strategy"]) == 12
    assert run("verify", "trained.rgl", "--json").json["agrees"]


def test_compare_and_plot_take_it_beside_a_solution(run, file: Path, tmp_path: Path) -> None:
    rl.solve("kuhn", iterations=100).save(tmp_path / "solved.rgl")
    compared = run("compare", "trained.rgl", "solved.rgl", "--json")
    assert compared.json["shared"] == 12
    assert run("plot", "trained.rgl", "solved.rgl", "--out", "both.svg").code == 0
    assert (tmp_path / "both.svg").stat().st_size > 1000


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_export_writes_every_information_set(run, file: Path, tmp_path: Path, kind: str) -> None:
    assert run("export", "trained.rgl", "--out", f"table.{kind}").code == 0
    strategy = rl.load(file).strategy  # type: ignore[attr-defined]
    table = tmp_path / f"table.{kind}"
    if kind == "json":
        assert json.loads(table.read_text()) == {key: dict(played) for key, played in strategy.items()}
        return
    if kind == "csv":
        rows: list[Any] = list(csv.DictReader(table.open(newline="")))
    else:
        rows = pytest.importorskip("pyarrow.parquet").read_table(table).to_pylist()
    assert len(rows) == 24
    for row in rows:
        assert float(row["probability"]) == strategy[row["information_set"]][row["action"]]


def test_export_refuses_what_is_for_spots(run, file: Path) -> None:
    for given in (["--all"], ["--street", "flop"], ["--hands", "AA"], ["--line", "check"]):
        result = run("export", "trained.rgl", *given)
        assert result.code == 1
        assert result.err.startswith(f"error: {given[0].removeprefix('--')}: ")
        assert "does not apply to a game" in result.err


def test_the_page_lists_and_reads_it(file: Path) -> None:
    pytest.importorskip("starlette")
    from regretless.page.games import game_json
    from regretless.page.library import Library

    library = Library(file.parent)
    (found,), more = library.files()
    assert (found.file, found.kind, found.iterations, found.resumable, more) == ("trained.rgl", "game", 3, False, False)
    with library.game("trained.rgl") as (solution, _):
        assert game_json(solution, find="", offset=0, limit=5)["found"] == 12


def test_solve_does_not_resume_it(run, file: Path) -> None:
    result = run("solve", "--resume", "trained.rgl", "--iterations", "9")
    assert (result.code, result.err) == (1, "error: resume: 'trained.rgl' is resumed by regretless train\n")
    result = run("train", "--resume", "trained.rgl", "--iterations", "9")
    assert result.code == 1
    assert result.err.startswith("error: resume: 'trained.rgl' is a policy without its memories, which a resume needs")


def test_what_is_not_a_game_is_refused(run) -> None:
    assert run("train").code == 2
    for given in ("spot.toml", "leduc.rgl"):
        result = run("train", given)
        assert result.err == f"error: GAME: '{given}' is not the name of a game: regretless games lists them\n"
    assert run("train", "leduk").err.startswith("error: game: 'leduk': not a game of this package; did you mean leduc?")


# --- progress and Ctrl-C ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (120, "30 of 400 iterations · exploitability 0.0123 · loss 0.5 · memory 3% · 2.0 s · 1 min left"),
        (80, "30/400 · exploitability 0.0123 · loss 0.5 · 1 min left"),
        (60, "30 of 400 iterations · 1 min left"),
    ],
)
def test_the_bar_shows_loss_and_memory_where_there_is_room(columns: int, said: str) -> None:
    texts = bars._texts(Progress(30, 400, 2.0, 0.0123), Outlook(0.1, 60.0), None, "", ("loss 0.5", "memory 3%"))
    room = columns - len("leduc") - bars.BAR - len(" 100 % ") - 4
    assert next(text for text in texts if len(text) <= room) == said


def test_a_log_gets_a_line_for_each_measurement(run) -> None:
    lines = run("train", "kuhn", *words(QUICK)).err.splitlines()
    assert [re.sub(r"[\d.e-]+ m?s|[\d.]+%|\d\.\d+", "#", line)[:60] for line in lines if line.startswith("kuhn: ")] == [
        f"kuhn: {iteration} of 3 iterations · exploitability # · loss # · memory" for iteration in (1, 2, 3)
    ]


def test_ctrl_c_saves_what_was_trained_and_the_resumed_training_is_the_same(tmp_path: Path) -> None:
    """It would take hours, so that it cannot end before the signal reaches it, however late that is."""
    options = {**QUICK, "iterations": 1_000_000, "measure_every": 1, "seed": 2}
    process = subprocess.Popen(
        [sys.executable, "-m", "regretless", "train", "kuhn", *words(options), "--json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": SOURCE},
        stdout=subprocess.PIPE,
        stderr=(tmp_path / "log").open("wb"),
    )
    try:
        deadline = time.monotonic() + 600
        while "iterations" not in (tmp_path / "log").read_text():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=600)
    finally:
        process.kill()
    log = (tmp_path / "log").read_text()
    assert process.returncode == 130, log
    assert "regretless train --resume kuhn.rgl" in log
    done = json.loads(out)["iterations"]
    assert done > 0
    resumed = rl.train(resume=tmp_path / "kuhn.rgl", iterations=done + 2)
    assert isinstance(resumed, TrainedPolicy)
    assert resumed.iterations == done + 2
    assert resumed.strategy == rl.train("kuhn", **options | {"iterations": done + 2}).strategy

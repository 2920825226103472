"""The command on hold'em spots."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest
from tests.cli.spot_texts import RIVER

from regretless.holdem import fitting
from regretless.holdem.spots.spot import Spot
from regretless.solving import interrupt

TURN = RIVER.replace("2c 3d", "2c")


@pytest.fixture
def spot(tmp_path: Path) -> str:
    (tmp_path / "river.toml").write_text(RIVER, encoding="utf-8")
    (tmp_path / "turn.toml").write_text(TURN.replace("50%, 100%", "75%"), encoding="utf-8")
    return "river.toml"


def test_solve_prints_one_object(run, spot: str) -> None:
    result = run("solve", spot, "--target", "0.1", "--json", "--strategy", "--threads", "1")
    assert result.code == 0, result.err
    answer = result.json
    assert answer["exploitability_pct_pot"] <= 0.1
    assert answer["pot"] == 100
    assert sum(answer["ev"].values()) == pytest.approx(100, abs=1e-3)
    assert sum(answer["equity"].values()) == pytest.approx(1)
    assert answer["root"]["player"] == "oop"
    assert sum(answer["root"]["frequencies"]) == pytest.approx(1)
    assert set(answer["root"]["hands"]["oop"]["AsKc"]["strategy"]) == set(answer["root"]["actions"])


def test_a_missed_target_is_shown_in_percent_of_the_pot(run, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(RIVER.replace("pot = 100", "pot = 20"), encoding="utf-8")
    missed = run("solve", "small.toml", "--target", "0.001", "--iterations", "3").out
    assert "the target of 0.001 % was not reached" in missed
    assert "was not reached" not in run("solve", "small.toml", "--target", "5").out


def test_16_bits_find_the_same_answer_in_less_memory(run, spot: str) -> None:
    full, half = (run("solve", spot, "--target", "0.05", "--json", "--storage", bits).json for bits in ("32", "16"))
    assert half["memory_bytes"] < full["memory_bytes"]
    assert half["ev"]["oop"] == pytest.approx(full["ev"]["oop"], abs=0.01)


def test_a_resume_keeps_bits_and_regrets(run, spot: str, tmp_path: Path) -> None:
    run("solve", spot, "--iterations", "20", "--storage", "16", "--keep-regrets", "--out", "half.rgl")
    other = run("solve", "--resume", "half.rgl", "--iterations", "30", "--storage", "32")
    assert (other.code, other.err.count("\n")) == (1, 1)
    assert "storage: 32 cannot resume half.rgl, which was started with 16" in other.err
    for iterations in ("30", "40"):  # the second resumes from what the first saved
        assert run("solve", "--resume", "half.rgl", "--iterations", iterations, "--json").json["iterations"] == int(
            iterations
        )


def test_a_line_that_is_never_taken(run, spot: str, tmp_path: Path) -> None:
    text = (tmp_path / spot).read_text(encoding="utf-8")
    locked = text + '\n[[locks]]\nnode = ""\nstrategy = { check = 1 }\n'
    (tmp_path / "locked.toml").write_text(locked, encoding="utf-8")
    assert run("solve", "locked.toml", "--iterations", "20", "--out", "locked.rgl").code == 0
    shown = run("show", "locked.rgl", "--node", "bet 50")
    assert shown.code == 0, shown.err
    assert "never reached" in shown.out
    assert "nan" not in shown.out.lower()
    answer = run("show", "locked.rgl", "--node", "bet 50", "--json")
    assert "NaN" not in answer.out
    assert answer.json["node"]["ev"]["oop"] is None


def test_solve_show_and_export(run, spot: str, tmp_path: Path) -> None:
    result = run("solve", "turn.toml", "--target", "1", "--out", "turn.rgl")
    assert result.code == 0, result.err
    assert "exploitability" in result.out
    assert "AKs" in result.out
    result = run("show", "turn.rgl", "--node", "check, bet 75", "--hands")
    assert result.code == 0, result.err
    assert "after check, bet 75" in result.out
    assert "EQR" in result.out
    before = (tmp_path / "turn.rgl").read_bytes()
    assert "svg: 'turn.rgl' must end in .svg" in run("show", "turn.rgl", "--svg", "turn.rgl").err
    assert (tmp_path / "turn.rgl").read_bytes() == before
    assert run("show", "turn.rgl", "--svg", "turn.svg").code == 0
    drawn = (tmp_path / "turn.svg").read_text()
    assert "AKs" in drawn
    assert "url(" not in drawn.replace("url(#", "")
    shown = run("show", "turn.rgl", "--node", "check", "--json", "--hands").json
    assert shown["node"]["player"] == "ip"
    assert len(shown["node"]["hands"]["ip"]) > 20
    report = run("show", "turn.rgl", "--node", "check, check", "--runouts", "--json").json
    assert len(report["runouts"]) == 48
    assert "equity oop" in run("show", "turn.rgl", "--node", "check, check", "--runouts").out
    rows = list(csv.DictReader(io.StringIO(run("export", "turn.rgl", "--node", "check").out)))
    assert float(rows[-1]["check"]) + float(rows[-1]["bet 75"]) + float(
        rows[-1].get("all-in 200") or 0
    ) == pytest.approx(1)
    assert run("export", "turn.rgl", "--street", "turn", "--out", "turn.json").code == 0
    nodes = json.loads((tmp_path / "turn.json").read_text())["nodes"]
    assert {len(node["board"].split()) for node in nodes} == {4}
    assert run("export", "turn.rgl", "--all", "--out", "turn.parquet").code == 0
    from pyarrow import parquet

    table = parquet.read_table(tmp_path / "turn.parquet")
    assert table.num_rows > 1000
    assert "frequency" in table.column_names


def test_the_tree(run, spot: str) -> None:
    result = run("show", spot, "--tree")
    assert result.code == 0
    assert "raise 38% (125)" in result.out
    assert run("show", spot, "--tree", "--json").json["actions"]["check"]["player"] == "ip"
    assert run("show", spot).code == 1


def test_estimate(run, spot: str) -> None:
    assert "memory, 16 bits" in run("estimate", spot).out
    answer = run("estimate", spot, "--json").json
    assert set(answer["memory_bytes"]) == {"32", "16"}
    assert len(run("estimate", spot, "turn.toml", "--json").json["spots"]) == 2


def test_warnings_name_the_file_and_are_printed_once(run, tmp_path: Path) -> None:
    odd = RIVER.replace("pot = 100", "pot = 5.5").replace("50%, 100%", "33%").replace("99-77", "99-77, KsQs:0.5")
    for name in ("a.toml", "b.toml"):
        (tmp_path / name).write_text(odd.replace("raise =", "#"), encoding="utf-8")
    expected = [
        f"warning: {name}: {said}"
        for name in ("a.toml", "b.toml")
        for said in (
            "oop.range: several terms give KsQs different weights; the later term wins",
            "rules.chip: a bet of 33% is 1.815 and becomes 2 (36.4% of the pot) in chips of 1; set chip = 0.01",
        )
    ]
    assert run("estimate", "a.toml", "b.toml", "--json").err.splitlines() == expected
    solved = run("solve", "a.toml", "--iterations", "3", "--json", "--out", "a.rgl", "--threads", "1")
    assert solved.code == 0
    assert [line for line in solved.err.splitlines() if "warning" in line] == expected[:2]
    assert "warning" not in run("show", "a.rgl").err


def test_many_spots(run, spot: str, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    result = run("solve", "*.toml", "--target", "2", "--json", "--out", "out")
    assert result.code == 0, result.err
    assert [each["game"] for each in result.json["spots"]] == ["river", "turn"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["river.rgl", "turn.rgl"]
    assert "first actions" in run("solve", "river.toml", "turn.toml", "--target", "5").out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["solve", "none.toml"], "none.toml: does not exist"),
        (["solve", "no*.toml"], "no*.toml: matches no file"),
        (["solve", "no*.tml"], "no*.tml: matches no file"),
        (["solve", "river.toml", "--target", "0"], "target: "),
        (["solve", "river.toml", "--engine", "matrix"], "engine: "),
        (["solve", "river.toml", "--device", "cuda"], "device: "),
        (["solve", "river.toml", "--storage", "8"], "storage: "),
        (["solve", "river.toml", "turn.toml", "--out", "file.rgl"], "file.rgl: is not a folder"),
        (["solve", "bad.toml"], "bets.bet: '50y' at position 1"),
        (["export", "river.toml"], "river.toml: is not solved"),
        (["solve", "--resume", "none.rgl"], "none.rgl: does not exist"),
    ],
)
def test_a_wrong_request_gives_one_sentence(line: list[str], words: str, run, spot: str, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text(RIVER.replace("50%, 100%", "50y"), encoding="utf-8")
    result = run(*line)
    assert result.code == 1
    assert result.out == ""
    assert words in result.err
    assert result.err.count("\n") == 1


def test_a_spot_that_does_not_fit_gives_exit_code_three(run, spot: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "available_bytes", lambda: 1000)
    result = run("solve", spot)
    assert result.code == 3
    assert "of memory, but only" in result.err


def test_a_killed_solve_resumes_from_its_last_checkpoint(tmp_path: Path, spot: str, run) -> None:
    process = start(tmp_path, "turn.toml", "--iterations", "1000000", "--out", "turn.rgl", "--save-every", "0.05")
    seen: set[int] = set()
    while len(seen) < 3:  # checkpoints
        assert process.poll() is None
        time.sleep(0.01)
        with suppress(FileNotFoundError):
            seen.add((tmp_path / "turn.rgl").stat().st_mtime_ns)
    process.kill()
    process.communicate()
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".rgl" and path.name != "turn.rgl"]
    done = run("solve", "--resume", "turn.rgl", "--target", "2", "--json")
    assert done.code == 0, done.err
    assert done.json["exploitability_pct_pot"] <= 2


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "import sys; from regretless.cli import main; sys.exit(main())", "solve"]
    source = str(Path(__file__).parent.parent.parent / "src")
    return subprocess.Popen(
        [*command, *arguments, "--threads", "1"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": source, "FORCE_COLOR": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_an_iteration(process: subprocess.Popen[str]) -> None:
    """Wait until the bar on stderr counts iterations: from then on there is something to save."""
    assert process.stderr is not None
    said = b""
    while b" iterations" not in said:
        piece = os.read(process.stderr.fileno(), 4096)
        assert piece, said  # it has ended
        said += piece


def test_a_signal_saves_and_the_printed_command_resumes(tmp_path: Path, spot: str, run) -> None:
    process = start(tmp_path, "turn.toml", "--iterations", "1000000")
    wait_for_an_iteration(process)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 130, err
    assert "regretless solve --resume turn.rgl" in err
    done = run("solve", "--resume", "turn.rgl", "--target", "2", "--json")
    assert done.code == 0, done.err
    assert done.json["exploitability_pct_pot"] <= 2
    assert Spot.read(tmp_path / "turn.toml").name == "turn"


FULL = "cannot be written: file too large"
SHORT = ["--iterations", "30", "--threads", "1", "--json"]


def test_a_disk_that_is_full_at_the_end(run, spot: str, tmp_path: Path, room_for) -> None:
    """The answer is printed, the previous file is kept, and one sentence says why."""
    run("solve", "turn.toml", "--iterations", "5", "--out", "turn.rgl", "--threads", "1")
    before = (tmp_path / "turn.rgl").read_bytes()
    with room_for(20_000):
        result = run("solve", "turn.toml", "--out", "turn.rgl", *SHORT)
    assert result.code == 1
    assert result.json["iterations"] == 30
    assert result.err == f"error: turn.rgl: {FULL}\n"
    assert (tmp_path / "turn.rgl").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"river.toml", "turn.toml", "turn.rgl"}


def test_a_checkpoint_on_a_full_disk_does_not_end_the_solve(run, spot: str, tmp_path: Path, room_for) -> None:
    run("solve", "turn.toml", "--out", "turn.rgl", *SHORT)
    size = (tmp_path / "turn.rgl").stat().st_size
    (tmp_path / "turn.rgl").unlink()
    with room_for(size + 1000):  # a checkpoint takes more than a solution
        result = run("solve", "turn.toml", "--out", "turn.rgl", "--save-every", "1e-9", *SHORT)
    assert result.code == 0
    assert result.err == f"turn.rgl: {FULL}; the solve continues\nsaved turn.rgl\n"
    assert run("show", "turn.rgl", "--json").json["iterations"] == 30


def test_an_interrupted_solve_on_a_full_disk(
    run, spot: str, tmp_path: Path, room_for, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interrupt, "catch_interrupts", lambda: nullcontext(lambda: True))
    with room_for(1000):
        result = run("solve", "turn.toml", *SHORT)
    assert result.code == 1
    assert result.json["iterations"] < 30
    assert result.err == f"error: turn.rgl: {FULL}\n"
    assert {path.name for path in tmp_path.iterdir()} == {"river.toml", "turn.toml"}


def test_a_batch_of_which_one_spot_does_not_fit_on_disk(run, spot: str, tmp_path: Path, room_for) -> None:
    (tmp_path / "solved").mkdir()
    with room_for(60_000):
        result = run("solve", "*.toml", "--out", "solved", *SHORT)
    assert result.code == 1
    assert [answer["iterations"] for answer in result.json["spots"]] == [30, 30]
    assert result.err.endswith(f"error: solved/turn.rgl: {FULL}\n")
    assert [path.name for path in (tmp_path / "solved").iterdir()] == ["river.rgl"]


@pytest.mark.parametrize("spots", [["river.toml"], ["river.toml", "turn.toml"]], ids=["one", "many"])
def test_a_read_only_folder_is_noticed_before_the_solve(
    spots: list[str], run, spot: str, read_only_folder: Path
) -> None:
    out = read_only_folder / "river.rgl" if len(spots) == 1 else read_only_folder
    result = run("solve", *spots, "--out", str(out))
    assert (result.code, result.out) == (1, "")
    assert result.err == f"error: {read_only_folder}/river.rgl: cannot be written: permission denied\n"


def test_no_number_is_printed_with_the_rounding_of_binary_arithmetic(run, tmp_path: Path) -> None:
    """0.3 % of a pot of 5.5, in chips and back, is 0.30000000000000004 %; a third of it is 1.8333333333333333."""
    text = RIVER.replace("pot = 100", "pot = 5.5").replace("stack = 200", "stack = 10.3")
    bets = '[bets]\nbet = "33.3%, 66.7%"\nraise = "2.9x"\n[rules]\nchip = 0.01\n'
    (tmp_path / "river.toml").write_text(text[: text.index("[bets]")] + bets, encoding="utf-8")
    commands = [
        ("estimate", "river.toml"),
        ("solve", "river.toml", "--target", "0.3", "--iterations", "3", "--out", "river.rgl"),
        ("show", "river.rgl", "--hands", "AK"),
        ("show", "river.toml", "--tree"),
        ("compare", "river.rgl", "river.rgl"),
        ("compare", "river.rgl", "river.rgl", "--line", "check"),
        ("verify", "river.rgl"),
        ("export", "river.rgl", "--ranges", "gto+"),
    ]
    for command in commands:
        result = run(*command)
        assert result.code == 0, result.err
        assert re.findall(r"\d\.\d{6,}", result.out + result.err) == [], command
        if command[0] == "solve":
            assert "the target of 0.3 % was not reached" in result.out

"""Wrong input gives one sentence on stderr and the right exit code; stdout stays empty."""

from __future__ import annotations

import errno
import importlib
import os
from pathlib import Path

import pytest

from regretless.engines import memory
from regretless.engines.numba.buckets import engine as bucketed
from regretless.errors import WouldNotFit

SOLVING = importlib.import_module("regretless.solving.game_problem")

WRONG = [
    (["solve", "kuhhn"], "did you mean kuhn?"),
    (["solve", "kuhn(cards=4)"], "kuhn has no parameter cards (its parameters: players)"),
    (["solve", "leduc(ranks=6"], "game: "),
    (["solve", "kuhn", "--variant", "cfrr"], "variant: 'cfrr' is not one of vanilla, plus"),
    (["solve", "kuhn", "--engine", "abacus"], "engine: 'abacus' is not one of auto, numba"),
    (["solve", "kuhn", "--device", "tpu"], "device: 'tpu' is not one of auto, cpu, cuda, mps"),
    (["solve", "kuhn", "--engine", "reference", "--device", "cuda"], "which runs on cpu"),
    (["solve", "kuhn", "--iterations", "-5"], "iterations: -5 must be at least 1"),
    (["solve", "kuhn", "--iterations", "0"], "iterations: 0 must be at least 1"),
    (["solve", "kuhn", "--target", "-1"], "target: -1.0 must be above 0"),
    (["solve", "kuhn", "--target", "nan"], "target: nan must be above 0"),
    (["solve", "kuhn", "--measure-every", "0"], "measure-every: 0 must be at least 1"),
    (["solve", "kuhn", "--threads", "0"], "threads: 0 must be at least 1"),
    (["solve", "kuhn", "--sampling", "most"], "sampling: 'most' is not one of full, chance"),
    (["solve", "kuhn", "--updates", "both"], "updates: 'both' is not one of alternating"),
    (["solve", "kuhn", "--batch-size", "8"], "choose a sampling other than full"),
    (["solve", "kuhn", "--variant", "lp", "--engine", "numpy"], "engine: 'numpy' cannot be combined with variant lp"),
    (["solve", "kuhn", "--variant", "lp", "--device", "cuda"], "device: 'cuda' cannot be combined with variant lp"),
    (
        ["solve", "kuhn", "--variant", "lp", "--sampling", "chance"],
        "sampling: 'chance' cannot be combined with variant lp",
    ),
    (["solve", "kuhn", "--out", "no/such/folder.rgl"], "the folder no/such does not exist"),
    (["solve", "kuhn", "--out", "."], "it is a folder"),
    (["solve", "kuhn", "--plot", "kuhn.gif"], "must end in one of .png"),
    (["solve", "kuhn", "--plot", "no/kuhn.png"], "the folder no does not exist"),
    (["solve", "none.efg"], "none.efg: does not exist"),
    (["solve", "none.toml"], "none.toml: does not exist"),
    (["solve", "text.rgl"], "'text.rgl' is a saved solution: use regretless show text.rgl"),
    (["solve", "none.rgl"], "none.rgl: does not exist"),
    (["estimate", "none.rgl"], "none.rgl: does not exist"),
    (["estimate", "text.rgl"], "'text.rgl' is a saved solution: regretless show text.rgl says what it took"),
    (["solve", "none.toml", "kuhn"], "kuhn: is not the file of a spot; a game is given by itself"),
    (["solve", "--resume", "none.rgl"], "none.rgl: does not exist"),
    (["solve", "--resume", "text.rgl"], "text.rgl: is not a Regretless file"),
    (["solve", "--resume", "."], ".: is a folder, not a file"),
    (["show", "none.rgl"], "does not exist"),
    (["show", "text.rgl"], "is not a Regretless file"),
    (["plot", "text.rgl"], "is not a Regretless file"),
    (["plot", "kuhn", "--variants", "plus,minus"], "variants: 'minus' is not one of"),
    (["plot", "kuhn", "--variants", "mccfr"], "variants: 'mccfr' samples the tree: --sampling external does that"),
    (["plot", "kuhn", "--variants", "discounted(gamma=-1)"], "'discounted(gamma=-1)' gamma: -1.0 must be at least 0"),
    (["solve", "kuhn", "--gamma", "2"], "needs a variant with this parameter: add --variant"),
    (["solve", "kuhn", "--variant", "lp", "--gamma", "2"], "variant: 'lp' has no parameter gamma"),
    (["plot", "kuhn", "--variants", ","], "must name at least one"),
    (["plot", "kuhn", "--out", "kuhn"], "must end in one of .png"),
    (["plot", "kuhhn"], "did you mean kuhn?"),
    (["range", "AKx"], "range: 'AKx' at position 3: 'x' is neither s, o nor a suit"),
    (["range", "22+,", "ZZ"], "at position 6: 'Z' is not a rank"),
    (["range", "AA, 50%"], "at position 5: '50%' does not say which hands; the only percentage allowed is 100%"),
    (["range", "AhAh"], "Ah appears twice"),
    (["range", "AA:2"], "a weight is a number from 0 to 1"),
    (["range", "AKd"], "at position 3: 'd' is the suit of K, but A has none"),
    (["range", "AA", "--format", "pio"], "format: 'pio' is not one of short, gto+, weights"),
    (["equity", "AK", "Qy"], "second range: 'Qy' at position 2"),
    (["equity", "AhKh", "QQ", "--board", "Qs Jh Qs"], "board: 'Qs Jh Qs' at position 7: Qs appears twice"),
    (["equity", "AhKh", "QQ", "--board", "Qs Jx 2h"], "'x' is not a suit"),
    (["equity", "AhKh", "QQ", "--board", "Qs 10h 2h"], "'1' is not a rank (23456789TJQKA); ten is T"),
    (["equity", "AA", "KK", "--seed", "3"], "seed: 3 is for sampled deals: add --samples"),
    (["train-kuhn", "--information-sets", "J"], "selects what to plot: add --plot or --show"),
    (["equity", "AhKh", "QQ", "--board", "Qs Jh"], "board: 'Qs Jh' must be 0, 3, 4 or 5 different cards"),
    (["equity", "AhKh", "QQ", "--board", "Ah Jh 2c"], "is entirely blocked by the board"),
    (["equity", "AhKh", "AhQh"], "always shares a card"),
    (["equity", "AA", "KK", "--samples", "0"], "samples: 0 must be at least 2"),
    (["train-kuhn", "--iterations", "-1"], "iterations: -1 must be at least 1"),
    (["train-kuhn", "--information-sets", "9:"], "'9:' is not an information set"),
]


@pytest.mark.parametrize(("line", "words"), WRONG, ids=[" ".join(line) for line, _ in WRONG])
def test_a_wrong_request_gives_one_sentence(line: list[str], words: str, run, tmp_path: Path) -> None:
    (tmp_path / "text.rgl").write_text("this is a note, not a solution")
    for more in ([], ["--json"]) if line[0] != "plot" else ([],):
        result = run(*line, *more)
        assert result.code == 1
        assert result.out == ""
        assert result.err.startswith("error: ")
        assert words in result.err
        assert result.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["text.rgl"]


@pytest.mark.parametrize("command", [["export"], ["play"], ["price"], ["verify"], ["compare", "spot.toml"]])
def test_a_spot_that_is_not_solved_is_told_from_a_foreign_file(command: list[str], run, tmp_path: Path) -> None:
    (tmp_path / "spot.toml").write_text('board = "Kh Qs Js 2c 3d"', encoding="utf-8")
    result = run(*command, "spot.toml")
    assert (result.code, result.out) == (1, "")
    assert result.err == "error: spot.toml: is not solved: regretless solve spot.toml --out spot.rgl\n"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["solve"], "give a game"),
        (["solve", "kuhn", "--iterations", "ten"], "error: iterations: 'ten' must be a whole number\n"),
        (["solve", "kuhn", "--iterations", "1e3"], "error: iterations: '1e3' must be a whole number\n"),
        (["solve", "kuhn", "--threads", "1.5"], "error: threads: '1.5' must be a whole number\n"),
        (["solve", "kuhn", "--target", "abc"], "error: target: 'abc' must be a number\n"),
        (["solve", "kuhn", "--save-every", ""], "error: save-every: '' must be a number\n"),
        (["train", "kuhn", "--width", "big"], "error: width: 'big' must be a whole number\n"),
        (["solve", "kuhn", "--no-such-option"], "--no-such-option"),
        (["solve", "kuhn", "leduc"], "leduc"),
        (["no-such-command"], "no-such-command"),
        (["equity", "AA"], "second"),
        (["plot"], "GAME"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_unparsable_command_line_is_a_usage_error(line: list[str], words: str, run) -> None:
    result = run(*line)
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith("error: ")
    assert words.lower() in result.err.lower()
    assert result.err.rstrip().endswith("--help")
    assert "Traceback" not in result.err


def test_a_number_too_long_to_read_is_quoted_in_part(run) -> None:
    result = run("solve", "kuhn", "--iterations", "9" * 5000)
    assert result.code == 2
    assert result.err.startswith(f"error: iterations: '{'9' * 59}... has too many digits\n")


def test_too_much_memory_is_exit_code_three(run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise WouldNotFit("leduc(ranks=13)", needed=10**12, available=10**9)

    monkeypatch.setattr(SOLVING, "compile_history", refuse)
    result = run("solve", "leduc(ranks=13)")
    assert result.code == 3
    assert result.err == "error: leduc(ranks=13) needs 1.0 TB of memory, but only 1.0 GB are free\n"


def test_a_game_from_the_deal_that_does_not_fit_says_which_option_helps(run, monkeypatch: pytest.MonkeyPatch) -> None:
    game = 'name = "short"\nstack = 6\nsmall_blind = 0.5\nbig_blind = 1\npreflop = { limp = false, open = "a" }\n'
    Path("short.toml").write_text(game, encoding="utf-8")
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**10)
    monkeypatch.setattr(
        bucketed, "kernels_are_compiled", lambda storage: True
    )  # otherwise a line says that they are not
    result = run("solve", "short.toml", "--sample-runouts", "64", "--threads", "1")
    assert result.code == 3
    assert result.err.count("\n") == 1
    assert result.err.startswith("error: short in the numba engine needs 12.6 MB of memory, but only 1.0 KB are free")
    assert result.err.endswith(": --sample-runouts can be set lower\n")


def test_an_unwritable_file_is_noticed_before_the_solve(run, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*arguments: object, **options: object) -> None:
        raise AssertionError("the solve began")

    monkeypatch.setattr("regretless.solving.solve.solve", never)
    for line in (["--out", "no/kuhn.rgl"], ["--plot", "no/kuhn.png"]):
        assert run("solve", "kuhn", *line).code == 1


def test_a_disk_that_fills_up_during_the_solve(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    result = run("solve", "kuhn", "--iterations", "5", "--out", "kuhn.rgl", "--json")
    assert result.code == 1
    assert result.json["iterations"] == 5
    assert result.err == "error: kuhn.rgl: cannot be written: no space left on device\n"
    assert list(tmp_path.iterdir()) == []


def test_a_resume_that_does_not_fit(run) -> None:
    run("solve", "kuhn", "--iterations", "20", "--out", "kuhn.rgl")
    for line, words in [
        (["leduc", "--resume", "kuhn.rgl", "--iterations", "50"], "belongs to a different tree from that of leduc"),
        (["--resume", "kuhn.rgl"], "is already reached: 20 iterations are done"),
        (["--resume", "kuhn.rgl", "--iterations", "5"], "is already reached"),
        (
            ["--resume", "kuhn.rgl", "--variant", "vanilla", "--iterations", "50"],
            "variant: 'vanilla' cannot resume kuhn.rgl, which was started with 'plus'",
        ),
    ]:
        result = run("solve", *line)
        assert result.code == 1
        assert words in result.err
    run("solve", "kuhn", "--variant", "lp", "--out", "exact.rgl")
    assert "there is nothing to resume" in run("solve", "--resume", "exact.rgl").err


def test_text_that_looks_like_markup_is_printed_literally(run) -> None:
    assert "'[bold]x[/bold]'" in run("solve", "kuhn", "--variant", "[bold]x[/bold]").err

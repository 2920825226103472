"""`regretless play`: hands from piped input, a score that adds up, and one sentence for what cannot be read."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Result, Run
from tests.holdem.games.test_head_to_head import FLOP, on_flops
from tests.holdem.quick_tables import SPEC, fake_tables

import regretless as rl
from regretless.cli import main
from regretless.holdem.games import whole_game as problem
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.spots.spot import Spot

GAME = {
    "stack": 20,
    "small_blind": 1,
    "big_blind": 2,
    "preflop": {"limp": False, "open": "2x, a", "3bet": "a"},
    "rules": {"add_allin": 0},
    "name": "small",
}
SPOT = {
    "board": "Kh Qs Js 2c",
    "pot": 100,
    "stack": 200,
    "oop": {"range": "AK, KQs, QJs, T9s, 99-77, 22"},
    "ip": {"range": "AA-QQ, AK, KQ, JTs, T9s, 55"},
    "bets": {"bet": "75%"},
}

TYPED = "3\n2\n1\n" * 40  # all-in where it is the third action, else call or raise, else the only one

Play = Callable[..., Result]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("solved")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(problem, "build_buckets", fake_tables)
        game = HoldemGame.from_mapping(GAME)
        rl.solve(game, buckets=SPEC, iterations=10, sample_runouts=4, threads=1).save(folder / "game.rgl")
    rl.solve(Spot.from_mapping(SPOT), iterations=20, threads=1).save(folder / "spot.rgl")
    rl.solve("kuhn", iterations=5).save(folder / "kuhn.rgl")
    on_flops(FLOP, 2).save(folder / "flops.rgl")
    return folder


@pytest.fixture
def play(run: Run, files: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    def play(file: str, *options: str, typed: str) -> Result:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        return run("play", str(files / file), *options)

    return play


def test_a_session_adds_up(play: Play) -> None:
    options = ("--hands", "6", "--seed", "5")
    result = play("game.rgl", *options, typed=TYPED)
    assert result.code == 0, result.err
    assert result == play("game.rgl", *options, typed=TYPED)
    seats = re.findall(r"^hand \d+: you are the (small|big) blind", result.out, re.MULTILINE)
    assert seats == ["small", "big"] * 3
    chips = [
        (1 if word == "win" else -1) * float(amount)
        for word, amount in re.findall(r"you (win|lose) ([\d.]+)$", result.out, re.MULTILINE)
    ]
    ties = result.out.count("nobody wins")
    assert len(chips) + ties == 6
    assert "the opponent plays" in result.out
    last = result.out.splitlines()[-1]
    total = sum(chips) / 2  # big blinds
    found = re.fullmatch(
        r"after 6 hands: ([+-]?[\d.]+) bb, ([+-][\d.]+) bb/100; all-in adjusted ([+-][\d.]+) ± ([\d.]+) bb/100", last
    )
    assert found is not None, last
    assert float(found[1]) == pytest.approx(total, abs=1e-3)
    assert float(found[2]) == pytest.approx(100 * total / 6, abs=0.06)
    assert result.out != play("game.rgl", "--hands", "6", "--seed", "6", typed=TYPED).out


def test_what_the_person_sees(play: Play) -> None:
    result = play("game.rgl", "--seed", "1", "--player", "ip", "--advice", typed="raise 4\n")
    lines = result.out.splitlines()
    assert re.fullmatch(r"hand 1: you are the small blind, with [2-9TJQKA][♣♦♥♠] [2-9TJQKA][♣♦♥♠]", lines[0])
    assert lines[1] == "  pot 3, you have 19, the opponent 18, 1 to call"
    assert lines[2] == "  1 fold   2 raise 4   3 all-in 20"
    assert lines[3] == "> raise 4"
    assert re.fullmatch(r"  the solution: fold \d+%, raise 4 \d+%, all-in 20 \d+%", lines[4])
    assert lines[5].startswith("  the opponent plays ")


@pytest.mark.parametrize("typed", ["", "q\n", "QUIT\n2\n"])
def test_the_end_of_the_input_prints_the_score(play: Play, typed: str) -> None:
    result = play("game.rgl", "--seed", "1", "--player", "ip", typed=typed)
    assert result.code == 0
    assert result.out.splitlines()[-1] == "no hand was finished"


def test_unreadable_input_is_refused_in_one_sentence_and_asked_again(play: Play) -> None:
    typed = "\njump\n9\n99999999999999999999\n0000000015\nraise 7\nfold, fold\nraise\nAh\nfold\n"
    result = play("game.rgl", "--hands", "1", "--seed", "1", "--player", "ip", typed=typed)
    assert result.code == 0
    errors = result.err.splitlines()
    assert len(errors) == 9
    assert all(line.startswith("error: action: ") for line in errors)
    assert errors[2] == (
        "error: action: '9': is not from 1 to 3; choose from fold, raise 4, all-in 20, q to stop, or ? for help"
    )
    assert "you fold, you lose 1" in result.out
    assert result.out.splitlines()[-1] == "after 1 hand: -0.5 bb, -50.0 bb/100"


@pytest.mark.parametrize("redirected", ["<&-", "< bytes"])
def test_input_that_is_closed_or_no_text(files: Path, tmp_path: Path, redirected: str) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\n")
    command = f"'{sys.executable}' -m regretless play '{files / 'game.rgl'}' --player ip --seed 1 {redirected}"
    strict = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}
    ended = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=strict, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout.splitlines()[-1]) == (0, "no hand was finished")
    assert "Traceback" not in ended.stderr


def test_nobody_plays_on_when_nobody_reads(files: Path) -> None:
    command = f"yes fold | '{sys.executable}' -m regretless play '{files / 'game.rgl'}' --seed 1 | head -n 1"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=300)
    assert (ended.returncode, len(ended.stdout.splitlines())) == (0, 1)
    assert "Traceback" not in ended.stderr


def test_ctrl_c_prints_the_score(play: Play, run: Run, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped(io.StringIO):
        def readline(self, size: int | None = -1) -> str:  # type: ignore[override]
            found = super().readline()
            if not found:
                raise KeyboardInterrupt
            return found

    monkeypatch.setattr("sys.stdin", Stopped("fold\n"))
    result = run("play", str(files / "game.rgl"), "--player", "ip", "--seed", "1")
    assert result.code == 130
    assert result.out.splitlines()[-1] == "after 1 hand: -0.5 bb, -50.0 bb/100"


def test_ctrl_c_while_the_prompt_is_printed_does_not_repeat_it(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped(io.StringIO):
        is_stopped = False

        def flush(self) -> None:
            if self.getvalue().endswith("> ") and not self.is_stopped:
                self.is_stopped = True
                raise KeyboardInterrupt

    monkeypatch.setattr("sys.stdout", shown := Stopped())
    assert main(["play", str(files / "game.rgl"), "--player", "ip", "--seed", "1"]) == 130
    assert shown.getvalue().splitlines()[-2:] == ["> ", "no hand was finished"]


def test_a_spot_is_played_for_chips_beyond_its_ev(play: Play) -> None:
    result = play("spot.rgl", "--hands", "4", "--seed", "3", typed="c\n" * 40)
    assert result.code == 0, result.err
    assert "hand 1: you are in position, with" in result.out
    assert "hand 2: you are out of position, with" in result.out
    assert re.search(r"^  K♥ Q♠ J♠ 2♣  pot \d+, you have 200, the opponent \d+", result.out, re.MULTILINE)
    assert "the board brings" in result.out
    assert "chips/100" in result.out.splitlines()[-1]


def test_who_wins_nothing_in_a_spot_is_not_told_that_nobody_wins(play: Play) -> None:
    """The pot that was there goes to the other player, even if neither has paid anything."""
    result = play("spot.rgl", "--hands", "8", "--seed", "3", "--player", "oop", typed="check\nfold\n" * 40)
    assert result.code == 0, result.err
    assert "you fold, you win nothing" in result.out
    assert "nobody wins" not in result.out


def test_what_cannot_be_played_is_refused(play: Play) -> None:
    refused = play("kuhn.rgl", typed="")
    assert refused.code == 1
    assert len(refused.err.splitlines()) == 1
    assert "is not a solved hold'em spot" in refused.err
    assert "hands: 0 must be at least 1" in play("game.rgl", "--hands", "0", typed="").err
    assert "seed: -1 must be from 0" in play("game.rgl", "--seed", "-1", typed="").err
    assert "player: 'button' is neither oop nor ip" in play("game.rgl", "--player", "button", typed="").err
    assert "missing.rgl: does not exist" in play("missing.rgl", typed="").err


def test_a_flop_is_solved_when_it_is_dealt(play: Play) -> None:
    options = ("--hands", "1", "--seed", "1", "--player", "ip", "--resolve", "--target", "1000", "--threads", "1")
    result = play("flops.rgl", *options, typed="2\n" * 20)
    assert result.code == 0, result.err
    flop = re.search(r"the board brings (\S+ \S+ \S+)$", result.out, re.MULTILINE)
    assert flop is not None, result.out
    assert re.search(r"^solved (call, check|raise 2, call), \w\w \w\w \w\w in [\d.]+ m?s$", result.err, re.MULTILINE)
    assert result.out.splitlines()[-1].startswith("after 1 hand: ")


@pytest.mark.parametrize(
    ("file", "options", "words"),
    [
        ("spot.rgl", ["--resolve"], "resolve: "),
        ("flops.rgl", ["--target", "1"], "target: 1.0 is for flops that are solved while you play: add --resolve"),
        ("flops.rgl", ["--safe"], "safe: True is for flops that are solved while you play: add --resolve"),
        ("flops.rgl", ["--resolve", "--safe"], "safe: True needs the values of hands on every flop"),
        ("flops.rgl", ["--resolve", "--target", "-1"], "target: -1.0 must be"),
        ("flops.rgl", ["--resolve", "--threads", "0"], "threads: 0 must be"),
        ("flops.rgl", ["--resolve", "--device", "gpu"], "device: 'gpu' "),
    ],
)
def test_wrong_requests_for_solving_flops_get_one_sentence(
    play: Play, file: str, options: list[str], words: str
) -> None:
    result = play(file, "--seed", "1", *options, typed="2\n" * 20)
    assert result.code == 1
    assert len(result.err.splitlines()) == 1
    assert words in result.err
    assert "hand 1" not in result.out


def test_a_question_mark_explains_the_choices_and_the_score(play: Play) -> None:
    result = play("spot.rgl", "--hands", "1", "--seed", "3", "--player", "oop", typed="?\nq\n")
    assert (result.code, result.err) == (0, "")
    asked = result.out.splitlines()
    assert asked[3:6] == [
        "> ?",
        "  an action is its number or its name: 2, call, r 5; q stops and prints the score",
        "  the score is in chips, and per hundred hands, measured from what the solution expects in your seat: 0 is to "
        "do as well as the solution",
    ]
    assert "its average over all cards that could have come" in asked[6]
    assert asked[-2:] == ["> q", "no hand was finished"]
    from_the_deal = play("game.rgl", "--seed", "1", "--player", "ip", typed="?\n").out
    assert "the score is in bb, and per hundred hands, measured from the start of the hand" in from_the_deal


def test_sizes_are_named_in_percent_of_the_pot_and_in_chips(play: Play) -> None:
    result = play("spot.rgl", "--hands", "1", "--seed", "3", "--player", "oop", typed="q\n")
    assert result.out.splitlines()[2] == "  1 check   2 bet 75% (75)"


def test_the_end_of_a_session_says_what_the_adjusted_score_is(play: Play) -> None:
    assert (
        "all-in adjusted: a hand that ends all-in" in play("game.rgl", "--hands", "2", "--seed", "5", typed=TYPED).err
    )
    assert play("game.rgl", "--hands", "1", "--seed", "5", typed=TYPED).err == ""

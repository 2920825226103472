"""Locks from the command line: as text, and taken from another solution."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.cli.spot_texts import RIVER

from regretless.cli.solving.request import SolveRequest
from regretless.holdem.spots.locks import LockFrom
from regretless.solving.options import SolveOptions

SOLVE = ["solve", "river.toml", "--iterations", "60", "--threads", "1"]


@pytest.fixture(autouse=True)
def spot(tmp_path: Path) -> None:
    (tmp_path / "river.toml").write_text(RIVER, encoding="utf-8")


def strategies(run, file: str, line: str, player: str) -> dict[str, dict[str, float]]:
    node = run("show", file, "--line", line, "--hands", "--json").json["node"]
    return {row["hand"]: row["strategy"] for row in node["hands"][player]}


def test_a_lock_is_held_shown_and_saved(run) -> None:
    result = run(*SOLVE, "--lock", "check: AA, KK = bet 50 70%, check", "--lock", "bet 50: call", "--out", "locked.rgl")
    assert result.code == 0, result.err
    assert "locked check: AA, KK = bet 50 0.7, check 0.3" in result.out
    for hand, played in strategies(run, "locked.rgl", "check", "ip").items():
        if hand[0] == hand[2] and hand[0] in "AK":
            assert played == {"check": pytest.approx(0.3), "bet 50": pytest.approx(0.7), "bet 100": 0}
    assert all(played["call"] == pytest.approx(1) for played in strategies(run, "locked.rgl", "bet 50", "ip").values())
    shown = run("show", "locked.rgl", "--line", "bet 50")
    assert "(locked)" in shown.out
    assert run("show", "locked.rgl", "--json").json["locks"] == [
        "check: AA, KK = bet 50 0.7, check 0.3",
        "bet 50: call 1",
    ]


def test_a_resumed_solve_keeps_its_locks(run) -> None:
    lock = ["--lock", "check: check"]
    run(*SOLVE, *lock, "--keep-regrets", "--out", "locked.rgl")
    resumed = run("solve", "--resume", "locked.rgl", "--iterations", "80", "--threads", "1", "--json").json
    straight = run("solve", "river.toml", "--iterations", "80", "--threads", "1", *lock, "--json").json
    assert resumed["ev"] == straight["ev"]
    assert resumed["locks"] == ["check: check 1"]
    other = run("solve", "--resume", "locked.rgl", "--iterations", "90", "--lock", "check: bet 50")
    assert other.code == 1
    assert other.err == (
        "error: lock: 'check: bet 50 1' cannot be added: locked.rgl is resumed with the locks it was started with\n"
    )


def test_a_range_bets_as_often_as_asked_and_the_loss_is_said(run) -> None:
    run(*SOLVE, "--out", "free.rgl")
    result = run(*SOLVE, "--lock-from", "free.rgl", "--lock", ": bets 60%", "--out", "locked.rgl")
    assert result.code == 0, result.err
    assert re.search(r": bets 0.6 in total: loses [\d.]+ chips there \([\d.]+ % of the pot\)", result.err)
    assert "locked : bets 0.6 in total, from free.rgl" in result.out
    node = run("show", "locked.rgl", "--json").json["node"]
    assert sum(node["frequencies"][1:]) == pytest.approx(0.6, abs=1e-4)
    without = run(*SOLVE, "--lock", ": bets 60%")
    assert without.code == 1
    assert without.err.startswith(
        "error: lock: ': bets 60%': is a frequency, which starts from the strategy of another solution"
    )


def test_a_player_plays_as_in_another_solution(run, tmp_path: Path) -> None:
    run("solve", "river.toml", "--iterations", "3", "--threads", "1", "--out", "early.rgl")
    result = run(*SOLVE, "--lock-from", "early.rgl", "--lock-player", "oop", "--out", "exploit.rgl", "--keep-regrets")
    assert result.code == 0, result.err
    early = strategies(run, "early.rgl", "", "oop")
    for hand, played in strategies(run, "exploit.rgl", "", "oop").items():
        assert played == pytest.approx(early[hand], abs=2e-5)
    first, second = run("compare", "early.rgl", "exploit.rgl", "--json").json["ev"]["ip"]
    assert second > first
    (tmp_path / "early.rgl").unlink()
    assert run("show", "exploit.rgl").code == 0
    assert run("solve", "--resume", "exploit.rgl", "--iterations", "80", "--json").json["iterations"] == 80


def test_a_node_is_played_as_in_another_solution(run) -> None:
    run("solve", "river.toml", "--iterations", "3", "--threads", "1", "--out", "early.rgl")
    result = run(*SOLVE, "--lock-from", "early.rgl", "--lock-line", "check: KQ", "--out", "part.rgl")
    assert result.code == 0, result.err
    early, mine = strategies(run, "early.rgl", "check", "ip"), strategies(run, "part.rgl", "check", "ip")
    same = {hand for hand in mine if mine[hand] == pytest.approx(early[hand], abs=2e-5)}
    assert {hand for hand in mine if hand[0] + hand[2] == "KQ"} <= same
    assert len(same) < len(mine)


def test_every_spot_of_a_batch_is_locked(run, tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text(RIVER.replace("stack = 200", "stack = 150"), encoding="utf-8")
    (tmp_path / "wrong.toml").write_text(RIVER.replace("50%, ", ""), encoding="utf-8")
    lock = ["--lock", "check: bet 50"]
    result = run("solve", "*.toml", "--iterations", "10", *lock, "--out", "solved", "--json")
    assert "wrong.toml" in result.err
    assert "is not an action there" in result.err
    for name in ("river", "other"):
        assert all(
            played["bet 50"] == pytest.approx(1)
            for played in strategies(run, f"solved/{name}.rgl", "check", "ip").values()
        )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--lock", "check bet 50"], "lock: 'check bet 50': has no ':' after the line"),
        (["--lock", "bet 7: fold"], "lock.node: 'bet 7' at position 1: no 'bet 7' here; choose from check, bet 50"),
        (["--lock", "check: bet 70"], "lock.strategy: 'bet 70': is not an action there; choose from check, bet 50"),
        (["--lock", "check: 66 = check"], "hands: '66': contains no hand of the player who acts there"),
        (
            ["--lock-player", "oop"],
            "lock-player: 'oop' takes its strategy from another solution",
        ),
        (["--lock-line", "check"], "lock-line: 'check' takes its strategy from another solution"),
        (["--lock-from", "none.rgl"], "none.rgl: is named by --lock-from, but nothing is locked"),
        (["--lock-from", "none.rgl", "--lock-player", "oop"], "none.rgl: does not exist"),
        (["--lock-from", "none.rgl", "--lock-player", "hero"], "lock-player: 'hero' is neither oop nor ip"),
        (["--lock-from", "none.rgl", "--lock-line", "bet 7"], "lock-line.node: 'bet 7' at position 1"),
        (
            ["--lock-from", "a.rgl", "--lock-player", "ip", "--out", "a.rgl"],
            "out: 'a.rgl' is a solution that locks are taken from",
        ),
    ],
)
def test_invalid_values_are_refused_by_name(run, options: list[str], words: str) -> None:
    result = run(*SOLVE, *options)
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert words in result.err


def test_games_have_no_locks(run) -> None:
    result = run("solve", "kuhn", "--lock", "check: check")
    assert result.code == 1
    assert "lock: 'check: check 1' is for hold'em spots" in result.err


TURN = """
board = "9s 6s 2s Ks"
pot = 30
stack = 30
oop.range = "AA, JTs, 55"
ip.range = "QQ, A5s"
bets.bet = "a"
"""


def test_an_estimate_respects_suits_that_a_lock_source_distinguishes(run, tmp_path: Path) -> None:
    (tmp_path / "source.toml").write_text(TURN.replace("55", "55, AcJc"), encoding="utf-8")
    (tmp_path / "plain.toml").write_text(TURN, encoding="utf-8")
    (tmp_path / "locked.toml").write_text(
        TURN + 'locks = [{source = "source.rgl", player = "oop"}]\n', encoding="utf-8"
    )
    assert run("solve", "source.toml", "--iterations", "2", "--out", "source.rgl").code == 0
    estimated = run("estimate", "locked.toml", "--json").json
    solved = run("solve", "locked.toml", "--iterations", "2", "--json").json
    assert estimated["nodes"] == solved["nodes"] > run("estimate", "plain.toml", "--json").json["nodes"]
    assert estimated["information_sets"] == solved["information_sets"]


def test_a_lock_source_is_repeated_whatever_else_has_its_name() -> None:
    """The command that resumes a solve names the source of its locks even if another option has the same value."""
    request = SolveRequest(
        options=SolveOptions(device="cpu"),
        as_json=False,
        print_strategy=False,
        out=None,
        resume=None,
        plot=None,
        locks=(LockFrom(source="cpu", player="oop"), LockFrom(source="cpu", player="ip")),
    )
    words = request.solving_arguments()
    assert words == ["--device", "cpu", "--lock-from", "cpu", "--lock-player", "oop", "--lock-player", "ip"]

"""`regretless plot`: games, and saved files of games, spots and interrupted solves."""

from __future__ import annotations

from pathlib import Path

import pytest

from regretless.holdem.problem import solve_spot
from regretless.holdem.spots.spot import Spot

pytest.importorskip("matplotlib")


SPOT = """
board = "Kh Qs Js 2c 3d"
pot = 100
stack = 200
[oop]
range = "AK, KQs, QJs"
[ip]
range = "AA-QQ, AK"
[bets]
bet = "50%"
"""


def test_saved_spots_finished_or_not(run, tmp_path: Path) -> None:
    (tmp_path / "spot.toml").write_text(SPOT, encoding="utf-8")
    asked = iter([False] * 12)
    solve_spot(
        Spot.read(tmp_path / "spot.toml"), iterations=10_000, checkpoint=tmp_path / "half.rgl",
        interrupted=lambda: next(asked, True),
    )  # fmt: skip
    assert run("solve", "spot.toml", "--iterations", "20", "--out", "whole.rgl").code == 0
    result = run("plot", "half.rgl", "whole.rgl", "--out", "both.svg")
    assert (result.code, result.err) == (0, "drew both.svg\n")
    drawn = (tmp_path / "both.svg").read_text(encoding="utf-8")
    for text in ("in % of the pot", "half", "whole"):
        assert f"<!-- {text}" in drawn or text in drawn
    mixed = run("plot", "whole.rgl", "kuhn")
    assert (mixed.code, mixed.err) == (
        1,
        "error: GAME: 'whole.rgl, kuhn' mixes games and spots, which are measured in different units\n",
    )


def test_an_unsolved_spot_cannot_be_plotted(run, tmp_path: Path) -> None:
    (tmp_path / "spot.toml").write_text(SPOT, encoding="utf-8")
    result = run("plot", "spot.toml")
    assert result.code == 1
    assert "spot.toml' is an unsolved spot: use regretless solve --plot" in result.err


@pytest.mark.parametrize(
    ("option", "value"),
    [("variants", "plus"), ("iterations", "5"), ("sampling", "outcome"), ("device", "cuda"), ("measure-every", "3")],
)
def test_options_for_solving_are_refused_where_nothing_is_solved(run, tmp_path: Path, option: str, value: str) -> None:
    assert run("solve", "kuhn", "--iterations", "20", "--out", "kuhn.rgl").code == 0
    result = run("plot", "kuhn.rgl", f"--{option}", value)
    assert result.code == 1
    assert result.err.startswith(f"error: {option}: ")
    assert result.err.endswith("does not apply to saved solutions, which are only drawn\n")
    assert not (tmp_path / "kuhn.png").exists()


def test_plot_games_and_files(run, tmp_path: Path) -> None:
    run("solve", "kuhn", "--variant", "linear", "--iterations", "20", "--out", "kuhn.rgl")
    result = run("plot", "kuhn", "kuhn.rgl", "--variants", "plus,lp", "--iterations", "20", "--out", "both.svg")
    assert result.code == 0
    assert result.out == ""
    assert "drew both.svg" in result.err
    assert "<svg" in (tmp_path / "both.svg").read_text()
    assert run("plot", "kuhn", "--variants", "plus", "--iterations", "5").code == 0
    assert (tmp_path / "kuhn.png").exists()

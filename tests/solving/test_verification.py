"""Solutions of games, recomputed from the rules."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from regretless.errors import InvalidFile, InvalidGame, InvalidOption, WouldNotFit
from regretless.games import Kuhn, Leduc
from regretless.games.gambit import parse_efg
from regretless.solving import GameSolution
from regretless.solving import solve_game as solve


@pytest.mark.parametrize("game", ["kuhn", "kuhn(players=3)", "leduc", "liars_dice(sides=3)"])
@pytest.mark.parametrize("variant", ["plus", "discounted"])
def test_engines_report_what_the_readable_best_response_finds(game: str, variant: str) -> None:
    solution = solve(game, variant=variant, iterations=20)
    found = solution.verify()
    assert found.exploitability == pytest.approx(solution.exploitability, abs=1e-12)
    assert found.values == pytest.approx(solution.values, abs=1e-12)
    assert found.reported == solution.exploitability
    assert found.agrees
    assert found.as_json()["reported"] == found.reported


def test_a_wrong_report_is_told() -> None:
    solution = solve("kuhn", iterations=20)
    better = replace(solution.evaluation, best_response_values=solution.values)
    assert not replace(solution, record=replace(solution.record, evaluation=better)).verify().agrees


def test_custom_games(tmp_path: Path) -> None:
    class Mine(Kuhn):
        def __init__(self) -> None:
            super().__init__()
            self.name = "mine"

    solution = solve(Mine(), iterations=20)
    assert solution.verify().agrees
    assert solve(Mine(), form="public", iterations=20).verify().agrees
    solution.save(tmp_path / "mine.rgl")
    loaded = GameSolution.load(tmp_path / "mine.rgl")
    with pytest.raises(InvalidOption, match=r"game: 'mine' is not a registered game: pass its rules as game="):
        loaded.verify()
    assert loaded.verify(game=Mine()).agrees
    with pytest.raises(InvalidFile, match="belongs to a different tree"):
        solution.verify(game=Leduc())


def test_impossible_requests_give_one_sentence() -> None:
    solution = solve("kuhn", iterations=5)
    with pytest.raises(InvalidOption, match="turns: 3 is for hold'em spots"):
        solution.verify(turns=3)
    with pytest.raises(WouldNotFit, match="verifying kuhn needs"):
        solution.verify(available=1000)
    moves = 1500
    lines = ['EFG 2 R "deep" { "a" "b" }', '""']
    for move in range(moves):
        lines.append(f'p "" {1 + move % 2} {move + 1} "" {{ "stop" "go" }} 0')
        lines.append(f't "" {2 * move + 1} "" {{ {move % 3 - 1}, {1 - move % 3} }}')
    deep = parse_efg("\n".join([*lines, f't "" {2 * moves + 1} "" {{ 1, -1 }}']), name="deep")
    with pytest.raises(InvalidGame, match="deep is 1,500 moves deep, too deep"):
        solve(deep, iterations=2).verify(game=deep)

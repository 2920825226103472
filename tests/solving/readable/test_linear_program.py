from __future__ import annotations

import pytest

from regretless import engines, games
from regretless.errors import InvalidGame
from regretless.forms import compile_history, compile_sequence, uniform_array
from regretless.solving.readable.linear_program import solve_linear_program

VALUES = [
    ("kuhn", -1 / 18),
    ("leduc", -0.0856064240780),
    ("leduc(merge_suits=True)", -0.0856064240780),
    ("liars_dice(sides=4)", 1 / 16),
    ("liars_dice(sides=5)", 0.008),
    ("goofspiel(cards=4)", 0.0),
    ("goofspiel(cards=5)", 0.0),
    pytest.param("leduc(ranks=6)", -0.1045436, marks=pytest.mark.slow),
    pytest.param("liars_dice", -0.0271317829, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("name", "value"), VALUES)
def test_known_values_and_no_exploitability(name: str, value: float) -> None:
    form = compile_sequence(compile_history(games.load(name)))
    solution = solve_linear_program(form)
    assert solution.value == pytest.approx(value, abs=5e-8)
    evaluation = engines.create("numba", form).evaluate(solution.strategy)
    assert evaluation.values[0] == pytest.approx(solution.value, abs=1e-9)
    assert 0 <= evaluation.exploitability + 1e-12 < 1e-9


def test_only_two_player_zero_sum_games() -> None:
    with pytest.raises(InvalidGame, match=r"kuhn\(players=3\) has 3 players"):
        solve_linear_program(compile_history(games.load("kuhn(players=3)")))


@pytest.mark.parametrize(("name", "exploitability"), [("kuhn", 0.458333), ("leduc", 2.373611)])
def test_uniform_play(name: str, exploitability: float) -> None:
    form = compile_history(games.load(name))
    evaluation = engines.create("numba", form).evaluate(uniform_array(form))
    assert evaluation.exploitability == pytest.approx(exploitability, abs=1e-6)

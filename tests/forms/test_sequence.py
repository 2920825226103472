from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from regretless import games
from regretless.errors import InvalidGame
from regretless.forms import SequenceForm, SparseMatrix, compile_history, compile_sequence, invert, memory_bytes
from regretless.solving.readable.best_response import expected_values

NAMES = ("kuhn", "leduc", "leduc(merge_suits=True)", "liars_dice(sides=4)", "goofspiel(cards=4)")


def dense(matrix: SparseMatrix) -> Any:
    result = np.zeros((len(matrix.start) - 1, matrix.columns))
    result[np.repeat(np.arange(len(result)), np.diff(matrix.start)), matrix.column] = matrix.value
    return result


def plan(form: SequenceForm, player: int, strategy: Any) -> Any:
    tree = form.trees[player]
    result = np.ones(len(tree.pair))
    for place in range(len(tree.information_set)):
        own = slice(tree.first_sequence[place], tree.first_sequence[place + 1])
        result[own] = result[tree.parent_sequence[place]] * strategy[tree.pair[own]]
    return result


@pytest.mark.parametrize("name", NAMES)
def test_plans_and_payoffs_give_the_expected_values(name: str) -> None:
    game = games.load(name)
    history = compile_history(game)
    form = compile_sequence(history)
    strategy = np.random.default_rng(1).exponential(size=history.first_pair[-1])
    strategy /= np.repeat(np.add.reduceat(strategy, history.first_pair[:-1]), np.diff(history.first_pair))
    x, y = plan(form, 0, strategy), plan(form, 1, strategy)
    values = expected_values(game, invert(history, strategy))
    assert x @ dense(form.payoff[0]) @ y == pytest.approx(values[0], abs=1e-12)
    assert y @ dense(form.payoff[1]) @ x == pytest.approx(values[1], abs=1e-12)
    assert memory_bytes(form) > memory_bytes(history)


@pytest.mark.parametrize("name", NAMES)
def test_trees(name: str) -> None:
    history = compile_history(games.load(name))
    form = compile_sequence(history)
    for player, tree in enumerate(form.trees):
        assert (history.information_set_player[tree.information_set] == player).all()
        assert tree.first_sequence[0] == 1
        assert tree.pair[0] == -1
        assert tree.level[-1] == len(tree.information_set)
        level = np.repeat(np.arange(len(tree.level) - 1), np.diff(tree.level))
        level_of_sequence = np.append(-1, np.repeat(level, np.diff(tree.first_sequence)))
        np.testing.assert_array_equal(level_of_sequence[tree.parent_sequence], level - 1)
        first = history.first_pair[tree.information_set]
        np.testing.assert_array_equal(tree.pair[tree.first_sequence[:-1]], first)
    both = np.concatenate([tree.pair[1:] for tree in form.trees])
    np.testing.assert_array_equal(np.sort(both), np.arange(history.first_pair[-1]))


def test_zero_sum_matrices_are_opposite_and_hold_no_zeros() -> None:
    form = compile_sequence(compile_history(games.load("leduc")))
    np.testing.assert_allclose(dense(form.payoff[0]), -dense(form.payoff[1]).T, atol=1e-15)
    assert (form.payoff[0].value != 0).all()
    assert len(form.payoff[0].value) == 4_920  # 5,520 terminals less 600 split pots
    columns = form.payoff[0].column.astype(np.int64)
    rows = np.repeat(np.arange(len(form.trees[0].pair)), np.diff(form.payoff[0].start))
    assert (np.diff(rows * form.payoff[0].columns + columns) > 0).all()


def test_the_sequence_form_is_for_two() -> None:
    with pytest.raises(InvalidGame, match="has 3 players; the sequence form needs exactly two"):
        compile_sequence(compile_history(games.load("kuhn(players=3)")))

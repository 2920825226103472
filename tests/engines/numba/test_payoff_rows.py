from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from regretless import games
from regretless.engines.numba.payoff_rows import PayoffRows, payoff_rows
from regretless.engines.numba.sequence import lay_out
from regretless.engines.numpy.sequence import NumpySequenceEngine
from regretless.forms import SequenceForm, compile_history, compile_sequence

NAMES = ("kuhn", "leduc", "liars_dice(sides=4)", "goofspiel(cards=4)", "goofspiel(cards=5)")


def sequence_form(name: str) -> SequenceForm:
    return compile_sequence(compile_history(games.load(name)))


def product(rows: PayoffRows, plan: Any) -> Any:
    """The product computed from the batches, one row at a time."""
    y = np.zeros(len(rows.reference))
    for first, count, length, entry in rows.batch.tolist():
        for row in range(first, first + count):
            assert rows.reference[row] < first, "a row may refer to rows of earlier batches alone"
            here = slice(entry, entry + length)
            y[row] = y[rows.reference[row]] + rows.value[here] @ plan[rows.column[here]]
            entry += length
    return y[rows.row_of_sequence]


def random_plan(engine: NumpySequenceEngine, player: int, seed: int) -> Any:
    state = engine.players[player]
    weights = np.random.default_rng(seed).exponential(size=len(state.plan))
    weights[1:] /= np.repeat(np.add.reduceat(weights[1:], state.first[:-1]), np.diff(state.first))
    weights[0] = 1.0
    return state.realize(weights)


def assert_rows_are_worth_the_matrix(form: SequenceForm) -> None:
    engine = NumpySequenceEngine(form)
    for player in (0, 1):
        own, other = random_plan(engine, player, seed=1), random_plan(engine, 1 - player, seed=2)
        matrix = form.payoff[player]
        row = np.repeat(np.arange(len(own)), np.diff(matrix.start))
        expected = np.sum(own[row] * matrix.value * other[matrix.column])
        rows = payoff_rows(form, player)
        assert own @ product(rows, other) == pytest.approx(expected, abs=1e-12)
        assert len(rows.value) <= len(matrix.value)


@pytest.mark.parametrize("name", NAMES)
def test_rows_have_the_same_product_as_the_matrix(name: str) -> None:
    assert_rows_are_worth_the_matrix(sequence_form(name))


def test_rows_of_random_games(random_game: Any) -> None:
    for seed in range(100):
        form = compile_history(random_game(seed, zero_sum=seed % 2 == 0))
        if form.keys:
            assert_rows_are_worth_the_matrix(compile_sequence(form))


@pytest.mark.parametrize(
    ("name", "saved"),
    [("leduc", 1.4), ("leduc(ranks=6)", 2.5), ("liars_dice(sides=5)", 3.5), ("goofspiel(cards=5)", 4)],
)
def test_far_fewer_entries(name: str, saved: float) -> None:
    form = sequence_form(name)
    assert len(form.payoff[0].value) >= saved * len(payoff_rows(form, 0).value)


@pytest.mark.parametrize("name", NAMES)
def test_layout_puts_the_same_action_of_a_group_side_by_side(name: str) -> None:
    form = sequence_form(name)
    layout = lay_out(form.trees)
    pairs = int(form.history.first_pair[-1])
    empty = layout.first_slot[:-1].astype(int)
    np.testing.assert_array_equal(np.sort(np.append(layout.slot, empty)), np.arange(pairs + 2))
    for player, tree in enumerate(form.trees):
        slot = layout.slot_of_sequence[player]
        np.testing.assert_array_equal(layout.slot[tree.pair[1:]], slot[1:])
        parent_of_set = slot[tree.parent_sequence]
        covered = 0
        for first, sets, actions, place in layout.group[
            layout.first_group[player] : layout.first_group[player + 1]
        ].tolist():
            members = np.flatnonzero(
                (slot[tree.first_sequence[:-1]] >= first) & (slot[tree.first_sequence[:-1]] < first + sets)
            )
            assert len(members) == sets
            covered += sets
            for member in members:
                start = slot[tree.first_sequence[member]]
                own = slot[tree.first_sequence[member] : tree.first_sequence[member + 1]]
                np.testing.assert_array_equal(own, start + sets * np.arange(actions))
                assert layout.parent[place + start - first] == parent_of_set[member]
                assert layout.parent[place + start - first] < first
        assert covered == len(tree.information_set)

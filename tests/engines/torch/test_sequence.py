"""The PyTorch engine and batches of games on a CPU, against the NumPy reference."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.engines.states import assert_same, random_snapshot  # noqa: E402

from regretless.engines.batched import BatchedEngine, replace_payoffs  # noqa: E402
from regretless.engines.contract import Updates  # noqa: E402
from regretless.engines.numpy.sequence import NumpyHistoryEngine, NumpySequenceEngine  # noqa: E402
from regretless.engines.torch.sequence import TorchEngine  # noqa: E402
from regretless.errors import InvalidGame, InvalidOption  # noqa: E402
from regretless.forms import HistoryForm, SequenceForm, compile_history, compile_sequence  # noqa: E402
from regretless.games.registry import load  # noqa: E402
from regretless.variants import PRESETS, Plus, schedule  # noqa: E402

GAMES = ["kuhn", "leduc", "liars_dice(sides=4)", "goofspiel(cards=4)"]


@cache
def history(name: str) -> HistoryForm:
    return compile_history(load(name))


@cache
def sequence(name: str) -> SequenceForm:
    return compile_sequence(history(name))


def reference(form: HistoryForm, updates: Updates) -> NumpyHistoryEngine | NumpySequenceEngine:
    if form.players == 2:
        return NumpySequenceEngine(compile_sequence(form), updates=updates)
    return NumpyHistoryEngine(form, updates=updates)


@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize("rule", PRESETS)
@pytest.mark.parametrize("name", [*GAMES, "kuhn(players=3)"])
def test_one_iteration_from_any_state(name, rule, updates):
    form = history(name)
    weights = schedule(PRESETS[rule], first=4, count=1)
    expected = reference(form, updates)
    expected.restore(random_snapshot(form, seed=5))
    expected.advance(weights)
    forms = [form] if form.players > 2 else [sequence(name), form]
    for given in forms:
        for dtype, tolerance in (("float64", 1e-10), ("float32", 2e-5)):
            engine = TorchEngine(given, updates=updates, dtype=dtype)
            engine.restore(random_snapshot(form, seed=5))
            engine.advance(weights)
            assert_same(engine, expected, tolerance)


@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize("rule", ["vanilla", "plus", "discounted"])
def test_a_trace_on_leduc(rule, updates):
    weights = schedule(PRESETS[rule], first=1, count=30)
    expected = NumpySequenceEngine(sequence("leduc"), updates=updates)
    expected.advance(weights)
    engine = TorchEngine(sequence("leduc"), updates=updates, dtype="float64")
    engine.advance(weights[:10])
    engine.advance(weights[10:])
    assert_same(engine, expected, 1e-10)


def test_exploitability_of_leduc_is_the_published_one():
    engine = TorchEngine(sequence("leduc"), dtype="float64")
    engine.advance(schedule(Plus(), first=1, count=100))
    assert engine.evaluate().exploitability == pytest.approx(0.0134160, abs=1e-6)


def test_float32_solves_leduc_too():
    engine = TorchEngine(sequence("leduc"))
    engine.advance(schedule(Plus(), first=1, count=300))
    evaluation = engine.evaluate()
    assert evaluation.exploitability < 0.004
    assert evaluation.values[0] == pytest.approx(-0.0856064, abs=5e-4)


def test_a_given_strategy_is_evaluated():
    form = history("leduc")
    uniform = np.repeat(1.0 / np.diff(form.first_pair), np.diff(form.first_pair))
    engine = TorchEngine(sequence("leduc"), dtype="float64")
    assert engine.evaluate(uniform).exploitability == pytest.approx(2.373611, abs=1e-6)
    assert engine.evaluate().exploitability == pytest.approx(2.373611, abs=1e-6)  # nothing accumulated yet


def test_a_schedule_longer_than_the_table_on_the_device():
    engine, other = (TorchEngine(sequence("kuhn"), dtype="float64") for _ in range(2))
    weights = schedule(Plus(), first=1, count=4200)
    engine.advance(weights)
    other.advance(weights[:4096])
    other.advance(weights[4096:])
    np.testing.assert_array_equal(engine.snapshot().arrays["average"], other.snapshot().arrays["average"])


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"device": "tpu"}, "device"),
        ({"dtype": "float16"}, "dtype"),
        ({"device": "mps", "dtype": "float64"}, "device|dtype"),
    ],
)
def test_impossible_options(options, option):
    with pytest.raises(InvalidOption, match=option):
        TorchEngine(sequence("kuhn"), **options)


# --- batches ---


def variants(name: str, count: int) -> list[HistoryForm]:
    form = history(name)
    random = np.random.default_rng(7)
    payoffs = [form.payoff * (1.0 + number) + random.normal(size=form.payoff.shape) for number in range(count)]
    return [replace_payoffs(form, payoff) for payoff in payoffs]


@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize("name", ["kuhn", "leduc", "kuhn(players=3)"])
def test_a_batch_equals_its_games_one_by_one(name, updates):
    games = variants(name, 4)
    weights = schedule(Plus(), first=1, count=8)
    batch = BatchedEngine(games, updates=updates, dtype="float64")
    batch.advance(weights)
    average, evaluation = batch.average_strategy(), batch.evaluate()
    assert average.shape == (4, int(games[0].first_pair[-1]))
    for number, game in enumerate(games):
        expected = reference(game, updates)
        expected.advance(weights)
        np.testing.assert_allclose(average[number], expected.average_strategy(), atol=1e-10)
        np.testing.assert_allclose(evaluation[number].values, expected.evaluate().values, atol=1e-10)
        assert evaluation[number].nash_conv == pytest.approx(expected.evaluate().nash_conv, abs=1e-9)
        assert evaluation.exploitability[number] == pytest.approx(expected.evaluate().exploitability, abs=1e-9)


def test_chance_may_differ_between_the_games_of_a_batch():
    form = history("kuhn")
    skewed = form.chance.copy()
    first_deal = slice(int(form.level[1]), int(form.level[2]))
    skewed[first_deal] = [0.6, 0.3, 0.1]
    other = replace(form, chance=skewed)
    batch = BatchedEngine([form, other], dtype="float64")
    batch.advance(schedule(Plus(), first=1, count=10))
    expected = reference(other, Updates.ALTERNATING)
    expected.advance(schedule(Plus(), first=1, count=10))
    np.testing.assert_allclose(batch.average_strategy()[1], expected.average_strategy(), atol=1e-10)


def test_a_batch_resumes_from_a_snapshot():
    games = variants("kuhn", 3)
    first, second = (BatchedEngine(games, dtype="float64") for _ in range(2))
    first.advance(schedule(Plus(), first=1, count=5))
    second.restore(first.snapshot())
    for engine in (first, second):
        engine.advance(schedule(Plus(), first=6, count=5))
    assert second.iteration == 10
    np.testing.assert_array_equal(first.average_strategy(), second.average_strategy())


def test_games_of_different_shape_are_no_batch():
    with pytest.raises(InvalidGame, match="differs from the first"):
        BatchedEngine([history("kuhn"), history("leduc")])
    with pytest.raises(InvalidOption, match="games"):
        BatchedEngine([])

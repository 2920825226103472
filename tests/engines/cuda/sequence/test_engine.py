"""PyTorch on CUDA and the CUDA kernels through CuPy, against the NumPy reference. Needs a GPU.

PYTHONPATH=src python3 -m pytest tests/engines/cuda/sequence/test_engine.py -q
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.engines.states import assert_same, random_snapshot

from regretless.engines.batched import BatchedEngine, replace_payoffs
from regretless.engines.contract import Updates
from regretless.engines.creation import create
from regretless.engines.devices import GPU_FROM, game_size
from regretless.engines.numpy.sequence import NumpyHistoryEngine, NumpySequenceEngine
from regretless.errors import InvalidOption
from regretless.forms import HistoryForm, SequenceForm, compile_history, compile_sequence
from regretless.games.registry import load
from regretless.variants import PRESETS, Plus, Vanilla, schedule

pytestmark = pytest.mark.gpu

GAMES = ["kuhn", "leduc", "liars_dice(sides=4)", "goofspiel(cards=4)"]
TOLERANCE = {"float64": 1e-10, "float32": 3e-5}

# Ways to run the kernels: one block with and without shared memory, several blocks with a top, a graph of levels.
CUPY_WAYS = {
    "one-block": {"mode": "persistent", "blocks": 1, "carried": False},
    "carried": {"mode": "persistent", "blocks": 1, "carried": True},
    "few-blocks": {"mode": "persistent", "blocks": 6, "block_threads": 256},
    "many-blocks": {"mode": "persistent", "blocks": 48},
    "graph": {"mode": "graph"},
}
WAYS = [f"cupy-{way}" for way in CUPY_WAYS] + ["torch-graph", "torch-plain"]


@cache
def history(name: str) -> HistoryForm:
    return compile_history(load(name))


@cache
def sequence(name: str) -> SequenceForm:
    return compile_sequence(history(name))


def build(way: str, form: SequenceForm, updates: Updates, dtype: str):
    library, _, rest = way.partition("-")
    if library == "torch":
        pytest.importorskip("torch")
        from regretless.engines.torch.sequence import TorchEngine

        return TorchEngine(form, updates=updates, device="cuda", dtype=dtype, graph=rest == "graph")
    pytest.importorskip("cupy")
    from regretless.engines.cuda.sequence.engine import CudaSequenceEngine

    return CudaSequenceEngine(form, updates=updates, dtype=dtype, **CUPY_WAYS[rest])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", GAMES)
def test_one_iteration_of_every_rule_from_any_state(name, dtype, way):
    form = history(name)
    for updates in Updates:
        engine = build(way, sequence(name), updates, dtype)
        for rule in PRESETS.values():
            weights = schedule(rule, first=4, count=1)
            expected = NumpySequenceEngine(sequence(name), updates=updates)
            for each in (engine, expected):
                each.restore(random_snapshot(form, seed=5))
                each.advance(weights)
            assert_same(engine, expected, TOLERANCE[dtype])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("updates", Updates)
def test_a_trace_on_leduc(updates, way):
    weights = schedule(Vanilla(), first=1, count=60)
    expected = NumpySequenceEngine(sequence("leduc"), updates=updates)
    expected.advance(weights)
    engine = build(way, sequence("leduc"), updates, "float64")
    engine.advance(weights[:10])
    engine.advance(weights[10:])
    assert_same(engine, expected, 1e-9)


@pytest.mark.parametrize("way", WAYS)
def test_exploitability_of_leduc_is_the_published_one(way):
    engine = build(way, sequence("leduc"), Updates.ALTERNATING, "float64")
    engine.advance(schedule(Plus(), first=1, count=100))
    assert engine.evaluate().exploitability == pytest.approx(0.0134160, abs=1e-6)
    engine.advance(schedule(Plus(), first=101, count=900))
    assert engine.evaluate().exploitability == pytest.approx(2.57152e-4, rel=0.1)


@pytest.mark.parametrize("way", WAYS)
def test_results_are_bit_identical_between_runs(way):
    snapshots = []
    for _ in range(3):
        engine = build(way, sequence("liars_dice(sides=4)"), Updates.ALTERNATING, "float32")
        engine.advance(schedule(Plus(), first=1, count=400))
        snapshots.append(engine.snapshot())
    for other in snapshots[1:]:
        np.testing.assert_array_equal(other.arrays["regret"], snapshots[0].arrays["regret"])
        np.testing.assert_array_equal(other.arrays["average"], snapshots[0].arrays["average"])


@pytest.mark.parametrize("way", ["cupy-many-blocks", "cupy-graph", "torch-graph"])
def test_a_game_of_many_blocks(way):
    """Liar's dice with 6 sides: 24,576 information sets."""
    form = history("liars_dice")
    expected = NumpySequenceEngine(sequence("liars_dice"))
    engine = build(way, sequence("liars_dice"), Updates.ALTERNATING, "float64")
    weights = schedule(Plus(), first=4, count=3)
    for each in (engine, expected):
        each.restore(random_snapshot(form, seed=2))
        each.advance(weights)
    assert_same(engine, expected, 1e-9)


@pytest.mark.parametrize("way", ["cupy-carried", "cupy-few-blocks", "cupy-graph", "torch-graph"])
def test_a_given_strategy_is_evaluated(way):
    form = history("leduc")
    engine = build(way, sequence("leduc"), Updates.ALTERNATING, "float64")
    uniform = np.repeat(1.0 / np.diff(form.first_pair), np.diff(form.first_pair))
    assert engine.evaluate(uniform).exploitability == pytest.approx(2.373611, abs=1e-6)
    given = random_snapshot(form, seed=9).arrays["strategy"]
    expected = NumpySequenceEngine(sequence("leduc")).evaluate(given)
    assert engine.evaluate(given).nash_conv == pytest.approx(expected.nash_conv, abs=1e-9)


@pytest.mark.parametrize("way", ["cupy-carried", "cupy-few-blocks", "torch-graph"])
def test_a_schedule_longer_than_the_table_on_the_device(way):
    engine, other = (build(way, sequence("kuhn"), Updates.ALTERNATING, "float64") for _ in range(2))
    weights = schedule(Plus(), first=1, count=4200)
    engine.advance(weights)
    other.advance(weights[:1000])
    other.advance(weights[1000:])
    np.testing.assert_array_equal(engine.snapshot().arrays["average"], other.snapshot().arrays["average"])


def test_many_players_in_torch():
    pytest.importorskip("torch")
    from regretless.engines.torch.sequence import TorchEngine

    form = history("kuhn(players=3)")
    for updates in Updates:
        for graph in (True, False):
            expected = NumpyHistoryEngine(form, updates=updates)
            engine = TorchEngine(form, updates=updates, device="cuda", dtype="float64", graph=graph)
            for each in (engine, expected):
                each.restore(random_snapshot(form, seed=5))
                each.advance(schedule(Plus(), first=4, count=1))
            assert_same(engine, expected, 1e-10)


@pytest.mark.parametrize("name", ["kuhn", "kuhn(players=3)", "leduc"])
def test_sparse_products_on_the_device(name):
    pytest.importorskip("cupy")
    pytest.importorskip("scipy")
    form = history(name)
    for updates in Updates:
        engine = create("matrix", form, device="cuda", updates=updates)
        expected = NumpyHistoryEngine(form, updates=updates)
        for rule in PRESETS.values():
            for each in (engine, expected):
                each.restore(random_snapshot(form, seed=5))
                each.advance(schedule(rule, first=4, count=1))
            assert_same(engine, expected, 1e-10)


def test_auto_sends_a_large_game_to_the_device():
    pytest.importorskip("cupy")
    assert game_size(sequence("liars_dice")) > GPU_FROM["cuda"] > game_size(sequence("leduc"))
    engine = create("auto", history("liars_dice"))
    assert (engine.name, engine.device) == ("cuda", "cuda")
    expected = create("auto", history("liars_dice"), device="cpu")
    assert (expected.name, expected.device) == ("numba", "cpu")
    for each in (engine, expected):
        each.restore(random_snapshot(history("liars_dice"), seed=2))
        each.advance(schedule(Plus(), first=4, count=2))
    assert_same(engine, expected, 1e-9)
    assert create("auto", history("leduc")).device == "cpu"


def test_payoffs_of_many_values_are_left_unpacked():
    pytest.importorskip("cupy")
    from regretless.engines.cuda.sequence.engine import CudaSequenceEngine

    form = history("leduc(ranks=6)")
    payoff = np.random.default_rng(1).normal(size=form.payoff.shape)
    changed = compile_sequence(replace_payoffs(form, payoff))
    for options in ({"blocks": 1}, {"blocks": 30}, {"mode": "graph"}):
        engine = CudaSequenceEngine(changed, dtype="float64", **options)
        assert "unpacked" in engine.plan
        expected = NumpySequenceEngine(changed)
        for each in (engine, expected):
            each.restore(random_snapshot(form, seed=5))
            each.advance(schedule(Plus(), first=4, count=1))
        assert_same(engine, expected, 1e-10)


def test_impossible_options():
    pytest.importorskip("cupy")
    from regretless.engines.cuda.sequence.engine import CudaSequenceEngine

    for options in (
        {"device": "cpu"},
        {"dtype": "float16"},
        {"mode": "slow"},
        {"blocks": 4, "carried": True},
        {"mode": "graph", "blocks": 4},
    ):
        with pytest.raises(InvalidOption):
            CudaSequenceEngine(sequence("kuhn"), **options)


@pytest.mark.parametrize("updates", Updates)
@pytest.mark.parametrize(("engine", "library"), [("torch", "torch"), ("cuda", "cupy")])
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_a_batch_equals_its_games_one_by_one(name, engine, library, updates):
    pytest.importorskip(library)
    form = history(name)
    random = np.random.default_rng(7)
    games = [replace_payoffs(form, form.payoff * (1.0 + k) + random.normal(size=form.payoff.shape)) for k in range(5)]
    weights = schedule(Plus(), first=1, count=8)
    batch = BatchedEngine(games, updates=updates, device="cuda", dtype="float64", engine=engine)
    batch.advance(weights)
    average, evaluation = batch.average_strategy(), batch.evaluate()
    for number, game in enumerate(games):
        expected = NumpySequenceEngine(compile_sequence(game), updates=updates)
        expected.advance(weights)
        np.testing.assert_allclose(average[number], expected.average_strategy(), atol=1e-9)
        assert evaluation[number].nash_conv == pytest.approx(expected.evaluate().nash_conv, abs=1e-9)


def test_a_thousand_games_at_once():
    pytest.importorskip("cupy")
    form = history("leduc")
    games = [replace_payoffs(form, form.payoff + np.sign(form.payoff) * 0.01 * number) for number in range(1000)]
    batch = BatchedEngine(games, device="cuda", engine="cuda")
    batch.advance(schedule(Plus(), first=1, count=300))
    assert (batch.evaluate().exploitability < 0.02).all()

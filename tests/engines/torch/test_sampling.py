"""Batches of sampled deals in PyTorch. `numba/test_sampling.py` tests that its estimates are unbiased."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from regretless import engines  # noqa: E402
from regretless.engines.contract import Sampling, Snapshot, Updates  # noqa: E402
from regretless.engines.numba.sampling import NumbaSamplingEngine  # noqa: E402
from regretless.engines.sampling import GAMMA, key_of, uniform  # noqa: E402
from regretless.engines.torch.sampling import (  # noqa: E402
    TorchSamplingEngine,
    _mix,
    _signed,
    slot_levels,
)
from regretless.errors import InvalidOption, WouldNotFit  # noqa: E402
from regretless.forms import HistoryForm, compile_history, memory_bytes  # noqa: E402
from regretless.games import Kuhn, Leduc  # noqa: E402
from regretless.variants import PRESETS, schedule  # noqa: E402

KUHN = compile_history(Kuhn())
LEDUC = compile_history(Leduc())


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def same(first: Snapshot, second: Snapshot) -> bool:
    return first.iteration == second.iteration and all(
        np.array_equal(first.arrays[name], second.arrays[name]) for name in ("regret", "average", "strategy", "sampler")
    )


def test_random_numbers_are_those_of_the_compiled_walks() -> None:
    random = np.array([key_of(5), 0], np.uint64)
    expected = [uniform(random) for _ in range(1_000)]
    bits = _mix(_signed(np.uint64(key_of(5))) + torch.arange(1, 1_001) * _signed(GAMMA))
    drawn = ((bits >> 11) & (2**53 - 1)).to(torch.float64) * 2.0**-53
    assert drawn.tolist() == expected
    assert 0.45 < np.mean(expected) < 0.55


def test_deals_of_a_card_game_share_one_tree() -> None:
    """Once the cards are known, Leduc's 9,457 nodes are one betting tree of 92, seven of them dealt by chance."""
    levels = slot_levels(LEDUC)
    assert 1 + sum(len(level.parent) for level in levels) == 92
    assert sum(len(level.drawn) for level in levels) == 2 + 5  # two hands, and a card after each of 5 first rounds


@pytest.mark.parametrize("variant", ["vanilla", "discounted", "predictive-plus"])
def test_a_resumed_run_is_the_uninterrupted_run(variant: str) -> None:
    rule = PRESETS[variant]
    whole, first, second = (TorchSamplingEngine(KUHN, batch_size=32, seed=seed) for seed in (3, 3, 4))
    whole.advance(schedule(rule, first=1, count=30))
    first.advance(schedule(rule, first=1, count=11))
    second.restore(first.snapshot())
    second.advance(schedule(rule, first=12, count=19))
    assert same(whole.snapshot(), second.snapshot())


def test_seeds_differ() -> None:
    first, second = (TorchSamplingEngine(KUHN, batch_size=32, seed=seed) for seed in (1, 2))
    for engine in (first, second):
        engine.advance(schedule(PRESETS["vanilla"], first=1, count=3))
    assert not np.array_equal(first.snapshot().arrays["regret"], second.snapshot().arrays["regret"])


@pytest.mark.parametrize("name", ["numba", "torch"])
@pytest.mark.parametrize(
    ("form", "iterations", "exploitability"), [(KUHN, 80, 0.02), (LEDUC, 30, 0.4)], ids=["kuhn", "leduc"]
)
def test_play_converges(name: str, form: HistoryForm, iterations: int, exploitability: float) -> None:
    engine = engines.create(name, form, sampling=Sampling.CHANCE, batch_size=256, seed=1)
    engine.advance(schedule(PRESETS["plus"], first=1, count=iterations))
    assert engine.evaluate().exploitability < exploitability


def test_three_players() -> None:
    engine = TorchSamplingEngine(compile_history(Kuhn(players=3)), batch_size=64, seed=1)
    engine.advance(schedule(PRESETS["linear"], first=1, count=30))
    assert engine.evaluate().nash_conv < 0.3


def test_a_large_batch_is_nearly_the_whole_game() -> None:
    """All 6 deals with their probabilities, or the mean of 20,000 samples: still close after five iterations."""
    rows = schedule(PRESETS["vanilla"], first=1, count=5)
    full = engines.create("numpy", KUHN)
    batch = NumbaSamplingEngine(KUHN, sampling=Sampling.CHANCE, batch_size=20_000, seed=1)
    tensor = TorchSamplingEngine(KUHN, batch_size=20_000, seed=1, dtype="float64")
    for engine in (full, batch, tensor):
        engine.advance(rows)
    np.testing.assert_allclose(batch.snapshot().arrays["regret"], full.snapshot().arrays["regret"], atol=0.03)
    np.testing.assert_allclose(tensor.snapshot().arrays["regret"], full.snapshot().arrays["regret"], atol=0.03)


def test_memory_is_estimated_before_it_is_allocated() -> None:
    small, large = TorchSamplingEngine(KUHN, batch_size=10), TorchSamplingEngine(KUHN, batch_size=10_000)
    assert memory_bytes(KUHN) < small.memory_bytes < large.memory_bytes / 50
    with pytest.raises(WouldNotFit, match="deals needs"):
        TorchSamplingEngine(LEDUC, batch_size=10**12)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"name": "torch", "sampling": Sampling.EXTERNAL}, "sampling"),
        ({"name": "numpy", "sampling": Sampling.CHANCE}, "engine"),
        ({"name": "numba", "sampling": Sampling.CHANCE, "device": "cuda"}, "device"),
        ({"name": "auto", "sampling": Sampling.CHANCE, "updates": Updates.SIMULTANEOUS}, "updates"),
        ({"name": "torch", "sampling": Sampling.CHANCE, "batch_size": 0}, "batch_size"),
    ],
    ids=str,
)
def test_impossible_options_are_named(options: dict[str, object], named: str) -> None:
    with pytest.raises(InvalidOption, match=f"^{named}"):
        engines.create(form=KUHN, **options)  # type: ignore[arg-type]


@pytest.mark.gpu
def test_a_gpu_deals_the_same_cards_and_repeats_bit_identically() -> None:
    rows = schedule(PRESETS["linear"], first=1, count=50)
    host = TorchSamplingEngine(LEDUC, batch_size=256, seed=1, dtype="float64")
    recorded, again = (TorchSamplingEngine(LEDUC, batch_size=256, seed=1, device="cuda", dtype="float64") for _ in "12")
    plain = TorchSamplingEngine(LEDUC, batch_size=256, seed=1, device="cuda", dtype="float64", graph=False)
    for engine in (host, recorded, again, plain):
        engine.advance(rows)
    assert same(recorded.snapshot(), again.snapshot())
    assert same(recorded.snapshot(), plain.snapshot())
    np.testing.assert_allclose(recorded.snapshot().arrays["regret"], host.snapshot().arrays["regret"], atol=1e-9)

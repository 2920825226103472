"""Strategies per bucket, evaluated with real cards: equal to the reference on random forms."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from typing import Any
from weakref import ref

import numpy as np
import pytest
from tests.engines.cuda_host_device import HostDevice
from tests.engines.random_public import random_form
from tests.engines.test_buckets import small_form

from regretless.engines.bucket_strategies import BucketEvaluators, BucketStrategy, EvaluationStopped, StrategyTables
from regretless.engines.creation import bucket_evaluators
from regretless.engines.cuda import device as cuda_device
from regretless.engines.cuda.public.bucket_evaluator import CudaBucketEvaluators
from regretless.engines.numba.public.bucket_evaluator import NumbaBucketEvaluator
from regretless.engines.numba.public.sizes import bucket_evaluation_bytes
from regretless.engines.numpy.public import PublicReference
from regretless.engines.priced import bucket_strategy, with_real_cards
from regretless.errors import InvalidGame
from regretless.forms.public import NodeKind, PublicForm
from regretless.forms.public_size import size_of_form

needs_gcc = pytest.mark.skipif(
    shutil.which("g++") is None or not sys.platform.startswith("linux"), reason="needs g++ and fibers"
)
DEVICES = ["cpu", pytest.param("emulated", marks=needs_gcc), pytest.param("cuda", marks=pytest.mark.gpu)]
CASES = [(seed, streets) for streets in (1, 2, 3) for seed in (4, 7, 13)]


class Strategy:
    """Random buckets and a random strategy."""

    def __init__(self, form: PublicForm, seed: int) -> None:
        random, tree = np.random.default_rng(seed), form.tree
        counts = random.integers(1, 6, size=(2, len(form.streets)))
        self.maps = tuple(
            tuple(
                random.integers(0, count, size=(len(street.parent), len(held.weight)))
                for count, street in zip(numbers, form.streets, strict=True)
            )
            for numbers, held in zip(counts, form.hands, strict=True)
        )
        actions = np.diff(tree.first_child)
        self.tables = {
            int(node): random.dirichlet(np.full(actions[node], 0.3), counts[tree.player[node], tree.street[node]]).T
            for node in np.flatnonzero(tree.kind == NodeKind.DECISION)
        }
        self.in_buckets = bucket_strategy(form, (self.maps[0], self.maps[1]), self.tables.__getitem__)
        first, later = ([node for node in self.tables if (tree.street[node] > 0) == after] for after in (False, True))
        self.later = StrategyTables.of(later, map(self.tables.__getitem__, later))
        self.first = [
            StrategyTables.of(first, [np.roll(self.tables[node], turn, axis=0) for node in first]) for turn in (0, 1)
        ]
        self.by_hand = with_real_cards(form, (self.maps[0], self.maps[1]), self.tables.__getitem__)


def evaluators(device: str) -> BucketEvaluators:
    return CudaBucketEvaluators(device=HostDevice()) if device == "emulated" else bucket_evaluators(device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("seed", "streets"), CASES)
def test_it_finds_what_the_reference_finds(seed: int, streets: int, device: str) -> None:
    form = small_form(seed, streets)
    strategy = Strategy(form, seed)
    wanted = PublicReference(form).evaluate(strategy.by_hand)
    found = evaluators(device).create(form).evaluate(strategy.in_buckets)
    assert found.values == pytest.approx(wanted.values, abs=1e-5)
    assert found.best_response_values == pytest.approx(wanted.best_response_values, abs=1e-5)


@pytest.mark.parametrize(("seed", "streets"), CASES)
def test_threads_change_nothing(seed: int, streets: int) -> None:
    form = small_form(seed, streets)
    played = Strategy(form, seed).in_buckets
    one, three = (NumbaBucketEvaluator(form, threads=threads).evaluate(played) for threads in (1, 3))
    assert one == three


@pytest.mark.parametrize("device", DEVICES[1:])
@pytest.mark.parametrize(("seed", "streets"), [(7, 2), (13, 2), (36, 3), (39, 3)])
def test_every_device_finds_the_same_values_on_the_first_street(seed: int, streets: int, device: str) -> None:
    """Two strategies that share the table of the later streets."""
    form = small_form(seed, streets)
    drawn = Strategy(form, seed)
    on, compiled = evaluators(device), NumbaBucketEvaluator(form)
    for first in drawn.first:
        strategy = BucketStrategy((drawn.later, first), drawn.in_buckets.maps)
        found, wanted = on.create(form).first_street_values(strategy), compiled.first_street_values(strategy)
        assert found.shape == wanted.shape
        assert found == pytest.approx(wanted, abs=1e-4)
        assert np.abs(wanted).max() > 1


@needs_gcc
def test_an_emulated_evaluator_counts_its_memory_refuses_what_it_cannot_number_and_stops_when_asked() -> None:
    form = random_form(3, deck=9, streets=3, most_hands=30)
    strategy = Strategy(form, 3).in_buckets
    on = CudaBucketEvaluators(device=HostDevice())
    evaluator = on.create(form)
    counted = on.needed_bytes(size_of_form(form), probabilities=len(strategy.tables[0].probability))
    assert 0 < evaluator.memory_bytes < counted
    (first, *others), theirs = strategy.maps
    with pytest.raises(InvalidGame, match="has a bucket 70,000: the cuda engine can count 65,536"):
        evaluator.evaluate(replace(strategy, maps=((np.full_like(first, 70_000), *others), theirs)))
    with pytest.raises(EvaluationStopped):
        CudaBucketEvaluators(device=HostDevice(), interrupted=lambda: True).create(form).evaluate(strategy)


class CountingDevice(HostDevice):
    """Knows how much of what it gave away is still held, and how often it gave away how much."""

    def __init__(self) -> None:
        super().__init__()
        self.zeroed: list[int] = []
        self.most = 0
        self._given: list[ref[np.ndarray]] = []

    def zeros(self, count: int, dtype: np.dtype[Any]) -> np.ndarray:
        self.zeroed.append(count * dtype.itemsize)
        return self._counted(super().zeros(count, dtype))

    def upload(self, array: np.ndarray) -> np.ndarray:
        return self._counted(super().upload(array))

    def _counted(self, buffer: np.ndarray) -> np.ndarray:
        self._given.append(ref(buffer))
        self.most = max(self.most, self.held)
        return buffer

    @property
    def held(self) -> int:
        """Bytes; what only the garbage collector would free counts."""
        found = (each() for each in self._given)
        return sum(buffer.nbytes for buffer in found if buffer is not None)


@needs_gcc
def test_forms_that_are_evaluated_one_after_another_take_turns_with_the_same_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Over four forms and two strategies, no more is held than is counted for one, and rows are allocated twice."""
    monkeypatch.setattr(cuda_device, "CHUNK_BYTES", 1 << 17)
    monkeypatch.setattr(cuda_device, "STAGED_BYTES", 1 << 14)
    small, large = (random_form(3, deck=deck, streets=3, most_hands=60) for deck in (10, 12))
    device = CountingDevice()
    for seed in range(2):
        device.zeroed.clear()
        on = CudaBucketEvaluators(device=device)
        for form in (small, large, large, small):
            strategy = Strategy(form, seed).in_buckets
            assert on.create(form).evaluate(strategy) == CudaBucketEvaluators(device=HostDevice()).create(
                form
            ).evaluate(strategy)
        assert len([size for size in device.zeroed if size > 1 << 20]) == 2
        del on
        assert device.held == 0
    counted = CudaBucketEvaluators(device=HostDevice()).needed_bytes(
        size_of_form(large), probabilities=len(strategy.tables[0].probability)
    )
    assert counted / 2 < device.most < counted


@needs_gcc
def test_two_evaluators_at_once_have_rows_of_their_own() -> None:
    form = small_form(13, 3)
    strategies = [Strategy(form, seed).in_buckets for seed in range(2)]
    on = CudaBucketEvaluators(device=HostDevice())
    both = [on.create(form) for _ in strategies]
    found = [evaluator.evaluate(strategy) for evaluator, strategy in zip(both, strategies, strict=True)]
    assert found == [on.create(form).evaluate(strategy) for strategy in strategies]
    assert found[0] != found[1]


def test_its_tables_are_counted_and_it_stops_when_asked() -> None:
    form = random_form(3, deck=9, streets=3, most_hands=30)
    assert 0 < NumbaBucketEvaluator(form).memory_bytes < bucket_evaluation_bytes(size_of_form(form), probabilities=0)
    with pytest.raises(EvaluationStopped):
        NumbaBucketEvaluator(form, interrupted=lambda: True).evaluate(Strategy(form, 3).in_buckets)

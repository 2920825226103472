"""Threads that share the walks of the public form: the same numbers whatever their number and whatever happens."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.random_public import random_form

from regretless.engines.numba.public import plan
from regretless.engines.numba.public.engine import NumbaPublicEngine
from regretless.engines.numba.public.kernels.iterate import group_owner
from regretless.engines.numpy.public import PublicReference
from regretless.engines.threads import Workers
from regretless.forms.public import PublicForm
from regretless.variants import PRESETS, Plus, schedule

THREADS = (2, 3, 4, 5, 8)  # 5 to 7 runouts of the second street: equal shares, remainders, fewer runouts than threads


def solved(form: PublicForm, threads: int, storage: int = 32, variant: str = "discounted") -> NumbaPublicEngine:
    """After seven iterations in two calls, with a measurement between them."""
    engine = NumbaPublicEngine(form, threads=threads, storage=storage)
    engine.advance(schedule(PRESETS[variant], 1, 4))
    engine.evaluate()
    engine.advance(schedule(PRESETS[variant], 5, 3))
    return engine


def assert_same(one: NumbaPublicEngine, two: NumbaPublicEngine) -> None:
    for name, numbers in one.snapshot().arrays.items():
        np.testing.assert_array_equal(two.snapshot().arrays[name], numbers)
    assert two.evaluate() == one.evaluate()
    for player in range(2):
        np.testing.assert_array_equal(two.root_values(player), one.root_values(player))


@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("streets", [1, 2, 3, 4])
@pytest.mark.parametrize("chunk_bytes", [plan.CHUNK_BYTES, 256], ids=["one chunk", "many chunks"])
def test_results_do_not_depend_on_the_number_of_threads(
    storage: int, streets: int, chunk_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small chunks divide the blocks that are left over when all threads have had the same number."""
    monkeypatch.setattr(plan, "CHUNK_BYTES", chunk_bytes)
    form = random_form(3, deck=7, streets=streets, most_hands=12)
    alone = solved(form, 1, storage)
    last = plan.make_plans(alone.layout, np.float32)[0].streets[-1]
    assert (last["last_chunk"] - last["first_chunk"] > 1) == (chunk_bytes == 256 and streets > 1)
    for threads in THREADS if streets < 4 else (3, 8):  # a form of four streets is large
        shared = solved(form, threads, storage)
        assert shared.threads == (1 if streets == 1 else min(threads, len(form.streets[1].parent)))
        assert_same(alone, shared)


@pytest.mark.parametrize("threads", [2, 3, 4])
def test_threads_that_add_up_whole_groups_of_their_own_blocks(threads: int) -> None:
    """Groups of six: with 25 runouts, two or four threads own four of them, three threads own two."""
    form = random_form(5, deck=25, streets=2, most_hands=12)
    assert len(form.streets[1].parent) == 25
    owned = [group_owner(group, 25 // threads, threads) for group in range(5)]
    assert sum(owner >= 0 for owner in owned) == {2: 4, 3: 2, 4: 4}[threads]
    alone = solved(form, 1)
    assert_same(alone, solved(form, threads))
    plain = PublicReference(form)
    plain.advance(schedule(PRESETS["discounted"], 1, 1))
    shared = NumbaPublicEngine(form, threads=threads)
    shared.advance(schedule(PRESETS["discounted"], 1, 1))
    scale = np.abs(form.payoffs.win).max() + 1.0
    np.testing.assert_allclose(shared.evaluate().values, plain.evaluate().values, atol=1e-5 * scale)


@settings(max_examples=12)
@given(
    seed=st.integers(0, 10**6),
    streets=st.integers(2, 3),
    threads=st.sampled_from(THREADS),
    variant=st.sampled_from(["postflop", "predictive-plus"]),
)
def test_random_forms_on_several_threads(seed: int, streets: int, threads: int, variant: str) -> None:
    form = random_form(seed, deck=7, streets=streets, most_hands=20, rake=0.03 * (seed % 2))
    assert_same(solved(form, 1, variant=variant), solved(form, threads, variant=variant))


@pytest.mark.parametrize("seed", [0, 2, 3, pytest.param(7, marks=pytest.mark.slow)])  # two and three streets
def test_several_threads_agree_with_the_plain_engine(seed: int) -> None:
    """From the same random regrets: where regrets tie at 0, rounding would decide."""
    form, random = random_form(seed, deck=7, streets=2 + seed % 2, most_hands=12), np.random.default_rng(seed)
    shared, plain = NumbaPublicEngine(form, threads=3), PublicReference(form)
    state = plain.snapshot()
    for name, array in state.arrays.items():
        array[:] = random.uniform(0.1, 1.0, size=array.shape)
        if "average" not in name:
            array[:] = state.arrays[name.replace("matched", "regret")] - (0.5 if "regret" in name else 0.0)
    plain.restore(state)
    rounded = {name: array.astype(np.float32) for name, array in state.arrays.items() if "matched" not in name}
    shared.restore(replace(state, arrays=rounded))
    scale = np.abs(form.payoffs.win).max() + 1.0
    for rows in (schedule(Plus(), 1, 0), schedule(Plus(), 1, 1)):
        for engine in (shared, plain):
            engine.advance(rows)
        one, two = shared.evaluate(), plain.evaluate()
        np.testing.assert_allclose(one.values, two.values, atol=1e-5 * scale)
        np.testing.assert_allclose(one.best_response_values, two.best_response_values, atol=1e-5 * scale)


def test_locks_hold_on_several_threads() -> None:
    form = random_form(3, deck=7, streets=3, most_hands=12)
    engines = [NumbaPublicEngine(form, threads=threads) for threads in (1, 4)]
    for engine in engines:
        strategy = engine.strategy(0)
        strategy[:] = 0.0
        strategy[-1] = 1.0
        engine.lock(0, strategy)
        engine.advance(schedule(PRESETS["discounted"], 1, 5))
        np.testing.assert_array_equal(engine.strategy(0), strategy)
    assert_same(*engines)


def test_more_threads_than_cores_finish_and_then_leave_the_processor_alone() -> None:
    form = random_form(3, deck=9, streets=3, most_hands=12)
    engine = NumbaPublicEngine(form, threads=8)
    assert engine.threads == 8
    for first in range(1, 1000, 50):
        engine.advance(schedule(PRESETS["discounted"], first, 50))
    alone = NumbaPublicEngine(form)
    alone.advance(schedule(PRESETS["discounted"], 1, 1000))
    assert_same(alone, engine)
    for other in engine._team._others.values():
        other.result(timeout=600)
    engine.advance(schedule(PRESETS["discounted"], 1001, 50))  # they come back
    alone.advance(schedule(PRESETS["discounted"], 1001, 50))
    assert_same(alone, engine)


def test_an_interrupt_while_threads_are_called_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    form = random_form(3, deck=7, streets=3, most_hands=12)
    alone, shared = NumbaPublicEngine(form), NumbaPublicEngine(form, threads=4)
    submit, called = Workers.submit, []

    def interrupted(self: Workers, *arguments: object) -> object:
        called.append(arguments)
        if len(called) == 2:
            raise KeyboardInterrupt
        return submit(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Workers, "submit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        shared.advance(schedule(PRESETS["discounted"], 1, 5))
    assert shared.iteration == 0
    for engine in (alone, shared):
        engine.advance(schedule(PRESETS["discounted"], 1, 5))
    assert_same(alone, shared)

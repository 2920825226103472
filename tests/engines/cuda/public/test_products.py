"""Terminals as matrix products, on an emulated device: they agree with sums and with other engines."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.engines.cuda_host_device import HostDevice
from tests.engines.random_public import random_form

from regretless.engines.cuda.public import terminals, walks
from regretless.engines.cuda.public.engine import CudaPublicEngine
from regretless.engines.cuda.public.hands import code_bytes
from regretless.engines.cuda.public.plan import make_plan
from regretless.engines.layout import make_layout
from regretless.engines.numba.public.engine import NumbaPublicEngine
from regretless.forms.public import PublicForm
from regretless.forms.walking import middle_of
from regretless.variants import PRESETS, schedule

pytestmark = pytest.mark.skipif(
    shutil.which("g++") is None or not sys.platform.startswith("linux"), reason="needs g++ and fibers"
)

LARGEST = 16.0  # a hand's value in one iteration, in the unit of 16 bits
STEP = 2.0**-11  # of half precision, as a share


def engine_of(form: PublicForm, *, multiplies: bool = True) -> CudaPublicEngine:
    return CudaPublicEngine(form, device=HostDevice(multiplies=multiplies), storage=16)


def advanced(engine: CudaPublicEngine | NumbaPublicEngine, iterations: int) -> None:
    engine.advance(schedule(PRESETS["discounted"], engine.iteration + 1, iterations))


def regrets(engine: CudaPublicEngine | NumbaPublicEngine) -> np.ndarray:
    arrays = engine.snapshot().arrays
    return np.concatenate([np.asarray(arrays[f"regret.{own}"], dtype=np.float64) for own in range(2)])


@pytest.mark.parametrize(
    ("seed", "streets"),
    [(3, 1), (4, 2), (5, 2), (3, 3), pytest.param(11, 3, marks=pytest.mark.slow)],  # the last: a thousand nodes
)
def test_one_iteration_equals_that_of_other_engines(seed: int, streets: int) -> None:
    """From the same state each time, since a tie that rounding decides may lead far apart."""
    form = random_form(seed, streets=streets, deck=9, most_hands=24)
    learner = engine_of(form)
    assert learner.products
    for before in (0, 1, 12):
        if before:
            advanced(learner, before)
        state = learner.snapshot()
        others = engine_of(form, multiplies=False), NumbaPublicEngine(form, storage=16)
        assert not others[0].products
        advanced(learner, 1)
        for other in others:
            other.restore(state)
            advanced(other, 1)
            found, expected = regrets(learner), regrets(other)
            # The second player learns after the first, whose new strategies a tie may change: most numbers must agree.
            close = np.abs(found - expected) <= 2 * STEP * (LARGEST + np.abs(expected))
            assert close.mean() > 0.97
            first = len(np.asarray(state.arrays["regret.0"]))
            assert close[:first].all()


@pytest.mark.parametrize("most_hands", [8, 24, 60])
def test_matrices_take_as_many_bytes_as_the_host_allocates(most_hands: int) -> None:
    form = random_form(5, streets=2, deck=12, most_hands=most_hands)
    engine = engine_of(form)
    finals, unwritten, guard = int(engine.layout.runouts[-1]), 0xEEEEEEEE, 64
    kernels, on = engine._walks._kernels, engine.on
    for own in range(2):
        n, m = int(engine.layout.hands[own]), int(engine.layout.hands[1 - own])
        words = finals * code_bytes(n, m) // 4
        codes, jobs = np.full(words + guard, unwritten, dtype=np.uint32), engine.spot.jobs.copy()
        jobs["codes"] = codes.ctypes.data
        each = np.stack([np.full(finals, own), np.arange(finals)], axis=1).astype(np.int32)
        kernels["make_codes"]((finals,), 256, 0, on.upload(jobs.view(np.uint8)), on.upload(each))
        assert (codes[:words] != unwritten).all()
        assert (codes[words:] == unwritten).all()


def test_many_iterations_are_as_good() -> None:
    form = random_form(4, streets=2, deck=9, most_hands=24)
    gaps = []
    for multiplies in (True, False):
        engine = engine_of(form, multiplies=multiplies)
        advanced(engine, 80)
        gaps.append(engine.evaluate().exploitability)
    assert gaps[0] < max(1.5 * gaps[1], 2e-4 * float(np.abs(form.payoffs.win).max()))


def test_panels_of_any_size_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    form = random_form(5, streets=2, deck=9, most_hands=24)
    found = []
    for blocks in (2, 160):
        monkeypatch.setattr(walks, "PANEL_BLOCKS", blocks)  # that share a processor's memory
        engine = engine_of(form)
        advanced(engine, 3)
        found.append(regrets(engine))
        assert (max(len(panels.panels) for panels in engine.spot.panels) > 1) == (blocks > 2)
    assert np.array_equal(*found)


@pytest.mark.parametrize("own", [0, 1])
def test_panels_have_every_terminal_once(own: int) -> None:
    form = random_form(11, streets=2, deck=9, most_hands=24)
    layout = make_layout(form)
    plan = make_plan(layout, own)
    found, _ = plan.panels(int(layout.hands[1 - own]), 2048)
    assert len(found.panels) > 1
    assert sorted(found.stakes.tolist()) == sorted(plan.terminals.stakes.tolist())
    for panel in found.panels:
        rows = found.stakes[panel["first"] : panel["first"] + panel["rows"]]
        places = np.arange(len(rows))
        assert np.array_equal(rows["fold_row"] >= 0, places < panel["mixed"])
        assert np.array_equal(rows["fold_value"] >= 0, places >= panel["plain"])
        assert np.array_equal(rows["value_row"] >= 0, places < panel["showdowns"])
        direct = (places >= panel["direct_first"]) & (places < panel["direct_last"])
        assert np.array_equal(rows["opponent_row"] < 0, direct)


def test_with_rake_or_many_hands_terminals_are_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    form = random_form(4, streets=1)
    assert engine_of(form).products
    assert not engine_of(random_form(4, streets=1, rake=0.05)).products
    assert not CudaPublicEngine(form, device=HostDevice(), storage=32).products
    monkeypatch.setattr(terminals, "MAX_PAIRS", 100)
    assert not engine_of(form).products


def test_the_value_of_a_tie_is_found() -> None:
    form = random_form(4, streets=1)
    middle = middle_of(form, 0)
    assert middle is not None
    higher = replace(form.payoffs, **{name: getattr(form.payoffs, name) + 3.0 for name in ("win", "lose", "tie")})
    assert middle_of(replace(form, payoffs=higher), 0) == pytest.approx(middle + 3.0)
    uneven = replace(form.payoffs, tie=form.payoffs.tie + 0.01)
    assert middle_of(replace(form, payoffs=uneven), 0) is None

"""The CUDA engine of the bucketed form on an emulated device: same host code, same kernels, threads as fibers."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.engines.cuda_host_device import HostDevice
from tests.engines.test_buckets import (
    SMALL,
    assert_follows_the_reference,
    assert_same_bits,
    decisions,
    random_buckets,
    small_form,
)

from regretless import engines
from regretless.engines.cuda.buckets.engine import CudaBucketedEngine, estimate, kernel_source
from regretless.engines.numpy.buckets import BucketedReference
from regretless.engines.registry import fastest
from regretless.errors import InvalidGame, InvalidOption
from regretless.forms.bucketed import BucketedForm, bucketed_form, lossless
from regretless.forms.public_poker import compile_public
from regretless.games import Kuhn, Leduc
from regretless.variants import PRESETS, schedule

pytestmark = pytest.mark.skipif(
    shutil.which("g++") is None or not sys.platform.startswith("linux"), reason="needs g++ and fibers"
)


def emulated(form: BucketedForm) -> CudaBucketedEngine:
    return CudaBucketedEngine(form, device=HostDevice(host="bucketed_on_host.cpp"))


@pytest.mark.parametrize(
    ("seed", "streets", "variant"),
    [(*case, variant) for case, variant in zip(SMALL, 2 * ["plus", "discounted", "predictive-plus"], strict=True)],
)
def test_it_follows_the_reference(seed: int, streets: int, variant: str) -> None:
    engine = emulated(random_buckets(small_form(seed, streets), seed))
    if variant.startswith("predictive"):
        engine.advance(schedule(PRESETS[variant], first=1, count=1))  # from now on it stores predictions
    assert_follows_the_reference(engine, variant)


@pytest.mark.parametrize("game", [Kuhn(), Leduc()], ids=str)
def test_games_of_one_card_follow_the_reference(game: Kuhn | Leduc) -> None:
    form = compile_public(game)
    assert_follows_the_reference(emulated(bucketed_form(form, lossless(form), count=3, seed=2)), "linear")


def test_wide_sums_follow_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    form = random_buckets(small_form(7, 3), 7)
    engine = emulated(form)
    monkeypatch.setattr("regretless.engines.cuda.buckets.engine.needs_wide_tiles", lambda *_: True)
    wide = emulated(form)
    assert_follows_the_reference(wide, "linear")
    engine.advance(schedule(PRESETS["linear"], first=1, count=6))
    wide.restore(emulated(form).snapshot())
    wide.advance(schedule(PRESETS["linear"], first=1, count=6))
    pairs = zip(engine.snapshot().arrays.values(), wide.snapshot().arrays.values(), strict=True)
    assert any(not np.array_equal(mine, theirs) for mine, theirs in pairs)


@pytest.mark.parametrize("variant", ["linear", "predictive-plus"])
def test_a_resumed_solve_ends_with_the_same_bits(variant: str) -> None:
    form = random_buckets(small_form(7, 3), 7)
    whole, first, second = (emulated(form) for _ in range(3))
    whole.advance(schedule(PRESETS[variant], first=1, count=6))
    first.advance(schedule(PRESETS[variant], first=1, count=4))
    second.advance(schedule(PRESETS[variant], first=1, count=1))  # a batch for iteration 2 is prepared, but not used
    second.restore(first.snapshot())
    second.advance(schedule(PRESETS[variant], first=5, count=2))
    assert_same_bits(second, whole)


def test_the_estimate_is_what_it_takes() -> None:
    form = random_buckets(small_form(4, 3), 4, count=7)
    engine = emulated(form)
    buffers = [buffer.base if buffer.base is not None else buffer for buffer in engine._buffers.values()]
    sizes = {id(buffer): buffer.nbytes for buffer in (*buffers, *engine._regret, *engine._average)}
    assert engine.memory_bytes == estimate(form) == sum(sizes.values())
    engine.advance(schedule(PRESETS["predictive-plus"], first=1, count=1))
    assert engine.memory_bytes == estimate(form) + sum(buffer.nbytes for buffer in engine._matched)


def test_a_strategy_is_that_of_the_tables() -> None:
    form = random_buckets(small_form(8, 2), 8)
    engine, reference = emulated(form), BucketedReference(form)
    for each in (engine, reference):
        each.advance(schedule(PRESETS["linear"], first=1, count=2))
    for node in decisions(form):
        assert engine.strategy(node) == pytest.approx(reference.strategy(node), abs=1e-5)


def test_it_is_the_first_choice_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regretless.engines.devices.require_cuda", lambda: None)
    monkeypatch.setattr("regretless.engines.registry.is_installed", lambda name: True)
    assert fastest(engines.FormKind.BUCKETED, "cuda") == "cuda"


def test_more_hands_than_a_step_can_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regretless.engines.cuda.buckets.engine.MAX_HANDS", 3)
    with pytest.raises(InvalidGame, match="hands: the cuda engine can count 3"):
        emulated(random_buckets(small_form(4, 3), 4))


def test_more_boards_than_a_launch_can_have_are_refused() -> None:
    with pytest.raises(InvalidOption, match="sample_runouts: 65536 must be at most 65,535 with cuda"):
        emulated(random_buckets(small_form(4, 3), 4, count=2**16))


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
@pytest.mark.parametrize("real", ["float", "double"])
def test_the_kernels_compile(real: str, tmp_path: Path) -> None:
    source = tmp_path / "kernels.cu"
    source.write_text(kernel_source(), encoding="utf-8")
    flags = ["-std=c++17", "-arch=sm_80", "-G", "-ptx", "-o", str(tmp_path / "kernels.ptx"), f"-DReal={real}"]
    done = subprocess.run(["nvcc", *flags, str(source)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr

"""A game from the deal on a CUDA device, emulated or real: every hand of both players, 657 nodes on four streets."""

from __future__ import annotations

import shutil
import sys

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.engines.cuda_host_device import HostDevice
from tests.engines.test_buckets import assert_same_bits

from regretless import engines
from regretless.engines.contract import BucketedEngine
from regretless.engines.cuda.buckets.engine import CudaBucketedEngine
from regretless.forms.bucketed import BucketedForm
from regretless.holdem.buckets.table import NO_BUCKET
from regretless.holdem.games.boards import GameBuckets, blocked, make_form
from regretless.holdem.games.game import HoldemGame
from regretless.variants import PRESETS, schedule

GAME = HoldemGame.from_mapping(
    {
        "stack": 20,
        "small_blind": 0.5,
        "big_blind": 1,
        "preflop": {"open": "2x, a", "3bet": "a"},
        "bets": {"bet": "75%", "raise": "a"},
    }
)
BUCKETS = 50

needs_gcc = pytest.mark.skipif(
    shutil.which("g++") is None or not sys.platform.startswith("linux"), reason="needs g++ and fibers"
)


class RandomBuckets:
    """Any hand may be in any bucket, the same whenever a board is drawn."""

    def count(self, street: str) -> int:
        return BUCKETS

    def lookup(self, boards: NDArray[np.uint8]) -> NDArray[np.uint16]:
        found = [np.random.default_rng(board.tolist()).integers(0, BUCKETS, 1326) for board in boards]
        return np.where(blocked(boards), NO_BUCKET, np.array(found)).astype(np.uint16)


def form_of(*, boards: int) -> BucketedForm:
    acting = dict.fromkeys(("flop", "turn", "river"), True)
    return make_form(GAME, GameBuckets(RandomBuckets(), acting), count=boards, seed=0)


def learned(*several: BucketedEngine) -> list[dict[str, NDArray[np.float32]]]:
    """What engines of the same form learn in an iteration from the same random numbers.

    If regrets began at 0, rounding would decide the sign of some, and the second player responds to signs.
    """
    random, start = np.random.default_rng(1), several[0].snapshot()
    for name, numbers in start.arrays.items():
        numbers[:] = random.normal(size=numbers.shape) if "regret" in name else random.random(numbers.shape)
    found = []
    for engine in several:
        engine.restore(start)
        engine.advance(schedule(PRESETS["linear"], first=1, count=1))
        found.append(dict(engine.snapshot().arrays))
    return found


def gap(found: dict[str, NDArray[np.float32]], wanted: dict[str, NDArray[np.float32]]) -> float:
    """The largest difference, relative to the largest number in its array."""
    assert found.keys() == wanted.keys()
    return max(float(np.abs(found[name] - wanted[name]).max() / np.abs(wanted[name]).max()) for name in wanted)


@needs_gcc
def test_the_emulated_device_agrees_with_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    form = form_of(boards=2)
    cpu, emulated = (
        engines.create("numba", form),
        CudaBucketedEngine(form, device=HostDevice(host="bucketed_on_host.cpp")),
    )
    monkeypatch.setattr("regretless.engines.cuda.buckets.engine.needs_wide_tiles", lambda *_: True)
    wide = CudaBucketedEngine(form, device=HostDevice(host="bucketed_on_host.cpp"))
    wanted, found, precise = learned(cpu, emulated, wide)
    assert gap(found, wanted) < 2e-5
    assert gap(found, precise) < 5e-7  # without compensated sums, ten times as much
    assert not all(np.array_equal(found[name], precise[name]) for name in found)


@pytest.mark.gpu
def test_a_device_agrees_with_the_cpu() -> None:
    pytest.importorskip("cupy")
    form = form_of(boards=2)
    wanted, found = learned(engines.create("numba", form), engines.create("cuda", form, device="cuda"))
    assert gap(found, wanted) < 2e-5


@pytest.mark.gpu
@pytest.mark.parametrize("variant", ["linear", "predictive-plus"])
def test_a_solve_resumed_on_a_device_ends_with_the_same_bits(variant: str) -> None:
    pytest.importorskip("cupy")
    form = form_of(boards=16)
    whole, first, second = (engines.create("cuda", form, device="cuda") for _ in range(3))
    whole.advance(schedule(PRESETS[variant], first=1, count=12))
    first.advance(schedule(PRESETS[variant], first=1, count=7))
    second.restore(first.snapshot())
    second.advance(schedule(PRESETS[variant], first=8, count=5))
    assert whole.iteration == 12
    assert_same_bits(second, whole)

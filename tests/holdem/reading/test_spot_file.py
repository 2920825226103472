"""What a file says is what the engine says, however many threads encode it and wherever the numbers are."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.engines.cuda_host_device import HostDevice
from tests.holdem.random_spots import random_spot

import regretless as rl
from regretless.engines import devices, registry
from regretless.engines.cuda.public import engine as cuda_engine
from regretless.engines.layout import make_layout
from regretless.engines.shares import decode_shares, encode_shares
from regretless.files.container import Streamed, open_container
from regretless.holdem.reading import encoded_strategies
from regretless.holdem.reading.spot_results import EngineResults

LOCKED = """
board = "Kh Qs Js 2c"
pot = 100
stack = 300
[oop]
range = "AK, T9s, 99-77"
[ip]
range = "QQ, KJs, JTs, A5s-A2s:0.5"
[bets]
bet = "50%, a"
raise = "60%"
"""

SMALL = """
board = "Kh Qs Js 2c"
pot = 100
stack = 50
[oop]
range = "AhKd, AsKc, Th9h"
[ip]
range = "QhQd, JhTs"
[bets]
bet = "a"
"""


def assert_saved(solution: rl.holdem.SpotSolution, path: Path) -> None:
    """Save, and compare every strategy bit by bit, and values and equities to the last digit kept."""
    solution.save(path)
    file = open_container(path)
    loaded: Any = rl.load(path)
    form, answers, snapshot = solution.reader.form, solution.reader.results, solution.snapshot
    assert snapshot is not None
    layout, begin = make_layout(form), encoded_strategies.layout(form)[0]
    averages = [snapshot.arrays[f"average.{player}"] for player in range(2)]
    for street, runouts in enumerate(layout.runouts.tolist()):
        rows = file.array(f"probabilities.{street}")
        written = 0
        for player in range(2):
            for node in layout.decisions(player, street):
                sums = layout.read(averages[player], node).astype(np.float32)
                total = sums.sum(axis=1, keepdims=True)
                uniform = np.full(sums.shape, 1 / sums.shape[1], dtype=np.float32)
                expected = encode_shares(np.divide(sums, total, out=uniform, where=total > 0), 8 * rows.itemsize)
                kept = rows[:, begin[node] : begin[node] + expected[0].size]
                assert kept.tobytes() == expected.tobytes(), node
                for runout in (0, runouts // 2, runouts - 1):
                    said = decode_shares(kept[runout].reshape(expected.shape[1:]))
                    np.testing.assert_allclose(said, answers.strategy(node, runout), atol=4e-5)
                written += expected[0].size
            if street < len(form.streets) - 1:
                values = answers.all_values(player, street)
                np.testing.assert_array_equal(file.array(f"values.{player}.{street}"), values)
        assert rows.shape == (runouts, written)
    one, two = solution.root, loaded.root
    assert (one.line, one.actions, one.pot) == (two.line, two.actions, two.pot)
    for name in ("oop", "ip"):
        np.testing.assert_allclose(one.hands[name].equity, two.hands[name].equity, atol=1e-6)
        np.testing.assert_allclose(one.hands[name].ev, two.hands[name].ev, atol=1e-3 * one.pot)


@pytest.fixture(params=[32, 16])
def kept_bits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Bits per probability in files, and blocks so small that every street with several runouts takes several."""
    if request.param == 16:
        monkeypatch.setattr(encoded_strategies, "MAX_IN_32_BITS", 0)
    monkeypatch.setattr(encoded_strategies, "BLOCK_BYTES", 2000)
    return int(request.param)


@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("cards", [5, 4, 3])
def test_random_spots(cards: int, storage: int, kept_bits: int, tmp_path: Path) -> None:
    for seed in range(3):
        spot = random_spot(100 + seed, cards)
        solution = rl.solve(spot, iterations=20, threads=3 if cards < 5 else 1, storage=storage)
        assert_saved(solution, tmp_path / "spot.rgl")


def test_locked_hands(kept_bits: int, tmp_path: Path) -> None:
    locks = [rl.holdem.Lock("", {"check": 1}), rl.holdem.Lock("check", {"bet 50": 0.3, "check": 0.7}, hands="QQ")]
    solution = rl.solve(rl.Spot.parse(LOCKED), iterations=20, threads=2, locks=locks)
    assert_saved(solution, tmp_path / "locked.rgl")
    loaded: Any = rl.load(tmp_path / "locked.rgl")
    assert loaded.root.frequencies == (1.0, 0.0, 0.0)


def test_a_loaded_solution_is_saved_as_it_was(kept_bits: int, tmp_path: Path) -> None:
    rl.solve(rl.Spot.parse(LOCKED), iterations=20, threads=2).save(tmp_path / "once.rgl")
    rl.load(tmp_path / "once.rgl").save(tmp_path / "twice.rgl")
    once, twice = (open_container(tmp_path / name) for name in ("once.rgl", "twice.rgl"))
    for street in range(2):
        first, second = (file.array(f"probabilities.{street}") for file in (once, twice))
        assert first.itemsize == kept_bits // 8
        assert first.tobytes() == second.tobytes()


@pytest.mark.skipif(shutil.which("g++") is None or not sys.platform.startswith("linux"), reason="needs g++ and fibers")
@pytest.mark.parametrize("storage", [32, 16])
def test_numbers_on_a_device(storage: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are downloaded by the thread that saves, in blocks, and encoded by several."""
    monkeypatch.setattr(encoded_strategies, "BLOCK_BYTES", 500)
    device, found = HostDevice(), registry.find_spec
    monkeypatch.setattr(registry, "find_spec", lambda name: name if name == "cupy" else found(name))
    monkeypatch.setattr(devices, "cuda_devices", lambda: 1)
    monkeypatch.setattr(devices, "cuda_free_bytes", lambda *_: 1 << 33)
    monkeypatch.setattr(cuda_engine, "open_device", lambda name="cuda", **_: device)
    solution = rl.solve(rl.Spot.parse(SMALL), device="cuda", variant="discounted", iterations=1, storage=storage)
    monkeypatch.setattr(EngineResults, "threads", 3)
    downloaded: list[int] = []

    def download(buffer: NDArray[Any]) -> NDArray[Any]:
        assert threading.current_thread() is threading.main_thread()
        downloaded.append(buffer.nbytes)
        return buffer.copy()

    monkeypatch.setattr(device, "download", download)
    solution.save(tmp_path / "spot.rgl")
    assert max(downloaded) < sum(downloaded) / 4
    assert_saved(solution, tmp_path / "spot.rgl")


class Counted:
    """A source of strategies that counts blocks which were fetched."""

    threads = 4

    def __init__(self, fails_at: int = -1) -> None:
        self.fetched, self.fails_at = 0, fails_at

    def encoder(self, street: int, runouts: slice, rows: NDArray[Any]) -> Callable[[], None]:
        self.fetched += 1
        assert street == 2

        def encode_rows() -> None:
            if runouts.start == self.fails_at:
                raise MemoryError("no room")
            rows[:] = np.arange(runouts.start, runouts.stop)[:, None]

        return encode_rows


def streamed(source: Counted) -> Streamed:
    return encoded_strategies.streamed(
        source, 2, (100, encoded_strategies.BLOCK_BYTES // 8), 32
    )  # two runouts per block


def test_blocks_come_in_order_and_few_are_in_memory() -> None:
    source, done = Counted(), []
    for place, block in enumerate(streamed(source).blocks(), start=1):
        done += block[:, 0].tolist()
        assert source.fetched - place < encoded_strategies.blocks_at_once(source.threads)
    assert done == list(range(100))


def test_a_block_that_cannot_be_encoded_is_an_error() -> None:
    with pytest.raises(MemoryError, match="no room"):
        list(streamed(Counted(fails_at=40)).blocks())

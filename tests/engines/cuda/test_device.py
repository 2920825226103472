"""An arena: many tables in one upload."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from tests.engines.cuda_host_device import HostDevice

from regretless.engines.cuda import device as device_module
from regretless.engines.cuda.device import Arena


def test_an_arena_uploads_tables_together() -> None:
    class Counting(HostDevice):
        calls: ClassVar[list[str]] = []

        def upload(self, array: np.ndarray) -> np.ndarray:
            self.calls.append("upload")
            return super().upload(array)

        def assign(self, target: np.ndarray, array: np.ndarray) -> None:
            self.calls.append("assign")
            super().assign(target, array)

    device = Counting()
    arena = Arena(device)
    tables = [np.arange(5, dtype=np.int16), np.ones((2, 3)), np.zeros(0, dtype=np.int32), np.arange(7, dtype=np.uint8)]
    with arena:
        parts = [arena.upload(table) for table in tables]
        blank = arena.zeros(9, np.dtype(np.float32))
    assert Counting.calls == ["assign"]
    for part, table in zip(parts, tables, strict=True):
        np.testing.assert_array_equal(part, table)
        assert device.address(part) % 16 == 0
    np.testing.assert_array_equal(blank, np.zeros(9))
    np.testing.assert_array_equal(arena.upload(tables[0]), tables[0])
    assert Counting.calls == ["assign", "upload"]


def test_an_arena_collects_more_than_its_buffer_and_its_chunks_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_module, "STAGED_BYTES", 1024)
    monkeypatch.setattr(device_module, "CHUNK_BYTES", 4096)
    random = np.random.default_rng(3)
    sizes = [1, 255, 256, 257, 1024, 0, 1023, 768, 512, 1025, *random.integers(0, 1200, size=60).tolist()]
    tables = [random.integers(0, 256, size=size).astype(np.uint8) for size in sizes]
    with Arena(HostDevice()) as arena:
        parts = [arena.upload(table) for table in tables]
    for part, table in zip(parts, tables, strict=True):
        np.testing.assert_array_equal(part, table)


def test_an_arena_shares_what_has_the_same_key() -> None:
    device = HostDevice()
    arena = Arena(device)
    made = []

    def make() -> np.ndarray:
        made.append(len(made))
        return np.full(3, len(made), dtype=np.int32)

    with arena:
        first, second, other = arena.once("a", make), arena.once("a", make), arena.once("b", make)
        assert made == [0, 1]
    np.testing.assert_array_equal(first, [1, 1, 1])
    assert device.address(first) == device.address(second) != device.address(other)
    assert device.address(arena.once("a", make)) == device.address(first)
    np.testing.assert_array_equal(arena.once("c", make), [3, 3, 3])
    assert made == [0, 1, 2]

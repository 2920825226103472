"""A game in shards is solved to the last bit as without them, whichever shards are lost on the way."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.engines.cuda.public.solves import needs_gcc
from tests.engines.cuda_host_device import HostDevice
from tests.engines.random_public import random_form

from regretless import engines
from regretless.engines import (
    Mode,
    PartEngine,
    PublicEngine,
    ShardedEngine,
    ShardEngine,
    ShardLost,
    ShardWalk,
    Shelf,
    Snapshot,
    shard_ranges,
    sharded,
)
from regretless.engines.cuda.public.engine import CudaPublicEngine
from regretless.engines.numba.public.engine import NumbaPublicEngine
from regretless.errors import InvalidFile, InvalidGame, InvalidOption, RegretlessError
from regretless.forms.history import FloatArray
from regretless.forms.parts import part_of
from regretless.forms.public import PublicForm
from regretless.variants import PRESETS, schedule

EMULATED = "cuda on a CPU"
ON_GPU = [pytest.param("cuda", storage, marks=pytest.mark.gpu) for storage in (32, 16)]
FAST = [("numba", 32), ("numba", 16), *ON_GPU]  # engines and their bits of storage
STORAGES = [("numpy", 64), *FAST]
Loses = Callable[[], bool]  # whether a shard is lost instead of carrying out an order


@cache
def form_of(streets: int, deck: int = 9) -> PublicForm:
    return random_form(2, streets=streets, deck=deck, weighted=True, rake=0.02)


def form_for(name: str, streets: int = 2) -> PublicForm:
    """A form that an engine can cut: for that of a GPU, one with many runouts; small if the device is emulated."""
    if name not in (EMULATED, "cuda"):
        return form_of(streets)
    hands = 5 if name == EMULATED else 14
    return random_form(2, streets=streets, deck=66 if streets == 2 else 9, weighted=True, most_hands=hands)


def create_part(name: str, storage: int, form: PublicForm, threads: int = 1) -> PartEngine:
    if name == EMULATED:
        return CudaPublicEngine(form, device=HostDevice(), storage=storage)
    if name == "cuda":
        pytest.importorskip("cupy")
        return engines.create_part(name, form, storage=storage)
    return engines.create_part(name, form, storage=storage, threads=threads)


class ShardHere:
    """A shard in this process, which may be lost before or after it carries out an order."""

    def __init__(self, engine: PartEngine, loses: Loses) -> None:
        self._shard, self._loses, self._is_lost = ShardEngine(engine), loses, False

    def memory_bytes(self) -> Callable[[], int]:
        return lambda: self._shard.engine.memory_bytes

    def walk(self, walk: ShardWalk) -> Callable[[], FloatArray]:
        return self._order(lambda: self._shard.walk(walk))

    def save(self, shelf: Shelf) -> Callable[[], None]:
        return self._order(lambda: self._shard.save(shelf))

    def load(self, shelf: Shelf) -> Callable[[], None]:
        return self._order(lambda: self._shard.load(shelf))

    def close(self) -> None:
        self._is_lost = True

    def _order(self, carry_out: Callable[[], Any]) -> Callable[[], Any]:
        def wait() -> Any:
            self._perhaps_lose()
            result = carry_out()
            self._perhaps_lose()
            return result

        return wait

    def _perhaps_lose(self) -> None:
        self._is_lost = self._is_lost or self._loses()
        if self._is_lost:
            raise ShardLost("was lost")


def in_shards(
    name: str, storage: int, form: PublicForm, shards: int, folder: Path, loses: Loses = lambda: False
) -> ShardedEngine:
    ranges = shard_ranges(len(form.streets[1].parent), shards)

    def start(number: int) -> ShardHere:
        return ShardHere(create_part(name, storage, part_of(form, *ranges[number]), threads=number + 1), loses)

    folder.mkdir()
    return ShardedEngine(
        form, create_part(name, storage, part_of(form, 0, 0)), start, shards, threads=shards, folder=folder
    )


def assert_same(one: PublicEngine | ShardedEngine, other: PublicEngine | ShardedEngine) -> None:
    assert one.evaluate() == other.evaluate()
    first, second = one.snapshot(), other.snapshot()
    assert (first.iteration, first.weight) == (second.iteration, second.weight)
    assert sorted(first.arrays) == sorted(second.arrays)
    for name, array in first.arrays.items():
        np.testing.assert_array_equal(array, second.arrays[name], err_msg=name)


@pytest.mark.parametrize("variant", ["postflop", "predictive-plus"])
@pytest.mark.parametrize(("name", "storage"), STORAGES)
@pytest.mark.parametrize(("streets", "shards"), [(2, 1), (2, 4), (3, 3)])
def test_shards_change_no_bit(streets: int, shards: int, name: str, storage: int, variant: str, tmp_path: Path) -> None:
    if name == "numpy" and streets == 3:
        pytest.skip("the reference takes seconds for an iteration")
    form, rows = form_for(name, streets), schedule(PRESETS[variant], first=1, count=4)
    whole, parts = create_part(name, storage, form), in_shards(name, storage, form, shards, tmp_path / "shards")
    for engine in (whole, parts):
        engine.advance(rows[:3])
        engine.advance(rows[3:])
    assert_same(whole, parts)
    assert parts.kept_bytes == sum(array.nbytes for array in whole.snapshot().arrays.values())


@needs_gcc
@pytest.mark.parametrize(
    ("streets", "shards", "storage", "variant"), [(2, 3, 16, "predictive-plus"), (3, 2, 32, "postflop")]
)
def test_shards_on_an_emulated_device_change_no_bit(
    streets: int, shards: int, storage: int, variant: str, tmp_path: Path
) -> None:
    form, rows, losses = form_for(EMULATED, streets), schedule(PRESETS[variant], first=1, count=3), iter(range(30))
    whole = create_part(EMULATED, storage, form)
    parts = in_shards(EMULATED, storage, form, shards, tmp_path / "shards", lambda: next(losses, 0) == 29)
    for engine in (whole, parts):
        engine.advance(rows[:2])
        engine.snapshot(copy=False)
        engine.advance(rows[2:])
    assert_same(whole, parts)
    assert next(losses, None) is None  # one was replaced


@pytest.mark.parametrize("storage", [32, 16])
def test_blocks_of_several_runouts_are_not_divided(storage: int, tmp_path: Path) -> None:
    form, rows = form_of(2, deck=70), schedule(PRESETS["discounted"], first=1, count=3)
    assert [last - first for first, last in shard_ranges(70, 64)].count(2) == 6
    whole, parts = create_part("numba", storage, form), in_shards("numba", storage, form, 3, tmp_path / "shards")
    for engine in (whole, parts):
        engine.advance(rows)
    assert_same(whole, parts)


@pytest.mark.parametrize("threads", [1, 3])
def test_sums_are_added_in_the_same_order(threads: int) -> None:
    """In 64 bits: the values that they become have 32, which would nearly always hide another order."""
    form = form_of(2, deck=70)
    whole = create_part("numba", 32, form, threads)
    trunk = create_part("numba", 32, part_of(form, 0, 0))
    shards = [create_part("numba", 32, part_of(form, *ends)) for ends in shard_ranges(70, 3)]
    whole.evaluate()  # its last walk is of player 1
    arriving = trunk.down(1, Mode.MEAN)
    trunk.up(1, Mode.MEAN, np.concatenate([shard.below(1, Mode.MEAN, arriving) for shard in shards]))
    first, second = (
        engine._second_lines(1, engine._scratch.line[None, : engine._blocks[1].size])[0]
        for engine in (whole, trunk)
        if isinstance(engine, NumbaPublicEngine)
    )
    assert first.any()
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("remembered", [0, 20_000, 1 << 28])  # bytes: saved after every iteration, some, or never
@pytest.mark.parametrize(("name", "storage"), FAST)
def test_lost_shards_are_replaced(
    name: str, storage: int, remembered: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharded, "REMEMBERED_BYTES", remembered)
    monkeypatch.setattr(sharded, "MAX_LOSSES", 1000)
    form, rows = form_for(name), schedule(PRESETS["predictive-plus"], first=1, count=12)
    random, losses = np.random.default_rng(3), 0

    def loses() -> bool:
        nonlocal losses
        is_lost = bool(random.random() < 0.02)
        losses += is_lost
        return is_lost

    whole = create_part(name, storage, form)
    parts = in_shards(name, storage, form, 3, tmp_path / "shards", loses)
    for engine in (whole, parts):
        engine.advance(rows[:5])
        engine.evaluate()
        engine.snapshot(copy=False)
        engine.advance(rows[5:])
    assert_same(whole, parts)
    assert losses > 3


def test_a_shard_that_is_lost_again_and_again_ends_the_solve(tmp_path: Path) -> None:
    form, lost = form_of(2), False
    parts = in_shards("numba", 32, form, 2, tmp_path / "shards", lambda: lost)
    lost = True
    with pytest.raises(RegretlessError, match=r"^shard 1 of 2 was lost, 5 times in a row$"):
        parts.advance(schedule(PRESETS["plus"], first=1, count=1))


@pytest.mark.parametrize(("name", "storage"), STORAGES)
@pytest.mark.parametrize("variant", ["postflop", "predictive-plus"])
def test_snapshots_are_those_of_the_whole_form(name: str, storage: int, variant: str, tmp_path: Path) -> None:
    form, rows = form_for(name), schedule(PRESETS[variant], first=1, count=4)
    whole = create_part(name, storage, form)
    whole.advance(rows[:2])
    parts = in_shards(name, storage, form, 3, tmp_path / "shards")
    fresh = parts.snapshot(copy=False).arrays
    assert all(not array.any() for array in fresh.values())
    parts.restore(whole.snapshot())
    assert_same(whole, parts)
    parts.advance(rows[2:3])
    saved = parts.snapshot(copy=False)
    parts.advance(rows[3:])  # does not change what was saved
    resumed = create_part(name, storage, form)
    resumed.restore(saved)
    resumed.advance(rows[3:])
    assert_same(resumed, parts)
    with pytest.raises(ValueError, match=r"the snapshot has no '(regret|average|matched)\.0'"):
        parts.restore(Snapshot(1, {}))


def test_a_full_disk_is_named_and_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    form, rows = form_of(2), schedule(PRESETS["plus"], first=1, count=2)
    whole, parts = create_part("numba", 32, form), in_shards("numba", 32, form, 2, tmp_path / "shards")

    def fail(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "no room")

    parts.advance(rows[:1])
    with monkeypatch.context() as full:
        full.setattr(os, "posix_fallocate", fail)
        with pytest.raises(InvalidFile, match=r"what shards learned cannot be written: no space left on device$"):
            parts.snapshot(copy=False)
    assert os.listdir(tmp_path / "shards") == []
    parts.advance(rows[1:])
    whole.advance(rows)
    assert_same(whole, parts)


def test_files_are_removed_with_the_engine(tmp_path: Path) -> None:
    parts = in_shards("numba", 32, form_of(2), 2, tmp_path / "shards")
    parts.advance(schedule(PRESETS["plus"], first=1, count=1))
    arrays = parts.snapshot(copy=False).arrays
    del parts
    assert not (tmp_path / "shards").exists()
    assert any(array.any() for array in arrays.values())  # they are still mapped


def test_what_cannot_be_divided_is_refused() -> None:
    with pytest.raises(InvalidOption, match="shards: 10 is more than the 9 parts that the game has"):
        shard_ranges(9, 10)
    with pytest.raises(InvalidGame, match="random has 9 runouts of the last street: too few for shards of the cuda"):
        create_part(EMULATED, 32, part_of(form_of(2), 0, 1))

"""The CUDA engine of the public form on an emulated device: same host code, same kernels, threads as fibers.

What needs a real device is in `tests/holdem/test_engines_agree.py`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from tests.engines.cuda_host_device import HostDevice
from tests.engines.random_public import random_form

from regretless.engines.cuda import device as device_module
from regretless.engines.cuda.device import Arena
from regretless.engines.cuda.public.batch import CudaBatch, kind_of
from regretless.engines.cuda.public.engine import CudaPublicEngine
from regretless.engines.cuda.public.hands import code_bytes, list_sizes
from regretless.engines.cuda.public.sizes import estimate
from regretless.engines.cuda.public.source import KernelOptions, kernel_source
from regretless.engines.layout import make_layout
from regretless.engines.numba.public.engine import NumbaPublicEngine
from regretless.engines.numpy.public import PublicReference
from regretless.forms.public import NodeKind, PublicForm
from regretless.forms.public_poker import compile_public
from regretless.forms.public_size import size_of_form
from regretless.games import Kuhn
from regretless.variants import PRESETS, schedule
from regretless.variants.variant import Schedule

needs_gcc = pytest.mark.skipif(
    shutil.which("g++") is None or not sys.platform.startswith("linux"), reason="needs g++ and fibers"
)
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")


class NoKernels(HostDevice):
    """A device for tests that launch nothing that matters."""

    def compile(self, source: str, flags: tuple[str, ...], kernels: tuple[str, ...] = ()) -> dict:
        class Kernels(dict):
            def __missing__(self, name: str):
                return lambda *arguments: None

        return Kernels()


@cache
def form_of(name: str) -> PublicForm:
    """Kuhn, or a random game of a seed; those used here have 5 or 6 terminals, for which the same kernels serve."""
    if name == "kuhn":
        return compile_public(Kuhn())
    seed, streets = map(int, name.split("-")[1:])
    return random_form(seed, deck=8 - streets, streets=streets, most_hands=10, rake=0.03, weighted=bool(seed % 2))


def rows(first: int, count: int, variant: str = "discounted") -> Schedule:
    return schedule(PRESETS[variant], first, count)


def begin(form: PublicForm, *engines: CudaPublicEngine | NumbaPublicEngine | PublicReference) -> None:
    """Give all engines the same regrets and averages after three iterations, so that no two actions tie."""
    random = np.random.default_rng(3)
    drawn = {
        name: random.normal(size=numbers.shape) if "regret" in name else random.uniform(0.1, 1.0, size=numbers.shape)
        for name, numbers in engines[0].snapshot().arrays.items()
    }
    for engine in engines:
        taken = engine.snapshot()
        for name, numbers in taken.arrays.items():
            rounded = drawn[name.replace("matched", "regret")].astype(np.float32)
            one = 1.0 if numbers.dtype.kind == "f" else engine.format.one / 8
            numbers[:] = (rounded * one).astype(numbers.dtype)
        engine.restore(replace(taken, iteration=3))


def assert_same(one: CudaPublicEngine, two, tolerance: float) -> None:
    first, second = one.evaluate(), two.evaluate()
    np.testing.assert_allclose(first.values, second.values, atol=tolerance)
    np.testing.assert_allclose(first.best_response_values, second.best_response_values, atol=tolerance)
    for player in range(2):
        np.testing.assert_allclose(one.root_values(player), two.root_values(player), atol=tolerance)


@needs_gcc
@pytest.mark.parametrize("name", ["kuhn", "random-18-1", "random-85-2"])
def test_it_follows_the_reference(name: str) -> None:
    form = form_of(name)
    engine, plain = CudaPublicEngine(form, device=HostDevice()), PublicReference(form)
    begin(form, engine, plain)
    for count in (1, 2):
        for each in (engine, plain):
            each.advance(rows(each.iteration + 1, count))
        assert_same(engine, plain, 1e-5)


class Stacked:
    """The average strategy of an engine, read for all runouts at once."""

    def __init__(self, engine: CudaPublicEngine) -> None:
        self.engine = engine
        self.read: set[int] = set()

    def __call__(self, node: int, runout: int) -> np.ndarray:
        raise AssertionError("read runout by runout")

    def stacked(self, node: int) -> np.ndarray:
        self.read.add(node)
        runouts = len(self.engine.form.streets[int(self.engine.form.tree.street[node])].parent)
        return np.stack([self.engine.strategy(node, runout) for runout in range(runouts)]).astype(np.float32)


def test_numbers_of_all_runouts_are_written_at_once() -> None:
    form = random_form(3, deck=9, streets=2, most_hands=36)
    assert max(len(held.weight) for held in form.hands) > 16  # more than one group of lanes
    layout, random = make_layout(form), np.random.default_rng(0)
    for node in np.flatnonzero(form.tree.kind == NodeKind.DECISION).tolist():
        player, street = int(form.tree.player[node]), int(form.tree.street[node])
        actions = int(form.tree.first_child[node + 1] - form.tree.first_child[node])
        values = random.random((len(form.streets[street].parent), actions, len(form.hands[player].weight)))
        one_by_one, at_once = (np.zeros(int(layout.entries[player])) for _ in range(2))
        for runout, rows in enumerate(values):
            layout.write(one_by_one, node, runout, rows)
        layout.write_all(at_once, node, values)
        np.testing.assert_array_equal(at_once, one_by_one)


@needs_gcc
def test_a_strategy_of_all_runouts_at_once() -> None:
    form = form_of("random-85-2")
    engine = CudaPublicEngine(form, device=HostDevice())
    begin(form, engine)
    stacked = Stacked(engine)
    assert engine.evaluate(stacked) == engine.evaluate(engine.strategy)
    assert stacked.read == set(np.flatnonzero(form.tree.kind == NodeKind.DECISION).tolist())


@needs_gcc
def test_sixteen_bits_follow_the_compiled_engine() -> None:
    form = form_of("random-85-2")
    engine, expected = CudaPublicEngine(form, device=HostDevice(), storage=16), NumbaPublicEngine(form, storage=16)
    begin(form, engine, expected)
    for each in (engine, expected):
        each.advance(rows(4, 3))
    assert_same(engine, expected, 1e-3)


@needs_gcc
def test_a_resume_is_bit_identical_also_from_another_engine() -> None:
    form = form_of("random-85-2")
    straight, first, second = (CudaPublicEngine(form, device=HostDevice()) for _ in range(3))
    straight.advance(rows(1, 3))
    first.advance(rows(1, 2))
    second.restore(first.snapshot())
    second.advance(rows(3, 1))
    for name, numbers in straight.snapshot().arrays.items():
        np.testing.assert_array_equal(second.snapshot().arrays[name], numbers)
    other = NumbaPublicEngine(form)
    other.restore(first.snapshot())
    other.advance(rows(3, 1))
    assert_same(straight, other, 1e-5)


@needs_gcc
def test_a_parked_engine_is_read_and_goes_on_as_before() -> None:
    form = form_of("kuhn")
    parked, other = (CudaPublicEngine(form, device=HostDevice()) for _ in range(2))
    for engine in (parked, other):
        engine.lock(0, np.full(engine.strategy(0).shape, 1 / len(engine.strategy(0))))
        engine.advance(rows(1, 2, "predictive-plus"))
    live = parked.snapshot(copy=False)
    parked.park()
    np.testing.assert_array_equal(parked.strategy(1), other.strategy(1))
    np.testing.assert_array_equal(live.arrays["regret.0"], other.snapshot().arrays["regret.0"])
    np.testing.assert_array_equal(parked.root_values(0), other.root_values(0))
    for engine in (parked, other):
        engine.advance(rows(3, 1, "predictive-plus"))
    assert parked.evaluate() == other.evaluate()
    for name, numbers in other.snapshot().arrays.items():
        np.testing.assert_array_equal(parked.snapshot().arrays[name], numbers)


@needs_gcc
def test_locks_hold() -> None:
    form = form_of("random-85-2")
    last = int(np.flatnonzero((form.tree.kind == NodeKind.DECISION) & (form.tree.street == 1))[0])
    engine, plain = CudaPublicEngine(form, device=HostDevice()), PublicReference(form)
    begin(form, engine, plain)
    some = np.arange(len(form.hands[int(form.tree.player[last])].weight)) % 2 == 0
    for each in (engine, plain):
        for node, runout, hands in ((0, 0, None), (last, 1, some)):
            chosen = np.full(each.strategy(node, runout).shape, 0.25)
            chosen[0] = 1.0 - 0.25 * (len(chosen) - 1)
            each.lock(node, chosen, runout, hands)
        each.advance(rows(4, 2))
    assert len(engine.locked[0]) + len(engine.locked[1]) == 2
    np.testing.assert_array_equal(engine.kept_strategy(0, 0), engine.as_kept(plain.strategy(0)))
    assert_same(engine, plain, 1e-5)


@needs_gcc
def test_a_player_who_is_fixed_stops_learning() -> None:
    form = form_of("random-18-1")
    engine, plain = CudaPublicEngine(form, device=HostDevice()), PublicReference(form)
    begin(form, engine, plain)
    given = {node: plain.strategy(node) for node in np.flatnonzero(form.tree.kind == NodeKind.DECISION).tolist()}
    for each in (engine, plain):
        each.advance(rows(4, 1))
        each.fix(0, lambda node, runout: given[node])
        each.advance(rows(5, 1))
    for node in np.flatnonzero((form.tree.kind == NodeKind.DECISION) & (form.tree.player == 0)).tolist():
        np.testing.assert_array_equal(engine.kept_strategy(node, 0), engine.as_kept(given[node]))
    assert_same(engine, plain, 1e-5)


@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("variant", ["discounted", "predictive-plus"])
@pytest.mark.parametrize("name", ["kuhn", "random-18-1", "random-85-2"])
def test_memory_is_estimated(name: str, variant: str, storage: int) -> None:
    """Never too low, and at most 25 % and 5 kB too high: rows that threads keep, hands that might be equivalent."""
    form = form_of(name)
    engine = CudaPublicEngine(form, device=NoKernels(), storage=storage)
    engine.advance(rows(1, 1, variant))
    found = estimate(size_of_form(form), storage=storage, predicts=variant != "discounted")
    assert engine.memory_bytes <= found <= 1.25 * engine.memory_bytes + 5000


@pytest.mark.parametrize("rake", [0.0, 0.03])
def test_matrices_of_terminals_are_counted_where_they_are_used(rake: float) -> None:
    """Beside them, everything is the same with rake as without."""
    form = random_form(18, deck=7, streets=1, most_hands=10, rake=rake)
    plain = replace(size_of_form(form), even_ties=False)
    engine = CudaPublicEngine(form, device=NoKernels(), storage=16)
    assert engine.products == (rake == 0)
    first, second = engine.layout.hands.tolist()
    matrices = int(engine.layout.runouts[-1]) * (code_bytes(first, second) + code_bytes(second, first))
    counted = estimate(size_of_form(form), storage=16) - estimate(plain, storage=16)
    assert counted == (matrices if engine.products else 0)
    held = sum(list_sizes(engine.layout, own, products=engine.products)["codes"] for own in range(2))
    assert counted == held
    assert estimate(size_of_form(form), storage=32) == estimate(plain, storage=32)


def start_batch(names: list[str], **options: int) -> tuple[list[CudaPublicEngine], Arena]:
    device = HostDevice()
    arena = Arena(device)
    with arena:
        return [CudaPublicEngine(form_of(name), device=device, tables=arena, **options) for name in names], arena


@needs_gcc
def test_a_batch_equals_its_spots_alone() -> None:
    """Different trees, ranges and locks; one ends earlier; all bits are the same."""
    names = ["random-18-1", "random-40-1", "random-53-1"]
    together, arena = start_batch(names)
    alone = [CudaPublicEngine(form_of(name), device=HostDevice()) for name in names]
    for engine in (together[1], alone[1]):
        engine.lock(0, np.full(engine.strategy(0).shape, 1 / len(engine.strategy(0))))
    assert len({kind_of(engine) for engine in together}) == 1
    batch = CudaBatch(together, arena)
    batch.advance([rows(1, 2)] * 3)
    evaluations = batch.evaluate([0, 1, 2])
    batch.retire([2])
    batch.advance([rows(3, 1), rows(3, 1), None])
    later = batch.evaluate([0, 1])
    for number, engine in enumerate(alone):
        engine.advance(rows(1, 2))
        assert engine.evaluate() == evaluations[number]
        if number < 2:
            engine.advance(rows(3, 1))
            assert engine.evaluate() == later[number]
        assert together[number].iteration == engine.iteration
        for name, numbers in engine.snapshot().arrays.items():
            np.testing.assert_array_equal(together[number].snapshot().arrays[name], numbers)
        np.testing.assert_array_equal(together[number].root_values(0), engine.root_values(0))


def test_spots_of_different_kinds_are_kept_apart() -> None:
    engines, _ = start_batch(["random-18-1", "random-85-2", "kuhn"])
    engines[2].get_ready(rows(1, 1, "predictive-plus"))
    assert len({kind_of(engine) for engine in engines}) == 3


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


@needs_nvcc
@pytest.mark.parametrize(
    "options",
    [
        KernelOptions(),
        KernelOptions(storage=16, predicts=True),
        KernelOptions(bucketed=True),
        KernelOptions(wide=True, parts_shared=False, threads=1024, blocks=1),
    ],
)
def test_the_kernels_compile(options: KernelOptions, tmp_path: Path) -> None:
    source = tmp_path / "kernels.cu"
    source.write_text(kernel_source(), encoding="utf-8")
    arch = "sm_90" if options.predicts else "sm_80"  # those from 9.0 on prefetch, too
    flags = ["-std=c++17", f"-arch={arch}", "-G", "-ptx", "-o", str(tmp_path / "kernels.ptx"), *options.flags()]
    done = subprocess.run(["nvcc", *flags, str(source)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr

"""The CUDA engine of the public form on an emulated device: same host code, same kernels, threads as fibers.

What needs a real device is in `tests/holdem/test_engines_agree.py`.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.engines.cuda.public.solves import NoKernels, assert_same, begin, form_of, needs_gcc, rows
from tests.engines.cuda_host_device import HostDevice
from tests.engines.random_public import random_form

from regretless.engines.cuda.public.engine import CudaPublicEngine
from regretless.engines.cuda.public.records import SEGMENTS, UNIT
from regretless.engines.cuda.public.source import KernelOptions, kernel_source
from regretless.engines.layout import make_layout
from regretless.engines.numba.public.engine import NumbaPublicEngine
from regretless.engines.numpy.public import PublicReference
from regretless.errors import InvalidGame
from regretless.forms.gadgets import with_gadgets
from regretless.forms.public import NodeKind, no_symmetry

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")


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


@needs_gcc
@pytest.mark.parametrize("opponent", [0, 1])
def test_it_solves_forms_with_gadgets(opponent: int) -> None:
    """A locked decision between folds, right below another decision of the same player."""
    gadgets = with_gadgets(form_of("kuhn"), opponent, {0: np.array([[-0.7, 0.1, 0.6]])})
    engine, plain = CudaPublicEngine(gadgets.form, device=HostDevice()), PublicReference(gadgets.form)
    for each in (engine, plain):
        for (node, runout), row in gadgets.locks.items():
            each.lock(node, row, runout)
        each.advance(rows(1, 20))
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
        for runout, row in enumerate(values):
            layout.write(one_by_one, node, runout, row)
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


def test_games_that_differ_only_in_their_deck_do_not_share_lists() -> None:
    form = random_form(3, deck=9, streets=1)
    more = replace(form, deck=30, symmetry=no_symmetry(30, form.hands))
    spots = [CudaPublicEngine(each, device=NoKernels()).spot for each in (form, more, form)]
    assert [each.jobs["deck"].tolist() for each in spots] == [[9, 9], [30, 30], [9, 9]]
    room = [(each.jobs["own_list"] - each.jobs["units"]).tolist() for each in spots]  # the units come first
    assert room[0] == room[2] != room[1]
    assert min(room[1]) >= (SEGMENTS + 30 + 1) * UNIT.itemsize


def test_rows_that_32_bits_cannot_number_are_refused() -> None:
    form = random_form(1, deck=9, streets=1)
    nodes = np.broadcast_to(form.tree.kind[:1], 2**31 // 16)  # takes no memory
    with pytest.raises(InvalidGame, match=r"betting nodes × hands: the cuda engine can count 2,147,483,647"):
        CudaPublicEngine(replace(form, tree=replace(form.tree, kind=nodes)), device=NoKernels())

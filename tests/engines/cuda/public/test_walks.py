"""Launches of walks where shared memory, rows or blocks run out: each must give what plenty gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.engines import cuda_host_device
from tests.engines.cuda.public.solves import (
    NoKernels,
    assert_equal,
    assert_same,
    begin,
    busy_form,
    form_of,
    many_actions,
    needs_gcc,
    solved,
    with_tree,
)
from tests.engines.cuda_host_device import HostDevice
from tests.engines.random_public import random_form

from regretless.engines.cuda.public import plan as plans
from regretless.engines.cuda.public import source, spot, walks, work
from regretless.engines.cuda.public.engine import CudaPublicEngine
from regretless.engines.cuda.public.records import ITEM
from regretless.engines.numpy.public import PublicReference


@pytest.fixture(autouse=True)
def _no_plans() -> Iterator[None]:
    """Plans are remembered; here they differ in how many rows threads keep."""
    plans._plans.clear()
    yield
    plans._plans.clear()


@needs_gcc
def test_terminals_in_64_bits_follow_the_reference_after_others_in_32() -> None:
    wide = with_tree(random_form(33, deck=6, streets=1, most_hands=10), many_actions(1, 30, 1))
    for form in (form_of("random-18-1"), wide):
        engine, plain = CudaPublicEngine(form, device=HostDevice()), PublicReference(form)
        assert engine.wide == (form is wide)
        begin(form, engine, plain)
        assert_same(engine, plain, 1e-5)


@needs_gcc
@pytest.mark.parametrize(
    ("streets", "storage", "variant", "locks"),
    [
        (1, 32, "predictive-plus", True),
        (1, 16, "discounted", False),
        (2, 32, "discounted", True),
        (2, 32, "predictive-plus", False),
    ],
)
def test_lines_walked_level_by_level_equal_lines_walked_by_a_thread(
    streets: int, storage: int, variant: str, locks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if a block has fewer threads than decisions, more than hands, and keeps fewer rows than there are.

    Without locks, one launch walks the first street up for one player and down for the other.
    """
    form = busy_form(streets)

    def solve(*, tasks: int, threads: int = 256, hands: int = 16, kept: int = 24, rows: int = 512) -> CudaPublicEngine:
        monkeypatch.setattr(work, "LEVEL_TASKS", tasks)
        monkeypatch.setattr(walks, "LEVEL_THREADS", threads)
        monkeypatch.setattr(walks, "TEAM_HANDS", hands)
        monkeypatch.setattr(plans, "MAX_CACHED_ROWS", kept)
        monkeypatch.setattr(plans, "LEVEL_ROWS", rows)
        plans._plans.clear()
        engine = solved(form, storage=storage, locks=locks, variant=variant)
        assert all(
            each.work.by_levels == (tasks > 0) for each in (*engine._walks._waves[0], *engine._walks._earlier[1])
        )
        assert all(engine._walks._relays) == (tasks > 0 and not locks)
        return engine

    expected = solve(tasks=0)
    assert max(max(plan.longest) for plan in expected.spot.plans) > 5
    assert max(max(plan.reach_rows) for plan in expected.spot.plans) > 8
    assert_equal(solve(tasks=1 << 20), expected)
    assert_equal(solve(tasks=1 << 20, threads=32, hands=64), expected)
    assert_equal(solve(tasks=1 << 20, threads=32, hands=32, kept=2, rows=3), expected)


@pytest.mark.parametrize("streets", [1, 2])
def test_one_launch_walks_the_first_street_up_and_down_unless_locks_come_between(streets: int) -> None:
    launched: list[str] = []

    class Listening(NoKernels):
        def compile(self, source: str, flags: tuple[str, ...], kernels: tuple[str, ...] = ()) -> dict:
            class Kernels(dict):
                def __missing__(self, name: str) -> Any:
                    return lambda *_: launched.append(name)

            return Kernels()

    form = busy_form(streets)
    engine = CudaPublicEngine(form, device=Listening())
    last = "last_" if streets == 1 else ""
    down, up, relay = f"levels_{last or 'learn_'}down", f"levels_{last or 'learn_'}up", f"levels_{last}relay"

    def first_street(iterations: int) -> list[str]:
        engine._prepare()
        walks = engine._walks
        launched.clear()
        walks._iterations(iterations, False, engine.learning)
        return [name for name in launched if name in (down, up, relay, "hold")]

    assert first_street(1) == [down, relay, up]
    assert first_street(3) == [down, *[relay] * 5, up]
    engine.lock(0, np.full(engine.strategy(0, 0).shape, 1 / len(engine.strategy(0, 0))), 0, None)
    between = [relay, up, "hold"] if form.tree.player[0] else [up, "hold", down, relay]
    assert first_street(2)[: len(between) + 1] == [down, *between]
    engine.unlock()
    engine.fix(0, engine.strategy)
    assert first_street(2) == [down, up, down, up]


def test_ways_up_take_turns_with_rows_that_both_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of one launch run in any order, which the emulated device does not show."""
    launched: list[np.ndarray] = []

    class Listening(NoKernels):
        def compile(self, source: str, flags: tuple[str, ...], kernels: tuple[str, ...] = ()) -> dict:
            compiled = super().compile(source, flags)
            compiled["value_up"] = lambda grid, threads, shared, jobs, items, blocks, street, *_: launched.append(
                items.view(ITEM) if street == 1 else items[:0]
            )
            return compiled

    form = busy_form(2)
    monkeypatch.setattr(work, "LEVEL_TASKS", 0)
    for kept in (plans.MAX_CACHED_ROWS, 2):
        monkeypatch.setattr(plans, "MAX_CACHED_ROWS", kept)
        plans._plans.clear()
        engine = CudaPublicEngine(form, device=Listening())
        launched.clear()
        engine._walks.evaluate(0)
        together = [items for items in launched if len(items)]
        assert len(together) == (1 if kept > 2 else 2)
        assert sum(map(len, together)) == 2 * len(form.streets[1].parent)
        if kept == 2:
            for items in together:
                assert len(np.unique(items["runout"])) == len(items)


def test_players_evaluated_at_once_write_apart_what_does_not_fit_in_shared_memory() -> None:
    """Blocks of one launch run at the same time, which the emulated device does not show."""
    launched: list[tuple[np.ndarray, ...]] = []

    class Listening(NoKernels):
        def compile(self, source: str, flags: tuple[str, ...], kernels: tuple[str, ...] = ()) -> dict:
            compiled = super().compile(source, flags)
            compiled["terminals"] = lambda grid, threads, shared, jobs, *given: launched.append(given)
            return compiled

    form = random_form(10, deck=9, streets=1, most_hands=30)  # the first player's sums need more room
    engine = CudaPublicEngine(form, device=Listening(shared_bytes=8000))
    engine._walks.evaluate(0, 1)
    ((items, rooms, space, _),) = launched[:1]
    job = items.view(ITEM)["job"]
    assert set(job.tolist()) == {0, 1}
    size = rooms["block_bytes"][job % 2]
    begins = np.arange(len(job)) * size
    assert size.min() > 0
    assert (begins[1:] >= (begins + size)[:-1]).all()
    assert begins[-1] + size[-1] <= space.nbytes


@needs_gcc
def test_deals_that_do_not_fit_in_shared_memory_and_runouts_and_players_that_take_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    form = random_form(17, deck=7, streets=3, most_hands=21)
    expected = solved(form, locks=True)
    assert expected.layout.hands[0] != expected.layout.hands[1]
    pairs = zip(*(spot._slot_rows(plan)[:3] for plan in expected.spot.plans), strict=True)
    monkeypatch.setattr(spot, "_shapes", {})
    monkeypatch.setattr(walks, "MAX_TERMS", 1)
    children = np.diff(form.streets[1].first_child)
    slots = int(children.max()) + 1  # of which a wave may use fewer: it has all that follow a runout, or none
    monkeypatch.setattr(spot, "WAVE_BYTES", 4 * slots * sum(map(max, pairs)) + 1)
    monkeypatch.setattr(spot, "APART_BYTES", 0)
    engine = solved(form, locks=True)
    assert engine.spot.slots == slots < expected.spot.slots
    assert len(engine.spot.waves) > 1 == len(expected.spot.waves)
    assert expected.spot.apart
    assert not engine.spot.apart
    assert_equal(engine, expected)


@needs_gcc
@pytest.mark.parametrize("streets", [1, 2])
def test_blocks_that_take_several_pieces_of_terminals(streets: int, monkeypatch: pytest.MonkeyPatch) -> None:
    form = busy_form(streets)
    expected = solved(form, locks=True)
    monkeypatch.setattr(work, "ENOUGH_BLOCKS", 1)
    monkeypatch.setitem(cuda_host_device.ANY_THREADS, "terminals", 512)  # as on a device, where every team has one unit
    for width in (2, 4):
        monkeypatch.setattr(source, "_widths", lambda terminals, width=width: [width])
        engine = solved(form, locks=True)
        (wave,) = engine._walks._waves_of[0]
        assert wave.together == 3
        pieces = engine.spot.plans[0].cut(width)[0].pieces
        assert len(pieces) > 3
        assert len(wave.pieces) == -(-len(pieces) // 3) * len(wave.items)
        assert_equal(engine, expected)

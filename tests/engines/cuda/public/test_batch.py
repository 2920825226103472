"""Many spots advanced together: each must get the bits that it gets alone."""

from __future__ import annotations

import numpy as np
from tests.engines.cuda.public.solves import (
    assert_equal,
    begin,
    form_of,
    lock_some,
    many_actions,
    needs_gcc,
    one_line,
    rows,
    with_tree,
)
from tests.engines.cuda_host_device import HostDevice
from tests.engines.random_public import random_form

from regretless.engines.cuda.device import Arena
from regretless.engines.cuda.public.batch import CudaBatch, kind_of
from regretless.engines.cuda.public.engine import CudaPublicEngine


@needs_gcc
def test_a_batch_of_different_trees_whose_spots_end_in_any_order() -> None:
    """Different lines, hands, runouts and locks; all bits are as alone, even if one is read meanwhile."""
    forms = [
        form_of("random-85-2"),
        with_tree(random_form(10, deck=7, streets=2, most_hands=21), one_line()),
        with_tree(random_form(19, deck=5, streets=2, most_hands=4), many_actions(2, 1, 1)),
    ]
    device = HostDevice()
    with Arena(device) as arena:
        together = [CudaPublicEngine(form, device=device, tables=arena) for form in forms]
    alone = [CudaPublicEngine(form, device=HostDevice()) for form in forms]
    assert len({tuple(engine.layout.runouts) for engine in alone}) == 3
    assert len({tuple(engine.layout.hands) for engine in alone}) > 1
    assert len({len(engine.spot.plans[0].lines) for engine in alone}) > 1
    for engine, single in zip(together, alone, strict=True):
        begin(engine.form, engine, single)
    lock_some(forms[1], together[1], alone[1])
    lock_some(forms[2], together[2], alone[2])
    assert len({kind_of(engine) for engine in together}) == 1
    batch = CudaBatch(together, arena)
    given = [rows(4, 1), rows(7, 1), rows(4, 1)]
    active = {0, 1, 2}
    for retired in (2, 0):
        batch.advance([steps if number in active else None for number, steps in enumerate(given)])
        for number in active:
            alone[number].advance(given[number])
        together[1].fill_jobs()  # as reading it does
        batch.retire([retired])
        active.remove(retired)
    batch.advance([None, given[1], None])
    alone[1].advance(given[1])
    assert batch.evaluate([1]) == [alone[1].evaluate()]
    for engine, single in zip(together, alone, strict=True):
        assert_equal(engine, single)


@needs_gcc
def test_a_batch_in_which_a_player_is_fixed() -> None:
    forms = [form_of("random-18-1"), form_of("random-40-1")]
    device = HostDevice()
    with Arena(device) as arena:
        together = [CudaPublicEngine(form, device=device, tables=arena) for form in forms]
    alone = [CudaPublicEngine(form, device=HostDevice()) for form in forms]
    for engine in (*together, *alone):
        begin(engine.form, engine)
        engine.fix(1, engine.strategy)
        assert engine.fixed == {1}
    batch = CudaBatch(together, arena)
    batch.advance([rows(4, 2)] * 2)
    found = batch.evaluate([0, 1])
    for number, engine in enumerate(alone):
        engine.advance(rows(4, 2))
        assert engine.evaluate() == found[number]
        assert_equal(together[number], engine)


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

"""Estimated memory is never below what an engine allocates."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.engines.cuda.public.solves import NoKernels, form_of, many_actions, rows, with_tree
from tests.engines.random_public import random_form

from regretless.engines.cuda.public import sizes, spot
from regretless.engines.cuda.public.engine import CudaPublicEngine
from regretless.engines.cuda.public.hands import code_bytes, list_sizes
from regretless.engines.cuda.public.sizes import estimate
from regretless.engines.layout import block_ends
from regretless.forms.parts import part_of
from regretless.forms.public import PublicForm
from regretless.forms.public_size import size_of_form


def estimated(form: PublicForm, engine: CudaPublicEngine) -> int:
    is_part = form.part is not None
    return sizes.estimate(size_of_form(form), storage=engine.storage, predicts=engine.predicts, is_part=is_part)


@pytest.mark.parametrize("streets", [1, 2, 3])
def test_memory_of_random_forms_is_never_underestimated(streets: int) -> None:
    for seed in range(8 if streets < 3 else 2):
        most = 3 + 6 * seed
        form = random_form(seed, deck=(12, 9, 7)[streets - 1], streets=streets, most_hands=most, rake=0.03)
        for storage in (32, 16):
            for variant in ("discounted", "predictive-plus"):
                engine = CudaPublicEngine(form, device=NoKernels(), storage=storage)
                engine.advance(rows(1, 1, variant))
                engine.evaluate()
                if storage == 16:
                    before = engine.memory_bytes
                    for _ in range(2):  # walks in 32 bits of their own, which leave nothing behind
                        engine.evaluate(engine.strategy)
                    assert engine.memory_bytes == before
                assert engine.memory_bytes <= estimated(form, engine)


@pytest.mark.parametrize("ends", [(0, 0), (0, 3), (30, 70)])
def test_memory_of_parts_is_never_underestimated(ends: tuple[int, int]) -> None:
    part = part_of(random_form(2, streets=2, deck=70, most_hands=14), *ends)
    engine = CudaPublicEngine(part, device=NoKernels())
    alone = sizes.estimate(size_of_form(part))
    engine.begin(rows(1, 1))
    blocks, lines = len(block_ends(part)) - 1, int(engine.spot.plans[0].streets[1]["lines"])
    assert estimated(part, engine) - alone >= 8 * blocks * lines * max(engine.layout.hands.tolist())
    assert engine.memory_bytes <= estimated(part, engine)


@pytest.mark.parametrize("slots", [1, 3, 7, 10])
def test_memory_of_waves_is_never_underestimated(slots: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where players with different numbers of hands take turns with rows."""
    form = with_tree(random_form(25, deck=11, streets=2, most_hands=55), many_actions(2, 3, 3))
    hands = [len(held.weight) for held in form.hands]
    assert max(hands) > 3 * min(hands)
    whole = CudaPublicEngine(form, device=NoKernels())
    most = max(sum(spot._slot_rows(plan)) for plan in whole.spot.plans)
    monkeypatch.setattr(spot, "_shapes", {})
    for module in (spot, sizes):
        monkeypatch.setattr(module, "WAVE_BYTES", 4 * slots * most + 1)
        monkeypatch.setattr(module, "APART_BYTES", 0)
    engine = CudaPublicEngine(form, device=NoKernels())
    engine.evaluate()
    assert not engine.spot.apart
    assert engine.memory_bytes <= estimated(form, engine)


def test_memory_of_rows_that_are_only_just_apart_is_never_underestimated(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is estimated is more than what decides whether players take turns with rows."""
    form = with_tree(random_form(4, deck=9, streets=2, most_hands=36), many_actions(2, 3, 3))
    whole = CudaPublicEngine(form, device=NoKernels())
    rows_of = [spot._rows(plan, whole.spot.slots, spot._slot_rows(plan)) for plan in whole.spot.plans]
    in_turn = 4 * sum(max(one[1], two[1]) for one, two in zip(*rows_of, strict=True))
    monkeypatch.setattr(spot, "_shapes", {})
    for module in (spot, sizes):
        monkeypatch.setattr(module, "APART_BYTES", in_turn)
    engine = CudaPublicEngine(form, device=NoKernels())
    engine.evaluate()
    assert engine.spot.apart
    assert engine.memory_bytes <= estimated(form, engine)


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
    hands = (first, second), (second, first)
    matrices = int(engine.layout.runouts[-1]) * (code_bytes(first, second) + code_bytes(second, first))
    counted = estimate(size_of_form(form), storage=16) - estimate(plain, storage=16)
    assert counted == (matrices if engine.products else 0)
    held = sum(
        list_sizes(engine.layout, each, own, products=engine.products)["codes"] for own, each in enumerate(hands)
    )
    assert counted == held
    assert estimate(size_of_form(form), storage=32) == estimate(plain, storage=32)

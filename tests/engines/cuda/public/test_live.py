"""Rows of only the hands that a last runout leaves give the bits of rows of all hands."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engines.cuda.public.solves import begin, lock_some, needs_gcc, rows
from tests.engines.cuda.public.test_sizes import estimated
from tests.engines.cuda_host_device import HostDevice
from tests.engines.random_public import random_form

from regretless import engines
from regretless.engines.cuda.public import live
from regretless.engines.cuda.public.engine import CudaPublicEngine
from regretless.engines.layout import make_layout
from regretless.engines.numpy.public import PublicReference
from regretless.forms.parts import part_of
from regretless.forms.public import PublicForm
from regretless.holdem.flops import read_flops
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.real_cards import compile_game

GAME = HoldemGame.from_mapping(
    {
        "stack": 8,
        "small_blind": 0.5,
        "big_blind": 1,
        "preflop": {"open": "2x", "3bet": ""},
        "bets": {"flop": {"bet": "50%"}},
        "rules": {"add_allin": 0, "force_allin": 0},
    }
)


def small_form(streets: int) -> PublicForm:
    """Last runouts leave at most sixteen hands, a row, of more; three streets have lines that are only a showdown."""
    if streets == 3:
        return random_form(7, streets=3, deck=8, weighted=True, rake=0.02, most_hands=28)
    return random_form(83, streets=2, deck=7, weighted=True, rake=0.02, most_hands=21)


def differing(form: PublicForm, one: CudaPublicEngine, two: CudaPublicEngine) -> int:
    """How many numbers of live hands differ."""
    first, second = one.snapshot().arrays, two.snapshot().arrays
    count = 0
    for name in first:
        player = int(name[-1])
        for number, street in enumerate(form.streets):
            alive = ~street.dead[player][:, None]
            for node in one.layout.decisions(player, number):
                read = [one.layout.read(arrays[name], node) for arrays in (first, second)]
                count += int(np.count_nonzero((read[0] != read[1]) & alive))
    return count


@needs_gcc
@pytest.mark.parametrize(
    ("streets", "storage", "variant", "locks"),
    [(2, 32, "discounted", True), (2, 16, "postflop", False), (3, 16, "predictive-plus", False)],
)
def test_fewer_hands_change_no_bit(
    streets: int, storage: int, variant: str, locks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    form, solved = small_form(streets), []
    for share in (0.0, 1.0):
        monkeypatch.setattr(live, "WORTHWHILE", share)
        engine = CudaPublicEngine(form, device=HostDevice(), storage=storage)
        begin(form, engine)
        if locks:
            lock_some(form, engine)
        engine.advance(rows(4, 2, variant))
        solved.append(engine)
    plain, fewer = solved
    assert fewer._places.hands[:, -1].tolist() == [16, 16]
    assert plain._places.hands[:, -1].tolist() == [32, 32]
    assert plain.evaluate() == fewer.evaluate()
    assert plain.evaluate(plain.strategy) == fewer.evaluate(fewer.strategy)
    assert differing(form, plain, fewer) == 0
    if not locks:
        restored = CudaPublicEngine(form, device=HostDevice(), storage=storage)
        restored.restore(fewer.snapshot())
        assert restored.evaluate() == fewer.evaluate()
        np.testing.assert_array_equal(
            restored.averages(1, streets - 1, slice(1, 3)),
            fewer.layout.street_rows(fewer.snapshot().arrays["average.1"], 1, streets - 1)[1:3],
        )
    assert fewer.memory_bytes < plain.memory_bytes
    assert fewer.memory_bytes <= estimated(form, fewer)


@needs_gcc
def test_fewer_hands_follow_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "WORTHWHILE", 1.0)
    form = small_form(2)
    engine, reference = CudaPublicEngine(form, device=HostDevice()), PublicReference(form)
    begin(form, engine, reference)
    for each in (engine, reference):
        each.advance(rows(4, 3))
    first, second = engine.evaluate(), reference.evaluate()
    np.testing.assert_allclose(first.values, second.values, atol=1e-5)
    np.testing.assert_allclose(first.best_response_values, second.best_response_values, atol=1e-5)


def test_a_trunk_keeps_all_hands() -> None:
    form = small_form(3)
    whole, trunk = (live.make_stored_layout(make_layout(each), products=False) for each in (form, part_of(form, 0, 0)))
    assert whole.live is not None
    assert trunk.live is None


@pytest.mark.gpu
@pytest.mark.parametrize("storage", [32, 16])
def test_a_game_from_the_deal_keeps_its_bits(storage: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On flops with suits that can be exchanged and on one without, whose rivers leave 1,081 hands."""
    pytest.importorskip("cupy")
    form, solved = compile_game(GAME, read_flops("8c 8d 8h, Qs Jh 2h, Ks 7s 2s")), []
    for share in (0.0, live.WORTHWHILE):
        monkeypatch.setattr(live, "WORTHWHILE", share)
        engine = engines.create("cuda", form, storage=storage)
        assert isinstance(engine, CudaPublicEngine)
        engine.advance(rows(1, 12, "postflop"))
        solved.append(engine)
    plain, fewer = solved
    assert fewer._places.hands[:, -1].tolist() == [1088, 1088]
    assert plain.evaluate() == fewer.evaluate()
    assert differing(form, plain, fewer) == 0

"""The PyTorch engine takes the same steps as the compiled one on spots of every kind, and their files are the same.

From the same numbers, two iterations of both give exploitabilities and EVs that agree to 1e-5 of the pot, in 32 and in
16 bits. Over many iterations they drift apart, since where two actions are equally good rounding decides.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import regretless as rl
from regretless.engines.contract import PublicEngine, Updates
from regretless.engines.public.layout import make_layout
from regretless.engines.public.portable import sizes
from regretless.engines.registry import create
from regretless.errors import InvalidOption, WouldNotFit
from regretless.forms.public import PublicForm
from regretless.forms.public_size import size_of_form
from regretless.holdem.form.runouts import compile_spot
from regretless.holdem.locking import apply_locks
from regretless.holdem.spots.locks import Lock
from regretless.holdem.spots.spot import Spot
from regretless.variants import PRESETS, schedule

pytest.importorskip("torch")

sys.path.insert(0, str(Path(__file__).parent))
from random_spots import random_spot
from reference_spots import DATA

slow, gpu = pytest.mark.slow, pytest.mark.gpu
DEVICES = ["cpu", pytest.param("cuda", marks=gpu)]
TOLERANCE = 1e-5  # of the pot


def spot(board: str, oop: str, ip: str, **rest: Any) -> Spot:
    given = {"pot": 100, "stack": 250, "bets": {"bet": "75%", "raise": "a"}} | rest
    return Spot.from_mapping({"board": board, "oop": {"range": oop}, "ip": {"range": ip}, **given})


ALL_IN = {"stack": 100, "bets": {"bet": "a"}}
RAKE = {"rules": {"rake": 0.05, "rake_cap": 3}}
SPOTS = {
    "river": Spot.read(DATA / "river_narrow.toml"),
    "river, rake": Spot.read(DATA / "river_rake.toml"),
    "river, all hands": Spot.read(DATA / "river_wide.toml"),
    "river, monotone": spot("Kh 8h 3h 2h 9h", "AK, QQ-22, A5s", "JJ-44, A4s, T9s:0.3", **RAKE),
    "river, nearly all blocked": spot("9d Qs Qd As Ad", "Ah4d", "AhJs, AhKh, 7c5c:0.0001"),
    "turn": Spot.read(DATA / "turn_example.toml"),
    "turn, paired": Spot.read(DATA / "turn_paired_donk.toml"),
    "turn, three of a kind": spot("7c 7s 4d 7h", "JTs-J3s, AKo", "QQ, A9:0.2, JTo", **RAKE),
    "turn, unequal ranges": spot("Kh 8d 3c 2h", "AA", "22+, A2s+, K9s+, QTs+, JTs, ATo+, KJo+"),
    "flop, monotone": spot("Kh 8h 3h", "QQ, A5s, KJ", "JJ, A4s:0.5, T9s", **ALL_IN),
    "flop, paired": spot("8s 8h 3h", "AK, 99", "QQ, 76s, A8s", **ALL_IN, **RAKE),
    "flop, rainbow": spot("Qs Jh 2d", "AKs, 22", "AA, KQs:0.5, T9s", **ALL_IN),
}
LARGE = Spot.read(DATA / "flop_3bet.toml")


def same_steps(form: PublicForm, engines: Sequence[PublicEngine], variant: str = "discounted") -> None:
    """Every few iterations, the second engine takes over the numbers of the first, and both go on."""
    tolerance = TOLERANCE * form.tree.starting_pot
    for iterations in (0, 12, 20):
        engines[0].advance(schedule(PRESETS[variant], engines[0].iteration + 1, iterations - engines[0].iteration))
        engines[1].restore(engines[0].snapshot())
        for engine in engines:
            engine.advance(schedule(PRESETS[variant], iterations + 1, 2))
        one, two = (engine.evaluate() for engine in engines)
        assert two.exploitability == pytest.approx(one.exploitability, abs=tolerance)
        np.testing.assert_allclose(two.values, one.values, rtol=0, atol=tolerance)
        for player in range(2):
            weight = form.hands[player].weight
            first, second = (engine.root_values(player) for engine in engines)
            assert np.abs(first - second) @ weight / weight.sum() < tolerance
            for early, late in zip(*(engine.values_before_last(player) for engine in engines), strict=True):
                # Off the path of play, a hand may be indifferent, and rounding decides what it does.
                assert np.isclose(late, early, rtol=0, atol=1e-4 * np.abs(early).max()).mean() > 0.99


def both(form: PublicForm, storage: int, device: str) -> tuple[PublicEngine, PublicEngine]:
    return create("numba", form, storage=storage, threads=1), create("torch", form, storage=storage, device=device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("name", SPOTS)
def test_it_takes_the_same_steps_as_the_compiled_engine(name: str, storage: int, device: str) -> None:
    form = compile_spot(SPOTS[name])
    same_steps(form, both(form, storage, device))


@slow
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("storage", [32, 16])
def test_it_takes_the_same_steps_on_a_large_flop(storage: int, device: str) -> None:
    form = compile_spot(LARGE)
    same_steps(form, both(form, storage, device))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("variant", PRESETS)
def test_every_variant_takes_the_same_steps(variant: str, device: str) -> None:
    form = compile_spot(SPOTS["river, monotone"])
    same_steps(form, both(form, 32, device), variant)


@pytest.mark.parametrize("device", DEVICES)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), cards=st.sampled_from([4, 5]), storage=st.sampled_from([32, 16]))
def test_an_independent_evaluation_confirms_what_it_reports(device: str, seed: int, cards: int, storage: int) -> None:
    solution = rl.solve(random_spot(seed, cards), engine="torch", device=device, iterations=15, storage=storage)
    found = solution.verify()
    tolerance = {32: 2e-6, 16: 1e-4}[storage] * solution.spot.pot
    assert found.exploitability == pytest.approx(solution.exploitability, abs=tolerance)
    for player in ("oop", "ip"):
        assert found.ev[player] == pytest.approx(solution.ev[player], abs=2 * tolerance)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("storage", [32, 16])
def test_locks_hold(storage: int, device: str) -> None:
    locks = Lock("", {"check": 1}), Lock("check", {"check": 0.75, "bet 75": 0.25}, hands="QQ")
    named = replace(SPOTS["turn, three of a kind"], locks=locks)
    form = compile_spot(named)
    engines = both(form, storage, device)
    for engine in engines:
        apply_locks(engine, named, resumed=False)
    same_steps(form, engines)
    for engine in engines:
        np.testing.assert_array_equal(engine.kept_strategy(0, 0)[0], 1.0)
        engine.unlock()
    assert engines[1].evaluate().exploitability == pytest.approx(engines[0].evaluate().exploitability, rel=1e-4)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("storage", [32, 16])
def test_a_fixed_player_is_never_updated(storage: int, device: str) -> None:
    form = compile_spot(SPOTS["flop, paired"])
    engines = both(form, storage, device)
    engines[0].advance(schedule(PRESETS["discounted"], 1, 12))
    engines[1].restore(engines[0].snapshot())
    for engine in engines:
        engine.fix(1, engines[0].strategy)
        engine.advance(schedule(PRESETS["discounted"], 13, 3))
    one, two = (engine.evaluate() for engine in engines)
    assert two.best_response_values[1] == two.values[1]
    np.testing.assert_allclose(two.values, one.values, rtol=1e-5)
    np.testing.assert_allclose(two.best_response_values, one.best_response_values, rtol=1e-5)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("engines", [("torch", "numba"), ("numba", "torch")], ids="-".join)
def test_a_file_of_one_engine_resumes_on_another(
    engines: tuple[str, str], storage: int, device: str, tmp_path: Path
) -> None:
    spot, asked = SPOTS["turn, three of a kind"], {"variant": "discounted", "storage": storage}
    on = {"torch": {"engine": "torch", "device": device}, "numba": {"engine": "numba"}}
    begun = rl.solve(spot, iterations=12, **asked, **on[engines[0]])
    begun.save(tmp_path / "begun.rgl", resumable=True)
    assert rl.load(tmp_path / "begun.rgl").exploitability == begun.exploitability
    resumed = rl.solve(resume=tmp_path / "begun.rgl", iterations=14, **on[engines[1]])
    straight = rl.solve(resume=tmp_path / "begun.rgl", iterations=14, **on[engines[0]])
    assert (begun.engine, resumed.engine, resumed.iterations) == (*engines, 14)
    assert resumed.exploitability == pytest.approx(straight.exploitability, abs=TOLERANCE * spot.pot)
    for line in ("", "check, check, 5h", "check, bet 75"):
        one, two = resumed.node(line), straight.node(line)
        np.testing.assert_allclose(one.ev("oop"), two.ev("oop"), atol=0.05)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("name", ["river, monotone", "turn, three of a kind", "flop, monotone", "flop, paired"])
def test_equivalent_hands_stay_equal_bit_by_bit(name: str, storage: int, device: str) -> None:
    form = compile_spot(SPOTS[name])
    assert any(street.symmetry.any() for street in form.streets)
    engine = create("torch", form, storage=storage, device=device)
    engine.advance(schedule(PRESETS["predictive-plus"], 1, 6))
    layout = make_layout(form)
    for array, numbers in engine.snapshot().arrays.items():
        alike = numbers.copy()
        layout.make_alike(alike, int(array[-1]))
        np.testing.assert_array_equal(alike, numbers)


@pytest.mark.parametrize("device", DEVICES)
def test_blocks_of_any_size_give_the_same_values(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    form = compile_spot(SPOTS["turn, three of a kind"])
    whole = create("torch", form, device=device)
    monkeypatch.setitem(sizes.BLOCK_BYTES, device, whole.memory_bytes // 20)
    pieces = create("torch", form, device=device)
    assert pieces.memory_bytes < whole.memory_bytes
    whole.advance(schedule(PRESETS["discounted"], 1, 12))
    pieces.restore(whole.snapshot())
    for engine in (whole, pieces):
        engine.advance(schedule(PRESETS["discounted"], 13, 2))
    one, two = whole.evaluate(), pieces.evaluate(pieces.strategy)
    np.testing.assert_allclose(two.values, one.values, rtol=1e-6)
    np.testing.assert_allclose(two.best_response_values, one.best_response_values, rtol=1e-6)


@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("name", [*SPOTS, "flop, large"])
def test_the_estimate_is_at_least_the_memory_and_little_more(name: str, storage: int) -> None:
    """Where ranges are narrow, how often each card occurs matters, which the estimate does not know."""
    form = compile_spot(SPOTS.get(name, LARGE))
    engine = create("torch", form, storage=storage)
    wide = "blocked" in name
    said = sizes.estimate(size_of_form(form), storage=storage, wide=wide)
    assert engine.memory_bytes <= said <= 1.02 * engine.memory_bytes + sizes.BLOCK_BYTES["cpu"]
    if form.tree.kind.size < 100:
        engine.advance(schedule(PRESETS["predictive-plus"], 1, 1))
        assert engine.memory_bytes <= sizes.estimate(size_of_form(form), storage=storage, predicts=True, wide=wide)


def test_what_it_cannot_do_is_refused_with_a_sentence() -> None:
    form = compile_spot(SPOTS["river"])
    with pytest.raises(InvalidOption, match=r"^storage: 8 is not one of 32, 16 bits"):
        create("torch", form, storage=8)
    with pytest.raises(InvalidOption, match=r"^dtype: 'float64' is not for the torch engine on the public form"):
        create("torch", form, dtype="float64")
    with pytest.raises(InvalidOption, match=r"^updates: 'simultaneous' cannot be combined with the torch engine"):
        create("torch", form, updates=Updates.SIMULTANEOUS)
    if sys.platform != "darwin":
        with pytest.raises(InvalidOption, match=r"^device: 'mps' is not available"):
            create("torch", form, device="mps")


def test_too_little_memory_on_a_device_is_refused_with_what_would_fit() -> None:
    size = size_of_form(compile_spot(SPOTS["turn"]))
    least = sizes.estimate(size, storage=16, device="cuda")
    sizes.check_fits(size, storage=16, wide=False, free=least)
    with pytest.raises(WouldNotFit, match=r"in 32 bits on the CUDA device needs .*: storage 16 needs .* which fits"):
        sizes.check_fits(size, storage=32, wide=False, free=least)
    with pytest.raises(WouldNotFit, match=r"in 16 bits .*: device cpu uses the memory of the machine"):
        sizes.check_fits(size, storage=16, wide=False, free=least - 1)


def test_sums_of_bags_are_the_same_one_column_after_another() -> None:
    torch = pytest.importorskip("torch")
    terminals = pytest.importorskip("regretless.engines.public.portable.terminals")
    bags, sums = torch.randint(0, 50, (20, 4), dtype=torch.int32), torch.rand((50, 7), dtype=torch.float64)
    signs = torch.tensor([1.0, -1.0, -1.0, 1.0], dtype=torch.float64).repeat(20, 1)
    torch.testing.assert_close(terminals.sum_bags_by_column(bags, sums, signs), terminals.sum_bags(bags, sums, signs))

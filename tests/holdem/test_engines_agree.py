"""On a GPU, the CUDA engine takes the same steps as the numba engine on spots of every kind; so do their files.

From the same numbers, two iterations of both give exploitabilities and EVs that agree to 1e-5 of the pot, in 32 and in
16 bits. Over many iterations they drift apart, since where two actions are equally good rounding decides.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.holdem.random_spots import random_spot
from tests.holdem.spots_of_every_kind import LARGE, SPOTS

import regretless as rl
from regretless.engines.contract import PublicEngine
from regretless.engines.creation import create
from regretless.engines.cuda.public import engine as cuda_engine
from regretless.engines.cuda.public import work
from regretless.engines.devices import PUBLIC_GPU_FROM
from regretless.engines.layout import make_layout
from regretless.engines.registry import available
from regretless.forms.public import PublicForm
from regretless.holdem.form.runouts import compile_spot
from regretless.holdem.locking import apply_locks
from regretless.holdem.spots.locks import Lock
from regretless.variants import PRESETS, schedule

slow, gpu = pytest.mark.slow, pytest.mark.gpu
WAYS = [pytest.param("cuda-cuda", marks=gpu)]  # engine and device
# Of the pot, by storage: in 16 bits, averages are multiples of 1.5e-5, and a GPU may round one the other way.
TOLERANCE = {32: 1e-5, 16: 1e-4}


def cases(*names: str) -> list[Any]:
    """Every spot, storage and way."""
    return [
        pytest.param(name, storage, way.values[0], marks=way.marks)
        for name, storage, way in product(names, (32, 16), WAYS)
    ]


def on(way: str) -> dict[str, Any]:
    """The options for an engine and a device."""
    engine, device = way.split("-")
    if engine not in available():
        pytest.skip(f"{engine} is not installed")
    return {"engine": engine, "device": device}


def create_on(way: str, form: PublicForm, storage: int) -> PublicEngine:
    return create(on(way)["engine"], form, storage=storage, device=on(way)["device"])


def same_steps(
    form: PublicForm, engines: Sequence[PublicEngine], variant: str = "discounted", begins: Sequence[int] = (0, 15)
) -> None:
    """After some iterations, the second engine takes over the numbers of the first, and both continue."""
    tolerance = TOLERANCE[engines[0].storage] * form.tree.starting_pot
    # At first many hands are indifferent. Rounding decides what they do where an engine multiplies in half precision
    # (`tests/engines/cuda/public/test_products.py` compares that engine's first regrets).
    begins = (15, 40) if getattr(engines[1], "products", False) else begins
    for iterations in begins:
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


def both(form: PublicForm, storage: int, way: str) -> tuple[PublicEngine, PublicEngine]:
    return create("numba", form, storage=storage, threads=1), create_on(way, form, storage)


@pytest.mark.parametrize(("name", "storage", "way"), cases(*SPOTS))
def test_it_takes_the_same_steps_as_the_numba_engine(name: str, storage: int, way: str) -> None:
    form = compile_spot(SPOTS[name])
    same_steps(form, both(form, storage, way))


@slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("storage", [32, 16])
def test_it_takes_the_same_steps_on_a_large_flop(storage: int, way: str) -> None:
    """Not from the first iteration: so many hands are indifferent then that rounding moves EVs by 1e-5 of the pot."""
    form = compile_spot(LARGE)
    same_steps(form, both(form, storage, way), begins=(15,))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("variant", PRESETS)
def test_every_variant_takes_the_same_steps(variant: str, way: str) -> None:
    form = compile_spot(SPOTS["river, monotone"])
    same_steps(form, both(form, 32, way), variant)


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), cards=st.sampled_from([4, 5]), storage=st.sampled_from([32, 16]))
def test_an_independent_evaluation_confirms_what_it_reports(way: str, seed: int, cards: int, storage: int) -> None:
    solution = rl.solve(random_spot(seed, cards), iterations=15, storage=storage, **on(way))
    found = solution.verify()
    tolerance = {32: 2e-6, 16: 1e-4}[storage] * solution.spot.pot
    assert found.exploitability == pytest.approx(solution.exploitability, abs=tolerance)
    for player in ("oop", "ip"):
        assert found.ev[player] == pytest.approx(solution.ev[player], abs=2 * tolerance)


def straight_on_the_board(stack: float, ip: str) -> rl.Spot:
    """A river on which most hands tie, however much is bet."""
    fields = {"board": "Qd 8h 9s Jc Th", "pot": 100, "stack": stack, "oop": {"range": "100%"}, "ip": {"range": ip}}
    bets = {"bet": "66%", "raise": "40%", "river": {"ip": {"bet": "1e"}}}
    return rl.Spot.from_mapping(fields | {"bets": bets, "rules": {"add_allin": 0, "force_allin": 0.15, "merge": 0}})


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("stack", "ip"), [(1108, "8s2d:0.25,9c2c:0.333,9d3d:0.9,6d2d"), (100_000, "22-77, A2s-A7s")])
def test_rounding_does_not_choose_bets_where_nearly_all_hands_tie(way: str, stack: float, ip: str) -> None:
    solution = rl.solve(straight_on_the_board(stack, ip), iterations=100, storage=32, **on(way))
    assert solution.verify().exploitability == pytest.approx(solution.exploitability, abs=2e-6 * 100)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("storage", [32, 16])
def test_locks_hold(storage: int, way: str) -> None:
    locks = Lock("", {"check": 1}), Lock("check", {"check": 0.75, "bet 75": 0.25}, hands="QQ")
    named = replace(SPOTS["turn, three of a kind"], locks=locks)
    form = compile_spot(named)
    engines = both(form, storage, way)
    for engine in engines:
        apply_locks(engine, named, resumed=False)
    same_steps(form, engines)
    for engine in engines:
        np.testing.assert_array_equal(engine.kept_strategy(0, 0)[0], 1.0)
        engine.unlock()
    assert engines[1].evaluate().exploitability == pytest.approx(engines[0].evaluate().exploitability, rel=1e-4)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("storage", [32, 16])
def test_a_fixed_player_is_never_updated(storage: int, way: str) -> None:
    form = compile_spot(SPOTS["flop, paired"])
    engines = both(form, storage, way)
    engines[0].advance(schedule(PRESETS["discounted"], 1, 12))
    engines[1].restore(engines[0].snapshot())
    for engine in engines:
        engine.fix(1, engines[0].strategy)
        engine.advance(schedule(PRESETS["discounted"], 13, 3))
    one, two = (engine.evaluate() for engine in engines)
    assert two.best_response_values[1] == two.values[1]
    np.testing.assert_allclose(two.values, one.values, rtol=1e-5)
    np.testing.assert_allclose(two.best_response_values, one.best_response_values, rtol=1e-5)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("back", [False, True])
def test_a_file_of_one_engine_resumes_on_another(back: bool, storage: int, way: str, tmp_path: Path) -> None:
    spot, asked = SPOTS["turn, three of a kind"], {"variant": "discounted", "storage": storage}
    first, second = ({"engine": "numba"}, on(way)) if back else (on(way), {"engine": "numba"})
    begun = rl.solve(spot, iterations=12, **asked, **first)
    begun.save(tmp_path / "begun.rgl", resumable=True)
    assert rl.load(tmp_path / "begun.rgl").exploitability == begun.exploitability
    resumed = rl.solve(resume=tmp_path / "begun.rgl", iterations=14, **second)
    straight = rl.solve(resume=tmp_path / "begun.rgl", iterations=14, **first)
    assert (begun.engine, resumed.engine, resumed.iterations) == (first["engine"], second["engine"], 14)
    assert resumed.exploitability == pytest.approx(straight.exploitability, abs=TOLERANCE[storage] * spot.pot)
    for line in ("", "check, check, 5h", "check, bet 75"):
        one, two = resumed.node(line), straight.node(line)
        np.testing.assert_allclose(one.ev("oop"), two.ev("oop"), atol=0.05)


@pytest.mark.parametrize(
    ("name", "storage", "way"), cases("river, monotone", "turn, three of a kind", "flop, monotone", "flop, paired")
)
def test_equivalent_hands_stay_equal_bit_by_bit(name: str, storage: int, way: str) -> None:
    form = compile_spot(SPOTS[name])
    assert any(street.symmetry.any() for street in form.streets)
    engine = create_on(way, form, storage)
    engine.advance(schedule(PRESETS["predictive-plus"], 1, 4))
    layout = make_layout(form)
    for array, numbers in engine.snapshot().arrays.items():
        alike = numbers.copy()
        layout.make_alike(alike, int(array[-1]))
        np.testing.assert_array_equal(alike, numbers)


# --- only on a GPU ---------------------------------------------------------------------------------------------------


def convergence(engine: PublicEngine, variant: str = "turn") -> float:
    """The median of some exploitabilities after hundreds of iterations: single ones jump now and then."""
    found = []
    for iterations in range(200, 401, 50):
        engine.advance(schedule(PRESETS[variant], engine.iteration + 1, iterations - engine.iteration))
        found.append(engine.evaluate().exploitability)
    return float(np.median(found))


@gpu
@pytest.mark.parametrize(
    "spot",
    [
        *(pytest.param(random_spot(seed, 4), id=f"random {seed}") for seed in (0, 5, 11, 13, 16, 20, 22, 28)),
        *(pytest.param(SPOTS[name], id=name) for name in ("turn", "turn, paired", "flop, monotone")),
    ],
)
def test_products_in_half_precision_converge_as_sums_do(spot: rl.Spot, monkeypatch: pytest.MonkeyPatch) -> None:
    on("cuda-cuda")
    form = compile_spot(spot)
    multiplying: Any = create_on("cuda-cuda", form, 16)
    monkeypatch.setattr(cuda_engine, "can_multiply", lambda form: False)
    adding: Any = create_on("cuda-cuda", form, 16), create("numba", form, storage=16, threads=1)
    assert multiplying.products
    assert not adding[0].products
    least = 1e-5 * form.tree.starting_pot  # what 16 bits can tell apart
    assert convergence(multiplying) < 1.5 * max(map(convergence, adding)) + least
    solution = rl.solve(spot, iterations=400, storage=16, **on("cuda-cuda"))
    assert solution.verify().exploitability == pytest.approx(solution.exploitability, abs=10 * least)


@gpu
def test_results_on_a_gpu_are_bit_identical_between_runs() -> None:
    form = compile_spot(SPOTS["turn, paired"])
    for storage in (32, 16):
        taken = []
        for pieces in ((40,), (13, 27)):
            engine = create_on("cuda-cuda", form, storage)
            for count in pieces:
                engine.advance(schedule(PRESETS["postflop"], engine.iteration + 1, count))
            taken.append(engine.snapshot().arrays)
        for name, numbers in taken[0].items():
            np.testing.assert_array_equal(taken[1][name], numbers)


@gpu
@pytest.mark.parametrize("storage", [32, 16])
def test_a_batch_on_a_gpu_equals_its_spots_alone(storage: int) -> None:
    """Spots of three streets, with locks; every bit is the same."""
    on("cuda-cuda")
    named = dict(SPOTS)
    named["river, locked"] = replace(SPOTS["river, rake"], locks=(Lock("", {"check": 1}),))
    asked: dict[str, Any] = {"variant": "postflop", "iterations": 60, "target": 1.0, "storage": storage}
    together = rl.solve_many(named.values(), device="cuda", **asked)
    assert len({solution.iterations for solution in together}) > 2
    for spot, solution in zip(named.values(), together, strict=True):
        alone = rl.solve(spot, device="cuda", **asked)
        assert solution.record.evaluation == alone.record.evaluation
        assert solution.iterations == alone.iterations
        assert solution.snapshot is not None
        assert alone.snapshot is not None
        for name, numbers in alone.snapshot.arrays.items():
            np.testing.assert_array_equal(solution.snapshot.arrays[name], numbers)


@gpu
@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("name", ["river, rake", "turn, paired", "flop, paired"])
def test_walks_level_by_level_give_the_same_bits(name: str, storage: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many spots are solved together decides how each is walked."""
    on("cuda-cuda")
    taken = []
    for tasks in (0, 1 << 40):
        monkeypatch.setattr(work, "LEVEL_TASKS", tasks)
        engine = create_on("cuda-cuda", compile_spot(SPOTS[name]), storage)
        engine.advance(schedule(PRESETS["postflop"], 1, 40))
        taken.append((engine.evaluate(), engine.snapshot().arrays))
    assert taken[0][0] == taken[1][0]
    for array, numbers in taken[0][1].items():
        np.testing.assert_array_equal(taken[1][1][array], numbers)


KILLED = """
import sys
import regretless as rl
rl.solve(sys.argv[1], device="cuda", variant="postflop", iterations=100_000, checkpoint=sys.argv[2], save_every=0.2)
"""


@gpu
def test_a_solve_on_a_gpu_that_was_killed_resumes_bit_identically(tmp_path: Path) -> None:
    on("cuda-cuda")
    file, spot = tmp_path / "killed.rgl", tmp_path / "turn.toml"
    spot.write_text(SPOTS["turn, paired"].to_toml(), encoding="utf-8")
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(spot), str(file)])
    for _ in range(600):
        time.sleep(0.1)
        if file.exists():
            break
    time.sleep(0.3)
    process.send_signal(signal.SIGKILL)
    process.wait(60)
    done = rl.load(file).iterations
    assert done > 0
    resumed = rl.solve(resume=file, iterations=done + 50)
    straight = rl.solve(spot, device="cuda", variant="postflop", iterations=done + 50)
    assert resumed.device == "cuda"
    assert resumed.record.evaluation == straight.record.evaluation
    assert resumed.snapshot is not None
    assert straight.snapshot is not None
    for name, numbers in straight.snapshot.arrays.items():
        np.testing.assert_array_equal(resumed.snapshot.arrays[name], numbers)


@gpu
def test_auto_sends_a_flop_to_the_gpu_and_a_river_to_the_cpu() -> None:
    on("cuda-cuda")
    assert rl.solve(LARGE, iterations=2).device == "cuda"
    assert rl.solve(SPOTS["river"], iterations=2).device == "cpu"
    assert PUBLIC_GPU_FROM["cuda"] > 1_000_000


@gpu
@slow
def test_flop_holdem_on_a_gpu() -> None:
    on("cuda-cuda")
    solution = rl.solve("flop-holdem", device="cuda", target=50)
    assert (solution.device, solution.reason) == ("cuda", "target")

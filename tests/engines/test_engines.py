"""One test over every engine × form × device × number format × variant × kind of update.

Single iterations start from random regrets: after many, two correct engines drift apart where rounding decides a tie.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from regretless import engines, games
from regretless.engines import ENGINES, EngineEntry, FormKind, GameEngine, Sampling, Snapshot, Updates
from regretless.errors import InvalidGame, InvalidOption, MissingExtra, WouldNotFit
from regretless.forms import HistoryForm, SequenceForm, compile_history, compile_sequence, uniform_array
from regretless.forms.memory import memory_bytes
from regretless.forms.public_poker import compile_public
from regretless.games import Kuhn
from regretless.solving.readable.reference import Reference
from regretless.variants import PRESETS, Plus, schedule

GAMES = ("kuhn", "kuhn(players=3)", "leduc", "liars_dice(sides=4)", "goofspiel(cards=4)")
RULES = ("vanilla", "plus", "discounted", "predictive-plus", "predictive-discounted-plus")


def builds() -> list[Any]:
    """Every (engine, form, device, dtype) that can run here."""
    found = []
    for name in engines.available():
        for kind, build in ENGINES[name].classes.items():
            if kind not in (FormKind.SEQUENCE, FormKind.HISTORY) or build.rules:
                continue
            for device in build.devices:
                if device == "mps":  # the PyTorch engine tests it where it is
                    continue
                marks = (pytest.mark.gpu,) if device == "cuda" else ()
                for dtype in build.dtypes:
                    label = f"{name}-{device}-{kind}-{dtype}"
                    found.append(pytest.param((name, kind, device, dtype), id=label, marks=marks))
    return found


def pairs() -> list[Any]:
    """Every such build with every game that its form can hold: the sequence form is for two players."""
    return [
        pytest.param(build.values[0], name, id=f"{build.id}-{name}", marks=build.marks)
        for build in builds()
        for name in GAMES
        if build.values[0][1] is not FormKind.SEQUENCE or "players=3" not in name
    ]


def create(build: tuple[str, FormKind, str, str], form: HistoryForm | SequenceForm, updates: Updates) -> GameEngine:
    name, kind, device, dtype = build
    return engines.create(name, form, kind=kind, device=device, dtype=dtype, updates=updates)


@cache
def compiled(name: str) -> HistoryForm:
    return compile_history(games.load(name))


@cache
def compiled_sequence(name: str) -> SequenceForm:
    return compile_sequence(compiled(name))


def random_snapshot(form: HistoryForm, seed: int, *, floor: bool) -> Snapshot:
    """Regrets, sums and a strategy that no variant would produce."""
    random = np.random.default_rng(seed)
    pairs = int(form.first_pair[-1])
    regret = random.normal(size=pairs)
    weight = random.exponential(size=pairs)
    total = np.add.reduceat(weight, form.first_pair[:-1])
    strategy = weight / np.repeat(total, np.diff(form.first_pair))
    learned = np.abs(regret) if floor else regret
    return Snapshot(9, {"regret": learned, "average": random.exponential(size=pairs), "strategy": strategy})


def after_one_iteration(engine: GameEngine, rule: str, start: Snapshot) -> Snapshot:
    engine.restore(start)
    engine.advance(schedule(PRESETS[rule], first=start.iteration + 1, count=1))
    return engine.snapshot()


@cache
def expected(name: str, rule: str, updates: Updates) -> tuple[Snapshot, Snapshot]:
    """The state before one iteration, and after it by the readable recursion."""
    form = compiled(name)
    start = random_snapshot(form, seed=len(name), floor=PRESETS[rule].weights(10).floor)
    return start, after_one_iteration(Reference(games.load(name), form, updates=updates), rule, start)


def assert_same(found: Snapshot, wanted: Snapshot, tolerance: float) -> None:
    assert found.iteration == wanted.iteration
    for field in ("regret", "average", "strategy"):
        is_, should = found.arrays[field], wanted.arrays[field]
        scale = max(1.0, float(np.abs(should).max(initial=0.0)))
        np.testing.assert_allclose(is_, should, rtol=0, atol=tolerance * scale, err_msg=field)


@pytest.mark.parametrize("updates", Updates, ids=str)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("build", "name"), pairs())
def test_every_engine_follows_the_recursion(build: Any, name: str, rule: str, updates: Updates) -> None:
    form = compiled(name)
    start, end = expected(name, rule, updates)
    engine = create(build, compiled_sequence(name) if build[1] is FormKind.SEQUENCE else form, updates)
    assert_same(after_one_iteration(engine, rule, start), end, engine.tolerance)
    if build[3] == "float64":
        assert engine.tolerance <= 1e-10


@cache
def expected_evaluation(name: str) -> tuple[Snapshot, tuple[float, ...], tuple[float, ...]]:
    form = compiled(name)
    profile = random_snapshot(form, seed=3, floor=True)
    evaluation = Reference(games.load(name), form).evaluate(profile.arrays["strategy"])
    return profile, evaluation.values, evaluation.best_response_values


@pytest.mark.parametrize("build", [each for each in builds() if each.values[0][1] is FormKind.SEQUENCE])
def test_the_sequence_form_refuses_a_third_player(build: Any) -> None:
    with pytest.raises(InvalidGame, match="3 players"):
        create(build, compiled("kuhn(players=3)"), Updates.ALTERNATING)


@pytest.mark.parametrize(("build", "name"), pairs())
def test_values_and_best_responses(build: Any, name: str) -> None:
    profile, values, best = expected_evaluation(name)
    engine = create(
        build, compiled_sequence(name) if build[1] is FormKind.SEQUENCE else compiled(name), Updates.ALTERNATING
    )
    evaluation = engine.evaluate(profile.arrays["strategy"])
    np.testing.assert_allclose(evaluation.values, values, rtol=0, atol=10 * engine.tolerance)
    np.testing.assert_allclose(evaluation.best_response_values, best, rtol=0, atol=10 * engine.tolerance)


@pytest.mark.parametrize("build", builds())
@pytest.mark.parametrize("played", [(0.7, 0.7), (1.5, -0.5), (float("nan"), 1.0), (0.2, 0.2)])
def test_impossible_strategies_are_refused(build: Any, played: tuple[float, float]) -> None:
    form = compiled("kuhn")
    engine = create(build, compiled_sequence("kuhn") if build[1] is FormKind.SEQUENCE else form, Updates.ALTERNATING)
    strategy = uniform_array(form)
    strategy[2:4] = played
    with pytest.raises(InvalidOption, match=r"^strategy: .* at '1:' must hold numbers of at least 0 that sum to 1"):
        engine.evaluate(strategy)
    with pytest.raises(InvalidOption, match="one number for each of 24 pairs"):
        engine.evaluate(strategy[:5])


@pytest.mark.parametrize(
    ("device", "examples"),
    [
        ("cpu", 50),
        pytest.param("cpu", 200, marks=pytest.mark.slow),
        pytest.param("cuda", 200, marks=pytest.mark.gpu),
    ],
)
def test_random_games(device: str, examples: int, random_game: Any) -> None:
    choices = [build.values[0] for build in builds()]
    exact = [build for build in choices if build[2:] == (device, "float64")]

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(
        seed=st.integers(0, 10**6),
        players=st.sampled_from((2, 2, 3)),
        zero_sum=st.booleans(),
        rule=st.sampled_from(RULES),
        updates=st.sampled_from(Updates),
    )
    def check(seed: int, players: int, zero_sum: bool, rule: str, updates: Updates) -> None:
        game = random_game(seed, players, zero_sum=zero_sum)
        form = compile_history(game)
        assume(form.keys)  # not chance alone
        start = random_snapshot(form, seed, floor=PRESETS[rule].weights(10).floor)
        reference = Reference(game, form, updates=updates)
        end, wanted = after_one_iteration(reference, rule, start), reference.evaluate(start.arrays["strategy"])
        for build in exact:
            if build[1] is FormKind.SEQUENCE and players != 2:
                continue
            engine = create(build, form, updates)
            assert_same(after_one_iteration(engine, rule, start), end, 1e-10)
            found = engine.evaluate(start.arrays["strategy"])
            np.testing.assert_allclose(found.values, wanted.values, atol=1e-10)
            np.testing.assert_allclose(found.best_response_values, wanted.best_response_values, atol=1e-10)

    check()


@pytest.mark.parametrize("build", builds())
def test_many_iterations_at_once_and_resumed(build: Any) -> None:
    form = compiled("kuhn")
    rows = schedule(Plus(), first=1, count=40)
    whole, parts = create(build, form, Updates.ALTERNATING), create(build, form, Updates.ALTERNATING)
    whole.advance(rows)
    parts.advance(rows[:15])
    resumed = create(build, form, Updates.ALTERNATING)
    resumed.restore(parts.snapshot())
    resumed.advance(rows[15:])
    assert whole.iteration == resumed.iteration == 40
    assert_same(resumed.snapshot(), whole.snapshot(), whole.tolerance)
    assert whole.evaluate().exploitability < 0.005
    assert whole.memory_bytes > 0


@cache
def scaled(name: str, scale: float, kind: FormKind) -> HistoryForm | SequenceForm:
    """A game whose payoffs are tiny."""
    form = replace(compiled(name), payoff=compiled(name).payoff * scale)
    return compile_sequence(form) if kind is FormKind.SEQUENCE else form


@pytest.mark.parametrize("scale", [1e-308, 1e-310, 5e-324, 1e-38, 1e-40, 1e-45])
@pytest.mark.parametrize("name", ["kuhn", "leduc"])  # sets of two actions, and of three
@pytest.mark.parametrize("build", builds())
def test_sums_too_small_to_divide_by_give_probabilities(build: Any, name: str, scale: float) -> None:
    """Regrets, averages and payoffs whose reciprocals overflow, as a chain of 2,000 moves produces."""
    form = compiled(name)
    start = random_snapshot(form, seed=1, floor=True)
    small = {name: start.arrays[name] * scale for name in ("regret", "average")}
    start = replace(start, arrays={**start.arrays, **small})
    engine = create(build, scaled(name, scale, build[1]), Updates.ALTERNATING)
    engine.restore(start)
    engine.advance(schedule(Plus(), first=10, count=3))
    engine.restore(replace(start, arrays={**engine.snapshot().arrays, "average": small["average"]}))
    for played in (engine.snapshot().arrays["strategy"], engine.average_strategy()):
        sums = np.add.reduceat(played, form.first_pair[:-1])
        np.testing.assert_allclose(sums, 1.0, rtol=1e-5)
    assert np.isfinite(engine.evaluate().exploitability)


@pytest.mark.parametrize("build", builds())
def test_a_hundred_iterations_of_leduc(build: Any) -> None:
    engine = create(build, compiled("leduc"), Updates.ALTERNATING)
    engine.advance(schedule(Plus(), first=1, count=100))
    evaluation = engine.evaluate()
    assert evaluation.exploitability == pytest.approx(0.01341599, abs=1e-7 if build[3] == "float64" else 3e-4)
    assert evaluation.values[0] == pytest.approx(-0.0846328, abs=1e-7 if build[3] == "float64" else 1e-4)


def test_names_and_options_are_validated() -> None:
    form = compiled("kuhn")
    with pytest.raises(InvalidOption, match="engine: 'abacus' is not one of auto, numba"):
        engines.create("abacus", form)
    with pytest.raises(InvalidOption, match="device: 'cuda'"):
        engines.create("numba", form, device="cuda")
    with pytest.raises(InvalidOption, match="dtype: 'float16'"):
        engines.create("numba", form, dtype="float16")
    with pytest.raises(InvalidOption, match="threads: 0"):
        engines.create("numba", form, threads=0)
    assert engines.create("numpy", form, threads=4).threads == 1  # a maximum
    with pytest.raises(InvalidOption, match="storage: 16 is not for the numba engine"):
        engines.create("numba", form, storage=16)
    with pytest.raises(InvalidOption, match="seed: 3 is only for solves that sample"):
        engines.create("numba", form, seed=3)
    with pytest.raises(InvalidOption, match="batch_size: 8 is only for solves that sample"):
        engines.create("numba", form, batch_size=8)
    with pytest.raises(InvalidGame, match="matrix engine does not work on the sequence form, which kuhn needs"):
        engines.create("matrix", form, kind=FormKind.SEQUENCE)
    with pytest.raises(InvalidOption, match="engine: 'reference' needs the rules of the game"):
        engines.create("reference", form)
    public = compile_public(Kuhn())
    with pytest.raises(InvalidOption, match="updates: 'simultaneous' cannot be combined with the numba engine on the"):
        engines.create("numba", public, updates=Updates.SIMULTANEOUS)
    with pytest.raises(InvalidOption, match="storage: 8 is not one of 32, 16 bits"):
        engines.create("numba", public, storage=8)
    with pytest.raises(InvalidGame, match="matrix engine does not work on the public form"):
        engines.create("matrix", public)
    assert engines.create("auto", form).name == "numba"


def test_what_has_no_engine_for_the_form_is_refused() -> None:
    with pytest.raises(InvalidOption, match="device: 'mps' has no engine for the public form: use cpu or cuda"):
        engines.create("auto", compile_public(Kuhn()), device="mps")
    with pytest.raises(InvalidGame, match=r"torch engine does not work on the public form, .*: use numba or numpy or"):
        engines.create("torch", compile_public(Kuhn()))


def test_cupy_is_another_name_of_the_cuda_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regretless.engines.registry.find_spec", lambda name: None)
    for name in ("cuda", "cupy"):
        with pytest.raises(MissingExtra, match=r"cupy is not installed: pip install .*\[gpu\]"):
            engines.create(name, compiled("kuhn"))
        with pytest.raises(InvalidOption, match="is already registered"):
            engines.register(name, EngineEntry(classes={}))
    assert engines.engine_name("cupy") == "cuda"
    assert engines.engine_if_able("cupy", (FormKind.PUBLIC,)) == "cuda"
    assert engines.engine_if_able("torch", (FormKind.PUBLIC,)) == "auto"


def test_an_engine_without_its_library_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regretless.engines.registry.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="torch is not installed: pip install"):
        engines.create("torch", compiled("kuhn"))
    assert engines.available() == ("numpy", "reference")


@pytest.mark.parametrize("game", ["kuhn(players=3)", "leduc", "liars_dice(sides=4)", "goofspiel(cards=4)"])
@pytest.mark.parametrize("build", [build for build in builds() if "cuda" not in str(build.id)])
def test_memory_is_known_before_it_is_taken(build: Any, game: str) -> None:
    name, kind, _, dtype = build
    form: Any = compiled(game)
    if kind is FormKind.SEQUENCE and form.players != 2:
        pytest.skip("for two players")
    if kind is FormKind.SEQUENCE:
        form = compiled_sequence(game)
    options = {"dtype": dtype} if name in ("numba", "torch") else {}
    needed = engines.estimate(name, kind, form, **options)
    assert needed is not None
    held = create(build, form, Updates.ALTERNATING).memory_bytes
    if name != "torch":  # its tensors are all that it counts
        held -= memory_bytes(form if name == "numpy" else compiled(game))
    assert 0.96 * held < needed < (1.75 if (name, kind) == ("numba", FormKind.SEQUENCE) else 1.11) * held


def test_what_would_not_fit_is_refused_before_it_is_allocated(monkeypatch: pytest.MonkeyPatch) -> None:
    form = compiled("leduc")
    monkeypatch.setattr("regretless.engines.memory.available_bytes", lambda: 10_000)
    for options in ({}, {"sampling": Sampling.EXTERNAL}, {"kind": FormKind.HISTORY}):
        with pytest.raises(WouldNotFit, match="leduc in the numba engine needs"):
            engines.create("numba", form, **options)


@pytest.mark.parametrize(("storage", "bits"), [(None, 32), (16, 16)])
def test_the_form_tells_the_engine(storage: int | None, bits: int) -> None:
    engine = engines.create("auto", compile_public(Kuhn()), storage=storage)
    assert (engine.name, engine.device, engine.storage) == ("numba", "cpu", bits)
    engine.advance(schedule(Plus(), first=1, count=100))
    assert engine.evaluate().exploitability == pytest.approx(0.0012, abs=0.001)
    assert engines.create("reference", compiled("kuhn"), game=games.load("kuhn")).name == "reference"


def test_a_name_is_registered_once() -> None:
    entry = EngineEntry(classes={FormKind.HISTORY: ENGINES["numpy"].classes[FormKind.HISTORY]})
    for taken in ("numba", "auto", "reference"):
        with pytest.raises(InvalidOption, match=f"engine: '{taken}' is already registered"):
            engines.register(taken, entry)
    engines.register("abacus", entry)
    try:
        assert "abacus" in engines.available()
        assert engines.create("abacus", compiled("kuhn")).evaluate().exploitability == pytest.approx(0.458333, abs=1e-6)
    finally:
        del ENGINES["abacus"]


@pytest.mark.slow
@pytest.mark.parametrize("updates", Updates, ids=str)
def test_threads_change_nothing(updates: Updates, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regretless.engines.numba.sequence.SHARED", 1)
    form = compiled_sequence("battleship")
    several = engines.create("numba", form, updates=updates, threads=2)
    monkeypatch.setattr("regretless.engines.numba.sequence.SHARED", 2**30)
    alone = engines.create("numba", form, updates=updates, threads=2)
    assert (several.threads, alone.threads) == (min(2, os.cpu_count() or 1), 1)
    for engine in (several, alone):
        engine.restore(random_snapshot(compiled("battleship"), seed=5, floor=False))
        engine.advance(schedule(PRESETS["discounted"], first=10, count=3))
    assert_same(several.snapshot(), alone.snapshot(), 1e-14)

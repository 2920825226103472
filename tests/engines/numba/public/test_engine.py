"""The fast engine of the public form agrees with the plain one on games nobody tuned for."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.engines.random_public import random_form

from regretless.engines import memory
from regretless.engines.contract import Evaluation, PublicStrategy
from regretless.engines.creation import create
from regretless.engines.layout import LANES, make_layout
from regretless.engines.numba.public.engine import NumbaPublicEngine
from regretless.engines.numba.public.kernels import processor
from regretless.engines.numba.public.sizes import estimate, evaluation_bytes
from regretless.engines.numpy.public import PublicReference, matched
from regretless.engines.registry import ENGINES, FormKind, available
from regretless.errors import InvalidGame, InvalidOption, WouldNotFit
from regretless.forms import compile_history
from regretless.forms.history import FloatArray
from regretless.forms.public import Hands, PublicForm
from regretless.forms.public import NodeKind as Node
from regretless.forms.public_poker import compile_public
from regretless.forms.public_size import size_of_form
from regretless.games import Kuhn, Leduc
from regretless.variants import Plus, schedule
from regretless.variants.presets import PRESETS
from regretless.variants.variant import Variant


def assert_same_evaluation(form: PublicForm, fast: NumbaPublicEngine, plain: PublicReference, tolerance: float) -> None:
    one, two = fast.evaluate(), plain.evaluate()
    scale = np.abs(form.payoffs.win).max() + 1.0
    np.testing.assert_allclose(one.values, two.values, atol=tolerance * scale)
    np.testing.assert_allclose(one.best_response_values, two.best_response_values, atol=tolerance * scale)


MARKS = {
    "cpu": (),
    "cuda": pytest.mark.gpu,
}
PUBLIC = [
    pytest.param(name, device, storage, marks=MARKS[device])
    for name in available()
    if FormKind.PUBLIC in ENGINES[name].classes
    for device in ENGINES[name].classes[FormKind.PUBLIC].devices
    for storage in ENGINES[name].classes[FormKind.PUBLIC].storages or (None,)
]


@pytest.mark.parametrize(("name", "device", "storage"), PUBLIC)
@pytest.mark.parametrize("played", [(0.7, 0.7), (1.5, -0.5), (np.nan, 1.0), (1.0,)])
def test_impossible_strategies_are_refused(
    name: str, device: str, storage: int | None, played: tuple[float, ...]
) -> None:
    form = compile_public(Kuhn())
    engine = create(name, form, storage=storage, device=device)
    uniform, wrong = np.full((2, 3), 0.5), np.repeat(np.array(played)[:, None], 3, axis=1)
    below = int(form.tree.first_child[0])  # the other player's decision after a pass
    message = rf"^strategy: {form.tree.labels[below]!r} must hold 2 numbers of at least 0 that sum to 1"
    with pytest.raises(InvalidOption, match=message):
        engine.evaluate(lambda node, runout: wrong if node == below else uniform)
    with pytest.raises(InvalidOption, match=message):
        engine.lock(below, wrong)
    assert engine.evaluate(lambda node, runout: uniform).exploitability == pytest.approx(11 / 24, abs=1e-6)


@pytest.mark.parametrize(("name", "device", "storage"), PUBLIC)
@pytest.mark.parametrize("variant", ["discounted", "predictive-plus"])
def test_every_public_engine_keeps_the_contract(name: str, device: str, storage: int | None, variant: str) -> None:
    """Advance, stop, resume elsewhere; what is read row by row is what is evaluated; locks hold."""
    form = compile_public(Leduc())
    straight, first, second = (create(name, form, storage=storage, device=device) for _ in range(3))
    straight.advance(schedule(PRESETS[variant], 1, 10))
    first.advance(schedule(PRESETS[variant], 1, 4))
    second.restore(first.snapshot())
    second.advance(schedule(PRESETS[variant], 5, 6))
    assert (second.name, second.device, second.iteration) == (name, device, 10)
    for array, numbers in straight.snapshot().arrays.items():
        np.testing.assert_array_equal(second.snapshot().arrays[array], numbers)
    own, read = second.evaluate(), second.evaluate(second.strategy)
    np.testing.assert_allclose(
        (*own.values, *own.best_response_values), (*read.values, *read.best_response_values), atol=1e-5
    )
    for player in range(2):
        values = second.root_values(player) @ form.hands[player].weight / form.hands[player].weight.sum()
        assert values == pytest.approx(own.values[player], abs=1e-5)
        [early] = second.values_before_last(player)
        met = 5 / 6 * form.hands[player].weight.sum()  # of six hands, all but the own
        np.testing.assert_allclose(early[0, 0] / met, second.root_values(player), atol=1e-5)
        [best] = second.values_before_last(player, best=True)
        weight = form.hands[player].weight
        assert best[0, 0] @ weight / met / weight.sum() == pytest.approx(own.best_response_values[player], abs=1e-5)
    last = int(np.flatnonzero((form.tree.kind == Node.DECISION) & (form.tree.street == 1))[0])
    player, layout = int(form.tree.player[last]), make_layout(form)
    chosen_runouts = slice(1, int(layout.runouts[1]))
    averages = second.averages(player, 1, chosen_runouts)
    np.testing.assert_array_equal(averages, second.averages(player, 1)[chosen_runouts])
    assert averages.shape == (chosen_runouts.stop - 1, layout.runout_size[player, 1])
    actions = int(form.tree.first_child[last + 1] - form.tree.first_child[last])
    here = averages[:, int(layout.block[last]) :][:, : actions * int(layout.hands[player])]
    for runout, sums in enumerate(layout.by_action(here.reshape(len(here), -1, actions, LANES), last), start=1):
        np.testing.assert_allclose(sums / sums.sum(axis=0), second.strategy(last, runout), atol=1e-6)
    chosen = np.full(second.strategy(0).shape, 0.25)
    chosen[0] = 1.0 - 0.25 * (len(chosen) - 1)
    second.lock(0, chosen)
    second.advance(schedule(PRESETS[variant], 11, 2))
    np.testing.assert_array_equal(second.kept_strategy(0, 0), second.as_kept(chosen))
    np.testing.assert_allclose(second.strategy(0), chosen, atol=1e-4)
    assert 0 < second.kept_bytes <= second.memory_bytes


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), streets=st.integers(1, 2), rake=st.sampled_from([0.0, 0.05]))
def test_values_of_uniform_play(seed: int, streets: int, rake: float) -> None:
    """Every fold and showdown, including ties and rake, against brute-force matrices."""
    form = random_form(seed, streets=streets, rake=rake, most_hands=20, weighted=bool(seed % 2))
    fast, plain = NumbaPublicEngine(form), PublicReference(form)
    assume(plain.pairs > 0)
    assert_same_evaluation(form, fast, plain, 5e-7)
    for player in range(2):
        expected = plain.root_values(player)
        np.testing.assert_allclose(fast.root_values(player), expected, atol=2e-5 * (np.abs(expected).max() + 1))
        best = fast.root_values(player, plain.strategy, best=True)
        np.testing.assert_array_equal(best, fast.root_values(player, best=True))
        gained = float(best * fast._met[player] @ form.hands[player].weight) / plain.pairs
        assert gained == pytest.approx(plain.evaluate().best_response_values[player], abs=1e-5 * (abs(gained) + 1))


@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("seed", range(100, 106))
def test_weighted_deals_in_both_widths_and_on_threads(seed: int, storage: int) -> None:
    """What an engine reports about its own strategy, against the reference; threads change nothing."""
    form = random_form(seed, deck=7, streets=1 + seed % 3, rake=0.05 * (seed % 2), most_hands=9, weighted=True)
    engines = [NumbaPublicEngine(form, threads=threads, storage=storage) for threads in (1, 2)]
    for engine in engines:
        engine.advance(schedule(PRESETS["postflop"], 1, 40))
    one, two = (engine.evaluate() for engine in engines)
    assert one == two
    expected = PublicReference(form).evaluate(engines[0].strategy)
    scale = np.abs(form.payoffs.win).max() + 1.0
    np.testing.assert_allclose(one.values, expected.values, atol=1e-6 * scale)
    np.testing.assert_allclose(one.best_response_values, expected.best_response_values, atol=1e-6 * scale)


def same_random_state(form: PublicForm, seed: int) -> tuple[NumbaPublicEngine, PublicReference]:
    """Both engines with the same regrets and averages, so that no two actions tie."""
    random = np.random.default_rng(seed)
    fast, plain = NumbaPublicEngine(form), PublicReference(form)
    taken = plain.snapshot()
    for player in range(2):
        regret, average = taken.arrays[f"regret.{player}"], taken.arrays[f"average.{player}"]
        regret[:] = random.normal(size=regret.shape).astype(np.float32)
        average[:] = random.uniform(0.1, 1.0, size=average.shape)
        taken.arrays[f"matched.{player}"][:] = regret
    plain.restore(taken)
    rounded = {name: array.astype(np.float32) for name, array in taken.arrays.items() if "matched" not in name}
    fast.restore(replace(taken, arrays=rounded))
    return fast, plain


@pytest.mark.parametrize("seed", range(4))
def test_values_on_early_streets_of_playing_on_and_of_best_responses(seed: int) -> None:
    form = random_form(seed, deck=8, streets=2 + seed % 2, most_hands=16, weighted=True)
    fast, plain = same_random_state(form, seed)
    for player in range(2):
        for best in (False, True):
            found, expected = (engine.values_before_last(player, best=best) for engine in (fast, plain))
            assert len(found) == len(expected) == len(form.streets) - 1
            for early, same in zip(found, expected, strict=True):
                np.testing.assert_allclose(early, same, atol=2e-4)


@pytest.mark.parametrize("rule", PRESETS.values(), ids=PRESETS)
@pytest.mark.parametrize("seed", range(3))
def test_one_iteration_from_the_same_state(rule: Variant, seed: int) -> None:
    form = random_form(seed, streets=1 + seed % 2, rake=0.03 * (seed % 2), most_hands=20)
    fast, plain = same_random_state(form, seed)
    assert_same_evaluation(form, fast, plain, 1e-5)
    for engine in (fast, plain):
        engine.advance(schedule(rule, 7, 1))
    found, expected, layout = fast.snapshot().arrays, plain.snapshot().arrays, make_layout(form)
    close = []
    for node in np.flatnonzero(form.tree.kind == Node.DECISION).tolist():
        player = int(form.tree.player[node])
        alive = ~form.streets[form.tree.street[node]].dead[player]
        for name in ("regret", "average", "matched"):
            if (array := f"{name}.{player}") in found:
                one, two = (layout.read(arrays[array], node) for arrays in (found, expected))
                if name == "matched":
                    one, two = (np.array([matched(rows) for rows in each]) for each in (one, two))
                tolerance = {"atol": 2e-3, "rtol": 0} if name == "matched" else {"atol": 1e-4, "rtol": 1e-4}
                close.append(np.isclose(one, two, **tolerance).transpose(1, 0, 2)[:, alive].ravel())
    # Where a prediction leaves almost nothing positive, rounding decides; a wrong variant differs almost everywhere.
    assert np.concatenate(close).mean() > (0.95 if "matched.0" in found else 0.9999)


def test_16_bits_are_refused_where_kernels_could_not_be_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM ends the process if it needs a conversion that the processor lacks."""
    form = compile_public(Kuhn())
    monkeypatch.setattr(processor, "_X86", True)
    monkeypatch.setattr(processor.config, "CPU_FEATURES", None)
    monkeypatch.setattr(processor.binding, "get_host_cpu_features", lambda: {"avx": True, "f16c": False})
    with pytest.raises(InvalidOption, match=r"^storage: 16 needs a processor that converts half-precision floats"):
        NumbaPublicEngine(form, storage=16)
    assert NumbaPublicEngine(form).storage == 32
    monkeypatch.setattr(processor.binding, "get_host_cpu_features", lambda: {"f16c": True})
    assert NumbaPublicEngine(form, storage=16).storage == 16


@pytest.mark.parametrize("form", [compile_public(Kuhn()), compile_public(Leduc())], ids=["kuhn", "leduc"])
def test_one_card_hands(form: PublicForm) -> None:
    fast, plain = NumbaPublicEngine(form), PublicReference(form)
    for engine in (fast, plain):
        engine.advance(schedule(Plus(), 1, 20))  # without its floor, Kuhn's regrets tie at 0, and rounding decides
    assert fast.evaluate().exploitability == pytest.approx(plain.evaluate().exploitability, abs=5e-7)


def test_a_locked_player_follows_the_lock_and_the_other_exploits_it() -> None:
    form = compile_public(Kuhn())
    free, locked = NumbaPublicEngine(form), NumbaPublicEngine(form)
    never_bet = np.array([[1.0] * 3, [0.0] * 3])  # pass with every card
    after_pass = int(np.flatnonzero(form.tree.player == 1)[0])
    locked.lock(after_pass, never_bet)
    for engine in (free, locked):
        engine.advance(schedule(PRESETS["discounted"], 1, 2000))
    np.testing.assert_array_equal(locked.strategy(after_pass), never_bet)
    assert locked.evaluate().exploitability < 2e-3  # of the game in which player 1 cannot bet there
    assert locked.evaluate().values[0] > free.evaluate().values[0] + 0.01
    locked.unlock()
    assert locked.evaluate().exploitability > 0.01  # once free, player 1 would bet


def test_some_hands_can_be_locked() -> None:
    form = compile_public(Kuhn())
    engine = NumbaPublicEngine(form)
    always_bet = np.array([[0.0] * 3, [1.0] * 3])
    engine.lock(0, always_bet, hands=np.array([True, False, False]))  # player 0 bets the jack
    engine.advance(schedule(PRESETS["discounted"], 1, 2000))
    strategy = engine.strategy(0)
    assert strategy[1, 0] == 1.0
    assert 0.0 < strategy[1, 2] <= 1.0
    assert engine.evaluate().exploitability < 2e-3


def test_averages_without_own_reach_also_converge() -> None:
    engine = NumbaPublicEngine(compile_public(Leduc()), own_reach=False)
    engine.advance(schedule(PRESETS["discounted"], 1, 1000))
    assert engine.evaluate().exploitability < 0.01
    assert engine.evaluate().values[0] == pytest.approx(-0.0856064, abs=5e-5)


@pytest.mark.parametrize("storage", [32, 16])
def test_a_restored_engine_continues_bit_identically(storage: int) -> None:
    form = random_form(5, streets=2)
    for name in ("discounted", "predictive-plus"):
        rule = PRESETS[name]
        straight, first, second = (NumbaPublicEngine(form, storage=storage) for _ in range(3))
        straight.advance(schedule(rule, 1, 12))
        first.advance(schedule(rule, 1, 5))
        second.restore(first.snapshot())
        second.advance(schedule(rule, 6, 7))
        assert second.iteration == 12
        for array, numbers in straight.snapshot().arrays.items():
            np.testing.assert_array_equal(second.snapshot().arrays[array], numbers)


@pytest.mark.parametrize("seed", range(4))
def test_sixteen_bits_find_the_same_values(seed: int) -> None:
    form = random_form(seed, streets=1 + seed % 2, rake=0.03 * (seed % 2), most_hands=20)
    full, half = NumbaPublicEngine(form), NumbaPublicEngine(form, storage=16)
    for engine in (full, half):
        engine.advance(schedule(PRESETS["postflop"], 1, 400))
    one, two = full.evaluate(), half.evaluate()
    scale = float(np.abs(form.payoffs.win).max())
    np.testing.assert_allclose(one.values, two.values, atol=1e-4 * scale)
    assert two.exploitability < one.exploitability + 1e-3 * scale
    np.testing.assert_allclose(full.root_values(0), half.root_values(0), atol=0.01 * scale)
    assert half.kept_bytes < full.kept_bytes


@pytest.mark.parametrize(("name", "exploitable"), [("discounted", 2e-3), ("vanilla", 6e-3)])
def test_sixteen_bits_keep_converging(name: str, exploitable: float) -> None:
    engine = NumbaPublicEngine(compile_public(Leduc()), storage=16)
    engine.advance(schedule(PRESETS[name], 1, 6000))
    assert engine.evaluate().exploitability < exploitable


def test_sixteen_bits_keep_strategies_that_are_not_played() -> None:
    form = compile_public(Leduc())
    engine = NumbaPublicEngine(form, storage=16)
    engine.advance(schedule(PRESETS["postflop"], 1, 2000))
    arrays, layout = engine.snapshot().arrays, make_layout(form)
    for node in np.flatnonzero(form.tree.kind == Node.DECISION).tolist():
        player = int(form.tree.player[node])
        alive = ~form.streets[form.tree.street[node]].dead[player]
        sums = layout.read(arrays[f"average.{player}"], node).sum(axis=1, dtype=np.int64)
        assert (sums[alive] > 0).all()


def random_strategy(form: PublicForm, seed: int) -> PublicStrategy:
    """A strategy of both players, by node and runout; hands that play alike play alike."""

    def strategy(node: int, runout: int) -> FloatArray:
        actions = int(form.tree.first_child[node + 1] - form.tree.first_child[node])
        random = np.random.default_rng((seed, node, runout))
        chosen = random.uniform(size=(actions, len(form.hands[form.tree.player[node]].weight))) ** 4
        return chosen / chosen.sum(axis=0)

    return strategy


@cache
def worth_of_a_strategy(seed: int) -> tuple[PublicForm, PublicStrategy, Evaluation]:
    """A form, a strategy, and what the plain engine, which is slow, says about it."""
    form = random_form(
        seed, deck=6, streets=1 + seed % 3, rake=0.03 * (seed % 2), most_hands=12, weighted=seed % 3 == 1
    )
    strategy = random_strategy(form, seed)
    return form, strategy, PublicReference(form).evaluate(strategy)


@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 41])  # 5 has five times as many nodes, and fewer hands
def test_a_strategy_handed_in_is_worth_what_the_plain_engine_says(seed: int, storage: int) -> None:
    form, strategy, two = worth_of_a_strategy(seed)
    fast = NumbaPublicEngine(form, storage=storage)
    fast.advance(schedule(PRESETS["discounted"], 1, 3))
    before = {name: array.copy() for name, array in fast.snapshot().arrays.items()}
    scale = np.abs(form.payoffs.win).max() + 1.0
    one = fast.evaluate(strategy)
    np.testing.assert_allclose(one.values, two.values, atol=2e-6 * scale)
    np.testing.assert_allclose(one.best_response_values, two.best_response_values, atol=2e-6 * scale)
    for name, array in fast.snapshot().arrays.items():
        np.testing.assert_array_equal(array, before[name])


@pytest.mark.parametrize("storage", [32, 16])
def test_the_own_average_handed_in_is_worth_the_same(storage: int) -> None:
    form = random_form(4, deck=7, streets=3, most_hands=12)
    engine = NumbaPublicEngine(form, storage=storage, threads=2)
    engine.advance(schedule(PRESETS["discounted"], 1, 20))
    own, given = engine.evaluate(), engine.evaluate(engine.strategy)
    np.testing.assert_allclose(own.values, given.values, rtol=1e-6)
    np.testing.assert_allclose(own.best_response_values, given.best_response_values, rtol=1e-6)


@pytest.mark.parametrize("engine_type", [NumbaPublicEngine, PublicReference])
def test_a_best_response_to_a_strategy_handed_in_respects_locks(
    engine_type: type[NumbaPublicEngine] | type[PublicReference],
) -> None:
    form = compile_public(Leduc())
    engine = engine_type(form)
    strategy = random_strategy(form, 1)
    free = engine.evaluate(strategy)
    some = np.arange(6) < 3
    engine.lock(0, strategy(0, 0), hands=some)
    held = engine.evaluate(strategy)
    assert held.values == pytest.approx(free.values, abs=1e-6)
    assert held.best_response_values[1] == pytest.approx(free.best_response_values[1], abs=1e-6)
    assert held.values[0] < held.best_response_values[0] < free.best_response_values[0] - 1e-4
    engine.unlock()
    engine.fix(0, strategy)
    fixed = engine.evaluate(strategy)
    assert fixed.best_response_values[0] == pytest.approx(free.values[0], abs=1e-6)
    assert fixed.best_response_values[1] == pytest.approx(free.best_response_values[1], abs=1e-6)


def test_evaluating_a_strategy_takes_the_memory_that_is_said() -> None:
    form = random_form(5, deck=9, streets=3, most_hands=36)
    engine = NumbaPublicEngine(form)

    def strategy(node: int, runout: int) -> FloatArray:  # on this large form, drawing one would take seconds
        actions = int(form.tree.first_child[node + 1] - form.tree.first_child[node])
        return np.full((actions, len(form.hands[form.tree.player[node]].weight)), 1.0 / actions)

    engine.evaluate(strategy)
    tracemalloc.start()
    engine.evaluate(strategy)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    said = evaluation_bytes(size_of_form(form))
    assert said < 0.3 * engine.memory_bytes
    assert 0.9 * said < peak < 1.1 * said + 2**19  # whatever the form, calls of compiled code take about 300 KB


def forms_to_measure() -> dict[str, PublicForm]:
    drawn = {f"random {seed}": random_form(seed, deck=7, streets=1 + seed % 3, most_hands=20) for seed in range(6)}
    return {"kuhn": compile_public(Kuhn()), "leduc": compile_public(Leduc())} | drawn


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("form", forms_to_measure().values(), ids=forms_to_measure())
def test_the_estimate_is_at_least_the_memory_and_at_most_five_percent_more(
    form: PublicForm, storage: int, threads: int
) -> None:
    engine = NumbaPublicEngine(form, storage=storage, threads=threads)
    estimated = estimate(size_of_form(form), storage=storage, threads=threads)
    assert engine.memory_bytes <= estimated <= 1.05 * engine.memory_bytes
    engine.advance(schedule(PRESETS["predictive-plus"], 1, 1))
    estimated = estimate(size_of_form(form), storage=storage, threads=threads, predicts=True)
    assert engine.memory_bytes <= estimated <= 1.05 * engine.memory_bytes


@pytest.mark.parametrize("storage", [32, 16])
def test_predictions_that_do_not_fit_are_refused_before_they_are_stored(
    storage: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "numba"
    form = random_form(5, deck=7, streets=3, most_hands=20)
    plain, predicting = (
        estimate(size_of_form(form), storage=storage, threads=1, predicts=predicts) for predicts in (False, True)
    )
    monkeypatch.setattr(memory, "available_bytes", lambda: predicting)
    engine = create(name, form, storage=storage, threads=1, predicts=True)
    before = engine.memory_bytes
    engine.advance(schedule(PRESETS["predictive-plus"], 1, 1))
    assert engine.memory_bytes - before == predicting - plain > 0
    assert engine.memory_bytes <= predicting
    monkeypatch.setattr(memory, "available_bytes", lambda: predicting - 1)
    create(name, form, storage=storage, threads=1)
    with pytest.raises(WouldNotFit, match=f"this solve in the {name} engine needs"):
        create(name, form, storage=storage, threads=1, predicts=True)


def test_predictions_are_only_for_hand_vectors() -> None:
    with pytest.raises(InvalidOption, match=r"^predicts: True is only for the public and bucketed forms"):
        create("numba", compile_history(Kuhn()), predicts=True)


def test_what_cannot_be_counted_is_refused_with_a_sentence() -> None:
    form = compile_public(Kuhn())
    held = form.hands[0]
    many = Hands(np.ones(3000), np.tile(held.cards[:1], (3000, 1)), np.full(3000, -1))
    with pytest.raises(InvalidGame, match=r"has 3,000 hands of a player: the numba engine can count"):
        NumbaPublicEngine(replace(form, hands=(many, held)))
    with pytest.raises(InvalidGame, match="strengths of hands"):
        NumbaPublicEngine(replace(form, strength=(form.strength[0].astype(np.int64) + 2**15, form.strength[1])))
    with pytest.raises(InvalidOption, match="storage"):
        NumbaPublicEngine(form, storage=8)


def test_a_snapshot_of_another_form_or_format_is_refused() -> None:
    engine = NumbaPublicEngine(compile_public(Kuhn()))
    taken = engine.snapshot()
    for arrays in (
        NumbaPublicEngine(compile_public(Kuhn()), storage=16).snapshot().arrays,
        NumbaPublicEngine(compile_public(Leduc())).snapshot().arrays,
        {name: array for name, array in taken.arrays.items() if name != "average.1"},
    ):
        with pytest.raises(ValueError, match=r"average|regret"):
            engine.restore(replace(taken, arrays=arrays))


class StoredArrays(dict[str, np.ndarray]):
    """Arrays that can be read into memory that is there, as those of a file."""

    def __getitem__(self, name: str) -> np.ndarray:
        raise AssertionError("copied twice")

    def read_into(self, name: str, target: np.ndarray) -> None:
        target[:] = self.get(name)


def test_a_snapshot_in_a_file_is_read_into_place() -> None:
    first, second = NumbaPublicEngine(compile_public(Leduc())), NumbaPublicEngine(compile_public(Leduc()))
    first.advance(schedule(PRESETS["predictive-plus"], 1, 5))
    taken = first.snapshot()
    second.restore(replace(taken, arrays=StoredArrays(taken.arrays)))
    for name, array in second.snapshot().arrays.items():
        np.testing.assert_array_equal(array, taken.arrays[name])

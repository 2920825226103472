"""Monte Carlo CFR: estimates are unbiased, runs are bit-identical, and play converges.

The estimator tests fix a random strategy and compare the mean over many walks with one exact iteration. Walks come in
blocks; the spread of the block means gives the standard error of each number. All seeds are fixed, so a test that
passes always passes; unbiased estimates would exceed the limits once in many thousand runs.
"""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from regretless import engines
from regretless.engines.contract import Sampling, Snapshot, Updates
from regretless.engines.numba.sampling import PLAIN, NumbaSamplingEngine
from regretless.engines.numpy.sequence import NumpyHistoryEngine
from regretless.errors import InvalidOption
from regretless.forms import FloatArray, HistoryForm, compile_history
from regretless.forms.normalise import normalise
from regretless.games import CHANCE, Game, load
from regretless.variants import PRESETS, Discounted, Vanilla, schedule

if TYPE_CHECKING:
    from regretless.engines.torch.sampling import TorchSamplingEngine

HAS_TORCH = importlib.util.find_spec("torch") is not None
SAMPLED = (Sampling.EXTERNAL, Sampling.OUTCOME, Sampling.CHANCE)
NEEDS_TORCH = pytest.mark.skipif(not HAS_TORCH, reason="torch is not installed")
WALKERS = ("external", "outcome", "chance", pytest.param("torch", marks=NEEDS_TORCH))
VANILLA = Vanilla()
LIMIT = 5.0  # standard errors; among 2,000 numbers, unbiased estimates exceed it about once in 800 runs


class Uneven(Game[str]):
    """A game with what card games lack: outcomes of unequal probability, deals of unequal shape, a move that the other
    player does not see (so one deal visits an information set twice), and payoffs that do not sum to 0.
    """

    name = "uneven"
    zero_sum = False

    def num_players(self) -> int:
        return 2

    def initial_state(self) -> str:
        return ""

    def is_terminal(self, state: str) -> bool:
        second = state[2:].lstrip("uv")
        return state == "cz" or len(second) == 2 or second in ("m", "r")

    def player(self, state: str) -> int:
        if state == "" or (len(state) == 2 and state[0] == "a"):
            return CHANCE
        return 1 if len(state) >= 2 and not state.endswith("l") else 0

    def actions(self, state: str) -> Sequence[str]:
        if self.player(state) == 1:
            return ("l", "m", "r") if state[0] == "a" else ("l", "m")
        return ("x", "y", "z") if state == "c" else ("x", "y")

    def next_state(self, state: str, action: str) -> str:
        return state + action

    def chance_outcomes(self, state: str) -> Sequence[tuple[str, float]]:
        return (("a", 0.1), ("b", 0.2), ("c", 0.7)) if state == "" else (("u", 0.25), ("v", 0.75))

    def info_set_key(self, state: str) -> str:
        if self.player(state) == 1:
            return "1:a" if state[0] == "a" else "1:bc"
        return "0:" + state.replace("u", "").replace("v", "")

    def utility(self, state: str, player: int) -> float:
        return random.Random(f"{state} {player}").uniform(-2.0, 2.0)


@cache
def form_of(name: str) -> HistoryForm:
    return compile_history(Uneven() if name == "uneven" else load(name))


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Small tensors gain nothing from more threads, and lose much if the processors are busy."""
    if not HAS_TORCH:
        yield
        return
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def engine_of(walker: str, game: str, seed: int) -> NumbaSamplingEngine | TorchSamplingEngine:
    if walker == "torch":
        from regretless.engines.torch.sampling import TorchSamplingEngine

        return TorchSamplingEngine(form_of(game), batch_size=500, seed=seed, dtype="float64")
    return NumbaSamplingEngine(form_of(game), sampling=Sampling(walker), seed=seed)


def random_strategy(form: HistoryForm, seed: int) -> FloatArray:
    """Mixed everywhere, occasionally with an action that is never played."""
    generator = np.random.default_rng(seed)
    pairs = int(form.first_pair[-1])
    weights = generator.random(pairs) + 0.1
    weights[generator.random(pairs) < 0.1] = 0.0
    return normalise(weights, form.first_pair)


def standing(strategy: FloatArray) -> Snapshot:
    zeros = np.zeros(len(strategy))
    return Snapshot(0, {"regret": zeros, "average": zeros, "strategy": strategy})


def exact_regrets(form: HistoryForm, strategy: FloatArray) -> FloatArray:
    engine = NumpyHistoryEngine(form, updates=Updates.SIMULTANEOUS)
    engine.restore(standing(strategy))
    engine.advance(schedule(VANILLA, first=1, count=1))
    return engine.snapshot().arrays["regret"]


def own_reach_times_chance(form: HistoryForm, strategy: FloatArray) -> FloatArray:
    """Σ over the nodes of a set of π_i · π_chance · σ: what a walk adds to an average of two players."""
    reach = np.ones(len(form.parent))  # of chance and of the player to move
    total = np.zeros(len(strategy))
    for player in range(form.players):
        for node in range(1, len(form.parent)):
            mover = form.player[form.parent[node]]
            own = strategy[form.pair[node]] if mover == player else 1.0
            reach[node] = reach[form.parent[node]] * form.chance[node] * own
            if mover == player:
                total[form.pair[node]] += reach[node]
    return total


def deviations(blocks: list[FloatArray], exact: FloatArray) -> FloatArray:
    """How many standard errors the mean over blocks is from the exact number, where the spread is known.

    Where σ always plays an action, its regret is 0 up to rounding in every block; sets that few blocks visited have no
    meaningful spread and are left to the longer runs of smaller games.
    """
    drawn = np.array(blocks)
    spread = drawn.std(axis=0, ddof=1) / np.sqrt(len(blocks))
    distance = np.abs(drawn.mean(axis=0) - exact)
    told = (spread > 1e-12) & ((np.abs(drawn) > 1e-9).sum(axis=0) >= 50)
    assert told.mean() > 0.4
    errors: FloatArray = distance[told] / spread[told]
    return errors


class Means(NamedTuple):
    """Means over walks under a fixed strategy."""

    regret: FloatArray  # estimates the counterfactual regrets
    average: FloatArray  # estimates what an iteration adds to the sum of strategies


def means(engine: Any, walks: int) -> Means:
    """Means over `walks` walks of every player, or batches; the strategy is fixed, random numbers are used up."""
    regret, average = (np.zeros(int(engine.form.first_pair[-1])) for _ in range(2))
    if isinstance(engine, NumbaSamplingEngine):
        state = engine._state._replace(regret=regret, average=average, scale=np.ones(2))
        engine._walk(state, PLAIN.repeat(walks), learning=False)
        return Means(regret / walks, average / walks)
    for player, own in enumerate(engine._deals.own):
        for _ in range(walks):
            for total, sampled in zip((regret, average), engine._deals.sample(player)):
                total[own.cpu().numpy()] += sampled.to("cpu").double().numpy() / walks
    return Means(regret, average)


@cache
def blocks_of(walker: str, game: str) -> tuple[FloatArray, list[Means]]:
    """A strategy, and estimates under it."""
    strategy = random_strategy(form_of(game), seed=5)
    engine = engine_of(walker, game, seed=11)
    engine.restore(standing(strategy))
    walks = {"chance": 800, "torch": 1}.get(walker, 4_000)
    return strategy, [means(engine, walks) for _ in range(70)]


# --- the estimators --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("walker", WALKERS)
@pytest.mark.parametrize("game", ["kuhn", "kuhn(players=3)", "leduc", "uneven"])
def test_the_mean_over_walks_is_the_exact_regret(game: str, walker: str) -> None:
    strategy, blocks = blocks_of(walker, game)
    errors = deviations([block.regret for block in blocks], exact_regrets(form_of(game), strategy))
    assert errors.max() < LIMIT
    assert np.sqrt(np.mean(errors**2)) < 1.5  # about 1 if the standard errors are right


@pytest.mark.parametrize("walker", WALKERS)
def test_a_biased_estimator_would_be_detected(walker: str) -> None:
    """Regrets a tenth too large are far outside the limit, with the same draws as above."""
    strategy, blocks = blocks_of(walker, "kuhn")
    biased = [1.1 * block.regret for block in blocks]
    assert deviations(biased, exact_regrets(form_of("kuhn"), strategy)).max() > 2 * LIMIT


@pytest.mark.parametrize("walker", WALKERS)
@pytest.mark.parametrize("game", ["kuhn", "leduc"])
def test_averages_weight_a_strategy_by_the_players_own_reach(game: str, walker: str) -> None:
    """In these two games no deal visits two nodes of a set, so adding once per set is adding once per node."""
    strategy, blocks = blocks_of(walker, game)
    added = [block.average for block in blocks]
    assert deviations(added, own_reach_times_chance(form_of(game), strategy)).max() < LIMIT


def test_estimating_changes_nothing_but_the_random_numbers() -> None:
    engine = NumbaSamplingEngine(form_of("kuhn"), seed=1)
    engine.advance(schedule(VANILLA, first=1, count=50))
    before = engine.snapshot()
    first, second = means(engine, 10), means(engine, 10)
    after = engine.snapshot()
    assert before.iteration == after.iteration
    for name in ("regret", "average", "strategy"):
        assert np.array_equal(before.arrays[name], after.arrays[name])
    assert not np.array_equal(first.regret, second.regret)


# --- seeds, resuming -------------------------------------------------------------------------------------------------


def same(first: Snapshot, second: Snapshot) -> bool:
    return first.iteration == second.iteration and all(
        np.array_equal(first.arrays[name], second.arrays[name]) for name in ("regret", "average", "strategy", "sampler")
    )


@pytest.mark.parametrize("sampling", SAMPLED, ids=str)
def test_a_seed_fixes_the_result_however_the_work_is_split(sampling: Sampling) -> None:
    rule = PRESETS["linear"]
    runs = []
    for seed, pieces in ((3, [300]), (3, [1, 99, 150, 50]), (4, [300])):
        engine = NumbaSamplingEngine(form_of("leduc"), sampling=sampling, seed=seed)
        for count in pieces:
            engine.advance(schedule(rule, first=engine.iteration + 1, count=count))
        runs.append(engine.snapshot())
    assert same(runs[0], runs[1])
    assert not np.array_equal(runs[0].arrays["regret"], runs[2].arrays["regret"])


@pytest.mark.parametrize("variant", ["vanilla", "linear", "plus"])
@pytest.mark.parametrize("sampling", SAMPLED, ids=str)
def test_a_resumed_run_is_the_uninterrupted_run(sampling: Sampling, variant: str) -> None:
    rule, form = PRESETS[variant], form_of("leduc")
    whole = NumbaSamplingEngine(form, sampling=sampling, seed=9)
    whole.advance(schedule(rule, first=1, count=500))
    first = NumbaSamplingEngine(form, sampling=sampling, seed=9)
    first.advance(schedule(rule, first=1, count=213))
    second = NumbaSamplingEngine(form, sampling=sampling, seed=1234)
    second.restore(first.snapshot())
    second.advance(schedule(rule, first=214, count=287))
    assert same(whole.snapshot(), second.snapshot())
    assert np.array_equal(whole.average_strategy(), second.average_strategy())


def test_a_resumed_batch_is_the_uninterrupted_one() -> None:
    rule, form = PRESETS["discounted"], form_of("kuhn")
    whole, first, second = (
        NumbaSamplingEngine(form, sampling=Sampling.CHANCE, batch_size=16, seed=s) for s in (9, 9, 1)
    )
    whole.advance(schedule(rule, first=1, count=20))
    first.advance(schedule(rule, first=1, count=7))
    second.restore(first.snapshot())
    second.advance(schedule(rule, first=8, count=13))
    assert same(whole.snapshot(), second.snapshot())


# --- rules -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampling", SAMPLED, ids=str)
def test_discounts_reach_sets_that_a_walk_did_not_meet(sampling: Sampling) -> None:
    """A second engine without discounts, whose regrets are all multiplied before each iteration, ends up the same."""
    halving = Discounted(alpha=0.0, beta=0.0, gamma=0.0)
    engine, twin = (NumbaSamplingEngine(form_of("kuhn"), sampling=sampling, seed=2) for _ in range(2))
    rows = schedule(halving, first=1, count=40)
    for number, row in enumerate(rows):
        engine.advance(rows[number : number + 1])
        held = twin.snapshot()
        twin.restore(replace(held, arrays={**held.arrays, "regret": held.arrays["regret"] * row["positive_discount"]}))
        twin.advance(schedule(VANILLA, first=1, count=1))
    snapshot = engine.snapshot()
    np.testing.assert_allclose(
        snapshot.arrays["regret"] / snapshot.arrays["sampler"][2],
        twin.snapshot().arrays["regret"],
        rtol=1e-9,
        atol=1e-12,
    )


def test_a_scale_past_any_number_is_brought_back() -> None:
    """Halving 3,000 times is a factor of 2^3000."""
    engine = NumbaSamplingEngine(form_of("kuhn"), seed=2)
    engine.advance(schedule(Discounted(alpha=0.0, beta=0.0), first=1, count=3_000))
    snapshot = engine.snapshot()
    assert np.isfinite(snapshot.arrays["regret"]).all()
    assert np.abs(snapshot.arrays["regret"]).max() == pytest.approx(1.9185, abs=1e-3)
    assert ((snapshot.arrays["sampler"][2:] > 0.7) & (snapshot.arrays["sampler"][2:] < 1.5)).all()


@pytest.mark.parametrize("variant", ["discounted", "predictive-plus"])
def test_rules_that_need_a_full_walk_are_turned_away(variant: str) -> None:
    engine = NumbaSamplingEngine(form_of("kuhn"))
    with pytest.raises(InvalidOption, match="cannot be combined with external sampling"):
        engine.advance(schedule(PRESETS[variant], first=1, count=3))
    batched = NumbaSamplingEngine(form_of("kuhn"), sampling=Sampling.CHANCE, batch_size=8)
    batched.advance(schedule(PRESETS[variant], first=1, count=3))
    assert batched.iteration == 3


@pytest.mark.parametrize(
    "options",
    [
        {"sampling": Sampling.FULL},
        {"exploration": 0.0},
        {"seed": -1},
        {"batch_size": 0},
        {"batch_size": 2, "sampling": Sampling.EXTERNAL},
    ],
    ids=str,
)
def test_impossible_options_are_named(options: dict[str, object]) -> None:
    with pytest.raises(InvalidOption, match=f"^{next(iter(options))}"):
        NumbaSamplingEngine(form_of("kuhn"), **options)  # type: ignore[arg-type]


# --- convergence -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "sampling", "iterations", "exploitability", "value"),
    [
        ("kuhn", Sampling.EXTERNAL, 100_000, 0.006, -0.0556),
        ("kuhn", Sampling.OUTCOME, 100_000, 0.01, -0.0568),
        ("kuhn", Sampling.CHANCE, 50_000, 0.003, -0.0556),
        ("leduc", Sampling.EXTERNAL, 200_000, 0.06, -0.0882),
        ("leduc", Sampling.OUTCOME, 400_000, 0.25, -0.1137),
        ("leduc", Sampling.CHANCE, 50_000, 0.08, -0.0903),
    ],
)
def test_play_converges(game: str, sampling: Sampling, iterations: int, exploitability: float, value: float) -> None:
    """To -0.0556 and -0.0856; `value` is how far this seed gets."""
    engine = engines.create("auto", form_of(game), sampling=sampling, seed=1)
    uniform = engine.evaluate().exploitability
    engine.advance(schedule(VANILLA, first=1, count=1).repeat(iterations))
    evaluation = engine.evaluate()
    assert evaluation.exploitability < exploitability < uniform / 4
    assert evaluation.values[0] == pytest.approx(value, abs=0.001)


@pytest.mark.parametrize("sampling", SAMPLED, ids=str)
def test_three_players(sampling: Sampling) -> None:
    engine = NumbaSamplingEngine(form_of("kuhn(players=3)"), sampling=sampling, seed=1)
    engine.advance(schedule(VANILLA, first=1, count=20_000))
    assert len(engine.evaluate().values) == 3
    assert engine.evaluate().nash_conv < 0.12


def test_memory_in_use_is_counted() -> None:
    small, large = NumbaSamplingEngine(form_of("kuhn")), NumbaSamplingEngine(form_of("leduc"))
    assert small.memory_bytes < 100_000 < large.memory_bytes < 10_000_000

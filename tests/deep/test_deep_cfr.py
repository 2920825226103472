"""Deep CFR as a whole: convergence, determinism, snapshots, what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.deep.small_games import OneChoice

from regretless.deep.deep_cfr import DeepCfr, estimate
from regretless.deep.holdem_world import HoldemWorld
from regretless.deep.policies import ExactEvaluator, pair_strategy
from regretless.deep.settings import TrainingSettings, preset_settings
from regretless.deep.worlds import HistoryWorld
from regretless.errors import EmptyMemory, InvalidOption
from regretless.games import FlopHoldem, Kuhn, Leduc, LimitHoldem
from regretless.games.limit_holdem import LimitHoldemRules

QUICK = preset_settings(
    "small", traversals=50, value_steps=5, policy_steps=5, advantage_capacity=300, strategy_capacity=200
)


def trained(chosen: TrainingSettings, iterations: int, seed: int = 1) -> DeepCfr:
    training = DeepCfr(HistoryWorld(Kuhn()), chosen, seed=seed)
    for _ in range(iterations):
        training.iterate()
    return training


def same(first: DeepCfr, second: DeepCfr) -> bool:
    one, other = first.snapshot(), second.snapshot()
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name], equal_nan=True) for name in one)


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3, 4))])
def test_kuhn_converges(seed: int) -> None:
    """Under a third of the preset's steps, in 14 of the 50 iterations that are allowed; uniform play has 0.458."""
    training = trained(preset_settings("small", value_steps=60, policy_steps=300), 14, seed)
    assert ExactEvaluator(training.world).evaluate(training.policy()).exploitability < 0.05


def test_single_deep_cfr_converges() -> None:
    training = trained(preset_settings("small", value_steps=60, algorithm="single"), 12)
    assert training.strategy_memory is None
    assert ExactEvaluator(training.world).evaluate(training.policy()).exploitability < 0.05


def test_drawn_batches_converge_too() -> None:
    chosen = preset_settings("small", value_steps=100, policy_steps=1_000, batch=64, merge_equal=False)
    training = trained(chosen, 12)
    assert ExactEvaluator(training.world).evaluate(training.policy()).exploitability < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_kuhn_is_solved_by_the_small_preset(seed: int) -> None:
    training = trained(preset_settings("small"), 100, seed)
    assert ExactEvaluator(training.world).evaluate(training.policy()).exploitability < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["deep", "single"])
def test_leduc_is_solved_by_the_small_preset(algorithm: str) -> None:
    world = HistoryWorld(Leduc())
    chosen = preset_settings("small", algorithm=algorithm)
    training = DeepCfr(world, chosen, seed=7)
    for _ in range(chosen.iterations):
        training.iterate()
    assert ExactEvaluator(world).evaluate(training.policy()).exploitability < 0.15


@pytest.mark.parametrize(
    "change",
    [{"replacement": "window"}, {"weighting": "uniform"}, {"from_scratch": False}, {"merge_equal": False, "batch": 16}],
    ids=str,
)
def test_every_ablation_changes_the_training(change: dict[str, Any]) -> None:
    changed = trained(preset_settings("small", **{**vars(QUICK), **change}), 3)
    assert not same(changed, trained(QUICK, 3))
    assert changed.iteration == 3
    changed.policy()


def test_a_report_says_what_an_iteration_did() -> None:
    training = trained(QUICK, 0)
    first, second = training.iterate(), training.iterate()
    assert (first.iteration, second.iteration) == (1, 2)
    assert first.samples > 100
    assert first.advantage_fill[0] < second.advantage_fill[0] <= 1.0
    assert second.strategy_fill == 1.0
    assert all(loss > 0.0 for loss in first.value_losses)
    assert first.seconds > 0.0


def test_traversals_in_pieces_give_as_many_samples() -> None:
    chosen = preset_settings("small", **{**vars(QUICK), "traversals_at_once": 7})
    samples = trained(chosen, 0).iterate().samples
    assert abs(samples - trained(QUICK, 0).iterate().samples) < 0.2 * samples


@pytest.mark.parametrize("name", ["value.1", "advantages.0.targets", "strategies.observations"])
def test_a_snapshot_that_does_not_fit_is_refused(name: str) -> None:
    arrays = trained(QUICK, 1).snapshot()
    with pytest.raises(InvalidOption, match="does not fit"):
        trained(QUICK, 0).restore({**arrays, name: arrays[name][:-1]})
    del arrays[name]
    with pytest.raises(InvalidOption, match="is missing"):
        trained(QUICK, 0).restore(arrays)


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["float32", "tf32", "bfloat16"])
@pytest.mark.parametrize("place", ["device", "host"])
def test_kuhn_converges_on_a_gpu(precision: str, place: str) -> None:
    """Batches are drawn, so that a step is recorded and replayed where the memory is on the device."""
    change = {"precision": precision, "memory_place": place, "merge_equal": False, "batch": 512}
    chosen = preset_settings("small", value_steps=150, policy_steps=1_000, **change)
    training = DeepCfr(HistoryWorld(Kuhn(), device="cuda"), chosen, seed=1)
    for _ in range(12):
        training.iterate()
    assert ExactEvaluator(training.world).evaluate(training.policy()).exploitability < 0.1


@pytest.mark.gpu
def test_a_gpu_repeats_itself_and_resumes_to_the_bit() -> None:
    def on_gpu(iterations: int) -> DeepCfr:
        chosen = preset_settings("small", **{**vars(QUICK), "merge_equal": False, "batch": 256, "value_steps": 20})
        training = DeepCfr(HistoryWorld(Leduc(), device="cuda"), chosen, seed=1)
        for _ in range(iterations):
            training.iterate()
        return training

    resumed = on_gpu(0)
    resumed.restore(on_gpu(1).snapshot())
    resumed.iterate()
    assert same(on_gpu(2), on_gpu(2))
    assert same(resumed, on_gpu(2))


def test_the_same_seed_gives_the_same_training() -> None:
    assert same(trained(QUICK, 3), trained(QUICK, 3))
    assert not same(trained(QUICK, 3), trained(QUICK, 3, seed=2))


@pytest.mark.parametrize("algorithm", ["deep", "single"])
def test_a_snapshot_resumes_to_the_bit(algorithm: str) -> None:
    chosen = preset_settings("small", **{**vars(QUICK), "algorithm": algorithm})
    straight = trained(chosen, 4)
    resumed = trained(chosen, 0, seed=99)
    resumed.restore(trained(chosen, 2).snapshot())
    resumed.iterate()
    resumed.iterate()
    assert same(straight, resumed)
    world = straight.world
    assert np.array_equal(pair_strategy(world, straight.policy()), pair_strategy(world, resumed.policy()))


def test_asking_for_the_policy_leaves_the_training_as_it_was() -> None:
    asked = trained(QUICK, 1)
    asked.policy()
    asked.iterate()
    assert same(asked, trained(QUICK, 2))


@pytest.mark.parametrize("algorithm", ["deep", "single"])
def test_there_is_no_policy_before_the_first_iteration(algorithm: str) -> None:
    with pytest.raises(EmptyMemory, match="run at least one iteration first"):
        trained(preset_settings("small", algorithm=algorithm), 0).policy()


@pytest.mark.parametrize("algorithm", ["deep", "single"])
def test_players_without_a_choice(algorithm: str) -> None:
    """In Leduc without raises neither player ever has one."""
    for game in (OneChoice(0), OneChoice(1), Leduc(raises=0, merge_suits=True)):
        chosen = preset_settings(
            "small", **{**vars(QUICK), "value_steps": 50, "policy_steps": 100, "algorithm": algorithm}
        )
        training, resumed = (DeepCfr(HistoryWorld(game), chosen, seed=1) for _ in range(2))
        training.iterate()
        resumed.restore(training.snapshot())
        for each in (training, resumed):
            report = each.iterate()
        assert same(training, resumed)
        assert min(report.value_losses) == 0.0
        assert ExactEvaluator(training.world).evaluate(training.policy()).exploitability < 0.1


def test_the_estimate_covers_what_is_allocated() -> None:
    chosen = preset_settings("small", traversals=50, value_steps=5)
    training = trained(chosen, 1)
    assert training.memory_bytes <= estimate(training.world, chosen) < 1.1 * training.memory_bytes


# --- limit hold'em, for a few tiny iterations ------------------------------------------------------------------------


TINY = preset_settings(
    "fhp",
    traversals=30,
    advantage_capacity=2_000,
    strategy_capacity=500,
    value_steps=8,
    policy_steps=8,
    batch=64,
    width=16,
)


def trained_on(world: HoldemWorld, iterations: int) -> DeepCfr:
    training = DeepCfr(world, TINY, seed=3)
    for _ in range(iterations):
        training.iterate()
    return training


@pytest.mark.parametrize("game", [FlopHoldem(), LimitHoldem()], ids=str)
def test_a_training_on_holdem_repeats_itself_and_resumes(game: LimitHoldemRules) -> None:
    world = HoldemWorld(game, "cpu")
    first, second = trained_on(world, 2), trained_on(world, 1)
    resumed = DeepCfr(world, TINY)
    resumed.restore(second.snapshot())
    report = resumed.iterate()
    expected = first.snapshot()
    for name, array in resumed.snapshot().items():
        np.testing.assert_array_equal(array, expected[name])
    assert report.iteration == 2
    assert report.samples > 1000 / len(game.cards_dealt)
    assert first.memory_bytes <= estimate(world, TINY)
    observations = torch.from_numpy(expected["advantages.0.observations"])
    targets = expected["advantages.0.targets"]
    assert observations.dtype == torch.int16
    mover = world.betting.player[world.betting.node[observations[:, 7].long()]]
    assert (mover == 0).all()
    legal = world.betting.legal[world.betting.node[observations[:, 7].long()]].numpy()
    np.testing.assert_array_equal(np.isnan(targets), ~legal)
    chosen = torch.from_numpy(legal)
    probabilities = first.policy().probabilities(observations, chosen)
    torch.testing.assert_close(probabilities.sum(dim=1), torch.ones(len(probabilities)))
    assert not probabilities[~chosen].any()


@pytest.mark.gpu
def test_a_gpu_learns_holdem_too() -> None:
    """Enough steps that they are recorded and replayed; the same seed gives the same networks."""
    world = HoldemWorld(FlopHoldem(), "cuda")
    for precision in ("float32", "tf32", "bfloat16"):
        changed = preset_settings(
            "fhp", **{**vars(TINY), "value_steps": 100, "traversals": 2_000, "precision": precision}
        )
        first, second = (DeepCfr(world, changed, seed=1) for _ in range(2))
        losses = [[training.iterate().value_losses for _ in range(2)] for training in (first, second)]
        assert losses[0] == losses[1]
        for name, array in first.snapshot().items():
            np.testing.assert_array_equal(second.snapshot()[name], array)

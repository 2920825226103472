"""Deep CFR as a whole: convergence, determinism, snapshots, what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.deep.small_games import OneChoice  # noqa: E402

from regretless.deep.deep_cfr import DeepCfr, estimate  # noqa: E402
from regretless.deep.exact import evaluate_policy, pair_strategy  # noqa: E402
from regretless.deep.settings import TrainingSettings, settings  # noqa: E402
from regretless.deep.worlds.history_world import HistoryWorld  # noqa: E402
from regretless.errors import EmptyMemory, InvalidOption  # noqa: E402
from regretless.games import Kuhn, Leduc  # noqa: E402

QUICK = settings("small", traversals=50, value_steps=5, policy_steps=5, advantage_capacity=300, strategy_capacity=200)


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
    training = trained(settings("small", value_steps=60, policy_steps=300), 14, seed)
    assert evaluate_policy(training.world, training.policy()).exploitability < 0.05


def test_single_deep_cfr_converges() -> None:
    training = trained(settings("small", value_steps=60, algorithm="single"), 12)
    assert training.strategy_memory is None
    assert evaluate_policy(training.world, training.policy()).exploitability < 0.05


def test_drawn_batches_converge_too() -> None:
    chosen = settings("small", value_steps=100, policy_steps=1_000, batch=64, merge_equal=False)
    training = trained(chosen, 12)
    assert evaluate_policy(training.world, training.policy()).exploitability < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_kuhn_is_solved_by_the_small_preset(seed: int) -> None:
    training = trained(settings("small"), 100, seed)
    assert evaluate_policy(training.world, training.policy()).exploitability < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["deep", "single"])
def test_leduc_is_solved_by_the_small_preset(algorithm: str) -> None:
    world = HistoryWorld(Leduc())
    chosen = settings("small", algorithm=algorithm)
    training = DeepCfr(world, chosen, seed=7)
    for _ in range(chosen.iterations):
        training.iterate()
    assert evaluate_policy(world, training.policy()).exploitability < 0.15


@pytest.mark.parametrize(
    "change",
    [{"replacement": "window"}, {"weighting": "uniform"}, {"from_scratch": False}, {"merge_equal": False, "batch": 16}],
    ids=str,
)
def test_every_ablation_changes_the_training(change: dict[str, Any]) -> None:
    changed = trained(settings("small", **{**vars(QUICK), **change}), 3)
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
    chosen = settings("small", **{**vars(QUICK), "traversals_at_once": 7})
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
    chosen = settings("small", value_steps=150, policy_steps=1_000, **change)
    training = DeepCfr(HistoryWorld(Kuhn(), device="cuda"), chosen, seed=1)
    for _ in range(12):
        training.iterate()
    assert evaluate_policy(training.world, training.policy()).exploitability < 0.1


@pytest.mark.gpu
def test_a_gpu_repeats_itself_and_resumes_to_the_bit() -> None:
    def on_gpu(iterations: int) -> DeepCfr:
        chosen = settings("small", **{**vars(QUICK), "merge_equal": False, "batch": 256, "value_steps": 20})
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
    chosen = settings("small", **{**vars(QUICK), "algorithm": algorithm})
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
        trained(settings("small", algorithm=algorithm), 0).policy()


@pytest.mark.parametrize("algorithm", ["deep", "single"])
def test_players_without_a_choice(algorithm: str) -> None:
    """In Leduc without raises neither player ever has one."""
    for game in (OneChoice(0), OneChoice(1), Leduc(raises=0, merge_suits=True)):
        chosen = settings("small", **{**vars(QUICK), "value_steps": 50, "policy_steps": 100, "algorithm": algorithm})
        training, resumed = (DeepCfr(HistoryWorld(game), chosen, seed=1) for _ in range(2))
        training.iterate()
        resumed.restore(training.snapshot())
        for each in (training, resumed):
            report = each.iterate()
        assert same(training, resumed)
        assert min(report.value_losses) == 0.0
        assert evaluate_policy(training.world, training.policy()).exploitability < 0.1


def test_the_estimate_covers_what_is_allocated() -> None:
    chosen = settings("small", traversals=50, value_steps=5)
    training = trained(chosen, 1)
    assert training.memory_bytes <= estimate(training.world, chosen) < 1.1 * training.memory_bytes

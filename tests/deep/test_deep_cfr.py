"""Deep CFR as a whole: convergence, determinism, snapshots, what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from regretless.deep.deep_cfr import DeepCfr, estimate  # noqa: E402
from regretless.deep.exact import evaluate_policy, pair_strategy  # noqa: E402
from regretless.deep.settings import TrainingSettings, settings  # noqa: E402
from regretless.deep.worlds.history_world import HistoryWorld  # noqa: E402
from regretless.errors import EmptyMemory  # noqa: E402
from regretless.games import Kuhn  # noqa: E402

QUICK = settings("small", traversals=50, value_steps=5, policy_steps=5, advantage_capacity=300, strategy_capacity=200)


def trained(chosen: TrainingSettings, iterations: int, seed: int = 1) -> DeepCfr:
    training = DeepCfr(HistoryWorld(Kuhn()), chosen, seed=seed)
    for _ in range(iterations):
        training.iterate()
    return training


def same(first: DeepCfr, second: DeepCfr) -> bool:
    one, other = first.snapshot(), second.snapshot()
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name], equal_nan=True) for name in one)


@pytest.mark.parametrize("algorithm", ["deep", "single"])
def test_kuhn_converges(algorithm: str) -> None:
    training = trained(settings("small", value_steps=60, policy_steps=500, algorithm=algorithm), 12)
    assert evaluate_policy(training.world, training.policy()).exploitability < 0.08


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


def test_the_estimate_covers_what_is_allocated() -> None:
    chosen = settings("small", traversals=50, value_steps=5)
    training = trained(chosen, 1)
    assert training.memory_bytes <= estimate(training.world, chosen) < 1.1 * training.memory_bytes

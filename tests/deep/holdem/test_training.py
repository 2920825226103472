"""Deep CFR on limit hold'em, for a few tiny iterations."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from regretless.deep.deep_cfr import DeepCfr, estimate  # noqa: E402
from regretless.deep.holdem.world import HoldemWorld  # noqa: E402
from regretless.deep.settings import settings  # noqa: E402
from regretless.games import FlopHoldem, LimitHoldem  # noqa: E402
from regretless.games.limit_holdem import LimitHoldemRules  # noqa: E402

TINY = settings(
    "fhp",
    traversals=30,
    advantage_capacity=2_000,
    strategy_capacity=500,
    value_steps=8,
    policy_steps=8,
    batch=64,
    width=16,
)


def trained(world: HoldemWorld, iterations: int) -> DeepCfr:
    training = DeepCfr(world, TINY, seed=3)
    for _ in range(iterations):
        training.iterate()
    return training


@pytest.mark.parametrize("game", [FlopHoldem(), LimitHoldem()], ids=str)
def test_a_training_repeats_itself_and_resumes(game: LimitHoldemRules) -> None:
    world = HoldemWorld(game, "cpu")
    first, second = trained(world, 2), trained(world, 1)
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
def test_a_gpu_learns_too() -> None:
    """Enough steps that they are recorded and replayed; the same seed gives the same networks."""
    world = HoldemWorld(FlopHoldem(), "cuda")
    for precision in ("float32", "tf32", "bfloat16"):
        changed = settings("fhp", **{**vars(TINY), "value_steps": 100, "traversals": 2_000, "precision": precision})
        first, second = (DeepCfr(world, changed, seed=1) for _ in range(2))
        losses = [[training.iterate().value_losses for _ in range(2)] for training in (first, second)]
        assert losses[0] == losses[1]
        for name, array in first.snapshot().items():
            np.testing.assert_array_equal(second.snapshot()[name], array)

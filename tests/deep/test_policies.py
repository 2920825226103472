"""What networks learned as strategies of a game, how exploitable they are, and the mixture of Single Deep CFR."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.deep.small_games import RandomTree

from regretless.deep.deep_cfr import DeepCfr
from regretless.deep.networks import Network, new_network
from regretless.deep.policies import AdvantagePolicy, ExactEvaluator, MixturePolicy, NetworkPolicy, pair_strategy
from regretless.deep.settings import preset_settings
from regretless.deep.worlds import HistoryWorld
from regretless.forms.compile import uniform_array
from regretless.games import Kuhn, Leduc

CPU = torch.device("cpu")
LEDUC = HistoryWorld(Leduc())


def network(world: HistoryWorld, seed: int) -> Network:
    made = new_network(world.encoder, actions=world.actions, width=8, seed=seed, device=CPU)
    torch.nn.init.normal_(made.head.weight, generator=torch.Generator().manual_seed(seed))
    return made


@pytest.mark.parametrize(("world", "exploitability"), [(HistoryWorld(Kuhn()), 0.458333), (LEDUC, 2.373611)])
def test_an_untrained_network_plays_uniformly(world: HistoryWorld, exploitability: float) -> None:
    untrained = new_network(world.encoder, actions=world.actions, width=8, seed=1, device=CPU)
    for policy in (NetworkPolicy(untrained), AdvantagePolicy(untrained)):
        assert np.allclose(pair_strategy(world, policy), uniform_array(world.form))
        assert ExactEvaluator(world).evaluate(policy).exploitability == pytest.approx(exploitability, abs=1e-5)


def test_strategies_sum_to_one() -> None:
    for policy in (NetworkPolicy(network(LEDUC, 1)), AdvantagePolicy(network(LEDUC, 1))):
        strategy = pair_strategy(LEDUC, policy)
        assert strategy.min() >= 0.0
        assert np.allclose(np.add.reduceat(strategy, LEDUC.form.first_pair[:-1]), 1.0, atol=1e-12)
        assert not np.allclose(strategy, uniform_array(LEDUC.form), atol=0.1)


def test_a_mixture_is_worth_what_its_networks_are_on_average() -> None:
    """Against the same opponent: drawing a network per game and playing the average strategy are the same."""
    nets, opponent, weights = [network(LEDUC, seed) for seed in (1, 2, 3)], network(LEDUC, 9), [1.0, 2.0, 3.0]
    mixed = ExactEvaluator(LEDUC).evaluate(MixturePolicy([nets, [opponent] * 3], weights)).values[0]
    alone = [ExactEvaluator(LEDUC).evaluate(MixturePolicy([[net], [opponent]], [1.0])).values[0] for net in nets]
    assert mixed == pytest.approx(np.average(alone, weights=weights), abs=1e-6)
    assert max(alone) - min(alone) > 0.1


def test_a_player_without_a_choice_can_be_mixed() -> None:
    class Alone(RandomTree):
        def player(self, state: object) -> int:
            return 0

    world = HistoryWorld(Alone(2, chance=False))
    training = DeepCfr(world, preset_settings("small", traversals=5, value_steps=100, algorithm="single"), seed=1)
    for _ in range(3):
        training.iterate()
    evaluation = ExactEvaluator(world).evaluate(training.policy())
    assert evaluation.best_response_values[0] - evaluation.values[0] < 3.0


def test_networks_are_drawn_by_their_weights() -> None:
    nets = [network(LEDUC, seed) for seed in (1, 2)]
    policy = MixturePolicy([nets, nets], [1.0, 3.0])
    drawing = torch.Generator().manual_seed(3)
    second = sum(policy.draw(1, drawing).network is nets[1] for _ in range(400))
    assert 260 < second < 340

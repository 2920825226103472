"""Batched external sampling against the plain one and against exact expectations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.deep.small_games import RandomTree

from regretless.deep.memories import Samples
from regretless.deep.networks import legal_softmax, regret_matching
from regretless.deep.traversal import traverse, traverse_one_by_one
from regretless.deep.worlds import TERMINAL, HistoryWorld
from regretless.games import CHANCE, Kuhn, Leduc

CPU = torch.device("cpu")
WAYS = {"batched": traverse, "one by one": traverse_one_by_one}


def tabular(world: HistoryWorld, seed: int, *, shift: float = 0.0) -> list[Callable[[Any], Any]]:
    """Random advantages for both players, as value networks would give them."""
    table = (
        torch.randn((world.distinct_observations, world.actions), generator=torch.Generator().manual_seed(seed)) + shift
    )
    return [lambda observations: table[observations[:, 0].long()]] * world.players


def rows(samples: Samples) -> Counter[tuple[float, ...]]:
    columns = torch.cat((samples.observations.double(), samples.targets.double()), dim=1)
    return Counter(tuple(row) for row in columns.nan_to_num(nan=99.0).mul(1e4).round().tolist())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("player", [0, 1])
def test_where_nothing_is_random_both_find_the_same_samples(seed: int, player: int) -> None:
    """No chance, and no positive advantage: every strategy is pure."""
    world = HistoryWorld(RandomTree(seed, chance=False))
    networks = tabular(world, seed, shift=-10.0)
    found = [way(world, networks, player, 3, torch.Generator().manual_seed(0)) for way in WAYS.values()]
    assert rows(found[0].advantages) == rows(found[1].advantages)
    assert rows(found[0].strategies) == rows(found[1].strategies)
    assert torch.allclose(found[0].values, found[1].values)
    assert all(times % 3 == 0 for times in rows(found[0].advantages).values())


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(
    ("game", "way"),
    [
        (Kuhn(), "batched"),
        (Kuhn(), "one by one"),
        (Leduc(merge_suits=True), "batched"),
        (RandomTree(3, chance=True), "batched"),
    ],
    ids=str,
)
def test_samples_estimate_counterfactual_regrets(game: Any, way: str, player: int) -> None:
    """Sums of samples per observation differ from the exact expectations as independent errors do."""
    world = HistoryWorld(game)
    networks = tabular(world, 5)
    groups, each = (60, 500) if way == "batched" else (60, 10)
    regrets, visits = expectations(world, networks, player)
    shape = (groups, world.distinct_observations, world.actions)
    summed, seen = np.zeros(shape), np.zeros(shape[:2])
    for group in range(groups):
        found = WAYS[way](world, networks, player, each, torch.Generator().manual_seed(group))
        np.add.at(summed[group], found.advantages.observations[:, 0].numpy(), found.advantages.targets.nan_to_num())
        np.add.at(seen[group], found.strategies.observations[:, 0].numpy(), 1.0)
    for drawn, exact in ((summed / each, regrets), (seen / each, visits)):
        often = (drawn != 0.0).sum(axis=0) > groups / 2  # seen often enough for a normal distribution
        certain = often & (drawn.std(axis=0) < 1e-6)
        assert np.allclose(drawn.mean(axis=0)[certain], exact[certain], atol=1e-5)
        left = often & ~certain
        error = drawn.std(axis=0, ddof=1)[left] / groups**0.5
        deviation = (drawn.mean(axis=0) - exact)[left] / error
        assert len(deviation) >= 2
        assert np.abs(exact[left] / error).max() > 10.0  # an estimate of nothing would be noticed
        assert np.abs(deviation).max() < 5.0
        assert np.abs(exact[~often]).max(initial=0.0) < 0.1


def expectations(world: HistoryWorld, networks: list[Any], player: int) -> tuple[Any, Any]:
    """Exact sums per traversal: counterfactual regrets of the player, visits to decisions of the others."""
    form = world.form
    observations, legal = world.information_sets()
    strategy = regret_matching(networks[0](observations), legal).numpy()
    column = world.column
    regrets = np.zeros((world.distinct_observations, world.actions))
    visits = np.zeros(world.distinct_observations)

    def value(node: int, reach: float) -> float:
        """Utility below a node; `reach` is the probability that chance and the others come here."""
        if form.player[node] == TERMINAL:
            return float(form.payoff[np.searchsorted(form.terminal, node), player])
        children = range(form.first_child[node], form.first_child[node + 1])
        if form.player[node] == CHANCE:
            return sum(form.chance[child] * value(child, reach * form.chance[child]) for child in children)
        number = form.information_set[node]
        chances = [strategy[number, column[form.pair[child]]] for child in children]
        own = form.player[node] == player
        below = [value(child, reach * (1.0 if own else chance)) for child, chance in zip(children, chances)]
        expected = sum(chance * worth for chance, worth in zip(chances, below))
        if len(children) > 1:
            if own:
                for child, worth in zip(children, below):
                    regrets[world.observation_of[number], column[form.pair[child]]] += reach * (worth - expected)
            else:
                visits[world.observation_of[number]] += reach
        return expected

    value(0, 1.0)
    return regrets, visits


def test_regret_matching() -> None:
    advantages = torch.tensor(
        [[3.0, 1.0, 8.0], [-3.0, -1.0, 8.0], [0.0, 0.0, 0.0], [-2.0, -2.0, 1.0], [4.0, -1.0, 0.0]]
    )
    legal = torch.tensor([[True, True, False]] * 4 + [[True, True, True]])
    expected = [[0.75, 0.25, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]
    assert regret_matching(advantages, legal).tolist() == expected
    assert legal_softmax(advantages, legal)[2].tolist() == [0.5, 0.5, 0.0]


def test_no_choice_is_no_sample() -> None:
    world = HistoryWorld(RandomTree(1, chance=True))
    counts = np.diff(world.form.first_pair)
    assert (counts == 1).any()
    single = set(world.observation_of[counts == 1].tolist()) - set(world.observation_of[counts > 1].tolist())
    for player in (0, 1):
        found = traverse(world, tabular(world, 2), player, 200, torch.Generator().manual_seed(3))
        for samples in (found.advantages, found.strategies):
            assert len(samples.targets)
            assert not single & set(samples.observations[:, 0].tolist())
            assert ((~samples.targets.isnan()).sum(dim=1) > 1).all()


@pytest.mark.gpu
def test_a_gpu_finds_the_same_samples_where_nothing_is_random() -> None:
    game = RandomTree(2, chance=False)
    found = []
    for device in ("cpu", "cuda"):
        world = HistoryWorld(game, device=device)
        table = (
            torch.randn((world.distinct_observations, world.actions), generator=torch.Generator().manual_seed(2)) - 10.0
        )
        table = table.to(device)
        networks = [lambda observations, table=table: table[observations[:, 0].long()]] * 2
        advantages = traverse(world, networks, 0, 3, torch.Generator(world.device).manual_seed(0)).advantages
        found.append(rows(Samples(advantages.observations.cpu(), advantages.targets.cpu())))
    assert found[0] == found[1]

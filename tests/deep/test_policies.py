"""The mixture of Single Deep CFR."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from regretless.deep.networks import Network, new_network
from regretless.deep.policies import MixturePolicy
from regretless.deep.worlds import HistoryWorld
from regretless.games import Leduc

CPU = torch.device("cpu")
LEDUC = HistoryWorld(Leduc())


def network(world: HistoryWorld, seed: int) -> Network:
    made = new_network(world.encoder, actions=world.actions, width=8, seed=seed, device=CPU)
    torch.nn.init.normal_(made.head.weight, generator=torch.Generator().manual_seed(seed))
    return made


def test_networks_are_drawn_by_their_weights() -> None:
    nets = [network(LEDUC, seed) for seed in (1, 2)]
    policy = MixturePolicy([nets, nets], [1.0, 3.0])
    drawing = torch.Generator().manual_seed(3)
    second = sum(policy.draw(1, drawing).network is nets[1] for _ in range(400))
    assert 260 < second < 340

"""The optimiser of a fit, against PyTorch's."""

from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch")

from regretless.deep.fitting import Adam
from regretless.deep.networks import Network, new_network
from regretless.deep.worlds import HistoryWorld
from regretless.games import Leduc

CPU = torch.device("cpu")
WORLD = HistoryWorld(Leduc())


def network(seed: int = 1, width: int = 64) -> Network:
    return new_network(WORLD.encoder, actions=WORLD.actions, width=width, seed=seed, device=CPU)


def shaken(made: Network) -> Network:
    """With a head that is not 0."""
    torch.nn.init.normal_(made.head.weight, generator=torch.Generator().manual_seed(1))
    return made


def test_the_optimiser_is_adam_with_clipped_gradients() -> None:
    """On layers without normalisation, which has directions without gradient: there, Adam would enlarge rounding."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        ours = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    theirs = copy.deepcopy(ours)
    drawing = torch.Generator().manual_seed(2)
    rows, target = torch.randn((40, 5), generator=drawing), torch.randn((40, 2), generator=drawing)
    adam = Adam(ours, steps=50, learning_rate=1e-2, clip=0.25)
    reference = torch.optim.Adam(theirs.parameters(), lr=1e-2)
    norms = []
    for step in range(50):
        adam.set_step(step)
        adam.step((ours(rows) - target).square().mean())
        reference.zero_grad()
        (theirs(rows) - target).square().mean().backward()
        norms.append(float(torch.nn.utils.clip_grad_norm_(theirs.parameters(), 0.25)))
        reference.step()
    adam.close()
    assert min(norms) < 0.25 < max(norms), norms
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.allclose(one, other, atol=1e-4)
        assert one.grad is None

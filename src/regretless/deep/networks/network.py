"""One architecture for advantages and policies: encoder, trunk, head.

    features = encoder(observations)
    hidden = ReLU(W₁ features)                                 with a skip if the widths match
    hidden = ReLU(W₂ hidden + hidden);  hidden = ReLU(W₃ hidden + hidden)
    output = W₄ normalise(hidden)                              zero mean and unit variance over the units

The head starts at 0, so an untrained network gives 0 for every action, as Algorithm 1 asks of the first one: regret
matching then plays uniformly. A value network's outputs are advantages; a policy network's are logits, for a softmax
over the legal actions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import torch
import torch.nn.functional as functional
from torch import Tensor, nn

from regretless.deep.networks.encoder import ObservationEncoder

__all__ = ["Network", "legal_softmax", "new_network", "regret_matching"]


class Network(nn.Module):
    """From observations [n, K] to one number per action [n, A]."""

    def __init__(self, encoder: ObservationEncoder, actions: int, width: int) -> None:
        super().__init__()
        self.encoder = cast(nn.Module, encoder)
        sizes = [encoder.out_features, width, width]
        self.trunk = nn.ModuleList(nn.Linear(size, width) for size in sizes)
        self.head = nn.Linear(width, actions)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, observations: Tensor) -> Tensor:
        hidden = self.encoder(observations)
        for layer in self.trunk:
            moved = layer(hidden)
            hidden = functional.relu(moved + hidden if moved.shape == hidden.shape else moved)
        return self.head(functional.layer_norm(hidden, hidden.shape[1:]))


def new_network(
    encoder: Callable[[int], ObservationEncoder], *, actions: int, width: int, seed: int, device: torch.device
) -> Network:
    """An untrained network; its parameters depend on the seed only, not on the device or on PyTorch's global state."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # `torch.manual_seed` would also seed the devices' generators
        network = Network(encoder(width), actions, width)
    return network.to(device)


def regret_matching(advantages: Tensor, legal: Tensor) -> Tensor:
    """[n, A] probabilities in proportion to positive advantages; where there are none, all on the largest.

    Following the paper, the largest is played, not all actions uniformly; actions that tie for it share equally.
    """
    positive = advantages.clamp(min=0.0) * legal
    total = positive.sum(dim=1, keepdim=True)
    among_legal = advantages.masked_fill(~legal, -torch.inf)
    largest = (among_legal == among_legal.amax(dim=1, keepdim=True)).to(advantages.dtype)
    # The smallest normal number keeps the branch that is not taken finite.
    matched = positive / total.clamp(min=torch.finfo(advantages.dtype).tiny)
    return torch.where(total > 0.0, matched, largest / largest.sum(dim=1, keepdim=True))


def legal_softmax(logits: Tensor, legal: Tensor) -> Tensor:
    """[n, A] softmax over the legal actions; 0 elsewhere."""
    return torch.softmax(logits.masked_fill(~legal, -torch.inf), dim=1)

"""What a training learned, as probabilities of actions.

- `NetworkPolicy`: the policy network, fitted to the strategy memory.
- `MixturePolicy`: Single Deep CFR (Steinberger, 2019): every iteration's value network, of which one is drawn with
  probability proportional to t before the game begins and then plays all of it. Its average strategy at a decision
  weighs each network by how likely that network's own play leads there, so it depends on the player's earlier
  decisions; `exact.py` computes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from regretless.deep.networks.network import Network, legal_softmax, regret_matching
from regretless.deep.settings import Weighting

__all__ = ["AdvantagePolicy", "MixturePolicy", "NetworkPolicy", "Policy", "mixture_weights"]


class Policy(Protocol):
    """Probabilities of actions from what the player to move knows."""

    def probabilities(self, observations: Tensor, legal: Tensor) -> Tensor:
        """[n, A] from observations [n, K] and legal actions [n, A]; 0 where an action is not legal."""


@dataclass(frozen=True)
class NetworkPolicy:
    """The average strategy, as a network predicts it."""

    network: Network
    loss: float = 0.0  # mean squared error at the end of the fit

    @torch.no_grad()
    def probabilities(self, observations: Tensor, legal: Tensor) -> Tensor:
        return legal_softmax(self.network(observations).float(), legal)


@dataclass(frozen=True)
class AdvantagePolicy:
    """One iteration's strategy: regret matching on a value network's advantages."""

    network: Network

    @torch.no_grad()
    def probabilities(self, observations: Tensor, legal: Tensor) -> Tensor:
        return regret_matching(self.network(observations).float(), legal)


@dataclass(frozen=True)
class MixturePolicy:
    """Value networks of all iterations, of which a player draws one per game."""

    networks: Sequence[Sequence[Network]]  # [player][iteration]
    weights: Sequence[float]  # [iteration], t

    def draw(self, player: int, generator: torch.Generator) -> AdvantagePolicy:
        """The policy that `player` follows for one game."""
        weights = torch.tensor(self.weights, dtype=torch.float64, device=generator.device)
        chosen = int(torch.multinomial(weights, 1, generator=generator))
        return AdvantagePolicy(self.networks[player][chosen])


def mixture_weights(weighting: Weighting, iterations: int) -> list[float]:
    """What each iteration weighs in the mixture: t, or 1 without linear weighting.

    >>> mixture_weights("linear", 3)
    [1.0, 2.0, 3.0]
    """
    return [float(t) if weighting == "linear" else 1.0 for t in range(1, iterations + 1)]

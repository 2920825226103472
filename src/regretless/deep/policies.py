"""What a training learned, as probabilities of actions; its exact exploitability; its networks as named arrays.

- `NetworkPolicy`: the policy network, fitted to the strategy memory.
- `MixturePolicy`: Single Deep CFR (Steinberger, 2019): every iteration's value network; one is drawn with
  probability proportional to t before the game begins and then plays all of it. Its average strategy at a decision
  weighs each network by how likely that network's own play leads there, so it depends on the player's earlier
  decisions; `pair_strategy` computes it.

In a file, a policy network's parameters are `policy.NAME`, with PyTorch's name and shape of each parameter. Of Single
Deep CFR there are the value networks of every player and iteration: `values.NAME` has [players, iterations, …].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless import engines
from regretless.deep.networks import Network, legal_softmax, new_network, regret_matching
from regretless.deep.settings import TrainingSettings, Weighting
from regretless.deep.worlds import AnyWorld, HistoryWorld
from regretless.engines import Evaluation
from regretless.errors import InvalidFile
from regretless.forms.compile import invert
from regretless.forms.history import AnyArray, FloatArray, IntArray, Strategy
from regretless.forms.normalise import normalise
from regretless.forms.sequence import realization_plan, sequence_levels, sequence_tree

__all__ = [
    "AdvantagePolicy", "AnyPolicy", "ExactEvaluator", "MixturePolicy", "NetworkPolicy", "Policy",
    "PolicyEvaluator", "mixture_weights", "pair_strategy", "parameters_of", "policy_from",
]  # fmt: skip


class Policy(Protocol):
    """Probabilities of actions from what the player to move knows."""

    def probabilities(self, observations: Tensor, legal: Tensor) -> Tensor:
        """[n, A] from observations [n, K] and legal actions [n, A]; 0 where an action is not legal."""


@dataclass(frozen=True)
class NetworkPolicy:
    """The average strategy, as a network predicts it."""

    network: Network

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
    """Value networks of all iterations; a player draws one per game."""

    networks: Sequence[Sequence[Network]]  # [player][iteration]
    weights: Sequence[float]  # [iteration], t

    def draw(self, player: int, generator: torch.Generator) -> AdvantagePolicy:
        """The policy that `player` follows for one game."""
        weights = torch.tensor(self.weights, dtype=torch.float64, device=generator.device)
        chosen = int(torch.multinomial(weights, 1, generator=generator))
        return AdvantagePolicy(self.networks[player][chosen])


AnyPolicy = Policy | MixturePolicy


def mixture_weights(weighting: Weighting, iterations: int) -> list[float]:
    """The weight of each iteration in the mixture: t, or 1 without linear weighting.

    >>> mixture_weights("linear", 3)
    [1.0, 2.0, 3.0]
    """
    return [float(t) if weighting == "linear" else 1.0 for t in range(1, iterations + 1)]


POLICY, VALUES = "policy.", "values."  # prefixes of arrays


def parameters_of(policy: AnyPolicy) -> dict[str, NDArray[np.float32]]:
    """The parameters of a policy's networks, by name."""
    if isinstance(policy, MixturePolicy):
        names = [name for name, _ in policy.networks[0][0].named_parameters()]
        stacks = [[_parameters(network) for network in past] for past in policy.networks]
        return {f"{VALUES}{name}": np.stack([[each[name] for each in past] for past in stacks]) for name in names}
    assert isinstance(policy, NetworkPolicy)
    return {f"{POLICY}{name}": array for name, array in _parameters(policy.network).items()}


def policy_from(
    arrays: Mapping[str, AnyArray],
    world: AnyWorld,
    settings: TrainingSettings,
    *,
    iterations: int,
    where: object,
) -> NetworkPolicy | MixturePolicy:
    """The policy with these parameters; those of another shape are refused, naming the file they are from."""
    misfit = InvalidFile(where, "has networks whose shapes do not fit its game and settings")

    def network_with(parameters: Mapping[str, AnyArray]) -> Network:
        network = new_network(world.encoder, actions=world.actions, width=settings.width, seed=0, device=world.device)
        named = dict(network.named_parameters())
        if {name: tuple(each.shape) for name, each in named.items()} != {
            name: each.shape for name, each in parameters.items()
        }:
            raise misfit
        with torch.no_grad():
            for name, parameter in named.items():
                parameter.copy_(torch.as_tensor(np.array(parameters[name])))
        return network

    if settings.algorithm == "deep":
        return NetworkPolicy(network_with(_without_prefix(arrays, POLICY)))
    stacked = _without_prefix(arrays, VALUES)
    if any(array.shape[:2] != (world.players, iterations) for array in stacked.values()):
        raise misfit
    networks = [
        [network_with({name: array[player, number] for name, array in stacked.items()}) for number in range(iterations)]
        for player in range(world.players)
    ]
    return MixturePolicy(networks, mixture_weights(settings.weighting, iterations))


def _without_prefix(arrays: Mapping[str, AnyArray], prefix: str) -> dict[str, AnyArray]:
    return {name.removeprefix(prefix): arrays[name] for name in arrays if name.startswith(prefix)}


def _parameters(network: Network) -> dict[str, NDArray[np.float32]]:
    return {name: parameter.detach().cpu().numpy().copy() for name, parameter in network.named_parameters()}


# --- how exploitable a policy is ------------------------------------------------------------------------------------


def pair_strategy(world: HistoryWorld, policy: AnyPolicy) -> FloatArray:
    """[pairs] the policy at every information set, in the pair order of the history form."""
    form = world.form
    if isinstance(policy, MixturePolicy):
        return _mixture_strategy(world, policy)
    return _strategy_at(world, policy, np.arange(len(form.keys)), np.arange(form.first_pair[-1]))


def _mixture_strategy(world: HistoryWorld, policy: MixturePolicy) -> FloatArray:
    """The average over networks, each weighed by t and by its own probability of reaching the information set."""
    form = world.form
    average = np.zeros(int(form.first_pair[-1]))
    for player in range(form.players):
        tree = sequence_tree(form, player)
        levels, pairs = sequence_levels(tree), tree.pair[1:]
        for weight, network in zip(policy.weights, policy.networks[player], strict=True):
            strategy = _strategy_at(world, AdvantagePolicy(network), tree.information_set, pairs)
            average[pairs] += weight * realization_plan(levels, np.append(1.0, strategy))[1:]
    return normalise(average, form.first_pair)


def _strategy_at(world: HistoryWorld, policy: Policy, sets: IntArray, pairs: IntArray) -> FloatArray:
    """The policy at some information sets; `pairs` are theirs, set by set."""
    observations, legal = (each[torch.as_tensor(sets, device=each.device)] for each in world.information_sets())
    probabilities = policy.probabilities(observations, legal).cpu().numpy().astype(np.float64)
    first = np.append(0, np.cumsum(np.diff(world.form.first_pair)[sets]))
    row = np.repeat(np.arange(len(sets)), np.diff(first))
    return normalise(probabilities[row, world.column[pairs]], first)


class PolicyEvaluator(Protocol):
    """Measures policies."""

    def evaluate(self, policy: AnyPolicy) -> Evaluation:
        """Exact values and best responses, in the game's units."""


class ExactEvaluator:
    """For games whose information sets can be enumerated."""

    def __init__(self, world: HistoryWorld) -> None:
        self.world = world
        self._engine = engines.create("numpy", world.form)  # has no kernels to load, and one pass is quick

    def evaluate(self, policy: AnyPolicy) -> Evaluation:
        return self._engine.evaluate(pair_strategy(self.world, policy))

    def strategy(self, policy: AnyPolicy) -> Strategy:
        """Information set -> action -> probability."""
        return invert(self.world.form, pair_strategy(self.world, policy))

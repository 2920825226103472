"""The parameters of trained networks as named arrays, and networks from them.

A policy network's are `policy.NAME`, with PyTorch's name and shape of each parameter. Of Single Deep CFR there are the
value networks of every player and iteration: `values.NAME` has [players, iterations, …].
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from regretless.deep.networks.network import Network, new_network
from regretless.deep.policies import MixturePolicy, NetworkPolicy, Policy, mixture_weights
from regretless.deep.settings import TrainingSettings
from regretless.deep.worlds.world import World
from regretless.errors import InvalidFile

__all__ = ["parameters_of", "policy_from"]

POLICY, VALUES = "policy.", "values."


def parameters_of(policy: Policy | MixturePolicy) -> dict[str, NDArray[np.float32]]:
    """The parameters of a policy's networks, by name."""
    if isinstance(policy, MixturePolicy):
        names = [name for name, _ in policy.networks[0][0].named_parameters()]
        stacks = [[_parameters(network) for network in past] for past in policy.networks]
        return {f"{VALUES}{name}": np.stack([[each[name] for each in past] for past in stacks]) for name in names}
    assert isinstance(policy, NetworkPolicy)
    return {f"{POLICY}{name}": array for name, array in _parameters(policy.network).items()}


def policy_from(
    arrays: Mapping[str, NDArray[Any]],
    world: World[Any],
    settings: TrainingSettings,
    *,
    iterations: int,
    where: object,
) -> NetworkPolicy | MixturePolicy:
    """The policy with these parameters; those of another shape are refused, naming the file they are from."""

    def made(parameters: Mapping[str, NDArray[Any]]) -> Network:
        network = new_network(world.encoder, actions=world.actions, width=settings.width, seed=0, device=world.device)
        named = dict(network.named_parameters())
        if {name: tuple(each.shape) for name, each in named.items()} != {
            name: each.shape for name, each in parameters.items()
        }:
            raise InvalidFile(where, "has networks whose shapes do not fit its game and settings")
        with torch.no_grad():
            for name, parameter in named.items():
                parameter.copy_(torch.as_tensor(np.array(parameters[name])))
        return network

    if settings.algorithm == "deep":
        return NetworkPolicy(made(_named(arrays, POLICY)))
    stacked = _named(arrays, VALUES)
    if any(array.shape[:2] != (world.players, iterations) for array in stacked.values()):
        raise InvalidFile(where, "has networks whose shapes do not fit its game and settings")
    networks = [
        [made({name: array[player, each] for name, array in stacked.items()}) for each in range(iterations)]
        for player in range(world.players)
    ]
    return MixturePolicy(networks, mixture_weights(settings.weighting, iterations))


def _named(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): arrays[name] for name in arrays if name.startswith(prefix)}


def _parameters(network: Network) -> dict[str, NDArray[np.float32]]:
    return {name: parameter.detach().cpu().numpy().copy() for name, parameter in network.named_parameters()}

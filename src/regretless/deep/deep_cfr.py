"""Deep CFR (Algorithm 1 of Brown, Lerer, Gross & Sandholm: Deep Counterfactual Regret Minimization, ICML 2019).

    for t = 1 … T:
        for each player p:
            K traversals for p with the players' current value networks:
                advantages of p go to p's advantage memory, strategies of the others to the strategy memory
            fit a new value network of p, from scratch, to p's advantage memory
    at the end, fit the policy network to the strategy memory

Single Deep CFR (Steinberger: Single Deep Counterfactual Regret Minimization, 2019) keeps every value network and no
strategy memory; see `policies.py`.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.errors import EmptyMemory, InvalidOption, MissingExtra
from regretless.seeds import check_seed

try:
    import torch
    from torch.nn.utils import parameters_to_vector, vector_to_parameters
except ModuleNotFoundError as error:
    raise MissingExtra("torch", "torch") from error

from regretless.deep.fitting import STEPS_DRAWN, Fitting, matrix_precision
from regretless.deep.memories import MEMORY_ARRAYS, Memory, memory_bytes
from regretless.deep.networks.network import Network, new_network
from regretless.deep.policies import MixturePolicy, NetworkPolicy, mixture_weights
from regretless.deep.settings import TrainingSettings
from regretless.deep.streams import Purpose, generator, stream_seed
from regretless.deep.traversal import traverse
from regretless.deep.worlds.world import World

__all__ = ["DeepCfr", "IterationReport", "estimate"]

EVERYONE = -1  # the player of a stream that belongs to no player


@dataclass(frozen=True)
class IterationReport:
    """What one iteration did."""

    iteration: int
    seconds: float
    samples: int  # new ones in all memories, before the memories choose
    value_losses: tuple[float, ...]  # of each player's fit, in the game's units squared
    advantage_fill: tuple[float, ...]  # share of each player's memory that is in use
    strategy_fill: float  # the same; 0 if there is no strategy memory


def estimate(world: World[Any], settings: TrainingSettings) -> int:
    """Bytes that `DeepCfr` allocates for memories, networks and batches, before anything is allocated."""
    shape: dict[str, Any] = {
        "observation_size": world.observation_size,
        "observation_dtype": world.observation_dtype,
        "actions": world.actions,
    }
    total = world.players * memory_bytes(settings.advantage_capacity, **shape)
    if settings.algorithm == "deep":
        total += memory_bytes(settings.strategy_capacity, **shape)
    with torch.device("meta"):  # shapes without numbers
        network = Network(world.encoder(settings.width), world.actions, settings.width)
    parameters = 4 * sum(parameter.numel() for parameter in network.parameters())
    kept = settings.iterations if settings.algorithm == "single" else 1
    total += 8 * (STEPS_DRAWN + 1) * settings.batch  # rows that batches are drawn from
    return total + parameters * world.players * kept + 4 * parameters  # one in training: gradients, two moments


class DeepCfr:
    """A training: value networks and memories that `iterate` improves."""

    def __init__(self, world: World[Any], settings: TrainingSettings, *, seed: int = 0) -> None:
        self.world = world
        self.settings = settings
        self.seed = check_seed(seed)
        self.iteration = 0
        self._fitting = Fitting(settings, world.distinct_observations)
        self.networks = [self._new_network(0, player) for player in range(world.players)]
        self.past: list[list[Network]] = [[] for _ in range(world.players)]  # for the mixture
        self.advantage_memories = [
            self._memory(f"the advantage memory of player {player}", settings.advantage_capacity)
            for player in range(world.players)
        ]
        self.strategy_memory = (
            self._memory("the strategy memory", settings.strategy_capacity) if settings.algorithm == "deep" else None
        )

    @property
    def memory_bytes(self) -> int:
        """Bytes of memories and networks."""
        networks = [*self.networks, *(network for past in self.past for network in past)]
        held = {id(network): sum(weights.nbytes for weights in network.parameters()) for network in networks}
        return sum(memory.memory_bytes for memory in self._memories().values()) + sum(held.values())

    def iterate(self) -> IterationReport:
        """One iteration: every player in turn."""
        began = time.perf_counter()
        self.iteration += 1
        before = self._seen()
        losses = []
        for player in range(self.world.players):
            self._collect(player)
            losses.append(self._fit_values(player))
        memory = self.strategy_memory
        return IterationReport(
            iteration=self.iteration,
            seconds=time.perf_counter() - began,
            samples=self._seen() - before,
            value_losses=tuple(losses),
            advantage_fill=tuple(len(memory) / memory.capacity for memory in self.advantage_memories),
            strategy_fill=len(memory) / memory.capacity if memory is not None else 0.0,
        )

    def policy(self) -> NetworkPolicy | MixturePolicy:
        """The average strategy so far; asking for it leaves the training as it was."""
        if self.strategy_memory is None:
            if not self.iteration:
                raise EmptyMemory("the mixture of value networks")
            weights = mixture_weights(self.settings.weighting, self.iteration)
            return MixturePolicy([list(past) for past in self.past], weights)
        network = self._new_network(self.iteration, EVERYONE)
        if self.iteration and not len(self.strategy_memory):  # nobody has had a choice yet
            return NetworkPolicy(network)
        seed = self._stream(EVERYONE, Purpose.BATCHES)
        loss = self._fitting.policy(network, self.strategy_memory, iteration=self.iteration, seed=seed)
        return NetworkPolicy(network, loss)

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Everything the next iteration depends on, apart from world and settings; copies, by the names in files."""
        arrays: dict[str, NDArray[Any]] = {
            "iteration": np.array(self.iteration, np.int64),
            "seed": np.array(self.seed, np.int64),
        }
        for player, network in enumerate(self.networks):
            arrays[f"value.{player}"] = _parameters(network)
            if self.settings.algorithm == "single" and self.past[player]:
                arrays[f"past.{player}"] = np.stack([_parameters(past) for past in self.past[player]])
        for prefix, memory in self._memories().items():
            arrays |= {f"{prefix}.{name}": array for name, array in memory.snapshot().items()}
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from a snapshot of the same world and settings: the next iteration is the same to the bit."""
        for prefix, memory in self._memories().items():
            memory.restore({name: _array(arrays, f"{prefix}.{name}") for name in MEMORY_ARRAYS})
        self.iteration = int(_array(arrays, "iteration"))
        self.seed = check_seed(int(_array(arrays, "seed")))
        for player in range(self.world.players):
            self.networks[player] = self._network_with(_array(arrays, f"value.{player}"))
            if self.settings.algorithm == "single":
                rows = arrays.get(f"past.{player}", ())
                self.past[player] = [self._network_with(row) for row in rows]

    def _memories(self) -> dict[str, Memory]:
        """By the name of their arrays."""
        memories = {f"advantages.{player}": memory for player, memory in enumerate(self.advantage_memories)}
        return memories | ({"strategies": self.strategy_memory} if self.strategy_memory is not None else {})

    def _network_with(self, parameters: NDArray[Any]) -> Network:
        network = self._new_network(0, 0)
        size = len(_parameters(network))
        if parameters.shape != (size,):
            raise InvalidOption("network", parameters.shape, f"does not fit a network of {size:,} parameters")
        vector_to_parameters(torch.as_tensor(parameters).to(self.world.device), network.parameters())
        return network

    def _collect(self, player: int) -> None:
        """K traversals for one player, into the memories."""
        drawing = self._generator(player, Purpose.TRAVERSAL)
        keeping = self._generator(player, Purpose.ADVANTAGE_MEMORY), self._generator(player, Purpose.STRATEGY_MEMORY)
        left = self.settings.traversals
        while left:
            count = min(left, self.settings.traversals_at_once)
            with matrix_precision(self.settings.precision, self.world.device):
                found = traverse(self.world, self.networks, player, count, drawing)
            self.advantage_memories[player].add(found.advantages, self.iteration, keeping[0])
            if self.strategy_memory is not None:
                self.strategy_memory.add(found.strategies, self.iteration, keeping[1])
            left -= count

    def _fit_values(self, player: int) -> float:
        memory, network, loss = self.advantage_memories[player], self.networks[player], 0.0
        if len(memory):  # otherwise the player has had no choice yet
            if self.settings.from_scratch:
                network = self._new_network(self.iteration, player)
            seed = self._stream(player, Purpose.BATCHES)
            loss = self._fitting.values(network, memory, iteration=self.iteration, seed=seed)
            self.networks[player] = network
        if self.settings.algorithm == "single":
            self.past[player].append(network if self.settings.from_scratch else copy.deepcopy(network))
        return loss

    def _seen(self) -> int:
        return sum(memory.seen for memory in self._memories().values())

    def _memory(self, name: str, capacity: int) -> Memory:
        return Memory(
            name,
            capacity,
            observation_size=self.world.observation_size,
            observation_dtype=self.world.observation_dtype,
            actions=self.world.actions,
            device=self.world.device,
            place=self.settings.memory_place,
            replacement=self.settings.replacement,
        )

    def _new_network(self, iteration: int, player: int) -> Network:
        return _network(self.world, self.settings, stream_seed(self.seed, iteration, player, Purpose.PARAMETERS))

    def _generator(self, player: int, purpose: Purpose) -> torch.Generator:
        return generator(self.world.device, self._stream(player, purpose))

    def _stream(self, player: int, purpose: Purpose) -> int:
        return stream_seed(self.seed, self.iteration, player, purpose)


def _parameters(network: Network) -> NDArray[np.float32]:
    """All parameters as one vector."""
    vector: NDArray[np.float32] = parameters_to_vector(network.parameters()).detach().cpu().numpy().copy()
    return vector


def _array(arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any]:
    if name not in arrays:
        raise InvalidOption("snapshot", name, "is missing")
    return arrays[name]


def _network(world: World[Any], settings: TrainingSettings, seed: int) -> Network:
    return new_network(world.encoder, actions=world.actions, width=settings.width, seed=seed, device=world.device)

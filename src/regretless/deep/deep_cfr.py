"""Deep CFR (Algorithm 1 of Brown, Lerer, Gross & Sandholm: Deep Counterfactual Regret Minimization, ICML 2019).

    for t = 1 … T:
        for each player p:
            K traversals for p with the players' current value networks:
                advantages of p go to p's advantage memory, strategies of the others to the strategy memory
            fit a new value network of p, from scratch, to p's advantage memory
    at the end, fit the policy network to the strategy memory

Single Deep CFR (Steinberger: Single Deep Counterfactual Regret Minimization, 2019) keeps every value network and no
strategy memory; see `policies.py`.

Random numbers come in independent streams, so what one part of a training draws never depends on how much another part
drew. Each stream is seeded from (seed, iteration, player, purpose), so a training can be resumed at any iteration, and
fitting a policy along the way does not change what follows.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

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
from regretless.deep.memories import MEMORY_ARRAYS, Memory, sample_bytes
from regretless.deep.networks import Network, new_network
from regretless.deep.policies import MixturePolicy, NetworkPolicy, mixture_weights
from regretless.deep.settings import TrainingSettings
from regretless.deep.traversal import traverse
from regretless.deep.worlds import AnyWorld
from regretless.forms.history import AnyArray

__all__ = ["DeepCfr", "IterationReport", "Purpose", "estimate", "stream_seed"]

EVERYONE = -1  # the player of a stream that belongs to no player
MASK_64 = 2**64 - 1


class Purpose(IntEnum):
    """What the random numbers of a stream are for."""

    TRAVERSAL = 0
    ADVANTAGE_MEMORY = 1  # which samples a memory keeps
    STRATEGY_MEMORY = 2
    PARAMETERS = 3  # a network's first parameters
    BATCHES = 4


def stream_seed(seed: int, iteration: int, player: int, purpose: Purpose) -> int:
    """63 bits that mix the four numbers (the finaliser of SplitMix64, once per number)."""
    state = 0
    for number in (seed, iteration, player, int(purpose)):
        state = (state + number + 0x9E3779B97F4A7C15) & MASK_64
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK_64
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK_64
        state ^= state >> 31
    return state >> 1


@dataclass(frozen=True)
class IterationReport:
    """What one iteration did."""

    iteration: int
    seconds: float
    samples: int  # new ones in all memories, before the memories choose
    value_losses: tuple[float, ...]  # of each player's fit, in the game's units squared
    advantage_fill: tuple[float, ...]  # share of each player's memory that is in use
    strategy_fill: float  # the same; 0 if there is no strategy memory


def estimate(world: AnyWorld, settings: TrainingSettings) -> int:
    """Bytes that `DeepCfr` allocates for memories, networks and batches, before anything is allocated."""
    samples = world.players * settings.advantage_capacity
    if settings.algorithm == "deep":
        samples += settings.strategy_capacity
    memories = samples * sample_bytes(world.observation_size, world.observation_dtype, world.actions)
    with torch.device("meta"):  # shapes without numbers
        network = Network(world.encoder(settings.width), world.actions, settings.width)
    parameters = 4 * sum(parameter.numel() for parameter in network.parameters())
    per_player = settings.iterations if settings.algorithm == "single" else 1
    networks = parameters * (world.players * per_player + 4)  # one in training: itself, its gradients, two moments
    batches = 8 * (STEPS_DRAWN + 1) * settings.batch  # rows that they are drawn from
    return memories + networks + batches


class DeepCfr:
    """A training: value networks and memories that `iterate` improves."""

    def __init__(self, world: AnyWorld, settings: TrainingSettings, *, seed: int = 0) -> None:
        self.world = world
        self.settings = settings
        self.seed = check_seed(seed)
        self.iteration = 0
        self._fitting = Fitting(settings, world.distinct_observations)
        self.networks = [self._new_network(0, player) for player in range(world.players)]
        self.past_networks: list[list[Network]] = [[] for _ in range(world.players)]  # for the mixture
        self.advantage_memories = [
            self._new_memory(f"the advantage memory of player {player}", settings.advantage_capacity)
            for player in range(world.players)
        ]
        self.strategy_memory: Memory | None = None
        if settings.algorithm == "deep":
            self.strategy_memory = self._new_memory("the strategy memory", settings.strategy_capacity)

    @property
    def memory_bytes(self) -> int:
        """Bytes of memories and networks."""
        networks = [*self.networks, *(network for each in self.past_networks for network in each)]
        sizes = {id(network): sum(weights.nbytes for weights in network.parameters()) for network in networks}
        return sum(memory.memory_bytes for memory in self._memories().values()) + sum(sizes.values())

    def iterate(self) -> IterationReport:
        """One iteration: every player in turn."""
        began = time.perf_counter()
        self.iteration += 1
        before = self._seen()
        losses = []
        for player in range(self.world.players):
            self._collect(player)
            losses.append(self._fit_values(player))
        strategies = self.strategy_memory
        return IterationReport(
            iteration=self.iteration,
            seconds=time.perf_counter() - began,
            samples=self._seen() - before,
            value_losses=tuple(losses),
            advantage_fill=tuple(len(memory) / memory.capacity for memory in self.advantage_memories),
            strategy_fill=0.0 if strategies is None else len(strategies) / strategies.capacity,
        )

    def policy(self) -> NetworkPolicy | MixturePolicy:
        """The average strategy so far; asking for it leaves the training as it was."""
        if self.strategy_memory is None:
            if not self.iteration:  # of "deep", the untrained policy network can play
                raise EmptyMemory("the mixture of value networks")
            weights = mixture_weights(self.settings.weighting, self.iteration)
            return MixturePolicy([list(past) for past in self.past_networks], weights)
        network = self._new_network(self.iteration, EVERYONE)
        if self.iteration and not len(self.strategy_memory):  # nobody has had a choice yet
            return NetworkPolicy(network)
        seed = self._seed(EVERYONE, Purpose.BATCHES)
        self._fitting.policy(network, self.strategy_memory, iteration=self.iteration, seed=seed)
        return NetworkPolicy(network)

    def snapshot(self) -> dict[str, AnyArray]:
        """Everything the next iteration depends on, apart from world and settings; copies, by the names in files."""
        arrays: dict[str, AnyArray] = {
            "iteration": np.array(self.iteration, np.int64),
            "seed": np.array(self.seed, np.int64),
        }
        for player, network in enumerate(self.networks):
            arrays[f"value.{player}"] = _parameters(network)
            if self.settings.algorithm == "single" and self.past_networks[player]:
                arrays[f"past.{player}"] = np.stack([_parameters(past) for past in self.past_networks[player]])
        for prefix, memory in self._memories().items():
            arrays |= {f"{prefix}.{name}": array for name, array in memory.snapshot().items()}
        return arrays

    def restore(self, arrays: Mapping[str, AnyArray]) -> None:
        """Continue from a snapshot of the same world and settings: the next iteration is the same to the bit."""
        for prefix, memory in self._memories().items():
            memory.restore({name: _array(arrays, f"{prefix}.{name}") for name in MEMORY_ARRAYS})
        self.iteration = int(_array(arrays, "iteration"))
        self.seed = check_seed(int(_array(arrays, "seed")))
        for player in range(self.world.players):
            self.networks[player] = self._network_with(_array(arrays, f"value.{player}"))
            if self.settings.algorithm == "single":
                rows = arrays.get(f"past.{player}", ())
                self.past_networks[player] = [self._network_with(row) for row in rows]

    def _memories(self) -> dict[str, Memory]:
        """By the name of their arrays."""
        memories = {f"advantages.{player}": memory for player, memory in enumerate(self.advantage_memories)}
        return memories | ({"strategies": self.strategy_memory} if self.strategy_memory is not None else {})

    def _network_with(self, parameters: AnyArray) -> Network:
        network = self._new_network(0, 0)
        size = len(_parameters(network))
        if parameters.shape != (size,):
            raise InvalidOption("network", parameters.shape, f"does not fit a network of {size:,} parameters")
        vector_to_parameters(torch.as_tensor(parameters).to(self.world.device), network.parameters())
        return network

    def _collect(self, player: int) -> None:
        """K traversals for one player, into the memories."""
        traversal_random = self._generator(player, Purpose.TRAVERSAL)
        advantage_random = self._generator(player, Purpose.ADVANTAGE_MEMORY)
        strategy_random = self._generator(player, Purpose.STRATEGY_MEMORY)
        remaining = self.settings.traversals
        while remaining:
            count = min(remaining, self.settings.traversals_at_once)
            with matrix_precision(self.settings.precision, self.world.device):
                samples = traverse(self.world, self.networks, player, count, traversal_random)
            self.advantage_memories[player].add(samples.advantages, self.iteration, advantage_random)
            if self.strategy_memory is not None:
                self.strategy_memory.add(samples.strategies, self.iteration, strategy_random)
            remaining -= count

    def _fit_values(self, player: int) -> float:
        memory, network, loss = self.advantage_memories[player], self.networks[player], 0.0
        if len(memory):  # otherwise the player has had no choice yet
            if self.settings.from_scratch:
                network = self._new_network(self.iteration, player)
            seed = self._seed(player, Purpose.BATCHES)
            loss = self._fitting.values(network, memory, iteration=self.iteration, seed=seed)
            self.networks[player] = network
        if self.settings.algorithm == "single":
            self.past_networks[player].append(network if self.settings.from_scratch else copy.deepcopy(network))
        return loss

    def _seen(self) -> int:
        return sum(memory.seen for memory in self._memories().values())

    def _new_memory(self, name: str, capacity: int) -> Memory:
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
        seed = stream_seed(self.seed, iteration, player, Purpose.PARAMETERS)
        world, width = self.world, self.settings.width
        return new_network(world.encoder, actions=world.actions, width=width, seed=seed, device=world.device)

    def _generator(self, player: int, purpose: Purpose) -> torch.Generator:
        return torch.Generator(self.world.device).manual_seed(self._seed(player, purpose))

    def _seed(self, player: int, purpose: Purpose) -> int:
        return stream_seed(self.seed, self.iteration, player, purpose)


def _parameters(network: Network) -> NDArray[np.float32]:
    """All parameters as one vector."""
    vector: NDArray[np.float32] = parameters_to_vector(network.parameters()).detach().cpu().numpy().copy()
    return vector


def _array(arrays: Mapping[str, AnyArray], name: str) -> AnyArray:
    if name not in arrays:
        raise InvalidOption("snapshot", name, "is missing")
    return arrays[name]

"""External sampling, one state at a time: Algorithm 2 of the paper as it is written.

`traversal.py` must find the same samples, in distribution, and the same ones where nothing is random.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from regretless.deep.memories import Samples
from regretless.deep.traversal import Advantages, Found
from regretless.deep.worlds.world import TERMINAL, World

__all__ = ["traverse_one_by_one"]


def traverse_one_by_one(
    world: World[Any], networks: Sequence[Advantages], player: int, count: int, generator: torch.Generator
) -> Found:
    """`count` traversals for one player, one after another."""
    walk = _PlainTraversal(world, networks, player, generator)
    values = [walk.value(world.deal(1, generator)) for _ in range(count)]
    return Found(walk.collected(walk.advantages), walk.collected(walk.strategies), torch.tensor(values))


class _PlainTraversal:
    def __init__(
        self, world: World[Any], networks: Sequence[Advantages], player: int, generator: torch.Generator
    ) -> None:
        self.world, self.networks, self.player, self.generator = world, networks, player, generator
        self.advantages: list[tuple[Tensor, list[float]]] = []
        self.strategies: list[tuple[Tensor, list[float]]] = []

    @torch.no_grad()
    def value(self, state: Any) -> float:
        """What a sampled continuation is worth to the traverser."""
        world = self.world
        mover = int(world.player(state))
        if mover == TERMINAL:
            return float(world.utility(state, self.player))
        observation = world.observe(state)
        legal = world.legal(state)[0].tolist()
        strategy = matched(self.networks[mover](observation)[0].tolist(), legal)
        if mover != self.player:
            if sum(legal) > 1:
                self.strategies.append((observation, marked(strategy, legal)))
            drawn = int(torch.multinomial(torch.tensor(strategy, device=world.device), 1, generator=self.generator))
            return self.value(self.after(state, drawn))
        values = [self.value(self.after(state, action)) if legal[action] else 0.0 for action in range(len(legal))]
        expected = sum(probability * value for probability, value in zip(strategy, values, strict=True))
        if sum(legal) > 1:
            self.advantages.append((observation, marked([value - expected for value in values], legal)))
        return expected

    def after(self, state: Any, action: int) -> Any:
        return self.world.act(state, torch.tensor([action], device=self.world.device), self.generator)

    def collected(self, found: list[tuple[Tensor, list[float]]]) -> Samples:
        world = self.world
        nothing = torch.zeros((0, world.observation_size), dtype=world.observation_dtype, device=world.device)
        targets = torch.tensor([target for _, target in found], dtype=torch.float32, device=world.device)
        return Samples(torch.cat([nothing, *(row for row, _ in found)]), targets.reshape(-1, world.actions))


def matched(advantages: list[float], legal: list[bool]) -> list[float]:
    """Regret matching; where no advantage is positive, the largest is played.

    >>> matched([3.0, 1.0, 8.0], [True, True, False])
    [0.75, 0.25, 0.0]
    >>> matched([-3.0, -1.0, 8.0], [True, True, False])
    [0.0, 1.0, 0.0]
    """
    positive = [max(advantage, 0.0) if allowed else 0.0 for advantage, allowed in zip(advantages, legal, strict=True)]
    if (total := sum(positive)) > 0.0:
        return [advantage / total for advantage in positive]
    largest = max(advantage for advantage, allowed in zip(advantages, legal, strict=True) if allowed)
    best = [allowed and advantage == largest for advantage, allowed in zip(advantages, legal, strict=True)]
    return [float(chosen) / sum(best) for chosen in best]


def marked(numbers: list[float], legal: list[bool]) -> list[float]:
    """NaN where an action is not legal."""
    return [number if allowed else float("nan") for number, allowed in zip(numbers, legal, strict=True)]

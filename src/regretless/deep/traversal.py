"""External sampling (Algorithm 2 of the paper), thousands of traversals at once.

Down, one depth at a time for all states of that depth:

1. a terminal state has its utility;
2. the strategies of all decisions come from the value networks by regret matching, one call per player to move;
3. where the traverser decides, every legal action is taken; elsewhere one action is drawn from the strategy.

Then up again: the value of a traverser's decision is v = Σ σ(a) · v(a), and the advantages v(a) − v are a sample for
the advantage memory; the value of another player's decision is that of the drawn action, and its strategy is a sample
for the strategy memory. Chance is sampled by the world.

With two players, a decision appears among the strategies in proportion to how often its player's own play leads there,
which is the weight it has in the average strategy. With more players, how often the remaining ones let the game get
there counts too, so the average is only approximate; Single Deep CFR's is exact.

Decisions with a single legal action are not stored: their advantage is always 0 and their strategy always 1.

`traverse_one_by_one` is the reference: Algorithm 2 as it is written, one state at a time. `traverse` must return the
same samples, in distribution, and the same ones where nothing is random.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple

import torch
from torch import Tensor

from regretless.deep.memories import Samples
from regretless.deep.networks import regret_matching
from regretless.deep.worlds import TERMINAL, States, World

__all__ = ["Advantages", "TraversalSamples", "traverse", "traverse_one_by_one"]

Advantages = Callable[[Tensor], Tensor]  # observations [n, K] -> [n, A]: a value network


class TraversalSamples(NamedTuple):
    """The samples of some traversals."""

    advantages: Samples  # of the traverser
    strategies: Samples  # of the other players
    values: Tensor  # [count] value of each traversal to the traverser


@dataclass(frozen=True)
class _Depth:
    """The decisions of one depth. Children of the traverser's decisions come first, then one for each of `others`."""

    values: Tensor  # [states]  utilities of terminals; the values of decisions are filled on the way up
    own: Tensor  # [own]        rows of `values` where the traverser decides
    others: Tensor  # [others]  rows where another player does
    strategy: Tensor  # [own, A]
    legal: Tensor  # [own, A]
    observations: Tensor  # [own, K]
    parent: Tensor  # [own children]  rows of `own`
    action: Tensor  # [own children]


@torch.no_grad()
def traverse(
    world: World[States], networks: Sequence[Advantages], player: int, count: int, generator: torch.Generator
) -> TraversalSamples:
    """`count` traversals for one player; `networks` are the players' value networks."""
    depths: list[_Depth] = []
    strategies: list[Samples] = []
    states = world.deal(count, generator)
    while True:
        mover = world.player(states)
        values = torch.zeros(len(mover), device=world.device)
        over = (mover == TERMINAL).nonzero()[:, 0]
        values[over] = world.utility(world.select(states, over), player)
        own = (mover == player).nonzero()[:, 0]
        others = ((mover != player) & (mover != TERMINAL)).nonzero()[:, 0]
        if not len(own) + len(others):
            break
        rows = torch.cat((own, others))
        states = world.select(states, rows)
        legal, observations = world.legal(states), world.observe(states)
        strategy = _strategies(networks, mover[rows], observations, legal)

        split = len(own)
        parent, action = legal[:split].nonzero(as_tuple=True)
        drawn = torch.multinomial(strategy[split:], 1, generator=generator)[:, 0] if len(others) else others
        choice = (legal[split:].sum(dim=1) > 1).nonzero()[:, 0] + split
        strategies.append(Samples(observations[choice], strategy[choice].masked_fill(~legal[choice], torch.nan)))
        depths.append(
            _Depth(values, own, others, strategy[:split], legal[:split], observations[:split], parent, action)
        )
        following = torch.cat((parent, torch.arange(split, len(rows), device=world.device)))
        states = world.act(world.select(states, following), torch.cat((action, drawn)), generator)

    advantages: list[Samples] = []
    for depth in reversed(depths):
        split = len(depth.parent)
        of_action = torch.zeros(depth.legal.shape, device=world.device)
        of_action[depth.parent, depth.action] = values[:split]
        expected = (depth.strategy * of_action).sum(dim=1)
        choice = (depth.legal.sum(dim=1) > 1).nonzero()[:, 0]
        gains = (of_action - expected[:, None]).masked_fill(~depth.legal, torch.nan)
        advantages.append(Samples(depth.observations[choice], gains[choice]))
        depth.values[depth.own] = expected
        depth.values[depth.others] = values[split:]
        values = depth.values
    return TraversalSamples(_join_samples(advantages, world), _join_samples(strategies, world), values)


def _strategies(networks: Sequence[Advantages], mover: Tensor, observations: Tensor, legal: Tensor) -> Tensor:
    """[n, A] by regret matching on the advantages that the movers' networks predict."""
    advantages = torch.zeros(legal.shape, device=legal.device)
    for player, network in enumerate(networks):
        rows = (mover == player).nonzero()[:, 0]
        if len(rows):
            advantages[rows] = network(observations[rows]).float()
    return regret_matching(advantages, legal)


def _join_samples(samples: Sequence[Samples], world: World[States]) -> Samples:
    """All samples in one; none if no player had a choice."""
    if samples:
        return Samples(*(torch.cat(column) for column in zip(*samples, strict=True)))
    return Samples(
        torch.zeros((0, world.observation_size), dtype=world.observation_dtype, device=world.device),
        torch.zeros((0, world.actions), device=world.device),
    )


def traverse_one_by_one(
    world: World[States], networks: Sequence[Advantages], player: int, count: int, generator: torch.Generator
) -> TraversalSamples:
    """`count` traversals for one player, one after another."""
    walk = _PlainTraversal(world, networks, player, generator)
    values = [walk.value(world.deal(1, generator)) for _ in range(count)]
    return TraversalSamples(walk.samples(walk.advantages), walk.samples(walk.strategies), torch.tensor(values))


class _PlainTraversal(Generic[States]):
    """The recursion of Algorithm 2, and the samples that it has collected."""

    def __init__(
        self, world: World[States], networks: Sequence[Advantages], player: int, generator: torch.Generator
    ) -> None:
        self.world, self.networks, self.player, self.generator = world, networks, player, generator
        self.advantages: list[tuple[Tensor, list[float]]] = []
        self.strategies: list[tuple[Tensor, list[float]]] = []

    @torch.no_grad()
    def value(self, state: States) -> float:
        """The value of a sampled continuation to the traverser."""
        world = self.world
        mover = int(world.player(state))
        if mover == TERMINAL:
            return float(world.utility(state, self.player))
        observation = world.observe(state)
        legal = world.legal(state)[0].tolist()
        strategy = regret_matched(self.networks[mover](observation)[0].tolist(), legal)
        if mover != self.player:
            if sum(legal) > 1:
                self.strategies.append((observation, nan_if_illegal(strategy, legal)))
            drawn = int(torch.multinomial(torch.tensor(strategy, device=world.device), 1, generator=self.generator))
            return self.value(self._after(state, drawn))
        values = [self.value(self._after(state, action)) if legal[action] else 0.0 for action in range(len(legal))]
        expected = sum(probability * value for probability, value in zip(strategy, values, strict=True))
        if sum(legal) > 1:
            self.advantages.append((observation, nan_if_illegal([value - expected for value in values], legal)))
        return expected

    def _after(self, state: States, action: int) -> States:
        return self.world.act(state, torch.tensor([action], device=self.world.device), self.generator)

    def samples(self, rows: list[tuple[Tensor, list[float]]]) -> Samples:
        world = self.world
        empty = torch.zeros((0, world.observation_size), dtype=world.observation_dtype, device=world.device)
        targets = torch.tensor([target for _, target in rows], dtype=torch.float32, device=world.device)
        return Samples(
            torch.cat([empty, *(observation for observation, _ in rows)]), targets.reshape(-1, world.actions)
        )


def regret_matched(advantages: list[float], legal: list[bool]) -> list[float]:
    """Regret matching; where no advantage is positive, the largest is played.

    >>> regret_matched([3.0, 1.0, 8.0], [True, True, False])
    [0.75, 0.25, 0.0]
    >>> regret_matched([-3.0, -1.0, 8.0], [True, True, False])
    [0.0, 1.0, 0.0]
    """
    positive = [max(advantage, 0.0) if allowed else 0.0 for advantage, allowed in zip(advantages, legal, strict=True)]
    if (total := sum(positive)) > 0.0:
        return [advantage / total for advantage in positive]
    largest = max(advantage for advantage, allowed in zip(advantages, legal, strict=True) if allowed)
    best = [allowed and advantage == largest for advantage, allowed in zip(advantages, legal, strict=True)]
    return [float(chosen) / sum(best) for chosen in best]


def nan_if_illegal(numbers: list[float], legal: list[bool]) -> list[float]:
    """NaN where an action is not legal."""
    return [number if allowed else float("nan") for number, allowed in zip(numbers, legal, strict=True)]

"""External sampling (Algorithm 2 of the paper), thousands of traversals at once.

Down, one depth at a time for the whole frontier:

1. a state that is over is worth its utility;
2. the strategies of all decisions come from the value networks by regret matching, one call per player to move;
3. where the traverser decides, every legal action is taken; elsewhere one action is drawn from the strategy.

Then up again: a decision of the traverser is worth v = Σ σ(a) · v(a), and the advantages v(a) − v are a sample for the
advantage memory; another player's decision is worth what the drawn action is worth, and its strategy is a sample for
the strategy memory. Chance is sampled by the world.

With two players, a decision appears among the strategies in proportion to how often its player's own play leads there,
which is the weight it has in the average strategy. With more players, how often the remaining ones let the game get
there counts too, so the average is only approximate; Single Deep CFR's is exact.

Decisions with a single legal action are not stored: their advantage is always 0 and their strategy always 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regretless.deep.memories import Samples
from regretless.deep.networks.network import regret_matching
from regretless.deep.worlds.world import TERMINAL, World

__all__ = ["Advantages", "Found", "traverse"]

Advantages = Callable[[Tensor], Tensor]  # observations [n, K] -> [n, A]: a value network


class Found(NamedTuple):
    """The samples of some traversals."""

    advantages: Samples  # of the traverser
    strategies: Samples  # of the other players
    values: Tensor  # [count] what each traversal was worth to the traverser


@dataclass(frozen=True)
class _Depth:
    """The decisions of one depth. Children of the traverser's decisions come first, then one for each of `others`."""

    values: Tensor  # [states]  utilities where the game is over; filled on the way up elsewhere
    own: Tensor  # [own]        rows of `values` where the traverser decides
    others: Tensor  # [others]  rows where another player does
    strategy: Tensor  # [own, A]
    legal: Tensor  # [own, A]
    observations: Tensor  # [own, K]
    parent: Tensor  # [own children]  rows of `own`
    action: Tensor  # [own children]


@torch.no_grad()
def traverse(
    world: World[Any], networks: Sequence[Advantages], player: int, count: int, generator: torch.Generator
) -> Found:
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
    return Found(_joined(advantages, world), _joined(strategies, world), values)


def _strategies(networks: Sequence[Advantages], mover: Tensor, observations: Tensor, legal: Tensor) -> Tensor:
    """[n, A] by regret matching on the advantages that the movers' networks predict."""
    advantages = torch.zeros(legal.shape, device=legal.device)
    for player, network in enumerate(networks):
        rows = (mover == player).nonzero()[:, 0]
        if len(rows):
            advantages[rows] = network(observations[rows]).float()
    return regret_matching(advantages, legal)


def _joined(samples: Sequence[Samples], world: World[Any]) -> Samples:
    """All samples in one; none if no player had a choice."""
    if samples:
        return Samples(*(torch.cat(column) for column in zip(*samples, strict=True)))
    return Samples(
        torch.zeros((0, world.observation_size), dtype=world.observation_dtype, device=world.device),
        torch.zeros((0, world.actions), device=world.device),
    )

"""A batch of sampled deals as tensors, walked at once, depth by depth.

For one player i, with B deals side by side:

1. down    the node in every slot of every deal [slots, B], given by position where a player moves and sampled where
           chance does; on the way two reaches, π_i of the player's own actions and π_others of the other players'.
2. up      u(h) = payoff at a terminal, u(h·c) where chance sampled c, Σ_a σ(a) · u(h·a) where a player moves.
3. gather  r̃(I, a) = 1/B · Σ over deals and nodes h of I in them of π_others(h) · (u(h·a) − u(h)),
           and in the same way π_i(h) · σ(a) for the average.

A *slot* is a place in a walk: the root is slot 0 of depth 0; below it, the sampled child of a chance node is a slot,
and so is the child by a player's a-th action. In poker all deals have the same betting tree and every slot is used in
every deal; where shapes differ, a slot is left empty in the deals that have no node for it. So a batch is one array
[slots, B] per depth, whose rows have the same parents in every column.

The r̃ of a single deal is the estimate of chance sampling (`walks.py`); the mean of B of them has the same expectation
and 1/B of the variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from regretless.engines.sampling.random_numbers import FIRST, GAMMA, SECOND
from regretless.engines.sampling.tree import SamplingTree
from regretless.engines.sequence.torch_update import Segments
from regretless.forms.history import HistoryForm, IntArray
from regretless.games.game import CHANCE

__all__ = ["Deals", "SlotLevel", "own_pairs", "slot_levels"]


@dataclass(frozen=True)
class SlotLevel:
    """The slots of one depth. S slots here, A slots in the depth above."""

    parent: IntArray  # [S]      slot above, ascending
    position: IntArray  # [S]    index of the action that leads here; 0 after a chance move
    children: IntArray  # [A+1]  slots below slot a of the depth above are children[a] : children[a+1]
    drawn: IntArray  # [K]       slots that chance leads to in at least some deals
    entered: tuple[IntArray, ...]  # per player, the slots that their actions lead to in at least some deals


def slot_levels(form: HistoryForm) -> tuple[SlotLevel, ...]:
    """The depths below the root, in order."""
    parent = np.asarray(form.parent)
    mover = np.full(len(parent), CHANCE, np.int64)
    mover[1:] = form.player[parent[1:]]
    position = np.zeros(len(parent), np.int64)
    position[1:] = np.arange(1, len(parent)) - form.first_child[parent[1:]]
    position[mover == CHANCE] = 0
    widest = int(position.max(initial=0)) + 1
    slot = np.zeros(len(parent), np.int64)
    slots_above = 1
    levels = []
    for depth in range(1, len(form.level) - 1):
        here = slice(int(form.level[depth]), int(form.level[depth + 1]))
        places, slot[here] = np.unique(slot[parent[here]] * widest + position[here], return_inverse=True)
        levels.append(
            SlotLevel(
                parent=places // widest,
                position=places % widest,
                children=np.searchsorted(places // widest, np.arange(slots_above + 1)),
                drawn=np.unique(slot[here][mover[here] == CHANCE]),
                entered=tuple(np.unique(slot[here][mover[here] == player]) for player in range(form.players)),
            )
        )
        slots_above = len(places)
    return tuple(levels)


def own_pairs(form: HistoryForm, player: int) -> IntArray:
    """The pairs of one player, ascending."""
    return np.flatnonzero(np.repeat(form.information_set_player == player, np.diff(form.first_pair)))


def _signed(word: np.uint64) -> int:
    return int(word.astype(np.int64))


def _mixed(z: torch.Tensor) -> torch.Tensor:
    """`random_numbers.mixed` on signed words: PyTorch shifts copies of the sign in, which are masked out."""
    z = (z ^ ((z >> 30) & (2**34 - 1))) * _signed(FIRST)
    z = (z ^ ((z >> 27) & (2**37 - 1))) * _signed(SECOND)
    return z ^ ((z >> 31) & (2**33 - 1))


class _Level:
    """A `SlotLevel` on the device."""

    def __init__(self, level: SlotLevel, device: torch.device) -> None:
        self.parent = torch.as_tensor(level.parent, device=device)
        self.position = torch.as_tensor(level.position[:, None], device=device)
        self.children = Segments(level.children, device)
        self.drawn = torch.as_tensor(level.drawn, device=device)
        self.entered = [torch.as_tensor(slots, device=device) for slots in level.entered]

    @property
    def memory_bytes(self) -> int:
        index = self.parent.nbytes + self.position.nbytes + self.drawn.nbytes + sum(e.nbytes for e in self.entered)
        return index + self.children.memory_bytes


class Deals:
    """The game on a device. Entry N of a table over nodes, and entry Q of one over pairs, is that of an empty slot."""

    def __init__(
        self,
        form: HistoryForm,
        tree: SamplingTree,
        levels: tuple[SlotLevel, ...],
        *,
        batch_size: int,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        nodes, pairs = len(form.parent), int(form.first_pair[-1])
        chance = tree.node[:, 0] == CHANCE

        def table(values: NDArray[Any], empty: float, kind: torch.dtype) -> torch.Tensor:
            return torch.as_tensor(np.append(values, empty), dtype=kind, device=device)

        self.batch_size = batch_size
        self.device, self.dtype = device, dtype
        self.pairs, self.empty = pairs, nodes
        self.levels = [_Level(level, device) for level in levels]
        self.first_child = table(tree.node[:, 1], nodes, torch.int64)
        self.slots_below = table(np.where(chance, 1, tree.node[:, 2]), 0, torch.int64)
        self.outcomes = table(np.where(chance, tree.node[:, 2], 0), 0, torch.int64)
        self.accept = table(tree.accept, 1.0, dtype)
        self.alias = table(tree.alias, nodes, torch.int64)
        self.pair = table(np.where(form.pair >= 0, form.pair, pairs), pairs, torch.int64)
        payoff = np.zeros((form.players, nodes))
        payoff[:, form.terminal] = form.payoff.T
        self.payoff = [table(row, 0.0, dtype) for row in payoff]
        places = [own_pairs(form, player) for player in range(form.players)]
        self.own = [torch.as_tensor(place, device=device) for place in places]
        self.place = []  # per player: where a pair lies in their own table; past its end for pairs of others
        for place in places:
            where = np.full(pairs + 1, len(place))
            where[place] = np.arange(len(place))
            self.place.append(torch.as_tensor(where, device=device))
        self.draws = batch_size * sum(len(level.drawn) for level in levels)  # of one walk
        self.strategy = torch.ones(pairs + 1, dtype=dtype, device=device)
        self.random = torch.zeros(2, dtype=torch.int64, device=device)  # key, numbers drawn

    @property
    def memory_bytes(self) -> int:
        tables = [self.first_child, self.slots_below, self.outcomes, self.accept, self.alias, self.pair, self.strategy]
        return sum(t.nbytes for t in [*tables, *self.payoff, *self.own, *self.place]) + sum(
            level.memory_bytes for level in self.levels
        )

    def seed(self, key: int, drawn: int) -> None:
        """Set the random numbers; `key` is an unsigned 64-bit word."""
        self.random.copy_(torch.tensor([_signed(np.uint64(key)), drawn]))

    def sample(self, player: int) -> tuple[torch.Tensor, torch.Tensor]:
        """r̃ and π·σ over the player's own pairs, averaged over a new batch."""
        nodes, own, others = self._down(player)
        strategy = self.strategy
        place = self.place[player]
        index, regret, average = [], [], []  # of each depth: places in the player's table, and what is added there
        value = self.payoff[player][nodes[-1]]
        for depth in range(len(self.levels) - 1, -1, -1):
            level = self.levels[depth]
            weighed = strategy[self.pair[nodes[depth + 1]]] * value
            above = self.payoff[player][nodes[depth]] + level.children.sum(weighed)
            slots = level.entered[player]
            if len(slots):
                gain = value.index_select(0, slots) - above.index_select(0, level.parent.index_select(0, slots))
                index.append(place[self.pair[nodes[depth + 1].index_select(0, slots)]].flatten())
                regret.append((others[depth + 1].index_select(0, slots) * gain).flatten())
                average.append(own[depth + 1].index_select(0, slots).flatten())
            value = above
        if not index:  # the player never moves
            return self.strategy[:0], self.strategy[:0]
        return self._means(len(self.own[player]), torch.cat(index), torch.cat(regret), torch.cat(average))

    def _down(self, player: int) -> tuple[list[torch.Tensor], list[torch.Tensor], list[torch.Tensor]]:
        mine = torch.ones_like(self.strategy).index_copy_(0, self.own[player], self.strategy[self.own[player]])
        theirs = self.strategy.index_fill(0, self.own[player], 1.0)
        nodes = [torch.zeros((1, self.batch_size), dtype=torch.int64, device=self.device)]
        own = [torch.ones((1, self.batch_size), dtype=self.dtype, device=self.device)]
        others = [own[0]]
        for level in self.levels:
            above = nodes[-1].index_select(0, level.parent)
            here = self.first_child[above] + level.position
            here = torch.where(level.position < self.slots_below[above], here, self.empty)
            if len(level.drawn):
                here.index_copy_(0, level.drawn, self._drawn(above, here, level.drawn))
            pair = self.pair[here]
            nodes.append(here)
            own.append(own[-1].index_select(0, level.parent) * mine[pair])
            others.append(others[-1].index_select(0, level.parent) * theirs[pair])
        return nodes, own, others

    def _drawn(self, above: torch.Tensor, here: torch.Tensor, slots: torch.Tensor) -> torch.Tensor:
        """Sampled children of chance nodes, from the alias tables; slots below other nodes stay as they are.

        The upper 31 bits choose the outcome, the lower 24 whether it is kept: integers, equal on every device.
        """
        above, here = above.index_select(0, slots), here.index_select(0, slots)
        outcomes = self.outcomes[above]
        count = torch.arange(1, above.numel() + 1, device=self.device).view_as(above)
        bits = _mixed(self.random[0] + (self.random[1] + count) * _signed(GAMMA))
        self.random[1] += above.numel()
        child = self.first_child[above] + ((((bits >> 33) & (2**31 - 1)) * outcomes) >> 31)
        kept = (bits & (2**24 - 1)).to(self.dtype) * 2.0**-24 < self.accept[child]
        return torch.where(outcomes > 0, torch.where(kept, child, self.alias[child]), here)

    def _means(
        self, size: int, index: torch.Tensor, regret: torch.Tensor, average: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Sums over equal indices, always in the same order, divided by the batch size."""
        if self.device.type == "cuda":  # index_put_ sorts, once for both; index_add_ would race
            totals = torch.zeros((size + 1, 2), dtype=self.dtype, device=self.device)
            totals.index_put_((index,), torch.stack([regret, average], dim=1), accumulate=True)
            regrets, averages = totals.unbind(1)
        else:
            regrets, averages = (
                torch.zeros(size + 1, dtype=self.dtype, device=self.device).index_add_(0, index, values)
                for values in (regret, average)
            )
        return regrets[:size] / self.batch_size, averages[:size] / self.batch_size

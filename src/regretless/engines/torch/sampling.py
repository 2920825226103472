"""Chance-sampled CFR over batches of deals in PyTorch, on a CPU, a CUDA device or Apple's MPS.

For each player in turn, an iteration samples `batch_size` deals, walks all actions of all of them at once, and applies
the variant to the mean regret. A batch of one is chance sampling; the larger the batch, the closer an iteration comes
to one of full CFR, at a cost that grows with the batch and not with the number of possible deals. Information sets that
no deal of a batch visits have regret 0 in that iteration. Every variant can be used, because discounts, floors and
predictions see the mean of many deals instead of a single walk.

A batch of sampled deals is walked depth by depth. For one player i, with B deals side by side:

1. down    the node in every slot of every deal [slots, B], given by position where a player moves and sampled where
           chance does; on the way two reaches, π_i of the player's own actions and π_others of the other players'.
2. up      u(h) = payoff at a terminal, u(h·c) where chance sampled c, Σ_a σ(a) · u(h·a) where a player moves.
3. gather  r̃(I, a) = 1/B · Σ over deals and nodes h of I in them of π_others(h) · (u(h·a) − u(h)),
           and in the same way π_i(h) · σ(a) for the average.

A *slot* is a position in a walk: the root is slot 0 of depth 0; below it, the sampled child of a chance node is a slot,
and so is the child by a player's a-th action. In poker all deals have the same betting tree and every slot is used in
every deal; where shapes differ, a slot is left empty in the deals that have no node for it. So a batch is one array
[slots, B] per depth, whose rows have the same parents in every column.

The r̃ of a single deal is the estimate of chance sampling (`numba/sampling.py`); the mean of B of them has the same
expectation and 1/B of the variance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from regretless.engines.contract import LEARNED, Evaluation, Sampling, Snapshot
from regretless.engines.numba.sampling import exact_engine
from regretless.engines.sampling import FIRST_FACTOR, GAMMA, SECOND_FACTOR, SamplingTree, key_of, sampling_tree
from regretless.engines.torch.sequence import DTYPES, TOLERANCE, torch_device
from regretless.engines.torch.update import LearnedTensors, ScheduleRunner, Segments, update
from regretless.errors import InvalidOption, WouldNotFit
from regretless.forms.compile import uniform_array
from regretless.forms.history import AnyArray, FloatArray, HistoryForm, IntArray
from regretless.forms.memory import available_bytes, memory_bytes
from regretless.forms.normalise import normalise
from regretless.games.game import CHANCE
from regretless.seeds import check_seed
from regretless.variants.variant import Schedule

__all__ = ["Deals", "SlotLevel", "TorchSamplingEngine", "batch_bytes", "own_pairs", "slot_levels"]


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
        nodes = slice(int(form.level[depth]), int(form.level[depth + 1]))
        entries, slot[nodes] = np.unique(slot[parent[nodes]] * widest + position[nodes], return_inverse=True)
        levels.append(
            SlotLevel(
                parent=entries // widest,
                position=entries % widest,
                children=np.searchsorted(entries // widest, np.arange(slots_above + 1)),
                drawn=np.unique(slot[nodes][mover[nodes] == CHANCE]),
                entered=tuple(np.unique(slot[nodes][mover[nodes] == player]) for player in range(form.players)),
            )
        )
        slots_above = len(entries)
    return tuple(levels)


def own_pairs(form: HistoryForm, player: int) -> IntArray:
    """The pairs of one player, ascending."""
    return np.flatnonzero(np.repeat(form.information_set_player == player, np.diff(form.first_pair)))


def _signed(word: np.uint64) -> int:
    return int(word.astype(np.int64))


def _mix(z: torch.Tensor) -> torch.Tensor:
    """`engines.sampling.mix` on signed words: PyTorch shifts copies of the sign in, which are masked out."""
    z = (z ^ ((z >> 30) & (2**34 - 1))) * _signed(FIRST_FACTOR)
    z = (z ^ ((z >> 27) & (2**37 - 1))) * _signed(SECOND_FACTOR)
    return z ^ ((z >> 31) & (2**33 - 1))


class _LevelTensors:
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

        def table(values: AnyArray, empty: float, kind: torch.dtype) -> torch.Tensor:
            return torch.as_tensor(np.append(values, empty), dtype=kind, device=device)

        self.batch_size = batch_size
        self.device, self.dtype = device, dtype
        self.pairs, self.empty = pairs, nodes
        self.levels = [_LevelTensors(level, device) for level in levels]
        self.first_child = table(tree.node[:, 1], nodes, torch.int64)
        self.slots_below = table(np.where(chance, 1, tree.node[:, 2]), 0, torch.int64)
        self.outcomes = table(np.where(chance, tree.node[:, 2], 0), 0, torch.int64)
        self.accept = table(tree.accept, 1.0, dtype)
        self.alias = table(tree.alias, nodes, torch.int64)
        self.pair = table(np.where(form.pair >= 0, form.pair, pairs), pairs, torch.int64)
        payoff = np.zeros((form.players, nodes))
        payoff[:, form.terminal] = form.payoff.T
        self.payoff = [table(row, 0.0, dtype) for row in payoff]
        pairs_of = [own_pairs(form, player) for player in range(form.players)]
        self.own = [torch.as_tensor(own, device=device) for own in pairs_of]
        self.row = []  # per player: the row of every pair in their own table; for pairs of others, past its end
        for own in pairs_of:
            row = np.full(pairs + 1, len(own))
            row[own] = np.arange(len(own))
            self.row.append(torch.as_tensor(row, device=device))
        self.draws = batch_size * sum(len(level.drawn) for level in levels)  # of one walk
        self.strategy = torch.ones(pairs + 1, dtype=dtype, device=device)
        self.random = torch.zeros(2, dtype=torch.int64, device=device)  # key, numbers drawn

    @property
    def memory_bytes(self) -> int:
        tables = [self.first_child, self.slots_below, self.outcomes, self.accept, self.alias, self.pair, self.strategy]
        return sum(t.nbytes for t in [*tables, *self.payoff, *self.own, *self.row]) + sum(
            level.memory_bytes for level in self.levels
        )

    def seed(self, key: int, drawn: int) -> None:
        """Set the random numbers; `key` is an unsigned 64-bit word."""
        self.random.copy_(torch.tensor([_signed(np.uint64(key)), drawn]))

    def sample(self, player: int) -> tuple[torch.Tensor, torch.Tensor]:
        """r̃ and π·σ over the player's own pairs, averaged over a new batch."""
        nodes, own, others = self._down(player)
        strategy = self.strategy
        row = self.row[player]
        index, regret, average = [], [], []  # of each depth: rows of the player's table, and what is added to them
        value = self.payoff[player][nodes[-1]]
        for depth in range(len(self.levels) - 1, -1, -1):
            level = self.levels[depth]
            weighed = strategy[self.pair[nodes[depth + 1]]] * value
            above = self.payoff[player][nodes[depth]] + level.children.sum(weighed)
            slots = level.entered[player]
            if len(slots):
                gain = value.index_select(0, slots) - above.index_select(0, level.parent.index_select(0, slots))
                index.append(row[self.pair[nodes[depth + 1].index_select(0, slots)]].flatten())
                regret.append((others[depth + 1].index_select(0, slots) * gain).flatten())
                average.append(own[depth + 1].index_select(0, slots).flatten())
            value = above
        if not index:  # the player never moves
            return self.strategy[:0], self.strategy[:0]
        return self._means(len(self.own[player]), torch.cat(index), torch.cat(regret), torch.cat(average))

    def _down(self, player: int) -> tuple[list[torch.Tensor], list[torch.Tensor], list[torch.Tensor]]:
        own_strategy = torch.ones_like(self.strategy).index_copy_(0, self.own[player], self.strategy[self.own[player]])
        others_strategy = self.strategy.index_fill(0, self.own[player], 1.0)
        nodes = [torch.zeros((1, self.batch_size), dtype=torch.int64, device=self.device)]
        own = [torch.ones((1, self.batch_size), dtype=self.dtype, device=self.device)]
        others = [own[0]]
        for level in self.levels:
            above = nodes[-1].index_select(0, level.parent)
            below = self.first_child[above] + level.position
            below = torch.where(level.position < self.slots_below[above], below, self.empty)
            if len(level.drawn):
                below.index_copy_(0, level.drawn, self._draw(above, below, level.drawn))
            pair = self.pair[below]
            nodes.append(below)
            own.append(own[-1].index_select(0, level.parent) * own_strategy[pair])
            others.append(others[-1].index_select(0, level.parent) * others_strategy[pair])
        return nodes, own, others

    def _draw(self, above: torch.Tensor, below: torch.Tensor, slots: torch.Tensor) -> torch.Tensor:
        """Sample children of chance nodes from the alias tables; slots below other nodes stay as they are.

        The upper 31 bits choose the outcome, the lower 24 whether it is kept: integers, equal on every device.
        """
        above, below = above.index_select(0, slots), below.index_select(0, slots)
        outcomes = self.outcomes[above]
        count = torch.arange(1, above.numel() + 1, device=self.device).view_as(above)
        bits = _mix(self.random[0] + (self.random[1] + count) * _signed(GAMMA))
        self.random[1] += above.numel()
        child = self.first_child[above] + ((((bits >> 33) & (2**31 - 1)) * outcomes) >> 31)
        accepted = (bits & (2**24 - 1)).to(self.dtype) * 2.0**-24 < self.accept[child]
        return torch.where(outcomes > 0, torch.where(accepted, child, self.alias[child]), below)

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


def batch_bytes(levels: tuple[SlotLevel, ...], batch_size: int, number_bytes: int) -> int:
    """Bytes that walking a batch takes.

    A node and two reaches per slot; a row and two gains, concatenated and sorted, per slot that one player's actions
    lead to; and temporary copies of the widest depth.
    """
    widths = [1, *(len(level.parent) for level in levels)]
    players = range(len(levels[0].entered) if levels else 0)
    entered = max((sum(len(level.entered[player]) for level in levels) for player in players), default=0)
    gathered = entered * (4 * 8 + 6 * number_bytes)
    return batch_size * (sum(widths) * (8 + 2 * number_bytes) + gathered + max(widths) * (6 * 8 + 4 * number_bytes))


class _SampledPlayer:
    """What CFR keeps for one player, over their own pairs."""

    def __init__(self, form: HistoryForm, player: int, device: torch.device, dtype: torch.dtype) -> None:
        counts = np.diff(form.first_pair)[form.information_set_player == player]
        self.actions = Segments(np.append(0, np.cumsum(counts)), device)
        self.set_of = torch.as_tensor(np.repeat(np.arange(len(counts)), counts), device=device)
        self.uniform = torch.as_tensor(np.repeat(1.0 / counts, counts), dtype=dtype, device=device)
        zeros = torch.zeros_like(self.uniform)
        self.tables = LearnedTensors(regret=zeros, average=zeros.clone(), strategy=self.uniform.clone())


class TorchSamplingEngine:
    """`batch_size` sampled deals per iteration and player, walked at once; any number of players."""

    name = "torch"

    def __init__(
        self,
        form: HistoryForm,
        *,
        sampling: Sampling = Sampling.CHANCE,  # the only one it knows
        batch_size: int = 1024,
        seed: int = 0,
        device: str = "cpu",
        dtype: str = "float32",
        graph: bool = True,  # whether an iteration is recorded on CUDA
    ) -> None:
        if sampling is not Sampling.CHANCE:
            raise InvalidOption("sampling", str(sampling), "must be chance where deals are drawn in batches")
        if batch_size < 1:
            raise InvalidOption("batch_size", batch_size, "must be at least 1")
        on_device = torch_device(device, dtype)
        number = DTYPES[dtype]
        levels = slot_levels(form)
        self._walk_bytes = batch_bytes(levels, batch_size, number.itemsize)
        available = torch.cuda.mem_get_info(on_device)[0] if on_device.type == "cuda" else available_bytes()
        if self._walk_bytes > available:
            raise WouldNotFit(f"a batch of {batch_size:,} deals", needed=self._walk_bytes, available=available)
        self.form = form
        self.seed = check_seed(seed)
        self.batch_size = batch_size
        self.device = on_device.type
        self.threads = torch.get_num_threads() if on_device.type == "cpu" else 1
        self.tolerance = TOLERANCE[dtype]
        self.iteration = 0
        self._deals = Deals(form, sampling_tree(form), levels, batch_size=batch_size, device=on_device, dtype=number)
        self._deals.seed(key_of(seed), 0)
        self._players = [_SampledPlayer(form, player, on_device, number) for player in range(form.players)]
        self._scatter(self._deals.strategy, uniform_array(form))
        self._schedule = ScheduleRunner(on_device, number, graph=graph)
        self._evaluator = exact_engine(form)  # compiles kernels, which is part of setup

    @property
    def memory_bytes(self) -> int:
        tables = sum(5 * learner.uniform.nbytes + learner.set_of.nbytes for learner in self._players)
        deals = memory_bytes(self.form) + self._deals.memory_bytes + self._walk_bytes
        return deals + tables + self._evaluator.memory_bytes

    def advance(self, schedule: Schedule) -> None:
        state = [tensor for learner in self._players for tensor in vars(learner.tables).values()]
        self._schedule.run(schedule, self._step, [*state, self._deals.strategy, self._deals.random])
        self.iteration += len(schedule)

    def _step(self) -> None:
        weights = self._schedule.next_row()
        for player, learner in enumerate(self._players):
            regret, average = self._deals.sample(player)
            update(learner.tables, weights, regret, average, learner.actions, learner.set_of, learner.uniform)
            self._deals.strategy.index_copy_(0, self._deals.own[player], learner.tables.strategy)

    def average_strategy(self) -> FloatArray:
        return normalise(self._gather("average"), self.form.first_pair)

    def evaluate(self, strategy: FloatArray | None = None) -> Evaluation:
        return self._evaluator.evaluate(self.average_strategy() if strategy is None else strategy)

    def snapshot(self, *, copy: bool = True) -> Snapshot:
        """The arrays that CFR updates, with the seed and the number of random numbers drawn."""
        arrays = {name: self._gather(name) for name in LEARNED}
        arrays["sampler"] = np.array([self.seed, int(self._deals.random[1]), 1.0, 1.0])
        return Snapshot(self.iteration, arrays)

    def restore(self, snapshot: Snapshot) -> None:
        """Resume from a snapshot with its random numbers, or with this engine's own if it has none."""
        self.iteration = snapshot.iteration
        for learner, own in zip(self._players, self._deals.own):
            pairs = own.cpu().numpy()
            for name in LEARNED:
                self._scatter(getattr(learner.tables, name), snapshot.arrays[name][pairs])
        self._scatter(self._deals.strategy, snapshot.arrays["strategy"])
        if (sampler := snapshot.arrays.get("sampler")) is not None:
            self.seed = int(sampler[0])
            self._deals.seed(key_of(self.seed), int(sampler[1]))

    def _gather(self, name: str) -> FloatArray:
        pairs = np.zeros(int(self.form.first_pair[-1]))
        for learner, own in zip(self._players, self._deals.own):
            pairs[own.cpu().numpy()] = getattr(learner.tables, name).to("cpu", torch.float64).numpy()
        return pairs

    def _scatter(self, tensor: torch.Tensor, values: FloatArray) -> None:
        tensor[: len(values)].copy_(torch.as_tensor(values).to(tensor.dtype))

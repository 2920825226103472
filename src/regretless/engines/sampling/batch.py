"""Chance-sampled CFR over batches of deals in PyTorch, on a CPU, a CUDA device or Apple's MPS.

For each player in turn, an iteration samples `batch_size` deals, walks all actions of all of them at once (`deals.py`)
and applies the variant to the mean regret. A batch of one is chance sampling; the larger the batch, the closer an
iteration comes to one of full CFR, at a cost that grows with the batch and not with the number of possible deals.
Information sets that no deal of a batch visits have regret 0 in that iteration. Every variant can be used, because
discounts, floors and predictions see the mean of many deals instead of a single walk.
"""

from __future__ import annotations

import numpy as np
import torch

from regretless.engines.contract import LEARNED, Evaluation, Sampling, Snapshot
from regretless.engines.sampling.deals import Deals, SlotLevel, slot_levels
from regretless.engines.sampling.random_numbers import key_of
from regretless.engines.sampling.tree import sampling_tree
from regretless.engines.sampling.walks import exact_engine
from regretless.engines.sequence.numpy_engine import normalise
from regretless.engines.sequence.torch_engine import DTYPES, TOLERANCE, torch_device
from regretless.engines.sequence.torch_update import ScheduleTable, Segments, Tables, update
from regretless.errors import InvalidOption, WouldNotFit
from regretless.forms.compile import uniform_array
from regretless.forms.history import FloatArray, HistoryForm
from regretless.forms.memory import available_bytes, memory_bytes
from regretless.seeds import check_seed
from regretless.variants.variant import Schedule

__all__ = ["BatchSamplingEngine", "batch_bytes"]


def batch_bytes(levels: tuple[SlotLevel, ...], batch_size: int, number_bytes: int) -> int:
    """Bytes that walking a batch takes.

    A node and two reaches per slot; a place and two gains, concatenated and sorted, per slot that one player's actions
    lead to; and temporary copies of the widest depth.
    """
    widths = [1, *(len(level.parent) for level in levels)]
    players = range(len(levels[0].entered) if levels else 0)
    entered = max((sum(len(level.entered[player]) for level in levels) for player in players), default=0)
    gathered = entered * (4 * 8 + 6 * number_bytes)
    return batch_size * (sum(widths) * (8 + 2 * number_bytes) + gathered + max(widths) * (6 * 8 + 4 * number_bytes))


class _Seat:
    """What CFR keeps for one player, over their own pairs."""

    def __init__(self, form: HistoryForm, player: int, device: torch.device, dtype: torch.dtype) -> None:
        counts = np.diff(form.first_pair)[form.information_set_player == player]
        self.actions = Segments(np.append(0, np.cumsum(counts)), device)
        self.set_of = torch.as_tensor(np.repeat(np.arange(len(counts)), counts), device=device)
        self.uniform = torch.as_tensor(np.repeat(1.0 / counts, counts), dtype=dtype, device=device)
        zeros = torch.zeros_like(self.uniform)
        self.tables = Tables(regret=zeros, average=zeros.clone(), strategy=self.uniform.clone())


class BatchSamplingEngine:
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
        where = torch_device(device, dtype)
        number = DTYPES[dtype]
        levels = slot_levels(form)
        self._walk_bytes = batch_bytes(levels, batch_size, number.itemsize)
        available = torch.cuda.mem_get_info(where)[0] if where.type == "cuda" else available_bytes()
        if self._walk_bytes > available:
            raise WouldNotFit(f"a batch of {batch_size:,} deals", needed=self._walk_bytes, available=available)
        self.form = form
        self.seed = check_seed(seed)
        self.batch_size = batch_size
        self.device = where.type
        self.threads = torch.get_num_threads() if where.type == "cpu" else 1
        self.tolerance = TOLERANCE[dtype]
        self.iteration = 0
        self._deals = Deals(form, sampling_tree(form), levels, batch_size=batch_size, device=where, dtype=number)
        self._deals.seed(key_of(seed), 0)
        self._seats = [_Seat(form, player, where, number) for player in range(form.players)]
        self._scatter(self._deals.strategy, uniform_array(form))
        self._schedule = ScheduleTable(where, number, graph=graph)
        self._evaluator = exact_engine(form)  # compiles kernels, which is part of setup

    @property
    def memory_bytes(self) -> int:
        tables = sum(5 * seat.uniform.nbytes + seat.set_of.nbytes for seat in self._seats)
        held = memory_bytes(self.form) + self._deals.memory_bytes + self._walk_bytes + tables
        return held + self._evaluator.memory_bytes

    def advance(self, schedule: Schedule) -> None:
        state = [tensor for seat in self._seats for tensor in vars(seat.tables).values()]
        self._schedule.run(schedule, self._step, [*state, self._deals.strategy, self._deals.random])
        self.iteration += len(schedule)

    def _step(self) -> None:
        weights = self._schedule.take()
        for player, seat in enumerate(self._seats):
            regret, average = self._deals.sample(player)
            update(seat.tables, weights, regret, average, seat.actions, seat.set_of, seat.uniform)
            self._deals.strategy.index_copy_(0, self._deals.own[player], seat.tables.strategy)

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
        for seat, own in zip(self._seats, self._deals.own):
            place = own.cpu().numpy()
            for name in LEARNED:
                self._scatter(getattr(seat.tables, name), snapshot.arrays[name][place])
        self._scatter(self._deals.strategy, snapshot.arrays["strategy"])
        if (sampler := snapshot.arrays.get("sampler")) is not None:
            self.seed = int(sampler[0])
            self._deals.seed(key_of(self.seed), int(sampler[1]))

    def _gather(self, name: str) -> FloatArray:
        pairs = np.zeros(int(self.form.first_pair[-1]))
        for seat, own in zip(self._seats, self._deals.own):
            pairs[own.cpu().numpy()] = getattr(seat.tables, name).to("cpu", torch.float64).numpy()
        return pairs

    def _scatter(self, tensor: torch.Tensor, values: FloatArray) -> None:
        tensor[: len(values)].copy_(torch.as_tensor(values).to(tensor.dtype))

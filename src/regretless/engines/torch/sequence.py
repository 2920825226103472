"""CFR in PyTorch, on a CPU, a CUDA device or Apple's MPS: tensor operations over sequences, for any number of players.

For the updating player, with x the others' realization plans:

1. q(s) = Σ value · x                               over the terms that end s: gathers, products, one sum of slices
2. from the deepest level up, in each set:          q(s) += sum of v over the sets below s
                                                    v = Σ σ(s) q(s)
3. r(s) = q(s) − v, and the update of `update.py`, over all levels at once
4. from the root down:                              plan(s) = plan(sequence above) · σ(s)

Every tensor is over sequences in the order of `sequence_layout.py`; an optional second axis holds the games of a batch,
which share trees and columns and differ in payoffs. `GameTables` has the game and one iteration of it,
`TorchSequenceSolve` runs a schedule of them, and `TorchEngine` is one game as the solving loop uses it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from regretless.engines.contract import LEARNED, Evaluation, Snapshot, Updates
from regretless.engines.sequence_layout import Terms, TreeLayout, lay_out, slices, terms_of
from regretless.engines.torch.update import LearnedTensors, ScheduleRunner, Segments, match, update
from regretless.errors import InvalidOption
from regretless.forms.compile import check_strategy
from regretless.forms.history import FloatArray, HistoryForm
from regretless.forms.sequence import SequenceForm, SequenceTree
from regretless.variants.variant import Schedule

__all__ = ["DTYPES", "TOLERANCE", "TorchEngine", "TorchSequenceSolve", "estimate", "torch_device"]

DTYPES = {"float32": torch.float32, "float64": torch.float64}
TOLERANCE = {"float32": 1e-4, "float64": 1e-10}  # of results of order 1, after some tens of iterations


def torch_device(name: str, dtype: str) -> torch.device:
    """The device of that name, if it exists and supports the number format."""
    if dtype not in DTYPES:
        raise InvalidOption("dtype", dtype, "must be float32 or float64")
    kind = name.split(":")[0]
    if kind not in ("cpu", "cuda", "mps"):
        raise InvalidOption("device", name, "must be cpu, cuda or mps")
    if kind == "cuda" and not torch.cuda.is_available():
        raise InvalidOption("device", name, "is not available: PyTorch sees no CUDA device")
    if kind == "mps" and not torch.backends.mps.is_available():
        raise InvalidOption("device", name, "is not available on this machine")
    if kind == "mps" and dtype == "float64":
        raise InvalidOption("dtype", dtype, "is not available on MPS, which computes in float32")
    return torch.device(name)


@dataclass(frozen=True)
class _LevelOnDevice:
    """One level of a tree; `begin : end` are its sequences, `first_set : last_set` its sets."""

    begin: int
    end: int
    first_set: int
    last_set: int
    actions: Segments  # sequences of each set
    below: Segments  # sets of the next level below each sequence
    parent: torch.Tensor  # [sequences of the level]


class _SequencePlayer:
    """One player: tree, payoffs and tables."""

    def __init__(
        self, player: int, layouts: list[TreeLayout], terms: Terms, device: torch.device, dtype: torch.dtype
    ) -> None:
        layout = layouts[player]
        batch = terms.value.shape[1:]
        self.layout = layout
        self.others = [other for other in range(len(layouts)) if other != player]
        self.actions = Segments(layout.first - 1, device)
        self.set_of = torch.as_tensor(layout.set_of[1:], device=device)
        levels = layout.level.shape[1] - 1 if layout.sets else 0
        self.levels = [_level(layout, number, device) for number in range(levels)]

        counts = np.diff(terms.start)[layout.sequence].astype(np.int64)
        bounds = slices(counts)
        entry = np.repeat(np.asarray(terms.start)[:-1][layout.sequence] - bounds[:-1], counts) + np.arange(bounds[-1])
        self.rows = Segments(bounds, device)
        self.columns = [
            torch.as_tensor(layouts[other].number[np.asarray(column)[entry]], device=device)
            for other, column in zip(self.others, terms.columns)
        ]
        self.value = torch.as_tensor(np.asarray(terms.value, dtype=np.float64)[entry]).to(device, dtype)

        uniform = torch.as_tensor(1.0 / np.diff(layout.first)[layout.set_of[1:]]).to(device, dtype)
        self.uniform = uniform.unsqueeze(1).expand(-1, *batch) if batch else uniform
        zeros = torch.zeros(self.uniform.shape, dtype=dtype, device=device)
        self.learned = LearnedTensors(zeros, zeros.clone(), self.uniform.clone())
        self.plan = torch.ones((layout.sequences, *batch), dtype=dtype, device=device)
        self.set_values = torch.zeros((layout.sets, *batch), dtype=dtype, device=device)  # v of each set

    def payoffs(self, plans: list[torch.Tensor]) -> torch.Tensor:
        """q before the sweep: the payoff of each sequence from the terminals that end it."""
        terms = self.value
        for other, column in zip(self.others, self.columns):
            terms = plans[other].index_select(0, column).mul_(terms)
        return self.rows.sum(terms)

    def sweep_up(self, q: torch.Tensor, strategy: torch.Tensor | None) -> None:
        """Add the value of what follows to q, and fill `set_values`; a best response if no strategy is given."""
        for number in range(len(self.levels) - 1, -1, -1):
            level = self.levels[number]
            q_level = q[level.begin : level.end]
            if not level.below.empty:
                following = self.levels[number + 1]
                q_level += level.below.sum(self.set_values[following.first_set : following.last_set])
            if strategy is None:
                set_values = level.actions.max(q_level)
            else:
                set_values = level.actions.sum(q_level * strategy[level.begin - 1 : level.end - 1])
            self.set_values[level.first_set : level.last_set] = set_values

    def sweep_down(self, strategy: torch.Tensor, plan: torch.Tensor) -> None:
        for level in self.levels:
            above = plan.index_select(0, level.parent)
            torch.mul(above, strategy[level.begin - 1 : level.end - 1], out=plan[level.begin : level.end])

    def root_value(self, q: torch.Tensor) -> torch.Tensor:
        """Value of the empty sequence after a sweep up."""
        return q[0] + self.set_values[: self.levels[0].last_set].sum(0) if self.levels else q[0]

    def matched(self, positive: torch.Tensor) -> torch.Tensor:
        """A strategy proportional to non-negative numbers."""
        return match(positive, self.actions, self.set_of, self.uniform) if self.levels else positive

    @property
    def tensors(self) -> list[torch.Tensor]:
        """All its tensors."""
        tensors: list[torch.Tensor] = [*vars(self.learned).values(), self.plan, self.set_values, self.uniform]
        tensors += [*self.columns, self.value, self.set_of, self.rows.bounds, self.actions.bounds]
        for level in self.levels:
            tensors += [level.parent, level.actions.bounds, level.below.bounds]
        return tensors


def _level(layout: TreeLayout, number: int, device: torch.device) -> _LevelOnDevice:
    first_set, last_set = (int(bound) for bound in layout.level[1, number : number + 2])
    begin, end = int(layout.first[first_set]), int(layout.first[last_set])
    below = np.diff(layout.children[begin:end], axis=1)[:, 0]
    return _LevelOnDevice(
        begin,
        end,
        first_set,
        last_set,
        Segments(layout.first[first_set : last_set + 1] - begin, device),
        Segments(slices(below), device),
        torch.as_tensor(layout.parent[begin:end], device=device),
    )


class GameTables:
    """A game on a device, with the state of CFR."""

    def __init__(
        self, trees: tuple[SequenceTree, ...], terms: tuple[Terms, ...], device: torch.device, dtype: torch.dtype
    ) -> None:
        layouts = [lay_out(tree, np.diff(term.start)) for tree, term in zip(trees, terms)]
        self.players = [_SequencePlayer(player, layouts, terms[player], device, dtype) for player in range(len(trees))]
        self.pairs = sum(layout.sequences - 1 for layout in layouts)
        self.batch = terms[0].value.shape[1:]
        self.device, self.dtype = device, dtype
        self.replan()

    def play(self, players: tuple[int, ...], weights: dict[str, torch.Tensor]) -> None:
        """Update these players against the others' current strategies."""
        plans = [player.plan for player in self.players]
        updating = [self.players[player] for player in players if self.players[player].levels]
        regrets = []
        for player in updating:
            q = player.payoffs(plans)
            player.sweep_up(q, player.learned.strategy)
            regrets.append(q[1:].sub_(player.set_values.index_select(0, player.set_of)))
        for player, regret in zip(updating, regrets):
            update(player.learned, weights, regret, player.plan[1:], player.actions, player.set_of, player.uniform)
            player.sweep_down(player.learned.strategy, player.plan)

    def replan(self) -> None:
        """Recompute the plans from the strategies."""
        for player in self.players:
            player.sweep_down(player.learned.strategy, player.plan)

    def average(self) -> list[torch.Tensor]:
        """The average strategy of each player."""
        return [player.matched(player.learned.average) for player in self.players]

    def evaluate(self, strategies: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        """Values and best-response values, [players] or [players, games]."""
        plans = [torch.ones_like(player.plan) for player in self.players]
        for player, strategy, plan in zip(self.players, strategies, plans):
            player.sweep_down(strategy, plan)
        values, best = [], []
        for player, plan in zip(self.players, plans):
            q = player.payoffs(plans)
            values.append((q * plan).sum(0))
            player.sweep_up(q, None)
            best.append(player.root_value(q))
        return torch.stack(values), torch.stack(best)

    def to_pairs(self, parts: list[torch.Tensor]) -> FloatArray:
        """One array over the pairs of the history form from a tensor per player: [pairs] or [games, pairs]."""
        array = np.zeros((self.pairs, *self.batch))
        for player, part in zip(self.players, parts):
            array[player.layout.pair[1:]] = part.to("cpu").to(torch.float64).numpy()
        return np.ascontiguousarray(array.T) if self.batch else array

    def from_pairs(self, array: FloatArray) -> list[torch.Tensor]:
        """The reverse: a tensor per player from one array over pairs."""
        columns = np.asarray(array, dtype=np.float64).T
        return [
            torch.as_tensor(columns[player.layout.pair[1:]]).to(self.dtype).to(self.device) for player in self.players
        ]

    @property
    def learned(self) -> list[LearnedTensors]:
        return [player.learned for player in self.players]

    @property
    def memory_bytes(self) -> int:
        return sum(tensor.nbytes for player in self.players for tensor in player.tensors)


class TorchSequenceSolve:
    """Tables on a device and the loop over a schedule, for one game or a batch."""

    def __init__(
        self,
        trees: tuple[SequenceTree, ...],
        terms: tuple[Terms, ...],
        *,
        updates: Updates,
        device: torch.device,
        dtype: torch.dtype,
        graph: bool,
    ) -> None:
        self.game = GameTables(trees, terms, device, dtype)
        self.schedule = ScheduleRunner(device, dtype, graph=graph)
        everyone = tuple(range(len(trees)))
        self.turns = [everyone] if updates is Updates.SIMULTANEOUS else [(player,) for player in everyone]

    def advance(self, schedule: Schedule) -> None:
        """Run one iteration per row of `schedule`."""
        state = [tensor for player in self.game.players for tensor in (*vars(player.learned).values(), player.plan)]
        self.schedule.run(schedule, self._step, state)

    def _step(self) -> None:
        weights = self.schedule.next_row()
        for players in self.turns:
            self.game.play(players, weights)

    def snapshot(self, iteration: int) -> Snapshot:
        game = self.game
        arrays = {name: game.to_pairs([getattr(table, name) for table in game.learned]) for name in LEARNED}
        return Snapshot(iteration, arrays)

    def restore(self, snapshot: Snapshot) -> None:
        game = self.game
        for name in LEARNED:
            for table, values in zip(game.learned, game.from_pairs(snapshot.arrays[name])):
                getattr(table, name).copy_(values)
        game.replan()

    def average_strategy(self) -> FloatArray:
        return self.game.to_pairs(self.game.average())

    def evaluate(self, strategy: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """Values and best-response values on the host, [players] or [players, games]."""
        with torch.no_grad():
            strategies = self.game.average() if strategy is None else self.game.from_pairs(strategy)
            values, best = self.game.evaluate(strategies)
            both = torch.stack([values, best]).to("cpu").to(torch.float64).numpy()
        return both[0], both[1]


def estimate(form: SequenceForm | HistoryForm, *, dtype: str = "float32", threads: int | None = None) -> int:
    """Bytes of all tensors: terms with their columns, what CFR updates, and the slices of levels."""
    history = form.history if isinstance(form, SequenceForm) else form
    number, sets, pairs = DTYPES[dtype].itemsize, len(history.keys), int(history.first_pair[-1])
    if isinstance(form, SequenceForm):
        terms = sum(len(matrix.value) for matrix in form.payoff)
    else:
        terms = history.players * len(history.terminal)
    payoffs = terms * (number + 8 * (history.players - 1)) + 8 * (pairs + history.players)
    return payoffs + pairs * (5 * number + 3 * 8) + sets * (number + 2 * 8)


class TorchEngine:
    """One game in PyTorch: two players by the sequence form, any number by the history form."""

    name = "torch"

    def __init__(
        self,
        form: SequenceForm | HistoryForm,
        *,
        updates: Updates = Updates.ALTERNATING,
        device: str = "cpu",
        dtype: str = "float32",
        threads: int | None = None,
        graph: bool = True,
    ) -> None:
        on_device = torch_device(device, dtype)
        if threads is not None and on_device.type == "cpu":
            torch.set_num_threads(threads)  # of the whole process: PyTorch knows no other way
        trees, terms = terms_of(form)
        self._solve = TorchSequenceSolve(
            trees, terms, updates=updates, device=on_device, dtype=DTYPES[dtype], graph=graph
        )
        self.form = form.history if isinstance(form, SequenceForm) else form
        self.device = on_device.type
        self.threads = torch.get_num_threads() if on_device.type == "cpu" else 1
        self.tolerance = TOLERANCE[dtype]
        self.updates = updates
        self.iteration = 0

    @property
    def memory_bytes(self) -> int:
        return self._solve.game.memory_bytes

    def advance(self, schedule: Schedule) -> None:
        self._solve.advance(schedule)
        self.iteration += len(schedule)

    def average_strategy(self) -> FloatArray:
        return self._solve.average_strategy()

    def evaluate(self, strategy: FloatArray | None = None) -> Evaluation:
        values, best = self._solve.evaluate(None if strategy is None else check_strategy(self.form, strategy))
        return Evaluation(values=tuple(values.tolist()), best_response_values=tuple(best.tolist()))

    def snapshot(self, *, copy: bool = True) -> Snapshot:
        return self._solve.snapshot(self.iteration)

    def restore(self, snapshot: Snapshot) -> None:
        self._solve.restore(snapshot)
        self.iteration = snapshot.iteration

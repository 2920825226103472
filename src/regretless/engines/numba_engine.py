"""CFR in compiled code on the CPU: the engine to use unless there is a reason for another.

1. `numba_layout.py` renumbers the sequences so that each pass is a loop over adjacent numbers.
2. `payoff_rows.py` rewrites the payoff matrix of a two-player game so that a product touches a fraction of its entries.
3. `_numba_kernels.py` runs the passes of an iteration, and a whole schedule of iterations in one call, without Python
   and without allocating, while other Python threads go on.

Everything CFR needs is exact: nothing is pruned or skipped. Evaluation is in float64 whatever the engine's own format.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from regretless.engines import _numba_kernels as kernels
from regretless.engines.engine import Evaluation, Snapshot, Updates
from regretless.engines.numba_layout import lay_out
from regretless.engines.numpy_engine import normalise
from regretless.engines.payoff_rows import payoff_rows
from regretless.forms.compile import uniform_array
from regretless.forms.history import FloatArray, HistoryForm
from regretless.forms.memory import memory_bytes
from regretless.forms.sequence import (
    SequenceForm,
    SequenceTree,
    sequence_tree,
    terminal_reach,
    terminal_sequences,
)
from regretless.rules.rule import Schedule

__all__ = ["NumbaHistoryEngine", "NumbaSequenceEngine"]

Array = NDArray[np.floating]
TOLERANCE = {"float64": 1e-10, "float32": 2e-4}


class _NumbaEngine(ABC):
    """Everything but the payoffs of sequences, which the two forms compute in their own way."""

    name = "numba"
    device = "cpu"
    threads = 1

    def __init__(self, history: HistoryForm, trees: tuple[SequenceTree, ...], *, updates: Updates, dtype: str) -> None:
        self.history = history
        self.updates = updates
        self.dtype = np.dtype(dtype)
        self.tolerance = TOLERANCE[self.dtype.name]
        self.iteration = 0
        self.layout = lay_out(trees)
        slots = int(self.layout.first_slot[-1])
        self.regret: Array = np.zeros(slots, self.dtype)
        self.average: Array = np.zeros(slots, self.dtype)
        self.strategy: Array = np.ones(slots, self.dtype)
        self.strategy[self.layout.slot] = uniform_array(history)
        self.plan: Array = self._realize(self.strategy)
        self.payoff: Array = np.zeros(slots, self.dtype)

    @abstractmethod
    def advance(self, schedule: Schedule) -> None:
        """Run as many iterations as `schedule` has rows."""

    @abstractmethod
    def _payoffs(self, player: int, plan: FloatArray, payoff: FloatArray) -> None:
        """Payoffs of the sequences of `player` against the others' plans, in float64."""

    @property
    def memory_bytes(self) -> int:
        state = (self.regret, self.average, self.strategy, self.plan, self.payoff)
        return memory_bytes(self.history) + memory_bytes(self.layout) + sum(array.nbytes for array in state)

    def average_strategy(self) -> FloatArray:
        return normalise(self._in_pair_order(self.average), self.history.first_pair)

    def evaluate(self, strategy: FloatArray | None = None) -> Evaluation:
        played = np.ones(len(self.plan))
        played[self.layout.slot] = self.average_strategy() if strategy is None else strategy
        plan = self._realize(played)
        payoff = np.zeros(len(plan))
        first_slot, first_group = self.layout.first_slot, self.layout.first_group
        values, best = [], []
        for player in range(self.history.players):
            self._payoffs(player, plan, payoff)
            own = slice(first_slot[player], first_slot[player + 1])
            values.append(float(plan[own] @ payoff[own]))
            groups = self.layout.group[first_group[player] : first_group[player + 1]]
            kernels.best_response(groups, self.layout.parent, payoff)
            best.append(float(payoff[first_slot[player]]))
        return Evaluation(values=tuple(values), best_response_values=tuple(best))

    def snapshot(self) -> Snapshot:
        return Snapshot(
            iteration=self.iteration,
            regret=self._in_pair_order(self.regret),
            average=self._in_pair_order(self.average),
            strategy=self._in_pair_order(self.strategy),
        )

    def restore(self, snapshot: Snapshot) -> None:
        self.iteration = snapshot.iteration
        slot = self.layout.slot
        self.regret[slot] = snapshot.regret
        self.average[slot] = snapshot.average
        self.strategy[slot] = snapshot.strategy
        self.plan = self._realize(self.strategy)

    def _in_pair_order(self, array: Array) -> FloatArray:
        return array[self.layout.slot].astype(np.float64)

    def _realize(self, strategy: Array) -> Array:
        plan = np.ones_like(strategy)
        kernels.realize(self.layout.group, self.layout.parent, strategy, plan)
        return plan


class NumbaSequenceEngine(_NumbaEngine):
    """Two players, on the sequence form.

    >>> from regretless.forms import compile_history, compile_sequence
    >>> from regretless.games import Kuhn
    >>> from regretless.rules import Plus, schedule
    >>> engine = NumbaSequenceEngine(compile_sequence(compile_history(Kuhn())))
    >>> engine.advance(schedule(Plus(), first=1, count=100))
    >>> round(engine.evaluate().exploitability, 6)
    0.001194
    """

    def __init__(self, form: SequenceForm, *, updates: Updates = Updates.ALTERNATING, dtype: str = "float64") -> None:
        super().__init__(form.history, form.trees, updates=updates, dtype=dtype)
        rows = (payoff_rows(form, 0), payoff_rows(form, 1))
        # Both players' rows lie in the same arrays, one after the other; row 0 stays zero for both.
        shift = len(rows[0].reference) - 1
        entries = len(rows[0].value)
        later = rows[1].batch + np.array([shift, 0, 0, entries])
        self.batches = np.concatenate([rows[0].batch, later])
        self.first_batch = np.array([0, len(rows[0].batch), len(self.batches)])
        moved = np.where(rows[1].reference > 0, rows[1].reference + shift, 0)
        self.reference = np.concatenate([rows[0].reference, moved[1:]]).astype(np.int32)
        slots = self.layout.slot_of_sequence
        self.column = np.concatenate([slots[1][rows[0].column], slots[0][rows[1].column]]).astype(np.int32)
        self.value: Array = np.concatenate([rows[0].value, rows[1].value]).astype(self.dtype)
        self.exact_value = self.value if dtype == "float64" else np.concatenate([rows[0].value, rows[1].value])
        self.row_of_slot = np.zeros(len(self.plan), np.int32)
        self.row_of_slot[slots[0]] = rows[0].row_of_sequence
        self.row_of_slot[slots[1]] = np.where(rows[1].row_of_sequence > 0, rows[1].row_of_sequence + shift, 0)

    @property
    def memory_bytes(self) -> int:
        arrays = (self.batches, self.reference, self.column, self.value, self.row_of_slot)
        return super().memory_bytes + sum(array.nbytes for array in arrays)

    def advance(self, schedule: Schedule) -> None:
        layout = self.layout
        kernels.advance_rows(
            np.ascontiguousarray(schedule, np.float64), self.updates is Updates.ALTERNATING,
            layout.first_slot, layout.first_group, layout.group, layout.parent,
            self.first_batch, self.batches, self.reference, self.column, self.value, self.row_of_slot,
            self.regret, self.average, self.strategy, self.plan, self.payoff,
        )  # fmt: skip
        self.iteration += len(schedule)

    def _payoffs(self, player: int, plan: FloatArray, payoff: FloatArray) -> None:
        batches = self.batches[self.first_batch[player] : self.first_batch[player + 1]]
        first, end = self.layout.first_slot[player], self.layout.first_slot[player + 1]
        y = np.zeros(len(self.reference))
        kernels.payoffs_of_rows(
            batches, self.reference, self.column, self.exact_value, self.row_of_slot, first, end, plan, y, payoff
        )


class NumbaHistoryEngine(_NumbaEngine):
    """Any number of players, on the history form.

    With perfect recall, the probability that player j plays all their moves on the way to a terminal is their plan at
    the sequence that ends there. So nodes need not be walked: each terminal adds to the sequence of player i that ends
    there chance · payoff of i · product of the others' plans.

    >>> from regretless.forms import compile_history
    >>> from regretless.games import Kuhn
    >>> from regretless.rules import Plus, schedule
    >>> engine = NumbaHistoryEngine(compile_history(Kuhn()))
    >>> engine.advance(schedule(Plus(), first=1, count=100))
    >>> round(engine.evaluate().exploitability, 6)
    0.001194
    """

    def __init__(self, form: HistoryForm, *, updates: Updates = Updates.ALTERNATING, dtype: str = "float64") -> None:
        trees = tuple(sequence_tree(form, player) for player in range(form.players))
        super().__init__(form, trees, updates=updates, dtype=dtype)
        ends = np.stack(
            [
                slots[terminal_sequences(form, player, tree)]
                for player, (tree, slots) in enumerate(zip(trees, self.layout.slot_of_sequence))
            ],
            axis=1,
        )
        weight = terminal_reach(form)[:, None] * form.payoff
        starts, weights, others = [np.zeros(1, np.int64)], [], []
        for player in range(form.players):
            paying = np.flatnonzero(weight[:, player])
            order = paying[np.argsort(ends[paying, player], kind="stable")]
            first, end = self.layout.first_slot[player], self.layout.first_slot[player + 1]
            entries = np.bincount(ends[order, player] - first, minlength=end - first)
            starts.append(starts[-1][-1] + np.cumsum(entries))
            weights.append(weight[order, player])
            others.append(np.delete(ends[order], player, axis=1))
        self.start = np.concatenate(starts)
        self.exact_weight = np.concatenate(weights)
        self.weight: Array = self.exact_weight.astype(self.dtype)
        self.others = np.ascontiguousarray(np.concatenate(others), np.int32)

    @property
    def memory_bytes(self) -> int:
        return super().memory_bytes + self.start.nbytes + self.weight.nbytes + self.others.nbytes

    def advance(self, schedule: Schedule) -> None:
        layout = self.layout
        kernels.advance_terminals(
            np.ascontiguousarray(schedule, np.float64), self.updates is Updates.ALTERNATING,
            layout.first_slot, layout.first_group, layout.group, layout.parent,
            self.start, self.weight, self.others,
            self.regret, self.average, self.strategy, self.plan, self.payoff,
        )  # fmt: skip
        self.iteration += len(schedule)

    def _payoffs(self, player: int, plan: FloatArray, payoff: FloatArray) -> None:
        first, end = self.layout.first_slot[player], self.layout.first_slot[player + 1]
        kernels.payoffs_of_terminals(self.start, self.exact_weight, self.others, first, end, plan, payoff)

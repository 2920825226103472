"""CFR in compiled code on the CPU: the default engine.

1. `lay_out` renumbers the sequences so that each pass is a loop over adjacent numbers.
2. `payoff_rows.py` rewrites the payoff matrix of a two-player game so that a product touches a fraction of its entries.
3. `sequence_kernels.py` runs a whole schedule of iterations in one call, without allocating and without holding
   Python's lock.

CFR is computed exactly: nothing is pruned or skipped. Evaluation is in float64 whatever the engine's own format.

The order of sequences: those of all players have *slots* in the same arrays. A player's slots begin with the empty
sequence; then come *groups* of information sets of the same level with the same number of actions:

    group of n sets, 3 actions:   first actions of all n sets | second actions of all n | third actions of all n

so that an operation on every set of a group is a loop over adjacent numbers, which a processor handles 8 or 16 at a
time. Within a group, the first children of all sequences come before the second children, and so on, so that a loop
that adds to parents does not add to the same parent twice in a row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from regretless.engines.contract import LEARNED, Evaluation, Snapshot, Updates
from regretless.engines.numba import sequence_kernels as kernels
from regretless.engines.numba.payoff_rows import PayoffRows, payoff_rows
from regretless.engines.numba.threads import numba_threads, numba_threads_are_lost
from regretless.forms.compile import check_strategy, uniform_array
from regretless.forms.history import FloatArray, HistoryForm, IntArray
from regretless.forms.memory import memory_bytes
from regretless.forms.normalise import normalise
from regretless.forms.sequence import SequenceForm, SequenceTree, sequence_tree, terminal_reach, terminal_sequences
from regretless.variants.variant import ROW, Schedule

__all__ = [
    "NumbaHistoryEngine",
    "NumbaSequenceEngine",
    "SlotLayout",
    "UnsignedArray",
    "estimate",
    "lay_out",
]

Array = NDArray[np.floating]
UnsignedArray = NDArray[np.unsignedinteger]

PAGE, STAGGER = 512, 104  # numbers
SHARED = 65_536  # information sets in one group from which several threads pay
MAX_THREADS = 16  # used unless the user says otherwise
TOLERANCE = {"float64": 1e-10, "float32": 2e-4}


@dataclass(frozen=True)
class SlotLayout:
    """P players, G groups of all players, I information sets, Q pairs; Q + P slots."""

    first_slot: UnsignedArray  # [P+1]   slots of player p are first_slot[p] : first_slot[p+1], the empty sequence first
    first_group: IntArray  # [P+1]  groups of player p, root level first
    group: UnsignedArray  # [G, 4]       first slot, number of sets, actions per set, first index into `parent`
    parent: UnsignedArray  # [I]         slot of the sequence that leads to each set, in the order of groups
    slot: IntArray  # [Q]           slot of each pair of the history form
    slot_of_sequence: tuple[IntArray, ...]  # for each player [S]


def lay_out(trees: tuple[SequenceTree, ...]) -> SlotLayout:
    """Number the sequences of all players."""
    first_slot, first_group = [0], [0]
    groups: list[tuple[int, int, int, int]] = []
    parents: list[IntArray] = []
    slots: list[IntArray] = []
    pair_slot = np.zeros(sum(len(tree.pair) - 1 for tree in trees), np.int32)
    sets_before = 0
    for tree in trees:
        slot = np.zeros(len(tree.pair), np.int32)
        slot[0] = next_slot = first_slot[-1]
        next_slot += 1
        count = np.diff(tree.first_sequence)
        birth = _birth_order(tree.parent_sequence)
        for start, end in zip(tree.level.tolist(), tree.level[1:].tolist()):
            for actions in np.unique(count[start:end]).tolist():
                sets = start + np.flatnonzero(count[start:end] == actions)
                sets = sets[np.lexsort((slot[tree.parent_sequence[sets]], birth[sets]))]
                for action in range(actions):
                    slot[tree.first_sequence[sets] + action] = next_slot + action * len(sets) + np.arange(len(sets))
                groups.append((next_slot, len(sets), actions, sets_before))
                parents.append(slot[tree.parent_sequence[sets]])
                next_slot += actions * len(sets)
                sets_before += len(sets)
        pair_slot[tree.pair[1:]] = slot[1:]
        slots.append(slot)
        first_slot.append(next_slot)
        first_group.append(len(groups))
    return SlotLayout(
        first_slot=np.array(first_slot, np.uint64),
        first_group=np.array(first_group, np.int64),
        group=np.array(groups, np.uint64).reshape(len(groups), 4),
        parent=np.concatenate([np.zeros(0, np.int32), *parents]).astype(np.uint32),
        slot=pair_slot,
        slot_of_sequence=tuple(slots),
    )


def _birth_order(parent: IntArray) -> IntArray:
    """0 for the first information set that follows a sequence, 1 for the second, and so on."""
    order = np.argsort(parent, kind="stable")
    ordered = parent[order]
    new = np.diff(ordered, prepend=-1) != 0
    first = np.flatnonzero(new)
    birth = np.empty(len(parent), np.int64)
    birth[order] = np.arange(len(parent)) - first[np.cumsum(new) - 1]
    return birth


class _NumbaEngine(ABC):
    """Everything but the payoffs of sequences, which differ between the two forms."""

    name = "numba"
    device = "cpu"
    threads = 1

    def __init__(self, form: HistoryForm, trees: tuple[SequenceTree, ...], *, updates: Updates, dtype: str) -> None:
        self.form = form
        self.updates = updates
        self.dtype = np.dtype(dtype)
        self.tolerance = TOLERANCE[self.dtype.name]
        self.iteration = 0
        layout = lay_out(trees)
        self.slot, self.slot_of_sequence = layout.slot, layout.slot_of_sequence
        self.tree = kernels.Tree(layout.first_slot, layout.first_group, layout.group, layout.parent)
        # No two rows begin at the same offset in a page: loads would wait for stores 4,096 bytes apart.
        slots = int(layout.first_slot[-1])
        room = np.zeros((len(kernels.SlotState._fields), -(-slots // PAGE) * PAGE + STAGGER), self.dtype)
        self.state = kernels.SlotState(*room[:, :slots])
        self.state.plan[:] = self.state.strategy[:] = 1
        self.state.strategy[self.slot] = uniform_array(form)
        kernels.realize(self.tree, self.state.strategy, self.state.plan)

    def _load_kernels(self) -> None:
        """Compile the kernels, or load them from disk, during setup instead of in the first iteration."""
        self.advance(np.empty(0, ROW))
        self.evaluate()

    @abstractmethod
    def advance(self, schedule: Schedule) -> None:
        """Run one iteration per row of `schedule`."""

    @abstractmethod
    def _payoffs(self, player: int, plan: FloatArray, payoff: FloatArray) -> None:
        """Payoffs of `player`'s sequences against the others' plans, in float64."""

    @property
    def memory_bytes(self) -> int:
        return memory_bytes(self.form) + memory_bytes((self.slot, self.slot_of_sequence, self.tree, self.state))

    def average_strategy(self) -> FloatArray:
        return normalise(self._in_pair_order(self.state.average), self.form.first_pair)

    def evaluate(self, strategy: FloatArray | None = None) -> Evaluation:
        played, plan = np.ones(len(self.state.plan)), np.ones(len(self.state.plan))
        played[self.slot] = self.average_strategy() if strategy is None else check_strategy(self.form, strategy)
        kernels.realize(self.tree, played, plan)
        payoff = np.zeros(len(plan))
        values, best = [], []
        for player in range(self.form.players):
            self._payoffs(player, plan, payoff)
            first, end = self.tree.first_slot[player : player + 2].tolist()
            values.append(float(plan[first:end] @ payoff[first:end]))
            kernels.best_response(self.tree, player, payoff)
            best.append(float(payoff[first]))
        return Evaluation(values=tuple(values), best_response_values=tuple(best))

    def snapshot(self, *, copy: bool = True) -> Snapshot:
        return Snapshot(self.iteration, {name: self._in_pair_order(getattr(self.state, name)) for name in LEARNED})

    def restore(self, snapshot: Snapshot) -> None:
        self.iteration = snapshot.iteration
        for name in LEARNED:
            getattr(self.state, name)[self.slot] = snapshot.arrays[name]
        kernels.realize(self.tree, self.state.strategy, self.state.plan)

    def _in_pair_order(self, array: Array) -> FloatArray:
        return array[self.slot].astype(np.float64)


def estimate(form: HistoryForm | SequenceForm, *, dtype: str = "float64", threads: int | None = None) -> int:
    """Bytes that an engine allocates beside the history form, at most: rewriting payoffs by rows saves some."""
    history = form.history if isinstance(form, SequenceForm) else form
    number, pairs = np.dtype(dtype).itemsize, int(history.first_pair[-1])
    slots = pairs + history.players
    tree = 4 * (pairs + slots + len(history.keys))
    state = len(kernels.SlotState._fields) * number * slots
    weight = 8 if number == 8 else number + 8  # evaluation keeps its own in float64
    if isinstance(form, SequenceForm):
        entries = sum(len(matrix.value) for matrix in form.payoff)
        return tree + state + 8 * slots + (4 + weight) * entries
    entries = history.players * len(history.terminal)
    return tree + state + 8 * slots + (4 * (history.players - 1) + weight) * entries


class NumbaSequenceEngine(_NumbaEngine):
    """Two players, on the sequence form. Only large games use several threads; `threads` is how many are in use."""

    def __init__(
        self,
        form: SequenceForm,
        *,
        updates: Updates = Updates.ALTERNATING,
        dtype: str = "float64",
        threads: int | None = None,
    ) -> None:
        super().__init__(form.history, form.trees, updates=updates, dtype=dtype)
        self.exact_rows = _join((payoff_rows(form, 0), payoff_rows(form, 1)), self.slot_of_sequence)
        self.rows = self.exact_rows._replace(value=self.exact_rows.value.astype(self.dtype, copy=False))
        sweeps_outweigh_payoffs = len(self.slot) > len(self.rows.value)
        if sweeps_outweigh_payoffs and self.tree.groups[:, 1].max(initial=0) >= SHARED:
            self.threads = min(threads or MAX_THREADS, numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
        self._load_kernels()

    @property
    def memory_bytes(self) -> int:
        return super().memory_bytes + memory_bytes((*self.rows, self.exact_rows.value))

    def advance(self, schedule: Schedule) -> None:
        arguments = (
            np.ascontiguousarray(schedule),
            self.updates is Updates.ALTERNATING,
            self.tree,
            self.rows,
            self.state,
        )
        if self.threads > 1 and numba_threads_are_lost():
            self.threads = 1
        if self.threads == 1:
            kernels.advance_rows(*arguments)
        else:
            with numba_threads(self.threads):
                kernels.advance_rows_threads(*arguments)
        self.iteration += len(schedule)

    def _payoffs(self, player: int, plan: FloatArray, payoff: FloatArray) -> None:
        y = np.zeros(len(self.rows.reference))
        kernels.payoffs_of_rows(self.exact_rows, self.tree, player, plan, y, payoff)


def _join(rows: tuple[PayoffRows, PayoffRows], slots: tuple[IntArray, ...]) -> kernels.Rows:
    """Both players' rows over slots, concatenated; both share row 0, which stays zero."""
    shift, entries = len(rows[0].reference) - 1, len(rows[0].value)
    batches = np.concatenate([rows[0].batch, rows[1].batch + np.array([shift, 0, 0, entries])])
    moved = np.where(rows[1].reference > 0, rows[1].reference + shift, 0)
    row_of_slot = np.zeros(sum(map(len, slots)), np.uint32)
    row_of_slot[slots[0]] = rows[0].row_of_sequence
    row_of_slot[slots[1]] = np.where(rows[1].row_of_sequence > 0, rows[1].row_of_sequence + shift, 0)
    return kernels.Rows(
        first_batch=np.array([0, len(rows[0].batch), len(batches)]),
        batches=batches.astype(np.uint64),
        reference=np.concatenate([rows[0].reference, moved[1:]]).astype(np.uint32),
        column=np.concatenate([slots[1][rows[0].column], slots[0][rows[1].column]]).astype(np.uint32),
        value=np.concatenate([rows[0].value, rows[1].value]),
        row_of_slot=row_of_slot,
    )


class NumbaHistoryEngine(_NumbaEngine):
    """Any number of players, on the history form, always on one thread.

    With perfect recall, the probability that player j makes all their moves on the way to a terminal is j's plan at the
    sequence that ends there. So nodes need not be walked: each terminal adds chance · payoff of i · product of the
    others' plans to the sequence of player i that ends there.
    """

    def __init__(
        self,
        form: HistoryForm,
        *,
        updates: Updates = Updates.ALTERNATING,
        dtype: str = "float64",
        threads: int | None = None,
    ) -> None:
        trees = tuple(sequence_tree(form, player) for player in range(form.players))
        super().__init__(form, trees, updates=updates, dtype=dtype)
        self.exact_terminals = _sort_terminals(form, trees, self.slot_of_sequence, self.tree.first_slot.tolist())
        weight = self.exact_terminals.weight.astype(self.dtype, copy=False)
        self.terminals = self.exact_terminals._replace(weight=weight)
        self._load_kernels()

    @property
    def memory_bytes(self) -> int:
        return super().memory_bytes + memory_bytes((*self.terminals, self.exact_terminals.weight))

    def advance(self, schedule: Schedule) -> None:
        alternating = self.updates is Updates.ALTERNATING
        kernels.advance_terminals(np.ascontiguousarray(schedule), alternating, self.tree, self.terminals, self.state)
        self.iteration += len(schedule)

    def _payoffs(self, player: int, plan: FloatArray, payoff: FloatArray) -> None:
        kernels.payoffs_of_terminals(self.exact_terminals, self.tree, player, plan, payoff)


def _sort_terminals(
    form: HistoryForm, trees: tuple[SequenceTree, ...], slots: tuple[IntArray, ...], first_slot: list[int]
) -> kernels.PayingTerminals:
    ends = np.stack(
        [slots[player][terminal_sequences(form, player, tree)] for player, tree in enumerate(trees)], axis=1
    )
    weight = terminal_reach(form)[:, None] * form.payoff
    counts, weights, others = [], [], []
    for player in range(form.players):
        paying = np.flatnonzero(weight[:, player])
        order = paying[np.argsort(ends[paying, player], kind="stable")]
        sequences = first_slot[player + 1] - first_slot[player]
        counts.append(np.bincount(ends[order, player] - first_slot[player], minlength=sequences))
        weights.append(weight[order, player])
        others.append(np.delete(ends[order], player, axis=1))
    return kernels.PayingTerminals(
        start=np.append(0, np.cumsum(np.concatenate(counts))).astype(np.uint64),
        weight=np.concatenate(weights),
        others=np.ascontiguousarray(np.concatenate(others), np.uint32),
    )

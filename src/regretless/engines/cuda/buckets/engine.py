"""Partial vector CFR on a CUDA device.

All hands in a bucket play the same, so within a street everything but terminals is done per bucket, not per hand:

1. `reach_lines`       each player's probability of playing to a node, from where its line begins, per bucket
2. `enter_street`      reach of hands where lines begin, street by street: reach at the exit above × the weight
3. `terminal_values`   values of the own hands at folds and showdowns
4. `leave_street`      values of hands where lines begin, from the last street to the first: Σ over leaves of the own
                       probability of playing there × the value there
5. `sum_buckets`       values at leaves, and own reach where lines begin, summed over the hands of each bucket
6. `learn_lines`       from these sums, values and regrets up each line, and the variant's update

Sums are taken in a fixed order, so a solve gives the same bits every time. The parts: `plan` (the tree),
`runouts` (a batch of them), `kernels/` (the arithmetic).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regretless.engines.bucket_tables import BucketTables, TableLayout
from regretless.engines.contract import BucketedEngine
from regretless.engines.cuda.buckets.plan import FACTORS, CudaBucketPlan, make_plan, records_source
from regretless.engines.cuda.buckets.runouts import MAX_HANDS, BatchLayout, arrange, max_steps
from regretless.engines.cuda.device import ON_CPU, Array, Buffer, Device, kernel_text, open_device
from regretless.engines.formats import met_weights, needs_wide_tiles
from regretless.errors import Advice, InvalidGame, InvalidOption
from regretless.forms.bucketed import BucketedForm
from regretless.variants.variant import Schedule, Weights, predicts

__all__ = ["CudaBucketedEngine", "estimate", "kernel_source"]

FILES = ("streets", "terminals")
KERNELS = (
    "reach_lines", "enter_street", "terminal_values", "leave_street", "sum_runouts", "sum_buckets", "learn_lines",
)  # fmt: skip
THREADS = 128  # of a block
WARP = 32
STEP_BYTES = 16
MAX_RUNOUTS = 2**16 - 1  # blocks of a launch across its second dimension
MAX_LEAF_NUMBERS = 2**32  # of a street: offsets in steps have 32 bits


class CudaBucketedEngine(BucketTables):
    """One bucketed form on a CUDA device."""

    name = "cuda"
    device = "cuda"
    threads = 1
    tolerance = 1e-5

    def __init__(self, form: BucketedForm, *, device: str | Device = "cuda") -> None:
        if_full = [Advice("sample_runouts", None, "can be set lower"), ON_CPU]
        self._on = open_device(device, advice=if_full) if isinstance(device, str) else device
        super().__init__(form, np.float32)
        self._plan = make_plan(self.layout)
        _check_offsets(form, self._plan)
        wide = needs_wide_tiles(form.hands, met_weights(form.hands, form.deck))
        self._real = 8 if wide else 4  # bytes of sums at terminals
        flags = (f"-DReal={'double' if wide else 'float'}",)
        self._kernels = self._on.compile(kernel_source(), flags, KERNELS)
        self._batch_layout = BatchLayout(form)
        self._prepared: tuple[int, NDArray[np.uint8]] | None = None  # the batch of an iteration
        self._schedule = self._on.zeros(1, np.dtype(np.float32))
        self._batch = self._on.zeros(self._batch_layout.nbytes, np.dtype(np.uint8))
        self._buffers = self._batch_layout.arrays(self._batch)
        for name, count in _row_sizes(form, self._plan).items():
            self._buffers[name] = self._on.zeros(count, self.dtype)
        self._tables = {name: self._on.upload(array) for name, array in _constants(form, self._plan).items()}
        for player, hands in enumerate(form.hands):
            self._on.assign(self._buffers[f"entering.{player}.0"], hands.weight.astype(np.float32))

    @property
    def memory_bytes(self) -> int:
        """Tables, the batch, and the rows of a walk."""
        return estimate(self.form, predicts=self.predicts)

    def _zeros(self, player: int, dtype: np.dtype[np.generic]) -> Buffer:
        return self._on.zeros(self.layout.entries[player], dtype)

    def _stored(self, numbers: Buffer) -> Array:
        return self._on.download(numbers)

    def _target(self, numbers: Buffer) -> Array:
        return np.empty(len(numbers), self.dtype)

    def _load(self, numbers: Buffer, stored: Array) -> None:
        self._on.assign(numbers, stored)

    def advance(self, schedule: Schedule) -> None:
        """Run one iteration per row of `schedule`."""
        if predicts(schedule):
            self.store_predictions()
        rows = np.array(schedule.tolist(), dtype=np.float32).reshape(-1, len(Weights._fields))
        self._schedule = self._on.upload(rows.ravel())
        for number in range(len(rows)):
            self._on.assign(self._batch, self._prepare(self.iteration + 1))
            self._reach(0)
            self._reach(1)
            self._learn(0, number)
            self._reach(0)
            self._learn(1, number)
            self.iteration += 1
            self._prepare(self.iteration + 1)  # while the device works

    def _prepare(self, iteration: int) -> NDArray[np.uint8]:
        """The batch of an iteration."""
        if self._prepared is None or self._prepared[0] != iteration:
            self._prepared = iteration, arrange(self._batch_layout, self.form.runouts.draw(iteration))
        return self._prepared[1]

    # --- launches ----------------------------------------------------------------------------------------------------

    def _launch(self, name: str, grid: tuple[int, ...], threads: int, *arguments: object, shared: int = 0) -> None:
        values = [np.int32(each) if isinstance(each, int) else each for each in arguments]
        if min(grid) > 0:
            self._kernels[name](grid, threads, shared, *values)

    def _reach(self, player: int) -> None:
        """A player's reach at nodes per bucket, and per hand where lines begin."""
        buffers, table, streets = self._buffers, self._tables, self._plan.streets
        hands = len(self.form.hands[player].weight)
        leaf_reach = buffers[f"leaf_reach.{player}"]
        self._launch(
            "reach_lines", self._line_grid(player), THREADS,
            table["nodes"], table[f"lines.{player}"], self._matched[player], player, buffers[f"reach.{player}"],
            leaf_reach,
        )  # fmt: skip
        for street in range(1, len(streets)):
            before, current = streets[street - 1], streets[street]
            self._launch(
                "enter_street", (self.form.runouts.count * hands,), _threads(current.lines),
                buffers[f"entering.{player}.{street - 1}"], self._leaf_reach(player, street - 1),
                buffers[f"bucket.{player}.{street - 1}"], buffers[f"bucket.{player}.{street}"],
                buffers[f"weight.{street}"], table[f"line_above.{street}"], hands, int(street == 1), before.lines,
                before.leaves, before.first_exit, current.lines, buffers[f"entering.{player}.{street}"],
            )  # fmt: skip

    def _learn(self, own: int, number: int) -> None:
        """One player's walk and update, with row `number` of the schedule."""
        buffers, table, plan = self._buffers, self._tables, self._plan
        for street in range(len(plan.streets)):
            self._sum_buckets(own, street, f"entering.{own}.{street}", "entering_sums")
            self._terminals(own, street)
        for street in reversed(range(len(plan.streets))):
            if street + 1 < len(plan.streets):
                self._leave(own, street + 1)
            self._sum_buckets(own, street, f"values.{street}", "leaf_sums")
        self._launch(
            "learn_lines", self._line_grid(own), THREADS,
            table["nodes"], table[f"lines.{own}"], own, buffers[f"reach.{own}"], buffers["leaf_sums"],
            buffers["entering_sums"], buffers["rows"], self._matched[own], self._regret[own], self._average[own],
            self._schedule, number,
        )  # fmt: skip

    def _terminals(self, own: int, street: int) -> None:
        buffers, table, current, other = self._buffers, self._tables, self._plan.streets[street], 1 - own
        own_hands, other_hands = (len(self.form.hands[player].weight) for player in (own, other))
        for folds in (0, 1):
            terminals = current.counts[folds]
            if terminals == 0:
                continue
            lanes = _threads(terminals)
            shared = lanes * (STEP_BYTES + self._real * (FACTORS + self.form.deck + 2))
            self._launch(
                "terminal_values", (-(-terminals // lanes), self._runouts(street)), lanes,
                buffers[f"steps.{own}"], buffers[f"step_count.{own}"], max_steps(self.form, own),
                buffers[f"bucket.{own}.{street}"], buffers[f"bucket.{other}.{street}"],
                table[f"cards.{own}"], table[f"cards.{other}"], table[f"same.{own}"],
                buffers[f"entering.{other}.{street}"], self._leaf_reach(other, street), table[f"line_of_leaf.{street}"],
                table[f"pays.{own}.{street}"], self.form.deck, own_hands, other_hands, current.lines, current.leaves,
                current.counts[0] if folds else 0, terminals, folds, buffers[f"values.{street}"], shared=shared,
            )  # fmt: skip

    def _leave(self, own: int, street: int) -> None:
        """Values where the lines of a street begin, at the exits of the street before."""
        buffers, before, current = self._buffers, self._plan.streets[street - 1], self._plan.streets[street]
        hands, runouts = len(self.form.hands[own].weight), self.form.runouts.count
        sums = street == 1  # over runouts
        self._launch(
            "leave_street", (runouts * hands,), _threads(current.lines),
            buffers[f"values.{street}"], self._leaf_reach(own, street), buffers[f"bucket.{own}.{street}"],
            self._tables[f"first.{street}"], current.lines, current.leaves, current.lines if sums else before.leaves,
            0 if sums else before.first_exit, buffers["dealt"] if sums else buffers[f"values.{street - 1}"],
        )  # fmt: skip
        if sums:
            self._launch(
                "sum_runouts", (hands,), _threads(current.lines),
                buffers["dealt"], runouts, hands, current.lines, before.leaves, before.first_exit, buffers["values.0"],
            )  # fmt: skip

    def _sum_buckets(self, own: int, street: int, rows: str, sums: str) -> None:
        """Sums per bucket of the reach that enters a street ("entering_sums"), or of values at leaves ("leaf_sums")."""
        buffers, current = self._buffers, self._plan.streets[street]
        of_leaves = sums == "leaf_sums"
        columns = current.leaves if of_leaves else current.lines
        begin = (self._plan.leaf_rows if of_leaves else self._plan.line_rows)[own][street]
        self._launch(
            "sum_buckets", (self.form.buckets[own][street], -(-columns // THREADS)), _threads(columns),
            buffers[rows], self._tables[f"weight.{own}" if of_leaves else "ones"], buffers[f"members.{own}.{street}"],
            buffers[f"first.{own}.{street}"], len(self.form.hands[own].weight), columns, buffers[sums][begin:],
        )  # fmt: skip

    def _line_grid(self, player: int) -> tuple[int, int]:
        return len(self._plan.lines[player]), -(-max(self.form.buckets[player]) // THREADS)

    def _leaf_reach(self, player: int, street: int) -> Buffer:
        """[buckets, leaves] of a street."""
        return self._buffers[f"leaf_reach.{player}"][self._plan.leaf_rows[player][street] :]

    def _runouts(self, street: int) -> int:
        return self.form.runouts.count if street else 1


def estimate(form: BucketedForm, *, predicts: bool = False, **_: object) -> int:
    """Bytes of tables, of a batch and of the rows of a walk."""
    layout = TableLayout(form)
    rows = sum(_row_sizes(form, make_plan(layout)).values())
    return BatchLayout(form).nbytes + layout.learned_bytes(predicts=predicts) + 4 * rows


def kernel_source() -> str:
    """All kernels."""
    files = (f"buckets/kernels/{name}.cu" for name in FILES)
    return "\n".join([records_source(), kernel_text("update.cu", *files)])


def _threads(columns: int) -> int:
    """Threads of a block that works through this many columns."""
    return min(-(-columns // WARP) * WARP, THREADS)


def _row_sizes(form: BucketedForm, plan: CudaBucketPlan) -> dict[str, int]:
    """Lengths of the rows that a walk writes."""
    hands = [len(each.weight) for each in form.hands]
    rows = {"rows": max(plan.row_numbers), "leaf_sums": max(plan.leaf_numbers), "entering_sums": max(plan.line_numbers)}
    for player in range(2):
        rows |= {f"reach.{player}": plan.row_numbers[player], f"leaf_reach.{player}": plan.leaf_numbers[player]}
    for street, current in enumerate(plan.streets):
        runouts = form.runouts.count if street else 1
        rows[f"values.{street}"] = runouts * max(hands) * current.leaves
        rows |= {f"entering.{player}.{street}": runouts * hands[player] * current.lines for player in range(2)}
    if len(plan.streets) > 1:
        rows["dealt"] = form.runouts.count * max(hands) * plan.streets[1].lines
    return rows


def _constants(form: BucketedForm, plan: CudaBucketPlan) -> dict[str, Array]:
    """The tables that kernels read."""
    hands = max(len(each.weight) for each in form.hands)
    tables: dict[str, Array] = {"nodes": plan.nodes, "ones": np.ones(hands, dtype=np.float32)}
    for player, own in enumerate(form.hands):
        tables[f"lines.{player}"] = plan.lines[player]
        tables[f"cards.{player}"] = np.where(own.cards < 0, form.deck, own.cards).astype(np.int32).ravel()
        tables[f"same.{player}"] = own.same.astype(np.int32)
        tables[f"weight.{player}"] = own.weight.astype(np.float32)
        tables |= {
            f"pays.{player}.{street}": current.pays[player].ravel() for street, current in enumerate(plan.streets)
        }
    for street, current in enumerate(plan.streets):
        tables[f"first.{street}"] = current.first.ravel()
        tables[f"line_of_leaf.{street}"] = current.line_of_leaf
        tables[f"line_above.{street}"] = current.line_above
    return tables


def _check_offsets(form: BucketedForm, plan: CudaBucketPlan) -> None:
    """Refuse a form that is too large for the numbers in a step, or a batch that is too large for a launch."""
    if form.runouts.count > MAX_RUNOUTS:
        raise InvalidOption("sample_runouts", form.runouts.count, f"must be at most {MAX_RUNOUTS:,} with cuda")
    hands = max(len(each.weight) for each in form.hands)
    if hands > MAX_HANDS:
        raise InvalidGame(f"{form.name} has {hands:,} hands: the cuda engine can count {MAX_HANDS:,}")
    for street, current in enumerate(plan.streets):
        numbers = max(max(form.buckets[player][street] for player in range(2)) * current.leaves, hands * current.lines)
        if numbers > MAX_LEAF_NUMBERS:
            limit = f"the cuda engine can count {MAX_LEAF_NUMBERS:,}"
            raise InvalidGame(f"{form.name} has {numbers:,} buckets × ends of lines on a street: {limit}")


if TYPE_CHECKING:
    _conforms: type[BucketedEngine] = CudaBucketedEngine

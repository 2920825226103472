"""Exact values and exploitability of a strategy per bucket, with real cards on every runout.

1. The first street is walked down, once for each player.
2. Each runout of the second street is walked with everything below it, by a thread that has rows of its own.
3. Their values are added in order, so results do not depend on threads, and the first street is walked up.

Memory does not grow with the runouts, except for the tables of hands and buckets: `bucket_evaluation_bytes` counts it.
"""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from regretless.engines.bucket_strategies import BucketEvaluator, BucketEvaluators, BucketStrategy, EvaluationStopped
from regretless.engines.contract import Evaluation
from regretless.engines.formats import met_weights, needs_wide_tiles
from regretless.engines.layout import make_layout, padded
from regretless.engines.numba.public.jobs import Learned, WalkScratch, aligned, bytes_of, make_scratch
from regretless.engines.numba.public.kernels.bucket_walk import BucketRows, walk_buckets
from regretless.engines.numba.public.kernels.walk import DOWN, UP, Stretch
from regretless.engines.numba.public.plan import make_plans
from regretless.engines.numba.public.records import Float32, Float64, Int32, Int64, check_limits
from regretless.engines.numba.public.sizes import bucket_evaluation_bytes
from regretless.engines.numba.public.tables import make_tables
from regretless.engines.threads import in_order
from regretless.forms.history import FloatArray
from regretless.forms.memory import available_bytes
from regretless.forms.public import PublicForm
from regretless.forms.public_size import PublicSize

__all__ = ["NumbaBucketEvaluator", "NumbaBucketEvaluators"]

_NONE = np.empty(0, dtype=np.float32)
_LEARNED = Learned(_NONE, _NONE, _NONE, _NONE, _NONE, np.empty(0, dtype=np.int32), _NONE)


class Probabilities(NamedTuple):
    """The tables of a strategy joined into one; N betting nodes."""

    probability: Float32
    begin: Int64  # [N]
    columns: Int32  # [N]


class NumbaBucketEvaluators:
    """Evaluators on the processor."""

    device = "cpu"
    max_buckets = 2**31 - 1

    def __init__(self, *, threads: int = 1, interrupted: Callable[[], bool] = lambda: False) -> None:
        self.threads, self.interrupted = threads, interrupted

    def create(self, form: PublicForm) -> NumbaBucketEvaluator:
        return NumbaBucketEvaluator(form, threads=self.threads, interrupted=self.interrupted)

    def needed_bytes(self, size: PublicSize, *, probabilities: int) -> int:
        """Counts probabilities twice: in the strategy's own tables, and joined into one."""
        return bucket_evaluation_bytes(size, probabilities=2 * probabilities, threads=self.threads)

    def free_bytes(self) -> int:
        return available_bytes()


class NumbaBucketEvaluator:
    """One public form on the processor, in which strategies per bucket are evaluated."""

    device = "cpu"

    def __init__(self, form: PublicForm, *, threads: int = 1, interrupted: Callable[[], bool] = lambda: False) -> None:
        """`interrupted` is called between runouts of the second street; evaluation stops if it returns True."""
        check_limits(form)
        self.form, self.interrupted = form, interrupted
        self.runouts = len(form.streets[1].parent) if len(form.streets) > 1 else 0
        self.threads = max(1, min(threads, self.runouts))
        self._met = met_weights(form.hands, form.deck)
        self._tile_type = np.float64 if needs_wide_tiles(form.hands, self._met) else np.float32
        self._plans = make_plans(make_layout(form), self._tile_type)
        self._tables = make_tables(form)

    @property
    def memory_bytes(self) -> int:
        """Bytes of its tables; while it evaluates, it takes what `bucket_evaluation_bytes` counts."""
        return bytes_of(self._plans, self._tables)

    def evaluate(self, strategy: BucketStrategy) -> Evaluation:
        """Values and best responses, in the form's unit; equivalent hands play what the first of them plays."""
        results, played = [], self._joined(strategy)
        for own in range(2):
            roots, _ = self._walk(own, strategy, played)
            weight = self.form.hands[own].weight
            pairs = float(weight @ self._met[own])
            results.append([float(root[: len(weight)] @ weight) / pairs / self.form.unit for root in roots])
        (first, first_best), (second, second_best) = results
        # A best response is worth at least as much; rounding must not make it worth less.
        return Evaluation((first, second), (max(first, first_best), max(second, second_best)))

    def first_street_values(self, strategy: BucketStrategy) -> FloatArray:
        """[2, 2, nodes, H] values times the opposing reach at the nodes of the first street, in tree order.

        For each player, both following the strategy, and the player best-responding to it. Both players must have
        equally many hands.
        """
        tree = self.form.tree
        results, played = [], self._joined(strategy)
        for own in range(2):
            plan = self._plans[own]
            row = np.zeros(len(tree.street), dtype=np.int64)
            row[plan.nodes["node"]] = plan.nodes["value_at"]
            rows = row[tree.street == 0][:, None] + np.arange(len(self.form.hands[own].weight))
            results.append([each.value[rows] for each in self._walk(own, strategy, played)[1]])
        return np.array(results, dtype=np.float64)

    def _joined(self, strategy: BucketStrategy) -> Probabilities:
        """The tables of a strategy, one after another."""
        nodes = len(self.form.tree.kind)
        begin, columns, offset = np.zeros(nodes, dtype=np.int64), np.zeros(nodes, dtype=np.int32), 0
        for table in strategy.tables:
            begin[table.node], columns[table.node] = offset + table.begin, table.columns
            offset += len(table.probability)
        only = len(strategy.tables) == 1
        tables = [table.probability for table in strategy.tables]
        return Probabilities(tables[0] if only else np.concatenate(tables), begin, columns)

    def _walk(
        self, own: int, strategy: BucketStrategy, played: Probabilities
    ) -> tuple[tuple[Float64, Float64], tuple[WalkScratch, WalkScratch]]:
        """The values at the root, and the rows of the first street: of following the strategy, of a best response."""
        plan, tables, form = self._plans[own], self._tables[own], self.form
        rows = self._rows(own, strategy, played)
        opponent = aligned(plan.other_hands)
        opponent[: len(form.hands[1 - own].weight)] = form.hands[1 - own].weight
        roots = aligned(plan.own_hands, np.float64), aligned(plan.own_hands, np.float64)
        first = self._make_rows()

        def walk(stretch: Stretch, best_lines: Float64, on: tuple[WalkScratch, WalkScratch]) -> None:
            walk_buckets(stretch, best_lines, plan, tables, rows, _LEARNED, *on)

        def first_street(begin: int, end: int) -> None:
            walk(Stretch(0, 0, 1, 0, 1, begin, end, False, opponent, opponent, roots[0]), roots[1], first)

        if self.runouts == 0 or plan.streets[1]["first_line"] == plan.streets[1]["last_line"]:
            first_street(DOWN, UP)
            return roots, first
        first_street(DOWN, DOWN)
        street = plan.streets[1]
        chunks = int(street["first_chunk"]), int(street["last_chunk"])
        begin, end = (int(street[f"{side}_line"]) * plan.own_hands for side in ("first", "last"))
        free: SimpleQueue[tuple[WalkScratch, WalkScratch]] = SimpleQueue()
        for _ in range(self.threads):
            free.put(self._make_rows())

        def below(runout: int) -> tuple[Float64, Float64]:
            lines = aligned(end, np.float64), aligned(end, np.float64)
            if self.interrupted():
                raise EvaluationStopped
            on = free.get()
            stretch = Stretch(1, runout, runout + 1, *chunks, DOWN, UP, False, first[0].opponent, opponent, lines[0])
            try:
                walk(stretch, lines[1], on)
            finally:  # another runout may be waiting for them
                free.put(on)
            return lines

        for lines in in_order(below, range(1, 1 + self.runouts), self.threads):
            for total, part in zip(first, lines, strict=True):
                total.line[begin:end] += part[begin:end]
        first_street(UP, UP)
        return roots, first

    def _make_rows(self) -> tuple[WalkScratch, WalkScratch]:
        """Rows for one thread: for following the strategy, and for a best response, which shares all but values."""
        scratch = make_scratch(self._plans, self.form.deck, self._tile_type)
        return scratch, scratch._replace(value=aligned(scratch.value.size), line=aligned(scratch.line.size, np.float64))

    def _rows(self, own: int, strategy: BucketStrategy, played: Probabilities) -> BucketRows:
        order = self._plans[own].nodes["node"]
        return BucketRows(
            probability=played.probability,
            begin=played.begin[order],
            width=played.columns[order],
            own=self._columns(own, strategy),
            other=self._columns(1 - own, strategy),
        )

    def _columns(self, player: int, strategy: BucketStrategy) -> Int32:
        """[R · hands, padded] the column of every hand; equivalent hands have that of the first."""
        of_streets = []
        for street, map_ in zip(self.form.streets, strategy.maps[player], strict=True):
            alike = self.form.symmetry.hands[player][street.symmetry]
            columns = np.where(street.dead[player], 0, np.take_along_axis(map_, alike.astype(np.int64), axis=1))
            padding = padded(columns.shape[1]) - columns.shape[1]
            of_streets.append(np.pad(columns.astype(np.int32), ((0, 0), (0, padding))))
        return np.concatenate(of_streets).ravel()


if TYPE_CHECKING:
    _conforms: type[BucketEvaluator] = NumbaBucketEvaluator
    _all_conform: type[BucketEvaluators] = NumbaBucketEvaluators

"""Exact values and exploitability of a strategy per bucket on a CUDA device, with real cards on every runout.

The walks are those of an evaluation in `CudaPublicEngine`, except that strategies are not read from stored averages but
from the table of each decision, in the column of the hand's bucket on the runout. So nothing is stored per decision,
hand and runout; only the buckets of hands, the lists of final runouts and the values of lines grow with the runouts.

Tables are uploaded once and stay on the device as long as their `StrategyTables` exist. Evaluators used one after
another share the same working rows, which are tens of gigabytes in a large game.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING
from weakref import ReferenceType, WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray

from regretless.engines.bucket_strategies import (
    BucketEvaluator,
    BucketEvaluators,
    BucketStrategy,
    EvaluationStopped,
    StrategyTables,
)
from regretless.engines.contract import Evaluation
from regretless.engines.cuda.device import ON_CPU, Arena, Buffer, Device, open_device
from regretless.engines.cuda.public.engine import check_offsets
from regretless.engines.cuda.public.hands import has_equal_players
from regretless.engines.cuda.public.sizes import bucket_evaluation_bytes
from regretless.engines.cuda.public.spot import WAYS, SpotWalks
from regretless.engines.cuda.public.walks import Walks
from regretless.engines.formats import met_weights, needs_wide_sums
from regretless.engines.layout import make_layout
from regretless.errors import InvalidGame
from regretless.forms.history import FloatArray
from regretless.forms.public import PublicForm
from regretless.forms.public_size import PublicSize

__all__ = ["CudaBucketEvaluator", "CudaBucketEvaluators"]

MAX_BUCKETS = 2**16


class CudaBucketEvaluators:
    """Evaluators on one CUDA device, which share the betting tree and the tables of strategies."""

    device = "cuda"
    threads = 1
    max_buckets = MAX_BUCKETS

    def __init__(self, *, device: str | Device = "cuda", interrupted: Callable[[], bool] = lambda: False) -> None:
        self._device, self.interrupted = device, interrupted
        self._tables: WeakKeyDictionary[StrategyTables, Buffer] = WeakKeyDictionary()
        self._rows: Buffer | None = None
        self._user: ReferenceType[CudaBucketEvaluator] | None = None  # of the rows

    @cached_property
    def on(self) -> Arena:
        """The device, opened when it is first needed."""
        return Arena(open_device(self._device, advice=[ON_CPU]) if isinstance(self._device, str) else self._device)

    def create(self, form: PublicForm) -> CudaBucketEvaluator:
        return CudaBucketEvaluator(form, self)

    def needed_bytes(self, size: PublicSize, *, probabilities: int) -> int:
        return bucket_evaluation_bytes(size, probabilities=probabilities)

    def free_bytes(self) -> int:
        return self.on.free_bytes()

    def rows(self, user: CudaBucketEvaluator, size: int) -> Buffer:
        """`size` bytes of zeros, reserved while `user` exists; the next user then gets the same memory."""
        if self._user is not None and self._user() is not None:
            return self.on.zeros(size, np.dtype(np.uint8))
        self._user = ref(user)
        if self._rows is None or self._rows.size < size:
            self._rows = None  # freed first, since both may not fit
            self._rows = self.on.zeros(size, np.dtype(np.uint8))
        else:
            self.on.clear(self._rows[:size])
        return self._rows[:size]

    def upload(self, tables: StrategyTables, actions: NDArray[np.integer]) -> Buffer:
        """The tables of D decisions on the device, each [columns, actions]; `actions` [D] says how many each has."""
        if tables not in self._tables:
            turned = np.empty_like(tables.probability)
            for begin, columns, count in zip(tables.begin.tolist(), tables.columns.tolist(), actions.tolist()):
                part = slice(begin, begin + columns * count)
                turned[part].reshape(columns, count)[:] = tables.probability[part].reshape(count, columns).T
            self._tables[tables] = self.on.upload(turned)
        return self._tables[tables]


class CudaBucketEvaluator:
    """One public form on a CUDA device, in which strategies per bucket are evaluated."""

    device = "cuda"

    def __init__(self, form: PublicForm, among: CudaBucketEvaluators) -> None:
        check_offsets(form)
        self.form, self._among, self._on = form, among, among.on
        self._met = met_weights(form.hands, form.deck)
        wide = needs_wide_sums(form, self._met)
        with self._on:  # one upload of thousands of small tables
            self._spot = SpotWalks(self._on, make_layout(form), (1.0, 1.0), blank=partial(among.rows, self))
            self._walks = Walks(self._on, [self._spot], storage=32, wide=wide, predicts=False, bucketed=True)
        self._walks.make_lists()
        self._pointed: list[Buffer] = []  # what the jobs point to

    @property
    def memory_bytes(self) -> int:
        """Tables, working rows and lists."""
        return self._spot.table_bytes + self._walks.space_bytes

    def evaluate(self, strategy: BucketStrategy) -> Evaluation:
        """Values and best responses, in the form's unit; equivalent hands play what the first of them plays."""
        self._fill_jobs(strategy)
        results = []
        for own in range(2):
            self._walk(own)
            weight = self.form.hands[own].weight
            pairs = float(weight @ self._met[own])
            roots = [self._spot.root_values(own, way).astype(np.float64) for way in range(WAYS)]
            results.append([float(root @ weight) / pairs / self.form.unit for root in roots])
        (first, first_best), (second, second_best) = results
        # Rounding must not put a best response below the average strategy.
        return Evaluation((first, second), (max(first, first_best), max(second, second_best)))

    def first_street_values(self, strategy: BucketStrategy) -> FloatArray:
        """[2, 2, nodes, H] values times the opposing reach at the nodes of the first street, in tree order.

        For each player, both following the strategy, and the player best-responding to it. Both players must have
        equally many hands. The form must have several streets.
        """
        self._fill_jobs(strategy)
        order = np.argsort(self._spot.street_nodes(0))
        values = []
        for own in range(2):
            self._walk(own)
            hands = len(self.form.hands[own].weight)
            values.append([self._spot.street_values(own, 0, way)[0, order, :hands] for way in range(WAYS)])
        return np.array(values, dtype=np.float64)

    def _walk(self, own: int) -> None:
        if self._among.interrupted():
            raise EvaluationStopped
        self._walks.evaluate_once(own)

    def _fill_jobs(self, strategy: BucketStrategy) -> None:
        """Tell the jobs where the strategy and the buckets of hands are."""
        actions = np.diff(self.form.tree.first_child)
        addresses = np.zeros(len(self.form.tree.kind), dtype=np.uint64)  # of the table of each decision
        self._pointed = []
        for tables in strategy.tables:
            self._pointed.append(self._among.upload(tables, actions[tables.node]))
            if self._pointed[-1].size:
                addresses[tables.node] = self._on.address(self._pointed[-1]) + 4 * tables.begin
        self._pointed.append(pointers := self._on.upload(addresses))
        same = has_equal_players(self.form) and strategy.maps[0] is strategy.maps[1]
        buckets = [self._on.upload(self._buckets(player, strategy)) for player in range(1 if same else 2)]
        self._pointed += buckets
        for own, job in enumerate(self._spot.jobs):
            job["tables"] = self._on.address(pointers)
            job["own_buckets"], job["other_buckets"] = (
                self._on.address(buckets[min(player, len(buckets) - 1)]) for player in (own, 1 - own)
            )
        self._walks.update()

    def _buckets(self, player: int, strategy: BucketStrategy) -> NDArray[np.uint16]:
        """[runouts of all streets, hands, padded] the bucket of every hand; equivalent hands have that of the first."""
        form, hands = self.form, len(self.form.hands[player].weight)
        count = sum(len(street.parent) for street in form.streets)
        buckets = np.zeros((count, int(self._spot.layout.hands[player])), dtype=np.uint16)
        first = 0
        for street, map_ in zip(form.streets, strategy.maps[player], strict=True):
            if map_.max(initial=0) >= MAX_BUCKETS:
                raise InvalidGame(f"{form.name} has a bucket {map_.max():,}: the cuda engine can count {MAX_BUCKETS:,}")
            rows = buckets[first : first + len(street.parent), :hands]
            rows[:] = map_
            for symmetry in np.setdiff1d(street.symmetry, 0):  # 0: no two hands are equivalent
                runouts = np.flatnonzero(street.symmetry == symmetry)
                rows[runouts] = rows[runouts][:, form.symmetry.hands[player][symmetry]]
            rows[street.dead[player]] = 0
            first += len(street.parent)
        return buckets


if TYPE_CHECKING:
    _conforms: type[BucketEvaluator] = CudaBucketEvaluator
    _all_conform: type[BucketEvaluators] = CudaBucketEvaluators

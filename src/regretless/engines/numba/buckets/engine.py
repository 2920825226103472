"""The numba engine of the bucketed form: partial vector CFR on all cores.

An iteration draws a batch of runouts and updates each player in turn:

1. from the first street to the one before the last, the reach that leaves each line is computed;
2. from the last street to the first, each line is walked again for its values, and its tables are updated.

Lines of a street are independent of each other, so threads share them. The tables of a bundle of lines stay in a core's
cache while it goes through all runouts of the batch, so each regret and average is read and written once per iteration,
however many runouts are drawn. The parts: `plan` (the tree), `boards` (the batch), `kernels` (the walk).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.compiling.numba_internals import signatures
from regretless.engines.bucket_tables import BucketTables, TableLayout
from regretless.engines.contract import BucketedEngine
from regretless.engines.formats import met_weights, needs_wide_tiles
from regretless.engines.layout import LANES
from regretless.engines.numba.buckets.boards import Boards, arrange, board_bytes, row_width
from regretless.engines.numba.buckets.kernels import BundleScratch, Entries, LearnedTables, walk_bundles
from regretless.engines.numba.buckets.plan import BundlePlan, make_plan
from regretless.engines.threads import Workers
from regretless.forms.bucketed import BucketedForm
from regretless.variants.variant import ROW, Schedule, predicts

__all__ = ["NumbaBucketedEngine", "estimate", "kernels_are_compiled"]

WIDE_TILES = ("reach", "shown", "folded", "by_card", "pays")  # scratch in 64 bits where differences would cancel
INTEGERS = ("starts", "steps")  # scratch of 32-bit integers


class StreetWalk(NamedTuple):
    """A walk through all lines of a street."""

    street: int
    own: int
    learns: bool  # whether values are computed and tables updated, or only the reach that leaves the street
    boards: Boards
    weights: np.void  # a row of a schedule


class NumbaBucketedEngine(BucketTables):
    """One bucketed form on the CPU."""

    name = "numba"
    device = "cpu"
    tolerance = 1e-5

    def __init__(self, form: BucketedForm, *, threads: int = 1) -> None:
        super().__init__(form, np.float32)
        self.threads = threads
        self._plans = make_plan(self.layout, 0), make_plan(self.layout, 1)
        self._shares = [[_share(plan, street, threads) for street in range(len(plan.lines))] for plan in self._plans]
        self._entries = _make_entries(form, self._plans[0])
        self._scratch = [_make_scratch(form, self._plans) for _ in range(threads)]
        self._workers = Workers(threads) if threads > 1 else None
        # Compile the kernels or load them from disk, so that setup and not the first iteration pays for it.
        boards = arrange(form, form.runouts.draw(1))[0]
        walk = StreetWalk(street=0, own=0, learns=False, boards=boards, weights=np.zeros(1, ROW)[0])
        self._walk_bundles(walk, np.zeros(0, dtype=np.int64), self._scratch[0])

    @property
    def memory_bytes(self) -> int:
        """`kept_bytes`, the batch, and working rows."""
        working = sum(array.nbytes for arrays in (*self._entries, *self._scratch) for array in arrays)
        return self.kept_bytes + board_bytes(self.form) + working

    def advance(self, schedule: Schedule) -> None:
        """Run one iteration per row of `schedule`."""
        if predicts(schedule):
            self.store_predictions()
        for weights in schedule:
            boards = arrange(self.form, self.form.runouts.draw(self.iteration + 1))
            for own in range(2):
                self._learn(own, boards, weights)
            self.iteration += 1

    def _learn(self, own: int, boards: list[Boards], weights: np.void) -> None:
        first = self._entries[0]
        for rows, player in ((first.other, 1 - own), (first.own, own)):
            weight = self.form.hands[player].weight
            rows[0, 0, : len(weight)] = weight
            rows[0, 0, len(weight) :] = 0.0
        streets = range(len(boards))
        for street in streets[:-1]:
            self._walk(StreetWalk(street, own, learns=False, boards=boards[street], weights=weights))
        for street in reversed(streets):
            self._walk(StreetWalk(street, own, learns=True, boards=boards[street], weights=weights))

    def _walk(self, walk: StreetWalk) -> None:
        """Walk all lines of a street, on all threads."""
        shares = [share for share in self._shares[walk.own][walk.street] if len(share)]
        if self._workers is None or len(shares) == 1:
            for share, scratch in zip(shares, self._scratch):
                self._walk_bundles(walk, share, scratch)
            return
        self._workers.are_lost()  # in a forked process, starts new threads
        pending = [
            self._workers.submit(self._walk_bundles, walk, share, scratch)
            for share, scratch in zip(shares, self._scratch)
        ]
        for future in pending:
            future.result()

    def _walk_bundles(self, walk: StreetWalk, bundles: NDArray[np.int64], scratch: BundleScratch) -> None:
        street, own, other = walk.street, walk.own, 1 - walk.own
        walk_bundles(
            bundles,
            walk.learns,
            own,
            np.array([self.form.buckets[own][street], self.form.buckets[other][street]], dtype=np.int64),
            self._plans[own],
            walk.boards,
            self._entries[street],
            self._entries[min(street + 1, len(self._entries) - 1)],
            LearnedTables(self._regret[own], self._average[own], self._matched[own], self._matched[other]),
            scratch,
            walk.weights,
        )


def estimate(form: BucketedForm, *, threads: int = 1, predicts: bool = False, **_: object) -> int:
    """Bytes of an engine, `NumbaBucketedEngine.memory_bytes`, before anything that grows with it is built."""
    layout = TableLayout(form)
    plans = make_plan(layout, 0), make_plan(layout, 1)
    entries = sum(int(np.prod(shape)) for shape in _entry_shapes(form, plans[0]))
    scratch = sum(int(np.prod(shape)) * dtype.itemsize for shape, dtype in _scratch_parts(form, plans).values())
    return layout.learned_bytes(predicts=predicts) + board_bytes(form) + 3 * 4 * entries + threads * scratch


def kernels_are_compiled(storage: int = 32) -> bool:
    """Whether a solve can start at once; otherwise setup compiles for about 20 seconds. There is one storage."""
    try:
        return bool(signatures(walk_bundles))
    except (AttributeError, OSError):  # another version of numba, or an unreadable cache: say nothing
        return True


def _share(plan: BundlePlan, street: int, threads: int) -> list[NDArray[np.int64]]:
    """The bundles of each thread, divided so that all threads have about the same number of nodes."""
    sizes = np.diff(plan.first_node)
    shares: list[list[int]] = [[] for _ in range(threads)]
    loads = [0] * threads
    bundles = range(int(plan.first_bundle[street]), int(plan.first_bundle[street + 1]))
    for bundle in sorted(bundles, key=lambda each: -int(sizes[each])):
        lightest = loads.index(min(loads))
        shares[lightest].append(bundle)
        loads[lightest] += int(sizes[bundle])
    return [np.array(sorted(share), dtype=np.int64) for share in shares]


def _entry_shapes(form: BucketedForm, plan: BundlePlan) -> list[tuple[int, int, int]]:
    """Lines into each street, runouts of the street before, hands."""
    above = [1 if street < 2 else form.runouts.count for street in range(len(plan.lines))]
    return [(int(lines), runouts, row_width(form)) for lines, runouts in zip(plan.lines, above, strict=True)]


def _make_entries(form: BucketedForm, plan: BundlePlan) -> list[Entries]:
    shapes = _entry_shapes(form, plan)
    return [Entries(*(np.zeros(shape, dtype=np.float32) for _ in Entries._fields)) for shape in shapes]


def _scratch_parts(
    form: BucketedForm, plans: tuple[BundlePlan, BundlePlan]
) -> dict[str, tuple[int, np.dtype[np.generic]]]:
    """Sizes and types of `BundleScratch`, enough for every bundle of both players' walks."""
    width = row_width(form)
    action_buckets = max(int(plan.strategy_size.max()) for plan in plans)
    sizes = {
        "other": (max(int(plan.other_row.max()) for plan in plans) + 1) * width,
        "own": (max(int(plan.own_row.max()) for plan in plans) + 1) * width,
        "value": int(max(np.diff(plan.first_node).max() for plan in plans)) * width,
        "reach": width * LANES,
        "shown": width * LANES,
        "folded": width * LANES,
        "by_card": (form.deck + 1) * LANES,
        "pays": 4 * LANES,
        "block": LANES * LANES,
        "starts": LANES,
        "steps": LANES,
        "strategy": action_buckets,
        "action_value": action_buckets,
        "bucket_reach": max(int(plan.reach_size.max()) for plan in plans),
    }
    wide = needs_wide_tiles(form.hands, met_weights(form.hands, form.deck))
    types = {name: np.dtype(np.float64 if wide else np.float32) for name in WIDE_TILES}
    types |= {name: np.dtype(np.int32) for name in INTEGERS}
    return {name: (size, types.get(name, np.dtype(np.float32))) for name, size in sizes.items()}


def _make_scratch(form: BucketedForm, plans: tuple[BundlePlan, BundlePlan]) -> BundleScratch:
    parts = _scratch_parts(form, plans)
    scratch = BundleScratch(**{name: np.zeros(size, dtype=dtype) for name, (size, dtype) in parts.items()})
    scratch.steps[:] = np.arange(LANES) * LANES
    return scratch


if TYPE_CHECKING:
    _conforms: type[BucketedEngine] = NumbaBucketedEngine

"""One spot on a device: its tables, its working rows, and the jobs that say where they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.engines.cuda.device import Buffer, Device
from regretless.engines.cuda.public.hands import hand_tables, has_equal_players, list_sizes, max_sums
from regretless.engines.cuda.public.live import StoredLayout
from regretless.engines.cuda.public.plan import CudaWalkPlan, make_plan
from regretless.engines.cuda.public.records import ALIGNMENT, JOB, Field, Pointers, offsets_of
from regretless.engines.cuda.public.terminals import Panels
from regretless.engines.layout import Layout, block_ends
from regretless.forms.public import PublicForm
from regretless.forms.walking import walking_order

__all__ = ["APART_BYTES", "WAYS", "WAY_ROWS", "RunoutWave", "SpotWalks", "slots_of"]

WAYS = 2  # a walk of an evaluation goes up twice: for the value of the average strategy, and for the best response
WAY_ROWS = ("line_values", "earlier_values")  # rows that each of them has of its own
WAVE_BYTES = 2 << 30  # working rows of a wave
REMEMBERED_SHAPES = 32
MAX_REACH = 32768.0  # in half precision, whose largest number is 65504
APART_BYTES = 64 << 20  # of working rows: up to here each player has its own, so that both are evaluated at once

Rows = tuple[Field, int]  # what points to working rows, and the numbers in them


def slots_of(slot_bytes: int, runouts: int, most_children: int) -> int:
    """Runouts of the last street that have rows at the same time, at least all that follow one of the street above."""
    return min(max(WAVE_BYTES // max(slot_bytes, 1), most_children), runouts)


class RunoutWave(NamedTuple):
    """Runouts of the last street that have rows at the same time."""

    above: range  # the runouts of the street above that they follow; if there is none, one runout of no street
    runouts: range


def waves_of_runouts(form: PublicForm, slots: int) -> list[RunoutWave]:
    """As many runouts in a wave as have slots, all that follow one of the street above together."""
    if len(form.streets) == 1:
        return [RunoutWave(range(1), range(len(form.streets[0].parent)))]
    first_child = form.streets[-2].first_child.tolist()
    waves, start = [], 0
    for above in range(1, len(first_child)):
        if above == len(first_child) - 1 or first_child[above + 1] - first_child[start] > slots:
            waves.append(RunoutWave(range(start, above), range(first_child[start], first_child[above])))
            start = above
    return waves


def _copy(jobs: NDArray[np.void]) -> NDArray[np.void]:
    return jobs.view(np.uint8).copy().view(JOB)  # as bytes: NumPy copies records field by field, slowly


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


class _Shape:
    """What spots with the same plans and deck have in common: which working rows and lists there are, and where.

    Only the lists of operations differ from spot to spot, so they come last.
    """

    def __init__(
        self,
        layout: Layout,
        plans: tuple[CudaWalkPlan, CudaWalkPlan],
        *,
        products: bool,
        equal_players: bool,
        most_children: int,
        blocks: int,
    ) -> None:
        """`blocks` of the second street are summed apart: those of a part of a form."""
        self._products, self._equal_players = products, equal_players
        last = [plan.streets[-1] for plan in plans]
        self._last_hands = [(int(street["own_hands"]), int(street["other_hands"])) for street in last]
        slot_rows = [_slot_rows(plan) for plan in plans]
        slot = 4 * sum(map(max, *(each[:3] for each in slot_rows)))  # if the players take turns
        self.slots = slots_of(slot, int(layout.runouts[-1]), most_children)
        rows = [_rows(plan, self.slots, each) for plan, each in zip(plans, slot_rows, strict=True)]
        pairs = list(zip(*rows, strict=True))
        self.apart = 4 * sum(max(one[1], two[1]) for one, two in pairs) <= APART_BYTES  # whether each has its own
        lines = int(plans[0].streets[1]["lines"]) if blocks else 0
        block_sums = 8 * blocks * lines * int(layout.hands.max()), ((0, "block_sums"), (1, "block_sums"))
        blank = [*self._blank(layout, pairs), block_sums]
        sizes, fields = tuple(size for size, _ in blank), tuple(each for _, each in blank)
        self.offsets = offsets_of(sizes, fields)
        begins = {field: begin for begin, each in zip(self.offsets.begins, fields, strict=True) for field in each}
        self.ways = {  # [ways, players]
            name: np.array([[begins[~own, f"{name}_{way}"] for own in range(2)] for way in range(WAYS)])
            for name in WAY_ROWS
        }
        self.jobs = np.zeros(2, dtype=JOB)
        for own, job in enumerate(self.jobs):
            job["own_hands"], job["other_hands"] = layout.hands[own], layout.hands[1 - own]
            job["deck"], job["nodes"] = layout.form.deck, len(layout.form.tree.kind)
            job["last_street"] = len(layout.form.streets) - 1

    def _blank(self, layout: Layout, rows: Iterable[tuple[Rows, Rows]]) -> Iterator[tuple[int, tuple[Field, ...]]]:
        """Bytes of everything that walks fill, and the fields that point to it; `rows` are those of both players."""
        for one, two in rows:
            if self.apart:
                yield from ((4 * count, (field,)) for field, count in (one, two))
            else:
                yield 4 * max(one[1], two[1]), (one[0], two[0])
        for own in range(1 if self._equal_players else 2):
            for name, size in list_sizes(layout, self._last_hands[own], own, products=self._products).items():
                yield size, ((0, name), (1, name)) if self._equal_players else ((own, name),)


def _slot_rows(plan: CudaWalkPlan) -> tuple[int, int, int, int]:
    """Numbers in the opponent's rows, own rows, values and values of lines of one runout of the last street."""
    street = plan.streets[-1]
    own_hands, other_hands = int(street["own_hands"]), int(street["other_hands"])
    own_rows, values, lines = (int(street[name]) * own_hands for name in ("own_rows", "value_rows", "lines"))
    return int(street["opponent_rows"]) * other_hands, own_rows, values, lines


def _rows(plan: CudaWalkPlan, slots: int, last: tuple[int, int, int, int]) -> Iterator[Rows]:
    """The fields of a player's working rows, and how many numbers they have; job ~own has those of each way."""
    for which, name in enumerate(("opponent_rows", "own_rows", "value_rows")):
        yield (plan.own, name), slots * last[which] + (plan.earlier_rows[which] if which < 2 else 0)
    for name, count in zip(WAY_ROWS, (plan.line_values + slots * last[3], plan.earlier_rows[2]), strict=True):
        for way in range(WAYS):
            yield (~plan.own, f"{name}_{way}"), count


_shapes: dict[tuple[object, ...], _Shape] = {}  # the latest


def _shape_of(
    layout: Layout, plans: tuple[CudaWalkPlan, CudaWalkPlan], *, products: bool, equal_players: bool
) -> _Shape:
    """The shape of a spot; numbers of hands and runouts are not in the key, since each plan is made for some."""
    form = layout.form
    most_children = int(np.diff(form.streets[-2].first_child).max(initial=0)) if len(form.streets) > 1 else 1
    blocks = 0 if form.part is None else len(block_ends(form)) - 1
    key = *plans, form.deck, len(form.symmetry.cards), products, equal_players, most_children, blocks
    if key not in _shapes:
        while len(_shapes) >= REMEMBERED_SHAPES:
            del _shapes[next(iter(_shapes))]
        _shapes[key] = _Shape(
            layout, plans, products=products, equal_players=equal_players, most_children=most_children, blocks=blocks
        )
    return _shapes[key]


class SpotWalks:
    """One spot on a device: the jobs of both players and what they point to, except stored numbers."""

    def __init__(
        self,
        device: Device,
        layout: Layout,
        units: Sequence[float],
        *,
        products: bool = False,
        stored: StoredLayout | None = None,
        blank: Callable[[int], Buffer] | None = None,
    ) -> None:
        """`blank(size)` allocates zeroed bytes for working rows and lists; by default the device does.

        `products`: terminals are matrix products while a player learns. `stored`: where numbers are on the device.
        """
        self.device, self.layout = device, layout
        self.stored = StoredLayout(layout, None) if stored is None else stored
        self.plans = make_plan(layout, 0, self.stored), make_plan(layout, 1, self.stored)
        self.equal_players = has_equal_players(layout.form)  # they share their tables and lists
        self._shape = _shape_of(layout, self.plans, products=products, equal_players=self.equal_players)
        first = max_sums(layout.form, 0)
        self.sums = first, first if self.equal_players else max_sums(layout.form, 1)
        self.slots, self.apart = self._shape.slots, self._shape.apart
        self.waves = waves_of_runouts(layout.form, self.slots)
        self.jobs = _copy(self._shape.jobs)
        self._pointed: list[Buffer] = []  # what the jobs point to: as long as they do, it must not be freed
        self._widths: list[int] = []  # of both players' pieces of terminals
        self._panel_bytes = 0  # at most, of their panels
        tables = hand_tables(layout, units, self.stored.live)
        self._point(device.upload(tables.block), tables.offsets.pointers)
        for plan in self.plans:
            self._point(device.once(plan, plan.packed.get_block), plan.packed.offsets.pointers)
        finals, end = int(layout.runouts[-1]), self._shape.offsets.size
        sizes = [_aligned(4 * finals * sums.operations) for sums in self.sums]
        ends, size = (end, end + sizes[0]), end + sum(sizes)
        if self.equal_players:
            ends, size = (end, end), end + sizes[0]
        self._blank_buffer = blank(size) if blank else device.zeros(size, np.dtype(np.uint8))
        self.blank_address = device.address(self._blank_buffer) if size else 0
        self._point(self._blank_buffer, self._shape.offsets.pointers)
        self.jobs["operations"] = [self.blank_address + end for end in ends]
        self.jobs["max_operations"] = [sums.operations for sums in self.sums]
        if products:
            for plan, job in zip(self.plans, self.jobs, strict=True):
                heaviest = float(layout.form.hands[1 - plan.own].weight.max()) * units[plan.own]
                job["reach_scale"] = 2.0 ** np.floor(np.log2(MAX_REACH / heaviest)) if heaviest > 0 else 1.0
                job["middle"] = plan.middle or 0.0

    def twin(self) -> SpotWalks:
        """The same spot with jobs of its own, which can be changed alone."""
        twin = copy(self)
        twin.jobs = _copy(self.jobs)
        return twin

    @property
    def way_rows(self) -> dict[str, NDArray[np.int64]]:
        """[ways, players] where the rows of each way up begin, counted from `blank_address`; -1 for none."""
        return self._shape.ways

    def _point(self, buffer: Buffer, pointers: Pointers) -> None:
        """Let fields of the jobs point into a buffer."""
        self._pointed = [*self._pointed, buffer]  # a new list: a twin of this spot adds to its own alone
        if buffer.size:
            pointers.point(self.jobs, self.device.address(buffer))

    def cut(self, widths: list[int]) -> None:
        """Cut both players' terminals into pieces of at most these widths, unless they are cut that way already."""
        if self._widths == widths:
            return
        self._widths = widths
        for plan, width in zip(self.plans, widths, strict=True):
            cut, tables = plan.cut(width)
            self.jobs[plan.own]["piece_count"] = len(cut.pieces)
            self._point(self.device.once((plan, width), tables.get_block), tables.offsets.pointers)

    def lay_panels(self, max_bytes: int) -> int:
        """Lay both players' terminals in panels of at most `max_bytes`; returns the bytes of the largest."""
        if self._panel_bytes != max_bytes:
            self._panel_bytes = max_bytes
            for plan in self.plans:
                hands = int(self.layout.hands[1 - plan.own])
                _, tables = plan.panels(hands, max_bytes)
                self._point(self.device.once((plan, hands, max_bytes), tables.get_block), tables.offsets.pointers)
        return max(panels.bytes for panels in self.panels)

    @property
    def panels(self) -> list[Panels]:
        """Of both players' terminals, as laid."""
        pairs = ((plan, int(self.layout.hands[1 - plan.own])) for plan in self.plans)
        return [plan.panels(hands, self._panel_bytes)[0] for plan, hands in pairs]

    @property
    def table_bytes(self) -> int:
        """Bytes of tables and working rows."""
        return sum({id(buffer): int(buffer.nbytes) for buffer in self._pointed}.values())

    def _floats(self, begin: int, count: int) -> NDArray[np.float32]:
        part = self._blank_buffer[begin : begin + 4 * count]
        return self.device.download(part).view(np.float32)

    def fill(self, begin: int, numbers: NDArray[np.float32]) -> None:
        """Replace working numbers, at a byte counted from `blank_address`."""
        self.device.assign(self._blank_buffer[begin : begin + numbers.nbytes], numbers.view(np.uint8))

    def filled(self, own: int, name: str, first: int, size: int) -> Buffer:
        """The bytes of a working array, such as "opponent_rows" of the walks of `own`, from byte `first` of it on."""
        begin = int(self.jobs[own][name]) - self.blank_address + first
        return self._blank_buffer[begin : begin + size]

    def root_values(self, own: int, way: int = 0) -> NDArray[np.float32]:
        """[H] values of the own player's hands at the root, after an evaluation of that player alone."""
        return self._floats(int(self.way_rows["line_values"][way, own]), len(self.layout.form.hands[own].weight))

    def street_nodes(self, street: int) -> list[int]:
        """The betting nodes of a street in walking order."""
        order = walking_order(self.layout.form.tree)
        nodes: list[int] = order.node[order.street == street].tolist()
        return nodes

    def street_values(self, own: int, street: int, way: int = 0) -> NDArray[np.float32]:
        """[runouts, nodes in walking order, hands, padded] values after an evaluation, of a street before the last."""
        record = self.plans[own].streets[street]
        shape = int(self.layout.runouts[street]), int(record["value_rows"]), int(self.layout.hands[own])
        begin = int(self.way_rows["earlier_values"][way, own]) + 4 * int(record["value_begin"])
        return self._floats(begin, int(np.prod(shape))).reshape(shape)

"""One spot on a device: its tables, its working rows, and the jobs that say where they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from regretless.engines.public.cuda.device import Buffer, Device
from regretless.engines.public.cuda.tables.hands import hand_tables, has_equal_players, list_sizes, most_sums
from regretless.engines.public.cuda.tables.packing import Field, Pointers, pack, places_of, pointers_of
from regretless.engines.public.cuda.tables.program import make_plan
from regretless.engines.public.cuda.tables.records import JOB
from regretless.engines.public.layout import Layout, walking_order

__all__ = ["APART_BYTES", "WAYS", "WAY_ROWS", "SpotWalks", "slots_of"]

WAYS = 2  # in which a walk can go up: evaluations need the mean and the best response
WAY_ROWS = ("line_values", "earlier_values")  # what each way up has of its own
WAVE_BYTES = 2 << 30  # working rows of a wave
APART_BYTES = 64 << 20  # working rows up to which each player has its own, so that both can be evaluated at once

Rows = tuple[Field, int]  # what points to working rows, and the numbers in them


def slots_of(slot_bytes: int, runouts: int) -> int:
    """Runouts of the last street that have rows at the same time."""
    return min(max(WAVE_BYTES // max(slot_bytes, 1), 1), runouts)


class SpotWalks:
    """One spot on a device: the jobs of both players and what they point to, except stored numbers."""

    def __init__(self, device: Device, layout: Layout, units: Sequence[float]) -> None:
        self.device, self.layout = device, layout
        self.plans = make_plan(layout, 0), make_plan(layout, 1)
        first = most_sums(layout.form, 0)
        self.sums = first, first if has_equal_players(layout.form) else most_sums(layout.form, 1)
        self.jobs = np.zeros(2, dtype=JOB)
        self._held: list[Buffer] = []  # so that nothing is freed
        self._widths: tuple[int, int] | None = None  # of pieces of terminals
        slot = 4 * sum(map(max, zip(*map(self._slot_rows, range(2)), strict=True)))  # if the players take turns
        self.slots = slots_of(slot, int(layout.runouts[-1]))
        rows = list(zip(*map(self._rows, range(2)), strict=True))
        self.apart = 4 * sum(max(one[1], two[1]) for one, two in rows) <= APART_BYTES  # whether they need not
        tables = pack(hand_tables(layout, units))
        self._point(device.upload(tables.block), tables.pointers)
        for plan in self.plans:
            self._point(device.once(plan, plan.packed.get_block), plan.packed.pointers)
        places, size = places_of(self._blank(rows))
        self._blank_buffer = device.zeros(size, np.dtype(np.uint8))
        self._point(self._blank_buffer, pointers_of(places))
        found = {field: begin for begin, fields in places for field in fields}
        self._ways = {  # [ways][players]
            name: [[found[~own, f"{name}_{way}"] for own in range(2)] for way in range(WAYS)] for name in WAY_ROWS
        }
        base = device.address(self._blank_buffer) if size else 0
        self.way_addresses = {
            name: [[base + begin if begin >= 0 else 0 for begin in each] for each in begins]
            for name, begins in self._ways.items()
        }
        for own, job in enumerate(self.jobs):
            job["own_hands"], job["other_hands"] = layout.hands[own], layout.hands[1 - own]
            job["deck"], job["nodes"] = layout.form.deck, len(layout.form.tree.kind)
            job["last_street"], job["most_operations"] = len(layout.form.streets) - 1, self.sums[own].operations

    def _slot_rows(self, own: int) -> tuple[int, int, int]:
        """Numbers in the opponent's rows, own rows and values of one runout of the last street."""
        street = self.plans[own].streets[-1]
        mine, theirs = int(self.layout.hands[own]), int(self.layout.hands[1 - own])
        return int(street["opponent_rows"]) * theirs, int(street["own_rows"]) * mine, int(street["value_rows"]) * mine

    def _blank(self, rows: Iterable[tuple[Rows, Rows]]) -> Iterator[tuple[int, Sequence[Field]]]:
        """Bytes of everything that walks fill, and the fields that point to it; `rows` are those of both players."""
        for one, two in rows:
            if self.apart:
                yield from ((4 * count, [field]) for field, count in (one, two))
            else:
                yield 4 * max(one[1], two[1]), [one[0], two[0]]
        for own in range(2):
            for name, (count, dtype) in list_sizes(self.layout, own, self.sums[own]).items():
                yield count * dtype.itemsize, [(own, name)]

    def _rows(self, own: int) -> Iterator[Rows]:
        """The fields of a player's working rows, and how many numbers they have; job ~own has those of each way."""
        plan, last = self.plans[own], self._slot_rows(own)
        for which, name in enumerate(("opponent_rows", "own_rows", "value_rows")):
            yield (own, name), self.slots * last[which] + (plan.earlier_rows[which] if which < 2 else 0)
        for name, count in zip(WAY_ROWS, (plan.line_values, plan.earlier_rows[2]), strict=True):
            for way in range(WAYS):
                yield (~own, f"{name}_{way}"), count

    def _point(self, buffer: Buffer, pointers: Pointers) -> None:
        """Let fields of the jobs point into a buffer."""
        self._held = [*self._held, buffer]  # a new list: a copy of this spot in a batch holds what it adds alone
        base = self.device.address(buffer) if buffer.size else 0
        # All in one step: this runs for each of a thousand spots.
        self.jobs.view(np.uint64).reshape(2, -1)[pointers.jobs, pointers.columns] = pointers.addresses(base)

    def cut(self, width: int, fold_width: int) -> None:
        """Cut showdowns and folds into pieces of at most so many, unless they are cut that way already."""
        if self._widths == (width, fold_width):
            return
        self._widths = width, fold_width
        for plan in self.plans:
            pieces = plan.pieces(width, fold_width)
            self._point(self.device.once((plan, width, fold_width), pieces.get_block), pieces.pointers)

    @property
    def table_bytes(self) -> int:
        """Bytes of tables and working rows."""
        return sum({id(buffer): int(buffer.nbytes) for buffer in self._held}.values())

    def _floats(self, begin: int, count: int) -> NDArray[np.float32]:
        part = self._blank_buffer[begin : begin + 4 * count]
        return self.device.download(part).view(np.float32)

    def root_values(self, own: int, way: int = 0) -> NDArray[np.float32]:
        """[H] values of the own player's hands at the root, after an evaluation of that player alone."""
        return self._floats(self._ways["line_values"][way][own], len(self.layout.form.hands[own].weight))

    def street_nodes(self, street: int) -> list[int]:
        """The betting nodes of a street in walking order."""
        tree = self.layout.form.tree
        return [node for node in walking_order(tree)[0] if tree.street[node] == street]

    def street_values(self, own: int, street: int, way: int = 0) -> NDArray[np.float32]:
        """[runouts, nodes in walking order, hands, padded] values after an evaluation, of a street before the last."""
        record = self.plans[own].streets[street]
        shape = int(self.layout.runouts[street]), int(record["value_rows"]), int(self.layout.hands[own])
        begin = self._ways["earlier_values"][way][own] + 4 * int(record["value_at"])
        return self._floats(begin, int(np.prod(shape))).reshape(shape)

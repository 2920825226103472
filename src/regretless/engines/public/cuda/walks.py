"""Walks of one or many spots on a device, launched together.

Every spot has a job for each player: a record that says where its tables, stored numbers and working rows are. A walk
is a fixed sequence of launches over lists of items, each a piece of some spot's tree on one of its runouts:

    down the first street, … down the last but one
    in waves of runouts: down the last street, its showdowns and folds, up the last street
    leaves and up the last but one, … leaves and up the first

Runouts of the last street take turns with the working rows. Waves as large as memory allows are fastest: smaller ones
would keep the rows in the L2 cache, but cost more in launches than they save in traffic. One iteration walks both
players in turn. It is recorded once and repeated; a counter on the device says which weights apply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.engines.public.cuda.device import Array, Buffer, Device
from regretless.engines.public.cuda.program import make_plan
from regretless.engines.public.cuda.records import ITEM, JOB, ROOMS, SEGMENTS, STEP, UNIT
from regretless.engines.public.cuda.source import KernelOptions, kernel_source
from regretless.engines.public.cuda.tables import hand_tables, list_sizes, most_sums
from regretless.engines.public.layout import Layout, walking_order

__all__ = ["CAPACITY", "Mode", "SpotWalks", "Walks"]

CAPACITY = 256  # iterations whose weights are on the device at once
STEP_THREADS = 128  # of a block that walks decisions
FOUR = 4  # hands of such a thread
WAYS = 2  # in which a walk can go up: evaluations need the mean and the best response
WAVE_BYTES = 2 << 30  # working rows of a wave
WARP = 32  # lanes, at most a column each
FOLD_WIDTH, FOLD_THREADS = 32, 256  # columns of a tile of folds and threads of its block, as in the kernels
PROCESSOR_SHARED = 228 * 1024  # bytes of shared memory of a processor, of which every block takes
BLOCK_SHARED = 1024  # for itself
STATIC_SHARED = 1024  # bytes that the kernels declare
# Threads of a block and blocks of a processor, best first: two hide each other's waits.
SHARINGS = ((512, 2), (1024, 1))

Records = NDArray[np.void]


class Mode(StrEnum):
    """What the own player does: regret matching, a best response, the average strategy."""

    LEARN = "learn"
    BEST = "best"
    MEAN = "mean"


class SpotWalks:
    """One spot on a device: the jobs of both players and what they point to, except stored numbers."""

    def __init__(self, device: Device, layout: Layout, units: Sequence[float]) -> None:
        self.device, self.layout = device, layout
        self.plans = make_plan(layout, 0), make_plan(layout, 1)
        self.sums = [most_sums(layout.form, own) for own in range(2)]
        self.steps = device.zeros(CAPACITY, STEP)
        self.jobs = np.zeros(2, dtype=JOB)
        self._held: list[Buffer] = []  # so that nothing is freed
        self.slots = self._choose_slots()
        self.rows = self._make_rows()
        lines = max(plan.line_values for plan in self.plans)
        self.line_values = [self._floats(lines) for _ in range(WAYS)]
        self._held += self.line_values
        for own in range(2):
            self._fill_job(own, units[own])

    def _choose_slots(self) -> int:
        """Runouts of the last street that have rows at the same time."""
        largest = max(4 * sum(size) for size in (self._slot_rows(own) for own in range(2)))
        wave = max(WAVE_BYTES // max(largest, 1), 1)
        return min(wave, int(self.layout.runouts[-1]))

    def _slot_rows(self, own: int) -> tuple[int, int, int]:
        """Numbers in the opponent's rows, own rows and values of one runout of the last street."""
        street = self.plans[own].streets[-1]
        mine, theirs = int(self.layout.hands[own]), int(self.layout.hands[1 - own])
        return int(street["opponent_rows"]) * theirs, int(street["own_rows"]) * mine, int(street["value_rows"]) * mine

    def _make_rows(self) -> list[Buffer]:
        """Opponent's rows, own rows, values; the players take turns with them."""
        return [
            self._floats(
                max(self.plans[own].earlier_rows[which] + self.slots * self._slot_rows(own)[which] for own in range(2))
            )
            for which in range(3)
        ]

    def _floats(self, count: int) -> Buffer:
        return self.device.zeros(count, np.dtype(np.float32))

    def _fill_job(self, own: int, unit: float) -> None:
        plan, layout, job = self.plans[own], self.layout, self.jobs[own]
        for name, table in hand_tables(layout, own, unit):
            self._keep(job, name, self.device.upload(table))
        for name, (count, dtype) in list_sizes(layout, own, self.sums[own]).items():
            self._keep(job, name, self.device.zeros(count, dtype))
        tables: dict[str, Array] = {"streets": plan.streets, "lines": plan.lines, "decisions": plan.decisions}
        tables |= {"children": plan.children, "leaves": plan.leaves}
        tables |= {"showdowns": plan.showdowns.records, "folds": plan.folds.records}
        for name, table in tables.items():
            self._keep(job, name, self.device.upload(table))
        for name, buffer in zip(("opponent_rows", "own_rows", "value_rows"), self.rows):
            self._keep(job, name, buffer)
        self._keep(job, "steps", self.steps)
        job["own_hands"], job["other_hands"] = layout.hands[own], layout.hands[1 - own]
        job["deck"], job["nodes"] = layout.form.deck, len(layout.form.tree.kind)
        job["last_street"], job["most_operations"] = len(layout.form.streets) - 1, self.sums[own].operations

    def cut(self, width: int) -> None:
        """Cut the showdowns into pieces of at most `width`, the folds as their kernel wants them."""
        for job, plan in zip(self.jobs, self.plans):
            for name, terminals, most in (("showdown", plan.showdowns, width), ("fold", plan.folds, FOLD_WIDTH)):
                first, pays = terminals.pieces(most)
                self._keep(job, f"{name}_first", self.device.upload(first))
                self._keep(job, f"{name}_pays", self.device.upload(pays))

    def _keep(self, job: Any, name: str, buffer: Buffer) -> None:
        self._held.append(buffer)
        job[name] = self.device.address(buffer) if buffer.size else 0

    @property
    def table_bytes(self) -> int:
        """Bytes of tables and working rows."""
        return sum({id(buffer): int(buffer.nbytes) for buffer in self._held}.values())

    def root_values(self, own: int, way: int = 0) -> NDArray[np.float32]:
        """[H] values of the own player's hands at the root, after a walk."""
        return self.device.download(self.line_values[way][: len(self.layout.form.hands[own].weight)])

    def street_nodes(self, street: int) -> list[int]:
        """The betting nodes of a street in walking order."""
        tree = self.layout.form.tree
        return [node for node in walking_order(tree)[0] if tree.street[node] == street]

    def street_values(self, own: int, street: int) -> NDArray[np.float32]:
        """[runouts, nodes in walking order, hands, padded] values after a walk, of a street before the last."""
        record = self.plans[own].streets[street]
        shape = int(self.layout.runouts[street]), int(record["value_rows"]), int(self.layout.hands[own])
        begin = int(record["value_at"])
        return self.device.download(self.rows[2][begin : begin + int(np.prod(shape))]).reshape(shape)


class Walks:
    """Launches over spots of equally many streets on a device. `jobs` are shared: change them and call `update`."""

    def __init__(self, device: Device, spots: Sequence[SpotWalks], *, storage: int, wide: bool, predicts: bool) -> None:
        self.device, self.spots = device, spots
        self._iterate: Callable[[], None] | None = None  # the recorded launches of an iteration
        self._streets = len(spots[0].layout.form.streets)
        self._deck = max(spot.layout.form.deck for spot in spots)
        self._next = device.zeros(1, np.dtype(np.int32))
        self.options, self.rooms = self._choose(KernelOptions(storage=storage, wide=wide, predicts=predicts))
        self._kernels = device.compile(kernel_source(), self.options.flags())
        for spot in spots:
            spot.cut(self.options.width)
        self._jobs = [device.upload(self._all_jobs(way)) for way in range(WAYS)]
        self._earlier = [[_Street(device, spots, own, street) for street in range(self._streets - 1)] for own in (0, 1)]
        self._waves = [list(_waves(device, spots, own, self.options.width)) for own in range(2)]
        blocks = max((wave.showdowns for waves in self._waves for wave in waves), default=0)
        self._room_buffers = [device.upload(room.reshape(1)) for room in self.rooms]
        outside = max(int(room["block_bytes"]) for room in self.rooms)
        self._space = device.zeros(max(outside * blocks, 1), np.dtype(np.uint8))

    @property
    def space_bytes(self) -> int:
        """Working memory of the blocks that does not fit in shared memory."""
        return int(self._space.nbytes)

    def _all_jobs(self, way: int) -> Records:
        """The jobs of all spots; each way up has values of lines of its own."""
        jobs = np.concatenate([spot.jobs for spot in self.spots])
        jobs["line_values"] = [self.device.address(spot.line_values[way]) for spot in self.spots for _ in range(2)]
        return jobs

    def update(self) -> None:
        """Tell the device about changed jobs."""
        for way, jobs in enumerate(self._jobs):
            self.device.assign(jobs, self._all_jobs(way))

    def make_lists(self) -> None:
        """Fill the lists of every final runout; once, before the first walk."""
        for own in range(2):
            finals = np.concatenate(
                [
                    _items(2 * number + own, range(int(spot.layout.runouts[-1])), range(1))
                    for number, spot in enumerate(self.spots)
                ]
            )
            units = SEGMENTS + self._deck
            shared = 4 * (2 * (self._deck + 1) + units) + 13 * self._hands(own) + 6 * self._hands(1 - own)
            self._kernels["make_lists"]((len(finals),), 256, shared, self._jobs[0], self.device.upload(finals))
            self.device.wait()

    def _hands(self, player: int) -> int:
        return max(int(spot.layout.hands[player]) for spot in self.spots)

    def walk(self, own: int, *modes: Mode) -> None:
        """Launch one player's walk, with one way up for each mode."""
        down = self._kernels["learn_down" if Mode.LEARN in modes else "mean_down"]
        both = -(-self._hands(own) // (FOUR * 32)) * 32 + self._hands(1 - own) // FOUR
        down_blocks, up_blocks = -(-both // STEP_THREADS), -(-self._hands(own) // (FOUR * STEP_THREADS))
        jobs, last = self._jobs[0], np.int32(self._streets - 1)
        for number, street in enumerate(self._earlier[own]):
            if street.lines:
                down(
                    (street.lines, down_blocks), STEP_THREADS, 0, jobs, street.line_items, np.int32(number), self._next
                )
        for wave in self._waves[own]:
            down((wave.lines, down_blocks), STEP_THREADS, 0, jobs, wave.line_items, last, self._next)
            if wave.showdowns:
                self._kernels["showdowns"](
                    (wave.showdowns,),
                    self.options.threads,
                    int(self.rooms[own]["bytes"]),
                    jobs,
                    wave.showdown_items,
                    self._room_buffers[own],
                    self._space,
                )
            if wave.folds:
                self._kernels["folds"]((wave.folds,), FOLD_THREADS, self._fold_bytes(own), jobs, wave.fold_items)
            for way, mode in enumerate(modes):
                up = self._kernels[f"{mode}_up"]
                up((wave.lines, up_blocks), STEP_THREADS, 0, self._jobs[way], wave.line_items, last, self._next)
        leaf_blocks, shared = -(-self._hands(own) // STEP_THREADS), (self._deck + 1 + 32) * 8
        for way, mode in enumerate(modes):
            up, jobs = self._kernels[f"{mode}_up"], self._jobs[way]
            for number, street in reversed(list(enumerate(self._earlier[own]))):
                at = np.int32(number)
                if street.leaves:
                    grid = (street.leaves, leaf_blocks)
                    self._kernels["leaves"](grid, STEP_THREADS, shared, jobs, street.leaf_items, at)
                if street.lines:
                    up((street.lines, up_blocks), STEP_THREADS, 0, jobs, street.line_items, at, self._next)

    def _fold_bytes(self, own: int) -> int:
        """Shared memory of a block that evaluates folds."""
        stride, real = FOLD_WIDTH + 2, 8 if self.options.wide else 4
        return (self._hands(1 - own) + 1) * stride * 4 + 8 + (1 + self._deck) * stride * real

    def run(self, steps: Records, buffer: Buffer, launch: Callable[[], None]) -> None:
        """Run iterations: `steps` [spots, iterations] are uploaded to `buffer`, and `launch` launches one iteration."""
        for begin in range(0, steps.shape[1], CAPACITY):
            rows = steps[:, begin : begin + CAPACITY]
            padded = np.zeros((len(steps), CAPACITY), dtype=STEP)
            padded[:, : rows.shape[1]] = rows
            self.device.assign(buffer, padded.reshape(-1))
            self.device.assign(self._next, np.zeros(1, dtype=np.int32))
            for _ in range(rows.shape[1]):
                if self._iterate is None:
                    launch()  # the first launch loads the kernels, which cannot be recorded
                    self._iterate = self.device.record(launch)
                else:
                    self._iterate()
            self.device.wait()

    def forget(self) -> None:
        """Record the next iteration anew: other kernels take part in it."""
        self._iterate = None

    def hold(self, number: int, own: int) -> None:
        """Launch what puts the locked strategies of a spot's player back."""
        self._kernels["hold"]((64,), STEP_THREADS, 0, self._jobs[0], np.int32(2 * number + own))

    def tick(self) -> None:
        """Launch the step to the next iteration's weights."""
        self._kernels["tick"]((1,), 1, 0, self._next)

    def _choose(self, options: KernelOptions) -> tuple[KernelOptions, list[Any]]:
        """Decide how wide tiles are, what of them lies in shared memory and how many threads share it."""
        most = max(max(len(plan.showdowns.records) for spot in self.spots for plan in spot.plans), 1)
        for inside in (("reach", "parts"), ("reach",), ()):
            for threads, blocks in SHARINGS:
                for count in range(-(-most // WARP), most + 1):
                    chosen = replace(
                        options,
                        width=-(-most // count),
                        reach_shared="reach" in inside,
                        parts_shared="parts" in inside,
                        threads=threads,
                        blocks=blocks,
                    )
                    if chosen.width < min(most, WARP // 2):
                        break  # too few lanes would work
                    rooms = [self._rooms(own, chosen) for own in range(2)]
                    share = PROCESSOR_SHARED // blocks - BLOCK_SHARED
                    if (
                        max(int(room["bytes"]) for room in rooms)
                        <= min(share, self.device.shared_bytes) - STATIC_SHARED
                    ):
                        return chosen, rooms
        raise AssertionError("even the lists of a runout do not fit in shared memory")

    def _rooms(self, own: int, options: KernelOptions) -> Any:
        """Where everything lies in the shared memory of a block that evaluates terminals, or outside it."""
        m, real, row = self._hands(1 - own), 8 if options.wide else 4, options.stride
        groups, pairs, operations = (max(counts) for counts in zip(*(spot.sums[own] for spot in self.spots)))
        sizes = {
            "reach": (m + 1) * row * 4,
            "parts": (1 + pairs) * row * real,
            "base": groups * row * real,
            "partial": SEGMENTS * row * real,
            "operations": operations * 4,
            "units": (SEGMENTS + self._deck + 1) * UNIT.itemsize,
        }
        inside = {"reach": options.reach_shared, "parts": options.parts_shared}
        room = np.zeros(1, dtype=ROOMS)[0]
        at = outside = 0
        for name, size in sizes.items():
            padded = -(-size // 16) * 16
            room[name] = at if inside.get(name, True) else outside
            if inside.get(name, True):
                at += padded
            else:
                outside += padded
        room["bytes"], room["block_bytes"] = at, -(-outside // 128) * 128
        return room


class _Street:
    """The work of a street before the last for one player's walks: lines and leaves on every runout."""

    def __init__(self, device: Device, spots: Sequence[SpotWalks], own: int, street: int) -> None:
        lines, leaves = [], []
        for number, spot in enumerate(spots):
            plan, runouts, job = spot.plans[own], range(int(spot.layout.runouts[street])), 2 * number + own
            lines.append(_items(job, runouts, range(int(plan.streets[street]["lines"]))))
            leaves.append(_items(job, runouts, range(plan.leaf_first[street], plan.leaf_first[street + 1])))
        self.lines, self.leaves = sum(map(len, lines)), sum(map(len, leaves))
        self.line_items, self.leaf_items = device.upload(np.concatenate(lines)), device.upload(np.concatenate(leaves))


class _Wave:
    """Runouts of the last street that are walked together."""

    def __init__(self, device: Device, lines: list[Records], showdowns: list[Records], folds: list[Records]) -> None:
        self.lines, self.showdowns, self.folds = (sum(map(len, each)) for each in (lines, showdowns, folds))
        self.line_items, self.showdown_items, self.fold_items = (
            device.upload(np.concatenate(each)) for each in (lines, showdowns, folds)
        )


def _waves(device: Device, spots: Sequence[SpotWalks], own: int, width: int) -> Iterator[_Wave]:
    """Waves of one player's walks: in each, every spot has some runouts in its share of the rows."""
    count = max(-(-int(spot.layout.runouts[-1]) // spot.slots) for spot in spots)
    for wave in range(count):
        lines: list[Records] = []
        showdowns: list[Records] = []
        folds: list[Records] = []
        for number, spot in enumerate(spots):
            finals = int(spot.layout.runouts[-1])
            runouts = range(min(wave * spot.slots, finals), min((wave + 1) * spot.slots, finals))
            job, plan = 2 * number + own, spot.plans[own]
            lines.append(_items(job, runouts, range(int(plan.streets[-1]["lines"])), 0))
            for found, terminals, most in ((showdowns, plan.showdowns, width), (folds, plan.folds, FOLD_WIDTH)):
                found.append(_items(job, runouts, range(-(-len(terminals.records) // most)), 0))
        yield _Wave(device, lines, showdowns, folds)


def _items(job: int, runouts: range, pieces: range, slot: int | None = None) -> Records:
    """Every piece on every runout; rows are the runout's own, or those from `slot` on."""
    items = np.zeros((len(runouts), len(pieces)), dtype=ITEM)
    items["job"], items["runout"] = job, np.array(runouts, dtype=np.int32)[:, None]
    items["piece"] = np.array(pieces, dtype=np.int32)
    items["slot"] = items["runout"] if slot is None else slot + np.arange(len(runouts))[:, None]
    return items.ravel()

"""Walks of one or many spots on a device, launched together.

Every spot has a job for each player: a record that says where its tables, stored numbers and working rows are. A walk
is a fixed sequence of launches over lists of items, each a runout of some spot or a piece of its tree on one of them:

    down the first street, … down the last but one
    in waves of runouts: down the last street, its terminals, up the last street, the leaves above it
    up the last but one, the leaves above it, … up the first

Runouts of the last street take turns with the working rows; all that follow one runout of the street above are in one
wave. Waves as large as memory allows are fastest: smaller ones would keep the rows in the L2 cache, but cost more in
launches than they save in traffic. One iteration walks both players in turn; where the first street is walked by
levels, a single launch ends one walk and begins the next. An evaluation walks both in turn too, or both at once if
their rows are apart, and goes up in two ways at once. Iterations and evaluations are recorded once and repeated; the
weights of the iterations to come are copied to the device ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from itertools import product, zip_longest

import numpy as np
from numpy.typing import NDArray

from regretless.engines.cuda.device import Buffer, Device, Records
from regretless.engines.cuda.public.records import ITEM, JOB, SEGMENTS, STEP, TERM
from regretless.engines.cuda.public.source import (
    BLOCK_SHARED,
    HANDS,
    KERNELS,
    LEVEL_THREADS,
    PANEL_BLOCKS,
    PANEL_THREADS,
    PROCESSOR_SHARED,
    WARP,
    KernelOptions,
    choose_rooms,
    kernel_source,
)
from regretless.engines.cuda.public.spot import WAY_ROWS, WAYS, SpotWalks
from regretless.engines.cuda.public.work import (
    BOTH_WAYS,
    FIRST_WAY,
    SECOND_WAY,
    Items,
    Launches,
    StreetWork,
    Upload,
    Work,
    both_ways,
    join,
    waves_of,
)

__all__ = ["Walks"]

TOGETHER = (10, 4, 1)  # iterations that are launched together: small spots wait less between them
STEP_THREADS = 128  # of a block that walks decisions
TEAM_HANDS = 16  # hands per decision in a block that walks a line level by level
MAX_TERMS = 4096  # deals of a chance node that a block copies into shared memory
BOTH = 2  # as a player: both at once

Step = tuple[Buffer, np.int32]  # the weights of an iteration on the device, and how far apart those of two spots are


class Walks:
    """Launches over spots of equally many streets on a device. `jobs` are shared: change them and call `update`."""

    def __init__(
        self,
        device: Device,
        spots: Sequence[SpotWalks],
        *,
        storage: int,
        wide: bool,
        predicts: bool,
        products: bool = False,
        bucketed: bool = False,
    ) -> None:
        self.device, self.spots = device, spots
        self._streets = len(spots[0].layout.form.streets)
        self._deck = max(spot.layout.form.deck for spot in spots)
        self._max_hands = np.max([spot.layout.hands for spot in spots], axis=0).tolist()  # of each player
        options = KernelOptions(
            storage=storage,
            wide=wide,
            predicts=predicts,
            products=products,
            bucketed=bucketed,
            places=spots[0].stored.live is not None,
        )
        self.options, self._rooms = choose_rooms(device, spots, options)
        self._kernels = device.compile(kernel_source(), self.options.flags(), KERNELS)
        widths = self._rooms["width"].tolist()
        for spot in spots:
            spot.cut(widths)
        share = min(PROCESSOR_SHARED // PANEL_BLOCKS - BLOCK_SHARED, device.shared_bytes)
        self._panel_bytes = max((spot.lay_panels(share) for spot in spots if products), default=0)
        self._steps = device.zeros(max(TOGETHER) * len(spots), STEP)  # of the iterations that are launched together
        self._results = device.zeros(WAYS * len(spots) * 2, np.dtype(np.float64))
        self._jobs = device.upload(self._all_jobs())
        self._room_buffer = device.upload(self._rooms)
        chosen = list(enumerate(spots))
        self._streets_of: list[list[Work]] = [
            [StreetWork(chosen, own, street) for street in range(self._streets - 1)] for own in range(2)
        ]
        self._waves_of: list[list[Work]] = [list(waves_of(chosen, own, widths, products=products)) for own in range(2)]
        self._joins = all(spot.apart for spot in spots)  # whether both players can be evaluated at once
        if self._joins:
            for works in (self._streets_of, self._waves_of):
                works.append([join(one, two) for one, two in zip(*works, strict=True)])
        outside = int(self._rooms[0]["block_bytes"])
        blocks = max((len(wave.pieces) for waves in self._waves_of for wave in waves), default=0)
        self._space = device.zeros(max(outside * blocks, 1), np.dtype(np.uint8))
        self.keep_only(range(len(spots)))

    def keep_only(self, active: Iterable[int]) -> None:
        """Walk only these spots from now on."""
        self._active = list(active)
        walked = np.zeros(2 * len(self.spots), dtype=np.bool_)
        for own in range(2):
            walked[2 * np.array(self._active, dtype=np.int64) + own] = True
        upload = Upload()
        is_part = self.spots[0].layout.form.part is not None
        self._earlier, self._waves = (
            [[Launches(upload, work, walked, is_part=is_part) for work in each] for each in works]
            for works in (self._streets_of, self._waves_of)
        )
        roots = np.zeros((2, len(self._active)), dtype=ITEM)
        roots["job"] = 2 * np.array(self._active) + np.arange(2)[:, None]
        self._roots = [upload.add(both_ways(each, len(walked))) for each in (*roots, roots.reshape(-1))]
        upload.start(self.device)
        self.forget()

    @property
    def space_bytes(self) -> int:
        """Working memory of the blocks that does not fit in shared memory."""
        return int(self._space.nbytes)

    def _all_jobs(self) -> NDArray[np.uint8]:
        """The jobs of all spots, once for each way up: each has values of its own."""
        jobs = np.concatenate([spot.jobs.view(np.uint8) for spot in self.spots] * WAYS).view(JOB)
        blank_address = np.array([spot.blank_address for spot in self.spots])[:, None]
        for name in WAY_ROWS:
            begins = np.stack([spot.way_rows[name] for spot in self.spots], axis=1)  # [ways, spots, players]
            jobs[name] = np.where(begins < 0, 0, begins + blank_address).reshape(-1)
        self._with_locks = np.flatnonzero(jobs["lock_count"][: len(jobs) // WAYS]).tolist()
        jobs["best"] = np.repeat(np.arange(WAYS), len(jobs) // WAYS)
        jobs["result"] = self.device.address(self._results) + 8 * np.arange(len(jobs))
        return jobs.view(np.uint8)

    def update(self) -> None:
        """Tell the device about changed jobs."""
        self.device.assign(self._jobs, self._all_jobs())

    def make_lists(self) -> None:
        """Fill the lists of every final runout; once, before the first walk."""
        for own in range(2):
            filled = [
                number
                for number, spot in enumerate(self.spots)
                if spot.layout.runouts[-1] > 0 and (own == 0 or not spot.equal_players)
            ]
            runouts = [int(self.spots[number].layout.runouts[-1]) for number in filled]
            if not filled:
                continue
            finals = np.empty((sum(runouts), 2), dtype=np.int32)
            finals[:, 0] = np.repeat(2 * np.array(filled) + own, runouts)
            finals[:, 1] = np.concatenate([np.arange(count) for count in runouts])
            units = SEGMENTS + self._deck
            shared = 4 * (2 * (self._deck + 1) + units) + 27 * self._max_hands[own] + 6 * self._max_hands[1 - own]
            uploaded = self.device.upload(finals)
            self._kernels["make_lists"]((len(finals),), 256, shared, self._jobs, uploaded)
            if self.options.products:
                self._kernels["make_codes"]((len(finals),), 256, 0, self._jobs, uploaded)

    def forget(self) -> None:
        """Record iterations and evaluations anew: other kernels take part in them."""
        active = set(self._active)
        self._locked = [[job for job in self._with_locks if job % 2 == own and job // 2 in active] for own in range(2)]
        self._recorded: dict[Hashable, Callable[[], None]] = {}
        in_waves = self._streets == 1 and len(self._waves[0]) > 1
        has_one_line = not in_waves and all(self._first(own).work.has_one_line for own in range(2))
        # By player, whether one launch walks the first street up and, for the other player, down. Locks come between.
        self._relays = [has_one_line and not self._locked[own] for own in range(2)]

    def learn(self, steps: Records, players: Sequence[int]) -> None:
        """Run iterations in which some players learn: `steps` [iterations], or [spots, iterations] of all spots."""
        rounds, own_weights = steps.shape[-1], steps.ndim > 1
        launches = {
            count: (("learn", count, own_weights, *players), partial(self._iterations, count, own_weights, players))
            for count in TOGETHER
        }
        largest = TOGETHER[0]
        usable = TOGETHER if launches[largest][0] in self._recorded else TOGETHER[1:]
        counts: list[int] = []  # iterations of each launch
        while (done := sum(counts)) < rounds:
            counts.append(next(count for count in usable if count <= rounds - done))
        ends = np.cumsum(counts)
        parts = [
            np.ascontiguousarray(steps[..., end - count : end]).reshape(-1).view(np.uint8)
            for count, end in zip(counts, ends, strict=True)
        ]
        # All at once: a copy from the host waits for everything launched before it.
        uploaded = self.device.upload(np.concatenate(parts)) if len(parts) > 1 else None
        begin = 0
        for count, part in zip(counts, parts, strict=True):
            target = self._steps.view(np.uint8)[: len(part)]
            if uploaded is None:
                self.device.assign(target, part)
            else:
                self.device.copy(target, uploaded[begin : begin + len(part)])
                begin += len(part)
            self._launch(*launches[count])
        if rounds >= largest:
            self._record(*launches[largest])
        self.device.wait()

    def evaluate(self, *players: int) -> NDArray[np.float64]:
        """[ways, spots, 2] what these players win with the average strategies, and with best responses to them."""
        self._launch(("evaluate", *players), partial(self._evaluation, players))
        return self.device.download(self._results).reshape(WAYS, len(self.spots), 2)

    def evaluate_once(self, player: int) -> None:
        """The same for one player, whose values are left on the device; not recorded, since it is not repeated."""
        self._evaluation((player,))

    def _launch(self, key: Hashable, launch: Callable[[], None]) -> None:
        """Launch, and record what is launched for the first time."""
        if key in self._recorded:
            self._recorded[key]()
        else:
            launch()
            self._record(key, launch)

    def _record(self, key: Hashable, launch: Callable[[], None]) -> None:
        """Record what will be launched, unless it is recorded: while the device works, since it takes a while."""
        if key not in self._recorded:
            self._recorded[key] = self.device.record(launch)

    def _iterations(self, count: int, strides: bool, players: Sequence[int]) -> None:
        """Launch some iterations; with `strides`, every spot has its own weights."""
        steps, stride = self._steps.view(np.uint8), np.int32(count if strides else 0)
        walks = list(product(((steps[number * STEP.itemsize :], stride) for number in range(count)), players))
        entered = False  # whether the walk before has gone down the first street
        for (step, own), after in zip_longest(walks, walks[1:]):
            next_step = after[0] if after is not None and after[1] != own and self._relays[own] else None
            self._walk(own, step, entered=entered, next_step=next_step)
            entered = next_step is not None
            for job in self._locked[own]:
                self._kernels["hold"]((64,), STEP_THREADS, 0, self._jobs, np.int32(job))

    def _evaluation(self, players: Sequence[int]) -> None:
        for own in (BOTH,) if self._joins and len(players) == 2 else players:
            self._walk(own)
            roots = self._roots[own]
            self._kernels["sums"]((roots.count,), STEP_THREADS, 8 * STEP_THREADS, self._jobs, roots.buffer)

    def _walk(
        self, own: int, step: Step | None = None, *, entered: bool = False, next_step: Step | None = None
    ) -> None:
        """Launch a player's walk, to learn with the weights of a step; to evaluate, up in both ways at once.

        Given the step of the next walk, it ends by going down the first street for the other player, whose walk has
        then `entered` that street.
        """
        ways, leaves = FIRST_WAY if step else BOTH_WAYS, range(self._streets - 1)
        self._streets_of_walk(own, ways, step, down_from=int(entered), up_to=int(next_step is not None), leaves=leaves)
        if step is not None and next_step is not None:
            self._relay(own, step, next_step)

    def _streets_of_walk(
        self, own: int, ways: int, step: Step | None, *, down_from: int, up_to: int, leaves: range
    ) -> None:
        """Launch a walk from one street down to the last and up to one, with the leaves of some streets."""
        learns, used_step = step is not None, step or (self._steps, np.int32(0))  # evaluations do not read it
        names = ("learn_down", "last_down", "learn_up", "last_up")
        if not learns:
            names = ("mean_down", "mean_down", "value_up", "value_up")
        down, last_down, up, last_up = names
        last = self._streets - 1
        for number, street in enumerate(self._earlier[own][down_from:], down_from):
            self._down(down, street, number, used_step, both=learns)
        for wave in self._waves[own]:
            if last >= down_from:
                self._down(last_down, wave, last, used_step)
            if learns and self.options.products:
                blocks, buffer = (wave.panels.count,), wave.panels.buffer
                self._kernels["products"](blocks, PANEL_THREADS, self._panel_bytes, self._jobs, buffer)
            elif wave.pieces[0].count:
                self._kernels["terminals"](
                    (wave.pieces[0].count,),
                    self.options.threads,
                    int((self._rooms if own == BOTH else self._rooms[own])["bytes"].max()),
                    self._jobs,
                    wave.pieces[0].buffer,
                    self._room_buffer,
                    self._space,
                    np.int32(wave.work.together),
                )
            for items in wave.turns if ways == BOTH_WAYS else [wave.up[ways]]:
                if last >= up_to:
                    self._up(last_up, wave, items, last, used_step)
            if last - 1 in leaves:
                self._leaves_above(wave, wave.leaves[ways], last, learns=learns)
        for number, street in reversed(list(enumerate(self._earlier[own]))):
            if number >= up_to:
                self._up(up, street, street.up[ways], number, used_step)
            if number - 1 in leaves:
                self._leaves_above(street, street.leaves[ways], number, learns=learns)

    # --- a form in parts: a trunk has the first street, a shard the rest ---------------------------------------------

    def set_step(self, steps: Records) -> None:
        """The weights of the iteration that begins."""
        part = np.ascontiguousarray(steps).view(np.uint8)
        self.device.assign(self._steps.view(np.uint8)[: len(part)], part)

    def go_down(self, own: int, *, learns: bool) -> None:
        """Walk down the first street."""
        name, launches = "learn_down" if learns else "mean_down", self._earlier[own][0]
        self._launch(("down", own, learns), lambda: self._down(name, launches, 0, self._parts_step, both=learns))

    def go_below(self, own: int, ways: int, blocks: Items, *, learns: bool) -> None:
        """Walk down and up all later streets, and sum blocks of the second."""

        def launch() -> None:
            step, leaves = self._parts_step if learns else None, range(1, self._streets - 1)
            self._streets_of_walk(own, ways, step, down_from=1, up_to=1, leaves=leaves)
            if blocks.count:
                grid = blocks.count, -(-self._max_hands[own] // STEP_THREADS)
                self._kernels["block_sums"](grid, STEP_THREADS, 0, self._jobs, blocks.buffer)

        self._launch(("below", own, ways, learns), launch)

    def go_up(self, own: int, ways: int, folds: Items, roots: Items, *, learns: bool) -> float:
        """Walk up the first street, whose chance nodes have values; returns what the own player wins."""
        first = self._earlier[own][0]

        def launch() -> None:
            second = self._earlier[own][1] if self._streets > 2 else self._waves[own][0]
            self._leaves_above(second, folds, 1, learns=learns)
            self._up("learn_up" if learns else "value_up", first, first.up[ways], 0, self._parts_step)
            self._kernels["sums"]((1,), STEP_THREADS, 8 * STEP_THREADS, self._jobs, roots.buffer)

        self._launch(("up", own, ways, learns), launch)
        results = self.device.download(self._results).reshape(WAYS, len(self.spots), 2)
        return float(results[int(ways == SECOND_WAY), 0, own])

    @property
    def _parts_step(self) -> Step:
        return self._steps.view(np.uint8), np.int32(0)

    def _first(self, own: int) -> Launches:
        """Those of the first street; if it is the last, of its first wave."""
        return (self._earlier[own] or self._waves[own])[0]

    def _relay(self, own: int, step: Step, next_step: Step) -> None:
        """Launch the way up the first street, and down it for the other player."""
        up, down, is_last = self._first(own), self._first(1 - own), self._streets == 1
        blocks = _teams(up.work.hands[0]) + (0 if is_last else _teams(up.work.hands[1]))
        threads, shared = _team_sizes(up.work.longest, max(up.work.cached_rows, down.work.reach_rows))
        self._kernels["levels_last_relay" if is_last else "levels_relay"](
            (blocks * up.up[0].count,),
            threads,
            shared,
            self._jobs,
            up.up[0].buffer,
            np.int32(blocks),
            np.int32(up.work.cached_rows),
            step[0],
            down.down.buffer,
            np.int32(down.work.reach_rows),
            next_step[0],
            step[1],
            np.int32(TEAM_HANDS // HANDS),
        )

    def _down(self, name: str, launches: Launches, street: int, step: Step, *, both: bool = False) -> None:
        """Launch a walk down, of the opponent's hands or of both players'."""
        work = launches.work
        hands = work.both_line_hands if both else work.other_line_hands
        blocks = _teams(work.hands[1]) + (_teams(work.hands[0]) if both else 0)
        self._lines(name, work, launches.down, (hands, blocks, work.reach_rows), street, step)

    def _leaves_above(self, launches: Launches, leaves: Items, street: int, *, learns: bool) -> None:
        """Launch leaves of the street above, whose chance nodes add up the values of lines that were walked up."""
        work = launches.work
        if leaves.count:
            terms = min(work.terms, MAX_TERMS)
            grid = (leaves.count, -(-work.leaf_hands[0] // STEP_THREADS))
            shared = max(8 * (self._deck + 1 + 32) + 4 * work.leaf_hands[1], TERM.itemsize * terms)
            where = np.int32(street - 1), np.int32(terms), np.int32(learns)
            self._kernels["leaves"](grid, STEP_THREADS, shared, self._jobs, leaves.buffer, *where)

    def _up(self, name: str, launches: Launches, items: Items, street: int, step: Step) -> None:
        work = launches.work
        # Products give the values of lines without decisions.
        hands = work.deciding_hands if name == "last_up" and self.options.products else work.own_line_hands
        self._lines(name, work, items, (hands, _teams(work.hands[0]), work.cached_rows), street, step)

    def _lines(self, name: str, work: Work, items: Items, sizes: tuple[int, int, int], street: int, step: Step) -> None:
        """Launch a walk of lines. `sizes` of an item: hands of its lines; its blocks and rows, if walked by levels."""
        hands, blocks, rows = sizes
        if not work.by_levels:
            blocks = -(-hands // (STEP_THREADS * HANDS))
        if blocks * items.count == 0:
            return
        arguments = self._jobs, items.buffer, np.int32(blocks), np.int32(street)
        if work.by_levels:
            threads, shared = _team_sizes(work.longest, rows)
            rest = np.int32(rows), *step, np.int32(TEAM_HANDS // HANDS)
            self._kernels[f"levels_{name}"]((blocks * items.count,), threads, shared, *arguments, *rest)
        else:
            shared = work.cached_rows * STEP_THREADS * HANDS * 4
            cached = np.int32(work.cached_rows)
            self._kernels[name]((blocks * items.count,), STEP_THREADS, shared, *arguments, cached, *step)


def _teams(hands: int) -> int:
    """Blocks that share the hands of a line, if it is walked level by level."""
    return -(-hands // TEAM_HANDS)


def _team_sizes(decisions: int, rows: int) -> tuple[int, int]:
    """Threads and bytes of shared memory of a block that walks a line of so many decisions level by level."""
    threads = -(-decisions * TEAM_HANDS // HANDS // WARP) * WARP  # one per decision and slice of hands
    return min(max(threads, WARP), LEVEL_THREADS), max(rows, 1) * TEAM_HANDS * 4

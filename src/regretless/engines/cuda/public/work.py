"""What a walk launches: lists of runouts or lines, and of pieces of work on them, for the spots that are still walked.

Where a street is small, its lines are walked level by level, with an item for each line on each runout (`by_levels`).
Elsewhere an item is a runout.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from regretless.engines.cuda.device import Buffer, Device, Records
from regretless.engines.cuda.public.plan import CudaWalkPlan
from regretless.engines.cuda.public.records import ITEM
from regretless.engines.cuda.public.spot import WAYS, RunoutWave, SpotWalks

__all__ = [
    "BOTH_WAYS", "FIRST_WAY", "SECOND_WAY", "Items", "Launches", "StreetWork", "Upload", "Work", "both_ways", "join",
    "waves_of",
]  # fmt: skip

LEVEL_TASKS = 1 << 18  # decisions × hands up to which a street is walked by levels: all threads run at once
ENOUGH_BLOCKS = 2048  # for terminals: if there are more pieces, a block takes several,
MAX_TOGETHER = 3  # but only a few, so that all blocks end at about the same time
FIRST_WAY, BOTH_WAYS, SECOND_WAY = range(3)  # of the ways up of a walk, those that a launch takes
REST = -1  # in place of a line's number: all lines without decisions

Chosen = Sequence[tuple[int, SpotWalks]]  # each with its number among all spots


class Work:
    """Runouts of one street whose lines are walked together by one player."""

    def __init__(
        self, spots: Chosen, own: int, street: int, runouts: Sequence[range], above: Sequence[range] | None
    ) -> None:
        """`runouts` of the street follow those `above`, of the street before, whose leaves need all of their lines."""
        records = {spot.plans[own]: spot.plans[own].streets[street] for _, spot in spots}  # many spots share one
        plans = {plan: (int(each["own_hands"]), int(each["other_hands"])) for plan, each in records.items()}
        hands = list(plans.values())
        lines = [int(plan.streets[street]["lines"]) for plan in plans]
        # Hands of all lines of a runout, for the spot with the most: own ones, the opponent's, and those of both.
        self.own_line_hands = max(count * each[0] for count, each in zip(lines, hands))
        decided = [int(plan.streets[street]["decided"]) for plan in plans]
        self.deciding_hands = max(count * each[0] for count, each in zip(decided, hands))  # of lines with decisions
        walked = [int(plan.streets[street]["walked"]) for plan in plans]
        self.other_line_hands = max(count * each[1] for count, each in zip(walked, hands))
        self.both_line_hands = max(count * sum(each) for count, each in zip(lines, hands))
        self.cached_rows = max(plan.cached_rows[street] for plan in plans)
        self.reach_rows = max(plan.reach_rows[street] for plan in plans)
        self.longest = max(plan.longest[street] for plan in plans)
        last = street == len(spots[0][1].layout.form.streets) - 1
        # Before the last street, each way up has rows of values of its own. On it, both write the same rows.
        self.takes_turns = last and any(plan.streets[street]["own_rows"] for plan in plans)
        counts, begins = [len(each) for each in runouts], np.array([each.start for each in runouts])
        items, self.spot_of = _items(spots, own, runouts)
        items["slot"] = items["runout"] - begins[self.spot_of] if last else items["runout"]
        self.items = items  # runouts,
        self.pieces = self.panels = items[:0]  # pieces of work on them,
        self.leaves = items[:0]  # and leaves above, once their lines are done
        # Hands of lines with decisions, of the player with more hands.
        most_hands = {plan: count * max(each) for (plan, each), count in zip(plans.items(), decided, strict=True)}
        walked_hands = sum(count * most_hands[spot.plans[own]] for count, (_, spot) in zip(counts, spots, strict=True))
        self.by_levels = walked_hands * self.longest <= LEVEL_TASKS
        self.down = self.up = items  # what is walked in each direction
        if self.by_levels:
            chosen = [spot.plans[own] for _, spot in spots]
            self.down = _with_lines(items, self.spot_of, [_lines(plan, street, "walked") for plan in chosen])
            self.up = _with_lines(items, self.spot_of, [_lines_up(plan, street) for plan in chosen])
        # Whether every runout has one line, which has decisions and is walked by levels, as on a first street.
        is_one = len(self.down) == len(self.up) == len(items) and bool((self.up["piece"] >= 0).all())
        self.has_one_line = self.by_levels and is_one
        self.hands = max(each[0] for each in hands), max(each[1] for each in hands)  # own and opposing ones
        every = np.max([spot.layout.hands for _, spot in spots], axis=0)
        self.leaf_hands = int(every[own]), int(every[1 - own])  # of leaves above
        self.terms = 0  # deals that follow a runout above
        self.together = 1  # pieces that a block takes
        if above is not None:
            streets = [spot.layout.form.streets[street - 1 : street + 1] for _, spot in spots]
            self.terms = max(
                int(np.diff(below.first_copy[upper.first_child]).max(initial=0)) for upper, below in streets
            )
            of_leaves, leaf_spot = _items(spots, own, above)
            of_leaves["slot"] = begins[leaf_spot]
            leaves = [range(*spot.plans[own].leaf_first[street - 1 : street + 1]) for _, spot in spots]
            self.leaves = _with_pieces(of_leaves, leaf_spot, leaves)


class StreetWork(Work):
    """The work of a street before the last for one player's walks: lines on every runout, and the leaves above them."""

    def __init__(self, spots: Chosen, own: int, street: int) -> None:
        runouts = [range(int(spot.layout.runouts[street])) for _, spot in spots]
        above = [range(int(spot.layout.runouts[street - 1])) for _, spot in spots] if street else None
        super().__init__(spots, own, street, runouts, above)


class WaveWork(Work):
    """Runouts of the last street that are walked together, and the leaves above them."""

    def __init__(
        self, spots: Chosen, own: int, waves: Sequence[RunoutWave], widths: Sequence[int], *, products: bool
    ) -> None:
        last = len(spots[0][1].layout.form.streets) - 1
        runouts = [wave.runouts for wave in waves]
        super().__init__(spots, own, last, runouts, [wave.above for wave in waves] if last else None)
        plans = {plan for _, spot in spots for plan in spot.plans}
        counts = {plan: len(plan.cut(widths[plan.own])[0].pieces) for plan in plans}
        # Alike for both players, whose blocks may be launched together.
        total = sum(len(each) * max(counts[plan] for plan in spot.plans) for each, (_, spot) in zip(runouts, spots))
        self.together = min(max(total // ENOUGH_BLOCKS, 1), MAX_TOGETHER)
        pieces = [range(0, counts[spot.plans[own]], self.together) for _, spot in spots]
        self.pieces = _with_pieces(self.items, self.spot_of, pieces)
        if products:
            panels = [range(len(spot.panels[own].panels)) for _, spot in spots]
            self.panels = _with_pieces(self.items, self.spot_of, panels)


class Items:
    """Items of a launch; on the device once their `Upload` has taken place."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.buffer: Buffer = None


class Upload:
    """Lists of items that are copied to the device together: one takes as long as each of many."""

    def __init__(self) -> None:
        self._lists: list[tuple[Items, Records]] = []

    def add(self, items: Records) -> Items:
        uploaded = Items(len(items))
        self._lists.append((uploaded, items))
        return uploaded

    def start(self, device: Device) -> None:
        """Copy everything that was added."""
        whole = device.upload(np.concatenate([items for _, items in self._lists]).view(np.uint8))
        begin = 0
        for uploaded, _ in self._lists:
            end = begin + uploaded.count * ITEM.itemsize
            uploaded.buffer, begin = whole[begin:end], end


class Launches:
    """What some work launches for the spots that are still walked: `down`, `panels`, `pieces`, `up` and `leaves`.

    The last three have items for the first way up, for both ways and, in a part of a form, for the second way alone.
    `turns` are those of `up` for both ways, one way after the other where both would write the same rows.
    """

    def __init__(self, upload: Upload, work: Work, walked: NDArray[np.bool_], *, is_part: bool) -> None:
        self.work = work
        down, up, pieces = (each[walked[each["job"]]] for each in (work.down, work.up, work.pieces))
        self.down = upload.add(down)
        self.panels = upload.add(work.panels[walked[work.panels["job"]]])
        leaves = work.leaves[walked[work.leaves["job"]]]
        self.up, self.pieces, self.leaves = (
            [upload.add(chosen), upload.add(both_ways(chosen, len(walked)))] for chosen in (up, pieces, leaves)
        )
        self.turns = [self.up[BOTH_WAYS]]
        if work.takes_turns:
            twice = both_ways(up, len(walked))
            self.turns = [upload.add(twice[way::WAYS]) for way in range(WAYS)]
        if is_part:
            for lists, chosen in ((self.up, up), (self.leaves, leaves)):
                lists.append(upload.add(both_ways(chosen, len(walked))[1::WAYS]))


def join(one: Work, two: Work) -> Work:
    """The same work of both players, launched at once."""
    work = copy(one)
    for name in (
        "own_line_hands",
        "deciding_hands",
        "other_line_hands",
        "both_line_hands",
        "cached_rows",
        "reach_rows",
        "longest",
        "terms",
        "takes_turns",
    ):
        setattr(work, name, max(getattr(one, name), getattr(two, name)))
    work.hands = max(one.hands[0], two.hands[0]), max(one.hands[1], two.hands[1])
    work.leaf_hands = max(one.leaf_hands[0], two.leaf_hands[0]), max(one.leaf_hands[1], two.leaf_hands[1])
    for name in ("items", "down", "up", "pieces", "leaves"):
        setattr(work, name, np.concatenate([getattr(one, name), getattr(two, name)]))
    return work


def both_ways(items: Records, jobs: int) -> Records:
    """Every item once for each way, one after the other, so that both read the same values at about the same time."""
    twice = np.repeat(items, WAYS)
    twice["job"] += np.tile(np.arange(WAYS, dtype=np.int32) * jobs, len(items))
    return twice


def waves_of(spots: Chosen, own: int, widths: Sequence[int], *, products: bool) -> Iterator[WaveWork]:
    """Waves of one player's walks: in each, every spot has some runouts in its share of the rows."""
    none = RunoutWave(range(0), range(0))
    for waves in zip_longest(*(spot.waves for _, spot in spots), fillvalue=none):
        yield WaveWork(spots, own, waves, widths, products=products)


def _items(spots: Chosen, own: int, runouts: Sequence[range]) -> tuple[Records, NDArray[np.int64]]:
    """An item for each of the runouts of each spot, and its spot's number among those chosen."""
    counts = [len(each) for each in runouts]
    spot_of = np.repeat(np.arange(len(spots)), counts)
    items = np.zeros(len(spot_of), dtype=ITEM)
    items["job"] = np.array([2 * number + own for number, _ in spots])[spot_of]
    items["runout"] = np.array([each.start for each in runouts])[spot_of] + _within(counts)
    return items, spot_of


def _lines(plan: CudaWalkPlan, street: int, which: str) -> list[int]:
    """Lines of a street, numbered among all, that are walked down or have decisions; long ones first."""
    record = plan.streets[street]
    first, count = int(record["first_line"]), int(record[which])
    return [first + line for line in plan.line_order[first : first + count].tolist()]


def _lines_up(plan: CudaWalkPlan, street: int) -> list[int]:
    """Lines of a street that are walked up: those with decisions, and the others together."""
    record = plan.streets[street]
    lines = _lines(plan, street, "decided")
    return [*lines, REST] if record["lines"] > record["decided"] else lines


def _with_lines(items: Records, spot_of: NDArray[np.int64], lines: Sequence[list[int]]) -> Records:
    """Every item once for each of these lines of its spot."""
    counts = np.array([len(each) for each in lines])
    begin, count = (np.cumsum(counts) - counts)[spot_of], counts[spot_of]
    repeated = np.repeat(items, count)
    repeated["piece"] = np.concatenate([np.array(each, dtype=np.int32) for each in lines])[
        np.repeat(begin, count) + _within(count)
    ]
    return repeated


def _with_pieces(items: Records, spot_of: NDArray[np.int64], pieces: Sequence[range]) -> Records:
    """Every item once for each piece of its spot, the pieces of a runout together."""
    count, start, step = (
        np.array(each, dtype=np.int64)[spot_of]
        for each in zip(*((len(each), each.start, each.step) for each in pieces), strict=True)
    )
    repeated = np.repeat(items, count)
    repeated["piece"] = np.repeat(start, count) + np.repeat(step, count) * _within(count)
    return repeated


def _within(counts: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, …, count − 1 for each of the counts, one after another."""
    ends = np.cumsum(counts)
    return np.arange(np.sum(counts)) - np.repeat(ends - counts, counts)

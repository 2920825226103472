"""What a walk launches: lists of runouts, and of pieces of work on them, for the spots that are still walked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from regretless.engines.public.cuda.device import Device
from regretless.engines.public.cuda.spot import WAYS, SpotWalks
from regretless.engines.public.cuda.tables.records import ITEM

__all__ = ["Items", "Launches", "StreetWork", "Work", "both_ways", "joined", "waves_of"]

FOUR = 4  # hands of a thread

Records = NDArray[np.void]
Chosen = Sequence[tuple[int, SpotWalks]]  # with their places among all


class Work:
    """Runouts of one street whose lines are walked together by one player."""

    def __init__(self, spots: Chosen, own: int, street: int, runouts: Sequence[range]) -> None:
        lines = [int(spot.plans[own].streets[street]["lines"]) for _, spot in spots]
        hands = [[int(spot.layout.hands[player]) for player in (own, 1 - own)] for _, spot in spots]
        # Fours of hands of a runout, if all are of the spot with the most.
        self.mine = max(count * each[0] // FOUR for count, each in zip(lines, hands))
        walked = [int(spot.plans[own].streets[street]["walked"]) for _, spot in spots]
        self.theirs = max(count * each[1] // FOUR for count, each in zip(walked, hands))
        self.both = max(count * sum(each) // FOUR for count, each in zip(lines, hands))
        self.kept = max(spot.plans[own].kept[street] for _, spot in spots)
        last = street == len(spots[0][1].layout.form.streets) - 1
        # Before the last street, each way up has rows of values of its own. On it, both write the same rows.
        self.takes_turns = last and any(spot.plans[own].streets[street]["own_rows"] for _, spot in spots)
        jobs = np.repeat([2 * number + own for number, _ in spots], [len(each) for each in runouts])
        items = np.zeros(len(jobs), dtype=ITEM)
        items["job"], items["runout"] = jobs, np.concatenate([np.array(each, dtype=np.int32) for each in runouts])
        first = np.repeat([each.start for each in runouts], [len(each) for each in runouts])
        items["slot"] = items["runout"] - (first if last else 0)
        self.items, self.pieces = items, items[:0]  # runouts, and pieces of work on them
        self.hands = max(each[0] for each in hands), max(each[1] for each in hands)  # own and opposing ones
        self.terms = 0  # deals that follow a runout


class StreetWork(Work):
    """The work of a street before the last for one player's walks: lines and leaves on every runout."""

    def __init__(self, spots: Chosen, own: int, street: int) -> None:
        super().__init__(spots, own, street, [range(int(spot.layout.runouts[street])) for _, spot in spots])
        first = [spot.plans[own].leaf_first[street : street + 2] for _, spot in spots]
        jobs = [2 * number + own for number, _ in spots]
        self.pieces = _with_pieces(self.items, [range(*each) for each in first], jobs)
        below = [spot.layout.form.streets[street + 1] for _, spot in spots]
        self.terms = max(
            int(np.diff(each.first_copy[spot.layout.form.streets[street].first_child]).max(initial=0))
            for each, (_, spot) in zip(below, spots)
        )


class WaveWork(Work):
    """Runouts of the last street that are walked together."""

    def __init__(self, spots: Chosen, own: int, runouts: Sequence[range], width: int, fold_width: int) -> None:
        super().__init__(spots, own, len(spots[0][1].layout.form.streets) - 1, runouts)
        jobs = [2 * number + own for number, _ in spots]
        found = []
        for kind, most in (("showdowns", width), ("folds", fold_width)):
            counts = [-(-len(getattr(spot.plans[own], kind).records) // most) for _, spot in spots]
            pieces = [range(count) if kind == "showdowns" else range(-1, -1 - count, -1) for count in counts]
            found.append(_with_pieces(self.items, pieces, jobs).view(np.int32))
        self.pieces = np.concatenate(found).view(ITEM)


class Items:
    """Items on the device."""

    def __init__(self, device: Device, items: Records) -> None:
        self.count, self.buffer = len(items), device.upload(items)


class Launches:
    """What is launched of some work: the runouts of spots that are still walked, and the pieces on them.

    Of both, items for one way up, and for both ways. `turns` are runouts for both ways up, one way after the other
    where both would write the same rows.
    """

    def __init__(self, device: Device, work: Work, walked: NDArray[np.bool_]) -> None:
        self.mine, self.theirs, self.both, self.kept = work.mine, work.theirs, work.both, work.kept
        self.hands, self.terms = work.hands, work.terms
        self.items, self.pieces = (
            [Items(device, chosen), Items(device, both_ways(chosen, len(walked)))]
            for chosen in (each[walked[each["job"]]] for each in (work.items, work.pieces))
        )
        self.turns = self.items[1:]
        if work.takes_turns:
            twice = both_ways(work.items[walked[work.items["job"]]], len(walked))
            self.turns = [Items(device, twice[way::WAYS]) for way in range(WAYS)]


def joined(one: Work, two: Work) -> Work:
    """The same work of both players, launched at once."""
    found = copy(one)
    for name in ("mine", "theirs", "both", "kept", "terms", "takes_turns"):
        setattr(found, name, max(getattr(one, name), getattr(two, name)))
    found.hands = max(one.hands[0], two.hands[0]), max(one.hands[1], two.hands[1])
    found.items, found.pieces = np.concatenate([one.items, two.items]), np.concatenate([one.pieces, two.pieces])
    return found


def both_ways(items: Records, jobs: int) -> Records:
    """Every item once for each way, one after the other, so that both read the same values at about the same time."""
    twice = np.repeat(items, WAYS)
    twice["job"] += np.tile(np.arange(WAYS, dtype=np.int32) * jobs, len(items))
    return twice


def waves_of(spots: Chosen, own: int, width: int, fold_width: int) -> Iterator[WaveWork]:
    """Waves of one player's walks: in each, every spot has some runouts in its share of the rows."""
    finals = [int(spot.layout.runouts[-1]) for _, spot in spots]
    slots = [spot.slots for _, spot in spots]
    for wave in range(max(-(-count // each) for count, each in zip(finals, slots))):
        runouts = [range(min(wave * each, count), min((wave + 1) * each, count)) for count, each in zip(finals, slots)]
        yield WaveWork(spots, own, runouts, width, fold_width)


def _with_pieces(items: Records, pieces: Sequence[range], jobs: Sequence[int]) -> Records:
    """Every item once for each piece of its job, the pieces of a runout together."""
    counts = dict(zip(jobs, map(len, pieces), strict=True))
    of_items = np.array([counts[job] for job in items["job"].tolist()], dtype=np.int64)
    found = np.repeat(items, of_items)
    arrays = {job: np.array(each, dtype=np.int32) for job, each in zip(jobs, pieces, strict=True)}
    if len(found):
        found["piece"] = np.concatenate([arrays[job] for job in items["job"].tolist()])
    return found

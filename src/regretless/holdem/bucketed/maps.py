"""The buckets of a spot: for every runout of its form, the bucket of each hand.

The first street is lossless unless its number of buckets is given; with a file of tables, it always is. Later streets
are lossless only where the choice says so. Tables are those of `holdem.buckets`: from a file for all boards, or built
here for the boards that contain the spot's flop, which takes seconds.
"""

from __future__ import annotations

import numpy as np

from regretless.errors import InvalidFile, InvalidOption
from regretless.forms.drawn_runouts import BucketMaps, lossless
from regretless.forms.history import IntArray
from regretless.forms.public import PublicForm
from regretless.holdem.buckets.build import build_buckets
from regretless.holdem.buckets.plan import BucketChoice, BucketPlan
from regretless.holdem.buckets.table import NO_BUCKET, Buckets
from regretless.holdem.form.runouts import spot_hands
from regretless.holdem.spots.spot import Spot

__all__ = ["SpotBuckets", "spot_buckets"]

SpotBuckets = tuple[BucketMaps, tuple[tuple[int, ...], tuple[int, ...]]]  # maps, and numbers per player and street


def spot_buckets(spot: Spot, form: PublicForm, choice: BucketChoice, *, threads: int | None = None) -> SpotBuckets:
    """The maps of a spot's form."""
    tables = _tables(spot, choice, threads)
    held = spot_hands(spot)
    maps = [list(of_player) for of_player in lossless(form)]
    counts = [[len(street.parent) * len(hands.weight) for street in form.streets] for hands in form.hands]
    for number, (street, boards) in enumerate(zip(spot.streets, _boards(spot, form), strict=True)):
        asked = street in dict(choice.counts) or (bool(choice.file) and number > 0 and street not in choice.lossless)
        if tables is None or not asked:
            continue
        try:
            found = tables.lookup(boards).astype(np.int32)
        except InvalidOption as error:
            raise InvalidFile(choice.file, f"does not fit this spot: {error}") from None
        found[found == NO_BUCKET] = 0  # blocked hands, whose bucket is never read
        for player in range(2):
            maps[player][number] = found[:, held[player]]
            counts[player][number] = tables.count(street)
    return (tuple(maps[0]), tuple(maps[1])), (tuple(counts[0]), tuple(counts[1]))


def _tables(spot: Spot, choice: BucketChoice, threads: int | None) -> Buckets | None:
    """The tables of the streets that have any; None if all are lossless."""
    if choice.file:
        tables = Buckets.load(choice.file)
        choice.check(spot.streets[1:], tables.plan.streets)
        return tables
    choice.check(spot.streets[1:])
    if not choice.counts:
        return None
    board = spot.board[:3]
    plan = BucketPlan(**dict(choice.counts), method=choice.method, board=(board[0], board[1], board[2]))
    return build_buckets(plan, threads=threads)


def _boards(spot: Spot, form: PublicForm) -> list[IntArray]:
    """[R, cards] the whole board of every runout, street by street."""
    found: list[IntArray] = [np.array([spot.board], dtype=np.uint8)]
    for street in form.streets[1:]:
        found.append(np.hstack([found[-1][street.parent], street.cards.astype(np.uint8)]))
    return found

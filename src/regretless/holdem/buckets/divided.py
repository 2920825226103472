"""The buckets of a card abstraction without its tables: computed for the boards that are asked about.

The centroids or limits of an abstraction take a few kilobytes, its tables up to 250 MB. They give the same buckets: a
table only remembers what they say of every board. So a solution keeps them, and can be read without the tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.cards.features.batches import batch
from regretless.cards.situations import board_rows, first_situations, hand_situations
from regretless.errors import InvalidFile, RegretlessError
from regretless.files import Container, Fields
from regretless.holdem.buckets.division import Division
from regretless.holdem.buckets.file import read_division
from regretless.holdem.buckets.plan import BOARD_CARDS, MOST_BUCKETS, BucketPlan
from regretless.holdem.buckets.table import NO_BUCKET, Buckets
from regretless.holdem.spots.question import STREETS, StreetName

__all__ = ["DividedBuckets"]

METHODS = ("kmeans", "percentile")
_STREET = {size: street for street, size in BOARD_CARDS.items()}


@dataclass(frozen=True)
class DividedBuckets:
    """A card abstraction for all boards, as the divisions of its streets.

    >>> from regretless.cards.deck import parse_board
    >>> from regretless.holdem.buckets.build import build_buckets
    >>> board = parse_board("Qs Jh 2h")
    >>> tables = build_buckets(BucketPlan(flop=5, board=board, sample=1000, method="percentile"), threads=1)
    >>> divided = DividedBuckets.of(tables)
    >>> bool((divided.lookup([board]) == tables.lookup([board])).all())
    True
    """

    plan: BucketPlan
    divisions: Mapping[StreetName, Division]

    @classmethod
    def of(cls, tables: Buckets) -> DividedBuckets:
        """The divisions behind these tables."""
        return cls(tables.plan, {street: tables.division(street) for street in tables.plan.streets})

    def count(self, street: StreetName) -> int:
        """Buckets of a street."""
        return self.plan.count(street)

    def lookup(self, boards: Any) -> NDArray[np.uint16]:
        """[n, 1326] bucket of every hand on boards [n, 3 to 5] of one street; `NO_BUCKET` where a board blocks it."""
        cards = np.ascontiguousarray(boards, dtype=np.uint8)
        size = cards.shape[1]
        rows = board_rows(cards).astype(np.int64)
        distinct, place = np.unique(rows, return_inverse=True)
        together = batch(size, distinct)
        found = self.divisions[_STREET[size]].buckets(together)
        indices = hand_situations(cards)
        first = together.starts[place.reshape(-1)] - first_situations(size)[rows]
        return np.where(indices >= 0, found[np.maximum(indices + first[:, None], 0)], NO_BUCKET).astype(np.uint16)

    # --- in a file ---------------------------------------------------------------------------------------------------

    def header(self) -> dict[str, Any]:
        """What a file's header says of them."""
        return {"method": self.plan.method, "streets": {street: self.count(street) for street in self.plan.streets}}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of a file."""
        return {f"{street}.division": self.divisions[street].parameters for street in self.plan.streets}

    @classmethod
    def read(cls, file: Container, field: str) -> DividedBuckets:
        """From a file, whose header has them under this field."""
        given = Fields(file.path, Fields(file.path, file.header).value(field), f"{field}.")
        streets = Fields(file.path, given.value("streets"), f"{field}.streets.")
        counts: dict[str, Any] = {
            street: streets.whole(street, low=1, high=MOST_BUCKETS) for street in STREETS if street in streets
        }
        method = given.one_of("method", METHODS)
        try:
            plan = BucketPlan(**counts, method="kmeans" if method == METHODS[0] else "percentile")
        except RegretlessError as error:
            raise InvalidFile(file.path, f"is damaged: {error}") from None
        return cls(plan, {street: read_division(file, plan, street) for street in plan.streets})

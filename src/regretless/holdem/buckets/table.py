"""The tables of a card abstraction: their file, finished or not, and the buckets of any hand on any board.

    header           method, seed, sample, board, and per street: buckets, situations, boards done
    flop             [situations] bucket of each situation, board by board, uint8 or uint16
    flop.division    the centroids or limits behind it
    …                the same for turn and river

An unfinished file has another kind, and its last street may be incomplete. Continuing it gives the same table
as if the build had not been interrupted.

Tables are mapped from their file, so that processes that use the same file share its memory. Loading reads the header
only; a street is checked against the file's checksums when it is first used.

The centroids or limits of an abstraction take a few kilobytes, its tables up to 250 MB. They give the same buckets: a
table only remembers what they say of every board. So a solution stores them (`DividedBuckets`) and can be read without
the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regretless.cards.deck import board_text, parse_board
from regretless.cards.evaluator import card_array
from regretless.cards.features import CLUSTERS, COLUMNS, situation_batch
from regretless.cards.hands import HAND_CLASS, HAND_COUNT
from regretless.cards.situation_tables import SITUATION_COUNTS
from regretless.cards.situations import board_rows, first_situations, hand_entries, hand_situations
from regretless.errors import InvalidFile, InvalidOption, RegretlessError
from regretless.files import Container, Fields, write_container
from regretless.holdem.buckets.division import BucketDivision, NearestCentroid, Percentiles, bytes_per_situation
from regretless.holdem.buckets.plan import BOARD_CARDS, MAX_BUCKETS, MAX_SEED, BucketPlan, Method
from regretless.holdem.spots.spot_fields import STREETS, StreetName
from regretless.solving.kinds import open_file

__all__ = [
    "CHECKPOINT", "KIND", "NO_BUCKET", "Buckets", "DividedBuckets", "StreetTable", "empty_table", "read_division",
    "read_plan", "read_unfinished", "write_tables",
]  # fmt: skip

VERSION = 1  # of the numbering of situations and of the features, which give a file its meaning
KIND = "buckets"
CHECKPOINT = "buckets-checkpoint"

NO_BUCKET: Final = 2**16 - 1  # of a hand that shares a card with the board
BucketArray = NDArray[np.uint8] | NDArray[np.uint16]
AnyStreet = Literal["preflop"] | StreetName
_AFTER_FLOP: Final = {size: street for street, size in BOARD_CARDS.items()}
_STREETS: Final[Mapping[int, AnyStreet]] = {0: "preflop", **_AFTER_FLOP}


@dataclass
class StreetTable:
    """The table of one street while it is built."""

    division: BucketDivision
    buckets: NDArray[np.uint8] | NDArray[np.uint16]  # [situations]
    boards_done: int  # how many boards are filled in, from the first on


def empty_table(plan: BucketPlan, street: StreetName, division: BucketDivision) -> StreetTable:
    """A table to be filled, with one byte per situation if every bucket fits, else two."""
    situations = plan.situations(street)
    narrow = bytes_per_situation(plan.count(street)) == 1
    zeros = np.zeros(situations, dtype=np.uint8) if narrow else np.zeros(situations, dtype=np.uint16)
    return StreetTable(division, zeros, 0)


def write_tables(path: str | Path, plan: BucketPlan, tables: Mapping[StreetName, StreetTable]) -> None:
    """Write a file; it is finished if every street of the plan is complete."""
    finished = all(
        street in tables and tables[street].boards_done == len(plan.boards(street).rows) for street in plan.streets
    )
    streets = {
        street: {
            "buckets": plan.count(street),
            "situations": plan.situations(street),
            "boards_done": tables[street].boards_done if street in tables else 0,
        }
        for street in plan.streets
    }
    header = {
        "version": VERSION,
        "method": plan.method,
        "seed": plan.seed,
        "sample": plan.sample,
        "board": board_text(plan.board),
        "streets": streets,
    }
    arrays: dict[str, NDArray[np.generic]] = {}
    for street, table in tables.items():
        arrays[street] = table.buckets
        arrays[f"{street}.division"] = table.division.parameters
    # Wider numbers first, so that each array is aligned when it is mapped into memory.
    widest_first = dict(sorted(arrays.items(), key=lambda item: -item[1].dtype.itemsize))
    write_container(path, KIND if finished else CHECKPOINT, header, widest_first)


def read_plan(file: Container) -> BucketPlan:
    """The plan of a file; raises `InvalidFile` if it is none or if a street has the wrong number of situations."""
    fields = Fields(file.path, file.header)
    if fields.whole("version") != VERSION:
        raise InvalidFile(
            file.path, "was written by another version, which numbers situations differently: build it again"
        )
    streets = Fields(file.path, fields.value("streets"), "streets")
    counts: dict[str, Any] = {}
    for street in STREETS:
        if street in streets:
            of_street = Fields(file.path, streets.value(street), f"streets.{street}")
            counts[street] = of_street.whole("buckets", low=1, high=MAX_BUCKETS)
    try:
        plan = BucketPlan(
            **counts,
            method=read_method(fields),
            seed=fields.whole("seed", high=MAX_SEED),
            sample=fields.whole("sample"),
            board=parse_board(fields.text("board")),
        )
    except InvalidFile:
        raise
    except RegretlessError as error:
        raise InvalidFile(file.path, f"is damaged: {error}") from None
    for street in plan.streets:
        situations = Fields(file.path, streets.value(street), f"streets.{street}").whole("situations")
        if situations != plan.situations(street):
            expected = f"there are {plan.situations(street):,}"
            raise InvalidFile(
                file.path, f"is damaged: it has {situations:,} situations on the {street}, but {expected}"
            )
    return plan


def read_method(fields: Fields) -> Method:
    """How the buckets were found."""
    method: Method = "kmeans" if fields.one_of("method", get_args(Method)) == "kmeans" else "percentile"
    return method


def read_division(file: Container, plan: BucketPlan, street: StreetName) -> BucketDivision:
    """The centroids or limits of a street."""
    name, count = f"{street}.division", plan.count(street)
    if plan.method == "percentile":
        file.check(name, (count - 1,), (np.int32,))
        return Percentiles(file.array(name))
    file.check(name, (count, CLUSTERS if street == "river" else COLUMNS), (np.uint16,))
    return NearestCentroid(file.array(name))


def read_unfinished(path: str | Path) -> tuple[BucketPlan, dict[StreetName, StreetTable]]:
    """The plan and the tables of an unfinished file, ready to be continued."""
    file = open_file(path, CHECKPOINT)
    plan = read_plan(file)
    tables: dict[StreetName, StreetTable] = {}
    for street in plan.streets:
        if street not in file:
            continue
        boards = plan.boards(street)
        file.check(street, (plan.situations(street),), (np.uint8, np.uint16))
        of_street = Fields(path, file.header["streets"][street], f"streets.{street}")
        done = of_street.whole("boards_done", high=len(boards.rows))
        tables[street] = StreetTable(read_division(file, plan, street), file.array(street).copy(), done)
    return plan, tables


class Buckets:
    """A card abstraction. Hands that differ only in the names of the suits share a bucket.

    Before the flop the buckets are the 169 classes of hands; `plan` says what the later streets have.
    """

    def __init__(
        self,
        plan: BucketPlan,
        read: Callable[[StreetName], BucketArray],
        division: Callable[[StreetName], BucketDivision],
    ) -> None:
        self.plan = plan
        self.division = division  # the centroids or limits behind a street's table
        self._read_table = read
        self._tables: dict[StreetName, BucketArray] = {}

    @classmethod
    def load(cls, path: str | Path) -> Buckets:
        """The abstraction in a file written by `regretless buckets` or `build_buckets`."""
        file = open_file(path, KIND)
        plan = read_plan(file)
        for street in plan.streets:
            read_division(file, plan, street)
            file.check(street, (plan.situations(street),), (np.uint8, np.uint16))
        return cls(
            plan, lambda street: _read_table(file, plan, street), lambda street: read_division(file, plan, street)
        )

    @property
    def streets(self) -> tuple[AnyStreet, ...]:
        """The streets that have buckets."""
        return ("preflop", *self.plan.streets)

    def count(self, street: AnyStreet) -> int:
        """How many buckets a street has."""
        if street == "preflop":
            return SITUATION_COUNTS[0]
        return self.plan.count(self._checked(street))

    def of(self, street: AnyStreet, board: Sequence[int]) -> NDArray[np.uint16]:
        """[1326] bucket of every hand on a board; `NO_BUCKET` where the board blocks it."""
        if street not in _STREETS.values():
            raise InvalidOption("street", street, f"is not one of {', '.join(_STREETS.values())}")
        if _STREETS.get(len(board)) != street:
            raise InvalidOption("board", board_text(board), f"is not a board of the {street}")
        buckets: NDArray[np.uint16] = self.lookup([list(board)])[0]
        return buckets

    def lookup(self, boards: ArrayLike) -> NDArray[np.uint16]:
        """[n, 1326] the same for boards [n, size] of one street; the fastest input is a uint8 array."""
        cards = card_array("boards", np.asarray(boards, dtype=np.uint8) if np.size(boards) == 0 else boards)
        if cards.ndim != 2 or cards.shape[1] not in _STREETS:
            raise InvalidOption(
                "boards", f"array of shape {cards.shape}", "must have shape [n, 0], [n, 3], [n, 4] or [n, 5]"
            )
        street = _STREETS[cards.shape[1]]
        if street == "preflop":
            return np.broadcast_to(HAND_CLASS.astype(np.uint16), (len(cards), HAND_COUNT)).copy()
        table = self.table(street)
        shifts = self._shifts(street, cards) if self.plan.board else None
        return hand_entries(cards, table, missing=NO_BUCKET, shifts=shifts)

    def table(self, street: StreetName) -> BucketArray:
        """[situations] bucket of each situation: all those of `cards.situations`, or of the boards of the plan."""
        if street not in self._tables:
            self._tables[street] = self._read_table(self._checked(street))
        return self._tables[street]

    def _checked(self, street: StreetName) -> StreetName:
        """A street, if it has buckets."""
        if street not in self.plan.streets:
            raise InvalidOption("street", street, f"has no buckets; the table has {', '.join(self.streets)}")
        return street

    def _shifts(self, street: StreetName, cards: NDArray[np.uint8]) -> NDArray[np.int64]:
        """[n] what to add to the index of a situation on each board to find it in a table of few boards."""
        rows, covered = board_rows(cards), self.plan.boards(street)
        positions = np.minimum(np.searchsorted(covered.rows, rows), len(covered.rows) - 1)
        missing = np.flatnonzero(covered.rows[positions] != rows)
        if len(missing):
            flop = board_text(self.plan.board)
            raise InvalidOption("boards", board_text(cards[missing[0]]), f"does not contain the table's flop, {flop}")
        return covered.starts[positions] - first_situations(BOARD_CARDS[street])[rows]


def _read_table(file: Container, plan: BucketPlan, street: StreetName) -> BucketArray:
    """Map a street's table into memory, checked."""
    table: BucketArray = file.mapped(street)
    if int(table.max()) >= plan.count(street):
        raise InvalidFile(
            file.path, f"is damaged: it has a bucket {int(table.max())} of {plan.count(street)} on the {street}"
        )
    return table


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
    divisions: Mapping[StreetName, BucketDivision]

    @classmethod
    def of(cls, tables: Buckets) -> DividedBuckets:
        """The divisions behind these tables."""
        return cls(tables.plan, {street: tables.division(street) for street in tables.plan.streets})

    def count(self, street: StreetName) -> int:
        """Buckets of a street."""
        return self.plan.count(street)

    def lookup(self, boards: ArrayLike) -> NDArray[np.uint16]:
        """[n, 1326] bucket of every hand on boards [n, 3 to 5] of one street; `NO_BUCKET` where a board blocks it."""
        cards = np.ascontiguousarray(boards, dtype=np.uint8)
        size = cards.shape[1]
        rows = board_rows(cards).astype(np.int64)
        distinct, board_of = np.unique(rows, return_inverse=True)
        together = situation_batch(size, distinct)
        buckets = self.divisions[_AFTER_FLOP[size]].buckets(together)
        indices = hand_situations(cards)
        first = together.starts[board_of.reshape(-1)] - first_situations(size)[rows]
        return np.where(indices >= 0, buckets[np.maximum(indices + first[:, None], 0)], NO_BUCKET).astype(np.uint16)

    # --- in a file ---------------------------------------------------------------------------------------------------

    def header(self) -> dict[str, object]:
        """What a file's header says of them."""
        return {"method": self.plan.method, "streets": {street: self.count(street) for street in self.plan.streets}}

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """The arrays of a file."""
        return {f"{street}.division": self.divisions[street].parameters for street in self.plan.streets}

    @classmethod
    def read(cls, file: Container, field: str) -> DividedBuckets:
        """From a file, whose header has them under this field."""
        fields = Fields(file.path, Fields(file.path, file.header).value(field), field)
        streets = Fields(file.path, fields.value("streets"), f"{field}.streets")
        counts: dict[str, Any] = {
            street: streets.whole(street, low=1, high=MAX_BUCKETS) for street in STREETS if street in streets
        }
        method = read_method(fields)
        try:
            plan = BucketPlan(**counts, method=method)
        except RegretlessError as error:
            raise InvalidFile(file.path, f"is damaged: {error}") from None
        return cls(plan, {street: read_division(file, plan, street) for street in plan.streets})

"""The buckets of a card abstraction: of any hand on any board.

Tables are mapped from their file, so that processes that use the same file share its memory. Loading reads the header
only; a street is checked against the file's checksums when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regretless.cards.deck import board_text
from regretless.cards.evaluator import card_array
from regretless.cards.hands import HAND_CLASS, HAND_COUNT
from regretless.cards.situations import SITUATION_COUNTS, board_rows, first_situations, hand_entries
from regretless.errors import InvalidFile, InvalidOption
from regretless.files import Container, open_container
from regretless.holdem.buckets.division import Division
from regretless.holdem.buckets.file import KIND, read_division, read_plan
from regretless.holdem.buckets.plan import BOARD_CARDS, BucketPlan
from regretless.holdem.spots.question import StreetName

__all__ = ["NO_BUCKET", "Buckets"]

NO_BUCKET: Final = 2**16 - 1  # of a hand that shares a card with the board

Table = NDArray[np.uint8] | NDArray[np.uint16]
Street = Literal["preflop"] | StreetName

_STREETS: Final[Mapping[int, Street]] = {0: "preflop", 3: "flop", 4: "turn", 5: "river"}


class Buckets:
    """A card abstraction. Hands that differ only in the names of the suits share a bucket.

    Before the flop the buckets are the 169 classes of hands; `plan` says what the later streets have.
    """

    def __init__(
        self, plan: BucketPlan, read: Callable[[StreetName], Table], division: Callable[[StreetName], Division]
    ) -> None:
        self.plan = plan
        self.division = division  # the centroids or limits behind a street's table
        self._read = read
        self._tables: dict[StreetName, Table] = {}

    @classmethod
    def load(cls, path: str | Path) -> Buckets:
        """The abstraction in a file written by `regretless buckets` or `build_buckets`."""
        file = open_container(path, KIND)
        plan = read_plan(file)
        for street in plan.streets:
            read_division(file, plan, street)
            file.check(street, (plan.situations(street),), (np.uint8, np.uint16))
        return cls(plan, lambda street: _read(file, plan, street), lambda street: read_division(file, plan, street))

    @property
    def streets(self) -> tuple[Street, ...]:
        """The streets that have buckets."""
        return ("preflop", *self.plan.streets)

    def count(self, street: Street) -> int:
        """How many buckets a street has."""
        if street == "preflop":
            return SITUATION_COUNTS[0]
        return self.plan.count(self._known(street))

    def of(self, street: Street, board: Sequence[int]) -> NDArray[np.uint16]:
        """[1326] bucket of every hand on a board; `NO_BUCKET` where the board blocks it."""
        if street not in _STREETS.values():
            raise InvalidOption("street", street, f"is not one of {', '.join(_STREETS.values())}")
        if _STREETS.get(len(board)) != street:
            raise InvalidOption("board", board_text(board), f"is not a board of the {street}")
        found: NDArray[np.uint16] = self.lookup([list(board)])[0]
        return found

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

    def table(self, street: StreetName) -> Table:
        """[situations] bucket of each situation: all those of `cards.situations`, or of the boards of the plan."""
        if street not in self._tables:
            self._tables[street] = self._read(self._known(street))
        return self._tables[street]

    def _known(self, street: StreetName) -> StreetName:
        if street not in self.plan.streets:
            raise InvalidOption("street", street, f"has no buckets; the table has {', '.join(self.streets)}")
        return street

    def _shifts(self, street: StreetName, cards: NDArray[np.uint8]) -> NDArray[np.int64]:
        """[n] what to add to the index of a situation on each board to find it in a table of few boards."""
        rows, covered = board_rows(cards), self.plan.boards(street)
        places = np.minimum(np.searchsorted(covered.rows, rows), len(covered.rows) - 1)
        missing = np.flatnonzero(covered.rows[places] != rows)
        if len(missing):
            flop = board_text(self.plan.board)
            raise InvalidOption("boards", board_text(cards[missing[0]]), f"does not contain the table's flop, {flop}")
        return covered.starts[places] - first_situations(BOARD_CARDS[street])[rows]


def _read(file: Container, plan: BucketPlan, street: StreetName) -> Table:
    """Map a street's table into memory, checked."""
    table: Table = file.mapped(street)
    if int(table.max()) >= plan.count(street):
        raise InvalidFile(
            file.path, f"is damaged: it has a bucket {int(table.max())} of {plan.count(street)} on the {street}"
        )
    return table

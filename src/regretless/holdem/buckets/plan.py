"""The settings of a card abstraction, checked, and the boards that it covers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import DECK, board_text
from regretless.cards.isomorphism import canonical_boards
from regretless.cards.situations import SITUATION_COUNTS, board_rows, first_situations
from regretless.errors import InvalidOption, RegretlessError
from regretless.holdem.spots.question import STREETS, StreetName

__all__ = ["BOARD_CARDS", "MOST_BUCKETS", "BoardRows", "BucketPlan", "Method"]

Method = Literal["kmeans", "percentile"]

BOARD_CARDS: Final[Mapping[StreetName, int]] = {"flop": 3, "turn": 4, "river": 5}
MOST_BUCKETS: Final = 2**16 - 1  # 16 bits per situation, and one value for hands that the board blocks
SMALLEST_SAMPLE = 1000
LARGEST_SAMPLE = 10**7
LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True)
class BoardRows:
    """The boards of one street that a plan covers, as rows of `canonical_boards`."""

    rows: NDArray[np.int64]  # [boards]  rising
    weights: NDArray[np.int64]  # [boards]  how many deals each stands for
    starts: NDArray[np.int64]  # [boards + 1]  first entry of each board in the street's table

    @property
    def situations(self) -> int:
        return int(self.starts[-1])


@dataclass(frozen=True, kw_only=True)
class BucketPlan:
    """How many buckets each street has, and how situations are divided among them.

    Buckets are numbered from weak to strong hands. Before the flop, every class of hands has its own (169).

    >>> BucketPlan(flop=200, turn=200, river=70_000)
    Traceback (most recent call last):
    regretless.errors.InvalidOption: river: 70000 must be from 1 to 65,535 buckets
    """

    flop: int | None = None  # None: no table for this street
    turn: int | None = None
    river: int | None = None
    method: Method = "kmeans"  # or equal shares of all deals by expected strength
    seed: int = 0
    sample: int = 200_000  # deals that centroids and percentiles are found on
    board: tuple[int, ...] = ()  # a flop: only boards that contain it; (): all boards

    def __post_init__(self) -> None:
        if self.method not in get_args(Method):
            raise InvalidOption("method", self.method, f"is not one of {', '.join(get_args(Method))}")
        _check_whole("seed", self.seed, 0, LARGEST_SEED, "")
        _check_whole("sample", self.sample, SMALLEST_SAMPLE, LARGEST_SAMPLE, " deals")
        if self.board and (len(self.board) != 3 or len(set(self.board)) != 3):
            raise InvalidOption("board", board_text(self.board), "must be a flop: three different cards")
        for street in STREETS:
            if (count := getattr(self, street)) is not None:
                _check_whole(street, count, 1, MOST_BUCKETS, " buckets")
        if not self.streets:
            raise RegretlessError("no street has buckets: give their number for the flop, the turn or the river")

    @cached_property
    def streets(self) -> tuple[StreetName, ...]:
        """The streets that have a table."""
        return tuple(street for street in STREETS if getattr(self, street) is not None)

    def count(self, street: StreetName) -> int:
        """Buckets of a street."""
        count: int = getattr(self, street)
        return count

    def situations(self, street: StreetName) -> int:
        """Entries of a street's table."""
        return self.boards(street).situations if self.board else SITUATION_COUNTS[BOARD_CARDS[street]]

    def boards(self, street: StreetName) -> BoardRows:
        """The boards of a street."""
        return self._boards[street]

    @cached_property
    def _boards(self) -> dict[StreetName, BoardRows]:
        return {street: self._rows(BOARD_CARDS[street]) for street in self.streets}

    def _rows(self, size: int) -> BoardRows:
        if self.board:
            left = [card for card in range(DECK) if card not in self.board]
            boards = [[*self.board, *more] for more in combinations(left, size - 3)]
            found, counts = np.unique(board_rows(boards), return_counts=True)
            rows, weights = found.astype(np.int64), counts.astype(np.int64)
        else:
            weights = canonical_boards(size).multiplicity
            rows = np.arange(len(weights), dtype=np.int64)
        first = first_situations(size)
        starts = np.concatenate([[0], np.cumsum(first[rows + 1] - first[rows], dtype=np.int64)])
        return BoardRows(rows, weights, starts)


def _check_whole(name: str, value: int, low: int, high: int, unit: str) -> None:
    if type(value) is not int or not low <= value <= high:
        raise InvalidOption(name, value, f"must be from {low:,} to {high:,}{unit}")

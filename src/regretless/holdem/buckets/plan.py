"""The settings of a card abstraction: a plan, checked, with the boards that it covers; and what users type.

A `BucketChoice` says which buckets a spot or a game is solved with: `turn=500,river=500`, or a file with tables.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Final, Literal, NamedTuple, cast, get_args

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import DECK, board_text
from regretless.cards.isomorphism import canonical_boards
from regretless.cards.situation_tables import SITUATION_COUNTS
from regretless.cards.situations import board_rows, first_situations
from regretless.errors import InvalidFile, InvalidOption, InvalidText, RegretlessError
from regretless.holdem.spots.spot_fields import STREETS, StreetName

__all__ = ["BOARD_CARDS", "LOSSLESS", "MAX_BUCKETS", "BoardRows", "BucketChoice", "BucketPlan", "Method"]

Method = Literal["kmeans", "percentile"]

BOARD_CARDS: Final[Mapping[StreetName, int]] = {"flop": 3, "turn": 4, "river": 5}
MAX_BUCKETS: Final = 2**16 - 1  # 16 bits per situation, and one value for hands that the board blocks
MIN_SAMPLE = 1000
MAX_SAMPLE = 10**7
MAX_SEED = 2**63 - 1

LOSSLESS = "lossless"
FILE = ".rgl"  # how the name of a file with tables ends
METHOD = "method"


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
        _check_whole("seed", self.seed, 0, MAX_SEED, "")
        _check_whole("sample", self.sample, MIN_SAMPLE, MAX_SAMPLE, " deals")
        if self.board and (len(self.board) != 3 or len(set(self.board)) != 3):
            raise InvalidOption("board", board_text(self.board), "must be a flop: three different cards")
        for street in STREETS:
            if (count := getattr(self, street)) is not None:
                _check_whole(street, count, 1, MAX_BUCKETS, " buckets")
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
            deck = [card for card in range(DECK) if card not in self.board]
            boards = [[*self.board, *dealt] for dealt in combinations(deck, size - 3)]
            distinct, counts = np.unique(board_rows(boards), return_counts=True)
            rows, weights = distinct.astype(np.int64), counts.astype(np.int64)
        else:
            weights = canonical_boards(size).multiplicity
            rows = np.arange(len(weights), dtype=np.int64)
        first = first_situations(size)
        starts = np.concatenate([[0], np.cumsum(first[rows + 1] - first[rows], dtype=np.int64)])
        return BoardRows(rows, weights, starts)


def _check_whole(name: str, value: int, low: int, high: int, unit: str) -> None:
    if type(value) is not int or not low <= value <= high:
        raise InvalidOption(name, value, f"must be from {low:,} to {high:,}{unit}")


@dataclass(frozen=True)
class BucketChoice:
    """Buckets per street, found when they are needed or, if `file` is given, by `regretless buckets`.

    On a lossless street, every hand of every runout has its own bucket.

    >>> BucketChoice.parse("turn=500, river=200")
    BucketChoice(counts=(('turn', 500), ('river', 200)), lossless=(), method='kmeans', file='')
    >>> str(BucketChoice.parse("river=50,turn=lossless,method=percentile"))
    'turn=lossless,river=50,method=percentile'
    >>> BucketChoice.parse("tables.rgl, turn=lossless").lossless
    ('turn',)
    >>> BucketChoice.parse("turn=0")
    Traceback (most recent call last):
    regretless.errors.InvalidText: buckets: 'turn=0' at position 6: 0 is neither lossless nor from 1 to 65,535
    """

    counts: tuple[tuple[StreetName, int], ...] = ()
    lossless: tuple[StreetName, ...] = ()
    method: Method = "kmeans"
    file: str = ""

    @classmethod
    def parse(cls, text: str) -> BucketChoice:
        """Read `STREET=NUMBER` or `STREET=lossless`, separated by commas, and optionally `method=percentile`.

        Instead of numbers, the name of a file that ends in `.rgl` may come first.
        """
        file = _file(text)
        values = _read_settings(text, start=len(file))
        if not (file or values.keys() - {METHOD}):
            raise InvalidText("buckets", text, None, "names no street: give, for example, turn=500,river=500")
        for name, (value, position) in values.items():
            if file and value != LOSSLESS:
                reason = f"{name}={value} cannot be combined with a file, which says how many buckets there are"
                raise InvalidText("buckets", text, position, reason)
            _check_value(text, name, value, position)
        streets = [street for street in STREETS if street in values]
        return cls(
            counts=tuple((street, int(values[street].value)) for street in streets if values[street].value != LOSSLESS),
            lossless=tuple(street for street in streets if values[street].value == LOSSLESS),
            method=cast(Method, values[METHOD].value) if METHOD in values else "kmeans",
            file=file,
        )

    def __str__(self) -> str:
        numbers = dict(self.counts)
        streets = [street for street in STREETS if street in numbers or street in self.lossless]
        words = [self.file] if self.file else []
        words += [f"{street}={numbers.get(street, LOSSLESS)}" for street in streets]
        if self.method != "kmeans":
            words.append(f"method={self.method}")
        return ",".join(words)

    def check(self, streets: Iterable[StreetName], in_file: Collection[StreetName] = ()) -> None:
        """Refuse a choice that leaves one of these streets open; `in_file` are those that its file has tables of."""
        divided = {*self.lossless, *dict(self.counts), *in_file}
        for street in streets:
            if street not in divided and self.file:
                raise InvalidFile(
                    self.file, f"has no buckets for the {street}: add {street}={LOSSLESS} if that is meant"
                )
            if street not in divided:
                reason = f"does not say how many buckets the {street} has: add {street}=NUMBER or {street}={LOSSLESS}"
                raise InvalidOption("buckets", str(self), reason)


def _file(text: str) -> str:
    """The name of a file that a text begins with; "" if there is none."""
    match = re.match(rf".*{re.escape(FILE)}(?=\s*(?:,|$))", text)
    return "" if match is None else match.group()


class _Setting(NamedTuple):
    """The value of a street or of the method, and its position in the text."""

    value: str
    position: int


def _read_settings(text: str, start: int) -> dict[str, _Setting]:
    """What is set to the right of `start`, by name."""
    settings: dict[str, _Setting] = {}
    for part in re.finditer("[^,]+", text):
        if part.start() < start:
            continue
        match = re.fullmatch(r"(\s*)(\w+)\s*=\s*(\w+)\s*", part.group())
        if match is None:
            raise InvalidText("buckets", text, part.start() + 1, "is not like turn=500")
        name, position = match.group(2), part.start() + match.start(2) + 1
        if name in settings:
            raise InvalidText("buckets", text, position, f"{name} is given twice")
        if name not in (*STREETS, METHOD):
            raise InvalidText("buckets", text, position, f"{name} is not one of {', '.join((*STREETS, METHOD))}")
        settings[name] = _Setting(match.group(3), part.start() + match.start(3) + 1)
    return settings


def _check_value(text: str, name: str, value: str, position: int) -> None:
    """Refuse a value that a street or the method cannot have."""
    if name == METHOD:
        if value not in get_args(Method):
            raise InvalidText("buckets", text, position, f"{value} is not one of {', '.join(get_args(Method))}")
    elif value != LOSSLESS and (re.fullmatch("[0-9]{1,5}", value) is None or not 1 <= int(value) <= MAX_BUCKETS):
        raise InvalidText("buckets", text, position, f"{value} is neither {LOSSLESS} nor from 1 to {MAX_BUCKETS:,}")

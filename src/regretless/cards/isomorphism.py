"""Suit isomorphism: which boards and hands differ only in the names of the suits.

1. There are 24 ways to rename the suits. Two boards are isomorphic when a renaming turns one into the other.
2. As a set of cards, a board is a number with bit c set for card c. The canonical board of an isomorphism class is the
   one with the largest number: its high cards are spades, then hearts, and so on. `Qs Jh 2h` stands for every Q-J-2
   whose lower two cards share a suit. For a hand on a board, the board decides first, then the hand.
3. The renamings that leave a board unchanged form its group; hands (and next cards) that the group maps to one
   another are equivalent.
4. A canonical board without its lowest card is canonical too (a renaming that improved the rest would improve the
   whole), so longer boards grow from shorter canonical ones by adding one lower card, with few candidates to discard.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from regretless.cards.hands import HAND_CARDS, hand_indices
from regretless.errors import InvalidOption

__all__ = [
    "CARD_MAPS",
    "SUIT_PERMUTATIONS",
    "CanonicalBoards",
    "canonical_boards",
    "canonical_situation",
    "distinct_boards",
    "flop_index",
    "hand_maps",
    "unchanged_by",
]

# [24, 4] images of suits c, d, h, s under each renaming; the first is the identity
SUIT_PERMUTATIONS: Final[NDArray[np.uint8]] = np.array(list(permutations(range(4))), dtype=np.uint8)

# [24, 52] image of each card under each renaming
CARD_MAPS: Final[NDArray[np.uint8]] = (
    np.arange(52) // 4 * 4 + np.take(SUIT_PERMUTATIONS, np.arange(52) % 4, axis=1)
).astype(np.uint8)

# [24, 52] bit of the renamed card
_CARD_BITS: Final[NDArray[np.uint64]] = np.uint64(1) << CARD_MAPS.astype(np.uint64)

SUIT_PERMUTATIONS.flags.writeable = False
CARD_MAPS.flags.writeable = False


@dataclass(frozen=True)
class CanonicalBoards:
    """One board of each isomorphism class, and how many boards are in the class."""

    cards: NDArray[np.uint8]  # [boards, size] high card first
    multiplicity: NDArray[np.int64]  # [boards]


def canonical_situation(hand: Iterable[int], board: Iterable[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The canonical hand and board isomorphic to these, each high card first.

    >>> from regretless.cards.deck import board_text, parse_board
    >>> hand, board = canonical_situation(parse_board("Ac Kd"), parse_board("Jd 2d Qc"))
    >>> board_text(hand), board_text(board)
    ('As Kh', 'Qs Jh 2h')
    """
    hand, board = list(hand), list(board)
    best = max(zip(_numbers(board).tolist(), _numbers(hand).tolist(), range(24), strict=True))[2]
    return _high_first(CARD_MAPS[best, hand]), _high_first(CARD_MAPS[best, board])


def unchanged_by(board: Iterable[int]) -> NDArray[np.int64]:
    """Rows of `SUIT_PERMUTATIONS` that leave the board as a set unchanged: its group, the identity first."""
    numbers = _numbers(board)
    return np.flatnonzero(numbers == numbers[0])


@cache
def hand_maps() -> NDArray[np.int16]:
    """[24, 1326] image of each hand under each renaming."""
    maps = hand_indices(CARD_MAPS[:, HAND_CARDS]).astype(np.int16)
    maps.flags.writeable = False
    return maps


@cache
def canonical_boards(size: int) -> CanonicalBoards:
    """One board of `size` cards (0 to 5) per isomorphism class, in rising order of their numbers."""
    if not 0 <= size <= 5:
        raise InvalidOption("size", size, "must be from 0 to 5")
    return distinct_boards(size, dead=(), group=np.arange(24))


def distinct_boards(size: int, *, dead: Sequence[int], group: NDArray[np.int64]) -> CanonicalBoards:
    """One deal of `size` cards per class, from the deck without `dead`, counting only renamings in `group`.

    `group` holds rows of `SUIT_PERMUTATIONS`, the identity first, that leave the set of dead cards unchanged (as
    `unchanged_by` returns); the identity alone gives every board.
    """
    live = np.setdiff1d(np.arange(52), np.asarray(dead, dtype=np.int64))
    bits = _CARD_BITS[group]
    boards = np.empty((1, 0), dtype=np.uint8)
    multiplicity = np.ones(1, dtype=np.int64)
    for _ in range(size):
        boards, multiplicity = _keep_canonical(_add_lower_card(boards, live), bits)
    order = np.lexsort(boards.T[::-1]) if size else np.zeros(1, dtype=np.int64)
    return CanonicalBoards(boards[order], multiplicity[order])


def flop_index(flop: Iterable[int]) -> int:
    """Number 0..1754 of a flop's isomorphism class: its row in `canonical_boards(3)`.

    >>> from regretless.cards.deck import board_text, parse_board
    >>> flop_index(parse_board("2h Jh Qs")) == flop_index(parse_board("Qc Jd 2d"))
    True
    >>> board_text(canonical_boards(3).cards[flop_index(parse_board("2d Jd Qc"))])
    'Qs Jh 2h'
    """
    flop = tuple(flop)
    if len(set(flop)) != 3:
        raise InvalidOption("flop", list(flop), "must be three different cards")
    return _flop_numbers()[int(_numbers(flop).max())]


@cache
def _flop_numbers() -> dict[int, int]:
    flops = canonical_boards(3).cards
    numbers = np.bitwise_or.reduce(_CARD_BITS[0, flops], axis=1)
    return {number: row for row, number in enumerate(numbers.tolist())}


def _numbers(board: Iterable[int]) -> NDArray[np.uint64]:
    """[24] number (step 2) of the board under each renaming."""
    numbers: NDArray[np.uint64] = np.bitwise_or.reduce(_CARD_BITS[:, list(board)], axis=1)
    return numbers


def _high_first(cards: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted((int(card) for card in cards), reverse=True))


def _add_lower_card(boards: NDArray[np.uint8], live: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Every board extended by every live card below its lowest."""
    lowest = boards[:, -1] if boards.shape[1] else np.full(len(boards), 52)
    choices = np.searchsorted(live, lowest)
    position = np.arange(choices.sum()) - np.repeat(np.cumsum(choices) - choices, choices)
    return np.column_stack([np.repeat(boards, choices, axis=0), live[position].astype(np.uint8)])


def _keep_canonical(boards: NDArray[np.uint8], bits: NDArray[np.uint64]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The boards that no renaming makes larger, and how many boards each stands for."""
    own = np.bitwise_or.reduce(bits[0][boards], axis=1)
    unchanged = np.ones(len(boards), dtype=np.int64)
    for card_bits in bits[1:]:
        renamed = np.bitwise_or.reduce(card_bits[boards], axis=1)
        unchanged += renamed == own
        canonical = renamed <= own
        boards, own, unchanged = boards[canonical], own[canonical], unchanged[canonical]
    return boards, len(bits) // unchanged

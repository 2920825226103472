"""The 1,326 hands of two cards, in one fixed order, and the 169 classes they fall into.

A hand is a pair of cards low < high. Hands are ordered by the low card, then by the high card:

    2c2d, 2c2h, 2c2s, 2c3c, … 2cAs, 2d2h, … AhAs        index = low · (101 - low) / 2 + high - 1

A class forgets suits except whether they match: `AKs`, `AKo`, `77`. Classes are the cells of the usual 13 x 13 grid,
row by row from aces down: pairs on the diagonal, suited hands above it, offsuit hands below.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import RANKS, card_text
from regretless.errors import InvalidOption

__all__ = [
    "CLASS_NAMES",
    "HAND_CARDS",
    "HAND_CLASS",
    "HAND_COUNT",
    "PIO_ORDER",
    "blocked_by",
    "class_index",
    "hand_class",
    "hand_index",
    "hand_indices",
    "hand_text",
]

HAND_COUNT: Final = 1326


def hand_index(first: int, second: int) -> int:
    """Index of the hand that holds these two cards, in either order.

    >>> hand_index(0, 1), hand_index(51, 50)
    (0, 1325)
    """
    if first == second:
        raise InvalidOption("hand", card_text(first) * 2, "repeats a card")
    low, high = min(first, second), max(first, second)
    return low * (101 - low) // 2 + high - 1


def hand_indices(cards: NDArray[np.integer]) -> NDArray[np.int64]:
    """Index of each hand [..., 2], its cards in either order.

    >>> hand_indices(np.array([[0, 1], [51, 50]])).tolist()
    [0, 1325]
    """
    low, high = (each.astype(np.int64) for each in (cards.min(axis=-1), cards.max(axis=-1)))
    indices: NDArray[np.int64] = low * (101 - low) // 2 + high - 1
    return indices


def hand_text(hand: int) -> str:
    """Text of a hand, higher rank first (for a pair, the later suit first).

    >>> hand_text(hand_index(46, 50))
    'AhKh'
    """
    low, high = HAND_CARDS[hand]
    return card_text(int(high)) + card_text(int(low))


def class_index(first_rank: int, second_rank: int, suited: bool) -> int:
    """Cell of the 13 x 13 grid, counted row by row; ranks are 0..12 for 2..A."""
    top, side = 12 - max(first_rank, second_rank), 12 - min(first_rank, second_rank)
    return 13 * top + side if suited else 13 * side + top


def hand_class(hand: int) -> str:
    """Name of the class of a hand."""
    return CLASS_NAMES[int(HAND_CLASS[hand])]


def blocked_by(cards: Iterable[int]) -> NDArray[np.bool_]:
    """[1326] whether each hand holds any of these cards.

    >>> int(blocked_by([0, 51]).sum())
    101
    """
    return np.asarray(_HOLDS[np.fromiter(cards, dtype=np.int64)].any(axis=0))


def _class_name(cell: int) -> str:
    row, column = divmod(cell, 13)
    high, low = RANKS[12 - min(row, column)], RANKS[12 - max(row, column)]
    return high + low + ("" if row == column else "s" if row < column else "o")


def _read_only(array: NDArray[np.uint8]) -> NDArray[np.uint8]:
    array.flags.writeable = False
    return array


CLASS_NAMES: Final = tuple(_class_name(cell) for cell in range(169))

# [1326, 2] low and high card of each hand
HAND_CARDS: Final[NDArray[np.uint8]] = _read_only(np.array(list(combinations(range(52), 2)), dtype=np.uint8))

# [1326] our index of each hand in PioSOLVER's order (its `show_hand_order`): by high card, then by low card
PIO_ORDER: Final[NDArray[np.int64]] = np.lexsort((HAND_CARDS[:, 0], HAND_CARDS[:, 1]))
PIO_ORDER.flags.writeable = False

# [1326] class of each hand: a cell 0..168 of the grid
HAND_CLASS: Final[NDArray[np.uint8]] = _read_only(
    np.array([class_index(a // 4, b // 4, a % 4 == b % 4) for a, b in combinations(range(52), 2)], dtype=np.uint8)
)

# [52, 1326] whether each hand holds a card
_HOLDS: Final[NDArray[np.bool_]] = (HAND_CARDS[None] == np.arange(52)[:, None, None]).any(axis=2)
_HOLDS.flags.writeable = False

"""The strength of 5, 6 or 7 cards: an integer, larger is better, equal for equal hands.

Strength is that of the best five cards: from 0 for 7-5-4-3-2 of mixed suits up to 7,461 for a royal flush, without
gaps (there are 7,462 different strengths). `strength_tables` explains the lookup; the loops are compiled on first
call.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regretless.cards.hands import HAND_CARDS, HAND_COUNT
from regretless.cards.strength_tables import CATEGORY_CLASSES, strength_tables
from regretless.errors import InvalidOption

__all__ = ["BLOCKED", "STRENGTH_COUNT", "card_array", "category", "evaluate", "hand_strengths", "load_kernels"]

STRENGTH_COUNT: Final = 7462
BLOCKED: Final = -1  # strength of a hand that shares a card with the board

_CATEGORY_ENDS: Final = tuple(zip(accumulate(CATEGORY_CLASSES.values()), CATEGORY_CLASSES, strict=True))


def category(strength: int) -> str:
    """Name of the category of a strength.

    >>> category(7461), category(0)
    ('straight flush', 'high card')
    """
    if strength >= 0:
        for end, name in _CATEGORY_ENDS:
            if strength < end:
                return name
    raise InvalidOption("strength", strength, f"must be from 0 to {STRENGTH_COUNT - 1}")


def evaluate(cards: ArrayLike) -> NDArray[np.int16]:
    """Strength of each row of 5, 6 or 7 cards; the fastest input is a uint8 array.

    >>> from regretless.cards.deck import parse_board
    >>> flush, straight = parse_board("AhJh9h6h2h"), parse_board("AhKdQcJsTh")
    >>> strengths = evaluate([flush, straight])
    >>> [category(strength) for strength in strengths]
    ['flush', 'straight']
    """
    rows = card_array("cards", cards)
    if rows.ndim != 2 or rows.shape[1] not in (5, 6, 7):
        raise InvalidOption("cards", f"array of shape {rows.shape}", "must have shape [n, 5], [n, 6] or [n, 7]")
    from regretless.cards._evaluator_kernels import evaluate_rows

    strengths = np.empty(len(rows), dtype=np.int16)
    evaluate_rows(rows, strength_tables(), strengths)
    if len(rows) and strengths.min() < 0:
        row = int(np.argmin(strengths))
        raise InvalidOption("cards", rows[row].tolist(), f"(row {row}) repeats a card")
    return strengths


def hand_strengths(boards: ArrayLike) -> NDArray[np.int16]:
    """Strength of all 1,326 hands on a five-card board, -1 (`BLOCKED`) where they share a card with it.

    An array of boards [n, 5] gives [n, 1326].

    >>> from regretless.cards.deck import parse_board
    >>> strengths = hand_strengths(parse_board("Qs Js Ts 2h 2c"))
    >>> strengths.shape, int((strengths == BLOCKED).sum()), category(strengths.max())
    ((1326,), 245, 'straight flush')
    """
    rows = card_array("boards", boards)
    if rows.ndim not in (1, 2) or rows.shape[-1] != 5:
        raise InvalidOption("boards", f"array of shape {rows.shape}", "must have shape [5] or [n, 5]")
    flat = rows.reshape(-1, 5)
    ordered = np.sort(flat, axis=1)
    repeats = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if len(repeats):
        raise InvalidOption("boards", flat[repeats[0]].tolist(), f"(row {repeats[0]}) repeats a card")
    from regretless.cards._evaluator_kernels import evaluate_hands

    strengths = np.empty((len(flat), HAND_COUNT), dtype=np.int16)
    evaluate_hands(flat, HAND_CARDS, strength_tables(), strengths)
    return strengths.reshape(*rows.shape[:-1], HAND_COUNT)


def load_kernels() -> None:
    """Load what `hand_strengths` needs, which takes 0.3 s, at a time when there is something else to wait for."""
    hand_strengths(range(5))


def card_array(option: str, cards: ArrayLike) -> NDArray[np.uint8]:
    """The cards as a contiguous uint8 array; refuses anything but integers from 0 to 51."""
    array = np.asarray(cards)
    if array.size and array.dtype.kind not in "iu":
        raise InvalidOption(option, f"array of {array.dtype}", "must hold integers")
    if array.size and (array.min() < 0 or array.max() > 51):
        wrong = array[(array < 0) | (array > 51)].flat[0]
        raise InvalidOption(option, int(wrong), "is not a card: cards are 0 to 51")
    return np.ascontiguousarray(array, dtype=np.uint8)

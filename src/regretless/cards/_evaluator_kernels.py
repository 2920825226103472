"""Compiled loops of the evaluator: sum the card keys, then look up `strength_tables`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regretless.cards.strength_tables import HIGH_BITS, LOW_BITS, SUIT_BITS, StrengthTables
from regretless.compiling import kernel

__all__ = ["FIRST_KEY", "evaluate_board", "evaluate_hands", "evaluate_rows", "strength_of"]

# Each suit's counter starts at 3, so its top bit is set exactly when five or more cards share the suit.
FIRST_KEY = 0x3333 << SUIT_BITS
FLUSH = 0x8888 << SUIT_BITS
LOW_MASK = (1 << LOW_BITS) - 1
HIGH_MASK = (1 << HIGH_BITS) - 1
INVALID = -1


@kernel
def strength_of(key: int, bits: int, size: int, tables: StrengthTables) -> int:
    """Strength of `size` cards from FIRST_KEY plus their keys, and from the union of their bits.

    Returning int(...) instead of the table's int16 makes the loops below three to six times faster (measured).
    """
    if key & FLUSH:
        for suit in range(4):
            if key >> (SUIT_BITS + 4 * suit) & 8:
                return int(tables.flush_strength[bits >> 13 * suit & 0x1FFF])
    number = tables.high_offset[size - 5, key >> LOW_BITS & HIGH_MASK] + tables.low_position[key & LOW_MASK]
    return int(tables.rank_strength[number])


@kernel
def evaluate_rows(cards: NDArray[np.uint8], tables: StrengthTables, strengths: NDArray[np.int16]) -> None:
    """Strength of each row of 5, 6 or 7 cards; -1 where a row repeats a card."""
    rows, size = cards.shape
    for row in range(rows):
        key = FIRST_KEY
        bits = 0
        repeated = 0
        for column in range(size):
            card = cards[row, column]
            key += tables.card_key[card]
            repeated |= bits & tables.card_bit[card]
            bits |= tables.card_bit[card]
        strengths[row] = INVALID if repeated else strength_of(key, bits, size, tables)


@kernel
def evaluate_hands(
    boards: NDArray[np.uint8], cards: NDArray[np.uint8], tables: StrengthTables, strengths: NDArray[np.int16]
) -> None:
    """Strength of every hand on every five-card board: [boards, hands], -1 where the board blocks the hand."""
    for board in range(len(boards)):
        evaluate_board(boards[board], cards, tables, strengths[board])


@kernel
def evaluate_board(
    board: NDArray[np.uint8], cards: NDArray[np.uint8], tables: StrengthTables, strengths: NDArray[np.signedinteger]
) -> None:
    """The same on one board."""
    board_key = FIRST_KEY
    board_bits = 0
    for card in board:
        board_key += tables.card_key[card]
        board_bits |= tables.card_bit[card]
    for hand in range(len(cards)):
        low, high = cards[hand, 0], cards[hand, 1]
        hand_bits = tables.card_bit[low] | tables.card_bit[high]
        if board_bits & hand_bits:
            strengths[hand] = INVALID
        else:
            key = board_key + tables.card_key[low] + tables.card_key[high]
            strengths[hand] = strength_of(key, board_bits | hand_bits, 7, tables)

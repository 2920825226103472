"""Situations as numbers without gaps, and back.

A situation is a hand on a board of 0, 3, 4 or 5 cards. Situations that differ only in the names of the suits, or in the
order of the cards on the board, are the same. Before the flop they are numbered like the cells of the 13 × 13 grid
(`HAND_CLASS`); later, as `situation_tables` explains, board by board: the situations of row r of `canonical_boards` are
`first_situations(size)[r]` up to `first_situations(size)[r + 1]`.

The loops are compiled on first call.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regretless.cards.evaluator import card_array
from regretless.cards.hands import HAND_CARDS, HAND_CLASS, HAND_COUNT
from regretless.cards.situation_tables import SITUATION_COUNTS, situation_tables
from regretless.errors import InvalidOption

__all__ = [
    "NO_SITUATION", "SITUATION_COUNTS", "board_rows", "first_situations", "hand_entries", "hand_situations",
    "situation_at", "situation_index",
]  # fmt: skip

NO_SITUATION = -1  # index of a hand that the board blocks

_BLOCK = 32  # boards


def situation_index(hands: ArrayLike, boards: ArrayLike) -> NDArray[np.int32]:
    """Index of each hand [n, 2] on the board [n, size] beside it; the fastest input is uint8 arrays.

    >>> from regretless.cards.deck import parse_board
    >>> hand, board = parse_board("Ac Kd"), parse_board("Jd 2d Qc")
    >>> same_hand, same_board = parse_board("Ks Ah"), parse_board("Qh Js 2s")
    >>> situation_index([hand, same_hand], [board, same_board]).tolist()
    [724948, 724948]
    """
    rows, pairs = _boards(boards), card_array("hands", hands)
    if pairs.shape != (len(rows), 2):
        raise InvalidOption(
            "hands", f"array of shape {pairs.shape}", f"must have shape [{len(rows)}, 2], as the boards"
        )
    from regretless.cards._situation_kernels import situation_indices

    indices = np.empty(len(rows), dtype=np.int32)
    situation_indices(pairs, rows, situation_tables(rows.shape[1]), _scratch(), indices)
    if len(indices) and indices.min() < 0:
        row = int(np.argmin(indices))
        raise InvalidOption("hands", pairs[row].tolist(), f"(row {row}) or its board repeats a card")
    return _in_grid_order(indices, rows.shape[1])


def situation_at(indices: ArrayLike, size: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The canonical hands [n, 2] and boards [n, size] with these indices, each high card first.

    >>> from regretless.cards.deck import board_text
    >>> hands, boards = situation_at([724948], 3)
    >>> board_text(hands[0]), board_text(boards[0])
    ('As Kh', 'Qs Jh 2h')
    """
    numbers = np.atleast_1d(np.asarray(indices))
    count = SITUATION_COUNTS[_size(size)]
    if numbers.size and numbers.dtype.kind not in "iu":
        raise InvalidOption("indices", f"array of {numbers.dtype}", "must hold integers")
    if numbers.size and (numbers.min() < 0 or numbers.max() >= count):
        wrong = numbers[(numbers < 0) | (numbers >= count)].flat[0]
        raise InvalidOption("indices", int(wrong), f"must be from 0 to {count - 1:,} on boards of {size} cards")
    from regretless.cards._situation_kernels import locate

    numbers = np.ascontiguousarray(numbers, dtype=np.int64).reshape(-1)
    hands = np.empty((len(numbers), 2), dtype=np.uint8)
    boards = np.empty((len(numbers), size), dtype=np.uint8)
    if size == 0:
        numbers = np.argsort(_grid_cells())[numbers]
    locate(numbers, situation_tables(size), _scratch(), hands, boards)
    return hands, boards


def hand_situations(boards: ArrayLike) -> NDArray[np.int32]:
    """[n, 1326] index of every hand on each of the boards [n, size]; −1 (`NO_SITUATION`) where the board blocks it.

    >>> from regretless.cards.deck import parse_board
    >>> indices = hand_situations([parse_board("Qs Jh 2h")])
    >>> indices.shape, int((indices < 0).sum()), len(set(indices[0].tolist())) - 1
    ((1, 1326), 150, 721)
    """
    rows = _boards(boards)
    indices = _number_hands(rows)
    _refuse_repeats(rows)
    return _in_grid_order(indices, rows.shape[1])


def hand_entries(
    boards: ArrayLike,
    table: NDArray[np.uint8] | NDArray[np.uint16],
    *,
    missing: int,
    shifts: NDArray[np.int64] | None = None,
) -> NDArray[np.uint16]:
    """[n, 1326] the entry of a table [situations] for every hand on each board; `missing` where the board blocks it.

    `shifts` [n] are added to the indices of each board, for tables that do not cover all boards.
    """
    from regretless.cards._situation_kernels import look_up

    rows = _boards(boards)
    _refuse_repeats(rows)
    size = rows.shape[1]
    if shifts is None and len(table) != SITUATION_COUNTS[size]:
        reason = f"must have {SITUATION_COUNTS[size]:,}, one for each situation on boards of {size} cards"
        raise InvalidOption("table", f"array of {len(table):,} entries", reason)
    added = np.zeros(len(rows), dtype=np.int64) if shifts is None else shifts
    entries = np.empty((len(rows), HAND_COUNT), dtype=np.uint16)
    indices = np.empty((min(len(rows), _BLOCK), HAND_COUNT), dtype=np.int32)
    for start in range(0, len(rows), _BLOCK):  # few boards at a time, so that their indices stay in the cache
        block = slice(start, min(start + _BLOCK, len(rows)))
        numbered = _number_hands(rows[block], indices[: block.stop - start])
        look_up(_in_grid_order(numbered, size), added[block], table, missing, entries[block])
    return entries


def board_rows(boards: ArrayLike) -> NDArray[np.int32]:
    """[n] row of each board's isomorphism class in `canonical_boards(size)`.

    >>> from regretless.cards.deck import parse_board
    >>> from regretless.cards.isomorphism import flop_index
    >>> flop = parse_board("2h Jh Qs")
    >>> board_rows([flop]).tolist() == [flop_index(flop)]
    True
    """
    rows = _boards(boards)
    from regretless.cards._situation_kernels import row_indices

    canonical_rows = np.empty(len(rows), dtype=np.int32)
    row_indices(rows, situation_tables(rows.shape[1]), _scratch(), canonical_rows)
    _refuse_repeats(rows)
    return canonical_rows


def first_situations(size: int) -> NDArray[np.int32]:
    """[boards + 1] index of the first situation of each row of `canonical_boards(size)`, and how many there are."""
    return situation_tables(_size(size)).first


def _in_grid_order(indices: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    return _grid_cells()[indices] if size == 0 else indices


@cache
def _grid_cells() -> NDArray[np.int32]:
    """[169] cell of the grid of each situation before the flop, in the order of the tables."""
    indices = _number_hands(np.empty((1, 0), dtype=np.uint8))
    cells = np.empty(SITUATION_COUNTS[0], dtype=np.int32)
    cells[indices[0]] = HAND_CLASS
    return cells


def _number_hands(boards: NDArray[np.uint8], indices: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
    """[n, 1326] index of every hand in the order of the tables, in `indices` if that is given."""
    from regretless.cards._situation_kernels import hand_indices

    indices = np.empty((len(boards), HAND_COUNT), dtype=np.int32) if indices is None else indices
    by_card = np.empty((3, 52), dtype=np.int64)
    hand_indices(boards, HAND_CARDS, situation_tables(boards.shape[1]), _scratch(), by_card, indices)
    return indices


def _scratch() -> NDArray[np.int64]:
    return np.empty((4, 4), dtype=np.int64)


def _boards(boards: ArrayLike) -> NDArray[np.uint8]:
    rows = card_array("boards", boards)
    if rows.ndim != 2 or rows.shape[1] not in SITUATION_COUNTS:
        raise InvalidOption(
            "boards", f"array of shape {rows.shape}", "must have shape [n, 0], [n, 3], [n, 4] or [n, 5]"
        )
    return rows


def _size(size: int) -> int:
    if size not in SITUATION_COUNTS:
        raise InvalidOption("size", size, "must be 0, 3, 4 or 5")
    return size


def _refuse_repeats(boards: NDArray[np.uint8]) -> None:
    ordered = np.sort(boards, axis=1)
    repeats = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if len(repeats):
        raise InvalidOption("boards", boards[repeats[0]].tolist(), f"(row {repeats[0]}) repeats a card")

"""Situations, a hand on a board up to the names of the suits, as numbers without gaps.

indexing   the functions that other packages call
tables     what the compiled loops look up, built once per street
"""

from regretless.cards.situations.indexing import (
    NO_SITUATION,
    SITUATION_COUNTS,
    board_rows,
    first_situations,
    hand_entries,
    hand_situations,
    situation_at,
    situation_index,
)

__all__ = [
    "NO_SITUATION",
    "SITUATION_COUNTS",
    "board_rows",
    "first_situations",
    "hand_entries",
    "hand_situations",
    "situation_at",
    "situation_index",
]

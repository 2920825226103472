"""Lookup tables that number situations: a hand on a board of 0, 3, 4 or 5 cards, up to the names of the suits.

The order of the cards does not matter, neither in the hand nor on the board: a turn card may be exchanged with a flop
card. All situations of a board are adjacent, and the boards are in the order of `canonical_boards`:

    index = first[row of the board] + number of the hand on that board

The row of a board:

1. A set of ranks has a key: sets are sorted by size, then colexicographically. A board is four sets, one per suit.
   Sorted by falling key, they are the same for all isomorphic boards. Their sizes, such as 2-2-1-0, are its shape.
2. Suits of equal size hold a multiset of sets. With x₁ ≥ x₂ ≥ … ≥ xₘ the positions of the sets among those of their
   size, its number is C(x₁+m−1, m) + C(x₂+m−2, m−1) + … + C(xₘ, 1). Numbers of groups of different sizes combine like
   digits. The result is the rank of the board, without gaps, and `row_of_rank` translates it.

The number of the hand on a board:

3. Suits whose sets are equal form a class and can be exchanged. A class is named by its first position in the sorted
   order. Let n be the number of ranks that the board leaves free in a suit of the class; cards are counted among those.
4. The hands fall into sections: two cards of one suit, in each class (n(n−1)/2 situations); two suits of one class
   (n(n+1)/2: two ranks, which may be equal); suits of two different classes (n · n′). Within a section a formula gives
   the number.

Waugh ("A Fast and Optimal Hand Isomorphism Algorithm", 2013) numbers the multiset of what each suit holds of hand and
board alike. Numbering boards first keeps a board's hands together, so that a table with one entry per situation is
read and written one board at a time.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from math import comb
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.cards.isomorphism import canonical_boards

__all__ = ["NEAR_BITS", "SITUATION_COUNTS", "SituationTables", "situation_tables"]

# number of situations by number of cards on the board
SITUATION_COUNTS: Final = {0: 169, 3: 1_286_792, 4: 13_960_050, 5: 123_156_254}

IntArray = NDArray[np.int64]

NEAR_BITS = 10
MAX_SET = 5  # ranks of one suit on a board
SECTIONS = 16  # codes: 5 · class for suited hands, 12 + class for two suits of a class, 4 · class + other class


class SituationTables(NamedTuple):
    """The tables for boards of one size; a named tuple, because numba accepts those as arguments."""

    sorted_as: NDArray[np.int32]  # [2^13]  32 · key + 4 · size of a set; 0 for sets that no board has
    size: NDArray[np.uint8]  # [2^13]  how many ranks are in a set
    multisets: NDArray[np.int32]  # [5, 2380]  C(x + m − 1, m) by m and key
    shape: NDArray[np.int8]  # [6, 6, 6]  number of a shape by its three largest sizes
    shape_first: NDArray[np.int32]  # [shapes]     rank of its first board
    members: NDArray[np.int8]  # [shapes, 4]  m of step 2: suits of the same size from this position on
    step: NDArray[np.int32]  # [shapes, 4]  what the term of this position is multiplied by
    section_first: NDArray[np.int32]  # [8 · shapes, 16]  by shape, equal neighbours (bits) and code
    section_order: NDArray[np.int8]  # [8 · shapes, 10]  codes in rising order of `section_first`; −1: none
    row_of_rank: NDArray[np.int32]  # [boards]
    first_of_rank: NDArray[np.int32]  # [boards]  `first` by rank
    boards: NDArray[np.uint8]  # [boards, size]  canonical boards, high card first
    first: NDArray[np.int32]  # [boards + 1]  first situation of each row
    row_near: NDArray[np.int32]  # [situations / 2^10]  row of every 1,024th situation


@cache
def situation_tables(size: int) -> SituationTables:
    """The tables for boards of `size` cards (0, 3, 4 or 5), built once per process: half a second for the river."""
    sizes = (np.arange(2**13)[:, None] >> np.arange(13) & 1).sum(axis=1).astype(np.uint8)
    shapes = _shapes(size)
    boards = canonical_boards(size).cards
    tables = SituationTables(
        sorted_as=_sorted_as(sizes),
        size=sizes,
        multisets=_multisets(),
        shape=_shape_numbers(shapes),
        shape_first=_shape_firsts(shapes),
        members=np.array([_members(shape) for shape in shapes], dtype=np.int8),
        step=np.array([_steps(shape) for shape in shapes], dtype=np.int32),
        section_first=np.zeros((8 * len(shapes), SECTIONS), dtype=np.int32),
        section_order=np.full((8 * len(shapes), 10), -1, dtype=np.int8),
        row_of_rank=np.zeros(len(boards), dtype=np.int32),
        first_of_rank=np.zeros(len(boards), dtype=np.int32),
        boards=boards,
        first=np.zeros(len(boards) + 1, dtype=np.int32),
        row_near=np.zeros((SITUATION_COUNTS[size] >> NEAR_BITS) + 1, dtype=np.int32),
    )
    counts = np.zeros(8 * len(shapes), dtype=np.int32)  # situations on one board
    for kind in range(len(counts)):
        for position, (code, length) in enumerate(_sections(shapes[kind >> 3], kind & 7)):
            tables.section_first[kind, code] = counts[kind]
            tables.section_order[kind, position] = code
            counts[kind] += length
    ranks, kinds = _ranked(boards, tables)
    tables.row_of_rank[ranks] = np.arange(len(boards))
    np.cumsum(counts[kinds], out=tables.first[1:])
    tables.first_of_rank[ranks] = tables.first[:-1]
    tables.row_near[:] = np.searchsorted(tables.first, np.arange(len(tables.row_near)) << NEAR_BITS, side="right") - 1
    for table in tables:
        table.flags.writeable = False
    return tables


def _ranked(boards: NDArray[np.uint8], tables: SituationTables) -> tuple[IntArray, IntArray]:
    """Steps 1 and 2 for all boards: their ranks, and 8 · shape + which neighbours are equal."""
    masks = np.zeros((len(boards), 4), dtype=np.int64)
    for cards in boards.T.astype(np.int64):
        masks[np.arange(len(boards)), cards & 3] |= 1 << (cards >> 2)
    ordered = -np.sort(-tables.sorted_as[masks], axis=1)
    sizes, keys = ordered >> 2 & 7, ordered >> 5
    shape = tables.shape[sizes[:, 0], sizes[:, 1], sizes[:, 2]].astype(np.int64)
    terms = tables.step[shape] * tables.multisets[tables.members[shape], keys].astype(np.int64)
    equal = (keys[:, 1:] == keys[:, :-1]) @ np.array([1, 2, 4])
    return tables.shape_first[shape] + terms.sum(axis=1), 8 * shape + equal


def _sorted_as(sizes: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Step 1: 32 · key + 4 · size of every set of ranks."""
    order = np.argsort(sizes, kind="stable")  # as numbers, sets of one size are in colexicographic order
    keys = np.empty(2**13, dtype=np.int64)
    keys[order] = np.arange(2**13)
    return np.where(sizes <= MAX_SET, 32 * keys + 4 * sizes, 0).astype(np.int32)


def _multisets() -> NDArray[np.int32]:
    """C(x + m − 1, m) by m and key; more than one suit can hold a set only if it has at most two ranks."""
    table = np.zeros((5, sum(comb(13, size) for size in range(MAX_SET + 1))), dtype=np.int32)
    first = 0
    for size in range(MAX_SET + 1):
        for members in range(1, 5 if size <= 2 else 2):
            table[members, first : first + comb(13, size)] = [
                comb(x + members - 1, members) for x in range(comb(13, size))
            ]
        first += comb(13, size)
    return table


def _shapes(size: int) -> list[tuple[int, ...]]:
    """Sizes of the four suits, largest first, that add up to `size`."""
    return [
        (a, b, c, size - a - b - c)
        for a in range(size + 1)
        for b in range(a + 1)
        for c in range(b + 1)
        if 0 <= size - a - b - c <= c
    ]


def _shape_numbers(shapes: list[tuple[int, ...]]) -> NDArray[np.int8]:
    numbers = np.full((MAX_SET + 1,) * 3, -1, dtype=np.int8)
    for number, shape in enumerate(shapes):
        numbers[shape[:3]] = number
    return numbers


def _members(shape: tuple[int, ...]) -> list[int]:
    return [shape[position:].count(size) for position, size in enumerate(shape)]


def _groups(shape: tuple[int, ...]) -> list[tuple[int, int]]:
    """(size, how many suits have it), and the number of multisets is C(C(13, size) + suits − 1, suits)."""
    return [(size, shape.count(size)) for size in dict.fromkeys(shape)]


def _steps(shape: tuple[int, ...]) -> list[int]:
    """Groups are digits of a number, the largest size least significant."""
    steps: list[int] = []
    step = 1
    for size, suits in _groups(shape):
        steps += [step] * suits
        step *= comb(comb(13, size) + suits - 1, suits)
    return steps


def _shape_firsts(shapes: list[tuple[int, ...]]) -> NDArray[np.int32]:
    counts = [
        int(np.prod([comb(comb(13, size) + suits - 1, suits) for size, suits in _groups(shape)])) for shape in shapes
    ]
    return (np.cumsum(counts) - counts).astype(np.int32)


def _sections(shape: tuple[int, ...], equal: int) -> list[tuple[int, int]]:
    """Step 4: code and length of each section, if bit p of `equal` says that positions p and p + 1 hold equal sets."""
    classes: dict[int, int] = {}  # first position -> suits
    for position in range(4):
        if position and equal >> (position - 1) & 1:
            classes[max(classes)] += 1
        else:
            classes[position] = 1
    free = {first: 13 - shape[first] for first in classes}
    sections = [(5 * one, comb(free[one], 2)) for one in classes]
    sections += [(12 + one, comb(free[one] + 1, 2)) for one, suits in classes.items() if suits > 1]
    sections += [(4 * one + other, free[one] * free[other]) for one, other in combinations(classes, 2)]
    return sections

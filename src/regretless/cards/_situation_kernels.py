"""Compiled loops over situations; `situation_tables` explains the numbering.

The fast decorators are used because they omit reference counts: counting references to a dozen tables in every pass of
a loop took ten times as long as the loop itself. There is no floating-point arithmetic to reorder.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regretless.cards.situation_tables import NEAR_BITS, SituationTables
from regretless.compiling import fast_inlined, fast_kernel

__all__ = ["hand_indices", "locate", "look_up", "row_indices", "situation_indices"]

REPEATED = -1  # where a card appears twice

MASKS = 0  # ranks of each suit on the board
POSITION = 1  # each suit's position in falling order of key
LEADER = 2  # class of each position, which is its first position
SUITS = 3  # the suit at each position; within a class, falling


@fast_inlined
def order_suits(
    boards: NDArray[np.uint8],  # [n, size]
    row: int,
    tables: SituationTables,
    scratch: NDArray[np.int64],  # [4, 4]  result: MASKS, POSITION, LEADER and SUITS
) -> tuple[int, int]:
    """Steps 1 to 3: the board's rank, and 8 · shape + which neighbours are equal. Rank −1 if a card is repeated."""
    masks, position, leader, suits = scratch[MASKS], scratch[POSITION], scratch[LEADER], scratch[SUITS]
    masks[0] = masks[1] = masks[2] = masks[3] = 0
    repeated = np.int64(0)
    for column in range(boards.shape[1]):
        card = np.int64(boards[row, column])
        bit = np.int64(1) << (card >> 2)
        repeated |= masks[card & 3] & bit
        masks[card & 3] |= bit
    if repeated:
        return REPEATED, 0
    # A sorting network; suits in the low bits put equal sets in falling order of suit.
    a = np.int64(tables.sorted_as[masks[0]])
    b = np.int64(tables.sorted_as[masks[1]]) | 1
    c = np.int64(tables.sorted_as[masks[2]]) | 2
    d = np.int64(tables.sorted_as[masks[3]]) | 3
    a, b = max(a, b), min(a, b)
    c, d = max(c, d), min(c, d)
    a, c = max(a, c), min(a, c)
    b, d = max(b, d), min(b, d)
    b, c = max(b, c), min(b, c)
    suits[0], suits[1], suits[2], suits[3] = a & 3, b & 3, c & 3, d & 3
    position[a & 3], position[b & 3], position[c & 3], position[d & 3] = 0, 1, 2, 3
    equal = np.int64(a >> 2 == b >> 2) | np.int64(b >> 2 == c >> 2) << 1 | np.int64(c >> 2 == d >> 2) << 2
    leader[0] = 0
    leader[1] = 0 if equal & 1 else 1
    leader[2] = leader[1] if equal & 2 else 2
    leader[3] = leader[2] if equal & 4 else 3
    shape = np.int64(tables.shape[a >> 2 & 7, b >> 2 & 7, c >> 2 & 7])
    rank = np.int64(tables.shape_first[shape])
    rank += tables.step[shape, 0] * np.int64(tables.multisets[tables.members[shape, 0], a >> 5])
    rank += tables.step[shape, 1] * np.int64(tables.multisets[tables.members[shape, 1], b >> 5])
    rank += tables.step[shape, 2] * np.int64(tables.multisets[tables.members[shape, 2], c >> 5])
    rank += tables.step[shape, 3] * np.int64(tables.multisets[tables.members[shape, 3], d >> 5])
    return int(rank), int(8 * shape + equal)


@fast_inlined
def free_position(rank: int, mask: int, tables: SituationTables) -> int:
    """How many ranks below `rank` the set leaves free."""
    return rank - int(tables.size[mask & ((np.int64(1) << rank) - 1)])


@fast_inlined
def hand_number(
    one: int,  # class of a card
    other: int,  # class of the other
    x: int,  # the first card counted among the free ranks of its suit
    y: int,
    suited: bool,
    free: int,  # free ranks in a suit of the second card's class, if the classes differ and one < other
    kind: int,  # 8 · shape + which neighbours are equal
    tables: SituationTables,
) -> int:
    """Step 4."""
    if one != other:
        return int(tables.section_first[kind, 4 * one + other]) + x * free + y
    low, high = min(x, y), max(x, y)
    if suited:
        return int(tables.section_first[kind, 5 * one]) + (high * (high - 1) >> 1) + low
    return int(tables.section_first[kind, 12 + one]) + (high * (high + 1) >> 1) + low


@fast_kernel
def row_indices(
    boards: NDArray[np.uint8], tables: SituationTables, scratch: NDArray[np.int64], rows: NDArray[np.int32]
) -> None:
    """The row of each board among the canonical boards; −1 if it repeats a card."""
    for row in range(len(boards)):
        rank, _ = order_suits(boards, row, tables, scratch)
        rows[row] = tables.row_of_rank[rank] if rank >= 0 else REPEATED


@fast_kernel
def situation_indices(
    hands: NDArray[np.uint8],  # [n, 2]
    boards: NDArray[np.uint8],  # [n, size]
    tables: SituationTables,
    scratch: NDArray[np.int64],  # [4, 4]
    indices: NDArray[np.int32],  # [n]  result; −1 where a card is repeated
) -> None:
    """The index of each hand on the board beside it."""
    masks, position, leader, suits = scratch[MASKS], scratch[POSITION], scratch[LEADER], scratch[SUITS]
    for row in range(len(boards)):
        rank, kind = order_suits(boards, row, tables, scratch)
        low, high = np.int64(hands[row, 0]), np.int64(hands[row, 1])
        low_mask, high_mask = masks[low & 3], masks[high & 3]
        low_rank, high_rank = low >> 2, high >> 2
        if rank < 0 or low == high or (low_mask >> low_rank | high_mask >> high_rank) & 1:
            indices[row] = REPEATED
            continue
        one, other = leader[position[low & 3]], leader[position[high & 3]]
        x = free_position(low_rank, low_mask, tables)
        y = free_position(high_rank, high_mask, tables)
        if one > other:
            one, other, x, y = other, one, y, x
        free = 13 - np.int64(tables.size[masks[suits[other]]])
        number = hand_number(one, other, x, y, (low ^ high) & 3 == 0, free, kind, tables)
        indices[row] = tables.first_of_rank[rank] + number


@fast_kernel
def hand_indices(
    boards: NDArray[np.uint8],  # [n, size]
    cards: NDArray[np.uint8],  # [1326, 2]  low and high card of each hand
    tables: SituationTables,
    scratch: NDArray[np.int64],  # [4, 4]
    by_card: NDArray[np.int64],  # [3, 52]  scratch
    indices: NDArray[np.int32],  # [n, 1326]  result; −1 where the board blocks the hand or repeats a card
) -> None:
    """The index of every hand on each board."""
    masks, position, leader, suits = scratch[MASKS], scratch[POSITION], scratch[LEADER], scratch[SUITS]
    card_class = by_card[0]  # of the card's suit; −1 if the card is on the board
    card_number = by_card[1]  # its rank, counted among the free ones
    free = by_card[2]  # free ranks by class
    for row in range(len(boards)):
        rank, kind = order_suits(boards, row, tables, scratch)
        if rank < 0:
            for hand in range(len(cards)):
                indices[row, hand] = REPEATED
            continue
        for number in range(4):
            free[number] = 13 - np.int64(tables.size[masks[suits[number]]])
        for card in range(52):
            mask = masks[card & 3]
            card_class[card] = REPEATED if mask >> (card >> 2) & 1 else leader[position[card & 3]]
            card_number[card] = free_position(card >> 2, mask, tables)
        first = tables.first_of_rank[rank]
        for hand in range(len(cards)):
            low, high = np.int64(cards[hand, 0]), np.int64(cards[hand, 1])
            one, other = card_class[low], card_class[high]
            if one < 0 or other < 0:
                indices[row, hand] = REPEATED
                continue
            x, y = card_number[low], card_number[high]
            if one > other:
                one, other, x, y = other, one, y, x
            indices[row, hand] = first + hand_number(one, other, x, y, (low ^ high) & 3 == 0, free[other], kind, tables)


@fast_kernel
def look_up(
    indices: NDArray[np.int32],  # [n, 1326]
    shifts: NDArray[np.int64],  # [n]  added to the indices of each board
    table: NDArray[np.unsignedinteger],  # [situations]
    missing: int,
    entries: NDArray[np.uint16],  # [n, 1326]  result
) -> None:
    """The table's entry for each hand; `missing` where there is no situation."""
    for row in range(len(indices)):
        for hand in range(indices.shape[1]):
            index = indices[row, hand]
            entries[row, hand] = missing if index < 0 else table[index + shifts[row]]


@fast_inlined
def free_rank(count: int, mask: int) -> int:
    """The rank that has `count` ranks below it that the set leaves free, and is free itself."""
    rank = np.int64(0)
    while True:
        if not mask >> rank & 1:
            if count == 0:
                return int(rank)
            count -= 1
        rank += 1


@fast_kernel
def locate(
    indices: NDArray[np.int64],
    tables: SituationTables,
    scratch: NDArray[np.int64],  # [4, 4]
    hands: NDArray[np.uint8],  # [n, 2]     result: high card first
    boards: NDArray[np.uint8],  # [n, size]  result: high card first
) -> None:
    """The canonical situation of each index."""
    masks, suits = scratch[MASKS], scratch[SUITS]
    for number in range(len(indices)):
        row = np.int64(tables.row_near[indices[number] >> NEAR_BITS])
        while tables.first[row + 1] <= indices[number]:
            row += 1
        for column in range(boards.shape[1]):
            boards[number, column] = tables.boards[row, column]
        _, kind = order_suits(boards, number, tables, scratch)
        remainder = indices[number] - tables.first[row]
        first, order = tables.section_first[kind], tables.section_order[kind]
        section = 0
        while section + 1 < len(order) and order[section + 1] >= 0 and first[order[section + 1]] <= remainder:
            section += 1
        code = np.int64(order[section])
        remainder -= first[code]
        one, other = code >> 2, code & 3
        if one < other:  # suits of two classes
            free = 13 - np.int64(tables.size[masks[suits[other]]])
            x, y = remainder // free, remainder % free
        else:
            suited = code in (0, 5, 10, 15)
            one = other
            y = np.int64(1) if suited else np.int64(0)  # the higher card; x is the lower one
            while (y * (y + 1) >> 1 if suited else (y + 1) * (y + 2) >> 1) <= remainder:
                y += 1
            x = remainder - (y * (y - 1) >> 1 if suited else y * (y + 1) >> 1)
            if not suited:  # canonical: the higher card has the higher suit
                x, y = y, x
                other = one + 1
        first_card = 4 * free_rank(x, masks[suits[one]]) + suits[one]
        second_card = 4 * free_rank(y, masks[suits[other]]) + suits[other]
        hands[number, 0] = max(first_card, second_card)
        hands[number, 1] = min(first_card, second_card)

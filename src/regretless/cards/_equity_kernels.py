"""Compiled loops for equity: a sweep over sorted strengths per board, single deals for sampling, pairs of hands."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regretless.cards._evaluator_kernels import FIRST_KEY, evaluate_board, strength_of
from regretless.cards.strength_tables import StrengthTables
from regretless.compiling import kernel, unaliased

__all__ = ["add_board", "count_class_pairs", "sample_deals", "sweep_boards", "sweep_boards_together"]

STRENGTHS = 7462
TOTAL = 52  # row of a sum over all cards
FEW = 40  # hands; up to here, insertion sort beats counting sort


@kernel
def sweep_boards(
    boards: NDArray[np.uint8],  # [boards, 5]
    multiplicity: NDArray[np.int64],  # [boards]
    cards: NDArray[np.uint8],  # [hands, 2]  every hand that either range holds
    is_hero: NDArray[np.bool_],  # [hands]     whether hero holds the hand
    villain: NDArray[np.float64],  # [hands]     weights
    tables: StrengthTables,
    shares: NDArray[np.float64],  # [hands, 3]  result: villain's weight that each hero hand beats, ties, loses to
) -> None:
    """Sum, over the boards, villain's weight that each hero hand beats, ties and loses to."""
    strengths = np.empty(len(cards), dtype=np.int64)
    order = np.empty(len(cards), dtype=np.int64)
    first = np.zeros(STRENGTHS, dtype=np.int64)
    by_card = np.zeros((3, 52))
    for board in range(len(boards)):
        evaluate_board(boards[board], cards, tables, strengths)
        if len(cards) <= FEW:
            live = order_by_insertion(strengths, order)
        else:
            live = order_by_counting(strengths, first, order)
        sweep(order[:live], strengths, cards, is_hero, villain, multiplicity[board], by_card, shares)


@kernel
def order_by_insertion(strengths: NDArray[np.int64], order: NDArray[np.int64]) -> int:
    """Sort the unblocked hands by rising strength; returns how many there are."""
    live = 0
    for hand in range(len(strengths)):
        if strengths[hand] >= 0:
            position = live
            while position > 0 and strengths[order[position - 1]] > strengths[hand]:
                order[position] = order[position - 1]
                position -= 1
            order[position] = hand
            live += 1
    return live


@kernel
def order_by_counting(strengths: NDArray[np.int64], first: NDArray[np.int64], order: NDArray[np.int64]) -> int:
    """The same by counting sort; `first` has one entry per strength and is all zeros before and after."""
    lowest = STRENGTHS
    highest = -1
    for strength in strengths:
        if strength >= 0:
            first[strength] += 1
            lowest = min(lowest, strength)
            highest = max(highest, strength)
    live = 0
    for strength in range(lowest, highest + 1):
        count = first[strength]
        first[strength] = live
        live += count
    for hand in range(len(strengths)):
        if strengths[hand] >= 0:
            order[first[strengths[hand]]] = hand
            first[strengths[hand]] += 1
    first[lowest : highest + 1] = 0
    return live


@kernel
def sweep(
    order: NDArray[np.int64],
    strengths: NDArray[np.int64],
    cards: NDArray[np.uint8],
    is_hero: NDArray[np.bool_],
    villain: NDArray[np.float64],
    times: int,
    by_card: NDArray[np.float64],  # [3, 52]  scratch
    shares: NDArray[np.float64],
) -> None:
    """One pass over the hands in rising order of strength.

    It tracks villain's weight below the current strength, equal to it and overall, in total and per card. A hand beats
    the total below minus the hands that share a card with it. Villain's copy of the same hand holds both its cards and
    would be subtracted twice, so it is added back.
    """
    below, level, every = by_card[0], by_card[1], by_card[2]
    by_card[:] = 0.0
    below_total = every_total = 0.0
    for hand in order:
        every[cards[hand, 0]] += villain[hand]
        every[cards[hand, 1]] += villain[hand]
        every_total += villain[hand]
    start = 0
    while start < len(order):
        end = start
        level_total = 0.0
        while end < len(order) and strengths[order[end]] == strengths[order[start]]:
            hand = order[end]
            level[cards[hand, 0]] += villain[hand]
            level[cards[hand, 1]] += villain[hand]
            level_total += villain[hand]
            end += 1
        for hand in order[start:end]:
            if is_hero[hand]:
                low, high = cards[hand, 0], cards[hand, 1]
                win = below_total - below[low] - below[high]
                tie = level_total - level[low] - level[high] + villain[hand]
                meets = every_total - every[low] - every[high] + villain[hand]
                shares[hand, 0] += times * win
                shares[hand, 1] += times * tie
                shares[hand, 2] += times * (meets - win - tie)
        for hand in order[start:end]:
            below[cards[hand, 0]] += villain[hand]
            below[cards[hand, 1]] += villain[hand]
            level[cards[hand, 0]] = 0.0
            level[cards[hand, 1]] = 0.0
        below_total += level_total
        start = end


@kernel
def sweep_boards_together(
    boards: NDArray[np.uint8],  # [boards, 5]
    multiplicity: NDArray[np.int64],  # [boards]
    cards: NDArray[np.uint8],  # [hands, 2]  every hand that any range holds
    villain: NDArray[np.float64],  # [hands, ranges]  weights
    tables: StrengthTables,
    shares: NDArray[np.float64],  # [hands, 3, ranges]  result: each range's weight that each hand beats, ties, loses to
) -> None:
    """`sweep_boards` against several ranges, bit for bit: each board is evaluated and its hands are sorted once."""
    strengths = np.empty(len(cards), dtype=np.int64)
    order = np.empty(len(cards), dtype=np.int64)
    first = np.zeros(STRENGTHS, dtype=np.int64)
    ranges = villain.shape[1]
    below, level, every = np.zeros((53, ranges)), np.zeros((53, ranges)), np.zeros((53, ranges))
    for board in range(len(boards)):
        evaluate_board(boards[board], cards, tables, strengths)
        if len(cards) <= FEW:
            live = order_by_insertion(strengths, order)
        else:
            live = order_by_counting(strengths, first, order)
        times = np.float64(multiplicity[board])
        sweep_together(order[:live], strengths, cards, villain, times, below, level, every, shares)


@unaliased
def sweep_together(
    order: NDArray[np.int64],
    strengths: NDArray[np.int64],
    cards: NDArray[np.uint8],
    villain: NDArray[np.float64],
    times: float,
    below: NDArray[np.float64],  # [53, ranges]  scratch: by card, then in total
    level: NDArray[np.float64],
    every: NDArray[np.float64],
    shares: NDArray[np.float64],
) -> None:
    """`sweep` against several ranges, in the same order of operations."""
    below[:] = 0.0
    every[:] = 0.0
    for hand in order:
        add_weight(every, cards[hand, 0], villain[hand])
        add_weight(every, cards[hand, 1], villain[hand])
        add_weight(every, TOTAL, villain[hand])
    start = 0
    while start < len(order):
        end = start
        level[TOTAL] = 0.0
        while end < len(order) and strengths[order[end]] == strengths[order[start]]:
            hand = order[end]
            add_weight(level, cards[hand, 0], villain[hand])
            add_weight(level, cards[hand, 1], villain[hand])
            add_weight(level, TOTAL, villain[hand])
            end += 1
        for hand in order[start:end]:
            low, high = cards[hand, 0], cards[hand, 1]
            for each in range(villain.shape[1]):
                win = below[TOTAL, each] - below[low, each] - below[high, each]
                tie = level[TOTAL, each] - level[low, each] - level[high, each] + villain[hand, each]
                meets = every[TOTAL, each] - every[low, each] - every[high, each] + villain[hand, each]
                shares[hand, 0, each] += times * win
                shares[hand, 1, each] += times * tie
                shares[hand, 2, each] += times * (meets - win - tie)
        for hand in order[start:end]:
            add_weight(below, cards[hand, 0], villain[hand])
            add_weight(below, cards[hand, 1], villain[hand])
            level[cards[hand, 0]] = 0.0
            level[cards[hand, 1]] = 0.0
        add_weight(below, TOTAL, level[TOTAL])
        start = end


@unaliased
def add_weight(sums: NDArray[np.float64], row: int, weight: NDArray[np.float64]) -> None:
    for each in range(len(weight)):
        sums[row, each] += weight[each]


@kernel
def sample_deals(
    dealt: NDArray[np.uint8],  # [deals, 4 + board]  both hands, then the columns board
    uniform: NDArray[np.float64],  # [deals, missing]    numbers in [0, 1) that choose the missing cards
    tables: StrengthTables,
) -> tuple[int, int]:
    """Deal the rest of the board for each pair of hands; returns how many deals the first hand wins and ties."""
    wins = 0
    ties = 0
    columns = dealt.shape[1]
    cards = np.empty(9, dtype=np.int64)
    dealt_cards = np.empty(9, dtype=np.int64)
    for deal in range(len(dealt)):
        for column in range(columns):
            cards[column] = dealt[deal, column]
            dealt_cards[column] = dealt[deal, column]
        dealt_cards[:columns].sort()
        for column in range(columns, 9):
            # The n-th remaining card: step over the cards already dealt, which stay sorted.
            card = np.int64(uniform[deal, column - columns] * (52 - column))
            position = 0
            while position < column and dealt_cards[position] <= card:
                card += 1
                position += 1
            for later in range(column, position, -1):
                dealt_cards[later] = dealt_cards[later - 1]
            dealt_cards[position] = card
            cards[column] = card
        key = FIRST_KEY
        bits = 0
        for column in range(4, 9):
            key += tables.card_key[cards[column]]
            bits |= tables.card_bit[cards[column]]
        first_key = key + tables.card_key[cards[0]] + tables.card_key[cards[1]]
        second_key = key + tables.card_key[cards[2]] + tables.card_key[cards[3]]
        first_bits = bits | tables.card_bit[cards[0]] | tables.card_bit[cards[1]]
        second_bits = bits | tables.card_bit[cards[2]] | tables.card_bit[cards[3]]
        first = strength_of(first_key, first_bits, 7, tables)
        second = strength_of(second_key, second_bits, 7, tables)
        wins += first > second
        ties += first == second
    return wins, ties


@unaliased
def add_board(
    first: NDArray[np.int16],
    second: NDArray[np.int16],
    together: NDArray[np.bool_],
    shares: NDArray[np.float32],
    total: NDArray[np.float32],
) -> None:
    """`equity.add_pairs`."""
    for i in range(len(first)):
        if first[i] < 0:
            continue
        strength = first[i]
        for j in range(len(second)):
            counts = np.float32(together[i, j] and second[j] >= 0)
            won = np.float32(0.5) * (np.float32(strength > second[j]) + np.float32(strength >= second[j]))
            shares[i, j] += counts * won
            total[i, j] += counts


@kernel
def count_class_pairs(
    boards: NDArray[np.uint8],  # [boards, 5]
    multiplicity: NDArray[np.int64],  # [boards]
    cards: NDArray[np.uint8],  # [hands, 2]
    holding: NDArray[np.int64],  # [52, 51]    the hands that hold each card
    classes: NDArray[np.uint8],  # [hands]
    tables: StrengthTables,
    wins: NDArray[np.int64],  # [classes, classes]  result: deals in which a hand of the first class wins
    ties: NDArray[np.int64],  # [classes, classes]  result: deals in which they tie
) -> None:
    """Count, over the boards, how all pairs of hands that share no card fare, by classes.

    A hand beats every weaker hand, counted by class in `below`, except those that hold one of its cards.
    """
    strengths = np.empty(len(cards), dtype=np.int64)
    order = np.empty(len(cards), dtype=np.int64)
    first = np.zeros(STRENGTHS, dtype=np.int64)
    below = np.empty(len(wins), dtype=np.int64)
    for board in range(len(boards)):
        evaluate_board(boards[board], cards, tables, strengths)
        live = order_by_counting(strengths, first, order)
        times = multiplicity[board]
        below[:] = 0
        start = 0
        while start < live:
            strength = strengths[order[start]]
            end = start
            while end < live and strengths[order[end]] == strength:
                end += 1
            for hand in order[start:end]:
                won, tied = wins[classes[hand]], ties[classes[hand]]
                for other in range(len(below)):
                    won[other] += times * below[other]
                for other in order[start:end]:
                    tied[classes[other]] += times
                tied[classes[hand]] += times  # the hand itself is subtracted twice
                for card in cards[hand]:
                    for other in holding[card]:
                        if 0 <= strengths[other] < strength:
                            won[classes[other]] -= times
                        elif strengths[other] == strength:
                            tied[classes[other]] -= times
            for hand in order[start:end]:
                below[classes[hand]] += 1
            start = end

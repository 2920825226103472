"""Compiled loops over boards: the strength of all hands of a river at once, and what flop and turn hands become.

Everything is counted in whole numbers, so results do not depend on the order of the sums or on threads.

The doubled strength of a hand on a river is two points for every opposing hand that it beats and one for every tie: 0
to 2 · C(45, 2) = 1,980. Visit the hands by rising strength, equal ones as a group. A group's hands count one when it
begins and another one when it ends, in total and for each of their cards. While a group is visited, the total is
the points of its hands against all hands, and the counts of a hand's two cards are the points that it cannot get,
because those hands share a card with it. (The hand itself is in the total once and in both counts: one too many is
subtracted.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regretless.cards._equity_kernels import STRENGTHS, order_by_counting
from regretless.cards._evaluator_kernels import evaluate_board
from regretless.cards.strength_tables import StrengthTables
from regretless.compiling import kernel

__all__ = ["class_histograms", "number_situations", "opponent_points", "runout_histograms", "runout_points"]

BLOCKED = -1


@kernel
def number_situations(
    indices: NDArray[np.int32],  # [boards, 1326]  of `hand_situations`
    first: NDArray[np.int64],  # [boards]  index of each board's first situation
    starts: NDArray[np.int64],  # [boards + 1]  its number in the batch
    local: NDArray[np.int32],  # [boards, 1326]  result: number of the situation if the hand is its first one, else −1
    hands: NDArray[np.int32],  # [situations]  result, all zeros before: how many hands each situation stands for
) -> None:
    """Number the situations of a batch of boards, and choose a hand for each."""
    for board in range(len(indices)):
        for hand in range(indices.shape[1]):
            local[board, hand] = BLOCKED
            if indices[board, hand] >= 0:
                number = indices[board, hand] - first[board] + starts[board]
                if hands[number] == 0:
                    local[board, hand] = number
                hands[number] += 1


@kernel
def double_strengths(
    river: NDArray[np.uint8],  # [5]
    cards: NDArray[np.uint8],  # [1326, 2]
    tables: StrengthTables,
    work: NDArray[np.int64],  # [2, 1326]  scratch
    first: NDArray[np.int64],  # [7462]  all zeros
    doubled: NDArray[np.int64],  # [1326]  result; −1 where the board blocks the hand
) -> None:
    """The doubled strength of every hand on a river."""
    strengths, order = work[0], work[1]
    evaluate_board(river, cards, tables, strengths)
    live = order_by_counting(strengths, first, order)
    by_card = np.zeros(52, dtype=np.int64)
    doubled[:] = BLOCKED
    start = 0
    while start < live:
        strength = strengths[order[start]]
        end = start
        while end < live and strengths[order[end]] == strength:
            by_card[cards[order[end], 0]] += 1
            by_card[cards[order[end], 1]] += 1
            end += 1
        for position in range(start, end):
            hand = order[position]
            doubled[hand] = start + end + 1 - by_card[cards[hand, 0]] - by_card[cards[hand, 1]]
        for position in range(start, end):
            by_card[cards[order[position], 0]] += 1
            by_card[cards[order[position], 1]] += 1
        start = end


@kernel
def runout_points(
    boards: NDArray[np.uint8],  # [boards, 3 to 5]
    cards: NDArray[np.uint8],
    tables: StrengthTables,
    points: NDArray[np.int32],  # [boards, 1326]  result
) -> None:
    """Each hand's doubled strength, added up over all runouts; −1 where the board blocks the hand."""
    work, first = np.empty((2, len(cards)), dtype=np.int64), np.zeros(STRENGTHS, dtype=np.int64)
    doubled = np.empty(len(cards), dtype=np.int64)
    for number in range(len(boards)):
        points[number] = BLOCKED
        for river in rivers(boards[number]):
            double_strengths(river, cards, tables, work, first, doubled)
            for hand in range(len(cards)):
                if doubled[hand] >= 0:
                    points[number, hand] = max(points[number, hand], 0) + doubled[hand]


@kernel
def rivers(board: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """[n, 5] every way to complete a board of three to five cards, whatever the order of the cards."""
    missing = 5 - len(board)
    left = np.empty(52, dtype=np.uint8)
    count = 0
    for card in range(52):
        if not (board == card).any():
            left[count] = card
            count += 1
    completed = np.empty(
        (1 if missing == 0 else count if missing == 1 else count * (count - 1) // 2, 5), dtype=np.uint8
    )
    for row in range(len(completed)):
        completed[row, : len(board)] = board
    if missing == 1:
        completed[:, 4] = left[:count]
    if missing == 2:
        row = 0
        for high in range(count):
            for low in range(high):
                completed[row, 3], completed[row, 4] = left[high], left[low]
                row += 1
    return completed


@kernel
def runout_histograms(
    boards: NDArray[np.uint8],  # [boards, 3 or 4]
    cards: NDArray[np.uint8],
    tables: StrengthTables,
    low_bin: NDArray[np.int64],  # [1981]  of each doubled strength
    low_share: NDArray[np.int64],  # [1981]  what it adds to that bin; the rest of `unit` goes to the next one
    unit: int,
    local: NDArray[np.int32],  # [boards, 1326]  row of `histograms` for each hand; −1: leave it out
    histograms: NDArray[np.int32],  # [rows, bins]  result, all zeros before
) -> None:
    """How often each hand has which strength on the river."""
    work, first = np.empty((2, len(cards)), dtype=np.int64), np.zeros(STRENGTHS, dtype=np.int64)
    doubled = np.empty(len(cards), dtype=np.int64)
    hands = np.empty(len(cards), dtype=np.int64)
    for number in range(len(boards)):
        chosen = 0
        for hand in range(len(cards)):
            if local[number, hand] >= 0:
                hands[chosen] = hand
                chosen += 1
        for river in rivers(boards[number]):
            double_strengths(river, cards, tables, work, first, doubled)
            for hand in hands[:chosen]:
                value = doubled[hand]
                if value >= 0:
                    row, column = local[number, hand], low_bin[value]
                    histograms[row, column] += low_share[value]
                    histograms[row, column + 1] += unit - low_share[value]


@kernel
def class_histograms(
    boards: NDArray[np.uint8],  # [boards, 5]
    multiplicity: NDArray[np.int64],  # [boards]
    cards: NDArray[np.uint8],
    tables: StrengthTables,
    low_bin: NDArray[np.int64],
    low_share: NDArray[np.int64],
    unit: int,
    classes: NDArray[np.uint8],  # [1326]
    histograms: NDArray[np.int64],  # [169, bins]  result, all zeros before
) -> None:
    """How often the hands of each class before the flop have which strength, over all rivers."""
    work, first = np.empty((2, len(cards)), dtype=np.int64), np.zeros(STRENGTHS, dtype=np.int64)
    doubled = np.empty(len(cards), dtype=np.int64)
    for number in range(len(boards)):
        double_strengths(boards[number], cards, tables, work, first, doubled)
        for hand in range(len(cards)):
            value = doubled[hand]
            if value >= 0:
                column, share = low_bin[value], low_share[value]
                histograms[classes[hand], column] += multiplicity[number] * share
                histograms[classes[hand], column + 1] += multiplicity[number] * (unit - share)


@kernel
def opponent_points(
    boards: NDArray[np.uint8],  # [boards, 5]
    cards: NDArray[np.uint8],
    tables: StrengthTables,
    cluster: NDArray[np.int64],  # [1326]  cluster of each opposing hand
    levels: int,
    local: NDArray[np.int32],  # [boards, 1326]
    features: NDArray[np.uint16],  # [rows, clusters]  result
) -> None:
    """Each hand's strength against each cluster of opposing hands, rounded to 0 … levels: the sweep, by cluster."""
    clusters = features.shape[1]
    work, first = np.empty((2, len(cards)), dtype=np.int64), np.zeros(STRENGTHS, dtype=np.int64)
    strengths, order = work[0], work[1]
    by_card, every = np.empty((52, clusters), dtype=np.int64), np.empty((52, clusters), dtype=np.int64)
    total, every_total = np.empty(clusters, dtype=np.int64), np.empty(clusters, dtype=np.int64)
    for number in range(len(boards)):
        evaluate_board(boards[number], cards, tables, strengths)
        live = order_by_counting(strengths, first, order)
        by_card[:] = every[:] = 0
        total[:] = every_total[:] = 0
        for position in range(live):
            hand = order[position]
            every[cards[hand, 0], cluster[hand]] += 1
            every[cards[hand, 1], cluster[hand]] += 1
            every_total[cluster[hand]] += 1
        start = 0
        while start < live:
            strength = strengths[order[start]]
            end = start
            while end < live and strengths[order[end]] == strength:
                hand = order[end]
                by_card[cards[hand, 0], cluster[hand]] += 1
                by_card[cards[hand, 1], cluster[hand]] += 1
                total[cluster[hand]] += 1
                end += 1
            for position in range(start, end):
                hand = order[position]
                if local[number, hand] < 0:
                    continue
                low, high = cards[hand, 0], cards[hand, 1]
                for one in range(clusters):
                    itself = int(one == cluster[hand])
                    points = total[one] - by_card[low, one] - by_card[high, one] + itself
                    meets = every_total[one] - every[low, one] - every[high, one] + itself
                    features[local[number, hand], one] = (points * levels + meets) // (2 * meets)
            for position in range(start, end):
                hand = order[position]
                by_card[cards[hand, 0], cluster[hand]] += 1
                by_card[cards[hand, 1], cluster[hand]] += 1
                total[cluster[hand]] += 1
            start = end

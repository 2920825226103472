"""Tables of a player's hands and counts of different strengths, compiled: a batch may have thousands of spots."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.compiling import kernel

__all__ = ["fill_hands", "most_distinct"]


@kernel
def fill_hands(
    block: NDArray[np.uint8],
    at: NDArray[np.int64],
    width: int,
    deck: int,
    golden: int,
    permutations: NDArray[np.int16],
    alike: NDArray[np.int16],
    dead: NDArray[np.bool_],
    cards: NDArray[np.int16],
    same: NDArray[np.int16],
    strength: NDArray[np.int16],
    weight: NDArray[np.float64],
    units: NDArray[np.float64],
) -> None:
    """Fill the tables of a player's hands, padded to `width`, which begin at `at` [10 + units] in a block of zeros.

    In this order: `permutations`, `alike_hands`, `roundings`, `own_alive`, `own_cards`, `same`, `own_strength`,
    `held_first`, `held_hands`, `own_weight`, and for every unit the reach that it gives the weights. Padding hands are
    dead, hold no cards and represent themselves.
    """
    hands = len(weight)
    table = block[at[0] : at[0] + 2 * width * len(permutations)].view(np.int16).reshape(len(permutations), width)
    for row in range(len(permutations)):
        for hand in range(width):
            table[row, hand] = permutations[row, hand] if hand < hands else hand
    table = block[at[1] : at[1] + 2 * width * len(alike)].view(np.int16).reshape(len(alike), width)
    roundings = block[at[2] : at[2] + 4 * width * len(alike)].view(np.uint32).reshape(len(alike), width)
    for row in range(len(alike)):
        for hand in range(width):
            first = alike[row, hand] if hand < hands else hand
            table[row, hand] = first
            roundings[row, hand] = (np.int64(first) * golden) & 0xFFFFFFFF
    for row in range(len(dead)):
        for hand in range(hands):
            block[at[3] + row * width + hand] = not dead[row, hand]
    held = block[at[4] : at[4] + 2 * width].reshape(width, 2)
    others = block[at[5] : at[5] + 2 * width].view(np.int16)
    weights = block[at[9] : at[9] + 8 * width].view(np.float64)
    counts = np.zeros(deck + 2, dtype=np.int64)  # of hands that hold a card below each
    for hand in range(width):
        others[hand] = same[hand] if hand < hands else -1
        if hand < hands:
            weights[hand] = weight[hand]
        for side in range(2):
            card = cards[hand, side] if hand < hands else -1
            held[hand, side] = deck if card < 0 else card
            counts[held[hand, side] + 1] += 1
    table = block[at[6] : at[6] + 2 * width * len(strength)].view(np.int16).reshape(len(strength), width)
    for row in range(len(strength)):
        for hand in range(width):
            table[row, hand] = strength[row, hand] if hand < hands else -1
    held_first = block[at[7] : at[7] + 2 * (deck + 1)].view(np.int16)
    for card in range(deck + 1):
        counts[card + 1] += counts[card]
        held_first[card] = counts[card]
    held_hands = block[at[8] : at[8] + 2 * counts[deck]].view(np.int16)
    for hand in range(hands):
        for side in range(2):
            card = held[hand, side]
            if card < deck:
                held_hands[counts[card]] = hand
                counts[card] += 1
    for unit in range(len(units)):
        begin = at[10 + unit]
        reach = block[begin : begin + 4 * width].view(np.float32)
        for hand in range(hands):
            reach[hand] = weight[hand] * units[unit]


@kernel
def most_distinct(
    mine: NDArray[np.int16], my_cards: NDArray[Any], theirs: NDArray[np.int16], their_cards: NDArray[Any], deck: int
) -> tuple[int, int]:
    """The most groups and pairs on a runout.

    Strengths, `mine` and `theirs` [runouts, hands], are below 0 for a hand that is not possible. Own hands that beat
    and tie the same hands form a group; those with a common card that beat and tie the same hands with this card, a
    pair. Cards [hands, 2] are `deck` where there is none.
    """
    most_groups = most_pairs = 0
    words = deck // 64 + 1
    levels = 0
    for strength in (mine, theirs):
        for runout in range(strength.shape[0]):
            for hand in range(strength.shape[1]):
                levels = max(levels, strength[runout, hand] + 1)
    held = np.empty((levels, 2, words), dtype=np.uint64)  # by strength and player, a bit per card, and one for all
    found = np.empty(levels // 64 + 1, dtype=np.uint64)  # a bit per strength that a hand has
    between = np.empty(words, dtype=np.uint64)  # whether own hands were found since the last hand of the opponent
    one, everyone = np.uint64(1), np.uint64(1) << np.uint64(deck % 64)
    for runout in range(mine.shape[0]):
        found[:] = 0
        between[:] = 0
        for player in range(2):
            strength, cards = (mine, my_cards) if player == 0 else (theirs, their_cards)
            for hand in range(strength.shape[1]):
                level = strength[runout, hand]
                if level < 0:
                    continue
                if found[level // 64] >> np.uint64(level % 64) & one == 0:
                    found[level // 64] |= one << np.uint64(level % 64)
                    held[level] = 0
                for side in range(2):
                    card = cards[hand, side]
                    if card < deck:
                        held[level, player, card // 64] |= one << np.uint64(card % 64)
                held[level, player, deck // 64] |= everyone
        groups = pairs = 0
        for block in range(len(found)):
            left = found[block]
            while left != 0:
                rest = left & (left - one)
                level = 64 * block + int(np.log2(np.float64(left ^ rest)))  # of the lowest bit
                left = rest
                for word in range(words):
                    own, other = held[level, 0, word], held[level, 1, word]
                    alone = own & ~other
                    new = (own & other) | (alone & ~between[word])
                    between[word] = (between[word] | alone) & ~other
                    if word == deck // 64 and new & everyone != 0:
                        groups += 1
                        new ^= everyone
                    while new != 0:
                        new &= new - one
                        pairs += 1
        most_groups, most_pairs = max(most_groups, groups), max(most_pairs, pairs)
    return most_groups, most_pairs

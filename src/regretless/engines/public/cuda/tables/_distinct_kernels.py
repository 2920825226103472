"""Counting different strengths, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.compiling.decorators import kernel

__all__ = ["most_distinct"]


@kernel
def most_distinct(strength: NDArray[np.int16], cards: NDArray[Any], deck: int) -> tuple[int, int]:
    """The most groups and pairs on a runout.

    `strength` [runouts, hands] is below 0 for a hand that is not possible. Hands of equal strength form a group, those
    of a group that share a card a pair; `cards` [hands, 2] are `deck` where there is none.
    """
    most_groups = most_pairs = 0
    words = deck // 64 + 1
    levels = 0
    for runout in range(strength.shape[0]):
        for hand in range(strength.shape[1]):
            levels = max(levels, strength[runout, hand] + 1)
    seen = np.zeros((levels, words), dtype=np.uint64)  # by strength, a bit per card, and one for all
    for runout in range(strength.shape[0]):
        seen[:] = 0
        groups = pairs = 0
        for hand in range(strength.shape[1]):
            level = strength[runout, hand]
            if level < 0:
                continue
            for side in range(3):
                bit = deck if side == 2 else cards[hand, side]
                if side < 2 and bit >= deck:
                    continue
                mask = np.uint64(1) << np.uint64(bit % 64)
                if seen[level, bit // 64] & mask == 0:
                    seen[level, bit // 64] |= mask
                    if side == 2:
                        groups += 1
                    else:
                        pairs += 1
        most_groups, most_pairs = max(most_groups, groups), max(most_pairs, pairs)
    return most_groups, most_pairs

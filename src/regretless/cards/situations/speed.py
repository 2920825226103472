"""How many situations per second one core numbers: the measurement behind `regretless bench situations`."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from regretless.cards.hands import HAND_COUNT
from regretless.cards.situations.indexing import SITUATION_COUNTS, hand_situations, situation_at, situation_index
from regretless.errors import InvalidOption

__all__ = ["Speed", "measure_speed"]

ROUNDS = 5
MOST_DEALS = 10**7  # take 0.4 GB


@dataclass(frozen=True)
class Speed:
    """Situations per second of one core, on boards of one size: the best of a few rounds."""

    board_cards: int
    situations: int  # on all boards of that size
    index: float  # `situation_index` of random deals
    locate: float  # `situation_at` of random indices
    hands: float  # `hand_situations`: all 1,326 hands of a board at once


def measure_speed(board_cards: int, *, deals: int = 500_000, seed: int = 0) -> Speed:
    """Time the three functions on random deals."""
    if not 1 <= deals <= MOST_DEALS:
        raise InvalidOption("deals", deals, f"must be from 1 to {MOST_DEALS:,}")
    random = np.random.default_rng(seed)
    dealt = random.permuted(np.tile(np.arange(52, dtype=np.uint8), (deals, 1)), axis=1)[:, : 2 + board_cards]
    hands, boards = np.ascontiguousarray(dealt[:, :2]), np.ascontiguousarray(dealt[:, 2:])
    some = boards[: max(1, deals // 200)]
    indices = situation_index(hands, boards)
    return Speed(
        board_cards=board_cards,
        situations=SITUATION_COUNTS[board_cards],
        index=deals / _best_seconds(lambda: situation_index(hands, boards)),
        locate=deals / _best_seconds(lambda: situation_at(indices, board_cards)),
        hands=len(some) * HAND_COUNT / _best_seconds(lambda: hand_situations(some)),
    )


def _best_seconds(work: Callable[[], object]) -> float:
    """CPU time of this thread, which other processes do not change; the first round, which compiles, does not count."""
    work()
    taken = []
    for _ in range(ROUNDS):
        start = time.thread_time()
        work()
        taken.append(time.thread_time() - start)
    return max(min(taken), 1e-9)

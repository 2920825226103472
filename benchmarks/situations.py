"""Situations (a hand on a board, up to the names of the suits) numbered per second of one core.

python benchmarks/situations.py [--deals 500000] [--seed 0] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from regretless.cards.hands import HAND_COUNT
from regretless.cards.situation_tables import SITUATION_COUNTS
from regretless.cards.situations import hand_situations, situation_at, situation_index
from regretless.errors import InvalidOption, RegretlessError

__all__ = ["Speed", "measure_speed"]

ROUNDS = 5
STREETS = {"preflop": 0, "flop": 3, "turn": 4, "river": 5}  # cards on the board
MAXIMUM_DEALS = 10**7  # take 0.4 GB


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
    if not 1 <= deals <= MAXIMUM_DEALS:
        raise InvalidOption("deals", deals, f"must be from 1 to {MAXIMUM_DEALS:,}")
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
    seconds = []
    for _ in range(ROUNDS):
        start = time.thread_time()
        work()
        seconds.append(time.thread_time() - start)
    return max(min(seconds), 1e-9)


def speed_table(speeds: dict[str, Speed]) -> Table:
    """One row per street, rates in millions per second."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 3, 0, 0))
    table.add_column("street")
    for name in ("situations", "index", "index to situation", "all hands of a board"):
        table.add_column(name, justify="right", no_wrap=True)
    for street, speed in speeds.items():
        rates = (f"{rate / 1e6:.1f} M/s" for rate in (speed.index, speed.locate, speed.hands))
        table.add_row(street, f"{speed.situations:,}", *rates)
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=500_000, help="random deals per street")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args(arguments)
    try:
        speeds = {
            street: measure_speed(cards, deals=options.deals, seed=options.seed) for street, cards in STREETS.items()
        }
    except RegretlessError as error:
        sys.exit(f"error: {error}")
    if options.json:
        print(json.dumps({street: asdict(speed) for street, speed in speeds.items()}))
    else:
        Console().print(speed_table(speeds))


if __name__ == "__main__":
    main()

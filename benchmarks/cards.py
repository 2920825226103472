"""Seven-card hands per second that the evaluator handles on one thread, compared with phevaluator in the same run.

    python benchmarks/cards.py

Tables and compiled code are ready before the clock starts. phevaluator takes one hand per call, so most of its time is
the overhead of Python calls: the ratio says what a Python program gains, not which algorithm is faster.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
from phevaluator import evaluate_cards  # by name: a call through the module takes about three times as long

from regretless.cards import Range, equity, evaluate, hand_strengths, parse_board
from regretless.cards.evaluator import BLOCKED

RUNS = 7
HANDS = 2_000_000
HANDS_OF_THE_OTHER = 200_000
BOARDS = 1_000


def median_seconds(work: Callable[[], object]) -> float:
    work()
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def main() -> None:
    random = np.random.default_rng(0)
    drawn = random.integers(52, size=(3 * HANDS, 7), dtype=np.uint8)
    ordered = np.sort(drawn, axis=1)
    cards = drawn[(ordered[:, 1:] != ordered[:, :-1]).all(axis=1)][:HANDS].copy()
    few = cards[:HANDS_OF_THE_OTHER].tolist()

    ours = HANDS / median_seconds(lambda: evaluate(cards))
    theirs = HANDS_OF_THE_OTHER / median_seconds(lambda: [evaluate_cards(*row) for row in few])
    boards = cards[:BOARDS, :5].copy()
    live = int((hand_strengths(boards) != BLOCKED).sum())  # blocked hands are not evaluated, so they do not count
    by_board = live / median_seconds(lambda: hand_strengths(boards))
    everything, flop = Range.parse("100%"), parse_board("Qs Jh 2h")

    print(f"seven-card hands, random      {ours / 1e6:8.1f} million/s   (one thread, median of {RUNS})")
    print(f"all hands on river boards     {by_board / 1e6:8.1f} million/s")
    print(f"phevaluator, from Python      {theirs / 1e6:8.2f} million/s   ratio {ours / theirs:.0f}")
    print(f"100% against 100% on a flop   {1e3 * median_seconds(lambda: equity(everything, everything, flop)):8.1f} ms")


if __name__ == "__main__":
    main()

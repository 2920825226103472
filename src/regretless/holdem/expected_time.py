"""How long a solve will take, roughly, before it begins.

    seconds ≈ entries · ITERATION / threads · iterations(target) · MEASURING + SETUP

The iterations to a target follow a power of it, as measured on turns and rivers with two bet sizes. Spots differ by a
factor of two either way, and so do processors, so the figure says "seconds", "minutes" or "hours", no more.
"""

from __future__ import annotations

from regretless.holdem.spots.spot import Spot

__all__ = ["expected_iterations", "expected_seconds"]

ITERATION = 1.7e-9  # seconds per entry and iteration on one core
MEASURING = 1.1  # time including measurements / time of the iterations
SETUP = 0.5  # seconds
AT_ONE_PERCENT = {3: 80, 4: 68, 5: 52}  # iterations to 1 % of the pot, by cards on the board
EXPONENT = 0.47


def expected_iterations(spot: Spot, target: float) -> int:
    """Iterations to a target in percent of the pot.

    >>> spot = Spot(board="Qs Jh 2h 8d", pot=180, stack=910, oop="88+", ip="TT+", bets={"bet": "50%"})
    >>> expected_iterations(spot, 1.0), expected_iterations(spot, 0.3)
    (68, 120)
    """
    return max(1, round(float(AT_ONE_PERCENT[len(spot.board)] * target**-EXPONENT)))


def expected_seconds(entries: int, iterations: int, threads: int) -> float:
    """Seconds for this many iterations of a spot with this many entries."""
    return SETUP + entries * ITERATION / threads * iterations * MEASURING

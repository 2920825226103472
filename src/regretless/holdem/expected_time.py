"""How long a solve will take before it begins: mostly within a factor of 1.5, on cores that have nothing else to do.

    seconds ≈ SETUP + entries · speed / threads · iterations(target) · MEASURING

`speed` is measured: seconds per entry and iteration on one core of this machine, from a small turn. A flop, which does
not fit in a cache, takes `FLOP` times as long per entry. The iterations to a target grow with the betting tree, of n
nodes, with the depth of the stacks, s = stack / pot, and with the target, as fitted to the shipped formations with all
their trees (`benchmarks/formations.py`):

    iterations ≈ C · n^N · (1 + s)^S · target^−T
"""

from __future__ import annotations

import time
from functools import cache
from threading import Lock

from regretless.holdem.estimate import spot_size
from regretless.holdem.form.betting import betting_of
from regretless.holdem.problem import solve_spot
from regretless.holdem.spots.spot import Spot

__all__ = ["expected_iterations", "expected_seconds", "iteration_speed"]

FLOP = 1.6  # time per entry of a large flop / of the turn that is timed
MEASURING = 1.2  # time including measurements / time of the iterations
SETUP = 0.5  # seconds
POWERS = {3: (3.1, 0.48, 0.09, 0.5), 4: (6.0, 0.41, 0.0, 0.54), 5: (2.2, 0.81, 0.0, 0.51)}  # C, N, S, T by cards

ROUNDS = 5
ITERATIONS = (5, 35)  # of a short and a long solve
FASTEST = 0.001  # seconds between the two, whatever a coarse clock says
RANGE = {"range": "22+, A2s+, K9s+, QTs+, JTs, T9s, 98s, ATo+, KQo"}
TIMED = Spot.from_mapping(
    {
        "board": "Ks 7d 2c 5h",
        "pot": 20,
        "stack": 90,
        "oop": RANGE,
        "ip": RANGE,
        "bets": {"bet": "50%, 100%", "raise": "3x", "max_raises": 1},
    }
)

_measuring = Lock()


def expected_iterations(spot: Spot, target: float) -> int:
    """Iterations to a target in percent of the pot.

    >>> spot = Spot(board="Qs Jh 2h 8d", pot=180, stack=910, oop="88+", ip="TT+", bets={"bet": "50%"})
    >>> expected_iterations(spot, 1.0), expected_iterations(spot, 0.3)
    (29, 56)
    """
    factor, by_nodes, by_depth, by_target = POWERS[len(spot.board)]
    nodes = int(betting_of(spot).size.nodes.sum())
    depth = 1 + spot.stack / spot.pot
    return max(1, round(float(factor * nodes**by_nodes * depth**by_depth * target**-by_target)))


def expected_seconds(entries: int, iterations: int, threads: int, speed: float) -> float:
    """Seconds for this many iterations of a spot with this many entries; `speed` is `iteration_speed()`."""
    return SETUP + entries * speed / threads * iterations * MEASURING


def iteration_speed() -> float:
    """Seconds per entry and iteration on one core of this machine, if it is idle; measured once, in half a second.

    What a processor spends is counted, so that other programs do not slow it down. The difference between a short and a
    long solve leaves out what both need before they begin.
    """
    with _measuring:  # once, whoever asks first
        return _measured_speed()


@cache
def _measured_speed() -> float:
    _timed(1)  # loads the kernels
    short, long = (min(_timed(iterations) for _ in range(ROUNDS)) for iterations in ITERATIONS)
    return FLOP * max(long - short, FASTEST) / (ITERATIONS[1] - ITERATIONS[0]) / spot_size(TIMED).entries


def _timed(iterations: int) -> float:
    started = time.process_time()
    solve_spot(TIMED, iterations=iterations, measure_every=iterations, threads=1)
    return time.process_time() - started

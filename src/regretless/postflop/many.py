"""Many spots at once, filling the cores: one thread a spot, as many spots side by side as there are cores and memory.

Spots are independent, so solving them side by side wastes nothing, while several threads on one river would mostly
wait for each other. Where the memory does not hold as many spots at once, fewer run together and each gets more
threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from regretless.errors import InvalidOption
from regretless.forms.memory import available_bytes
from regretless.postflop.estimate import check_fits
from regretless.postflop.solution import SpotSolution
from regretless.postflop.solve import default_threads, solve_spot
from regretless.postflop.spot import Spot

__all__ = ["solve_many"]


def solve_many(
    spots: Iterable[Spot],
    *,
    threads: int | None = None,
    storage: int = 32,
    done: Callable[[int, SpotSolution], None] = lambda place, solution: None,
    interrupted: Callable[[], bool] = lambda: False,
    **options: Any,
) -> list[SpotSolution]:
    """Solutions of all spots, in their order; `options` are those of `solve_spot`.

    `done` is called with the place and the solution of each spot as it is finished. After an interrupt the spots that
    had not begun are left out at the end of the list.

    >>> fields = {
    ...     "pot": 100,
    ...     "stack": 200,
    ...     "oop": {"range": "AK, 77"},
    ...     "ip": {"range": "QQ, JJ"},
    ...     "bets": {"bet": "50%"},
    ... }
    >>> boards = ("Kh Qs Js 2c 3d", "Kh Qs Js 2c 7d", "Ah 8s 8d 4c 4d")
    >>> solutions = solve_many([Spot.from_mapping(fields | {"board": board}) for board in boards], target=0.1)
    >>> [solution.exploitability_pct_pot <= 0.1 for solution in solutions]
    [True, True, True]
    """
    waiting = list(spots)
    cores = default_threads() if threads is None else threads
    if cores < 1:
        raise InvalidOption("threads", cores, "must be at least 1")
    # Every spot is checked before the first is begun.
    largest = max((check_fits(spot, storage=storage).memory_bytes[storage] for spot in waiting), default=0)
    workers = max(1, min(cores, len(waiting), available_bytes() // max(largest, 1)))

    def one(place: int) -> SpotSolution | None:
        if interrupted():
            return None
        solution = solve_spot(
            waiting[place], threads=max(1, cores // workers), storage=storage, interrupted=interrupted, **options
        )
        done(place, solution)
        return solution

    with ThreadPoolExecutor(workers) as pool:
        found = list(pool.map(one, range(len(waiting))))
    return [solution for solution in found if solution is not None]

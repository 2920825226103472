"""Many spots at once, filling the cores: one thread per spot, as many side by side as there are cores and memory.

Spots are independent, so solving them side by side wastes nothing, while several threads on one river would mostly
wait for each other. Where the memory does not hold as many spots at once, fewer run together and each gets more
threads. A spot that cannot be solved does not keep the others from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from regretless.engines.devices import available_cores
from regretless.errors import RegretlessError
from regretless.forms.memory import available_bytes
from regretless.holdem.estimate import STORAGES, check_fits
from regretless.holdem.locking import with_sources
from regretless.holdem.problem import SpotProblem, solve_spot
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.spot import Spot
from regretless.solvers.loop import Progress
from regretless.solvers.progress.interrupt import catch_interrupts
from regretless.solvers.request import Kind, check_options
from regretless.variants.presets import read_variant

__all__ = ["SpotsFailed", "solve_many"]


class SpotsFailed(RegretlessError):
    """Some of many spots could not be solved; `solutions` are those of the others, `errors` say why, by place."""

    def __init__(self, errors: Mapping[int, RegretlessError], solutions: list[SpotSolution], names: list[str]) -> None:
        place, first = next(iter(sorted(errors.items())))
        more = f" (and {len(errors) - 1} more of {len(names)} spots)" if len(errors) > 1 else ""
        super().__init__(f"spot {place}{names[place] and f' ({names[place]})'}: {first}{more}")
        self.errors = dict(errors)
        self.solutions = solutions
        self.exit_code = first.exit_code


def solve_many(
    spots: Iterable[Spot],
    *,
    threads: int | None = None,
    storage: int | None = None,
    checkpoints: Sequence[str | Path] | None = None,
    report: Callable[[int, Progress], None] = lambda place, progress: None,
    done: Callable[[int, SpotSolution], None] = lambda place, solution: None,
    failed: Callable[[int, RegretlessError], None] | None = None,
    interrupted: Callable[[], bool] | None = None,
    **options: Any,
) -> list[SpotSolution]:
    """Solutions of all spots, in their order; `options` are those of `solve_spot`.

    `checkpoints` are files, one per spot, that long solves are saved to every `save_every` seconds and when they are
    interrupted. `done` is called with the place and the solution of each spot as it ends, `report` on the way. A spot
    that cannot be solved is left out, and `failed` is told why; without `failed` it raises `SpotsFailed` after the
    others are solved, which are attached to it. After Ctrl-C (or where `interrupted` says so) the spots under way end
    with `reason == "interrupted"`, and those that had not begun are left out.

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
    check_options(Kind.SPOT, {**options, "threads": threads, "storage": storage})
    SpotProblem.check_machine(options.get("engine") or "auto", options.get("device") or "auto")
    if options.get("variant") is not None:
        read_variant(options["variant"])
    cores = available_cores() if threads is None else threads
    bits = STORAGES[0] if storage is None else storage
    errors: dict[int, RegretlessError] = {}

    def fail(place: int, error: RegretlessError) -> None:
        errors[place] = error
        if failed is not None:
            failed(place, error)

    sizes: dict[int, int] = {}
    for place, spot in enumerate(waiting):  # every spot is checked before the first is begun
        try:
            asked = with_sources(replace(spot, locks=(*spot.locks, *options.get("locks", ()))))
            sizes[place] = check_fits(asked, storage=bits).memory_bytes[bits]
        except RegretlessError as error:
            fail(place, error)
    workers = max(1, min(cores, len(sizes), available_bytes() // max(1, *sizes.values(), 1)))

    def one(place: int, stopped: Callable[[], bool]) -> SpotSolution | None:
        if stopped():
            return None
        try:
            solution = solve_spot(
                waiting[place],
                threads=max(1, cores // workers),
                storage=bits,
                checkpoint=None if checkpoints is None else checkpoints[place],
                report=lambda progress: report(place, progress),
                interrupted=stopped,
                **options,
            )
        except RegretlessError as error:
            fail(place, error)
            return None
        done(place, solution)
        return solution

    with (
        catch_interrupts() if interrupted is None else nullcontext(interrupted) as stopped,
        ThreadPoolExecutor(workers) as pool,
    ):
        found = list(pool.map(lambda place: one(place, stopped), sizes))
    solutions = [solution for solution in found if solution is not None]
    if errors and failed is None:
        raise SpotsFailed(errors, solutions, [spot.name for spot in waiting])
    return solutions

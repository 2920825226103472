"""Many spots in parallel: one thread per spot, as many at a time as cores and memory allow.

Spots are independent, so solving them in parallel wastes nothing, while several threads on one river would mostly wait
for each other. If memory limits the number of spots, fewer run at a time and each gets more threads. A spot that cannot
be solved does not stop the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from regretless.engines.devices import available_cores
from regretless.errors import InvalidOption, RegretlessError
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
    """Some of many spots could not be solved; `solutions` has the others, `errors` the reasons by position."""

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

    `checkpoints` are files, one per spot, to which long solves are saved every `save_every` seconds and on interrupts.
    `done` is called with the position and solution of each spot when it ends, `report` while it runs. A spot that
    cannot be solved is omitted and `failed` is called with the error; without `failed`, `SpotsFailed` is raised after
    the others are solved, with their solutions attached. After Ctrl-C (or if `interrupted` says so), running spots end
    with `reason == "interrupted"`, and spots not yet started are omitted.

    >>> fields = {"pot": 100, "stack": 200, "oop": {"range": "AK"}, "ip": {"range": "QQ"}, "bets": {"bet": "50%"}}
    >>> boards = ("Kh Qs Js 2c 3d", "Kh Qs Js 2c 7d", "Ah 8s 8d 4c 4d")
    >>> solutions = solve_many([Spot.from_mapping(fields | {"board": board}) for board in boards], target=0.1)
    >>> [solution.exploitability_pct_pot <= 0.1 for solution in solutions]
    [True, True, True]
    """
    waiting: list[Any] = list(spots) if hasattr(spots, "__iter__") else [None]
    if not all(isinstance(spot, Spot) for spot in waiting):
        raise InvalidOption("spots", spots, "is not a list of spots")
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
    for place, spot in enumerate(waiting):  # check every spot before starting the first
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

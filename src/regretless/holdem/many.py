"""Many spots in parallel, as many at a time as memory allows.

On a CPU, one thread per spot: spots are independent, so solving them in parallel wastes nothing, while several threads
on one river would mostly wait for each other. If memory limits the number of spots, fewer run at a time and each gets
more threads. On a GPU, all spots that fit in its memory advance together (`solving/together.py`). A spot that cannot be
solved does not stop the others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, cast

from regretless import engines
from regretless.engines import BatchMember, Choice, SharedDevice, choose_public, thread_limit
from regretless.errors import InvalidOption, RegretlessError
from regretless.forms.memory import available_bytes
from regretless.forms.public import PublicForm
from regretless.forms.public_size import PublicSize
from regretless.garbage import relaxed_gc
from regretless.holdem.estimate import STORAGES, check_fits
from regretless.holdem.problem import SpotProblem, spot_predicts, spot_problem
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.spot import Spot
from regretless.solving.loop import Progress
from regretless.solving.progress.interrupt import catch_interrupts
from regretless.solving.request import Kind, Request, check_options
from regretless.solving.solution import Solution
from regretless.solving.solve import Started, solve, start
from regretless.solving.together import SharedSchedules, drive_together
from regretless.variants.presets import read_variant
from regretless.variants.variant import Variant

__all__ = ["SpotsFailed", "solve_many"]

GPU_SHARE = 0.9  # of a GPU's free memory that spots may take; launches need some too


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
    report: Callable[[int, Progress], None] | None = None,
    done: Callable[[int, SpotSolution], None] = lambda place, solution: None,
    failed: Callable[[int, RegretlessError], None] | None = None,
    interrupted: Callable[[], bool] | None = None,
    chosen: Callable[[Choice], None] = lambda choice: None,
    **options: Any,
) -> list[SpotSolution]:
    """Solutions of all spots, in their order; `options` are those of `solve_spot`.

    `checkpoints` are files, one per spot, to which long solves are saved every `save_every` seconds and on interrupts.
    `chosen` is called with the engine and device before the first spot, `report` with a position while that spot runs,
    `done` with its solution when it ends. A spot that cannot be solved is omitted and `failed` is called with the
    error; without `failed`, `SpotsFailed` is raised after the others are solved, with their solutions attached. After
    Ctrl-C (or if `interrupted` says so), running spots end with `reason == "interrupted"`, and spots not yet started
    are omitted.

    >>> fields = {"pot": 100, "stack": 200, "oop": {"range": "AK"}, "ip": {"range": "QQ"}, "bets": {"bet": "50%"}}
    >>> boards = ("Kh Qs Js 2c 3d", "Kh Qs Js 2c 7d", "Ah 8s 8d 4c 4d")
    >>> solutions = solve_many([Spot.from_mapping(fields | {"board": board}) for board in boards], target=0.1)
    >>> [solution.exploitability_pct_pot <= 0.1 for solution in solutions]
    [True, True, True]
    """
    waiting: list[Any] = list(spots) if hasattr(spots, "__iter__") else [None]
    if not all(isinstance(spot, Spot) for spot in waiting):
        raise InvalidOption("spots", spots, "is not a list of spots, such as [Spot.read('spot.toml')]")
    check_options(Kind.SPOT, {**options, "threads": threads, "storage": storage})
    SpotProblem.check_machine(options.get("engine") or "auto", options.get("device") or "auto")
    if options.get("variant") is not None:
        read_variant(options["variant"])
    if options.get("resume") is not None:
        raise InvalidOption("resume", options["resume"], "is for one spot at a time")
    bits = STORAGES[0] if storage is None else storage
    errors: dict[int, RegretlessError] = {}

    def fail(place: int, error: RegretlessError) -> None:
        errors[place] = error
        if failed is not None:
            failed(place, error)

    problems: dict[int, SpotProblem] = {}
    locks = options.pop("locks", None)
    for place, spot in enumerate(waiting):  # check every spot before starting the first
        try:
            problem = spot_problem(spot, {"locks": locks})
            problem.public_size()  # finds mistakes in the lines of its tree
            problems[place] = problem
        except RegretlessError as error:
            fail(place, error)
    choice = choose_for_many(list(problems.values()), storage=bits, threads=threads, **options)
    shared = engines.share(choice.engine, choice.device) if choice.on_gpu else None
    chosen(choice)

    def asked(place: int, stopped: Callable[[], bool]) -> dict[str, Any]:
        return options | {
            "storage": bits,
            "checkpoint": None if checkpoints is None else checkpoints[place],
            "report": None if report is None else partial(report, place),
            "interrupted": stopped,
            "engine": choice.engine,
            "device": choice.device,
        }

    with relaxed_gc(), catch_interrupts() if interrupted is None else nullcontext(interrupted) as stopped:
        if shared is None:
            found = _on_cores(problems, lambda place: asked(place, stopped), stopped, threads, done, fail)
        else:
            found = _together(problems, lambda place: asked(place, stopped), stopped, shared, done, fail)
    solutions = [found[place] for place in sorted(found)]
    if errors and failed is None:
        raise SpotsFailed(errors, solutions, [spot.name for spot in waiting])
    return solutions


def choose_for_many(
    problems: Sequence[SpotProblem],
    *,
    storage: int = 32,
    threads: int | None = None,
    engine: str | None = None,
    device: str | None = None,
    variant: str | Variant | None = None,
    **options: Any,
) -> Choice:
    """The engine and device for spots that are solved together."""
    if not problems:
        return Choice(engine or "auto", device or "auto")
    sizes = [problem.public_size() for problem in problems]
    largest = max(problems, key=lambda problem: problem.public_size().entries)
    return choose_public(
        largest.public_size(),
        engine=engine or "auto",
        device=device or "auto",
        threads=threads,
        storage=storage,
        predicts=spot_predicts(largest.spot, variant),
        entries=sum(size.entries for size in sizes),
    )


def _on_cores(
    problems: Mapping[int, SpotProblem],
    asked: Callable[[int], dict[str, Any]],
    stopped: Callable[[], bool],
    threads: int | None,
    done: Callable[[int, SpotSolution], None],
    failed: Callable[[int, RegretlessError], None],
) -> dict[int, SpotSolution]:
    """Solve spots on the cores of this machine, or one after another on another device; returns them by position."""
    cores = thread_limit(threads)
    sizes: dict[int, int] = {}
    for place, problem in problems.items():
        try:
            bits = asked(place)["storage"]
            predicts = spot_predicts(problem.spot, asked(place).get("variant"))
            found = check_fits(problem.spot, storage=bits, predicts=predicts, size=problem.public_size())
            sizes[place] = found.memory_bytes[bits]
        except RegretlessError as error:
            failed(place, error)
    workers = max(1, min(cores, len(sizes), available_bytes() // max(1, *sizes.values(), 1)))
    if any(asked(place)["device"] not in ("auto", "cpu") for place in sizes):
        workers = 1

    def one(place: int) -> SpotSolution | None:
        if stopped():
            return None
        options = asked(place)
        if options["device"] in ("auto", "cpu"):
            options["threads"] = max(1, cores // workers)
        try:
            solution = cast(SpotSolution, solve(problems[place], options))
        except RegretlessError as error:
            failed(place, error)
            return None
        done(place, solution)
        return solution

    with ThreadPoolExecutor(workers) as pool:
        solutions = dict(zip(sizes, pool.map(one, sizes), strict=True))
    return {place: solution for place, solution in solutions.items() if solution is not None}


def _together(
    problems: Mapping[int, SpotProblem],
    asked: Callable[[int], dict[str, Any]],
    stopped: Callable[[], bool],
    device: SharedDevice[BatchMember],
    done: Callable[[int, SpotSolution], None],
    failed: Callable[[int, RegretlessError], None],
) -> dict[int, SpotSolution]:
    """Solve spots together on a GPU, as many at a time as fit in its memory; returns them by position."""
    solutions: dict[int, SpotSolution] = {}

    def solved(place: int, solution: Solution) -> None:
        assert isinstance(solution, SpotSolution)
        solutions[place] = solution
        done(place, solution)

    def create(form: PublicForm, request: Request) -> BatchMember:
        return device.create(form, storage=request.settings.storage or STORAGES[0])

    def sized(place: int) -> dict[str, Any]:
        options = asked(place)
        predicts = spot_predicts(problems[place].spot, options.get("variant"))
        return {"storage": options["storage"], "predicts": predicts}

    weigh = SharedSchedules()
    needs: dict[PublicSize, int] = {}  # bytes; spots of the same size share the object
    waiting = deque(problems)
    while waiting and not stopped():
        room = device.free_bytes() * GPU_SHARE
        started: dict[int, Started] = {}
        with device.creating():
            while waiting and not stopped():
                place = waiting[0]
                problem, options = problems[place], asked(place)
                size = problem.public_size()
                if size not in needs:
                    needs[size] = engines.estimate(device.engine, engines.FormKind.PUBLIC, size, **sized(place)) or 0
                if started and needs[size] > room:
                    break
                waiting.popleft()
                try:
                    if needs[size] > room:
                        engines.check_public_fits(
                            device.engine, size, device=device.device, what=problem.name, **sized(place)
                        )
                    started[place] = start(problem, options, create=create, weigh=weigh)
                    room -= needs[size]
                except RegretlessError as error:
                    failed(place, error)
        if not stopped():
            drive_together(started, device, done=solved, failed=failed)
        if waiting:  # their solutions stay readable
            for place in solutions.keys() & started.keys():
                started[place].engine.park()
    return solutions

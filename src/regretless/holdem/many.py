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
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypedDict, Unpack

from regretless import engines
from regretless.engines import BatchMember, Choice, SharedDevice, choose_public, thread_limit
from regretless.errors import InvalidFile, InvalidOption, RegretlessError
from regretless.forms.memory import available_bytes
from regretless.forms.public import PublicForm
from regretless.forms.public_size import PublicSize
from regretless.garbage import relaxed_gc
from regretless.holdem.estimate import STORAGES
from regretless.holdem.fitting import check_fits
from regretless.holdem.problem import SpotProblem
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.spot import Spot
from regretless.solving.interrupt import catch_interrupts
from regretless.solving.loop import Progress
from regretless.solving.options import SolveOptions
from regretless.solving.problem import Request
from regretless.solving.request import make_request
from regretless.solving.solution import Solution
from regretless.solving.solve import Hooks, Started, solve, start
from regretless.solving.together import SharedSchedules, drive_together
from regretless.variants.variant import Variant

__all__ = ["SpotsFailed", "solve_many", "solve_spots"]

GPU_SHARE = 0.9  # of a GPU's free memory that spots may take; launches need some too


class SpotsFailed(RegretlessError):
    """Some of many spots could not be solved; `solutions` has the others, `errors` the reasons by position."""

    def __init__(self, errors: Mapping[int, RegretlessError], solutions: list[SpotSolution], names: list[str]) -> None:
        index, first = next(iter(sorted(errors.items())))
        more = f" (and {len(errors) - 1} more of {len(names)} spots)" if len(errors) > 1 else ""
        super().__init__(f"spot {index}{names[index] and f' ({names[index]})'}: {first}{more}")
        self.errors = dict(errors)
        self.solutions = solutions
        self.exit_code = first.exit_code


class ManyKeywords(TypedDict, total=False):
    """Keywords of `solve_spot` that apply to many spots alike."""

    variant: str | Variant | None
    iterations: int | None
    target: float | None
    measure_every: int | None
    engine: str | None
    device: str | None
    threads: int | None
    storage: int | None
    locks: Sequence[object] | None
    save_every: float | None
    checkpointed: Callable[[InvalidFile | None], None] | None


def solve_many(
    spots: Iterable[Spot],
    *,
    checkpoints: Sequence[str | Path] | None = None,
    report: Callable[[int, Progress], None] | None = None,
    done: Callable[[int, SpotSolution], None] = lambda index, solution: None,
    failed: Callable[[int, RegretlessError], None] | None = None,
    interrupted: Callable[[], bool] | None = None,
    chosen: Callable[[Choice], None] = lambda choice: None,
    **keywords: Unpack[ManyKeywords],
) -> list[SpotSolution]:
    """Solutions of all spots, in their order; `keywords` are those of `solve_spot`.

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
    return solve_spots(
        spots,
        SolveOptions.read(keywords),
        checkpoints=checkpoints,
        report=report,
        done=done,
        failed=failed,
        interrupted=interrupted,
        chosen=chosen,
    )


def solve_spots(
    spots: Iterable[Spot],
    options: SolveOptions,
    *,
    checkpoints: Sequence[str | Path] | None = None,
    report: Callable[[int, Progress], None] | None = None,
    done: Callable[[int, SpotSolution], None] = lambda index, solution: None,
    failed: Callable[[int, RegretlessError], None] | None = None,
    interrupted: Callable[[], bool] | None = None,
    chosen: Callable[[Choice], None] = lambda choice: None,
) -> list[SpotSolution]:
    """As `solve_many`, with the options as a record."""
    listed: list[Any] = list(spots) if hasattr(spots, "__iter__") else [spots]
    if not all(isinstance(spot, Spot) for spot in listed):
        raise InvalidOption("spots", spots, "is not a list of spots, such as [Spot.read('spot.toml')]")
    for name in ("resume", "buckets", "sample_runouts"):
        if (value := getattr(options, name)) is not None:
            raise InvalidOption(name, value, "is for one spot at a time")
    if checkpoints is None:
        options = replace(options, save_every=None)
    errors: dict[int, RegretlessError] = {}

    def fail(index: int, error: RegretlessError) -> None:
        errors[index] = error
        if failed is not None:
            failed(index, error)

    requests: dict[int, Request] = {}
    for index, spot in enumerate(listed):  # check every spot before starting the first
        try:
            problem = SpotProblem(spot, options)
            problem.public_size()  # finds mistakes in the lines of its tree
        except RegretlessError as error:
            fail(index, error)
            continue
        file = None if checkpoints is None else checkpoints[index]
        # A mistake in the options is not one of this spot: it is raised.
        requests[index] = make_request(problem, replace(options, locks=None, checkpoint=file))
    choice = _choose(list(requests.values()))
    shared = engines.share(choice.engine, choice.device) if choice.on_gpu else None
    chosen(choice)
    with relaxed_gc(), catch_interrupts() if interrupted is None else nullcontext(interrupted) as stopped:
        batch = _SpotBatch(
            requests={index: replace(request, shared_choice=choice) for index, request in requests.items()},
            hooks=replace(Hooks.of(options), interrupted=stopped),
            report=report,
            done=done,
            failed=fail,
        )
        if shared is None:
            batch.solve_on_cores()
        else:
            batch.solve_together(shared)
    solutions = [batch.solutions[index] for index in sorted(batch.solutions)]
    if errors and failed is None:
        raise SpotsFailed(errors, solutions, [spot.name for spot in listed])
    return solutions


def _choose(requests: Sequence[Request]) -> Choice:
    """The engine and device for spots that are solved together, whose options are the same."""
    if not requests:
        return Choice()
    largest = max(requests, key=lambda request: _size(request).entries)
    return choose_public(
        _size(largest),
        engine=largest.engine,
        device=largest.device,
        threads=largest.threads,
        storage=largest.settings.storage or STORAGES[0],
        predicts=largest.predicts,
        entries=sum(_size(request).entries for request in requests),
    )


@dataclass
class _SpotBatch:
    """Requests by the position of their spot, and the solutions so far."""

    requests: Mapping[int, Request]
    hooks: Hooks
    report: Callable[[int, Progress], None] | None
    done: Callable[[int, SpotSolution], None]
    failed: Callable[[int, RegretlessError], None]
    solutions: dict[int, SpotSolution] = field(default_factory=dict)

    def hooks_of(self, index: int) -> Hooks:
        return self.hooks if self.report is None else replace(self.hooks, report=partial(self.report, index))

    def add(self, index: int, solution: Solution) -> None:
        """A spot is solved, or interrupted."""
        assert isinstance(solution, SpotSolution)
        self.solutions[index] = solution
        self.done(index, solution)

    def solve_on_cores(self) -> None:
        """Solve the spots on the cores of this machine, or one after another on another device."""
        fitting: dict[int, int] = {}  # bytes
        for index, request in self.requests.items():
            bits = _bits(request)
            try:
                estimate = check_fits(
                    _problem(request).spot, storage=bits, predicts=request.predicts, size=_size(request)
                )
                fitting[index] = estimate.memory_bytes[bits]
            except RegretlessError as error:
                self.failed(index, error)
        if not fitting:
            return
        first = self.requests[next(iter(fitting))]
        cores, on_cpu = thread_limit(first.threads), first.device in ("auto", "cpu")
        workers = 1
        if on_cpu:
            workers = max(1, min(cores, len(fitting), available_bytes() // max(1, *fitting.values())))
        threads = max(1, cores // workers) if on_cpu else None
        with ThreadPoolExecutor(workers) as pool:
            for _ in pool.map(partial(self._solve, threads=threads), fitting):
                pass

    def _solve(self, index: int, *, threads: int | None) -> None:
        """Solve one spot by itself; `threads` None: as in its request."""
        if self.hooks.interrupted():
            return
        request = self.requests[index]
        if threads is not None:
            request = replace(request, threads=threads)
        try:
            solution = solve(request, self.hooks_of(index))
        except RegretlessError as error:
            self.failed(index, error)
            return
        self.add(index, solution)

    def solve_together(self, device: SharedDevice[BatchMember]) -> None:
        """Solve the spots together on a GPU, as many at a time as fit in its memory."""
        schedules = SharedSchedules()
        needed_bytes = self._needed_bytes(device)
        waiting = deque(self.requests)
        stopped = self.hooks.interrupted
        while waiting and not stopped():
            started = self._start_fitting(waiting, device, needed_bytes, schedules)
            if not stopped():
                drive_together(started, device, done=self.add, failed=self.failed)
            if waiting:  # their solutions stay readable
                for index in self.solutions.keys() & started.keys():
                    started[index].engine.park()

    def _needed_bytes(self, device: SharedDevice[BatchMember]) -> dict[int, int]:
        """Bytes that every spot takes on a device; spots of the same size are estimated once."""
        bytes_of_size: dict[PublicSize, int] = {}
        needed_bytes = {}
        for index, request in self.requests.items():
            size = _size(request)
            if size not in bytes_of_size:
                storage, predicts = _bits(request), request.predicts
                bytes_of_size[size] = (
                    engines.estimate(device.engine, engines.FormKind.PUBLIC, size, storage=storage, predicts=predicts)
                    or 0
                )
            needed_bytes[index] = bytes_of_size[size]
        return needed_bytes

    def _start_fitting(
        self,
        waiting: deque[int],
        device: SharedDevice[BatchMember],
        needed_bytes: Mapping[int, int],
        schedules: SharedSchedules,
    ) -> dict[int, Started]:
        """Start the next spots that fit on the device together, and remove them from `waiting`."""

        def create(form: PublicForm, request: Request) -> BatchMember:
            return device.create(form, storage=_bits(request))

        free = device.free_bytes() * GPU_SHARE
        started: dict[int, Started] = {}
        with device.creating():
            while waiting and not self.hooks.interrupted():
                needed = needed_bytes[waiting[0]]
                if started and needed > free:
                    break
                index = waiting.popleft()
                request = self.requests[index]
                try:
                    if needed > free:
                        _check_fits_device(request, device)
                    started[index] = start(request, self.hooks_of(index), create=create, weigh=schedules)
                    free -= needed
                except RegretlessError as error:
                    self.failed(index, error)
        return started


def _check_fits_device(request: Request, device: SharedDevice[BatchMember]) -> None:
    """Refuse a spot that does not fit on the device even by itself."""
    engines.check_fits(
        device.engine,
        engines.FormKind.PUBLIC,
        _size(request),
        device=device.device,
        what=request.problem.name,
        storage=_bits(request),
        predicts=request.predicts,
    )


def _problem(request: Request) -> SpotProblem:
    assert isinstance(request.problem, SpotProblem)
    return request.problem


def _size(request: Request) -> PublicSize:
    return _problem(request).public_size()


def _bits(request: Request) -> int:
    """Bits per stored number."""
    return request.settings.storage or STORAGES[0]

"""`regretless solve` for one spot: solved with a bar, saved, printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regretless.cli.arguments.outputs import check_sources, free_path
from regretless.cli.solving.solve_request import SolveRequest, stop_interrupted, tell_saved
from regretless.cli.solving.solve_status import SolveStatus
from regretless.cli.terminal.consoles import for_people
from regretless.cli.terminal.interrupts import interruptible
from regretless.cli.terminal.json_output import print_json
from regretless.errors import InvalidFile, InvalidOption

if TYPE_CHECKING:
    from regretless.holdem.solution import SpotSolution
    from regretless.solvers.loop import Progress

__all__ = ["SOLVING", "problem_of_saving", "solve_spot_file", "tell_of_compiling"]


def solve_spot_file(path: Path | None, request: SolveRequest) -> None:
    """Solve the spot of a file, or resume the file that was given, save it and print it."""
    status = SolveStatus(destination=request.destination, resumed=request.resume)
    with interruptible(status) as interrupted:
        keep_regrets = _keeps_regrets(request)  # asked now: a checkpoint may replace the file
        solution, destination, problem = _solve(path, request, status, interrupted)
        stopped = solution.reason == "interrupted"
        if not stopped and request.destination is not None:
            status.saving(solution.memory_bytes)
            problem = problem_of_saving(solution, destination, keep_regrets)
        saved = destination if problem is None and (stopped or request.destination is not None) else None
        status.printing(saved)
        if request.as_json:
            print_json(solution.as_json(strategy=request.strategy))
        else:
            from regretless.cli.views.spot_show import Look, print_spot

            print_spot(solution, Look(table=request.strategy))
        request.draw([solution])
        tell_saved(saved, request.plot)
        if problem is not None:  # said last, after the answer, which would otherwise be lost
            raise problem
        if stopped:
            stop_interrupted(solution, destination)


def _solve(
    path: Path | None, request: SolveRequest, status: SolveStatus, interrupted: Callable[[], bool]
) -> tuple[SpotSolution, Path, InvalidFile | None]:
    """The solution, the file that it belongs in, and why an interrupted solve is not there."""
    from regretless.cli.terminal.progress import solve_bar
    from regretless.holdem.files import load_checkpoint
    from regretless.holdem.solve import TARGET, resume_spot, solve_spot
    from regretless.holdem.spots.lock_text import lock_text
    from regretless.holdem.spots.spot import Spot
    from regretless.solvers.request import Problem
    from regretless.storage.atomic import check_writable

    request.check(Problem.SPOT, () if path is None else (path,))
    if request.destination is not None:
        check_writable(request.destination)
    given = None if path is None else request.locked(Spot.read(path))
    if request.resume is not None:
        if request.locks:
            reason = f"cannot be added: {request.resume} is resumed with the locks it was started with"
            raise InvalidOption("lock", lock_text(request.locks[0]), reason)
        saved = load_checkpoint(request.resume)
        spot, storage = saved.spot, saved.storage
        target = request.options.get("target", None if "iterations" in request.options else saved.settings.target)
    else:
        assert given is not None
        spot, storage = given, request.options.get("storage", 32)
        target = request.options.get("target", None if "iterations" in request.options else TARGET)
    destination = request.destination or free_path(spot.name or "spot")
    check_sources((destination,), (spot,))
    status.destination = destination
    problem: InvalidFile | None = None

    def checkpointed(why: InvalidFile | None) -> None:
        nonlocal problem
        if why is None:
            status.saved()
        elif str(why) != str(problem) and not interrupted():
            for_people().print(f"{why}; the solve continues", style="yellow", soft_wrap=True)
        problem = why

    options: dict[str, Any] = {name: value for name, value in request.options.items() if name in SOLVING}
    options |= {"checkpoint": destination, "checkpointed": checkpointed, "interrupted": interrupted}
    if request.destination is None:
        options["save_every"] = float("inf")  # only when it is interrupted
    tell_of_compiling(storage)
    with solve_bar(spot.name or "spot", target, unit="% of pot") as show:

        def report(progress: Progress) -> None:
            status.report(progress)
            chips = progress.exploitability
            show(replace(progress, exploitability=None if chips is None else 100 * chips / spot.pot))

        if request.resume is not None:
            solution = resume_spot(request.resume, spot=given, report=report, **options)
        else:
            solution = solve_spot(spot, report=report, **options)
    return solution, destination, problem if solution.reason == "interrupted" else None


SOLVING = (
    "variant", "iterations", "target", "measure_every", "engine", "device", "threads", "storage", "save_every",
)  # fmt: skip


def problem_of_saving(solution: SpotSolution, path: Path, resumable: bool) -> InvalidFile | None:
    """Save a solution; if that fails, why."""
    try:
        solution.save(path, resumable=resumable)
    except InvalidFile as error:
        return error
    return None


def tell_of_compiling(storage: int) -> None:
    """Say that the first solve takes longer, where it does."""
    from regretless.engines.public.compiled.cache import kernels_are_compiled
    from regretless.holdem.estimate import STORAGES

    if storage in STORAGES and not kernels_are_compiled(storage):
        for_people().print("compiling kernels for this machine: once, about 20 seconds", style="dim")


def _keeps_regrets(request: SolveRequest) -> bool:
    """Whether they were asked for, or the file that was resumed held a finished solve with them."""
    from regretless.storage.mapped import file_kind

    if request.options.get("keep_regrets", False):
        return True
    return request.resume is not None and file_kind(request.resume) == "spot-solution"

"""`regretless solve` for a game: solved with a bar, saved, printed."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regretless.cli.arguments.outputs import free_path
from regretless.cli.solving.solve_request import SolveRequest, stop_interrupted, tell_saved
from regretless.cli.solving.solve_status import SolveStatus
from regretless.cli.terminal.consoles import for_people
from regretless.cli.terminal.interrupts import interruptible
from regretless.cli.terminal.json_output import print_json
from regretless.errors import InvalidFile

if TYPE_CHECKING:
    from regretless.solvers.loop import Progress
    from regretless.solvers.solution import Solution

__all__ = ["solve_named_game"]


def solve_named_game(name: str | None, request: SolveRequest) -> None:
    """Solve the game of that name, or resume the file that was given, save it and print it."""
    status = SolveStatus(destination=request.destination, resumed=request.resume)
    with interruptible(status) as interrupted:
        from regretless.solvers.request import Problem, check_resume
        from regretless.solvers.solve import EXACT, resumed_options
        from regretless.storage.atomic import check_writable
        from regretless.storage.solutions import load_solution, save_solution

        exact = request.options.get("variant") == EXACT
        inputs = (Path(name),) if name is not None and name.endswith(".efg") else ()
        request.check(Problem.EXACT if exact else Problem.GAME, inputs)
        options: dict[str, Any] = {key: value for key, value in request.options.items() if key != "keep_regrets"}
        if request.resume is not None:
            earlier = load_solution(request.resume)
            if earlier.snapshot is None:
                raise InvalidFile(request.resume, f"was solved by {earlier.variant}: there is nothing to resume")
            check_resume(options, resumed_options(earlier), str(request.resume))
            options["resume"] = earlier
        title = name or options["resume"].game
        destination = request.destination or free_path(title)
        if request.destination is not None:
            check_writable(destination)
        status.destination = destination
        problem: InvalidFile | None = None

        def checkpoint(solution: Solution) -> None:
            nonlocal problem
            before, problem = problem, None
            try:
                save_solution(destination, solution)
                status.saved()
            except InvalidFile as error:  # a full disk, say: what is solved is still in memory
                problem = error
                if str(before) != str(error) and not interrupted():
                    for_people().print(f"{error}; the solve continues", style="yellow", soft_wrap=True)

        if not exact:
            options |= {"checkpoint": checkpoint}
            if request.destination is None:
                options["save_every"] = float("inf")  # only when it is interrupted
        solution = _solve_with_progress(name, title, options, status, interrupted)
        stopped = solution.reason == "interrupted"
        if not stopped:
            problem = None
            if request.destination is not None:
                status.saving(solution.memory_bytes)
                problem = _problem_of_saving(destination, solution)
        saved = destination if problem is None and (stopped or request.destination is not None) else None
        status.printing(saved)
        request.draw([solution])
        _print(solution, request, saved)
        tell_saved(saved, request.plot)
        if problem is not None:  # said last, after the answer, which would otherwise be lost
            raise problem
        if stopped:
            stop_interrupted(solution, destination)


def _solve_with_progress(
    name: str | None, title: str, options: dict[str, Any], status: SolveStatus, interrupted: Any
) -> Solution:
    from regretless.cli.terminal.progress import solve_bar
    from regretless.solvers.solve import solve

    with solve_bar(title, options.get("target")) as show:

        def report(progress: Progress) -> None:
            status.report(progress)
            show(progress)

        return solve(name, report=report, interrupted=interrupted, **options)


def _problem_of_saving(path: Path, solution: Solution) -> InvalidFile | None:
    """Save a solution; if that fails, why."""
    from regretless.storage.solutions import save_solution

    try:
        save_solution(path, solution)
    except InvalidFile as error:
        return error
    return None


def _print(solution: Solution, request: SolveRequest, file: Path | None) -> None:
    if request.as_json:
        print_json(solution.as_json(strategy=request.strategy))
        return
    from regretless.cli.views.summary import print_solution

    print_solution(solution, whole=request.strategy, file=None if file is None else shlex.quote(str(file)))

"""`regretless solve` for one game or one spot: solved with a progress bar, saved, printed."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from regretless.cli.arguments.inputs import SUFFIX
from regretless.cli.arguments.outputs import check_sources, check_tables, free_path, print_unfinished, resume_command
from regretless.cli.solving.request import SolveRequest, loss_sentences
from regretless.cli.solving.status import SolveStatus
from regretless.cli.terminal.consoles import for_people, note, print_json
from regretless.cli.terminal.interrupts import INTERRUPTED, interruptible
from regretless.cli.terminal.numbers import count_text
from regretless.errors import Advice, DeviceFailed, InvalidFile, InvalidOption

if TYPE_CHECKING:
    from regretless.cli.terminal.progress import Details
    from regretless.engines import Choice
    from regretless.solving.loop import Progress
    from regretless.solving.options import SolveOptions
    from regretless.solving.problem import AnyProblem
    from regretless.solving.solution import Solution

__all__ = ["note_choice", "run_problem", "saving_error", "solve_one"]


def solve_one(argument: str | Path | None, request: SolveRequest) -> None:
    """Solve a game by name or the spot or game of a file, or resume a saved solve; then save and print the solution."""
    status = SolveStatus(destination=request.destination, resumed=request.resume, sharing=request.sharing)
    with interruptible(status) as interrupted:
        from regretless.engines import devices

        options = request.options
        if options.device == "cuda":
            devices.start_cuda()  # in the background, while everything else loads
        from regretless.api import load, problem_of
        from regretless.files.atomic import check_writable
        from regretless.holdem.games.game import read_spot_or_game
        from regretless.holdem.problem import SpotProblem
        from regretless.holdem.spots.locks import lock_text
        from regretless.holdem.spots.spot import Spot
        from regretless.solving.kinds import Kind, of_solution
        from regretless.solving.options import EXACT, RULES

        request.check_files(() if argument is None else (Path(argument),))
        if request.out is not None:
            check_writable(request.out)
        to_solve: object = argument
        if str(argument).endswith(SUFFIX):
            to_solve = read_spot_or_game(Path(str(argument)))
        if request.locks:
            if argument is not None and not isinstance(to_solve, Spot):
                raise InvalidOption("lock", lock_text(request.locks[0]), "is for hold'em spots")
            if options.buckets is not None:
                raise InvalidOption("lock", lock_text(request.locks[0]), "cannot be combined with buckets")
        if isinstance(to_solve, Spot):
            to_solve = request.locked(to_solve)
            if request.destination is not None:  # refuse --out before reading the files that locks come from
                check_sources((request.destination,), (to_solve,))
            for sentence in loss_sentences(request.locks):
                note(sentence)
        earlier = None
        if request.resume is not None:
            if request.locks:
                reason = f"cannot be added: {request.resume} is resumed with the locks it was started with"
                raise InvalidOption("lock", lock_text(request.locks[0]), reason)
            if options.variant == EXACT:
                raise InvalidOption("resume", request.resume, RULES["resume"].refused[Kind.EXACT].why)
            earlier = load(request.resume)
            options = replace(options, resume=earlier)
            if request.out is None:  # after reading it, so that its own errors come first
                check_writable(request.resume)
        problem = problem_of(to_solve, options)
        check_tables(request.out, options.buckets or (None if earlier is None else earlier.settings.buckets))
        keep_regrets = of_solution(problem.solution_type).keeps_regrets or bool(options.keep_regrets)
        keep_regrets |= earlier is not None and earlier.reason != "interrupted"  # the file already has regrets
        if isinstance(problem, SpotProblem):
            destination = request.destination or free_path(problem.name)
            check_sources((destination,), (problem.spot,))
        run_problem(problem, options, request, status, interrupted, resumable=keep_regrets)


def run_problem(
    problem: AnyProblem,
    options: SolveOptions,
    request: SolveRequest,
    status: SolveStatus,
    interrupted: Callable[[], bool],
    *,
    resumable: bool,
    details: Details | None = None,
) -> None:
    """Solve a problem with a progress bar, save and print the solution; a finished one is `resumable` if that is true.

    Ends with exit code 130, and the command that resumes the solve, if it was interrupted.
    """
    destination = status.destination = request.destination or free_path(problem.name)
    solution, failed = _solve(problem, options, request, destination, status, interrupted, details)
    stopped = solution.reason == "interrupted"
    if not stopped and request.destination is not None:
        status.saving(solution.record.memory_bytes)
        failed = saving_error(solution, destination, resumable)
    saved = destination if failed is None and (stopped or request.destination is not None) else None
    status.printing(saved)
    _print(solution, request, saved)
    request.draw([solution])
    for file in (saved, request.plot):
        if file is not None:
            note(f"saved {file}")
    if failed is not None:  # raised last, so that the result is printed first
        raise failed
    if stopped:
        print_unfinished(solution, destination, **request.sharing)
        raise typer.Exit(INTERRUPTED)


def _solve(
    problem: AnyProblem,
    options: SolveOptions,
    request: SolveRequest,
    destination: Path,
    status: SolveStatus,
    interrupted: Callable[[], bool],
    details: Details | None,
) -> tuple[Solution, InvalidFile | None]:
    """The solution, and why an interrupted solve could not be saved."""
    from regretless.cards.evaluator import load_kernels
    from regretless.cli.terminal.progress import solve_bar
    from regretless.engines import FormKind
    from regretless.holdem.problem import SpotProblem
    from regretless.solving.options import EXACT
    from regretless.solving.public_problem import PublicFormProblem
    from regretless.solving.request import make_request
    from regretless.solving.solve import Hooks, solve

    failed: InvalidFile | None = None

    def checkpointed(why: InvalidFile | None) -> None:
        nonlocal failed
        if why is None:
            status.saved()
        elif str(why) != str(failed) and not interrupted():
            for_people().print(f"{why}; the solve continues", style="yellow", soft_wrap=True)
        failed = why

    if options.variant != EXACT:
        options = replace(options, checkpoint=destination)
        if request.destination is None:
            options = replace(options, save_every=float("inf"))  # save on interrupts only
    checked = make_request(problem, options)
    settings = checked.settings
    if isinstance(problem, PublicFormProblem):
        note_choice(checked.choice, settings.storage)
    elif FormKind.BUCKETED in problem.forms and _on_processor(checked.engine, checked.device):
        from regretless.engines import kernels_are_compiled

        _note_compiling(kernels_are_compiled(FormKind.BUCKETED))
    if checked.device == "cuda" and isinstance(problem, SpotProblem):
        load_kernels()  # meanwhile, CUDA is starting
    boards = None if problem.measures else settings.sample_runouts
    latest: Progress | None = None

    def speed() -> list[str]:
        if boards is None or latest is None or not latest.iteration_seconds:
            return []
        done = latest.iteration - (0 if checked.resume is None else checked.resume.iterations)
        return [f"{count_text(boards * done / latest.iteration_seconds)} boards/s"]

    if details is None and boards is not None:
        details = speed
    target = settings.target
    scaled = None if target is None else problem.scale * target
    with solve_bar(problem.name, scaled, unit=problem.unit, every=settings.measure_every, details=details) as show:

        def report(progress: Progress) -> None:
            nonlocal latest
            latest = progress
            status.report(progress)
            measured = progress.exploitability
            show(replace(progress, exploitability=None if measured is None else problem.scale * measured))

        try:
            hooks = Hooks(report=report, interrupted=interrupted, checkpointed=checkpointed)
            if request.ray is None:
                solution = solve(checked, hooks)
            else:
                from regretless.cluster.shards_on_ray import shards_on_ray

                with shards_on_ray(request.ray) as create:
                    solution = solve(checked, hooks, create=create)
        except DeviceFailed as error:
            if status.saved_at is None:
                raise
            resumes = resume_command(destination, status.command)
            raise DeviceFailed(
                f"{error.worded(Advice.as_option)}; resume the last checkpoint with {resumes}"
            ) from error
    return solution, failed if solution.reason == "interrupted" else None


def _print(solution: Solution, request: SolveRequest, file: Path | None) -> None:
    from regretless.holdem.solution import SpotSolution
    from regretless.solving.game_solution import GameSolution

    if request.as_json:
        print_json(solution.as_json(strategy=request.strategy))
    elif isinstance(solution, SpotSolution):
        from regretless.cli.views.spot_show import Look, print_spot

        print_spot(solution, Look(table=request.strategy))
    elif isinstance(solution, GameSolution):
        from regretless.cli.views.game_show import print_game

        print_game(solution, whole=request.strategy, file=None if file is None else shlex.quote(str(file)))


def saving_error(solution: Solution, path: Path, resumable: bool) -> InvalidFile | None:
    """Save a solution; returns the error if that fails."""
    try:
        solution.save(path, resumable=resumable)
    except InvalidFile as error:
        return error
    return None


def note_choice(choice: Choice, storage: int | None) -> None:
    """Say which device was chosen and why, if there was a choice, and that the first solve takes longer, if it does."""
    if choice.why:
        note(choice.why)
    if _on_processor(choice.engine, choice.device):
        from regretless.engines import FormKind, kernels_are_compiled

        _note_compiling(kernels_are_compiled(FormKind.PUBLIC, storage or 32))


def _on_processor(engine: str, device: str) -> bool:
    """Whether kernels of numba are used."""
    return engine in ("auto", "numba") and device in ("auto", "cpu")


def _note_compiling(compiled: bool) -> None:
    """Say that setup takes longer, unless the kernels are compiled."""
    if not compiled:
        for_people().print("compiling kernels for this machine: once, about 20 seconds", style="dim")

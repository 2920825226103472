"""`regretless solve` for one game or one spot: solved with a progress bar, saved, printed."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from regretless.cli.arguments.inputs import SUFFIX
from regretless.cli.arguments.outputs import check_sources, check_tables, free_path
from regretless.cli.solving.locks import add_locks, print_losses
from regretless.cli.solving.request import SolveRequest
from regretless.cli.solving.status import SolveStatus
from regretless.cli.terminal.consoles import for_people, note
from regretless.cli.terminal.interrupts import INTERRUPTED, interruptible
from regretless.cli.terminal.json_output import print_json
from regretless.cli.terminal.next_commands import print_unfinished, resume_command
from regretless.cli.terminal.numbers import count_text
from regretless.errors import Advice, DeviceFailed, InvalidFile, InvalidOption

if TYPE_CHECKING:
    from regretless.cli.terminal.progress import Details
    from regretless.cluster.shards_on_ray import Create
    from regretless.engines import Choice, FormKind
    from regretless.solving.loop import Progress
    from regretless.solving.options import SolveOptions
    from regretless.solving.problem import AnyProblem, Request
    from regretless.solving.solution import Solution

__all__ = ["load_resumed", "note_choice", "run_problem", "saving_error", "solve_one"]


def solve_one(argument: str | Path | None, request: SolveRequest) -> None:
    """Solve a game by name or the spot or game of a file, or resume a saved solve; then save and print the solution."""
    status = SolveStatus(destination=request.destination, resumed=request.resume, sharing=request.sharing)
    with interruptible(status) as interrupted:
        from regretless.engines import devices

        options = request.options
        if options.device == "cuda":
            devices.start_cuda()  # in the background, while everything else loads
        from regretless.api import problem_of
        from regretless.files.atomic import check_writable
        from regretless.holdem.problem import SpotProblem
        from regretless.solving.kinds import of_solution

        request.check_files(() if argument is None else (Path(argument),))
        if request.out is not None:
            check_writable(request.out)
        subject = _read_subject(argument, request)
        _check_resume(request)
        earlier = load_resumed(request)
        options = replace(options, resume=earlier)
        problem = problem_of(subject, options)
        check_tables(request.out, options.buckets or (None if earlier is None else earlier.settings.buckets))
        keeps_regrets = of_solution(problem.solution_type).keeps_regrets or bool(options.keep_regrets)
        file_has_regrets = earlier is not None and earlier.reason != "interrupted"
        if isinstance(problem, SpotProblem):
            destination = request.destination or free_path(problem.name)
            check_sources((destination,), (problem.spot,))
        run_problem(problem, options, request, status, interrupted, resumable=keeps_regrets or file_has_regrets)


def _read_subject(argument: str | Path | None, request: SolveRequest) -> object:
    """What `problem_of` takes: a game's name, or the spot or game of a file; a spot with the locks of the request."""
    from regretless.holdem.games.game import read_spot_or_game
    from regretless.holdem.spots.locks import lock_text
    from regretless.holdem.spots.spot import Spot

    subject: object = argument
    if str(argument).endswith(SUFFIX):
        subject = read_spot_or_game(Path(str(argument)))
    if request.locks:
        if argument is not None and not isinstance(subject, Spot):
            raise InvalidOption("lock", lock_text(request.locks[0]), "is for hold'em spots")
        if request.options.buckets is not None:
            raise InvalidOption("lock", lock_text(request.locks[0]), "cannot be combined with buckets")
    if isinstance(subject, Spot):
        subject = add_locks(subject, request.locks)
        if request.destination is not None:  # refuse --out before reading the files that locks come from
            check_sources((request.destination,), (subject,))
        print_losses(request.locks)
    return subject


def _check_resume(request: SolveRequest) -> None:
    """Refuse what cannot be combined with --resume."""
    from regretless.holdem.spots.locks import lock_text
    from regretless.solving.kinds import Kind
    from regretless.solving.options import EXACT, RULES

    if request.resume is None:
        return
    if request.locks:
        reason = f"cannot be added: {request.resume} is resumed with the locks it was started with"
        raise InvalidOption("lock", lock_text(request.locks[0]), reason)
    if request.options.variant == EXACT:
        raise InvalidOption("resume", request.resume, RULES["resume"].refused[Kind.EXACT].why)


def load_resumed(request: SolveRequest) -> Solution | None:
    """The solution of --resume, whose file must be writable unless --out names another."""
    from regretless.api import load
    from regretless.files.atomic import check_writable

    if request.resume is None:
        return None
    earlier = load(request.resume)
    if request.out is None:  # after reading it, so that its own errors come first
        check_writable(request.resume)
    return earlier


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
    """Solve a problem with a progress bar, save and print the solution; a finished one is saved `resumable` or not.

    If it was interrupted, print the command that resumes it and end with exit code 130.
    """
    destination = status.destination = request.destination or free_path(problem.name)
    solution, error = _solve(problem, options, request, destination, status, interrupted, details)
    stopped = solution.reason == "interrupted"
    if not stopped and request.destination is not None:
        status.saving(solution.record.memory_bytes)
        error = saving_error(solution, destination, resumable=resumable)
    saved = destination if error is None and (stopped or request.destination is not None) else None
    status.printing(saved)
    _print(solution, request, saved)
    request.draw([solution])
    for file in (saved, request.plot):
        if file is not None:
            note(f"saved {file}")
    if error is not None:  # raised last, so that the result is printed first
        raise error
    if stopped:
        print_unfinished(solution, destination, **request.sharing)
        raise typer.Exit(INTERRUPTED)


def saving_error(solution: Solution, path: Path, *, resumable: bool) -> InvalidFile | None:
    """Save a solution; returns the error if that fails."""
    try:
        solution.save(path, resumable=resumable)
    except InvalidFile as error:
        return error
    return None


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
    from regretless.solving.options import EXACT
    from regretless.solving.request import make_request
    from regretless.solving.solve import Hooks, solve

    if options.variant != EXACT:
        options = replace(options, checkpoint=destination)
        if request.destination is None:
            options = replace(options, save_every=float("inf"))  # save on interrupts only
    checked = make_request(problem, options)
    _prepare_kernels(checked)
    checkpoints = _CheckpointLog(status, interrupted)
    with _progress(checked, status, details) as report:
        hooks = Hooks(report=report, interrupted=interrupted, checkpointed=checkpoints.record)
        try:
            with _shards(request.ray) as create:
                solution = solve(checked, hooks, create=create)
        except DeviceFailed as error:
            if status.saved_at is None:
                raise
            resume = resume_command(destination, status.command)
            raise DeviceFailed(f"{error.worded(Advice.as_option)}; resume the last checkpoint with {resume}") from error
    return solution, checkpoints.error if solution.reason == "interrupted" else None


class _CheckpointLog:
    """Whether the latest checkpoint was written; a new error is printed, since the solve continues."""

    def __init__(self, status: SolveStatus, interrupted: Callable[[], bool]) -> None:
        self.status, self.interrupted = status, interrupted
        self.error: InvalidFile | None = None

    def record(self, error: InvalidFile | None) -> None:
        """Take note of a checkpoint, or of the error that kept it from being written."""
        if error is None:
            self.status.saved()
        elif str(error) != str(self.error) and not self.interrupted():
            for_people().print(f"{error}; the solve continues", style="yellow", soft_wrap=True)
        self.error = error


def _prepare_kernels(request: Request) -> None:
    """Print which device was chosen and whether kernels are compiled first; load those that a spot needs on a GPU."""
    from regretless.cards.evaluator import load_kernels
    from regretless.engines import FormKind
    from regretless.holdem.problem import SpotProblem
    from regretless.solving.public_problem import PublicFormProblem

    problem = request.problem
    if isinstance(problem, PublicFormProblem):
        note_choice(request.choice, request.settings.storage)
    elif FormKind.BUCKETED in problem.forms:
        _note_compiling(request.engine, request.device, FormKind.BUCKETED)
    if request.device == "cuda" and isinstance(problem, SpotProblem):
        load_kernels()  # meanwhile, CUDA is starting


@contextmanager
def _progress(request: Request, status: SolveStatus, details: Details | None) -> Iterator[Callable[[Progress], None]]:
    """The progress bar of a solve, which also keeps `status` up to date."""
    from regretless.cli.terminal.progress import solve_bar

    problem, settings = request.problem, request.settings
    speed = None
    if settings.sample_runouts is not None and not problem.measures:
        speed = _BoardSpeed(settings.sample_runouts, 0 if request.resume is None else request.resume.iterations)
        details = details or speed.details
    target = None if settings.target is None else problem.scale * settings.target
    with solve_bar(problem.name, target, unit=problem.unit, every=settings.measure_every, details=details) as show:

        def report(progress: Progress) -> None:
            status.report(progress)
            if speed is not None:
                speed.latest = progress
            measured = progress.exploitability
            show(replace(progress, exploitability=None if measured is None else problem.scale * measured))

        yield report


class _BoardSpeed:
    """Boards sampled per second, shown instead of an exploitability that is not measured on the way."""

    def __init__(self, boards: int, first_iteration: int) -> None:
        self.boards, self.first_iteration = boards, first_iteration  # boards per iteration
        self.latest: Progress | None = None

    def details(self) -> list[str]:
        if self.latest is None or not self.latest.iteration_seconds:
            return []
        iterations = self.latest.iteration - self.first_iteration
        return [f"{count_text(self.boards * iterations / self.latest.iteration_seconds)} boards/s"]


def _shards(ray: str | None) -> AbstractContextManager[Create | None]:
    """What creates the engine: shards on the Ray cluster at this address; None for the usual engine."""
    if ray is None:
        return nullcontext()
    from regretless.cluster.shards_on_ray import shards_on_ray

    return shards_on_ray(ray)


def _print(solution: Solution, request: SolveRequest, file: Path | None) -> None:
    from regretless.holdem.solution import SpotSolution
    from regretless.solving.game_solution import GameSolution

    if request.as_json:
        print_json(solution.as_json(strategy=request.print_strategy))
    elif isinstance(solution, SpotSolution):
        from regretless.cli.views.spot_show import NodeSelection, print_spot

        print_spot(solution, NodeSelection(table=request.print_strategy))
    elif isinstance(solution, GameSolution):
        from regretless.cli.views.game_show import print_game

        print_game(solution, whole=request.print_strategy, file=None if file is None else shlex.quote(str(file)))


def note_choice(choice: Choice, storage: int | None) -> None:
    """Print which device was chosen and why, if there was a choice, and whether kernels are compiled first."""
    from regretless.engines import FormKind

    if choice.why:
        note(choice.why)
    _note_compiling(choice.engine, choice.device, FormKind.PUBLIC, storage or 32)


def _note_compiling(engine: str, device: str, form: FormKind, storage: int = 32) -> None:
    """Say that setup takes longer, if the kernels of the numba engine are not compiled yet."""
    from regretless.engines import kernels_are_compiled

    uses_numba = engine in ("auto", "numba") and device in ("auto", "cpu")
    if uses_numba and not kernels_are_compiled(form, storage):
        for_people().print("compiling kernels for this machine: once, about 20 seconds", style="dim")

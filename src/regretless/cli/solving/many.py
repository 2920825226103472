"""`regretless solve` for many spots: solved in parallel, each saved as it ends; a failure does not stop the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from regretless.cli.arguments.inputs import read_spots
from regretless.cli.arguments.outputs import (
    check_sources,
    command_line,
    free_path,
    out_folder,
    print_commands,
    print_errors,
    resume_command,
    solution_files,
)
from regretless.cli.solving.one import note_choice, saving_error
from regretless.cli.solving.request import SolveRequest
from regretless.cli.solving.status import BatchStatus
from regretless.cli.terminal.consoles import for_answers, for_people, plain_table, print_json
from regretless.cli.terminal.interrupts import INTERRUPTED, interruptible
from regretless.errors import Advice, InvalidFile, InvalidOption, RegretlessError
from regretless.printable import printable

if TYPE_CHECKING:
    from regretless.holdem.solution import SpotSolution
    from regretless.holdem.spots.spot import Spot

__all__ = ["solve_spots"]


def solve_spots(paths: list[Path], request: SolveRequest) -> None:
    """Solve the spots of these files, save them in the folder that --out names and print them."""
    status = BatchStatus(len(paths), request.out)
    with interruptible(status) as interrupted:
        from regretless.files.atomic import check_writable
        from regretless.files.state import check_state
        from regretless.holdem.many import solve_spots as solve_spots_together
        from regretless.solving.kinds import Kind

        options = request.options
        if options.buckets is not None:
            raise InvalidOption("buckets", options.buckets, "is for one spot at a time")
        replace(options, save_every=None).check(Kind.SPOT)
        request.check_files(paths)
        if request.out is not None:
            files = solution_files(paths, out_folder(request.out))
            for file in files:
                check_state(file, request.out)
                check_writable(file)
        else:
            files = []  # without --out, interrupted solves are saved in the working directory
            for path in paths:
                files.append(free_path(path.stem, files))
        spots, errors = read_spots(paths, request.locked)
        check_sources(files, spots.values())
        solved: dict[Path, SpotSolution] = {}
        order = list(spots)
        file_of = dict(zip(paths, files, strict=True))

        def done(index: int, solution: SpotSolution) -> None:
            path = order[index]
            failure = None
            finished = solution.reason != "interrupted"
            if finished and request.out is not None:
                failure = saving_error(solution, file_of[path], bool(options.keep_regrets))
            if failure is not None:
                errors[file_of[path]] = failure
            status.done(index, finished=finished)
            solved[path] = solution
            ending = f"{solution.exploitability_pct_pot:.3g} % of the pot" if finished else "unfinished"
            for_people().print(
                f"{len(solved)}/{len(paths)} {printable(str(path))}: {ending}", style="dim", soft_wrap=True
            )

        def failed(index: int, error: RegretlessError) -> None:
            errors[order[index]] = _of_spot(spots[order[index]], error)

        def checkpointed(failure: InvalidFile | None) -> None:
            if failure is not None:
                errors[Path(str(failure.path))] = failure

        if request.out is None:
            options = replace(options, save_every=float("inf"))  # save on interrupts only
        solve_spots_together(
            spots.values(),
            replace(options, keep_regrets=None, checkpointed=checkpointed),
            checkpoints=[file_of[path] for path in order],
            report=status.report,
            done=done,
            failed=failed,
            interrupted=interrupted,
            chosen=lambda choice: note_choice(choice, options.storage),
        )
        status.over = True
        solutions = {path: solved[path] for path in paths if path in solved}
        _print(solutions, errors, request)
        request.draw(list(solutions.values()))
        _end(paths, solutions, file_of, errors, request, interrupted())


def _of_spot(spot: Spot, error: RegretlessError) -> RegretlessError:
    """The error, with the name of its spot."""
    if not spot.name or spot.name in str(error):
        return error
    named = RegretlessError(f"{spot.name}: {error.worded(Advice.as_option)}")
    named.exit_code = error.exit_code
    return named


def _print(solutions: dict[Path, SpotSolution], errors: dict[Path, RegretlessError], request: SolveRequest) -> None:
    if request.as_json:
        spots = [
            {"file": str(path), **solution.as_json(strategy=request.strategy)} for path, solution in solutions.items()
        ]
        wrong = [{"file": str(path), "error": error.worded(Advice.as_option)} for path, error in errors.items()]
        print_json({"spots": spots, "errors": wrong})
    elif request.strategy:
        from regretless.cli.views.spot_show import Look, print_spot

        for solution in solutions.values():
            print_spot(solution, Look(table=True))
    elif solutions:
        _print_table(solutions)


def _print_table(solutions: dict[Path, SpotSolution]) -> None:
    table = plain_table(["spot"], ["iterations", "% of pot", "EV oop", "EV ip", "equity oop", "first actions"])
    names = [solution.game for solution in solutions.values()]
    for path, solution in solutions.items():
        first = zip(solution.root.actions, solution.root.frequencies, strict=True)
        table.add_row(
            printable(solution.game if names.count(solution.game) == 1 else str(path)),
            f"{solution.iterations:,}",
            f"{solution.exploitability_pct_pot:.3g}",
            f"{solution.ev['oop']:.2f}",
            f"{solution.ev['ip']:.2f}",
            f"{solution.equity['oop']:.1%}",
            ", ".join(f"{action} {share:.0%}" for action, share in first),
        )
    for_answers().print(table)


def _end(
    paths: list[Path],
    solutions: dict[Path, SpotSolution],
    file_of: dict[Path, Path],
    errors: dict[Path, RegretlessError],
    request: SolveRequest,
    interrupted: bool,
) -> None:
    """Say what is unfinished and what failed, and exit with the right code."""
    unfinished = [path for path, solution in solutions.items() if solution.reason == "interrupted"]
    waiting = [path for path in paths if path not in solutions and path not in errors] if interrupted else []
    if unfinished or waiting:
        done = len(solutions) - len(unfinished)
        commands = [resume_command(file_of[path]) for path in unfinished if file_of[path] not in errors]
        if waiting:
            commands.append(command_line("solve", *map(str, waiting), *request.solving_arguments()))
        print_commands(f"interrupted: {done} of {len(paths)} spots are finished; resume the others with", *commands)
    code = print_errors(errors) if errors else 0
    if code or unfinished or waiting:
        raise typer.Exit(code or INTERRUPTED)

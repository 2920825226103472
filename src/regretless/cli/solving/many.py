"""`regretless solve` for many spots: solved in parallel, each saved as it ends; a failure does not stop the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from regretless.cli.arguments.inputs import print_errors, read_spots
from regretless.cli.arguments.outputs import check_sources, free_path, out_folder, solution_files
from regretless.cli.solving.locks import add_locks
from regretless.cli.solving.one import note_choice, saving_error
from regretless.cli.solving.request import SolveRequest
from regretless.cli.solving.status import BatchStatus
from regretless.cli.terminal.consoles import for_answers, for_people, plain_table
from regretless.cli.terminal.interrupts import INTERRUPTED, interruptible
from regretless.cli.terminal.json_output import print_json
from regretless.cli.terminal.next_commands import command_line, print_commands, resume_command
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
        from regretless.holdem.many import solve_spots as solve_spots_together
        from regretless.solving.kinds import Kind

        options = request.options
        if options.buckets is not None:
            raise InvalidOption("buckets", options.buckets, "is for one spot at a time")
        replace(options, save_every=None).check(Kind.SPOT)
        request.check_files(paths)
        files = _solution_files(paths, request.out)
        spots, errors = read_spots(paths, lambda spot: add_locks(spot, request.locks))
        check_sources(files.values(), spots.values())
        batch = _Batch(request, status, spots, files, errors)
        if request.out is None:
            options = replace(options, save_every=float("inf"))  # save on interrupts only
        solve_spots_together(
            spots.values(),
            replace(options, keep_regrets=None, checkpointed=batch.checkpointed),
            checkpoints=[files[path] for path in spots],
            report=status.report,
            done=batch.done,
            failed=batch.failed,
            interrupted=interrupted,
            chosen=lambda choice: note_choice(choice, options.storage),
        )
        status.over = True
        solutions = batch.in_order()
        _print(solutions, errors, request)
        request.draw(list(solutions.values()))
        batch.end(interrupted=interrupted())


def _solution_files(paths: list[Path], out: Path | None) -> dict[Path, Path]:
    """Where each spot's solution is saved; without --out, only an interrupted one is, in the working directory."""
    from regretless.files.atomic import check_writable
    from regretless.files.state import check_state

    files: list[Path] = []
    if out is None:
        for path in paths:
            files.append(free_path(path.stem, files))
    else:
        files = solution_files(paths, out_folder(out))
        for file in files:
            check_state(file, out)
            check_writable(file)
    return dict(zip(paths, files, strict=True))


class _Batch:
    """The spots being solved; each is saved and reported as it ends."""

    def __init__(
        self,
        request: SolveRequest,
        status: BatchStatus,
        spots: dict[Path, Spot],
        files: dict[Path, Path],
        errors: dict[Path, RegretlessError],
    ) -> None:
        self.request, self.status = request, status
        self.spots, self.files = spots, files  # by the path of the spot; `files` includes those that cannot be read
        self.errors = errors  # by the path of a spot or of its solution
        self.solved: dict[Path, SpotSolution] = {}
        self._order = list(spots)

    def done(self, index: int, solution: SpotSolution) -> None:
        """Save a solution and print a line about it."""
        path = self._order[index]
        finished = solution.reason != "interrupted"
        if finished and self.request.out is not None:
            error = saving_error(solution, self.files[path], resumable=bool(self.request.options.keep_regrets))
            if error is not None:
                self.errors[self.files[path]] = error
        self.status.done(index, finished=finished)
        self.solved[path] = solution
        ending = f"{solution.exploitability_pct_pot:.3g} % of the pot" if finished else "unfinished"
        count = f"{len(self.solved)}/{len(self.files)}"
        for_people().print(f"{count} {printable(str(path))}: {ending}", style="dim", soft_wrap=True)

    def failed(self, index: int, error: RegretlessError) -> None:
        """Take note of a spot that could not be solved."""
        path = self._order[index]
        self.errors[path] = _of_spot(self.spots[path], error)

    def checkpointed(self, error: InvalidFile | None) -> None:
        """Take note of a file that could not be written."""
        if error is not None:
            self.errors[Path(str(error.path))] = error

    def in_order(self) -> dict[Path, SpotSolution]:
        """The solutions in the order of the command line."""
        return {path: self.solved[path] for path in self.files if path in self.solved}

    def end(self, *, interrupted: bool) -> None:
        """Say what is unfinished and what failed, and exit with the right code."""
        unfinished = [path for path, solution in self.in_order().items() if solution.reason == "interrupted"]
        waiting = []
        if interrupted:
            waiting = [path for path in self.files if path not in self.solved and path not in self.errors]
        if unfinished or waiting:
            finished = len(self.solved) - len(unfinished)
            commands = [resume_command(self.files[path]) for path in unfinished if self.files[path] not in self.errors]
            if waiting:
                commands.append(command_line("solve", *map(str, waiting), *self.request.solving_arguments()))
            sentence = f"interrupted: {finished} of {len(self.files)} spots are finished; resume the others with"
            print_commands(sentence, *commands)
        code = print_errors(self.errors) if self.errors else 0
        if code or unfinished or waiting:
            raise typer.Exit(code or INTERRUPTED)


def _of_spot(spot: Spot, error: RegretlessError) -> RegretlessError:
    """The error, with the name of its spot."""
    if not spot.name or spot.name in str(error):
        return error
    with_name = RegretlessError(f"{spot.name}: {error.worded(Advice.as_option)}")
    with_name.exit_code = error.exit_code
    return with_name


def _print(solutions: dict[Path, SpotSolution], errors: dict[Path, RegretlessError], request: SolveRequest) -> None:
    if request.as_json:
        spots = [
            {"file": str(path), **solution.as_json(strategy=request.print_strategy)}
            for path, solution in solutions.items()
        ]
        failures = [{"file": str(path), "error": error.worded(Advice.as_option)} for path, error in errors.items()]
        print_json({"spots": spots, "errors": failures})
    elif request.print_strategy:
        from regretless.cli.views.spot_show import NodeSelection, print_spot

        for solution in solutions.values():
            print_spot(solution, NodeSelection(table=True))
    elif solutions:
        _print_table(solutions)


def _print_table(solutions: dict[Path, SpotSolution]) -> None:
    table = plain_table(["spot"], ["iterations", "% of pot", "EV oop", "EV ip", "equity oop", "first actions"])
    names = [solution.game for solution in solutions.values()]
    for path, solution in solutions.items():
        frequencies = zip(solution.root.actions, solution.root.frequencies, strict=True)
        table.add_row(
            printable(solution.game if names.count(solution.game) == 1 else str(path)),
            f"{solution.iterations:,}",
            f"{solution.exploitability_pct_pot:.3g}",
            f"{solution.ev['oop']:.2f}",
            f"{solution.ev['ip']:.2f}",
            f"{solution.equity['oop']:.1%}",
            ", ".join(f"{action} {frequency:.0%}" for action, frequency in frequencies),
        )
    for_answers().print(table)

"""`regretless solve` for spots: one file with a bar and a picture, or many that fill the cores."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from regretless.cli.consoles import for_answers, for_people
from regretless.cli.json_output import print_json
from regretless.errors import InvalidFile, InvalidOption
from regretless.printable import printable

if TYPE_CHECKING:
    from regretless.postflop.solution import SpotSolution
    from regretless.solvers.loop import Progress

__all__ = ["SpotRequest", "is_spot", "is_spot_file", "solve_spots"]


@dataclass(frozen=True, kw_only=True)
class SpotRequest:
    """What the command line asks of spots."""

    paths: tuple[str, ...]
    variant: str | None
    iterations: int | None
    target: float | None
    measure_every: int | None
    engine: str | None
    device: str | None
    threads: int | None
    storage: int | None
    as_json: bool
    strategy: bool
    out: Path | None
    resume: Path | None
    save_every: float
    keep_regrets: bool
    plot: Path | None

    @property
    def options(self) -> dict[str, Any]:
        """What was said, as options of `solve_spot`."""
        asked = {
            "iterations": self.iterations,
            "target": self.target,
            "measure_every": self.measure_every,
            "threads": self.threads,
        }
        return {name: value for name, value in asked.items() if value is not None}

    @property
    def machine(self) -> dict[str, Any]:
        """What a resume takes from the file."""
        asked = {"variant": self.variant, "engine": self.engine, "device": self.device}
        return {name: value for name, value in asked.items() if value is not None}


def is_spot(text: str) -> bool:
    """Whether an argument names a spot file rather than a game."""
    return text.endswith(".toml")


def is_spot_file(path: Path) -> bool:
    """Whether a `.rgl` file holds a spot, solved or interrupted."""
    from regretless.storage.mapped import file_kind

    try:
        return file_kind(path).startswith("spot-")
    except InvalidFile:  # what is wrong with it is said by whoever reads it whole
        return False


def solve_spots(request: SpotRequest) -> None:
    """Solve what was asked for, save it and print it."""
    paths = _expanded(request.paths)
    if request.plot is not None:
        from regretless.cli.figures import check_figure

        check_figure("plot", request.plot)
    if request.resume is None and len(paths) > 1:
        _solve_batch(request, paths)
        return
    keep_regrets = request.keep_regrets or (request.resume is not None and _is_finished(request.resume))
    solution, destination, problem = _solve_one(request, paths)
    stopped = solution.reason == "interrupted"
    if not stopped and destination is not None:
        problem = _problem_of_saving(solution, destination, keep_regrets)
    if request.as_json:
        print_json(solution.as_json(strategy=request.strategy))
    else:
        from regretless.cli.spot_show import Look, print_spot

        print_spot(solution, Look(table=request.strategy))
    if request.plot is not None:
        from regretless.cli.figures import save_figure
        from regretless.plots.convergence import convergence

        save_figure(convergence([solution]), request.plot)
    notes = for_people()
    for path in (destination if problem is None else None, request.plot):
        if path is not None:
            notes.print(f"saved {path}", style="dim", soft_wrap=True)
    if problem is not None:  # said last, after the answer, which would otherwise be lost
        raise problem
    if stopped:
        notes.print(f"interrupted after {solution.iterations:,} iterations; go on with")
        notes.print(f"  regretless solve --resume {shlex.quote(str(destination))}", style="cyan", soft_wrap=True)
        raise typer.Exit(130)


def _solve_one(request: SpotRequest, paths: list[Path]) -> tuple[SpotSolution, Path | None, InvalidFile | None]:
    """The solution, the file that it, or an interrupted solve, belongs in, and why the last checkpoint is not there."""
    from regretless.cli.progress import solve_bar
    from regretless.postflop.files import load_checkpoint
    from regretless.postflop.solve import TARGET, resume_spot, solve_spot
    from regretless.postflop.spot import Spot
    from regretless.solvers.interrupt import catch_interrupts
    from regretless.storage.atomic import check_writable

    destination = request.out or request.resume
    if destination is not None:
        check_writable(destination)
    if request.resume is not None:
        saved = load_checkpoint(request.resume)
        spot, storage = saved.spot, saved.storage
        if request.storage not in (None, storage):
            raise InvalidOption(
                "storage", request.storage, f"is not that of {request.resume}, which has {storage} bits"
            )
    else:
        spot, storage = Spot.read(paths[0]), request.storage or 32
    checkpoint = destination or _free_path(spot.name)
    every = request.save_every if destination is not None else float("inf")
    problem: InvalidFile | None = None

    def checkpointed(why: InvalidFile | None) -> None:
        nonlocal problem
        if why is not None and str(why) != str(problem) and not interrupted():
            for_people().print(f"{why}; the solve goes on", style="yellow", soft_wrap=True)
        problem = why

    options: dict[str, Any] = {
        **request.options,
        "checkpoint": checkpoint,
        "checkpoint_seconds": every,
        "checkpointed": checkpointed,
    }
    aim = request.target if request.target is not None or request.iterations is not None else TARGET
    _tell_of_compiling(storage)
    with catch_interrupts() as interrupted, solve_bar(spot.name or "spot", aim) as report:
        options |= {"report": _in_percent(report, spot.pot), "interrupted": interrupted}
        if request.resume is not None:
            solution = resume_spot(request.resume, **options)
        else:
            solution = solve_spot(spot, storage=storage, **request.machine, **options)
    if solution.reason == "interrupted":
        return solution, checkpoint, problem
    return solution, destination, None


def _problem_of_saving(solution: SpotSolution, path: Path, resumable: bool) -> InvalidFile | None:
    """Save a solution; if that fails, why."""
    try:
        solution.save(path, resumable=resumable)
    except InvalidFile as error:
        return error
    return None


def _solve_batch(request: SpotRequest, paths: list[Path]) -> None:
    from regretless.postflop.many import solve_many
    from regretless.postflop.spot import Spot
    from regretless.solvers.interrupt import catch_interrupts
    from regretless.storage.atomic import check_writable

    folder = request.out
    if folder is not None and not folder.is_dir():
        raise InvalidFile(folder, "is not a folder: several spots are saved in one")
    files = [] if folder is None else [folder / f"{path.stem}.rgl" for path in paths]
    for file in files:
        check_writable(file)
    spots = [Spot.read(path) for path in paths]
    problems: list[InvalidFile] = []
    _tell_of_compiling(request.storage or 32)

    def done(place: int, solution: SpotSolution) -> None:
        problem = _problem_of_saving(solution, files[place], request.keep_regrets) if files else None
        if problem is not None:
            problems.append(problem)
        for_people().print(
            f"{place + 1}/{len(paths)} {printable(solution.game)}: {solution.exploitability_pct_pot:.3g} % of the pot",
            style="dim",
            soft_wrap=True,
        )

    with catch_interrupts() as interrupted:
        solutions = solve_many(
            spots,
            storage=request.storage or 32,
            done=done,
            interrupted=interrupted,
            **request.machine,
            **request.options,
        )
    if request.as_json:
        print_json({"spots": [solution.as_json(strategy=request.strategy) for solution in solutions]})
    else:
        _print_batch(solutions)
    if problems:
        raise problems[0]
    if len(solutions) < len(spots) or any(solution.reason == "interrupted" for solution in solutions):
        raise typer.Exit(130)


def _print_batch(solutions: list[SpotSolution]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("spot", style="bold")
    for name in ("iterations", "% of pot", "EV oop", "EV ip", "equity oop", "first actions"):
        table.add_column(name, justify="right")
    for solution in solutions:
        first = zip(solution.root.actions, solution.root.frequencies, strict=True)
        table.add_row(
            printable(solution.game),
            f"{solution.iterations:,}",
            f"{solution.exploitability_pct_pot:.3g}",
            f"{solution.ev['oop']:.2f}",
            f"{solution.ev['ip']:.2f}",
            f"{solution.equity['oop']:.1%}",
            ", ".join(f"{action} {share:.0%}" for action, share in first),
        )
    for_answers().print(table)


def _is_finished(path: Path) -> bool:
    """Whether a file that is gone on from holds a finished solve with its regrets, which the new one keeps too."""
    from regretless.storage.mapped import file_kind

    return file_kind(path) == "spot-solution"


def _tell_of_compiling(storage: int) -> None:
    from regretless.engines.public_cache import kernels_are_compiled
    from regretless.postflop.estimate import STORAGES

    if storage in STORAGES and not kernels_are_compiled(storage):
        for_people().print("compiling kernels for this machine: once, about 20 seconds", style="dim")


def _expanded(given: tuple[str, ...]) -> list[Path]:
    """Patterns that the shell left alone; a name that exists is no pattern, whatever it holds."""
    paths: list[Path] = []
    for text in given:
        pattern = any(mark in text for mark in "*?[") and not Path(text).exists()
        found = sorted(glob(text)) if pattern else [text]
        if not found:
            raise InvalidFile(text, "matches no file")
        paths += map(Path, found)
    return paths


def _in_percent(report: Callable[[Progress], None], pot: float) -> Callable[[Progress], None]:
    def told(progress: Progress) -> None:
        chips = progress.exploitability
        report(replace(progress, exploitability=None if chips is None else 100 * chips / pot))

    return told


def _free_path(name: str) -> Path:
    """A name in the working directory that nothing has yet."""
    stem = name or "spot"
    path, number = Path(f"{stem}.rgl"), 1
    while path.exists():
        number += 1
        path = Path(f"{stem}-{number}.rgl")
    return path

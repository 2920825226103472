"""`regretless solve`: from the name of a game to its equilibrium."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regretless.cli.consoles import for_people
from regretless.cli.json_output import print_json
from regretless.errors import InvalidFile, InvalidOption

if TYPE_CHECKING:
    from regretless.solvers.solution import Solution

__all__ = ["file_stem", "solve"]

ITERATIONS = 1000
ITERATIONS_TO_TARGET = 1_000_000  # where a target is given and no number of iterations

SEARCH, MACHINE, OUTPUT = "How it searches", "What it runs on", "What comes out"


def solve(
    given: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="GAME|SPOT.toml",
            show_default=False,
            help="A game: [cyan]leduc[/cyan], [cyan]'leduc(ranks=6)'[/cyan], [cyan]'openspiel:liars_dice'[/cyan], "
            "[cyan]game.efg[/cyan] ([cyan]regretless games[/cyan] lists them); or hold'em spots: "
            "[cyan]spot.toml[/cyan], [cyan]'spots/*.toml'[/cyan]. Not needed with --resume.",
        ),
    ] = None,
    variant: Annotated[
        str | None,
        typer.Option(
            show_default="plus; for a spot, river or postflop",
            rich_help_panel=SEARCH,
            help="vanilla, plus, linear, discounted, predictive-plus, predictive-discounted-plus, river, postflop, "
            "or lp: the exact answer by linear program, for small games of two.",
        ),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(
            show_default="1000, or 1,000,000 with --target",
            rich_help_panel=SEARCH,
            help="Where to stop, counted from the very first iteration, also after --resume.",
        ),
    ] = None,
    target: Annotated[
        float | None,
        typer.Option(
            show_default=False,
            rich_help_panel=SEARCH,
            help="Stop sooner, when the exploitability is at most this: in the game's units, or for a spot in per cent "
            "of the pot (0.3 where nothing is said).",
        ),
    ] = None,
    updates: Annotated[
        str | None,
        typer.Option(
            show_default="alternating",
            rich_help_panel=SEARCH,
            help="alternating: players are updated in turn; simultaneous: all at once.",
        ),
    ] = None,
    sampling: Annotated[
        str | None,
        typer.Option(
            show_default="full",
            rich_help_panel=SEARCH,
            help="How much of the tree an iteration walks: full, chance, external or outcome.",
        ),
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(
            show_default="1, or 1,024 with torch",
            rich_help_panel=SEARCH,
            help="Deals drawn between two updates, with --sampling.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(show_default="0", rich_help_panel=SEARCH, help="Of everything that is drawn at random."),
    ] = None,
    measure_every: Annotated[
        int | None,
        typer.Option(
            show_default="a tenth of what is done",
            rich_help_panel=SEARCH,
            help="Iterations between two measurements of exploitability.",
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            show_default="auto",
            rich_help_panel=MACHINE,
            help="auto, numba, numpy, torch, cupy, matrix, or reference: the readable recursion.",
        ),
    ] = None,
    device: Annotated[
        str | None, typer.Option(show_default="auto", rich_help_panel=MACHINE, help="auto, cpu, cuda or mps.")
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(show_default="what suits the engine", rich_help_panel=MACHINE, help="Threads of the CPU."),
    ] = None,
    storage: Annotated[
        int | None,
        typer.Option(show_default="32", rich_help_panel=MACHINE, help="Bits of a stored number of a spot: 32 or 16."),
    ] = None,
    json_: Annotated[
        bool, typer.Option("--json", rich_help_panel=OUTPUT, help="One JSON object on stdout, and nothing else.")
    ] = False,
    strategy: Annotated[
        bool, typer.Option("--strategy", rich_help_panel=OUTPUT, help="Every information set, not only the first ones.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            show_default=False,
            rich_help_panel=OUTPUT,
            help="Save the solution as this .rgl file; an interrupted solve is saved even without it.",
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            show_default=False,
            rich_help_panel=OUTPUT,
            help="Go on from this .rgl file with its settings, and save to it unless --out says otherwise.",
        ),
    ] = None,
    save_every: Annotated[
        float,
        typer.Option(
            rich_help_panel=OUTPUT,
            help="Seconds between two checkpoints of a spot that is saved with --out or --resume.",
        ),
    ] = 180.0,
    keep_regrets: Annotated[
        bool,
        typer.Option(
            "--keep-regrets",
            rich_help_panel=OUTPUT,
            help="Save a spot with its regrets, so that a finished solve can go on; the file is much larger.",
        ),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            show_default=False,
            rich_help_panel=OUTPUT,
            help="Draw how exploitability fell: a .png, .svg, .pdf or .jpg file.",
        ),
    ] = None,
) -> None:
    """Solve a game or a hold'em spot: values, exploitability and the strategy of every information set.

    \b
    [cyan]regretless solve leduc[/cyan]
    [cyan]regretless solve leduc --variant discounted --iterations 10000 --out leduc.rgl[/cyan]
    [cyan]regretless solve 'leduc(ranks=6)' --target 0.001[/cyan]
    [cyan]regretless solve kuhn --variant lp --json --strategy[/cyan]
    [cyan]regretless solve --resume leduc.rgl --iterations 20000[/cyan]
    [cyan]regretless solve spot.toml --target 0.3 --out spot.rgl[/cyan]   % of the pot
    [cyan]regretless solve 'spots/*.toml' --out folder[/cyan]   many spots, filling the cores

    Ctrl-C stops between two iterations, saves what was solved and prints the command that goes on.
    """
    from regretless.cli.spot_solve import SpotRequest, is_spot, is_spot_file, solve_spots

    names = tuple(given or ())
    if any(map(is_spot, names)) or (not names and resume is not None and is_spot_file(resume)):
        solve_spots(
            SpotRequest(
                paths=names,
                variant=variant,
                iterations=iterations,
                target=target,
                measure_every=measure_every,
                engine=engine,
                device=device,
                threads=threads,
                storage=storage,
                as_json=json_,
                strategy=strategy,
                out=out,
                resume=resume,
                save_every=save_every,
                keep_regrets=keep_regrets,
                plot=plot,
            )
        )
        return
    if len(names) > 1:
        raise typer.BadParameter(f"one game at a time, not {', '.join(names)}", param_hint="GAME")
    game = names[0] if names else None
    name, options = _request(
        game,
        None if resume is None else _load_unfinished(resume),
        variant=variant,
        iterations=iterations,
        target=target,
        updates=updates,
        sampling=sampling,
        batch_size=batch_size,
        seed=seed,
        measure_every=measure_every,
        engine=engine,
        device=device,
        threads=threads,
    )
    destination = out or resume
    if destination is not None:
        from regretless.storage.atomic import check_writable

        check_writable(destination)
    if plot is not None:
        from regretless.cli.figures import check_figure

        check_figure("plot", plot)
    solution = _solve_with_progress(name, options)
    stopped = solution.reason == "interrupted"
    if stopped and destination is None:
        destination = _free_path(solution.game)
    problem: InvalidFile | None = None
    if destination is not None:
        from regretless.storage.solutions import save_solution

        try:
            save_solution(destination, solution)
        except InvalidFile as error:
            problem = error
    if plot is not None:
        from regretless.cli.figures import save_figure
        from regretless.plots.convergence import convergence

        save_figure(convergence([solution]), plot)
    saved = destination if problem is None else None
    _print(solution, as_json=json_, strategy=strategy, file=saved)
    notes = for_people()
    for path in (saved, plot):
        if path is not None:
            notes.print(f"saved {path}", style="dim", soft_wrap=True)
    if problem is not None:  # said last, after the answer, which would otherwise be lost
        raise problem
    if stopped:
        notes.print(
            f"interrupted after {solution.iterations:,} of {solution.settings.iterations:,} iterations; go on with"
        )
        notes.print(f"  regretless solve --resume {_quoted(destination)}", style="cyan", soft_wrap=True)
        raise typer.Exit(130)


def _load_unfinished(path: Path) -> Solution:
    from regretless.storage.solutions import load_solution

    earlier = load_solution(path)
    if earlier.snapshot is None:
        raise InvalidFile(path, f"was solved by {earlier.variant}: there is nothing to resume")
    return earlier


def _request(game: str | None, earlier: Solution | None, **given: Any) -> tuple[str, dict[str, Any]]:
    """What to solve and how: as the command line says, else as the earlier solve did, else by default."""
    if earlier is None:
        if game is None:
            raise typer.BadParameter("give a game, such as leduc, or --resume and a file", param_hint="GAME")
        options = {name: value for name, value in given.items() if value is not None}
        if "iterations" not in options:
            options["iterations"] = ITERATIONS if "target" not in options else ITERATIONS_TO_TARGET
        return game, options
    settings = earlier.settings
    before = {
        "variant": earlier.variant,
        "engine": earlier.engine,
        "device": earlier.device,
        "threads": earlier.threads,
        "updates": settings.updates,
        "sampling": settings.sampling,
        "batch_size": settings.batch_size,
        "seed": settings.seed,
        "iterations": settings.iterations,
        "target": settings.target,
        "measure_every": settings.measure_every,
    }
    if given["engine"] is not None:
        before |= {"device": "auto", "threads": None}
    options = {**before, **{name: value for name, value in given.items() if value is not None}}
    if options["iterations"] <= earlier.iterations:
        reason = f"is already reached: {earlier.iterations:,} iterations are done, ask for more"
        raise InvalidOption("iterations", options["iterations"], reason)
    return game or earlier.game, {**options, "resume": earlier}


def _solve_with_progress(name: str, options: dict[str, Any]) -> Solution:
    from regretless.cli.progress import solve_bar
    from regretless.solvers.interrupt import catch_interrupts
    from regretless.solvers.solve import solve as solve_game

    try:
        with catch_interrupts() as interrupted, solve_bar(name, options.get("target")) as report:
            return solve_game(name, report=report, interrupted=interrupted, **options)
    except KeyboardInterrupt:  # before the first iteration, or twice
        for_people().print("interrupted: nothing was saved")
        raise typer.Exit(130) from None


def _print(solution: Solution, *, as_json: bool, strategy: bool, file: Path | None) -> None:
    if as_json:
        print_json(solution.as_json(strategy=strategy))
        return
    from regretless.cli.summary import print_solution

    print_solution(solution, whole=strategy, file=None if file is None else _quoted(file))


def file_stem(game: str) -> str:
    """A game's name as the name of a file.

    >>> file_stem("leduc(ranks=6)")
    'leduc-ranks-6'
    """
    return re.sub(r"[^A-Za-z0-9_.]+", "-", game).strip("-.")[:60] or "solution"


def _free_path(game: str) -> Path:
    """A name in the working directory that nothing has yet: leduc.rgl, leduc-2.rgl."""
    path, number = Path(f"{file_stem(game)}.rgl"), 1
    while path.exists():
        number += 1
        path = Path(f"{file_stem(game)}-{number}.rgl")
    return path


def _quoted(path: Path | None) -> str:
    import shlex

    return shlex.quote(str(path))

"""`regretless plot`: how fast exploitability falls, for several solves in one plot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regretless.cli.arguments import options
from regretless.cli.arguments.figures import check_figure, save_figure
from regretless.cli.arguments.options import SEARCH, argument, flag, option
from regretless.cli.arguments.outputs import file_stem
from regretless.cli.arguments.values import read_variants
from regretless.cli.terminal.consoles import for_people, note
from regretless.cli.terminal.interrupts import INTERRUPTED, SimplePlan, interruptible
from regretless.errors import InvalidFile, InvalidOption

if TYPE_CHECKING:
    from regretless.holdem.reading.line_reader import NodeStrategy
    from regretless.solving.options import SolveOptions
    from regretless.solving.solution import Solution

__all__ = ["plot"]


def plot(
    context: typer.Context,
    games: Annotated[list[str], argument("Games to solve, or saved games or spots to plot.", "GAME|FILE.rgl…")],
    variants: Annotated[
        str, option("Variants to plot, separated by commas.", SEARCH, default=True)
    ] = "vanilla,plus,linear,discounted",
    iterations: Annotated[int, option("Iterations of each solve.", SEARCH, default=True)] = 1000,
    updates: options.Updates = None,
    sampling: options.Sampling = None,
    seed: Annotated[int | None, options.seed("--sampling")] = None,
    measure_every: Annotated[int | None, options.measure_every("a tenth of those done")] = None,
    engine: options.Engine = None,
    device: options.Device = None,
    charts: Annotated[
        bool, flag("--charts", "Draw the 13 × 13 charts of one saved game of hold'em from the deal instead.")
    ] = False,
    line: Annotated[
        list[str] | None,
        option(
            "With --charts: a decision to draw, such as [cyan]'raise 5, raise 15'[/cyan]; may be repeated.",
            default="the first decision and the replies to it",
            metavar="LINE",
        ),
    ] = None,
    title: Annotated[str | None, option("Title of the plot.", default="describes the curves")] = None,
    out: Annotated[
        Path | None, option("Write the plot to this .png, .svg, .pdf or .jpg file.", default="GAME.png")
    ] = None,
) -> None:
    """Plot exploitability against iterations and seconds, on logarithmic axes.

    \b
    [cyan]regretless plot leduc[/cyan]
    [cyan]regretless plot leduc --variants vanilla,plus,discounted --iterations 10000 --out leduc.png[/cyan]
    [cyan]regretless plot kuhn leduc --variants plus[/cyan]
    [cyan]regretless plot monday.rgl tuesday.rgl --out both.svg[/cyan]   saved games, or saved spots
    [cyan]regretless plot push.rgl --charts[/cyan]   the hands that are pushed, and that call
    [cyan]regretless plot game.rgl --charts --line '' --line 'raise 5' --line 'raise 5, raise 15'[/cyan]
    """
    from regretless.api import load
    from regretless.files.state import check_state
    from regretless.plots.convergence import convergence
    from regretless.solving.options import RULES, SolveOptions

    path = out or Path(f"{file_stem(Path(games[0]).name.removesuffix('.rgl'))}.png")
    if out is None:
        check_state(path, path.parent)
    check_figure("out", path)
    if charts:
        _draw_charts(context, games, line, title, path)
        return
    if line:
        raise InvalidOption("line", line[0], "is only for --charts: give that too")
    variant_names = read_variants(variants)
    for game in games:
        if game.endswith(".toml"):
            raise InvalidOption("GAME", game, "is an unsolved spot: use regretless solve --plot, or solve it first")
    saved = [load(game) for game in games if game.endswith(".rgl")]
    for solution in saved:
        if not solution.history and solution.reason != "exact":
            reason = "its exploitability was not measured, so there is no curve to draw: --charts draws what is played"
            raise InvalidFile(solution.where, reason)
    spots = sum(hasattr(each, "spot") for each in saved)
    if 0 < spots < len(games):  # refused before the games are solved
        raise InvalidOption("GAME", ", ".join(games), "mixes games and spots, which are measured in different units")
    if len(saved) == len(games):
        _refuse_solving(context, "saved solutions, which are only drawn")
    jobs = [(game, variant) for game in games if not game.endswith(".rgl") for variant in variant_names]
    solve_options = SolveOptions.read({name: value for name, value in context.params.items() if name in RULES})
    plan = SimplePlan(
        "stopping after this iteration, then plotting what was solved", "stopped at once: nothing was drawn"
    )
    with interruptible(plan) as interrupted:
        solved = _solve_all(jobs, solve_options, interrupted)
        stopped = interrupted()
    files = [Path(game).stem for game in games] if len(saved) == len(games) > 1 else None
    save_figure(convergence([*saved, *solved], labels=files, title=title), path)
    note(f"drew {path}")
    if stopped:
        for_people().print("interrupted: the plot shows what was solved so far")
        raise typer.Exit(INTERRUPTED)


def _refuse_solving(context: typer.Context, kind: str) -> None:
    """Refuse, by name, options for solving where nothing is solved."""
    from regretless.solving.options import RULES

    for name, value in context.params.items():
        source = context.get_parameter_source(name)
        if name in {*RULES, "variants"} and source is not None and source.name != "DEFAULT":
            raise InvalidOption(name.replace("_", "-"), value, f"does not apply to {kind}")


def _draw_charts(
    context: typer.Context, games: Sequence[str], lines: Sequence[str] | None, title: str | None, path: Path
) -> None:
    from regretless.api import load
    from regretless.holdem.games.big_blinds import BigBlindSolution
    from regretless.plots.charts import Chart
    from regretless.plots.charts import charts as draw

    _refuse_solving(context, "--charts, which draws what is saved")
    solution = load(games[0]) if len(games) == 1 and games[0].endswith(".rgl") else None
    if not isinstance(solution, BigBlindSolution):
        raise InvalidOption("charts", ", ".join(games), "is not one saved game of hold'em from the deal")
    if lines:
        nodes = [solution.node(line) for line in lines]
    else:  # the first decision and the replies to it
        nodes = list(takewhile(lambda node: "," not in node.line, solution.charts()))
    drawn = [
        Chart(_chart_title(node), node.actions, node.grid(), node.frequencies, node.class_weights()) for node in nodes
    ]
    save_figure(draw(drawn, title=title or solution.game), path)
    note(f"drew {path}")


def _chart_title(node: NodeStrategy) -> str:
    return f"{node.player}, after {node.line}" if node.line else f"{node.player}, the first decision"


def _solve_all(
    jobs: Sequence[tuple[str, str]], options: SolveOptions, interrupted: Callable[[], bool]
) -> list[Solution]:
    """Solve each game with its variant, until interrupted."""
    from regretless.cli.terminal.progress import solve_bar
    from regretless.solving.game_problem import GameProblem
    from regretless.solving.options import EXACT, SolveOptions
    from regretless.solving.solve import solve_problem

    def with_variant(variant: str) -> SolveOptions:
        if variant == EXACT:  # a linear program takes no other option
            return SolveOptions(variant=EXACT)
        return SolveOptions.read({**dict(options.given()), "variant": variant})  # "mccfr" also sets the sampling

    for game, variant in jobs:
        if variant != EXACT:  # load compiled code first, so that no curve includes it
            solve_problem(GameProblem(game), replace(with_variant(variant), iterations=1))
            break
    solved: list[Solution] = []
    for game, variant in jobs:
        with solve_bar(f"{game} {variant}", None) as report:
            solve_options = replace(with_variant(variant), report=report, interrupted=interrupted)
            solved.append(solve_problem(GameProblem(game), solve_options))
        if interrupted():
            break
    return solved

"""Exploitability against iterations, or boards drawn, and against seconds, on logarithmic axes.

The two panels answer two questions. The left one compares variants (what does an iteration buy?), the right one
compares solvers (what does a second buy?). A straight line is a power law; its slope is the rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from regretless.errors import InvalidOption
from regretless.plots._style import INK, PALETTE, new_figure, plot_text, quiet_axes, set_heading
from regretless.solving.solution import Solution
from regretless.spelling import listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

__all__ = ["convergence"]


def convergence(
    solutions: Sequence[Solution], *, labels: Sequence[str] | None = None, title: str | None = None
) -> Figure:
    """Convergence of one or more solves in one figure.

    Lines are labelled by what distinguishes the solves: variant, game, engine, buckets, sampling or seed.
    """
    if not solutions:
        raise InvalidOption("solutions", list(solutions), "must contain at least one solution")
    names = list(labels) if labels is not None else _names(solutions)
    if len(names) != len(solutions):
        raise InvalidOption("labels", names, f"must have one label for each of the {len(solutions)} solutions")
    units = list(dict.fromkeys(solution.unit for solution in solutions))
    if len(units) > 1:
        raise InvalidOption("solutions", " and ".join(units), "cannot share a plot: plot games and spots separately")
    if not any(solution.history for solution in solutions):
        where = ", ".join(solution.where for solution in solutions)
        raise InvalidOption("solutions", where, "cannot be plotted: exploitability was not measured")
    boards = [solution.settings.sample_runouts for solution in solutions]  # drawn per iteration, if any are
    count_unit = "iterations" if None in boards else "boards drawn"
    figure, panels = new_figure(9.6, 4.2, columns=2, sharey=True)
    games = list(dict.fromkeys(solution.game for solution in solutions))
    heading = title if title is not None else _heading(solutions, games)
    set_heading(figure, heading)
    for axes, unit in zip(panels, (count_unit, "seconds of solving"), strict=True):
        quiet_axes(axes)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(unit, color=INK)
        for number, solution in enumerate(solutions):
            per_iteration = 1 if None in boards else boards[number] or 1
            color = PALETTE[number % len(PALETTE)]
            _draw(axes, solution, color, by_seconds=unit != count_unit, boards=per_iteration)
    panels[0].set_ylabel(f"exploitability, {units[0]}\n(NashConv / players)", color=INK)
    if len(solutions) > 1 or labels is not None:
        ends = [solution.curve[-1].exploitability if solution.curve else 0.0 for solution in solutions]
        _name_lines(figure, panels[0].lines, names, ends)
    return figure


def _draw(axes: Axes, solution: Solution, color: str, *, by_seconds: bool, boards: int) -> None:
    """The curve of a solve with so many boards per iteration."""
    points = [
        (point.seconds if by_seconds else boards * point.iteration, point.exploitability)
        for point in solution.curve
        if point.exploitability > 0 and (by_seconds or point.iteration > 0)
    ]
    across, up = zip(*points, strict=True) if points else ((), ())
    marker = "o" if len(points) < 3 else None
    axes.plot(across, up, color=color, linewidth=1.8, marker=marker, markersize=5, solid_capstyle="round")


def _name_lines(figure: Figure, lines: Sequence[Line2D], names: Sequence[str], ends: Sequence[float]) -> None:
    """A legend beside the plot, in the colours of the lines and in the order of their last values."""
    order = sorted(range(len(names)), key=lambda number: -ends[number])
    legend = figure.legend(
        [lines[number] for number in order],
        [plot_text(names[number], 40) for number in order],
        loc="outside right center",
        frameon=False,
        fontsize=9.5,
        handlelength=1.4,
        labelspacing=0.9,
    )
    for text, number in zip(legend.get_texts(), order, strict=True):
        text.set_color(lines[number].get_color())


def _names(solutions: Sequence[Solution]) -> list[str]:
    """The shortest labels that distinguish the solves."""
    parts = [
        [solution.variant for solution in solutions],
        [solution.game for solution in solutions],
        [solution.engine for solution in solutions],
        [solution.settings.buckets or "no buckets" for solution in solutions],
        [solution.settings.sampling for solution in solutions],
        [
            f"{count} runouts" if (count := solution.settings.sample_runouts) else "all runouts"
            for solution in solutions
        ],
        [f"seed {solution.settings.seed}" for solution in solutions],
    ]
    distinguishing = [part for part in parts if len(set(part)) > 1] or parts[:1]
    return [" · ".join(words) for words in zip(*distinguishing, strict=True)]


def _heading(solutions: Sequence[Solution], games: Sequence[str]) -> str:
    variant = f" by {solutions[0].variant}" if len(solutions) == 1 else ""
    return f"Exploitability of {listed(games)}{variant}"

"""Bars: a strategy in chosen information sets, one group per set; and groups divided into shares that sum to 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from regretless.errors import InvalidOption
from regretless.forms.history import Strategy
from regretless.plots._style import INK, MUTED, PALETTE, new_figure, plot_text, quiet_axes, set_heading

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["stacked_bars", "strategy_bars"]

MAX_GROUPS = 400  # a taller figure is no longer readable
MAX_LABELLED_BARS = 26  # the labels of more would overlap
GROUP_WIDTH = 0.8  # of the distance between groups
BAR_SHARE = 0.92  # of a bar's place that it fills


def strategy_bars(
    strategy: Strategy,
    information_sets: Sequence[str] | None = None,
    *,
    value: float | None = None,
    theoretical: float | None = None,
    names: Mapping[str, str] | None = None,
    title: str = "Average strategy",
) -> Figure:
    """Bars for the chosen information sets (by default, all).

    `value` and `theoretical` are the measured and the known value of the game to player 0, shown under the title;
    `names` maps information sets and actions to longer names.

    >>> from regretless import solve
    >>> strategy = solve("kuhn", iterations=500).strategy
    >>> figure = strategy_bars(strategy, ["0:", "1:", "2:"], value=-0.0553, theoretical=-1 / 18)
    >>> [text.get_text() for text in figure.axes[0].get_xticklabels()]
    ['0:', '1:', '2:']
    """
    keys = list(strategy) if information_sets is None else list(information_sets)
    if not 1 <= len(keys) <= MAX_GROUPS:
        raise InvalidOption("information_sets", len(keys), f"must be from 1 to {MAX_GROUPS}")
    for key in keys:
        if key not in strategy:
            allowed = ", ".join([*islice(strategy, 12), *(["…"] if len(strategy) > 12 else [])])
            raise InvalidOption("information_sets", key, f"is not one of {allowed}")
    long_names = dict(names or {})
    figure, (axes,) = new_figure(max(5.6, 1.6 + 0.85 * len(keys)), 4.0)
    quiet_axes(axes)
    axes.grid(False, axis="x")
    actions = _draw_groups(axes, [strategy[key] for key in keys], long_names)
    axes.set_xticks(range(len(keys)), [plot_text(long_names.get(key, key), 30) for key in keys])
    axes.set_ylim(0, 1.12)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_ylabel("probability", color=INK)
    axes.set_xlabel("information set", color=INK)
    figure.legend(frameon=False, loc="upper right", ncols=min(actions, 4), fontsize=9.5, handlelength=1.2)
    axes.set_title(_heading(value, theoretical), loc="left", fontsize=9.5, color=MUTED)
    set_heading(figure, title)
    return figure


def _draw_groups(axes: Axes, groups: Sequence[Mapping[str, float]], long_names: Mapping[str, str]) -> int:
    """Draw a group of bars for each information set, a bar for each action; returns the number of actions."""
    actions = list(dict.fromkeys(action for probabilities in groups for action in probabilities))
    width = GROUP_WIDTH / len(actions)
    for number, action in enumerate(actions):
        shift = (number - (len(actions) - 1) / 2) * width
        positions = [position for position, probabilities in enumerate(groups) if action in probabilities]
        heights = [groups[position][action] for position in positions]
        bars = axes.bar(
            [position + shift for position in positions],
            heights,
            width=width * BAR_SHARE,
            color=PALETTE[number % len(PALETTE)],
            label=plot_text(long_names.get(action, action), 24),
        )
        if len(groups) * len(actions) <= MAX_LABELLED_BARS:
            axes.bar_label(bars, [f"{height:.2f}" for height in heights], fontsize=8, color=INK, padding=2)
    return len(actions)


def _heading(value: float | None, theoretical: float | None) -> str:
    measured = "" if value is None else f"value to player 0: {_signed_text(value)} measured"
    exact = "" if theoretical is None else f"{_signed_text(theoretical)} in theory"
    return ", ".join(part for part in (measured, exact) if part)


def _signed_text(number: float) -> str:
    return f"{number:+.5f}".replace("-", "−")


def stacked_bars(groups: Sequence[str], shares: Mapping[str, Sequence[float]], *, title: str) -> Figure:
    """Horizontal bars, one per group; `shares` has a list for each part of a bar, with a share for each group.

    >>> figure = stacked_bars(["paired", "trips"], {"check": [0.6, 0.9], "bet": [0.4, 0.1]}, title="Bets")
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['paired', 'trips']
    """
    if not groups or len(groups) > MAX_GROUPS:
        raise InvalidOption("groups", len(groups), f"must be from 1 to {MAX_GROUPS}")
    figure, (axes,) = new_figure(7.6, 1.4 + 0.27 * len(groups))
    quiet_axes(axes)
    axes.grid(False, axis="y")
    ends = [0.0] * len(groups)
    for number, (name, values) in enumerate(shares.items()):
        rows = range(len(groups))
        axes.barh(rows, values, left=ends, height=0.78, color=PALETTE[number % len(PALETTE)], label=plot_text(name, 24))
        ends = [start + value for start, value in zip(ends, values, strict=True)]
    axes.set_yticks(range(len(groups)), [plot_text(group, 30) for group in groups])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    figure.legend(frameon=False, loc="outside lower center", ncols=min(len(shares), 5), fontsize=9.5, handlelength=1.2)
    set_heading(figure, title)
    return figure

"""Bars: a strategy in chosen information sets, one group per set; and groups divided into shares that sum to 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from regretless.errors import InvalidOption
from regretless.forms.history import Strategy
from regretless.plots._style import INK, MUTED, PALETTE, new_figure, quiet_axes, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["stacked_bars", "strategy_bars"]

MAX_GROUPS = 400  # a taller figure is no longer readable


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
    chosen = list(strategy) if information_sets is None else list(information_sets)
    if not 1 <= len(chosen) <= MAX_GROUPS:
        raise InvalidOption("information_sets", len(chosen), f"must be from 1 to {MAX_GROUPS}")
    for key in chosen:
        if key not in strategy:
            allowed = ", ".join([*islice(strategy, 12), *(["…"] if len(strategy) > 12 else [])])
            raise InvalidOption("information_sets", key, f"is not one of {allowed}")
    actions = list(dict.fromkeys(action for key in chosen for action in strategy[key]))
    named = dict(names or {})
    figure, (axes,) = new_figure(max(5.6, 1.6 + 0.85 * len(chosen)), 4.0)
    quiet_axes(axes)
    axes.grid(False, axis="x")
    width = 0.8 / len(actions)
    for number, action in enumerate(actions):
        shift = (number - (len(actions) - 1) / 2) * width
        groups = [group for group, key in enumerate(chosen) if action in strategy[key]]
        heights = [strategy[chosen[group]][action] for group in groups]
        bars = axes.bar(
            [group + shift for group in groups],
            heights,
            width=width * 0.92,
            color=PALETTE[number % len(PALETTE)],
            label=shown(named.get(action, action), 24),
        )
        if len(chosen) * len(actions) <= 26:
            axes.bar_label(bars, [f"{height:.2f}" for height in heights], fontsize=8, color=INK, padding=2)
    axes.set_xticks(range(len(chosen)), [shown(named.get(key, key), 30) for key in chosen])
    axes.set_ylim(0, 1.12)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_ylabel("probability", color=INK)
    axes.set_xlabel("information set", color=INK)
    figure.legend(frameon=False, loc="upper right", ncols=min(len(actions), 4), fontsize=9.5, handlelength=1.2)
    axes.set_title(_heading(value, theoretical), loc="left", fontsize=9.5, color=MUTED)
    figure.suptitle(shown(title, 90), fontsize=13, color=INK, x=0.01, ha="left", fontweight="bold")
    return figure


def _heading(value: float | None, theoretical: float | None) -> str:
    measured = "" if value is None else f"value to player 0: {_signed(value)} measured"
    exact = "" if theoretical is None else f"{_signed(theoretical)} in theory"
    return ", ".join(part for part in (measured, exact) if part)


def _signed(number: float) -> str:
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
        axes.barh(rows, values, left=ends, height=0.78, color=PALETTE[number % len(PALETTE)], label=shown(name, 24))
        ends = [start + value for start, value in zip(ends, values, strict=True)]
    axes.set_yticks(range(len(groups)), [shown(group, 30) for group in groups])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    figure.legend(frameon=False, loc="outside lower center", ncols=min(len(shares), 5), fontsize=9.5, handlelength=1.2)
    figure.suptitle(shown(title, 90), fontsize=13, color=INK, x=0.01, ha="left", fontweight="bold")
    return figure

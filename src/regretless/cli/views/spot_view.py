"""A node of a solved spot in the terminal: board, both players' EV and equity, actions, and the grid of hands.

In colour, a strategy cell of the 13 × 13 grid is split among the colours of its actions, dimmer where few of its hands
are left; other grids show numbers on a colour scale. Without colour, a strategy is written in letters, five for 100 %.
A wide terminal has room for a number, or the letters, beside each name; a narrow one shows them below.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from textwrap import wrap
from types import MappingProxyType

import numpy as np
from rich.text import Text

from regretless.cards.deck import card_text
from regretless.cards.hands import CLASS_NAMES
from regretless.cards.ranges import Range
from regretless.cli.terminal.numbers import chips_text, plain_zero
from regretless.cli.views.labels import ROLES, PlayerNames, view_actions
from regretless.colors import SUIT_COLORS, blend, on_scale, spot_action_colors
from regretless.errors import InvalidText
from regretless.holdem.reading.grids import Grid, GridKind, make_grid
from regretless.holdem.reading.nodes import NodeView
from regretless.holdem.spots.spot_fields import PlayerName

__all__ = [
    "NARROW", "ORDER", "WIDE", "action_letters", "action_lines", "board_line", "cards_text", "check_any_hand",
    "grid_legend", "grid_lines", "node_grid", "node_lines", "weight_text", "wrap_legend",
]  # fmt: skip

EMPTY, DARK, DIM, FULL = "#3a3f46", "#14181c", "#6b727a", "#f2b134"
SCALE = ("#d94343", "#f2b134", "#4caf6d")  # low to high
CELL, WIDE_CELL = 6, 9  # columns of a cell
NARROW, WIDE = 13 * CELL, 13 * WIDE_CELL  # columns of a grid
ORDER: tuple[PlayerName, ...] = ("oop", "ip")  # of the players, as they act
MARK = "*"  # after the name of a class with a locked hand

ACTION_LEGEND = "share of the range, combos, and EV in chips of the hands that take the action"
GAP = 2  # columns between two grids side by side
ROUNDED_TO_ONE = 0.9995  # from which on an equity is shown as 100, which leaves no room for a decimal
NO_TEXTS: Mapping[str, str] = MappingProxyType({})


def action_letters(actions: Sequence[str]) -> dict[str, str]:
    """A character for each action of a node, for output without colour: digits for sizes if there are several.

    >>> action_letters(["check", "bet 50"]), action_letters(["fold", "call", "raise 90", "raise 200", "all-in 900"])
    ({'check': 'x', 'bet 50': 'b'}, {'fold': 'f', 'call': 'c', 'raise 90': '1', 'raise 200': '2', 'all-in 900': 'a'})
    """
    sizes = [action for action in actions if action.split()[0] in ("bet", "raise")]
    letters = {}
    for action in actions:
        verb = action.split()[0]
        if action in sizes and len(sizes) > 1:
            number = sizes.index(action) + 1
            letters[action] = str(number) if number < 10 else chr(ord("A") + number - 10)
        else:
            letters[action] = "x" if verb == "check" else verb[0]
    return letters


def grid_lines(grid: Grid, beside: Sequence[float] | None = None, *, color: bool, wide: bool) -> list[Text]:
    """The grid as lines; `beside` are numbers shown with a coloured strategy's names, below them if not `wide`."""
    lines: list[Text] = []
    for row in range(13):
        cells = range(13 * row, 13 * row + 13)
        if wide:
            lines.append(_join(_wide_cell(grid, cell, beside, color) for cell in cells))
        elif color and grid.kind == "strategy":
            lines.append(_join(_strategy_cell(grid, cell, f" {_name(grid, cell):<{CELL - 1}}") for cell in cells))
            if beside is not None:
                below = (f" {_beside_text(grid, cell, beside, CELL - 1):<{CELL - 1}}" for cell in cells)
                lines.append(_join(_strategy_cell(grid, cell, text) for cell, text in zip(cells, below, strict=True)))
        else:
            names = [f"{_name(grid, cell):<{CELL}}" for cell in cells]
            values = [f"{_value_text(grid, cell, 5):<{CELL}}" for cell in cells]
            for texts in (names, values):
                parts = zip(cells, texts, strict=True)
                lines.append(_join(_colored_cell(grid, cell, text, color) for cell, text in parts))
    if not color:
        for line in lines:
            line.rstrip()
    return lines


def grid_legend(
    grid: Grid, *, color: bool, wide: bool, beside: bool = False, player: str = "", texts: Mapping[str, str] = NO_TEXTS
) -> str:
    """What the grid shows, in a sentence or two; `player` and `texts` are what the player and actions are called.

    It need not say that suited hands are above the diagonal and offsuit hands below: every player knows.
    """
    player = player or grid.player
    what = {
        "ev": "EV in chips, from this node on",
        "equity": "equity in % of the pot",
        "eqr": "EQR: EV / (equity × pot)",
        "weight": "range: % of each class's combos that is here",
    }
    if grid.kind != "strategy":
        legend = f"{player}: {what[grid.kind]}"
    elif color:
        legend = f"{player}: strategy by colour, dimmer where fewer are left"
        legend += "; numbers: EV in chips" if beside else ""
    else:
        letters = action_letters(grid.actions)
        share = "25" if wide else "20"
        legend = f"{player}: strategy, each letter {share} %: " + ", ".join(
            f"{letter} {texts.get(action, action)}" for action, letter in letters.items()
        )
    if grid.locked.any():
        legend += f"; {MARK} locked"
    if not color and np.isnan(grid.values).any():
        legend += "; · not in the range"
    return legend


def _join(cells: Iterable[Text]) -> Text:
    line = Text()
    for cell in cells:
        line.append_text(cell)
    return line


def _name(grid: Grid, cell: int) -> str:
    return CLASS_NAMES[cell] + (MARK if grid.locked[cell] else "")


def _has_hands(grid: Grid, cell: int) -> bool:
    """Whether a class has a hand in the range."""
    return not bool(np.isnan(grid.values[cell]).any())


def _value_text(grid: Grid, cell: int, columns: int) -> str:
    """The text of a cell: letters of a strategy, or a number."""
    if not _has_hands(grid, cell):
        return "·"
    if grid.kind == "strategy":
        return _letters(grid.values[cell], list(action_letters(grid.actions).values()), columns)
    value = float(grid.values[cell])
    if grid.kind == "weight" or (grid.kind == "equity" and value >= ROUNDED_TO_ONE):
        return f"{100 * value:.0f}"
    if grid.kind == "equity":
        return f"{100 * value:.1f}"
    return fit_number(value, columns)


def _letters(shares: Sequence[float], letters: Sequence[str], columns: int) -> str:
    """A bar of letters, divided among the actions."""
    text, total = "", 0.0
    for share, letter in zip(shares, letters, strict=True):
        total += share
        text += letter * (round(total * columns) - len(text))
    return text


def fit_number(value: float, columns: int) -> str:
    """A number with as many decimals as fit, at most two.

    >>> fit_number(24.126, 5), fit_number(-3.25, 4), fit_number(1234.5, 5), fit_number(123456, 5), fit_number(-0.001, 5)
    ('24.13', '-3.2', '1234', '123k', '0.00')
    """
    for decimals in (2, 1, 0):
        text = plain_zero(f"{value:.{decimals}f}")
        if len(text) <= columns:
            return text
    power = int(math.log10(abs(value))) // 3
    return f"{value / 1000**power:.0f}" + " kMGT"[min(power, 4)]


def weight_text(weight: float) -> str:
    """A weight, or a sum of weights; a small one is not rounded to 0.

    >>> weight_text(0.5), weight_text(12.345), weight_text(0.00042), weight_text(0)
    ('0.50', '12.35', '4.2e-04', '0.00')
    """
    return f"{weight:.2f}" if weight >= 0.01 or weight == 0 else f"{weight:.1e}"


def _beside_text(grid: Grid, cell: int, numbers: Sequence[float], columns: int) -> str:
    return "" if not _has_hands(grid, cell) or math.isnan(numbers[cell]) else fit_number(numbers[cell], columns)


def _wide_cell(grid: Grid, cell: int, beside: Sequence[float] | None, color: bool) -> Text:
    name = _name(grid, cell)
    if color and grid.kind == "strategy":
        number = "" if beside is None else _beside_text(grid, cell, beside, 4)
        return _strategy_cell(grid, cell, f" {name:<{WIDE_CELL - 1 - len(number)}}"[: WIDE_CELL - len(number)] + number)
    return _colored_cell(grid, cell, f"{name:<4}{_value_text(grid, cell, 4):<{WIDE_CELL - 4}}", color)


def _colored_cell(grid: Grid, cell: int, text: str, color: bool) -> Text:
    """A cell, or its upper or lower half, in one colour."""
    if not color:
        return Text(text)
    if not _has_hands(grid, cell):
        return Text(f" {text}"[: len(text)].replace("·", " "), style=f"{DIM} on {EMPTY}")
    return Text(f" {text}"[: len(text)], style=f"bold {DARK} on {_cell_color(grid, cell)}")


def _cell_color(grid: Grid, cell: int) -> str:
    """The colour behind a number, along a scale; that of EV and EQR ends at the lowest and highest of the grid."""
    value = float(grid.values[cell])
    if grid.kind == "weight":
        return blend(EMPTY, FULL, 0.35 + 0.65 * value)
    if grid.kind == "equity":
        return on_scale(SCALE, min(max(value, 0.0), 1.0))
    low, high = float(np.nanmin(grid.values)), float(np.nanmax(grid.values))
    return on_scale(SCALE, (value - low) / (high - low) if high > low else 0.5)


def _strategy_cell(grid: Grid, cell: int, text: str) -> Text:
    """A strategy cell, split among the colours of its actions."""
    if not _has_hands(grid, cell):
        return Text(text, style=f"{DIM} on {EMPTY}")
    line = Text()
    bright = min(1.0, 0.35 + 0.65 * float(grid.weight[cell]) / (float(grid.weight.max()) or 1.0))
    begin = 0
    for action, back in enumerate(spot_action_colors(grid.actions).values()):
        end = round(len(text) * float(grid.values[cell, : action + 1].sum()))
        line.append(text[begin:end], style=f"bold {DARK} on {blend(EMPTY, back, bright)}")
        begin = end
    return line


def board_line(view: NodeView, names: PlayerNames = ROLES) -> Text:
    """The board in suit colours, the pot, the stacks, and the line so far."""
    line = cards_text(view.board).append(" ")
    line.append(f"  pot {chips_text(view.pot)}", style="bold")
    behind = ", ".join(f"{names[player]} {chips_text(view.stacks[player])}" for player in ORDER)
    line.append(f"  behind {behind}", style="dim")
    if view.line:
        line.append(f"  after {view.line}", style="dim")
    return line


def cards_text(cards: Sequence[int]) -> Text:
    """Cards in suit colours."""
    line = Text()
    for card in cards:
        text = card_text(card)
        line.append(" " if line else "").append(text[0], style="bold")
        line.append("♣♦♥♠"["cdhs".index(text[1])], style=f"bold {SUIT_COLORS[text[1]]}")
    return line


def action_lines(view: NodeView, *, color: bool, bar: int = NARROW, names: PlayerNames = ROLES) -> list[Text]:
    """How often each action is taken and its EV: a coloured bar, then a row per action."""
    assert view.player is not None
    colors, letters, texts = spot_action_colors(view.actions), action_letters(view.actions), view_actions(view)
    acts = f"{names[view.player]} acts"
    frequencies = view.frequencies
    locked, hands = int(view.locked.sum()), len(view.locked)
    lock = "" if not locked else "  (locked)" if locked == hands else f"  ({locked} of {hands} hands locked)"
    name = max(len(acts), *(len(text) + 2 for text in texts.values()))
    heading = Text(acts, style="bold")
    heading.append(" " * (name - len(heading)) + f"{'share':>9}{'combos':>10}{'EV':>10}", style="dim").append(
        lock, "yellow"
    )
    rows = [heading]
    for action, share, combos, chips in zip(
        view.actions, frequencies, view.action_combos, view.action_means, strict=True
    ):
        row = Text("■ " if color else f"{letters[action]} ", style=colors[action])
        row.append(f"{texts[action]:<{name - 2}}", style="default" if color else "")
        ev = "–" if chips != chips else plain_zero(f"{chips:.2f}")
        rows.append(row.append(f"{share:>9.1%}{combos:>10.2f}{ev:>10}", style="default" if color else ""))
    rows.append(Text(ACTION_LEGEND, style="dim"))
    if not color:
        return rows
    drawn = Text()
    ends = [round(bar * sum(frequencies[: number + 1])) for number in range(len(frequencies))]
    for action, begin, end in zip(view.actions, [0, *ends], ends, strict=False):
        drawn.append(" " * (end - begin), style=f"on {colors[action]}")
    return [drawn, *rows]


def node_lines(
    view: NodeView,
    *,
    color: bool,
    player: PlayerName | None = None,
    whole: NodeView | None = None,
    names: PlayerNames = ROLES,
) -> list[Text]:
    """A node without its hands: board, EVs and actions, for the player to act or for `player`.

    `whole` is the node with every hand, if `view` has only some of them.
    """
    whole = whole or view
    if not whole.reached:
        return [board_line(view, names), Text("never reached: no pair of hands gets here", style="dim")]
    averages = Text()
    for each in ORDER:
        averages.append(f"{'    ' if averages else ''}{names[each]} ", style="bold")
        averages.append(f"EV {whole.ev(each):.2f} chips  equity {whole.equity(each):.1%}")
    lines = [board_line(view, names), averages, Text("")]
    acting = view.player if view.kind == "decision" else None
    shown = player or acting
    if acting is None:
        what = "a card is dealt: --runouts shows what each does, or name one in --line"
        lines.append(Text(what if view.kind == "chance" else "the hand is over", style="dim"))
    if shown is None:
        return lines
    table, everything = view.hands[shown], whole.hands[shown]
    if not (table.weight * table.matchups).any():
        return [*lines, Text(f"{names[shown]} holds none of the selected hands here", style="dim")]
    if view is not whole:
        combos = f"{table.weight.sum():.2f} of {everything.weight.sum():.2f} combos"
        mean = f"EV {view.ev(shown):.2f} chips  equity {view.equity(shown):.1%}"
        lines += [Text(f"{names[shown]}, selected hands only: {combos}  {mean}"), Text("")]
    if shown == acting:
        lines += action_lines(view, color=color, names=names)
    elif acting is not None:
        lines.append(Text(f"{names[acting]} acts here: --player {acting} shows what they do", style="dim"))
    return lines


def node_grid(
    view: NodeView,
    kind: GridKind | None = None,
    *,
    color: bool,
    columns: int = NARROW,
    player: PlayerName | None = None,
    names: PlayerNames = ROLES,
) -> list[Text]:
    """The grid of the player to act, or of `player`; if there is room, beside the opponent's range or with wide cells.

    Its cells show a `kind` of numbers: by default the strategy, or the range of a player who is not to act. There is no
    grid where nobody has a hand to show.
    """
    for_acting_player = player is None
    player = player or (view.player if view.kind == "decision" else None)
    if player is None or not (view.hands[player].weight * view.hands[player].matchups).any():
        return []
    acts = view.kind == "decision" and view.player == player
    texts = view_actions(view) if acts else NO_TEXTS
    grid = make_grid(view, player, kind or ("strategy" if acts else "weight"))
    has_two_grids = columns >= 2 * NARROW + GAP and for_acting_player and kind is None
    wide = columns >= WIDE and not has_two_grids
    with_evs = color and grid.kind == "strategy" and (wide or has_two_grids)
    evs = make_grid(view, player, "ev").values.tolist() if with_evs else None
    legend = grid_legend(grid, color=color, wide=wide, beside=with_evs, player=names[player], texts=texts)
    lines = grid_lines(grid, evs, color=color, wide=wide)
    if not has_two_grids:
        return [*wrap_legend(legend, columns), *lines]
    opponent: PlayerName = "ip" if player == "oop" else "oop"
    opposing = make_grid(view, opponent, "weight")
    opposing_legend = grid_legend(opposing, color=color, wide=False, player=names[opponent])
    legends = zip_longest(wrap_legend(legend, NARROW), wrap_legend(opposing_legend, NARROW), fillvalue=Text(""))
    rows = zip(lines, grid_lines(opposing, color=color, wide=False), strict=True)
    return [_side_by_side(left, right) for left, right in (*legends, *rows)]


def wrap_legend(legend: str, columns: int) -> list[Text]:
    """The legend of a table or grid, wrapped to fit."""
    return [Text(line, style="dim") for line in wrap(legend, columns, break_on_hyphens=False)]


def _side_by_side(left: Text, right: Text) -> Text:
    line = left.copy()
    line.append(" " * (NARROW + GAP - line.cell_len))
    return line.append_text(right)


def check_any_hand(view: NodeView, hands: Range, player: PlayerName | None) -> None:
    """Refuse hands that the player (None: either player) cannot hold at a node."""
    players: tuple[PlayerName, ...] = ("oop", "ip") if player is None else (player,)
    if not any(view.hands[each].weight.any() for each in players):
        nobody = "oop and ip hold" if player is None else f"{player} holds"
        raise InvalidText("hands", str(hands), None, f"{nobody} none of these here")

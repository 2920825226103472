"""A node of a solved spot in the terminal: board, both players' EV and equity, actions, and the grid of hands."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from textwrap import wrap

from rich.text import Text

from regretless.cards.deck import card_text
from regretless.cards.ranges import Range
from regretless.cli.terminal.numbers import chips_text, plain_zero
from regretless.cli.views.spot_grid import NARROW, WIDE, action_letters, grid_legend, grid_lines
from regretless.colors import SUIT_COLORS, spot_colors
from regretless.errors import InvalidText
from regretless.holdem.reading.nodes import NodeView
from regretless.holdem.reports.grids import GridKind, make_grid
from regretless.holdem.spots.question import PlayerName

__all__ = ["action_lines", "board_line", "cards_text", "check_held", "node_lines", "wrapped"]

ACTION_LEGEND = "share of the range, combos, and EV in chips of the hands that take the action"
GAP = 2  # columns between two grids side by side


def board_line(view: NodeView) -> Text:
    """The board in suit colours, the pot, the stacks, and the line so far."""
    line = cards_text(view.board).append(" ")
    line.append(f"  pot {chips_text(view.pot)}", style="bold")
    line.append(f"  behind oop {chips_text(view.stacks['oop'])}, ip {chips_text(view.stacks['ip'])}", style="dim")
    if view.line:
        line.append(f"  after {view.line}", style="dim")
    return line


def cards_text(cards: Sequence[int]) -> Text:
    """Cards in suit colours."""
    line = Text()
    for card in cards:
        text = card_text(card)
        line.append(" " * bool(line)).append(text[0], style="bold")
        line.append("♣♦♥♠"["cdhs".index(text[1])], style=f"bold {SUIT_COLORS[text[1]]}")
    return line


def action_lines(view: NodeView, *, color: bool, bar: int = NARROW) -> list[Text]:
    """How often each action is taken and its EV: a coloured bar, then a row per action."""
    colors, letters = spot_colors(view.actions), action_letters(view.actions)
    frequencies = view.frequencies
    held, hands = int(view.locked.sum()), len(view.locked)
    lock = "" if not held else "  (locked)" if held == hands else f"  ({held} of {hands} hands locked)"
    name = max(len(f"{view.player} acts"), *(len(action) + 2 for action in view.actions))
    heading = Text(f"{view.player} acts", style="bold")
    heading.append(" " * (name - len(heading)) + f"{'share':>9}{'combos':>10}{'EV':>10}", style="dim").append(
        lock, "yellow"
    )
    rows = [heading]
    for action, share, combos, chips in zip(
        view.actions, frequencies, view.action_combos, view.action_means, strict=True
    ):
        row = Text("■ " if color else f"{letters[action]} ", style=colors[action])
        row.append(f"{action:<{name - 2}}", style="default" if color else "")
        worth = "–" if chips != chips else plain_zero(f"{chips:.2f}")
        rows.append(row.append(f"{share:>9.1%}{combos:>10.2f}{worth:>10}", style="default" if color else ""))
    rows.append(Text(ACTION_LEGEND, style="dim"))
    if not color:
        return rows
    drawn = Text()
    ends = [round(bar * sum(frequencies[: place + 1])) for place in range(len(frequencies))]
    for action, begin, end in zip(view.actions, [0, *ends], ends, strict=False):
        drawn.append(" " * (end - begin), style=f"on {colors[action]}")
    return [drawn, *rows]


def node_lines(
    view: NodeView,
    *,
    color: bool,
    columns: int = NARROW,
    player: PlayerName | None = None,
    grid: GridKind | None = None,
    whole: NodeView | None = None,
) -> list[Text]:
    """Everything shown of a node, from the point of view of the player to act, or of `player`.

    `grid` is what the cells show: by default the strategy, or the range of a player who is not to act. `whole` is the
    node with every hand, if `view` has only some of them.
    """
    whole = whole or view
    if not whole.reached:
        return [board_line(view), Text("never reached: no pair of hands gets here", style="dim")]
    worth = Text()
    for each in ("oop", "ip"):
        worth.append(f"{'    ' * bool(worth)}{each} ", style="bold")
        worth.append(f"EV {whole.ev(each):.2f} chips  equity {whole.equity(each):.1%}")
    lines = [board_line(view), worth, Text("")]
    acting = view.player if view.kind == "decision" else None
    shown = player or acting
    if acting is None:
        what = "a card is dealt: --runouts shows what each does, or name one in --line"
        lines.append(Text(what if view.kind == "chance" else "the hand is over", style="dim"))
    if shown is None:
        return lines
    table, everything = view.hands[shown], whole.hands[shown]
    if not (table.weight * table.matchups).any():
        return [*lines, Text(f"{shown} holds none of the selected hands here", style="dim")]
    if view is not whole:
        held = f"{table.weight.sum():.2f} of {everything.weight.sum():.2f} combos"
        mean = f"EV {view.ev(shown):.2f} chips  equity {view.equity(shown):.1%}"
        lines += [Text(f"{shown}, selected hands only: {held}  {mean}"), Text("")]
    if shown == acting:
        lines += action_lines(view, color=color)
    elif acting is not None:
        lines.append(Text(f"{acting} acts here: --player {acting} shows what they do", style="dim"))
    return [*lines, Text(""), *_grids(view, shown, grid, color=color, columns=columns, both=player is None)]


def _grids(
    view: NodeView, player: PlayerName, kind: GridKind | None, *, color: bool, columns: int, both: bool
) -> list[Text]:
    """A player's grid; if there is room, with wide cells or with the opponent's range beside it."""
    acts = view.kind == "decision" and view.player == player
    made = make_grid(view, player, kind or ("strategy" if acts else "weight"))
    other: PlayerName = "ip" if player == "oop" else "oop"
    two = columns >= 2 * NARROW + GAP and both and kind is None
    wide = columns >= WIDE and not two
    numbered = color and made.kind == "strategy" and (wide or two)
    chips = make_grid(view, player, "ev").values.tolist() if numbered else None
    legend = grid_legend(made, color=color, wide=wide, beside=numbered)
    lines = grid_lines(made, chips, color=color, wide=wide)
    if not two:
        return [*wrapped(legend, columns), *lines]
    against = make_grid(view, other, "weight")
    legends = wrapped(legend, NARROW), wrapped(grid_legend(against, color=color, wide=False), NARROW)
    rows = zip(lines, grid_lines(against, color=color, wide=False), strict=True)
    return [_side_by_side(*pair) for pair in (*zip_longest(*legends, fillvalue=Text("")), *rows)]


def wrapped(legend: str, columns: int) -> list[Text]:
    """The legend of a table or grid, wrapped to fit."""
    return [Text(line, style="dim") for line in wrap(legend, columns, break_on_hyphens=False)]


def _side_by_side(left: Text, right: Text) -> Text:
    line = left.copy()
    line.append(" " * (NARROW + GAP - line.cell_len))
    return line.append_text(right)


def check_held(view: NodeView, hands: Range, player: PlayerName | None) -> None:
    """Refuse hands that the player (None: either player) cannot hold at a node."""
    asked: tuple[PlayerName, ...] = ("oop", "ip") if player is None else (player,)
    if not any(view.hands[each].weight.any() for each in asked):
        nobody = "oop and ip hold" if player is None else f"{player} holds"
        raise InvalidText("hands", str(hands), None, f"{nobody} none of these here")

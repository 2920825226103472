"""A node of a solved spot in the terminal: the board, a bar of actions, the grid of hands, and hands one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from regretless.cli.colors import BETS, CALL, CALLING, FOLD, FOLDING, SUIT_COLORS, between, blend

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from regretless.postflop.nodes import NodeView, RunoutReport

__all__ = ["action_bar", "board_line", "grid_lines", "hand_table", "node_lines", "runout_table", "spot_colors"]

EMPTY, DARK, DIM = "#3a3f46", "#14181c", "#6b727a"
CELL = 6  # columns of a cell of the grid
BAR = 13 * CELL  # as wide as the grid
NAMES = "AKQJT98765432"


def spot_colors(actions: Sequence[str]) -> dict[str, str]:
    """A colour for each action of a node: bets from amber to red as they grow, all-in violet.

    >>> list(spot_colors(["fold", "call", "raise 250", "raise 400", "all-in 900"]).values())
    ['#4f8fd0', '#4caf6d', '#f2b134', '#d94343', '#9b5fc0']
    """
    bets = [action for action in actions if action.split()[0] in ("bet", "raise")]
    colors = {}
    for action in actions:
        verb = action.split()[0]
        if verb in FOLDING | CALLING:
            colors[action] = FOLD if verb in FOLDING else CALL
        elif verb in ("bet", "raise"):
            colors[action] = between(BETS[:-1], bets.index(action) / (len(bets) - 1) if len(bets) > 1 else 0.5)
        else:
            colors[action] = BETS[-1]
    return colors


def board_line(view: NodeView) -> Text:
    """Board in the colours of its suits, pot, stacks, and who is to act."""
    from rich.text import Text

    from regretless.cards.deck import card_text

    line = Text()
    for card in view.board:
        text = card_text(card)
        line.append(text[0], style="bold")
        line.append("♣♦♥♠"["cdhs".index(text[1])] + " ", style=f"bold {SUIT_COLORS[text[1]]}")
    line.append(f"  pot {view.pot:g}", style="bold")
    line.append(f"  behind oop {view.stacks['oop']:g}, ip {view.stacks['ip']:g}", style="dim")
    if view.line:
        line.append(f"  after {view.line}", style="dim")
    return line


def action_bar(view: NodeView, *, color: bool) -> list[Text]:
    """How often each action is taken: a bar of colours, then each action with its share."""
    from rich.text import Text

    colors = spot_colors(view.actions)
    frequencies = view.frequencies
    legend = Text(f"{view.player}  ", style="bold")
    for action, frequency in zip(view.actions, frequencies, strict=True):
        legend.append("■ " if color else "", style=colors[action])
        legend.append(f"{action} {frequency:.1%}   ")
    if not color:
        return [legend]
    bar = Text()
    ends = [round(BAR * sum(frequencies[: place + 1])) for place in range(len(frequencies))]
    begin = 0
    for action, end in zip(view.actions, ends, strict=True):
        bar.append(" " * (end - begin), style=f"on {colors[action]}")
        begin = end
    return [bar, legend]


def grid_lines(view: NodeView, *, color: bool) -> list[Text]:
    """Thirteen rows; a cell is split among the colours of what its hands do, and dimmer where few of them are left.

    Without colours a cell shows how often its hands put more chips in than a call, as per cent.
    """
    from rich.text import Text

    shares, weights = view.grid(), view.grid_weight()
    colors = list(spot_colors(view.actions).values())
    top = float(weights.max()) or 1.0
    lines = []
    for row in range(13):
        line = Text()
        for column in range(13):
            cell = 13 * row + column
            name = _class_name(row, column)
            held = weights[cell] > 0 and not (shares[cell] != shares[cell]).any()
            if not color:
                line.append(_plain(name, shares[cell], view.actions) if held else f"{name:<3}  · ")
                continue
            text = f" {name:<{CELL - 1}}"
            if not held:
                line.append(text, style=f"{DIM} on {EMPTY}")
                continue
            bright = min(1.0, 0.35 + 0.65 * float(weights[cell]) / top)
            begin = 0
            for place, back in enumerate(colors):
                end = round(CELL * float(shares[cell, : place + 1].sum()))
                line.append(text[begin:end], style=f"bold {DARK} on {blend(EMPTY, back, bright)}")
                begin = end
        lines.append(line)
    return lines


def _plain(name: str, shares: Sequence[float], actions: Sequence[str]) -> str:
    wagered = sum(
        share for share, action in zip(shares, actions, strict=True) if action.split()[0] not in FOLDING | CALLING
    )
    return f"{name:<3}{round(100 * wagered):>3} "


def _class_name(row: int, column: int) -> str:
    high, low = NAMES[min(row, column)], NAMES[max(row, column)]
    return high + low + ("" if row == column else "s" if column > row else "o")


def hand_table(view: NodeView, player: str, *, most: int | None = None) -> Table:
    """Hands of a player, the likeliest first: strategy, weight, equity, EV and EQR."""
    from rich.table import Table

    acts = view.kind == "decision" and view.player == player
    table = Table(box=None, pad_edge=False)
    table.add_column(player, style="bold")
    colors = spot_colors(view.actions)
    for action in view.actions if acts else ():
        table.add_column(action, justify="right", style=colors[action])
    for name in ("weight", "equity", "EV", "EQR"):
        table.add_column(name, justify="right")
    rows = sorted(view.rows(player), key=lambda row: -row["weight"])  # type: ignore[arg-type]
    for row in rows[:most]:
        played = [f"{share:.0%}" for share in row.get("strategy", {}).values()]
        shown = [_shown(row["equity"], "{:.1%}"), _shown(row["ev"], "{:.2f}"), _shown(row["eqr"], "{:.2f}")]
        table.add_row(row["hand"], *played, f"{row['weight']:.2f}", *shown)
    if most is not None and len(rows) > most:
        table.add_row(f"… {len(rows) - most} more", style="dim")
    return table


def _shown(value: float | None, how: str) -> str:
    return "–" if value is None else how.format(value)


def runout_table(report: RunoutReport) -> Table:
    """One row a card: EV, equity and how often each action is taken."""
    from rich.table import Table

    from regretless.cards.deck import card_text

    actions = list(dict.fromkeys(action for each in report.runouts for action in each.frequencies))
    colors = spot_colors(actions)
    table = Table(box=None, pad_edge=False)
    for name in ("card", "EV oop", "EV ip", "equity oop"):
        table.add_column(name, justify="right")
    for action in actions:
        table.add_column(action, justify="right", style=colors[action])
    for each in sorted(report.runouts, key=lambda runout: -runout.card):
        shares = [f"{each.frequencies[action]:.0%}" if action in each.frequencies else "–" for action in actions]
        table.add_row(
            card_text(each.card), f"{each.ev['oop']:.2f}", f"{each.ev['ip']:.2f}", f"{each.equity['oop']:.1%}", *shares
        )
    return table


def node_lines(view: NodeView, *, color: bool) -> list[RenderableType]:
    """The whole picture of a node."""
    from rich.text import Text

    if not view.reached:
        return [board_line(view), Text("never reached: no hand of both players takes this line", style="dim")]
    worth = Text()
    for player in ("oop", "ip"):
        worth.append(f"{player} ", style="bold")
        worth.append(f"EV {view.ev(player):.2f}  equity {view.equity(player):.1%}    ")
    lines: list[RenderableType] = [board_line(view), worth, Text("")]
    if view.kind == "decision":
        lines += [*action_bar(view, color=color), Text(""), *grid_lines(view, color=color)]
    elif view.kind == "chance":
        lines.append(Text("a card is dealt: --runouts shows what each does, or name one in --node", style="dim"))
    else:
        lines.append(Text("the hand is over", style="dim"))
    return lines

"""Tables of a node: its hands, and the cards that can come next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from regretless.cards.deck import card_text
from regretless.cli.terminal.numbers import cell_text
from regretless.cli.terminal.tables import plain_table
from regretless.cli.views.spot_grid import weight_text
from regretless.colors import spot_colors
from regretless.errors import InvalidOption
from regretless.holdem.reading.nodes import NodeView, Runout, RunoutReport
from regretless.holdem.spots.question import PlayerName

__all__ = ["HAND_LEGEND", "hand_table", "runout_legend", "runout_table", "sorted_hands", "sorted_runouts"]

HAND_LEGEND = (
    "weight: how likely the hand is here, 0 to 1; EV: chips from here on, a fold is 0; EQR: EV / (equity × pot); "
    "last row: combos and averages"
)
_NUMBERS = ("weight", "equity", "ev", "eqr")


def hand_table(view: NodeView, player: PlayerName, *, sort: str | None = None, columns: int = 80) -> Table:
    """A player's hands, most likely first unless `sort` names another column, and their averages.

    If one line per hand would be wider than `columns`, the EV of each action is below its frequency.
    """
    acts = view.kind == "decision" and view.player == player
    actions = view.actions if acts else ()
    marked = acts and bool(view.locked.any())
    wide = 10 * marked + sum(max(len(action), 5) + 11 for action in actions) + 37 <= columns
    table = plain_table()
    table.add_column(f"\n{player}" if actions else player, style="bold", no_wrap=True)
    colors = spot_colors(actions)
    for action in actions:
        table.add_column(
            f"{action}\n%" if wide else f"{action}\nEV", justify="right", style=colors[action], no_wrap=True
        )
        if wide:
            table.add_column("\nEV", justify="right", style=colors[action], no_wrap=True)
    for name in ("weight", "equity", "EV", "EQR", *(["locked"] if marked else [])):
        table.add_column(f"\n{name}" if actions else name, justify="right", no_wrap=True)

    def cells(shares: Sequence[float], chips: Sequence[float | None]) -> list[str]:
        pairs = [(cell_text(share, ".1%"), cell_text(each, ".2f")) for share, each in zip(shares, chips, strict=True)]
        return [text for pair in pairs for text in pair] if wide else ["\n".join(pair) for pair in pairs]

    rows = sorted_hands(view, player, sort)
    for row in rows:
        played = cells(list(row["strategy"].values()), list(row["action_ev"].values())) if acts else []
        numbers = [cell_text(row["equity"], ".1%"), cell_text(row["ev"], ".2f"), cell_text(row["eqr"], ".2f")]
        locked = (["locked"] if row["locked"] else [""]) if marked else []
        table.add_row(row["hand"], *played, weight_text(row["weight"]), *numbers, *locked)
    if rows:
        hands = view.hands[player]
        played = cells(view.frequencies, view.action_means) if acts else []
        ev, equity = view.ev(player), view.equity(player)
        eqr = ev / (equity * view.pot) if equity else None
        numbers = [cell_text(equity, ".1%"), cell_text(ev, ".2f"), cell_text(eqr, ".2f")]
        table.add_row("all", *played, weight_text(float(hands.weight.sum())), *numbers, style="dim")
    return table


def sorted_hands(view: NodeView, player: PlayerName, sort: str | None) -> list[dict[str, Any]]:
    """Rows of a player's hands sorted by a column: numbers from high to low, hands from aces down."""
    rows = view.rows(player)
    columns = ("hand", *view.actions, *_NUMBERS)
    if sort is not None and sort not in columns:
        raise InvalidOption("sort", sort, f"is not a column here; choose from {', '.join(columns)}")
    if sort == "hand":
        return rows[::-1]
    if sort in view.actions and view.player == player:
        return sorted(rows, key=lambda row: float(row["strategy"][sort]), reverse=True)
    name = sort if sort in _NUMBERS else "weight"  # an action of the other player is not a column here
    return sorted(rows, key=lambda row: -float("inf") if row[name] is None else float(row[name]), reverse=True)


def runout_table(report: RunoutReport, player: PlayerName | None = None, *, sort: str | None = None) -> Table:
    """One row per card: EV, equity and action frequencies, for both players, or for one with its EQR."""
    actions = _actions(report)
    colors = spot_colors(actions)
    numbers = ("EV oop", "EV ip", "equity oop") if player is None else (f"EV {player}", f"equity {player}", "EQR")
    table = plain_table(right=["card", *(["reached"] if report.then else []), *numbers])
    for action in actions:
        table.add_column(action, justify="right", style=colors[action], no_wrap=True)
    for each in sorted_runouts(report, player or "oop", sort):
        shares = [cell_text(each.frequencies.get(action), ".1%") for action in actions]
        if player is None:
            worth = [cell_text(each.ev["oop"], ".2f"), cell_text(each.ev["ip"], ".2f")]
            worth.append(cell_text(each.equity["oop"], ".1%"))
        else:
            worth = [cell_text(each.ev[player], ".2f"), cell_text(each.equity[player], ".1%")]
            worth.append(cell_text(each.eqr(player), ".2f"))
        reached = [cell_text(each.reached, ".1%")] if report.then else []
        table.add_row(card_text(each.card), *reached, *worth, *shares)
    return table


def _actions(report: RunoutReport) -> list[str]:
    return list(dict.fromkeys(action for each in report.runouts for action in each.frequencies))


def runout_legend(report: RunoutReport) -> str:
    """What the rows show."""
    acting = next((each.player for each in report.runouts if each.player is not None), None)
    line = f"after {report.line}, by next card" + (f", then {report.then}" if report.then else "")
    does = f": what {acting} does" if acting is not None else ""
    reached = "; reached: how often the card is followed by that" if report.then else ""
    return f"{line}{does}; EV in chips from there on{reached}"


def sorted_runouts(report: RunoutReport, player: PlayerName, sort: str | None) -> list[Runout]:
    """Cards sorted by a column, from high to low."""
    actions = _actions(report)
    columns = ("card", "ev", "equity", "eqr", *actions)
    if sort is not None and sort not in columns:
        raise InvalidOption("sort", sort, f"is not a column here; choose from {', '.join(columns)}")

    def key(each: Runout) -> float:
        if sort is not None and sort in actions:
            value = each.frequencies.get(sort, 0.0)
        else:
            numbers = {"ev": each.ev[player], "equity": each.equity[player], "eqr": each.eqr(player)}
            value = numbers.get(sort or "card", float(each.card))
        return value if value == value else -float("inf")

    return sorted(report.runouts, key=key, reverse=True)

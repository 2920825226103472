"""`regretless show` for a solved spot: a node with its hands, the cards that can come next, or the betting tree."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from regretless.cards.deck import card_text
from regretless.cards.ranges import Range
from regretless.cli.terminal.consoles import for_answers, for_drawing, has_color, note, page_columns, plain_table
from regretless.cli.terminal.json_output import print_json
from regretless.cli.terminal.numbers import cell_text, duration_text
from regretless.cli.views.betting_tree import print_tree
from regretless.cli.views.labels import ROLES, PlayerNames, player_names
from regretless.cli.views.spot_view import (
    NARROW,
    ORDER,
    check_any_hand,
    node_grid,
    node_lines,
    weight_text,
    wrap_legend,
)
from regretless.colors import spot_action_colors
from regretless.errors import InvalidOption, bytes_text
from regretless.files.atomic import replace_file
from regretless.holdem.reading.grids import GridKind, make_grid
from regretless.holdem.reading.nodes import NodeView, Runout, RunoutReport
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.locks import lock_text
from regretless.holdem.spots.spot_fields import PlayerName
from regretless.printable import printable

__all__ = ["NodeSelection", "print_spot", "show_spot"]

LOCKS = 6  # shown in the summary

HAND_LEGEND = (
    "weight: how likely the hand is here, 0 to 1; EV: chips from here on, a fold is 0; EQR: EV / (equity × pot); "
    "last row: combos and averages"
)
_NUMBERS = ("weight", "equity", "ev", "eqr")
# Characters of a table of hands: hand, weight, equity, EV and EQR; each action besides its name; marks of locks.
NUMBERS_WIDTH, ACTION_WIDTH, LOCKED_WIDTH = 37, 11, 10


@dataclass(frozen=True, kw_only=True)
class NodeSelection:
    """What to show of a solved spot."""

    line: str = ""
    cards: tuple[int, ...] = ()  # that the line leaves out
    player: PlayerName | None = None  # whose hands; None: the player who acts
    table: bool = False  # a row per hand
    hands: Range | None = None  # only these
    grid: GridKind | None = None
    sort: str | None = None
    then: str | None = None  # with runouts: actions after the card

    def views(self, solution: SpotSolution) -> tuple[NodeView, NodeView]:
        """The node with every hand, and with only the selected ones."""
        whole = solution.node(self.line, self.cards)
        if self.hands is None:
            return whole, whole
        view = whole
        for player in ("oop", "ip"):
            if self.player in (None, player):
                view = view.only(player, self.hands)
        check_any_hand(view, self.hands, self.player)
        return whole, view


def show_spot(
    solution: SpotSolution, selection: NodeSelection, *, runouts: bool, tree: bool, as_json: bool, svg: Path | None
) -> None:
    """Show a node of a solved spot, its runouts or its betting tree."""
    if svg is not None:
        if svg.suffix.lower() != ".svg":
            raise InvalidOption("svg", str(svg), "must end in .svg")
        _draw(solution, selection, svg)
    elif tree:
        print_tree(solution.spot, as_json=as_json)
    elif runouts:
        _print_runouts(solution, selection, as_json)
    elif as_json:
        print_json(solution.as_json() | {"node": _node_json(solution, selection)})
    else:
        print_spot(solution, selection)


def _node_json(solution: SpotSolution, selection: NodeSelection) -> dict[str, Any]:
    """Everything printed about a node; means are over the selected hands."""
    whole, view = selection.views(solution)
    result = view.as_json(hands=selection.table, player=selection.player)
    if selection.sort is not None:
        result["hands"] = {player: _sorted_hands(view, player, selection.sort) for player in result["hands"]}
    acting = view.player if view.kind == "decision" else None
    shown = selection.player or acting
    if shown is not None and whole.reached:
        grid = selection.grid or ("strategy" if shown == acting else "weight")
        result["grid"] = make_grid(view, shown, grid).as_json()
    return result


def print_spot(solution: SpotSolution, selection: NodeSelection | None = None) -> None:
    """The summary of a solve and one node of it."""
    selection = selection or NodeSelection()
    whole, view = selection.views(solution)
    console = for_answers()
    color = has_color(console)
    columns = page_columns(console)
    names = player_names(solution.spot)
    tables = [
        _hand_table(view, player, sort=selection.sort, columns=columns, names=names)
        for player in ORDER
        if selection.table and whole.reached and selection.player in (None, player) and view.hands[player].weight.any()
    ]
    grid = node_grid(view, selection.grid, color=color, columns=columns, player=selection.player, names=names)
    console.print(Text.assemble((printable(solution.game), "bold"), " ", (_how(solution), "dim")))
    console.print(
        Text.assemble(
            "exploitability ", (f"{solution.exploitability_pct_pot:.3g} %", "bold"), " of the pot "
            f"({solution.exploitability:.3g} chips), {duration_text(solution.seconds)}, "
            f"{bytes_text(solution.record.memory_bytes)}",
        )
    )  # fmt: skip
    target = solution.settings.target  # in chips
    # A safe solution reaches its target in other games than this one.
    if target is not None and solution.exploitability > target and solution.reason != "target":
        console.print(f"the target of {solution.scale * target:g} % was not reached", style="yellow")
    for lock in solution.spot.locks[:LOCKS]:
        console.print(f"locked {lock_text(lock)}", style="yellow", soft_wrap=True)
    if len(solution.spot.locks) > LOCKS:
        console.print(f"and {len(solution.spot.locks) - LOCKS} more locks", style="yellow")
    console.print()
    for line in node_lines(view, color=color, player=selection.player, whole=whole, names=names):
        console.print(line, no_wrap=True, soft_wrap=True)
    for table in tables:
        console.print()
        for_answers(fit=False).print(table)  # a terminal may wrap a row, but no number is cut
    if tables:
        for line in wrap_legend(HAND_LEGEND, columns):
            console.print(line)
    for line in [Text(""), *grid] if grid else []:
        console.print(line, no_wrap=True, soft_wrap=True)


def _draw(solution: SpotSolution, selection: NodeSelection, path: Path) -> None:
    """Draw a node to an SVG file that loads nothing from other servers."""
    console = for_drawing(NARROW + 2)
    whole, view = selection.views(solution)
    names = player_names(solution.spot)
    player = selection.player
    summary = node_lines(view, color=True, player=player, whole=whole, names=names)
    for line in (*summary, Text(""), *node_grid(view, selection.grid, color=True, player=player, names=names)):
        console.print(line, no_wrap=True, overflow="crop")
    drawn = console.export_svg(title=printable(f"regretless show {solution.game}"))
    drawn = re.sub(r"@font-face \{.*?\}|<!--.*?-->", "", drawn, flags=re.DOTALL)
    with replace_file(path) as temporary:
        temporary.write_text(drawn, encoding="utf-8")
    note(f"saved {path}")


def _how(solution: SpotSolution) -> str:
    threads = f", {solution.threads} threads" if solution.threads > 1 else ""
    precision = f"probabilities in {solution.probability_bits} bits"
    variant = "" if solution.variant == solution.game else f"{solution.variant} "  # a river is solved by `river`
    machine = f"{solution.engine} on {solution.device}{threads}"
    settings = solution.settings
    sampled = f" of {settings.sample_runouts} runouts" if settings.sample_runouts and not settings.buckets else ""
    return f"{variant}· {solution.iterations:,} iterations{sampled} · {machine} · {precision}"


def _print_runouts(solution: SpotSolution, selection: NodeSelection, as_json: bool) -> None:
    then = selection.then
    if then is None:  # the player in position acts after a check
        reader = solution.reader
        node = reader.find(selection.line, selection.cards)
        after = int(reader.form.tree.first_child[node.index])
        acts_later = selection.player == "ip" and "check" in reader.actions(after)
        then = "check" if acts_later else ""
    report = solution.runouts(selection.line, then=then, cards=selection.cards)
    if as_json:
        ordered = replace(report, runouts=tuple(_sorted_runouts(report, selection.player or "oop", selection.sort)))
        print_json((report if selection.sort is None else ordered).as_json())
        return
    console = for_answers(fit=False)
    names = player_names(solution.spot)
    console.print(_runout_table(report, selection.player, sort=selection.sort, names=names))
    for line in wrap_legend(_runout_legend(report, names), page_columns(for_answers())):
        console.print(line)


def _hand_table(
    view: NodeView, player: PlayerName, *, sort: str | None = None, columns: int = 80, names: PlayerNames = ROLES
) -> Table:
    """A player's hands, most likely first unless `sort` names another column, and their averages.

    If one line per hand would be wider than `columns`, the EV of each action is below its frequency.
    """
    acts = view.kind == "decision" and view.player == player
    actions = view.actions if acts else ()
    has_locks = acts and bool(view.locked.any())
    width = NUMBERS_WIDTH + sum(max(len(action), 5) + ACTION_WIDTH for action in actions)
    wide = width + (LOCKED_WIDTH if has_locks else 0) <= columns
    table = _empty_hand_table(names[player], actions, wide=wide, has_locks=has_locks)
    rows = _sorted_hands(view, player, sort)
    for row in rows:
        cells = [row["hand"]]
        if acts:
            cells += _action_cells(list(row["strategy"].values()), list(row["action_ev"].values()), wide=wide)
        cells += [weight_text(row["weight"]), *_number_cells(row["equity"], row["ev"], row["eqr"])]
        if has_locks:
            cells.append("locked" if row["locked"] else "")
        table.add_row(*cells)
    if rows:
        cells = ["all", *(_action_cells(view.frequencies, view.action_means, wide=wide) if acts else [])]
        ev, equity = view.ev(player), view.equity(player)
        eqr = ev / (equity * view.pot) if equity else None
        weight = float(view.hands[player].weight.sum())
        table.add_row(*cells, weight_text(weight), *_number_cells(equity, ev, eqr), style="dim")
    return table


def _empty_hand_table(player: str, actions: Sequence[str], *, wide: bool, has_locks: bool) -> Table:
    """Columns of frequency and EV for each action, side by side if there is room, then those of the hand itself."""
    above = "\n" if actions else ""  # names of actions take the first of two lines
    table = plain_table()
    table.add_column(f"{above}{player}", style="bold", no_wrap=True)
    for action, color in spot_action_colors(actions).items():
        table.add_column(f"{action}\n%" if wide else f"{action}\nEV", justify="right", style=color, no_wrap=True)
        if wide:
            table.add_column("\nEV", justify="right", style=color, no_wrap=True)
    for name in ("weight", "equity", "EV", "EQR"):
        table.add_column(f"{above}{name}", justify="right", no_wrap=True)
    if has_locks:
        table.add_column(f"{above}locked", justify="right", no_wrap=True)
    return table


def _action_cells(shares: Sequence[float], chips: Sequence[float | None], *, wide: bool) -> list[str]:
    """Frequency and EV of each action, in two cells if `wide`, else in two lines of one."""
    cells = []
    for share, ev in zip(shares, chips, strict=True):
        pair = [cell_text(share, ".1%"), cell_text(ev, ".2f")]
        cells += pair if wide else ["\n".join(pair)]
    return cells


def _number_cells(equity: float | None, ev: float | None, eqr: float | None) -> list[str]:
    return [cell_text(equity, ".1%"), cell_text(ev, ".2f"), cell_text(eqr, ".2f")]


def _sorted_hands(view: NodeView, player: PlayerName, sort: str | None) -> list[dict[str, Any]]:
    """Rows of a player's hands sorted by a column: numbers from high to low, hands from aces down."""
    rows = view.rows(player)
    _check_sort(sort, ("hand", *view.actions, *_NUMBERS))
    if sort == "hand":
        return rows[::-1]
    if sort in view.actions and view.player == player:
        return sorted(rows, key=lambda row: float(row["strategy"][sort]), reverse=True)
    name = sort if sort in _NUMBERS else "weight"  # an action of the other player is not a column here
    return sorted(rows, key=lambda row: -math.inf if row[name] is None else float(row[name]), reverse=True)


def _check_sort(sort: str | None, columns: Sequence[str]) -> None:
    if sort is not None and sort not in columns:
        raise InvalidOption("sort", sort, f"is not a column here; choose from {', '.join(columns)}")


def _runout_table(
    report: RunoutReport, player: PlayerName | None = None, *, sort: str | None = None, names: PlayerNames = ROLES
) -> Table:
    """One row per card: EV, equity and action frequencies, for both players, or for one with its EQR."""
    actions = _actions(report)
    colors = spot_action_colors(actions)
    if player is None:
        numbers = (f"EV {names['oop']}", f"EV {names['ip']}", f"equity {names['oop']}")
    else:
        numbers = (f"EV {names[player]}", f"equity {names[player]}", "EQR")
    table = plain_table(right=["card", *(["reached"] if report.then else []), *numbers])
    for action in actions:
        table.add_column(action, justify="right", style=colors[action], no_wrap=True)
    for each in _sorted_runouts(report, player or "oop", sort):
        shares = [cell_text(each.frequencies.get(action), ".1%") for action in actions]
        if player is None:
            numbers_of_card = [cell_text(each.ev["oop"], ".2f"), cell_text(each.ev["ip"], ".2f")]
            numbers_of_card.append(cell_text(each.equity["oop"], ".1%"))
        else:
            numbers_of_card = [cell_text(each.ev[player], ".2f"), cell_text(each.equity[player], ".1%")]
            numbers_of_card.append(cell_text(each.eqr(player), ".2f"))
        reached = [cell_text(each.reached, ".1%")] if report.then else []
        table.add_row(card_text(each.card), *reached, *numbers_of_card, *shares)
    return table


def _actions(report: RunoutReport) -> list[str]:
    return list(dict.fromkeys(action for each in report.runouts for action in each.frequencies))


def _runout_legend(report: RunoutReport, names: PlayerNames = ROLES) -> str:
    """What the rows show."""
    acting = next((each.player for each in report.runouts if each.player is not None), None)
    line = f"after {report.line}, by next card" + (f", then {report.then}" if report.then else "")
    does = f": what {names[acting]} does" if acting is not None else ""
    reached = "; reached: how often the card is followed by that" if report.then else ""
    return f"{line}{does}; EV in chips from there on{reached}"


def _sorted_runouts(report: RunoutReport, player: PlayerName, sort: str | None) -> list[Runout]:
    """Cards sorted by a column, from high to low."""
    actions = _actions(report)
    _check_sort(sort, ("card", "ev", "equity", "eqr", *actions))

    def key(each: Runout) -> float:
        if sort is not None and sort in actions:
            value = each.frequencies.get(sort, 0.0)
        else:
            numbers = {"ev": each.ev[player], "equity": each.equity[player], "eqr": each.eqr(player)}
            value = numbers.get(sort or "card", float(each.card))
        return -math.inf if math.isnan(value) else value

    return sorted(report.runouts, key=key, reverse=True)

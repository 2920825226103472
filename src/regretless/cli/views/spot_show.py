"""`regretless show` for a solved spot: a node, its runouts or the betting tree."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.text import Text

from regretless.cards.ranges import Range
from regretless.cli.terminal.consoles import for_answers, for_drawing, has_color, note, page_columns
from regretless.cli.terminal.json_output import print_json
from regretless.cli.terminal.numbers import bytes_text, duration_text
from regretless.cli.views.spot_grid import NARROW
from regretless.cli.views.spot_tables import (
    HAND_LEGEND,
    hand_table,
    runout_legend,
    runout_table,
    sorted_hands,
    sorted_runouts,
)
from regretless.cli.views.spot_tree import print_tree
from regretless.cli.views.spot_view import check_held, node_lines, wrapped
from regretless.errors import InvalidOption
from regretless.files.atomic import replace_file
from regretless.holdem.reading.nodes import NodeView
from regretless.holdem.reports.grids import GridKind, make_grid
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.lock_text import lock_text
from regretless.holdem.spots.question import PlayerName
from regretless.printable import printable

__all__ = ["Look", "print_spot", "show_spot"]


LOCKS = 6  # shown in the summary


@dataclass(frozen=True, kw_only=True)
class Look:
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
        check_held(view, self.hands, self.player)
        return whole, view


def show_spot(
    solution: SpotSolution, look: Look, *, runouts: bool, tree: bool, as_json: bool, svg: Path | None
) -> None:
    """Show a node of a solved spot, its runouts or its betting tree."""
    if svg is not None:
        if svg.suffix.lower() != ".svg":
            raise InvalidOption("svg", str(svg), "must end in .svg")
        _draw(solution, look, svg)
    elif tree:
        print_tree(solution.spot, as_json=as_json)
    elif runouts:
        _print_runouts(solution, look, as_json)
    elif as_json:
        print_json(solution.as_json() | {"node": _node_json(solution, look)})
    else:
        print_spot(solution, look)


def _node_json(solution: SpotSolution, look: Look) -> dict[str, Any]:
    """Everything printed about a node; means are over the selected hands."""
    whole, view = look.views(solution)
    answer = view.as_json(hands=look.table, player=look.player)
    if look.sort is not None:
        answer["hands"] = {player: sorted_hands(view, player, look.sort) for player in answer["hands"]}
    acting = view.player if view.kind == "decision" else None
    shown = look.player or acting
    if shown is not None and whole.reached:
        answer["grid"] = make_grid(view, shown, look.grid or ("strategy" if shown == acting else "weight")).as_json()
    return answer


def print_spot(solution: SpotSolution, look: Look | None = None) -> None:
    """The summary of a solve and one node of it."""
    look = look or Look()
    whole, view = look.views(solution)
    console = for_answers()
    color = has_color(console)
    columns = page_columns(console)
    drawn = node_lines(view, color=color, columns=columns, player=look.player, grid=look.grid, whole=whole)
    tables = [
        hand_table(view, player, sort=look.sort, columns=columns)
        for player in ("oop", "ip")
        if look.table and whole.reached and look.player in (None, player) and view.hands[player].weight.any()
    ]
    console.print(Text.assemble((printable(solution.game), "bold"), " ", (_how(solution), "dim")))
    console.print(
        Text.assemble(
            "exploitability ", (f"{solution.exploitability_pct_pot:.3g} %", "bold"), " of the pot "
            f"({solution.exploitability:.3g} chips), {duration_text(solution.seconds)}, "
            f"{bytes_text(solution.record.memory_bytes)}",
        )
    )  # fmt: skip
    target = solution.settings.target  # in chips
    if target is not None and solution.exploitability > target:
        console.print(f"the target of {solution.scale * target:g} % was not reached", style="yellow")
    for lock in solution.spot.locks[:LOCKS]:
        console.print(f"locked {lock_text(lock)}", style="yellow", soft_wrap=True)
    if len(solution.spot.locks) > LOCKS:
        console.print(f"and {len(solution.spot.locks) - LOCKS} more locks", style="yellow")
    console.print()
    for line in drawn:
        console.print(line, no_wrap=True, soft_wrap=True)
    for table in tables:
        console.print()
        for_answers(fit=False).print(table)  # a terminal may wrap a row, but no number is cut
    if tables:
        for line in wrapped(HAND_LEGEND, columns):
            console.print(line)


def _draw(solution: SpotSolution, look: Look, path: Path) -> None:
    """Draw a node to an SVG file that loads nothing from other servers."""
    console = for_drawing(NARROW + 2)
    whole, view = look.views(solution)
    for line in node_lines(view, color=True, player=look.player, grid=look.grid, whole=whole):
        console.print(line, no_wrap=True, overflow="crop")
    drawn = console.export_svg(title=printable(f"regretless show {solution.game}"))
    drawn = re.sub(r"@font-face \{.*?\}|<!--.*?-->", "", drawn, flags=re.DOTALL)
    with replace_file(path) as temporary:
        temporary.write_text(drawn, encoding="utf-8")
    note(f"saved {path}")


def _how(solution: SpotSolution) -> str:
    threads = f", {solution.threads} threads" if solution.threads > 1 else ""
    kept = f"probabilities in {solution.probability_bits} bits"
    variant = "" if solution.variant == solution.game else f"{solution.variant} "  # a river is solved by `river`
    machine = f"{solution.engine} on {solution.device}{threads}"
    return f"{variant}· {solution.iterations:,} iterations · {machine} · {kept}"


def _print_runouts(solution: SpotSolution, look: Look, as_json: bool) -> None:

    then = look.then
    if then is None:  # the player in position acts after a check
        reader = solution.reader
        place = reader.find(look.line, look.cards)
        after = int(reader.form.tree.first_child[place.node])
        acts_later = look.player == "ip" and "check" in reader.actions(after)
        then = "check" if acts_later else ""
    report = solution.runouts(look.line, then=then, cards=look.cards)
    if as_json:
        ordered = replace(report, runouts=tuple(sorted_runouts(report, look.player or "oop", look.sort)))
        print_json((report if look.sort is None else ordered).as_json())
        return
    console = for_answers(fit=False)
    console.print(runout_table(report, look.player, sort=look.sort))
    for line in wrapped(runout_legend(report), page_columns(for_answers())):
        console.print(line)

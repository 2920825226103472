"""Two solved spots in the terminal: their EVs, where they play differently, and one node hand by hand."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from regretless.cards.ranges import Range
from regretless.cli.terminal.consoles import for_answers
from regretless.cli.terminal.json_output import print_json
from regretless.cli.terminal.numbers import cell_text
from regretless.cli.terminal.tables import plain_table
from regretless.cli.views.differences import difference_table, difference_text, heading
from regretless.cli.views.spot_grid import weight_text
from regretless.cli.views.spot_view import board_line
from regretless.colors import spot_colors
from regretless.errors import InvalidText
from regretless.holdem.reports import comparison
from regretless.holdem.reports.comparison import NodeDifference, Pair, SpotComparison
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.question import PlayerName

__all__ = ["compare_nodes", "compare_spots"]

Solutions = tuple[SpotSolution, SpotSolution]
LINES = 8  # most lines listed of those in only one tree


def compare_spots(solutions: Solutions, *, most: int | None, as_json: bool) -> None:
    """Compare two solved spots as a whole."""
    found = comparison.compare_spots(*solutions, most=most)
    if as_json:
        print_json({"first": str(solutions[0].path), "second": str(solutions[1].path), **found.as_json()})
        return
    console = for_answers(fit=False)
    for letter, solution in zip("AB", solutions, strict=True):
        console.print(heading(letter, solution, f"{solution.variant} · {solution.iterations:,} iterations"))
    console.print(Text("differ in " + ", ".join(found.changed) if found.changed else "the same spot", style="dim"))
    console.print()
    console.print(_overall(found))
    _print_nodes(console, found, most)


def _overall(found: SpotComparison) -> Table:
    table = difference_table()
    players: tuple[PlayerName, ...] = ("oop", "ip")
    for player in players:
        first, second = found.ev[player]
        table.add_row(f"EV {player}", f"{first:.2f}", f"{second:.2f}", difference_text(second - first), "chips")
    for player in players:
        first, second = found.equity[player]
        cells = f"{100 * first:.1f}", f"{100 * second:.1f}", difference_text(100 * (second - first), 1)
        table.add_row(f"equity {player}", *cells, "% of the pot")
    first, second = found.exploitability_pct_pot
    table.add_row("exploitability", f"{first:.3g}", f"{second:.3g}", "", "% of the pot")
    return table


def _print_nodes(console: Console, found: SpotComparison, most: int | None) -> None:
    shown = [node for node in found.nodes if node.rank > 0]
    console.print()
    if not shown:
        console.print("they play the same at every node that both reach")
    elif most is None or len(found.nodes) < most:
        console.print(f"nodes that both reach and play differently: {len(shown):,} of {found.visited:,} shared nodes")
    else:
        nodes = f"the {len(shown):,} nodes" if len(shown) > 1 else "the node"
        console.print(f"{nodes} where they differ most: how often both get there × share of play that differs")
    for node in shown:
        console.print()
        for line in _node_lines(node):
            console.print(line)
    for letter, lines in zip("AB", found.only, strict=True):
        if lines:
            more = f", … and {len(lines) - LINES:,} more" if len(lines) > LINES else ""
            listed = "; ".join(lines[:LINES])
            console.print()
            console.print(Text(f"only {letter} has {listed}{more}", style="yellow"))


def _node_lines(node: NodeDifference) -> list[Text]:
    title = Text(node.line or "first decision", style="bold")
    title.append(f"   {node.player} acts, {node.moved:.1%} played differently", style="default")
    if node.deals > 1:
        title.append(f" ({node.deals} deals alike)", style="dim")
    colors = spot_colors(list(node.frequencies))
    name = max(map(len, node.frequencies))
    name = max(name, len("EV oop"), len("reached"))
    lines = [title, Text(f"  {'':<{name}}{'A':>9}{'B':>9}{'B − A':>9}", style="dim")]

    def row(label: str, pair: Pair, scale: float, decimals: int, unit: str, style: str = "") -> Text:
        first, second = pair
        cells = [cell_text(None if each is None else each * scale, f".{decimals}f") for each in pair]
        apart = "" if first is None or second is None else difference_text((second - first) * scale, decimals)
        text = Text("  ").append(f"{label:<{name}}", style=style)
        return text.append(f"{cells[0]:>9}{cells[1]:>9}{apart:>9}").append(f"  {unit}", style="dim")

    lines += [row(action, pair, 100, 1, "%", colors[action]) for action, pair in node.frequencies.items()]
    lines += [row(f"EV {player}", node.ev[player], 1, 2, "chips") for player in ("oop", "ip")]
    return [*lines, row("reached", node.reached, 100, 2, "%")]


def compare_nodes(
    solutions: Solutions,
    line: str,
    cards: tuple[int, ...],
    *,
    player: PlayerName | None,
    hands: Range | None,
    most: int | None,
    as_json: bool,
) -> None:
    """Compare a node of two solved spots, hand by hand."""
    comparison.check_boards(*solutions)
    views = [solution.node(line, cards) for solution in solutions]
    shown: PlayerName = player or (views[0].player if views[0].kind == "decision" else None) or "oop"
    if hands is not None:
        views = [view.only(shown, hands) for view in views]
        if not any(len(view.hands[shown].hand) for view in views):
            raise InvalidText("hands", str(hands), None, f"{shown} holds none of these here")
    found = comparison.compare_nodes(views[0], views[1], shown)
    ranked = found[:most]
    played = [dict(zip(view.actions, view.frequencies, strict=True)) for view in views]
    means = {
        "frequencies": {
            action: tuple(each.get(action) for each in played)
            for action in ({**played[0], **played[1]} if views[0].player == shown else ())
        },
        "ev": tuple(view.ev(shown) for view in views),
        "equity": tuple(view.equity(shown) for view in views),
    }
    if as_json:
        first, second = (str(solution.path) for solution in solutions)
        where = {"first": first, "second": second, "line": views[0].line, "player": shown}
        print_json({**where, **means, "hands": [each.as_json() for each in ranked]})
        return

    console = for_answers(fit=False)
    for letter, solution, view in zip("AB", solutions, views, strict=True):
        mean = f"{shown}: EV {view.ev(shown):.2f} chips, equity {view.equity(shown):.1%}"
        console.print(heading(letter, solution, mean if view.reached else "never reached"))
    console.print(board_line(views[0]))
    console.print()
    table = plain_table()
    table.add_column(f"\n{shown}", style="bold", no_wrap=True)
    actions = list(ranked[0].strategy) if ranked else []
    colors = spot_colors(actions)
    for action in actions:
        table.add_column(f"{action}\nA", justify="right", style=colors[action], no_wrap=True)
        table.add_column("\nB", justify="right", style=colors[action], no_wrap=True)
    for name in ("EV", "weight"):
        table.add_column(f"{name}\nA", justify="right", no_wrap=True)
        table.add_column("\nB", justify="right", no_wrap=True)
    for each in ranked:
        shares = [cell_text(share, ".1%") for pair in each.strategy.values() for share in pair]
        table.add_row(each.hand, *shares, *(cell_text(chips, ".2f") for chips in each.ev), *map(_weight, each.weight))
    shares = [cell_text(share, ".1%") for pair in means["frequencies"].values() for share in pair]  # type: ignore[attr-defined]
    sums = [float(view.hands[shown].weight.sum()) for view in views]
    chips = [view.ev(shown) for view in views]
    table.add_row("all", *shares, *(cell_text(number, ".2f") for number in chips), *map(_weight, sums), style="dim")
    console.print(table)
    more = f"; {len(found) - len(ranked)} more: --all" if len(ranked) < len(found) else ""
    console.print(Text(f"largest weighted differences first; last row: averages and combos of all{more}", style="dim"))


def _weight(weight: float | None) -> str:
    return "–" if weight is None else weight_text(weight)

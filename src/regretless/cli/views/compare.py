"""Two solutions in the terminal: which file each letter stands for, and what differs between them.

Of games: values, exploitability, and the information sets that are played differently. Of spots: their EVs, where they
play differently, and one node hand by hand. Of all: what one wins from the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rich.console import Console
from rich.table import Table
from rich.text import Text

from regretless.cards.ranges import Range
from regretless.cli.terminal.consoles import for_answers, plain_table
from regretless.cli.terminal.json_output import print_json
from regretless.cli.terminal.numbers import cell_text, counted, signed_text
from regretless.cli.views.game_show import choose, payoff_unit, read_keys
from regretless.cli.views.labels import ROLES, PlayerNames, player_names
from regretless.cli.views.spot_view import ORDER, board_line, weight_text
from regretless.colors import spot_action_colors
from regretless.errors import InvalidText
from regretless.holdem import comparison
from regretless.holdem.comparison import HandDifference, NodeDifference, SpotComparison
from regretless.holdem.games.big_blinds import BigBlindSolution
from regretless.holdem.reading.nodes import NodeView
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.spot_fields import PlayerName
from regretless.printable import printable
from regretless.solving import game_comparison
from regretless.solving.game_comparison import GameComparison, Pair, SetDifference
from regretless.solving.game_solution import GameSolution
from regretless.solving.head_to_head import HeadToHead
from regretless.solving.solution import Solution

__all__ = [
    "compare_games", "compare_nodes", "compare_spots", "print_head_to_head",
]  # fmt: skip

GamePair = tuple[GameSolution, GameSolution]
SpotPair = tuple[SpotSolution, SpotSolution]
ViewPair = tuple[NodeView, NodeView]
LINES = 8  # lines listed at most, of those in only one of the trees


def _paths(solutions: tuple[Solution, Solution]) -> dict[str, object]:
    return {"first": str(solutions[0].path), "second": str(solutions[1].path)}


def _how(solution: Solution) -> str:
    return f"{solution.variant} · {solution.iterations:,} iterations"


def _print_headings(console: Console, solutions: tuple[Solution, Solution]) -> None:
    for letter, solution in zip("AB", solutions, strict=True):
        console.print(_heading(letter, solution, _how(solution)))


def _heading(letter: str, solution: Solution, how: str) -> Text:
    """A line that says which file a letter stands for."""
    return Text.assemble((f"{letter}  ", "bold"), printable(str(solution.path)), ("  " + printable(how), "dim"))


def _difference_table() -> Table:
    """An empty table: a name, the number of each solution, their difference, and a unit."""
    table = plain_table([""], ["A", "B", "B − A"])
    table.add_column("", style="dim")
    return table


def compare_games(solutions: GamePair, *, keys: str | None, limit: int | None, as_json: bool) -> None:
    """Compare two solved games."""
    result = game_comparison.compare_games(*solutions)
    selected_keys = read_keys(keys)
    sets = choose(result.information_sets, selected_keys, None)
    if selected_keys is None:
        sets = dict(sorted(sets.items(), key=lambda each: -each[1].moved)[:limit])
    result = replace(result, information_sets=sets)
    if as_json:
        print_json(_paths(solutions) | result.as_json())
    else:
        _print_games(solutions, result)


def _print_games(solutions: GamePair, result: GameComparison) -> None:
    console, unit = for_answers(fit=False), payoff_unit(solutions[0])
    for letter, solution in zip("AB", solutions, strict=True):
        console.print(_heading(letter, solution, f"{solution.game} · {_how(solution)}"))
    table = _difference_table()
    for player, (first, second) in enumerate(result.values):
        numbers = map(signed_text, (first, second, second - first))
        table.add_row(f"value, player {player}", *numbers, f"{unit} per game")
    measured = (None if each is None else max(each, 0.0) for each in result.exploitability)
    table.add_row("exploitability", *(cell_text(each, ".3g") for each in measured), "", f"{unit} per game")
    console.print()
    console.print(table)
    console.print()
    if any(each.moved > 0 for each in result.information_sets.values()):
        console.print(_information_set_table(result.information_sets))
    different, shared = result.differing, result.shared
    console.print(f"{different:,} of {shared:,} information sets are played differently", style="dim")
    for letter, count in zip("AB", (result.only_first, result.only_second), strict=True):
        if count:
            console.print(f"{count:,} information sets are only in {letter}", style="yellow")


def _information_set_table(sets: Mapping[str, SetDifference]) -> Table:
    table = plain_table(["information set", "action"], ["A", "B", "B − A", "differs"])
    for key, each in sets.items():
        if each.moved > 0:
            name, moved = " · ".join(key.split("\n")), f"{each.moved:.1%}"
            for action, (first, second) in each.strategy.items():
                difference = signed_text(100 * ((second or 0.0) - (first or 0.0)), 1)
                table.add_row(name, action, cell_text(first, ".1%"), cell_text(second, ".1%"), difference, moved)
                name = moved = ""
    return table


def print_head_to_head(solutions: tuple[Solution, Solution], result: HeadToHead, *, as_json: bool) -> None:
    """Two solutions against each other."""
    if as_json:
        print_json(_paths(solutions) | result.as_json())
        return
    scoring, console = _scoring(solutions[0], result), for_answers(fit=False)
    table = plain_table([""], ["A", "B", "A − B"])  # what A wins; elsewhere, what changes from A to B
    table.add_column("", style="dim")
    _print_headings(console, solutions)
    for (own_seat, other_seat), (own, other) in zip((scoring.seats, scoring.seats[::-1]), result.seats, strict=True):
        numbers = f"{own:.{scoring.decimals}f}", f"{other:.{scoring.decimals}f}"
        difference = signed_text(own - other, scoring.decimals)
        table.add_row(f"A {own_seat}, B {other_seat}", *numbers, difference, f"{scoring.unit} per game")
    console.print()
    console.print(table)
    console.print()
    edge = result.scale * result.edge
    amount = f"{abs(edge):.4g} {scoring.edge_unit}"
    winner = "neither wins" if edge == 0 else f"A wins {amount} from B" if edge > 0 else f"B wins {amount} from A"
    over = "" if result.flops is None else f", on {counted(result.flops, 'flop')}"
    console.print(Text(winner, style="bold").append(f"; mean of both seats{over}, exact", style="not bold"))


@dataclass(frozen=True)
class _Scoring:
    """How the numbers of a head-to-head result are named and printed."""

    seats: tuple[str, str]
    unit: str
    decimals: int
    edge_unit: str


def _scoring(solution: Solution, result: HeadToHead) -> _Scoring:
    edge_unit = result.unit.removeprefix("in ")
    if isinstance(solution, SpotSolution):
        names = player_names(solution.spot)
        return _Scoring((names["ip"], names["oop"]), "chips", 2, edge_unit)
    assert isinstance(solution, GameSolution)
    if isinstance(solution, BigBlindSolution):
        return _Scoring(("small blind", "big blind"), payoff_unit(solution), 5, edge_unit)
    unit = payoff_unit(solution)
    return _Scoring(("player 0", "player 1"), unit, 5, f"{unit} per game")


def compare_spots(solutions: SpotPair, *, limit: int | None, as_json: bool) -> None:
    """Compare two solved spots as a whole."""
    differences = comparison.compare_spots(*solutions, most=limit)
    if as_json:
        print_json(_paths(solutions) | differences.as_json())
        return
    console = for_answers(fit=False)
    _print_headings(console, solutions)
    console.print(
        Text("differ in " + ", ".join(differences.changed) if differences.changed else "the same spot", style="dim")
    )
    console.print()
    names = _shared_names(solutions)
    console.print(_spot_figures(differences, names))
    _print_nodes(console, differences, limit, names)


def _shared_names(solutions: SpotPair) -> PlayerNames:
    """What the players are called if both spots say the same."""
    first, second = (player_names(solution.spot) for solution in solutions)
    return first if first == second else ROLES


def _spot_figures(differences: SpotComparison, names: PlayerNames) -> Table:
    table = _difference_table()
    for player in ORDER:
        first, second = differences.ev[player]
        table.add_row(f"EV {names[player]}", f"{first:.2f}", f"{second:.2f}", signed_text(second - first, 2), "chips")
    for player in ORDER:
        first, second = differences.equity[player]
        cells = f"{100 * first:.1f}", f"{100 * second:.1f}", signed_text(100 * (second - first), 1)
        table.add_row(f"equity {names[player]}", *cells, "% of the pot")
    first, second = differences.exploitability_pct_pot
    table.add_row("exploitability", f"{first:.3g}", f"{second:.3g}", "", "% of the pot")
    return table


def _print_nodes(console: Console, differences: SpotComparison, limit: int | None, names: PlayerNames) -> None:
    shown = [node for node in differences.nodes if node.rank > 0]
    console.print()
    if not shown:
        console.print("they play the same at every node that both reach")
    elif limit is None or len(differences.nodes) < limit:
        console.print(
            f"nodes that both reach and play differently: {len(shown):,} of {differences.visited:,} shared nodes"
        )
    else:
        nodes = f"the {len(shown):,} nodes" if len(shown) > 1 else "the node"
        console.print(f"{nodes} where they differ most: how often both get there × share of play that differs")
    for node in shown:
        console.print()
        for line in _node_lines(node, names):
            console.print(line)
    for letter, lines in zip("AB", differences.only, strict=True):
        if lines:
            more = f", … and {len(lines) - LINES:,} more" if len(lines) > LINES else ""
            listed = "; ".join(lines[:LINES])
            console.print()
            console.print(Text(f"only {letter} has {listed}{more}", style="yellow"))


def _node_lines(node: NodeDifference, names: PlayerNames) -> list[Text]:
    title = Text(node.line or "first decision", style="bold")
    title.append(f"   {names[node.player]} acts, {node.moved:.1%} played differently", style="default")
    if node.deals > 1:
        title.append(f" ({node.deals} deals alike)", style="dim")
    colors = spot_action_colors(list(node.frequencies))
    evs = {player: f"EV {names[player]}" for player in ORDER}
    name = max(map(len, (*node.frequencies, *evs.values(), "reached")))
    lines = [title, Text(f"  {'':<{name}}{'A':>9}{'B':>9}{'B − A':>9}", style="dim")]

    def row(label: str, pair: Pair, scale: float, decimals: int, unit: str, style: str = "") -> Text:
        first, second = pair
        cells = [cell_text(None if each is None else each * scale, f".{decimals}f") for each in pair]
        difference = "" if first is None or second is None else signed_text((second - first) * scale, decimals)
        text = Text("  ").append(f"{label:<{name}}", style=style)
        return text.append(f"{cells[0]:>9}{cells[1]:>9}{difference:>9}").append(f"  {unit}", style="dim")

    lines += [row(action, pair, 100, 1, "%", colors[action]) for action, pair in node.frequencies.items()]
    lines += [row(label, node.ev[player], 1, 2, "chips") for player, label in evs.items()]
    return [*lines, row("reached", node.reached, 100, 2, "%")]


def compare_nodes(
    solutions: SpotPair,
    line: str,
    cards: tuple[int, ...],
    *,
    player: PlayerName | None,
    hands: Range | None,
    limit: int | None,
    as_json: bool,
) -> None:
    """Compare a node of two solved spots, hand by hand."""
    comparison.check_boards(*solutions)
    first, second = (solution.node(line, cards) for solution in solutions)
    seat: PlayerName = player or (first.player if first.kind == "decision" else None) or "oop"
    if hands is not None:
        first, second = first.only(seat, hands), second.only(seat, hands)
        if not (len(first.hands[seat].hand) or len(second.hands[seat].hand)):
            raise InvalidText("hands", str(hands), None, f"{seat} holds none of these here")
    differences = comparison.compare_nodes(first, second, seat)
    if as_json:
        print_json(
            _paths(solutions)
            | {
                "line": first.line,
                "player": seat,
                "frequencies": _frequencies((first, second), seat),
                "ev": (first.ev(seat), second.ev(seat)),
                "equity": (first.equity(seat), second.equity(seat)),
                "hands": [each.as_json() for each in differences[:limit]],
            }
        )
    else:
        _print_node(solutions, (first, second), seat, differences, limit)


def _frequencies(views: ViewPair, seat: PlayerName) -> dict[str, Pair]:
    """How often each action is taken in both solutions, if it is this player's turn."""
    return comparison.paired_frequencies(*views) if views[0].player == seat else {}


def _print_node(
    solutions: SpotPair, views: ViewPair, seat: PlayerName, differences: list[HandDifference], limit: int | None
) -> None:
    """A row for each hand, the largest weighted differences first, and one for all of them."""
    console, names = for_answers(fit=False), _shared_names(solutions)
    for letter, solution, view in zip("AB", solutions, views, strict=True):
        mean = f"{names[seat]}: EV {view.ev(seat):.2f} chips, equity {view.equity(seat):.1%}"
        console.print(_heading(letter, solution, mean if view.reached else "never reached"))
    console.print(board_line(views[0], names))
    console.print()
    ranked = differences[:limit]
    table = _hand_table(names[seat], list(ranked[0].strategy) if ranked else [])
    for each in ranked:
        table.add_row(each.hand, *_hand_cells(each.strategy, each.ev, each.weight))
    first, second = views
    ev = first.ev(seat), second.ev(seat)
    combos = float(first.hands[seat].weight.sum()), float(second.hands[seat].weight.sum())
    table.add_row("all", *_hand_cells(_frequencies(views, seat), ev, combos), style="dim")
    console.print(table)
    more = f"; {len(differences) - len(ranked)} more: --all" if len(ranked) < len(differences) else ""
    console.print(Text(f"largest weighted differences first; last row: averages and combos of all{more}", style="dim"))


def _hand_table(player: str, actions: list[str]) -> Table:
    """An empty table with columns A and B for each action, the EV and the weight."""
    table = plain_table()
    table.add_column(f"\n{player}", style="bold", no_wrap=True)
    colors = spot_action_colors(actions)
    for name in (*actions, "EV", "weight"):
        for letter, title in (("A", name), ("B", "")):
            table.add_column(f"{title}\n{letter}", justify="right", style=colors.get(name), no_wrap=True)
    return table


def _hand_cells(strategy: Mapping[str, Pair], ev: Pair, weight: Pair) -> list[str]:
    shares = [cell_text(share, ".1%") for pair in strategy.values() for share in pair]
    weights = ("–" if each is None else weight_text(each) for each in weight)
    return [*shares, *(cell_text(chips, ".2f") for chips in ev), *weights]

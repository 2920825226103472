"""Two solutions in the terminal: which file each letter stands for, and what differs between them.

Of games: values, exploitability, and the information sets that are played differently. The difference at an information
set is ½ Σ |difference of probabilities|: 0 if both play the same, 1 if they never do the same. A file does not record
how often a set is reached, so sets are not weighted by it. Of spots: their EVs, where they play differently, and one
node hand by hand. Of all: what one wins from the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
from regretless.colors import spot_colors
from regretless.errors import InvalidFile, InvalidText
from regretless.holdem import comparison
from regretless.holdem.comparison import HandDifference, NodeDifference, Pair, SpotComparison
from regretless.holdem.games.big_blinds import BigBlindSolution
from regretless.holdem.reading.nodes import NodeView
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.spot_fields import PlayerName
from regretless.printable import printable
from regretless.solving.game_solution import GameSolution
from regretless.solving.head_to_head import HeadToHead
from regretless.solving.solution import Solution

__all__ = [
    "compare_games", "compare_nodes", "compare_spots", "difference_table", "difference_text", "heading",
    "print_head_to_head",
]  # fmt: skip

GamePair = tuple[GameSolution, GameSolution]
SpotPair = tuple[SpotSolution, SpotSolution]
ViewPair = tuple[NodeView, NodeView]
LINES = 8  # lines listed at most, of those in only one of the trees


def heading(letter: str, solution: Solution, how: str) -> Text:
    """A line that says which file a letter stands for."""
    return Text.assemble((f"{letter}  ", "bold"), printable(str(solution.path)), ("  " + printable(how), "dim"))


def difference_table() -> Table:
    """An empty table: a name, the number of each solution, their difference, and a unit."""
    table = plain_table([""], ["A", "B", "B − A"])
    table.add_column("", style="dim")
    return table


def difference_text(number: float, decimals: int = 2) -> str:
    """A difference with its sign.

    >>> difference_text(-1.234), difference_text(0.5, 1), difference_text(-0.001)
    ('−1.23', '+0.5', '0.00')
    """
    text = f"{number:+.{decimals}f}"
    return text.replace("-", "−") if float(text) else text[1:]


def compare_games(solutions: GamePair, *, keys: str | None, limit: int | None, as_json: bool) -> None:
    """Compare two solved games."""
    first, second = solutions
    shared = {key: second.strategy[key] for key in first.strategy if key in second.strategy}
    if not shared:
        raise InvalidFile(second.path, f"has no information set in common with {first.path}")
    chosen_keys = read_keys(keys)
    chosen = choose(shared, chosen_keys, None)
    moved = {key: _distance(first.strategy[key], played) for key, played in chosen.items()}
    ranked = sorted(moved, key=lambda key: -moved[key]) if chosen_keys is None else list(moved)
    if chosen_keys is None:
        ranked = ranked[:limit]
    only = [len(first.strategy) - len(shared), len(second.strategy) - len(shared)]
    if as_json:
        print_json(
            {
                "first": str(first.path),
                "second": str(second.path),
                "game": [first.game, second.game],
                "values": [list(pair) for pair in _values(solutions)],
                "exploitability": [each.exploitability if each.is_measured else None for each in solutions],
                "shared": len(shared),
                "only_first": only[0],
                "only_second": only[1],
                "information_sets": {
                    key: {
                        "moved": moved[key],
                        "strategy": {
                            action: [first.strategy[key].get(action), second.strategy[key].get(action)]
                            for action in {**first.strategy[key], **second.strategy[key]}
                        },
                    }
                    for key in ranked
                },
            }
        )
        return
    _print_games(solutions, ranked, moved, only, shared=len(shared))


def _distance(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    return sum(abs(first.get(each, 0.0) - second.get(each, 0.0)) for each in {**first, **second}) / 2


def _print_games(
    solutions: GamePair, ranked: list[str], moved: dict[str, float], only: list[int], *, shared: int
) -> None:
    first, second = solutions
    console = for_answers(fit=False)
    for letter, solution in zip("AB", solutions, strict=True):
        how = f"{solution.game} · {solution.variant} · {solution.iterations:,} iterations"
        console.print(heading(letter, solution, how))
    console.print()
    console.print(_game_figures(first, second))
    console.print()
    differing = sum(each > 0 for each in moved.values())
    if differing:
        console.print(_information_set_table(solutions, [key for key in ranked if moved[key] > 0], moved))
    console.print(f"{differing:,} of {shared:,} information sets are played differently", style="dim")
    for letter, count in zip("AB", only, strict=True):
        if count:
            console.print(f"{count:,} information sets are only in {letter}", style="yellow")


def _game_figures(first: GameSolution, second: GameSolution) -> Table:
    unit = payoff_unit(first)
    table = difference_table()
    for player, pair in enumerate(_values((first, second))):
        apart = difference_text(pair[1] - pair[0], 5)
        table.add_row(f"value, player {player}", *map(signed_text, pair), apart, f"{unit} per game")
    measured = [f"{max(each.exploitability, 0.0):.3g}" if each.is_measured else "–" for each in (first, second)]
    table.add_row("exploitability", *measured, "", f"{unit} per game")
    return table


def _values(solutions: GamePair) -> Iterator[tuple[float, float]]:
    """What each player gets in both; nothing if one of them was not measured."""
    first, second = solutions
    if first.is_measured and second.is_measured:
        yield from zip(first.values, second.values, strict=False)


def _information_set_table(solutions: GamePair, shown: list[str], moved: dict[str, float]) -> Table:
    table = plain_table(["information set", "action"], ["A", "B", "B − A", "differs"])
    for key in shown:
        first, second = (solution.strategy[key] for solution in solutions)
        for number, action in enumerate({**first, **second}):
            pair = first.get(action), second.get(action)
            cells = ["–" if share is None else f"{share:.1%}" for share in pair]
            apart = difference_text(100 * ((pair[1] or 0.0) - (pair[0] or 0.0)), 1)
            name, differs = (" · ".join(key.split("\n")), f"{moved[key]:.1%}") if number == 0 else ("", "")
            table.add_row(name, action, *cells, apart, differs)
    return table


def print_head_to_head(solutions: tuple[Solution, Solution], result: HeadToHead, *, as_json: bool) -> None:
    """Two solutions against each other."""
    first, second = solutions
    if as_json:
        print_json({"first": str(first.path), "second": str(second.path), **result.as_json()})
        return
    seats, unit, decimals = ("player 0", "player 1"), "chips", 2
    if isinstance(first, SpotSolution):
        names = player_names(first.spot)
        seats = names["ip"], names["oop"]
    elif isinstance(first, GameSolution):
        unit, decimals = payoff_unit(first), 5
        if isinstance(first, BigBlindSolution):
            seats = "small blind", "big blind"
    console, table = for_answers(fit=False), plain_table([""], ["A", "B", "A − B"])
    table.add_column("", style="dim")
    for letter, solution in zip("AB", solutions, strict=True):
        console.print(heading(letter, solution, f"{solution.variant} · {solution.iterations:,} iterations"))
    console.print()
    for seat, (own, other) in enumerate(result.seats):
        cells = (f"{value:.{decimals}f}" for value in (own, other))
        table.add_row(
            f"A {seats[seat]}, B {seats[1 - seat]}", *cells, difference_text(own - other, decimals), f"{unit} per game"
        )
    console.print(table)
    console.print()
    edge, of = result.scale * result.edge, f"{unit} per game"
    if not isinstance(first, GameSolution) or isinstance(first, BigBlindSolution):
        of = result.unit.removeprefix("in ")
    amount = f"{abs(edge):.4g} {of}"
    winner = "neither wins" if edge == 0 else f"A wins {amount} from B" if edge > 0 else f"B wins {amount} from A"
    over = "" if result.flops is None else f", on {counted(result.flops, 'flop')}"
    console.print(Text(winner, style="bold").append(f"; mean of both seats{over}, exact", style="not bold"))


def compare_spots(solutions: SpotPair, *, limit: int | None, as_json: bool) -> None:
    """Compare two solved spots as a whole."""
    differences = comparison.compare_spots(*solutions, most=limit)
    if as_json:
        print_json({"first": str(solutions[0].path), "second": str(solutions[1].path), **differences.as_json()})
        return
    console = for_answers(fit=False)
    for letter, solution in zip("AB", solutions, strict=True):
        console.print(heading(letter, solution, f"{solution.variant} · {solution.iterations:,} iterations"))
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
    table = difference_table()
    for player in ORDER:
        first, second = differences.ev[player]
        table.add_row(f"EV {names[player]}", f"{first:.2f}", f"{second:.2f}", difference_text(second - first), "chips")
    for player in ORDER:
        first, second = differences.equity[player]
        cells = f"{100 * first:.1f}", f"{100 * second:.1f}", difference_text(100 * (second - first), 1)
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
    colors = spot_colors(list(node.frequencies))
    evs = {player: f"EV {names[player]}" for player in ORDER}
    name = max(map(len, (*node.frequencies, *evs.values(), "reached")))
    lines = [title, Text(f"  {'':<{name}}{'A':>9}{'B':>9}{'B − A':>9}", style="dim")]

    def row(label: str, pair: Pair, scale: float, decimals: int, unit: str, style: str = "") -> Text:
        first, second = pair
        cells = [cell_text(None if each is None else each * scale, f".{decimals}f") for each in pair]
        apart = "" if first is None or second is None else difference_text((second - first) * scale, decimals)
        text = Text("  ").append(f"{label:<{name}}", style=style)
        return text.append(f"{cells[0]:>9}{cells[1]:>9}{apart:>9}").append(f"  {unit}", style="dim")

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
            {
                "first": str(solutions[0].path),
                "second": str(solutions[1].path),
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
    if views[0].player != seat:
        return {}
    first, second = (dict(zip(view.actions, view.frequencies, strict=True)) for view in views)
    return {action: (first.get(action), second.get(action)) for action in {**first, **second}}


def _print_node(
    solutions: SpotPair, views: ViewPair, seat: PlayerName, differences: list[HandDifference], limit: int | None
) -> None:
    """A row for each hand, the largest weighted differences first, and one for all of them."""
    console, names = for_answers(fit=False), _shared_names(solutions)
    for letter, solution, view in zip("AB", solutions, views, strict=True):
        mean = f"{names[seat]}: EV {view.ev(seat):.2f} chips, equity {view.equity(seat):.1%}"
        console.print(heading(letter, solution, mean if view.reached else "never reached"))
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
    colors = spot_colors(actions)
    for name in (*actions, "EV", "weight"):
        for letter, title in (("A", name), ("B", "")):
            table.add_column(f"{title}\n{letter}", justify="right", style=colors.get(name), no_wrap=True)
    return table


def _hand_cells(strategy: Mapping[str, Pair], ev: Pair, weight: Pair) -> list[str]:
    shares = [cell_text(share, ".1%") for pair in strategy.values() for share in pair]
    return [*shares, *(cell_text(chips, ".2f") for chips in ev), *map(_weight, weight)]


def _weight(weight: float | None) -> str:
    return "–" if weight is None else weight_text(weight)

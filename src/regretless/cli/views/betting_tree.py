"""The betting tree of a spot or a game, printed piece by piece: it may have a million nodes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from rich.text import Text

from regretless.cli.terminal.consoles import for_answers
from regretless.cli.terminal.json_output import strict_json
from regretless.cli.terminal.numbers import chips_text
from regretless.cli.views.labels import ROLES, PlayerNames, player_names, tree_actions
from regretless.colors import spot_action_colors
from regretless.forms.public import BettingTree, NodeKind
from regretless.forms.walking import action_labels, children
from regretless.holdem.form.betting import HasTable, betting_tree
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import PLAYERS, BettingTable

__all__ = ["print_tree"]

AT_ONCE = 500  # lines, or JSON nodes, printed together
BRANCH, LAST, PASSING, NOTHING = "├── ", "└── ", "│   ", "    "
PLAIN = {BRANCH: "+-- ", LAST: "`-- ", PASSING: "|   ", NOTHING: "    "}  # for streams that lack those characters


def print_tree(spot_or_game: HasTable, *, as_json: bool = False) -> None:
    """The betting tree of a spot or a game, street by street."""
    tree = betting_tree(spot_or_game)
    if as_json:
        pieces = _json(tree, 0)
        while chunk := list(islice(pieces, AT_ONCE)):
            print("".join(chunk), end="")
        print()
        return
    console = for_answers(fit=False)  # a terminal may wrap a deep branch, but none is cut
    table = spot_or_game.table
    console.print(_heading(table), style="bold")
    names = player_names(spot_or_game) if isinstance(spot_or_game, Spot) else ROLES
    lines = _tree_lines(table, tree, 0, "", names, plain=console.options.ascii_only)
    while printed := list(islice(lines, AT_ONCE)):
        console.print(Text("\n").join(printed), no_wrap=True)
    console.print(f"\n{len(tree.kind):,} betting nodes", style="dim")


def _heading(table: BettingTable) -> str:
    posted = f"pot {chips_text(table.pot)}"
    if table.blinds is not None:
        ante = f", ante {chips_text(table.ante)}" if table.ante else ""
        posted = f"blinds {'/'.join(map(chips_text, table.blinds))}{ante}"
    return f"{table.streets[0]}, {posted}, stack {chips_text(table.stack)}"


def _tree_lines(
    table: BettingTable, tree: BettingTree, node: int, above: str, names: PlayerNames, *, plain: bool
) -> Iterator[Text]:
    """The lines below a node, each with the branches that lead to it."""
    labels = action_labels(tree, node)
    colors = spot_action_colors([label for label in labels if label])
    before_flop = table.streets[int(tree.street[node])] == "preflop"
    texts = labels if before_flop else tree_actions(tree, node, table.pot, labels)
    for child, label, text in zip(children(tree, node), labels, texts, strict=True):
        last = child == int(tree.first_child[node + 1]) - 1
        pot = table.pot + float(tree.paid[child].sum())
        line = Text(_guide(above, LAST if last else BRANCH, plain))
        if label:
            line.append(f"{names[PLAYERS[int(tree.player[node])]]} ", style="dim")
            line.append(text, style=colors[label])
        else:
            line.append(f"{table.streets[int(tree.street[child])]}, pot {chips_text(pot)}", style="dim italic")
        if tree.kind[child] == NodeKind.SHOWDOWN:
            line.append(f"  showdown, pot {chips_text(pot)}", style="dim")
        yield line
        yield from _tree_lines(
            table, tree, child, _guide(above, NOTHING if last else PASSING, plain), names, plain=plain
        )


def _guide(above: str, branch: str, plain: bool) -> str:
    return above + (PLAIN[branch] if plain else branch)


def _json(tree: BettingTree, node: int) -> Iterator[str]:
    """A node and its subtree as JSON: kind, chips paid, who acts, and the node after each action."""
    paid = {"oop": float(tree.paid[node, 1]), "ip": float(tree.paid[node, 0])}
    text = strict_json({"kind": NodeKind(int(tree.kind[node])).name.lower(), "paid": paid})[:-1]
    if tree.player[node] >= 0:
        text += f', "player": "{PLAYERS[int(tree.player[node])]}"'
    below = children(tree, node)
    if not below:
        yield text + "}"
        return
    text += ', "actions": {'
    for child in below:
        yield f"{text}{strict_json(tree.labels[child] or 'deal')}: "
        yield from _json(tree, child)
        text = ", "
    yield "}}"

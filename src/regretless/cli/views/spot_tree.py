"""The betting tree that `regretless show --tree` prints, piece by piece: it may have a million nodes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from rich.text import Text

from regretless.cli.terminal.consoles import for_answers
from regretless.cli.terminal.json_output import strict_json
from regretless.cli.terminal.numbers import chips_text
from regretless.colors import spot_colors
from regretless.forms.public import BettingTree, NodeKind
from regretless.holdem.form.betting import HasTable, betting_tree
from regretless.holdem.spots.question import Table

__all__ = ["print_tree"]

AT_ONCE = 500  # lines, or JSON nodes, printed together
BRANCH, LAST, PASSING, NOTHING = "├── ", "└── ", "│   ", "    "
PLAIN = {BRANCH: "+-- ", LAST: "`-- ", PASSING: "|   ", NOTHING: "    "}  # for streams that lack those characters


def print_tree(question: HasTable, *, as_json: bool = False) -> None:
    """The betting tree of a spot or a game, street by street."""
    tree = betting_tree(question)
    if as_json:
        pieces = _json(tree, 0)
        while some := list(islice(pieces, AT_ONCE)):
            print("".join(some), end="")
        print()
        return
    console = for_answers(fit=False)  # a terminal may wrap a deep branch, but none is cut
    table = question.table
    console.print(_heading(table), style="bold")
    lines = _lines(table, tree, 0, "", plain=console.options.ascii_only)
    while part := list(islice(lines, AT_ONCE)):
        console.print(Text("\n").join(part), no_wrap=True)
    console.print(f"\n{len(tree.kind):,} betting nodes", style="dim")


def _heading(table: Table) -> str:
    posted = f"pot {chips_text(table.pot)}"
    if table.blinds is not None:
        ante = f", ante {chips_text(table.ante)}" * bool(table.ante)
        posted = f"blinds {'/'.join(map(chips_text, table.blinds))}{ante}"
    return f"{table.streets[0]}, {posted}, stack {chips_text(table.stack)}"


def _lines(table: Table, tree: BettingTree, node: int, above: str, *, plain: bool) -> Iterator[Text]:
    """The lines below a node, each with the branches that lead to it."""
    children = range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
    colors = spot_colors([tree.labels[child] for child in children if tree.labels[child]])
    for child in children:
        last = child == children[-1]
        label = tree.labels[child]
        pot = table.pot + float(tree.paid[child].sum())
        line = Text(_guide(above, LAST if last else BRANCH, plain))
        if label:
            line.append(f"{('ip', 'oop')[int(tree.player[node])]} ", style="dim")
            line.append(label, style=colors[label])
        else:
            line.append(f"{table.streets[int(tree.street[child])]}, pot {chips_text(pot)}", style="dim italic")
        if tree.kind[child] == NodeKind.SHOWDOWN:
            line.append(f"  showdown, pot {chips_text(pot)}", style="dim")
        yield line
        yield from _lines(table, tree, child, _guide(above, NOTHING if last else PASSING, plain), plain=plain)


def _guide(above: str, here: str, plain: bool) -> str:
    return above + (PLAIN[here] if plain else here)


def _json(tree: BettingTree, node: int) -> Iterator[str]:
    """A node and its subtree as JSON: kind, chips paid, who acts, and the node after each action."""
    paid = {"oop": float(tree.paid[node, 1]), "ip": float(tree.paid[node, 0])}
    text = strict_json({"kind": NodeKind(int(tree.kind[node])).name.lower(), "paid": paid})[:-1]
    if tree.player[node] >= 0:
        text += f', "player": "{("ip", "oop")[int(tree.player[node])]}"'
    children = range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
    if not children:
        yield text + "}"
        return
    text += ', "actions": {'
    for child in children:
        yield f"{text}{strict_json(tree.labels[child] or 'deal')}: "
        yield from _json(tree, child)
        text = ", "
    yield "}}"

"""`regretless show` for spots: a node of a solved one, or the betting tree of one that is not solved yet."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regretless.cli.consoles import for_answers
from regretless.cli.json_output import print_json
from regretless.cli.numbers import bytes_text, duration_text
from regretless.errors import InvalidOption
from regretless.printable import printable

if TYPE_CHECKING:
    from rich.tree import Tree

    from regretless.forms.public import BettingTree
    from regretless.postflop.solution import SpotSolution
    from regretless.postflop.spot import Spot

__all__ = ["print_spot", "print_tree", "show_spot"]

FIRST_HANDS = 20


def show_spot(
    file: Path, *, node: str, hands: bool, runouts: bool, tree: bool, as_json: bool, svg: Path | None = None
) -> None:
    """Show a `.rgl` file of a spot, or the tree of a `.toml` file."""
    from regretless.postflop.spot import Spot

    if file.suffix == ".toml":
        if not tree:
            raise InvalidOption(
                "FILE", str(file), "is not solved: --tree shows its betting tree, regretless solve solves it"
            )
        print_tree(Spot.read(file), as_json=as_json)
        return
    from regretless.postflop.solution import SpotSolution

    solution = SpotSolution.load(file)
    if svg is not None:
        _draw(solution, node, svg)
    elif tree:
        print_tree(solution.spot, as_json=as_json)
    elif runouts:
        _print_runouts(solution, node, as_json)
    elif as_json:
        answer = solution.as_json()
        answer["node"] = solution.node(node).as_json(hands=hands)
        print_json(answer)
    else:
        print_spot(solution, node=node, hands=hands)


def print_spot(solution: SpotSolution, *, node: str = "", hands: bool = False) -> None:
    """The summary of a solve and one node of it."""
    from rich.text import Text

    from regretless.cli.spot_view import hand_table, node_lines

    view = solution.node(node)
    console = for_answers()
    color = console.color_system is not None
    console.print(Text(printable(solution.game), style="bold"), Text(_how(solution), style="dim"), soft_wrap=True)
    console.print(
        Text.assemble(
            "exploitability ", (f"{solution.exploitability_pct_pot:.3g} %", "bold"), " of the pot "
            f"({solution.exploitability:.3g} chips), {duration_text(solution.seconds)}, "
            f"{bytes_text(solution.memory_bytes)}",
        ),
        soft_wrap=True,
    )  # fmt: skip
    if solution.settings.target is not None and solution.exploitability_pct_pot > solution.settings.target:
        console.print(f"the target of {solution.settings.target:g} % was not reached", style="yellow")
    console.print()
    for line in node_lines(view, color=color):
        console.print(line, no_wrap=True, soft_wrap=True)
    if hands:
        for player in ("oop", "ip"):
            console.print()
            console.print(hand_table(view, player))


def _draw(solution: SpotSolution, node: str, path: Path) -> None:
    """The picture of a node as an SVG file that asks no other server for anything."""
    from regretless.cli.consoles import for_drawing, for_people
    from regretless.cli.spot_view import BAR, node_lines
    from regretless.storage.atomic import replace_file

    console = for_drawing(BAR + 2)
    for line in node_lines(solution.node(node), color=True):
        console.print(line, no_wrap=True, overflow="crop")
    drawn = console.export_svg(title=printable(f"regretless show {solution.game}"))
    drawn = re.sub(r"@font-face \{.*?\}|<!--.*?-->", "", drawn, flags=re.DOTALL)
    with replace_file(path) as temporary:
        temporary.write_text(drawn, encoding="utf-8")
    for_people().print(f"saved {path}", style="dim", soft_wrap=True)


def _how(solution: SpotSolution) -> str:
    threads = f", {solution.threads} threads" if solution.threads > 1 else ""
    return f"{solution.variant} · {solution.iterations:,} iterations · {solution.engine} on {solution.device}{threads}"


def _print_runouts(solution: SpotSolution, node: str, as_json: bool) -> None:
    from regretless.cli.spot_view import runout_table

    report = solution.runouts(node)
    if as_json:
        print_json(report.as_json())
        return
    for_answers().print(runout_table(report))


def print_tree(spot: Spot, *, as_json: bool = False) -> None:
    """The betting tree of a spot, street by street."""
    from regretless.postflop.betting import betting_tree

    tree = betting_tree(spot)
    if as_json:
        print_json(_nested(tree, 0))
        return
    console = for_answers(fit=False)  # a terminal may wrap a deep branch, but none is cut
    console.print(_branch(spot, tree), no_wrap=True)
    console.print(f"\n{len(tree.kind):,} betting nodes", style="dim")


def _nested(tree: BettingTree, node: int) -> dict[str, Any]:
    from regretless.forms.public import Kind

    kind = Kind(int(tree.kind[node])).name.lower()
    answer: dict[str, Any] = {"kind": kind, "paid": {"oop": float(tree.paid[node, 1]), "ip": float(tree.paid[node, 0])}}
    if tree.player[node] >= 0:
        answer["player"] = ("ip", "oop")[int(tree.player[node])]
    children = range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
    if children:
        answer["actions"] = {tree.labels[child] or "deal": _nested(tree, child) for child in children}
    return answer


def _branch(spot: Spot, tree: BettingTree) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    from regretless.cli.spot_view import spot_colors
    from regretless.forms.public import Kind

    top = Tree(Text(f"{spot.streets[0]}, pot {spot.pot:g}, stack {spot.stack:g}", style="bold"))

    def grow(above: Tree, node: int) -> None:
        children = range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
        colors = spot_colors([tree.labels[child] for child in children if tree.labels[child]])
        for child in children:
            label = tree.labels[child]
            pot = spot.pot + float(tree.paid[child].sum())
            if not label:
                text = Text(f"{spot.streets[int(tree.street[child])]}, pot {pot:g}", style="dim italic")
            else:
                text = Text(f"{('ip', 'oop')[int(tree.player[node])]} ", style="dim")
                text.append(label, style=colors[label])
            if tree.kind[child] == Kind.SHOWDOWN:
                text.append(f"  showdown, pot {pot:g}", style="dim")
            grow(above.add(text), child)

    grow(top, 0)
    return top

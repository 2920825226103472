"""`regretless compare`: two solutions side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regretless.cli.arguments import options
from regretless.cli.arguments.options import SPOTS, argument, flag, option, refuse_others
from regretless.errors import InvalidFile, InvalidOption

__all__ = ["compare"]

TOP = 10

# Which options each kind of answer takes; any other is refused by name.
TAKES = {
    "games": {"--information-sets", "--top", "--all", "--json"},
    "whole spots": {"--top", "--all", "--json"},
    "a node": {"--line", "--board", "--player", "--hands", "--top", "--all", "--json"},
}


def compare(
    context: typer.Context,
    first: Annotated[Path, argument("A solution.", "A.rgl")],
    second: Annotated[Path, argument("Another one.", "B.rgl")],
    line: options.Line = None,
    board: options.Board = None,
    player: options.Player = None,
    hands: Annotated[
        str | None,
        option("With --line, only these hands: [cyan]'AK, 99+'[/cyan].", SPOTS, default="all", metavar="RANGE"),
    ] = None,
    information_sets: Annotated[str | None, options.information_sets("the largest differences")] = None,
    top: Annotated[int | None, option("How many nodes, hands or information sets to show.", default=str(TOP))] = None,
    all_: Annotated[bool, flag("--all", "Show all of them.")] = False,
    json_: options.Json = False,
) -> None:
    """Compare two solutions: EVs, frequencies and where they play differently, largest differences first.

    Two spots on the same board may differ in ranges, sizes, locks or targets: nodes in both trees are compared, and
    nodes in only one are listed. With --line, one node is compared hand by hand.

    \b
    [cyan]regretless compare equilibrium.rgl locked.rgl[/cyan]
    [cyan]regretless compare equilibrium.rgl locked.rgl --line 'check' --hands 'AK, 99+'[/cyan]
    [cyan]regretless compare leduc-100.rgl leduc-1000.rgl --top 5[/cyan]
    """
    from regretless.api import load
    from regretless.holdem.solution import SpotSolution
    from regretless.solving.game_solution import GameSolution

    if top is not None and top < 1:
        raise InvalidOption("top", top, "must be at least 1")
    if top is not None and all_:
        raise typer.BadParameter("choose one of --top and --all", param_hint="--top")
    limit = None if all_ else top or TOP
    one, other = load(first), load(second)
    if isinstance(one, GameSolution) and isinstance(other, GameSolution):
        from regretless.cli.views.compare import compare_games

        refuse_others(context, "games", TAKES["games"])
        compare_games((one, other), keys=information_sets, limit=limit, as_json=json_)
    elif isinstance(one, SpotSolution) and isinstance(other, SpotSolution):
        from regretless.cli.views.compare import compare_nodes, compare_spots

        if line is None and board is None:
            hints = dict.fromkeys(TAKES["a node"], ": --line names the node")
            refuse_others(context, "whole spots", TAKES["whole spots"], hints)
            compare_spots((one, other), limit=limit, as_json=json_)
            return
        refuse_others(context, "a node", TAKES["a node"])
        compare_nodes(
            (one, other),
            line or "",
            options.read_cards(board),
            player=options.read_player(player),
            hands=options.read_range(hands),
            limit=limit,
            as_json=json_,
        )
    else:
        spot, game = (first, second) if isinstance(one, SpotSolution) else (second, first)
        raise InvalidFile(spot, f"is a spot and {game} is a game: they cannot be compared")

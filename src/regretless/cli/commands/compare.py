"""`regretless compare`: two solutions side by side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from regretless.cli.solving.spot_options import Board, Line, Player, one_range, read_cards, read_player
from regretless.errors import InvalidFile, InvalidOption

__all__ = ["compare"]

TOP = 10

# Which options each kind of answer takes; any other is refused by name.
TAKES = {
    "games": {"--information-sets", "--top", "--all"},
    "whole spots": {"--top", "--all"},
    "a node": {"--line", "--board", "--player", "--hands", "--top", "--all"},
}


def compare(
    first: Annotated[Path, typer.Argument(metavar="A.rgl", show_default=False, help="A solution.")],
    second: Annotated[Path, typer.Argument(metavar="B.rgl", show_default=False, help="Another one.")],
    line: Line = None,
    board: Board = None,
    player: Player = None,
    hands: Annotated[
        str | None,
        typer.Option(
            show_default="all",
            metavar="RANGE",
            rich_help_panel="Hold'em spots",
            help="With --line, only these hands: [cyan]'AK, 99+'[/cyan].",
        ),
    ] = None,
    information_sets: Annotated[
        str | None,
        typer.Option(show_default="the largest differences", help="For games: only these, separated by commas."),
    ] = None,
    top: Annotated[
        int | None, typer.Option(show_default=str(TOP), help="How many nodes, hands or information sets to show.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Show all of them.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, and nothing else.")] = False,
) -> None:
    """Compare two solutions: EVs, frequencies and where they play differently, largest differences first.

    Two spots on the same board may differ in ranges, sizes, locks or targets: nodes in both trees are compared, and
    nodes in only one are listed. With --line, one node is compared hand by hand.

    \b
    [cyan]regretless compare equilibrium.rgl locked.rgl[/cyan]
    [cyan]regretless compare equilibrium.rgl locked.rgl --line 'check' --hands 'AK, 99+'[/cyan]
    [cyan]regretless compare leduc-100.rgl leduc-1000.rgl --top 5[/cyan]
    """
    from regretless.cli.terminal.inputs import is_spot_file

    if top is not None and top < 1:
        raise InvalidOption("top", top, "must be at least 1")
    if top is not None and all_:
        raise typer.BadParameter("choose one of --top and --all", param_hint="--top")
    most = None if all_ else top or TOP
    spots = [is_spot_file(path) for path in (first, second)]
    at_node = line is not None or board is not None
    given = {
        "--line": line,
        "--board": board,
        "--player": player,
        "--hands": hands,
        "--information-sets": information_sets,
    }
    if all(spots):
        from regretless.cli.views.spot_compare import compare_files, compare_files_at

        _refuse_others("a node" if at_node else "whole spots", given)
        if at_node:
            compare_files_at(
                (first, second),
                line or "",
                read_cards(board),
                player=read_player(player),
                hands=one_range(hands),
                most=most,
                as_json=json_,
            )
        else:
            compare_files((first, second), most=most, as_json=json_)
        return
    from regretless.cli.views.game_compare import compare_games
    from regretless.storage.solutions import load_solution

    if any(spots):
        spot, game = (first, second) if spots[0] else (second, first)
        load_solution(game)
        raise InvalidFile(spot, f"is a spot and {game} is a game: they cannot be compared")
    _refuse_others("games", given)
    compare_games((first, second), keys=information_sets, most=most, as_json=json_)


def _refuse_others(kind: str, given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        if value is not None and name not in TAKES[kind]:
            hint = ": --line names the node" if kind == "whole spots" and name in TAKES["a node"] else ""
            raise InvalidOption(name.lstrip("-"), value, f"does not apply to {kind}{hint}")

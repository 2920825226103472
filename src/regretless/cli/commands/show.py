"""`regretless show`: what a solution file holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from regretless.cli.arguments import options
from regretless.cli.arguments.options import SPOTS, option, read_cards, read_player, read_range, refuse_others
from regretless.cli.terminal.json_output import print_json
from regretless.errors import InvalidOption

if TYPE_CHECKING:
    from regretless.holdem.reading.places import Played

__all__ = ["ShowCommand", "show"]

# Which options each kind of answer takes; any other is refused by name.
TAKES = {
    "a game": {"--strategy", "--information-sets", "--json"},
    "flop-holdem": {"--line", "--board", "--hands", "--json"},
    "--tree": {"--json"},
    "--svg": {"--line", "--board", "--player", "--hands", "--grid"},
    "--runouts": {"--line", "--board", "--player", "--then", "--sort", "--json"},
    "a node": {"--line", "--board", "--player", "--hands", "--strategy", "--grid", "--sort", "--json"},
}


class ShowCommand(TyperCommand):
    """The command, with a `--hands` that may stand alone: every hand."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        given: list[str] = []
        for place, word in enumerate(args):
            given.append(word)
            following = args[place + 1] if place + 1 < len(args) else "-"
            if word == "--hands" and (following.startswith("-") or following.endswith((".rgl", ".toml"))):
                given.append("")
        return super().parse_args(ctx, given)


def show(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A .rgl file; or a spot's .toml file, with --tree.", show_default=False)],
    strategy: Annotated[
        bool, option("--strategy", help="Show every information set, or every hand of a spot.")
    ] = False,
    information_sets: Annotated[str | None, options.information_sets("the first few")] = None,
    line: options.Line = None,
    board: options.Board = None,
    player: options.Player = None,
    hands: Annotated[
        str | None,
        option(
            help="A row per hand: strategy, EV of each action, weight, equity, EV, EQR. With a range, such as "
            "[cyan]'AK, 99+'[/cyan], only these hands and their averages.",
            panel=SPOTS,
            metavar="[RANGE]",
        ),
    ] = None,
    grid: Annotated[
        str | None,
        option(
            help="What the cells show: strategy, ev, equity, eqr or weight.",
            panel=SPOTS,
            default="strategy",
            metavar="KIND",
        ),
    ] = None,
    runouts: Annotated[
        bool,
        option("--runouts", help="A row for each card that can be dealt after --line.", panel=SPOTS),
    ] = False,
    then: Annotated[
        str | None,
        option(
            help="With --runouts, the actions after the card.",
            panel=SPOTS,
            default="check, with --player ip",
            metavar="LINE",
        ),
    ] = None,
    sort: Annotated[
        str | None,
        option(
            help="Sort the rows of --hands or --runouts by this column: ev, equity, eqr, an action such as 'bet 94', …",
            panel=SPOTS,
            default="weight, or card",
            metavar="COLUMN",
        ),
    ] = None,
    svg: Annotated[Path | None, option(help="Draw the node to this .svg file instead.", panel=SPOTS)] = None,
    tree: Annotated[bool, option("--tree", help="Show the betting tree.", panel=SPOTS)] = False,
    json_: Annotated[
        bool,
        option("--json", help="One JSON object on stdout: that of `regretless solve --json`, plus the node."),
    ] = False,
) -> None:
    """Show a saved solution: values, exploitability and strategy.

    \b
    [cyan]regretless show leduc.rgl[/cyan]
    [cyan]regretless show leduc.rgl --information-sets Ks:,Ks:r[/cyan]
    [cyan]regretless show spot.rgl --line 'check, bet 94'[/cyan]
    [cyan]regretless show spot.rgl --line 'check' --hands 'AK, 99+'[/cyan]
    [cyan]regretless show spot.rgl --player ip --grid equity[/cyan]
    [cyan]regretless show spot.rgl --line 'check, check' --runouts --player ip[/cyan]
    [cyan]regretless show spot.toml --tree[/cyan]
    """
    from regretless.cli.arguments.inputs import is_spot_file

    if file.suffix == ".toml" or is_spot_file(file):
        from regretless.cli.views.spot_show import Look, show_spot

        kinds = {"--tree": tree, "--svg": svg is not None, "--runouts": runouts}
        kind = next((name for name, asked in kinds.items() if asked), "a node")
        refuse_others(context, kind, TAKES[kind])
        if sort is not None and kind == "a node" and hands is None and not strategy:
            raise InvalidOption("sort", sort, "sorts rows: add --hands or --runouts")
        if kind == "--svg" and hands == "":
            raise InvalidOption("hands", hands, "lists every hand, and a picture has no rows: name the hands to draw")
        look = Look(
            line=line or "",
            cards=read_cards(board),
            player=read_player(player),
            table=hands is not None or strategy,
            hands=read_range(hands),
            grid=_read_grid(grid),
            sort=sort,
            then=then,
        )
        show_spot(file, look, runouts=runouts, tree=tree, as_json=json_, svg=svg)
        return
    from regretless.api import load
    from regretless.cards.ranges import Range
    from regretless.cli.views.strategy_table import choose, read_keys
    from regretless.cli.views.summary import print_solution
    from regretless.holdem.flop_holdem import FlopHoldemSolution
    from regretless.solvers.game_solution import GameSolution

    solution = load(file)
    assert isinstance(solution, GameSolution)
    keys = read_keys(information_sets)
    if isinstance(solution, FlopHoldemSolution) and not (line is None and board is None and hands is None):
        refuse_others(context, "flop-holdem", TAKES["flop-holdem"])
        played = solution.node(line or "", read_cards(board))
        _show_line(played if not hands else played.only(Range.parse(hands, "hands")), hands is not None, json_)
        return
    refuse_others(context, "a game", TAKES["a game"])
    if not json_:
        print_solution(solution, whole=strategy, keys=keys, file=str(file))
        return
    answer = solution.as_json(strategy=strategy)
    if keys is not None:
        answer["strategy"] = {key: dict(played) for key, played in choose(solution.strategy, keys, None).items()}
    print_json(answer)


def _show_line(played: Played, by_hand: bool, as_json: bool) -> None:
    """What the player does at a node of flop hold'em, by classes of hands or hand by hand."""
    from regretless.cli.terminal.consoles import for_answers, has_color
    from regretless.cli.views.strategy_table import strategy_table

    answer = played.as_json(hands=by_hand)
    if as_json:
        print_json(answer)
        return
    console = for_answers()
    often = ", ".join(f"{action} {share:.1%}" for action, share in zip(played.actions, played.frequencies, strict=True))
    console.print(f"{played.line or 'the first decision'}: {played.player} acts: {often}", soft_wrap=True)
    console.print(strategy_table(answer["hands" if by_hand else "classes"], color=has_color(console)))


def _read_grid(text: str | None) -> Any:
    from regretless.holdem.reports.grids import GRIDS

    if text is not None and text not in GRIDS:
        raise InvalidOption("grid", text, f"is not one of {', '.join(GRIDS)}")
    return text

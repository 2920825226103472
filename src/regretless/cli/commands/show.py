"""`regretless show`: the contents of a solution file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from regretless.cli.arguments import options
from regretless.cli.arguments.options import SPOTS, HelpCommand, argument, flag, option, refuse_other_options
from regretless.cli.arguments.values import read_cards, read_player, read_range
from regretless.cli.terminal.next_commands import print_unfinished
from regretless.errors import InvalidOption

if TYPE_CHECKING:
    from regretless.holdem.games.pricing import PricedSolution
    from regretless.holdem.reading.grids import GridKind
    from regretless.holdem.solution import SpotSolution
    from regretless.solving.loop import Progress

__all__ = ["ShowCommand", "show"]

# The options that each kind of answer takes; any other is refused by name.
GAME_OPTIONS = {"--strategy", "--information-sets", "--json"}
LINE_OPTIONS = {"--line", "--board", "--hands", "--json"}
TREE_OPTIONS = {"--json"}
SPOT_OPTIONS = {
    "--tree": TREE_OPTIONS,
    "--svg": {"--line", "--board", "--player", "--hands", "--grid"},
    "--runouts": {"--line", "--board", "--player", "--then", "--sort", "--json"},
    "a node": {"--line", "--board", "--player", "--hands", "--strategy", "--grid", "--sort", "--json"},
}


class ShowCommand(HelpCommand):
    """The command, with a `--hands` that may stand alone: every hand."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words: list[str] = []
        for number, word in enumerate(args):
            words.append(word)
            following = args[number + 1] if number + 1 < len(args) else "-"
            if word == "--hands" and (following.startswith("-") or following.endswith((".rgl", ".toml"))):
                words.append("")
        return super().parse_args(ctx, words)


def show(
    context: typer.Context,
    file: Annotated[Path, argument("A .rgl file; or the .toml file of a spot or a game, with --tree.")],
    strategy: Annotated[bool, flag("--strategy", "Show every information set, or every hand of a spot.")] = False,
    information_sets: Annotated[str | None, options.information_sets("the first few")] = None,
    line: options.Line = None,
    board: options.Board = None,
    player: options.Player = None,
    hands: Annotated[
        str | None,
        option(
            "A row per hand: strategy, EV of each action, weight, equity, EV, EQR. With a range, such as "
            "[cyan]'AK, 99+'[/cyan], only these hands and their averages.",
            SPOTS,
            metavar="[RANGE]",
        ),
    ] = None,
    grid: Annotated[
        str | None,
        option("What the cells show: strategy, ev, equity, eqr or weight.", SPOTS, default="strategy", metavar="KIND"),
    ] = None,
    runouts: Annotated[bool, flag("--runouts", "A row for each card that can be dealt after --line.", SPOTS)] = False,
    then: Annotated[
        str | None,
        option("With --runouts, the actions after the card.", SPOTS, default="check, with --player ip", metavar="LINE"),
    ] = None,
    sort: Annotated[
        str | None,
        option(
            "Sort the rows of --hands or --runouts by this column: ev, equity, eqr, an action such as 'bet 94', …",
            SPOTS,
            default="weight, or card",
            metavar="COLUMN",
        ),
    ] = None,
    resolve: Annotated[
        bool,
        flag(
            "--resolve",
            "Solve the flop of --line with the ranges that arrive there, and save it in FILE's folder "
            "[cyan]game.flops[/cyan], from where it is read the next time; for whole games.",
        ),
    ] = False,
    safe: Annotated[
        bool,
        flag(
            "--safe",
            "With --resolve: so that no hand of the opponent gains more than the game's solution lets it gain there, "
            "whatever range he brings.",
        ),
    ] = False,
    svg: Annotated[Path | None, option("Draw the node to this .svg file instead.", SPOTS)] = None,
    tree: Annotated[bool, flag("--tree", "Show the betting tree.", SPOTS)] = False,
    json_: Annotated[
        bool, flag("--json", "One JSON object on stdout: that of `regretless solve --json`, plus the node.")
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
    [cyan]regretless show game.rgl --line 'raise 2, call, Ks 7d 2c' --resolve[/cyan]   any flop of a whole game
    """
    from regretless.api import load
    from regretless.cli.views.game_show import show_game, show_line
    from regretless.cli.views.spot_show import NodeSelection, show_spot
    from regretless.holdem.games.big_blinds import BigBlindSolution
    from regretless.holdem.games.pricing import PricedSolution
    from regretless.holdem.solution import SpotSolution
    from regretless.solving.game_solution import GameSolution

    if file.suffix == ".toml":
        _show_tree(context, file, as_json=json_)
        return
    if safe and not resolve:
        raise InvalidOption("safe", True, "says how a flop is solved again: add --resolve")
    solution, cards = load(file), read_cards(board)
    if isinstance(solution, PricedSolution) and (line is not None or board is not None or resolve):
        flop = _flop_solution(solution, file, line or "", cards, solve=resolve, safe=safe)
        if flop is not None:
            solution, line, cards = flop
    elif resolve:
        raise InvalidOption("resolve", str(file), "is not a no-limit game from the deal, whose flops can be solved")
    if isinstance(solution, SpotSolution):
        subject = _spot_subject(context)
        refuse_other_options(context, subject, SPOT_OPTIONS[subject] | {"--resolve", "--safe"})
        if sort is not None and subject == "a node" and hands is None and not strategy:
            raise InvalidOption("sort", sort, "sorts rows: add --hands or --runouts")
        if subject == "--svg" and hands == "":
            raise InvalidOption("hands", hands, "lists every hand, but a picture has no rows: name the hands to draw")
        selection = NodeSelection(
            line=line or "",
            cards=cards,
            player=read_player(player),
            table=hands is not None or strategy,
            hands=read_range(hands),
            grid=_check_grid(grid),
            sort=sort,
            then=then,
        )
        show_spot(solution, selection, runouts=runouts, tree=tree, as_json=json_, svg=svg)
    elif isinstance(solution, BigBlindSolution) and (line is not None or board is not None or hands is not None):
        refuse_other_options(context, "a line of a game", LINE_OPTIONS)
        node, selected = solution.node(line or "", cards), read_range(hands)
        show_line(node if selected is None else node.only(selected), by_hand=hands is not None, as_json=json_)
        return
    elif isinstance(solution, GameSolution):
        refuse_other_options(context, "a game", GAME_OPTIONS)
        show_game(solution, information_sets, whole=strategy, file=str(file), as_json=json_)
    if solution.reason == "interrupted":
        print_unfinished(solution, file)


def _spot_subject(context: typer.Context) -> str:
    """What of a spot to show: a key of `SPOT_OPTIONS`."""
    for name in ("tree", "svg", "runouts"):
        if context.params[name]:
            return f"--{name}"
    return "a node"


def _check_grid(grid: str | None) -> GridKind | None:
    from regretless.holdem.reading.grids import GRIDS

    if grid is not None and grid not in GRIDS:
        raise InvalidOption("grid", grid, f"is not one of {', '.join(GRIDS)}")
    return grid


def _show_tree(context: typer.Context, file: Path, *, as_json: bool) -> None:
    """The betting tree of a spot or a game that is not solved."""
    from regretless.cli.views.betting_tree import print_tree
    from regretless.holdem.games.game import read_spot_or_game

    if not context.params["tree"]:
        reason = "is not solved: --tree shows its betting tree, regretless solve solves it"
        raise InvalidOption("FILE", str(file), reason)
    refuse_other_options(context, "--tree", TREE_OPTIONS)
    print_tree(read_spot_or_game(file), as_json=as_json)


class _FlopView(NamedTuple):
    """A solved flop of a whole game, and the rest of the line and of the cards after that flop."""

    solution: SpotSolution
    line: str
    cards: tuple[int, ...]


def _flop_solution(
    solution: PricedSolution, file: Path, line: str, cards: tuple[int, ...], *, solve: bool, safe: bool
) -> _FlopView | None:
    """The solution of the flop that a line leads to, from the folder beside the game or, with `solve`, solved now.

    None if the game's own strategy covers the flop or, without `solve`, if nobody has solved it.
    """
    from regretless.cli.terminal.progress import bar
    from regretless.files.state import check_state_folder
    from regretless.holdem.games.game_spots import flop_line, saved_spot

    flop = flop_line(solution.rules, line, cards)
    if flop is None:
        if solve:
            reason = "leads to no flop that could be solved: name one, such as 'raise 2, call, Ks 7d 2c'"
            raise InvalidOption("line", line, reason)
        return None
    if not solve and solution.covers(flop.flop):
        return None
    spot, folder = solution.spot_at(flop.before_flop, flop.flop), file.parent / f"{file.stem}.flops"
    check_state_folder(folder, file.parent)
    if not solve:
        saved = saved_spot(spot, folder)
        return None if saved is None else _FlopView(saved, flop.after_flop, flop.later_cards)
    with bar(spot.name) as update:

        def report(progress: Progress) -> None:
            update(0.0, f"{progress.iteration:,} iterations")

        solved = solution.resolve(flop.before_flop, flop.flop, safe=safe, folder=folder, report=report)
        return _FlopView(solved, flop.after_flop, flop.later_cards)

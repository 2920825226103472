"""`regretless compare`: two solutions side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regretless.cli.arguments import options
from regretless.cli.arguments.options import DEFAULT_FLOPS, SPOTS, argument, flag, option, refuse_other_options
from regretless.cli.arguments.values import read_cards, read_player, read_range
from regretless.errors import InvalidFile, InvalidOption

if TYPE_CHECKING:
    from regretless.solving.head_to_head import HeadToHead
    from regretless.solving.solution import Solution

__all__ = ["compare"]

TOP = 10  # rows
WHOLE_GAMES = "Whole games"

# The options that each comparison takes; any other is refused by name.
GAME_OPTIONS = {"--information-sets", "--top", "--all", "--json"}
SPOT_OPTIONS = {"--top", "--all", "--json"}
NODE_OPTIONS = {"--line", "--board", "--player", "--hands", "--top", "--all", "--json"}
EV_OPTIONS = {"--flops", "--resolve", "--target", "--device", "--threads", "--json"}


def compare(
    context: typer.Context,
    first_path: Annotated[Path, argument("A solution.", "A.rgl")],
    second_path: Annotated[Path, argument("Another one.", "B.rgl")],
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
    ev: Annotated[
        bool, flag("--ev", "Play them against each other: exact EVs, each in both seats, and who wins how much.")
    ] = False,
    flops: Annotated[
        str | None,
        option(
            "With --ev, of whole games: all, [cyan]'subset(49)'[/cyan], flops or properties.",
            WHOLE_GAMES,
            default=f"those that both were solved on; {DEFAULT_FLOPS} with buckets",
        ),
    ] = None,
    resolve: Annotated[
        bool | None,
        flag("--resolve", "With --ev: a solution solves flops that it was not solved on.", WHOLE_GAMES),
    ] = None,
    target: Annotated[
        float | None,
        option("With --resolve: what a best response may gain after the flop, in mbb/g.", WHOLE_GAMES, default="5"),
    ] = None,
    device: Annotated[str | None, option("With --ev: auto, cpu or cuda.", WHOLE_GAMES, default="auto")] = None,
    threads: Annotated[int | None, option("With --ev: CPU threads, at most.", WHOLE_GAMES, default="all cores")] = None,
    json_: options.Json = False,
) -> None:
    """Compare two solutions: EVs, frequencies and where they play differently, or with --ev who wins.

    Two spots on the same board may differ in ranges, sizes, locks or targets: nodes in both trees are compared, and
    nodes in only one are listed. With --line, one node is compared hand by hand.

    \b
    [cyan]regretless compare equilibrium.rgl locked.rgl[/cyan]
    [cyan]regretless compare equilibrium.rgl locked.rgl --line 'check' --hands 'AK, 99+'[/cyan]
    [cyan]regretless compare leduc-100.rgl leduc-1000.rgl --top 5[/cyan]
    [cyan]regretless compare leduc-100.rgl leduc-1000.rgl --ev[/cyan]
    [cyan]regretless compare flops.rgl buckets.rgl --ev --flops 'subset(49)' --resolve[/cyan]
    """
    from regretless.api import load
    from regretless.cli.views.compare import compare_games, compare_nodes, compare_spots, print_head_to_head
    from regretless.holdem.solution import SpotSolution
    from regretless.solving.game_solution import GameSolution

    if top is not None and top < 1:
        raise InvalidOption("top", top, "must be at least 1")
    if top is not None and all_:
        raise typer.BadParameter("choose one of --top and --all", param_hint="--top")
    limit = None if all_ else top or TOP
    first, second = load(first_path), load(second_path)
    if ev:
        refuse_other_options(context, "--ev", EV_OPTIONS)
        if target is not None and not resolve:
            raise InvalidOption("target", target, "is for re-solved flops: add --resolve")
        result = _play(first, second, flops=flops, resolve=resolve, target=target, device=device, threads=threads)
        print_head_to_head((first, second), result, as_json=json_)
        return
    hints = dict.fromkeys(EV_OPTIONS, ": add --ev")
    if isinstance(first, GameSolution) and isinstance(second, GameSolution):
        refuse_other_options(context, "games", GAME_OPTIONS, hints)
        compare_games((first, second), keys=information_sets, limit=limit, as_json=json_)
        return
    if not (isinstance(first, SpotSolution) and isinstance(second, SpotSolution)):
        spot, game = (first, second) if isinstance(first, SpotSolution) else (second, first)
        raise InvalidFile(spot.path, f"is a spot and {game.path} is a game: they cannot be compared")
    if line is None and board is None:
        hints |= dict.fromkeys(NODE_OPTIONS, ": --line names the node")
        refuse_other_options(context, "whole spots", SPOT_OPTIONS, hints)
        compare_spots((first, second), limit=limit, as_json=json_)
        return
    refuse_other_options(context, "a node", NODE_OPTIONS, hints)
    compare_nodes(
        (first, second),
        line or "",
        read_cards(board),
        player=read_player(player),
        hands=read_range(hands),
        limit=limit,
        as_json=json_,
    )


def _play(
    first: Solution,
    second: Solution,
    *,
    flops: str | None,
    resolve: bool | None,
    target: float | None,
    device: str | None,
    threads: int | None,
) -> HeadToHead:
    """The exact result of one solution against the other, computed with a progress bar."""
    from regretless.cli.terminal.progress import bar
    from regretless.holdem.games.pricing import PricedSolution, Resolving

    resolving = resolve if target is None else Resolving(target=target)
    arguments = {"flops": flops, "resolve": resolving, "device": device, "threads": threads}
    options: dict[str, Any] = {name: value for name, value in arguments.items() if value is not None}
    with bar(first.game) as update:
        if not isinstance(first, PricedSolution):
            return first.against(second, **options)
        if first.has_flops and not (first.settings.flops or second.settings.flops):
            options.setdefault("flops", DEFAULT_FLOPS)
        return first.against(
            second, **options, report=lambda done, total: update(done / total, f"{done:,} of {total:,} flops")
        )

"""`regretless show`: what a solution file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regretless.cli.json_output import print_json

__all__ = ["show"]

SPOTS = "Hold'em spots"


def show(
    file: Annotated[Path, typer.Argument(help="A .rgl file; or a spot's .toml file, with --tree.", show_default=False)],
    strategy: Annotated[
        bool, typer.Option("--strategy", help="Every information set, not only the first ones.")
    ] = False,
    information_sets: Annotated[
        str | None,
        typer.Option(show_default="the first ones", help="Only these, separated by commas: [cyan]Ks:,Ks:r[/cyan]."),
    ] = None,
    node: Annotated[
        str,
        typer.Option(
            show_default="the first decision",
            rich_help_panel=SPOTS,
            help="Where to look, as a line of play: [cyan]'check, bet 94, call, Th'[/cyan].",
        ),
    ] = "",
    hands: Annotated[
        bool, typer.Option("--hands", rich_help_panel=SPOTS, help="Every hand: strategy, weight, equity, EV, EQR.")
    ] = False,
    runouts: Annotated[
        bool,
        typer.Option("--runouts", rich_help_panel=SPOTS, help="What each card that can come after --node does."),
    ] = False,
    svg: Annotated[
        Path | None,
        typer.Option(show_default=False, rich_help_panel=SPOTS, help="Draw the node into this .svg file instead."),
    ] = None,
    tree: Annotated[bool, typer.Option("--tree", rich_help_panel=SPOTS, help="The betting tree.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="The object of `regretless solve --json`.")] = False,
) -> None:
    """Show a saved solution: values, exploitability and the strategy.

    \b
    [cyan]regretless show leduc.rgl[/cyan]
    [cyan]regretless show leduc.rgl --information-sets Ks:,Ks:r[/cyan]
    [cyan]regretless show leduc.rgl --json --strategy[/cyan]
    [cyan]regretless show spot.rgl --node 'check, bet 94'[/cyan]
    [cyan]regretless show spot.toml --tree[/cyan]
    """
    from regretless.cli.spot_solve import is_spot_file

    if file.suffix == ".toml" or is_spot_file(file):
        from regretless.cli.spot_show import show_spot

        show_spot(file, node=node, hands=hands or strategy, runouts=runouts, tree=tree, as_json=json_, svg=svg)
        return
    from regretless.cli.strategy_table import choose, read_keys
    from regretless.cli.summary import print_solution
    from regretless.storage.solutions import load_solution

    solution = load_solution(file)
    keys = read_keys(information_sets)
    if not json_:
        print_solution(solution, whole=strategy, keys=keys, file=str(file))
        return
    answer = solution.as_json(strategy=strategy)
    if keys is not None:
        answer["strategy"] = {key: dict(played) for key, played in choose(solution.strategy, keys, None).items()}
    print_json(answer)

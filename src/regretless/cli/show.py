"""`regretless show`: what a solution file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["show"]


def show(
    file: Annotated[Path, typer.Argument(help="A .rgl file.", show_default=False)],
    strategy: Annotated[
        bool, typer.Option("--strategy", help="Every information set, not only the first ones.")
    ] = False,
    information_sets: Annotated[
        str | None,
        typer.Option(show_default="the first ones", help="Only these, separated by commas: [cyan]Ks:,Ks:r[/cyan]."),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="The object of `regretless solve --json`.")] = False,
) -> None:
    """Show a saved solution: values, exploitability and the strategy.

    \b
    [cyan]regretless show leduc.rgl[/cyan]
    [cyan]regretless show leduc.rgl --information-sets Ks:,Ks:r[/cyan]
    [cyan]regretless show leduc.rgl --json --strategy[/cyan]
    """
    from regretless.cli.strategy_table import choose, read_keys
    from regretless.cli.summary import print_solution
    from regretless.storage.solutions import load_solution

    solution = load_solution(file)
    keys = read_keys(information_sets)
    if not json_:
        print_solution(solution, whole=strategy, keys=keys, file=str(file))
        return
    import json

    answer = solution.as_json(strategy=strategy)
    if keys is not None:
        answer["strategy"] = {key: dict(played) for key, played in choose(solution.strategy, keys, None).items()}
    print(json.dumps(answer))

"""`regretless games`: the games that can be solved by name."""

from __future__ import annotations

from typing import Annotated

from rich.table import Table
from rich.text import Text

from regretless.cli.arguments.options import flag
from regretless.cli.terminal.consoles import for_answers
from regretless.cli.terminal.json_output import print_json

__all__ = ["games"]


def games(json_: Annotated[bool, flag("--json", "A list of objects on stdout, and nothing else.")] = False) -> None:
    """List the games of the package, with their parameters and defaults.

    \b
    [cyan]regretless games[/cyan]
    [cyan]regretless solve 'leduc(ranks=6, suits=2)'[/cyan]   parameters go in parentheses
    """
    from regretless.games.registry import catalogue

    if json_:
        entries = [
            {
                "name": entry.name,
                "description": entry.description,
                "players": entry.players,
                "parameters": dict(entry.parameters),
            }
            for entry in catalogue()
        ]
        print_json(entries)
        return
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 1, 0))
    table.add_column("game", no_wrap=True)
    table.add_column("players", no_wrap=True)
    table.add_column("what it is, and its parameters with their defaults")
    for entry in catalogue():
        what = Text(entry.description).append("\n")
        what.append(", ".join(f"{name}={default}" for name, default in entry.parameters.items()), style="cyan")
        table.add_row(Text(entry.name, style="bold"), entry.players, what)
    console = for_answers()
    console.print(table)
    console.print(
        Text.assemble(
            ("Also ", "dim"), ("openspiel:NAME", "cyan"), (", any sequential game of OpenSpiel, and ", "dim"),
            ("FILE.efg", "cyan"), (", any Gambit file.", "dim"),
        )
    )  # fmt: skip

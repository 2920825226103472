"""`regretless export`: nodes of a solved spot for spreadsheets, scripts and data frames."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regretless.cli.consoles import for_people
from regretless.errors import InvalidOption

if TYPE_CHECKING:
    from collections.abc import Iterator

    from regretless.postflop.nodes import NodeView

__all__ = ["export"]


def export(
    file: Annotated[Path, typer.Argument(help="A .rgl file of a spot.", show_default=False)],
    node: Annotated[
        str | None,
        typer.Option(
            show_default="the first decision", help="One node, as a line of play: [cyan]'check, bet 94'[/cyan]."
        ),
    ] = None,
    street: Annotated[
        str | None, typer.Option(show_default=False, help="Every decision of a street: flop, turn or river.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every decision of the tree.")] = False,
    format_: Annotated[
        str | None, typer.Option("--format", show_default="by --out, else csv", help="csv, json or parquet.")
    ] = None,
    out: Annotated[Path | None, typer.Option(show_default="stdout", help="The file to write.")] = None,
) -> None:
    """Write strategy, weight, equity, EV and EQR of every hand, at a node, on a street or everywhere.

    \b
    [cyan]regretless export spot.rgl --node 'check' --out check.csv[/cyan]   a row a hand
    [cyan]regretless export spot.rgl --street turn --format json > turn.json[/cyan]
    [cyan]regretless export spot.rgl --all --out spot.parquet[/cyan]   a row for each hand and action
    """
    from regretless.postflop.exports import FORMATS, decisions, write_nodes
    from regretless.postflop.solution import SpotSolution
    from regretless.storage.atomic import replace_file

    if sum((node is not None, street is not None, all_)) > 1:
        raise typer.BadParameter("choose one of --node, --street and --all", param_hint="--node")
    kind = format_ or (out.suffix.lstrip(".") if out is not None else "csv")
    if kind not in FORMATS:
        raise InvalidOption("format", kind, f"is not one of {', '.join(FORMATS)}")
    if kind == "parquet" and out is None:
        raise InvalidOption("out", None, "must name a file: parquet cannot be written to a terminal")
    solution = SpotSolution.load(file)
    wide = not all_ and street is None
    views: Iterator[NodeView] = iter([solution.node(node or "")]) if wide else decisions(solution, street)
    if out is None:
        write_nodes(views, kind, sys.stdout, wide=wide)
        return
    with replace_file(out) as temporary:
        if kind == "parquet":
            count = write_nodes(views, kind, temporary, wide=wide)
        else:
            with open(temporary, "w", encoding="utf-8", newline="") as opened:
                count = write_nodes(views, kind, opened, wide=wide)
    for_people().print(f"saved {count:,} node{'s' * (count != 1)} to {out}", style="dim", soft_wrap=True)

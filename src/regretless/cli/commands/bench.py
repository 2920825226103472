"""`regretless bench`: seconds per iteration of Regretless and other solvers, measured in one run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regretless.cli.arguments.options import Json, argument
from regretless.cli.terminal.consoles import for_answers, for_people
from regretless.cli.terminal.json_output import print_json, strict_json

__all__ = ["app"]

app = typer.Typer(rich_markup_mode="rich")


@app.callback(invoke_without_command=True)
def bench(context: typer.Context) -> None:
    """Time Regretless against other solvers on this machine.

    \b
    [cyan]regretless bench games[/cyan]   general games, beside OpenSpiel and LiteEFG
    """
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command("games")
def games(
    names: Annotated[list[str] | None, argument("Games to time; all of them by default.", "[GAME]...")] = None,
    contenders: Annotated[
        str, typer.Option(help="Solvers to time, separated by commas; those not installed are skipped.")
    ] = "numba,numpy,openspiel,openspiel-python,liteefg",
    dtype: Annotated[str | None, typer.Option(help="Number format of the numba engine: float64 or float32.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write times and hardware to this JSON file.")] = None,
    json_: Json = False,
) -> None:
    """Seconds per iteration of alternating CFR+ on one thread: medians over interleaved runs, and ratios.

    \b
    [cyan]regretless bench games[/cyan]   a few minutes
    [cyan]regretless bench games kuhn leduc --contenders numba,openspiel[/cyan]
    """
    from regretless.benchmark import GAMES, compare, ratio_table, record

    console = for_people()
    timings = []
    for timing in compare(names or tuple(GAMES), contenders.split(","), dtype=dtype):
        timings.append(timing)
        console.print(f"{timing.game} done", style="dim")
        for contender, reason in timing.missing.items():
            console.print(f"  {contender}: {reason}", style="dim", soft_wrap=True)
    report = record(timings, dtype)
    if out is not None:
        out.write_text(strict_json(report, indent=2) + "\n", encoding="utf-8")
    if json_:
        print_json(report)
    else:
        for_answers().print(ratio_table(timings), soft_wrap=True)

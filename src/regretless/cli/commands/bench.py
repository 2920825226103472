"""`regretless bench`: seconds per iteration, compared with other solvers or with the memory bandwidth."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from regretless.cli.arguments.options import Device, Engine, Json, Threads, argument
from regretless.cli.terminal.consoles import for_answers, for_people, note
from regretless.cli.terminal.json_output import print_json, strict_json

__all__ = ["app"]

app = typer.Typer(rich_markup_mode="rich")


@app.callback(invoke_without_command=True)
def bench(context: typer.Context) -> None:
    """Time Regretless against other solvers on this machine.

    \b
    [cyan]regretless bench games[/cyan]      general games, against OpenSpiel and LiteEFG
    [cyan]regretless bench postflop[/cyan]   hold'em spots, against what memory bandwidth allows
    [cyan]regretless bench situations[/cyan] numbering hands on boards, in millions per second
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
    from regretless.files.atomic import check_writable

    if out is not None:
        check_writable(out)
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


@app.command("postflop")
def postflop(
    files: Annotated[
        list[str] | None, argument("Spot files; by default a river, a turn and a flop.", "[SPOT.toml]...")
    ] = None,
    engine: Engine = None,
    device: Device = None,
    threads: Threads = None,
    storage: Annotated[int, typer.Option(help="Bits per stored number: 32 or 16.")] = 32,
    out: Annotated[Path | None, typer.Option(help="Write times and hardware to this JSON file.")] = None,
    json_: Json = False,
) -> None:
    """Milliseconds per iteration of hold'em spots, bytes moved, and how far that is from the memory bandwidth.

    \b
    [cyan]regretless bench postflop[/cyan]   all cores
    [cyan]regretless bench postflop --device cuda --storage 16[/cyan]
    [cyan]regretless bench postflop spots/flop.toml --threads 4[/cyan]
    """
    from regretless.benchmark import hardware
    from regretless.files.atomic import check_writable
    from regretless.holdem.spots.spot import Spot
    from regretless.holdem.timing import SPOTS, time_spots, timing_table

    if out is not None:
        check_writable(out)
    spots = [Spot.read(file) for file in files] if files else list(SPOTS.values())
    timings = []
    where = {"engine": engine or "auto", "device": device or "auto"}
    for timing in time_spots(spots, **where, threads=threads, storage=storage):
        timings.append(timing)
        note(f"{timing.spot} done")
    report = {
        "what": "seconds per iteration of alternating CFR on hold'em spots, medians of rounds",
        "hardware": hardware(),
        "spots": [timing.as_json() for timing in timings],
    }
    if out is not None:
        out.write_text(strict_json(report, indent=2) + "\n", encoding="utf-8")
    if json_:
        print_json(report)
    else:
        for_answers().print(timing_table(timings), soft_wrap=True)


@app.command("situations")
def situations(
    deals: Annotated[int, typer.Option(help="Random deals per street.")] = 500_000,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    json_: Json = False,
) -> None:
    """Situations (a hand on a board, up to the names of the suits) numbered per second of one core.

    \b
    [cyan]regretless bench situations[/cyan]   a few seconds
    """
    from rich.table import Table

    from regretless.cards.situations.speed import measure_speed

    streets = {"preflop": 0, "flop": 3, "turn": 4, "river": 5}
    speeds = {street: measure_speed(cards, deals=deals, seed=seed) for street, cards in streets.items()}
    if json_:
        print_json({street: asdict(speed) for street, speed in speeds.items()})
        return
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 3, 0, 0))
    table.add_column("street")
    for name in ("situations", "index", "index to situation", "all hands of a board"):
        table.add_column(name, justify="right", no_wrap=True)
    for street, speed in speeds.items():
        rates = (f"{rate / 1e6:.1f} M/s" for rate in (speed.index, speed.locate, speed.hands))
        table.add_row(street, f"{speed.situations:,}", *rates)
    for_answers().print(table)

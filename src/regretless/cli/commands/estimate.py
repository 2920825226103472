"""`regretless estimate`: how large a spot is and how much memory it takes, before anything is built."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from regretless.cli.arguments.inputs import read_spots, spot_paths
from regretless.cli.arguments.options import Json, argument, option
from regretless.cli.arguments.outputs import tell_errors
from regretless.cli.terminal.consoles import for_answers
from regretless.cli.terminal.json_output import print_json
from regretless.cli.terminal.numbers import bytes_text
from regretless.cli.terminal.tables import fact_table
from regretless.printable import printable

if TYPE_CHECKING:
    from regretless.holdem.estimate import Estimate

__all__ = ["estimate"]


def estimate(
    spots: Annotated[list[str], argument("Spot files, patterns such as 'spots/*.toml', or folders.", "SPOT.toml")],
    threads: Annotated[int | None, option("CPU threads.", default="all cores")] = None,
    json_: Json = False,
) -> None:
    """Estimate the size of a spot: nodes, hands, and memory with 32-bit and 16-bit storage.

    \b
    [cyan]regretless estimate spot.toml[/cyan]
    [cyan]regretless estimate spots/[/cyan]
    """
    from regretless.engines.devices import available_cores
    from regretless.holdem.estimate import estimate_spot
    from regretless.holdem.locking import with_sources
    from regretless.solvers.request import Kind, check_options

    check_options(Kind.SPOT, {"threads": threads})
    paths, many = spot_paths(tuple(spots))
    cores = threads or available_cores()
    sizes, errors = read_spots(paths, lambda spot: estimate_spot(with_sources(spot), threads=cores))
    if errors and not many:
        raise next(iter(errors.values()))
    if json_:
        answers = [{"spot": str(path), **size.as_json()} for path, size in sizes.items()]
        wrong = [{"spot": str(path), "error": str(error)} for path, error in errors.items()]
        print_json({"spots": answers, "errors": wrong} if many else answers[0])
    else:
        _print(sizes)
    if errors:
        raise typer.Exit(tell_errors(errors))


def _print(sizes: dict[Path, Estimate]) -> None:
    from regretless.forms.memory import available_bytes

    console = for_answers()
    for path, size in sizes.items():
        runouts = " × ".join(f"{count:,}" for count in size.runouts)
        kinds = ", ".join(f"{count:,} {name}" for name, count in size.node_kinds.items())
        facts: list[tuple[str, str | Text]] = [
            ("nodes", Text(f"{size.nodes:,}", style="bold").append(f"   ({kinds})", style="not bold")),
            ("betting tree", f"{size.betting_nodes:,} nodes; runouts by street {runouts}"),
            ("hands", f"oop {size.hands['oop']:,}, ip {size.hands['ip']:,}"),
            ("entries", f"{size.entries:,}   (actions of hands)"),
        ]
        for bits, needed in size.memory_bytes.items():
            memory = Text(bytes_text(needed), style="bold")
            if needed > available_bytes():
                memory.append("   more than is free", style="not bold red")
            facts.append((f"memory, {bits} bits", memory))
        console.print(printable(str(path)), style="bold", soft_wrap=True)
        console.print(fact_table(facts, style=""))

"""`regretless estimate`: how large a spot is and how much memory it takes, before anything is built."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regretless.cli.json_output import print_json

__all__ = ["estimate"]


def estimate(
    spots: Annotated[
        list[Path], typer.Argument(metavar="SPOT.toml", show_default=False, help="One spot file, or several.")
    ],
    threads: Annotated[int | None, typer.Option(show_default="all cores", help="Threads of the CPU.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, and nothing else.")] = False,
) -> None:
    """Nodes, hands and memory of a spot, in 32 and in 16 bits.

    \b
    [cyan]regretless estimate spot.toml[/cyan]
    """
    from regretless.forms.memory import available_bytes
    from regretless.postflop.estimate import estimate_spot
    from regretless.postflop.solve import default_threads
    from regretless.postflop.spot import Spot

    sizes = {str(path): estimate_spot(Spot.read(path), threads=threads or default_threads()) for path in spots}
    if json_:
        answers = [{"spot": path, **size.as_json()} for path, size in sizes.items()]
        print_json(answers[0] if len(answers) == 1 else {"spots": answers})
        return
    from rich.table import Table
    from rich.text import Text

    from regretless.cli.consoles import for_answers
    from regretless.cli.numbers import bytes_text
    from regretless.printable import printable

    console = for_answers()
    for path, size in sizes.items():
        facts = Table.grid(padding=(0, 3, 0, 0))
        runouts = " × ".join(f"{count:,}" for count in size.runouts)
        kinds = ", ".join(f"{count:,} {name}" for name, count in size.node_kinds.items())
        facts.add_row("nodes", Text(f"{size.nodes:,}", style="bold").append(f"   ({kinds})", style="not bold"))
        facts.add_row("betting tree", f"{size.betting_nodes:,} nodes; runouts by street {runouts}")
        facts.add_row("hands", f"oop {size.hands['oop']:,}, ip {size.hands['ip']:,}")
        facts.add_row("entries", f"{size.entries:,}   (actions of hands)")
        for bits, needed in size.memory_bytes.items():
            memory = Text(bytes_text(needed), style="bold")
            if needed > available_bytes():
                memory.append("   more than is free", style="not bold red")
            facts.add_row(f"memory, {bits} bits", memory)
        console.print(printable(path), style="bold", soft_wrap=True)
        console.print(facts)

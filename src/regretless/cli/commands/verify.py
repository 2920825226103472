"""`regretless verify`: exploitability and EVs of a saved solution, recomputed independently of the engine's kernels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from regretless.cli.arguments.options import Json, argument, flag, option
from regretless.cli.terminal.consoles import for_answers
from regretless.cli.terminal.json_output import print_json
from regretless.cli.terminal.numbers import duration_text, signed_text
from regretless.printable import printable

if TYPE_CHECKING:
    from regretless.holdem.checking.verification import SpotVerification
    from regretless.solvers.verification import Verification

__all__ = ["verify"]

FLOPS = "Flops"
DISAGREES = 1  # exit code for a file whose figures are wrong


def verify(
    file: Annotated[Path, argument("A .rgl file of a game or a spot.")],
    full: Annotated[bool, flag("--full", "Evaluate every runout instead of a random sample.", FLOPS)] = False,
    turns: Annotated[int | None, option("Turn cards to sample, each with all its rivers.", FLOPS, default="12")] = None,
    seed: Annotated[int | None, option("Random seed of the sample.", FLOPS, default="0")] = None,
    json_: Json = False,
) -> None:
    """Recompute exploitability and values from the saved strategy, independently of the engine that solved it.

    Games are evaluated by the readable best response; spots without merging suits, in 64-bit arithmetic. Rivers and
    turns take seconds. Flops are sampled, with a standard error, unless `--full` asks for all 2,352 runouts. If the
    file states a different exploitability, the exit code is 1.

    \b
    [cyan]regretless verify spot.rgl[/cyan]
    [cyan]regretless verify flop.rgl --full[/cyan]
    [cyan]regretless verify leduc.rgl --json[/cyan]
    """
    from regretless.api import load
    from regretless.cli.terminal.progress import bar
    from regretless.holdem.solution import SpotSolution

    asked: dict[str, Any] = {"full": full or None, "turns": turns, "seed": seed}
    asked = {name: value for name, value in asked.items() if value is not None}
    solution = load(file)
    with bar(solution.game) as tell:
        if isinstance(solution, SpotSolution):
            asked["report"] = lambda done, total: tell(done / total, f"{done:,} of {total:,} runouts")
        else:
            tell(0.0, f"{solution.record.nodes:,} histories")
        found = solution.verify(**asked)
    if json_:
        print_json(found.as_json())
    else:
        _print(found)
    if not found.agrees:
        raise typer.Exit(DISAGREES)


def _print(found: Verification) -> None:
    from regretless.holdem.checking.verification import SpotVerification

    console = for_answers()
    table = Table(box=None, pad_edge=False)
    table.add_column()
    table.add_column("recomputed", justify="right")
    table.add_column("reported", justify="right")
    if isinstance(found, SpotVerification):
        rows, how = _spot_rows(found), _how(found)
    else:
        rows = [("exploitability", f"{found.exploitability:.6g}", f"{found.reported:.6g}")]
        pairs = zip(found.values, found.reported_values, strict=True)
        rows += [(f"value of player {player}", signed_text(a), signed_text(b)) for player, (a, b) in enumerate(pairs)]
        how = "by the readable best response, over the rules of the game"
    for row in rows:
        table.add_row(*row)
    console.print(
        Text(printable(found.game), style="bold"), Text(f"{how}, {duration_text(found.seconds)}", style="dim")
    )
    console.print(table)
    if found.agrees:
        console.print("they agree", style="dim")
    else:
        console.print("the recomputed exploitability differs from what the solve reported", style="bold yellow")


def _spot_rows(found: SpotVerification) -> list[tuple[str, str, str]]:
    error = found.standard_error_pct_pot
    spread = "" if error is None else f" ± {error:.2g}"
    rows = [
        ("exploitability, % of the pot", f"{found.exploitability_pct_pot:.5f}{spread}", f"{found.reported_pct_pot:.5f}")
    ]
    rows += [(f"EV {player}", f"{found.ev[player]:.5f}", f"{found.reported_ev[player]:.5f}") for player in found.ev]
    return rows


def _how(found: SpotVerification) -> str:
    if found.exact:
        count = "one runout" if found.runouts == 1 else f"all {found.runouts:,} runouts"
    else:
        from regretless.holdem.checking.verification import ALL_TURNS

        evaluated = f"{found.turns} of {ALL_TURNS} turns, {found.runouts:,} of {found.all_runouts:,} runouts"
        count = f"{evaluated}; biased upwards"
    return f"on {count}, suits not merged, 64-bit arithmetic; probabilities in {found.probability_bits} bits"

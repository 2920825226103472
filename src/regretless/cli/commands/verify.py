"""`regretless verify`: exploitability and EVs of a saved solution, recomputed independently of the engine's kernels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from regretless.cli.arguments.options import Json, argument, flag, option
from regretless.cli.terminal.consoles import for_answers, plain_table
from regretless.cli.terminal.json_output import print_json
from regretless.cli.terminal.numbers import about_text, duration_text, signed_text
from regretless.printable import printable

if TYPE_CHECKING:
    from regretless.holdem.verification import SpotVerification
    from regretless.solving.verification import Verification

__all__ = ["verify"]

FLOPS = "Flops"
DISAGREES = 1  # exit code for a file whose figures are wrong


def verify(
    file: Annotated[Path, argument("A .rgl file of a game or a spot.")],
    full: Annotated[bool, flag("--full", "Evaluate every runout, however long it takes.", FLOPS)] = False,
    turns: Annotated[
        int | None,
        option("Evaluate only this many random turn cards, each with all its rivers: a lower bound.", FLOPS),
    ] = None,
    seed: Annotated[int | None, option("Random seed of the turn cards.", FLOPS, default="0")] = None,
    json_: Json = False,
) -> None:
    """Recompute exploitability and values from the saved strategy, independently of the engine that solved it.

    Games are evaluated by the readable best response; spots on every runout, without merging suits, in 64-bit
    arithmetic. On a flop that would take more than about two minutes, 12 turn cards are evaluated unless `--full` asks
    for all: that gives a lower bound, which may prove a figure wrong but not right. If the exploitability or a
    value in the file is wrong, the exit code is 1.

    \b
    [cyan]regretless verify spot.rgl[/cyan]
    [cyan]regretless verify flop.rgl --turns 4[/cyan]
    [cyan]regretless verify leduc.rgl --json[/cyan]
    """
    from regretless.api import load
    from regretless.cli.terminal.progress import bar
    from regretless.holdem.solution import SpotSolution

    options: dict[str, object] = {"full": full or None, "turns": turns, "seed": seed}
    options = {name: value for name, value in options.items() if value is not None}
    solution = load(file)
    with bar(solution.game) as update:
        if isinstance(solution, SpotSolution):
            options["report"] = lambda done, total: update(done / total, f"{done:,} of {total:,} runouts")
        else:
            update(0.0, f"{solution.record.nodes:,} histories")
        result = solution.verify(**options)
    if json_:
        print_json(result.as_json())
    else:
        _print(result)
    if result.agrees is False:
        raise typer.Exit(DISAGREES)


def _print(result: Verification) -> None:
    from regretless.holdem.verification import SpotVerification

    console = for_answers()
    table = plain_table([""], ["recomputed", "reported"])
    if isinstance(result, SpotVerification):
        rows, how = _spot_rows(result), _how(result)
    else:
        rows = [("exploitability", f"{result.exploitability:.6g}", f"{result.reported:.6g}")]
        for player, (value, reported) in enumerate(zip(result.values, result.reported_values, strict=True)):
            rows.append((f"value of player {player}", signed_text(value), signed_text(reported)))
        how = "by the readable best response, over the rules of the game"
    for row in rows:
        table.add_row(*row)
    console.print(
        Text(printable(result.game), style="bold"), Text(f"{how}, {duration_text(result.seconds)}", style="dim")
    )
    console.print(table)
    if result.agrees:
        console.print("they agree", style="dim")
    elif isinstance(result, SpotVerification) and result.agrees is None:
        seconds = result.seconds * result.all_runouts / result.runouts
        console.print(
            f"undecided: these turns do not refute what the solve reported; `--full` decides, in {about_text(seconds)}",
            style="yellow",
        )
    else:
        subject = "values differ" if result.exploitability_agrees else "exploitability differs"
        console.print(f"the recomputed {subject} from what the solve reported", style="bold yellow")


def _spot_rows(result: SpotVerification) -> list[tuple[str, str, str]]:
    bound = "" if result.exact else "at least "
    recomputed = f"{bound}{result.exploitability_pct_pot:.5f}"
    rows = [("exploitability, % of the pot", recomputed, f"{result.reported_pct_pot:.5f}")]
    for player, reported in result.reported_ev.items():
        recomputed = "" if result.ev is None else f"{result.ev[player]:.5f}"
        rows.append((f"EV {player}", recomputed, f"{reported:.5f}"))
    return rows


def _how(result: SpotVerification) -> str:
    count = "one runout" if result.runouts == 1 else f"all {result.runouts:,} runouts"
    if not result.exact:
        from regretless.holdem.verification import TURNS

        count = f"{result.turns} of {TURNS} turns, {result.runouts:,} of {result.all_runouts:,} runouts"
    return f"on {count}, suits not merged, 64-bit arithmetic; probabilities in {result.probability_bits} bits"

"""`regretless price`: the exploitability of a solved no-limit game with real cards, flop by flop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from regretless.cli.arguments.options import DEFAULT_FLOPS, MACHINE, OUTPUT, Json, argument, flag, option
from regretless.cli.terminal.consoles import fact_table, for_answers, note
from regretless.cli.terminal.interrupts import INTERRUPTED, interruptible
from regretless.cli.terminal.json_output import print_json
from regretless.cli.terminal.next_commands import command_line, print_commands
from regretless.cli.terminal.numbers import about_text, counted, duration_text, signed_text
from regretless.errors import InvalidFile, InvalidOption
from regretless.printable import printable

if TYPE_CHECKING:
    from regretless.holdem.games.pricing import Price, PriceProgress

__all__ = ["price"]

TARGET = 5.0  # mbb/g
STORAGE = 32  # bits per stored number


def price(
    file: Annotated[Path, argument("A .rgl file of a game from the deal, solved with buckets or on some flops.")],
    flops: Annotated[
        str | None,
        option(
            "all, [cyan]'subset(49)'[/cyan] or 49, flops separated by commas ([cyan]'Qs Jh 2h, 7c7d7h'[/cyan]), or "
            "properties ([cyan]'paired two-tone'[/cyan]).",
            default=DEFAULT_FLOPS,
        ),
    ] = None,
    resolve: Annotated[
        bool | None,
        flag(
            "--resolve",
            "Solve every flop again with the ranges that arrive there, and price that; always done for a game that was "
            "solved on some flops.",
        ),
    ] = None,
    safe: Annotated[
        bool,
        flag(
            "--safe",
            "With --resolve: so that no hand gains more on a flop than it does against the game's own strategy there; "
            "for games solved with buckets.",
        ),
    ] = False,
    target: Annotated[
        float | None,
        option("With --resolve: what a best response may gain after the flop, in mbb/g.", default="5"),
    ] = None,
    storage: Annotated[int | None, option("With --resolve: bits per stored number, 32 or 16.", default="32")] = None,
    device: Annotated[
        str | None, option("auto, cpu or cuda; with [cyan]--threads[/cyan], auto is cpu.", MACHINE, default="auto")
    ] = None,
    threads: Annotated[int | None, option("CPU threads, at most.", MACHINE, default="all cores")] = None,
    out: Annotated[
        Path | None,
        option(
            "Folder for the values of each flop; those it has are not computed again.", OUTPUT, default="FILE.price"
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Compute what best responses with real cards gain against the strategy of a whole game.

    For each flop, every turn, river and pair of hands is evaluated, in the betting tree of the game. Over all 1,755
    flops the exploitability is exact. Over fewer it is an estimate: that of a game with only these flops, in which a
    best response knows before the flop which may come. Each flop is saved when it is done, so a run may be stopped at
    any time: the same command resumes it, on any device, and a run with more flops reuses those that are done.

    \b
    [cyan]regretless price game.rgl[/cyan]   25 flops
    [cyan]regretless price game.rgl --flops 'subset(184)'[/cyan]
    [cyan]regretless price game.rgl --flops all --device cuda --json[/cyan]
    [cyan]regretless price game.rgl --flops 'subset(49)' --resolve[/cyan]   every flop solved again
    [cyan]regretless price game.rgl --flops 'subset(49)' --resolve --safe[/cyan]   and safely
    """
    folder = file.parent / f"{file.stem}.price" if out is None else out
    command = command_line(
        "price",
        str(file),
        resolve=resolve,
        safe=safe,
        flops=flops,
        target=target,
        storage=storage,
        device=device,
        threads=threads,
        out=out,
    )
    status = _PriceStatus(folder)
    with interruptible(status) as interrupted:
        from regretless.api import load
        from regretless.cli.terminal.progress import bar
        from regretless.files.state import check_state_folder
        from regretless.holdem.games.pricing import PricedSolution
        from regretless.holdem.games.resolving_pricer import Resolving

        solution = load(file)
        if not isinstance(solution, PricedSolution):
            raise InvalidFile(file, f"is not a no-limit game from the deal: regretless verify {file}")
        if resolve is None:
            resolve = solution.settings.flops is not None
        for name, value in (("target", target), ("storage", storage), ("safe", safe or None)):
            if value is not None and not resolve:
                raise InvalidOption(name, value, "is for re-solved flops: add --resolve")
        resolving = Resolving(target=target or TARGET, storage=storage or STORAGE, safe=safe) if resolve else False
        if out is None:
            check_state_folder(folder, file.parent)
        with bar(solution.game) as update:

            def report(progress: PriceProgress) -> None:
                if not progress.total:  # nobody acts after the flop
                    return
                status.progress = progress
                update(progress.done / progress.total, _progress_text(progress))

            result = solution.price(
                DEFAULT_FLOPS if flops is None and solution.has_flops else flops,
                resolve=resolving,
                folder=folder,
                threads=threads,
                device=device or "auto",
                report=report,
                interrupted=interrupted,
            )
    if result is None:
        print_commands(f"interrupted: {status.done}; resume it with", command)
        raise typer.Exit(INTERRUPTED)
    if json_:
        print_json(result.as_json())
    else:
        _print(result)
    if result.count:
        note(f"the values of each flop are in {folder}")
    else:  # nobody acts after the flop
        note(f"the answer is in {folder / 'price.json'}")


class _PriceStatus:
    """What Ctrl-C prints while flops are evaluated."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.progress: PriceProgress | None = None

    @property
    def done(self) -> str:
        if self.progress is None:
            return "nothing was computed"
        return f"{self.progress.done:,} of {self.progress.total:,} flops are in {printable(str(self.folder))}"

    def first(self) -> str | None:
        return None if self.progress is None else f"stopping: {self.done}. Ctrl-C again stops at once"

    def second(self) -> str:
        return f"interrupted: {self.done}"


def _progress_text(progress: PriceProgress) -> str:
    """The message beside the bar."""
    words = [f"{progress.done:,} of {progress.total:,} flops"]
    if progress.estimate is not None:
        words.append(f"{1000 * progress.estimate.exploitability:.4g} mbb/g so far")
    if progress.seconds_left is not None:
        words.append(f"{about_text(progress.seconds_left)} left")
    return " · ".join(words)


def _print(result: Price) -> None:
    evaluation = result.evaluation
    name = "exploitability" if result.is_exact else "estimate"
    facts: list[tuple[str, str | Text]] = [
        (name, Text(f"{result.exploitability_mbb:.6g} mbb/g", style="bold")),
        ("small blind", _values_text(evaluation.values[0], evaluation.best_response_values[0])),
        ("big blind", _values_text(evaluation.values[1], evaluation.best_response_values[1])),
    ]
    if result.over_all_flops is not None:
        facts.append(("over all flops", f"about {1000 * result.over_all_flops:.3g} mbb/g, extrapolated"))
    if result.count:
        where = counted(result.threads, "thread") if result.device == "cpu" else result.device
        facts.append(("time", f"{duration_text(result.seconds)}, {where}"))
    console = for_answers()
    console.print(Text(printable(result.game), style="bold"))
    console.print(Text(result.meaning, style="dim"), soft_wrap=True)
    console.print(fact_table(facts, style=""))


def _values_text(value: float, best_response_value: float) -> str:
    return f"{signed_text(value)} big blinds per game; {signed_text(best_response_value)} with a best response"

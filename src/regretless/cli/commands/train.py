"""`regretless train`: its options, and how it is run, saved and printed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regretless.cli.arguments import options
from regretless.cli.arguments.options import OUTPUT, SEARCH, argument, flag, option
from regretless.cli.solving.one import load_resumed, run_problem
from regretless.cli.solving.request import SolveRequest
from regretless.cli.solving.status import SolveStatus
from regretless.cli.terminal.interrupts import interruptible
from regretless.cli.terminal.numbers import share_text
from regretless.errors import InvalidOption

if TYPE_CHECKING:
    from regretless.deep.deep_cfr import IterationReport
    from regretless.engines import Evaluation

__all__ = ["train"]

NETWORKS = "Networks and memories"  # a panel of the help
# The parameters of the command that are no training options.
COMMAND_ONLY = {"game", "set_", "json_", "strategy", "out", "keep_memories", "resume", "tensorboard", "plot"}


def train(
    context: typer.Context,
    game: Annotated[
        str | None,
        argument(
            "A two-player game: [cyan]kuhn[/cyan], [cyan]leduc[/cyan], [cyan]flop-holdem[/cyan], "
            "[cyan]'openspiel:liars_dice'[/cyan] ([cyan]regretless games[/cyan] lists them). Not needed with --resume.",
            "GAME",
        ),
    ] = None,
    preset: Annotated[
        str | None,
        option(
            "Settings to start from: small, for games that a laptop enumerates; fhp, the paper's for flop hold'em; "
            "fhp-ten-minutes, for ten minutes on a GPU. The options below change single settings.",
            SEARCH,
            default="small",
        ),
    ] = None,
    algorithm: Annotated[
        str | None,
        option(
            "deep: a policy network learns the average strategy; single: Single Deep CFR, which averages the stored "
            "value networks instead.",
            SEARCH,
            default="deep",
        ),
    ] = None,
    iterations: Annotated[int | None, options.iterations("preset")] = None,
    target: Annotated[
        float | None,
        option(
            "Stop as soon as the exploitability is at most this: in the game's units, in mbb/g for flop-holdem.", SEARCH
        ),
    ] = None,
    traversals: Annotated[int | None, option("Traversals per player and iteration.", SEARCH, default="preset")] = None,
    seed: Annotated[int | None, option("Random seed.", SEARCH, default="0")] = None,
    measure_every: Annotated[
        int | None,
        option(
            "Iterations between measurements of exploitability, each of which fits a policy.",
            SEARCH,
            default="a fifth of --iterations",
        ),
    ] = None,
    width: Annotated[int | None, option("Units per layer.", NETWORKS, default="preset")] = None,
    value_steps: Annotated[
        int | None, option("Optimiser steps for each value network.", NETWORKS, default="preset")
    ] = None,
    policy_steps: Annotated[
        int | None, option("Optimiser steps for the policy network.", NETWORKS, default="preset")
    ] = None,
    batch: Annotated[int | None, option("Samples per optimiser step.", NETWORKS, default="preset")] = None,
    learning_rate: Annotated[float | None, option("Learning rate of Adam.", NETWORKS, default="preset")] = None,
    advantage_capacity: Annotated[
        int | None, option("Samples in the advantage memory of each player.", NETWORKS, default="preset")
    ] = None,
    strategy_capacity: Annotated[
        int | None, option("Samples in the strategy memory.", NETWORKS, default="preset")
    ] = None,
    set_: Annotated[
        list[str] | None,
        option(
            "Any other setting, such as [cyan]--set weighting=uniform[/cyan]; may be repeated.",
            NETWORKS,
            names=("--set",),
            metavar="NAME=VALUE",
        ),
    ] = None,
    device: options.Device = None,
    threads: options.Threads = None,
    json_: options.SolveJson = False,
    strategy: options.Strategy = False,
    out: Annotated[
        Path | None,
        option("Save the trained policy to this .rgl file; an interrupted run is saved even without it.", OUTPUT),
    ] = None,
    keep_memories: Annotated[
        bool,
        flag(
            "--keep-memories",
            "Save the memories of a finished run too, so that it can be resumed; the file is much larger.",
            OUTPUT,
        ),
    ] = False,
    resume: options.Resume = None,
    save_every: options.SaveEvery = None,
    tensorboard: Annotated[
        Path | None, option("Write losses, memories and exploitability to this folder, for TensorBoard.", OUTPUT)
    ] = None,
    plot: options.History = None,
) -> None:
    """Train neural networks to play a game, by Deep CFR or Single Deep CFR.

    Exploitability is computed exactly, over the whole game. ([cyan]regretless train-kuhn[/cyan] trains no network: it
    is a lesson on CFR with a table.)

    \b
    [cyan]regretless train kuhn[/cyan]
    [cyan]regretless train leduc --preset small --seed 7 --out leduc-deep.rgl[/cyan]
    [cyan]regretless train leduc --algorithm single --iterations 50 --traversals 2000 --width 32[/cyan]
    [cyan]regretless train leduc --tensorboard runs/leduc[/cyan]
    [cyan]regretless train --resume leduc-deep.rgl[/cyan]

    Ctrl-C stops after the current iteration, saves what was trained and prints the command that resumes it.
    """
    if game is None and resume is None:
        raise typer.BadParameter("give a game such as leduc, or --resume and a file", param_hint="GAME")
    if game is not None and game.endswith((".toml", ".rgl")):
        raise InvalidOption("GAME", game, "is not the name of a game: regretless games lists them")
    from regretless.deep.training import TrainingOptions, training_problem

    keywords = {name: value for name, value in context.params.items() if value is not None and name not in COMMAND_ONLY}
    for text in set_ or ():
        name, value = _read_setting(text)
        if name in keywords:
            raise InvalidOption("set", text, f"sets {name}, which is given as well: set it once")
        _check_setting(name, value)
        keywords[name] = value
    options = TrainingOptions.read(keywords)
    request = SolveRequest(
        options=options.loop,
        keep_option="keep_memories" if keep_memories else None,
        as_json=json_,
        print_strategy=strategy,
        out=out,
        resume=resume,
        plot=plot,
    )
    status = SolveStatus(destination=request.destination, resumed=resume, command="train")
    with interruptible(status) as interrupted:
        from regretless.deep.tensorboard import Scalars
        from regretless.files.atomic import check_writable

        request.check_files(() if game is None else (Path(game),))
        if out is not None:
            check_writable(out)
        earlier = load_resumed(request)
        options = replace(options, loop=replace(options.loop, resume=earlier))
        latest = Latest()
        problem = training_problem(game, options, watchers=[latest])
        if tensorboard is not None:
            problem.watchers = [latest, Scalars(tensorboard)]
        file_has_memories = earlier is not None and earlier.reason != "interrupted"
        resumable = keep_memories or file_has_memories
        run_problem(problem, options.loop, request, status, interrupted, resumable=resumable, details=latest.details)


class Latest:
    """A watcher that keeps the report of the latest iteration, for the progress bar."""

    def __init__(self) -> None:
        self.report: IterationReport | None = None

    def iterated(self, report: IterationReport) -> None:
        self.report = report

    def measured(self, iteration: int, evaluation: Evaluation) -> None:
        pass

    def details(self) -> list[str]:
        """Loss, and how full the fullest memory is."""
        if self.report is None:
            return []
        loss = sum(self.report.value_losses) / len(self.report.value_losses)
        fill = max(*self.report.advantage_fill, self.report.strategy_fill)
        return [f"loss {loss:.3g}", f"memory {share_text(fill)}"]


def _read_setting(text: str) -> tuple[str, Any]:
    """A setting as `--set` gives it.

    >>> _read_setting("from_scratch=false"), _read_setting("weighting=uniform"), _read_setting("gradient-clip=2.5")
    (('from_scratch', False), ('weighting', 'uniform'), ('gradient_clip', 2.5))
    """
    name, sign, value = (part.strip() for part in text.partition("="))
    if not name or not sign or not value:
        raise InvalidOption("set", text, "is not of the form NAME=VALUE")
    name = name.replace("-", "_")
    if value.lower() in ("true", "false"):
        return name, value.lower() == "true"
    for number in (int, float):
        try:
            return name, number(value)
        except ValueError:
            continue
    return name, value


def _check_setting(name: str, value: Any) -> None:
    """Refuse what `--set` gives if it is not a setting of a training run: options have names of their own."""
    from regretless.deep.settings import preset_settings

    preset_settings(**{name: value})

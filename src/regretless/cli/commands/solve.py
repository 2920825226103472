"""`regretless solve`: its options, and whether they are for a game, one spot or many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from regretless.cli.arguments import options
from regretless.cli.arguments.inputs import is_spot, refuse_saved, spot_paths
from regretless.cli.arguments.options import MACHINE, OUTPUT, SEARCH, argument, flag, option
from regretless.cli.arguments.outputs import solution_files
from regretless.cli.arguments.values import with_parameters
from regretless.cli.solving.locks import LockFromOption, LockLineOption, LockOption, LockPlayerOption, read_locks
from regretless.cli.solving.many import solve_spots
from regretless.cli.solving.one import solve_one
from regretless.cli.solving.request import SolveRequest
from regretless.errors import InvalidOption

__all__ = ["solve"]


def solve(
    context: typer.Context,
    arguments: Annotated[
        list[str] | None,
        argument(
            "A game: [cyan]leduc[/cyan], [cyan]'leduc(ranks=6)'[/cyan], [cyan]'openspiel:liars_dice'[/cyan], "
            "[cyan]game.efg[/cyan] ([cyan]regretless games[/cyan] lists them); or hold'em spots: "
            "[cyan]spot.toml[/cyan], [cyan]'spots/*.toml'[/cyan], a folder; or hold'em from the deal: "
            "[cyan]game.toml[/cyan], with --flops or --buckets. Not needed with --resume.",
            "GAME|SPOT.toml",
        ),
    ] = None,
    variant: Annotated[
        str | None,
        option(
            "vanilla, plus, linear, discounted, predictive-plus, predictive-discounted-plus, postflop, turn, "
            "river, resetting, scheduled, each also with parameters: [cyan]'discounted(gamma=3)'[/cyan], "
            "[cyan]'scheduled(horizon=1000)'[/cyan]; the papers' names: cfr, cfr+, lcfr, dcfr, hs-dcfr, pcfr+, pdcfr+, "
            "mccfr; or lp: an exact linear program, for small two-player games.",
            SEARCH,
            default="plus; for push-fold, predictive-discounted-plus; for a spot, postflop, turn or river, or, with "
            "--buckets, discounted",
        ),
    ] = None,
    alpha: Annotated[float | None, option("With --variant: exponent for positive regrets.", SEARCH)] = None,
    beta: Annotated[float | None, option("With --variant: exponent for negative regrets.", SEARCH)] = None,
    gamma: Annotated[float | None, option("With --variant: exponent of the average.", SEARCH)] = None,
    delay: Annotated[
        int | None,
        option("With --variant: iterations by which discounts lag; of plus, iterations left out of averages.", SEARCH),
    ] = None,
    iterations: Annotated[
        int | None,
        options.iterations("1000, or 1,000,000 with --target; for a spot 10,000"),
    ] = None,
    target: Annotated[
        float | None,
        option(
            "Stop as soon as the exploitability is at most this: in the game's units, in percent of the pot for a "
            "spot (0.3 by default), in mbb/g for flop-holdem and push-fold (0.00001 by default).",
            SEARCH,
        ),
    ] = None,
    updates: options.Updates = None,
    sampling: options.Sampling = None,
    batch_size: Annotated[
        int | None, option("Deals sampled per update, with --sampling.", SEARCH, default="1, or 1,024 with torch")
    ] = None,
    seed: Annotated[int | None, options.seed("--sampling, --sample-runouts or --buckets")] = None,
    measure_every: Annotated[
        int | None,
        options.measure_every("a tenth of those done; with a target, at most as many as done, fewer the closer it is"),
    ] = None,
    engine: options.Engine = None,
    device: options.Device = None,
    threads: options.Threads = None,
    form: Annotated[
        str | None,
        option(
            "The compiled form of a game: history, or public, for kuhn, leduc and flop-holdem.",
            MACHINE,
            default="history; for flop-holdem, public",
        ),
    ] = None,
    storage: Annotated[
        int | None,
        option("Bits per stored number of a spot, or of a game in the public form: 32 or 16.", MACHINE, default="32"),
    ] = None,
    buckets: Annotated[
        str | None,
        option(
            "Solve a spot with card buckets: [cyan]turn=500,river=500[/cyan] ([cyan]river=lossless[/cyan]: no buckets "
            "there), or a file from [cyan]regretless buckets[/cyan]. Exploitability is still that of real hands on "
            "every runout. Games from the deal, [cyan]game.toml[/cyan], need a file, or a number for every street.",
            SEARCH,
        ),
    ] = None,
    sample_runouts: Annotated[
        int | None,
        option(
            "Runouts or boards drawn per iteration: of a spot, of each flop with --flops, or with --buckets.",
            SEARCH,
            default="all; with --buckets, 16",
        ),
    ] = None,
    flops: Annotated[
        str | None,
        option(
            "Solve a game from the deal with real cards on these flops only: [cyan]'subset(25)'[/cyan], weighted to "
            "stand for all; [cyan]all[/cyan], properties ([cyan]'paired two-tone'[/cyan]) or a list "
            "([cyan]'Qs Jh 2h, AhKd2c'[/cyan]).",
            SEARCH,
        ),
    ] = None,
    shards: Annotated[
        int | None,
        option("With --flops: share the flops among so many processes, which hold their own.", MACHINE, default="none"),
    ] = None,
    ray: Annotated[
        str | None,
        option("With --shards: on this Ray cluster, auto or the address of its head.", MACHINE, default="this machine"),
    ] = None,
    json_: options.SolveJson = False,
    strategy: options.Strategy = False,
    out: Annotated[
        Path | None,
        option(
            "Save the solution to this .rgl file, or several solutions to this folder; an interrupted solve is "
            "saved even without it.",
            OUTPUT,
        ),
    ] = None,
    resume: options.Resume = None,
    save_every: options.SaveEvery = None,
    keep_regrets: Annotated[
        bool,
        flag(
            "--keep-regrets",
            "Save a spot's regrets too, so that a finished solve can be resumed; the file is much larger.",
            OUTPUT,
        ),
    ] = False,
    lock: LockOption = None,
    lock_from: LockFromOption = None,
    lock_player: LockPlayerOption = None,
    lock_line: LockLineOption = None,
    plot: options.History = None,
) -> None:
    """Solve a game or a hold'em spot: values, exploitability and the strategy of every information set.

    \b
    [cyan]regretless solve leduc[/cyan]
    [cyan]regretless solve leduc --variant discounted --iterations 10000 --out leduc.rgl[/cyan]
    [cyan]regretless solve 'leduc(ranks=6)' --target 0.001[/cyan]
    [cyan]regretless solve kuhn --variant lp --json --strategy[/cyan]
    [cyan]regretless solve 'push-fold(stack=10)'[/cyan]   in big blinds
    [cyan]regretless solve --resume leduc.rgl --iterations 20000[/cyan]
    [cyan]regretless solve spot.toml --target 0.3 --out spot.rgl[/cyan]   % of the pot
    [cyan]regretless solve spots/ --out solved[/cyan]   many spots in parallel
    [cyan]regretless solve spot.toml --lock 'check: AA, KK = bet 50'[/cyan]   a locked decision
    [cyan]regretless solve game.toml --flops 'subset(25)' --out game.rgl[/cyan]   no-limit hold'em from the deal
    [cyan]regretless solve game.toml --buckets buckets.rgl --out game.rgl[/cyan]   the same, with card buckets

    Ctrl-C stops after the current iteration, saves what was solved and prints the command that resumes it.
    """
    from regretless.solving.options import RULES, SolveOptions

    if ray is not None and shards is None:
        raise InvalidOption("ray", ray, "is for the shards of a game on flops: give --flops and --shards too")
    names = tuple(arguments or ())
    values = {name: value for name, value in context.params.items() if name in RULES and value is not False}
    parameters = (("alpha", alpha), ("beta", beta), ("gamma", gamma), ("delay", delay))
    values["variant"] = with_parameters(variant, {name: value for name, value in parameters if value is not None})
    values["resume"] = None  # read later, when interrupts are answered
    request = SolveRequest(
        options=SolveOptions.read(values),
        keep_option="keep_regrets" if keep_regrets else None,
        as_json=json_,
        print_strategy=strategy,
        out=out,
        resume=resume,
        plot=plot,
        ray=ray,
        locks=read_locks(lock or (), lock_from, lock_player, lock_line or ()),
    )
    if any(map(is_spot, names)):
        _solve_files(names, request)
        return
    for name in names:
        refuse_saved("GAME", name, f"use regretless show {name}, or --resume {name}")
    if len(names) > 1:
        raise typer.BadParameter(f"one game at a time, not {', '.join(names)}", param_hint="GAME")
    if not names and resume is None:
        raise typer.BadParameter("give a game such as leduc, a spot file, or --resume and a file", param_hint="GAME")
    solve_one(names[0] if names else None, request)


def _solve_files(names: Sequence[str], request: SolveRequest) -> None:
    """Solve the spots of files, patterns and folders, or resume the solve of one of them."""
    paths, is_batch = spot_paths(names)
    if is_batch and request.resume is None:
        solve_spots(paths, request)
        return
    if len(paths) > 1:
        raise typer.BadParameter("resumes one file, which belongs to one spot", param_hint="--resume")
    if request.out is not None and request.out.is_dir():
        request = replace(request, out=solution_files(paths, request.out)[0])
    solve_one(paths[0], request)

"""`regretless train-kuhn`: two players learn Kuhn poker hand by hand; prints and plots what they learned."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from regretless.cli.arguments.figures import check_figure, check_shown, save_figure
from regretless.cli.arguments.options import Json, flag, option
from regretless.cli.terminal.consoles import fact_table, for_answers, for_people, has_color, note
from regretless.cli.terminal.interrupts import INTERRUPTED, SimplePlan, interruptible
from regretless.cli.terminal.json_output import print_json
from regretless.cli.terminal.numbers import count_text, duration_text, signed_text
from regretless.errors import InvalidOption

if TYPE_CHECKING:
    from regretless.solving.readable.training import Training

__all__ = ["train_kuhn"]


def train_kuhn(
    iterations: Annotated[int, typer.Option(help="Hands to deal.")] = 100_000,
    seed: Annotated[int, typer.Option(help="Random seed of the deals.")] = 0,
    plot: Annotated[Path | None, option("Plot the strategy to a .png, .svg, .pdf or .jpg file.")] = None,
    information_sets: Annotated[
        str | None,
        option("Information sets to plot, separated by commas: [cyan]J,Q,Qpb[/cyan].", default="all"),
    ] = None,
    show: Annotated[bool, flag("--show", "Open the plot in a window.")] = False,
    json_: Json = False,
) -> None:
    """Watch CFR learn Kuhn poker on a table, without networks: a lesson, one random deal after another.

    Each deal updates both players (chance-sampled CFR). [cyan]regretless train kuhn[/cyan] trains neural networks
    instead.

    Cards are J, Q and K; p passes (checks or folds) and b bets (or calls): [cyan]Qpb[/cyan] is a queen that checked and
    now faces a bet.

    \b
    [cyan]regretless train-kuhn[/cyan]
    [cyan]regretless train-kuhn --iterations 20000 --plot kuhn.png --information-sets J,Q,K[/cyan]
    [cyan]regretless train-kuhn --show[/cyan]
    """
    from regretless.cli.terminal.progress import bar
    from regretless.cli.views.game_show import choose, read_keys
    from regretless.solving.readable.training import KUHN_VALUE, KuhnTrainer
    from regretless.solving.readable.training import train_kuhn as train

    keys = list(choose(KuhnTrainer().get_all_average_strategies(), read_keys(information_sets), None))
    if information_sets is not None and plot is None and not show:
        raise InvalidOption("information-sets", information_sets, "selects what to plot: add --plot or --show")
    if plot is not None:
        check_figure("plot", plot)
    if show:
        check_shown()
    plan = SimplePlan("stopping after this hand", "stopped at once: the training is lost")
    with interruptible(plan) as interrupted, bar("kuhn") as update:
        training = train(
            iterations,
            seed=seed,
            report=lambda hands, value: update(
                hands / iterations, f"{hands:,} of {iterations:,} hands · mean value {value:+.4f}"
            ),
            interrupted=interrupted,
        )
    if plot is not None or show:
        from regretless.plots.bars import strategy_bars

        figure = strategy_bars(
            training.strategy,
            keys,
            value=training.running_value,
            theoretical=KUHN_VALUE,
            names={"p": "pass", "b": "bet"},
            title=f"Kuhn poker after {training.iterations:,} hands",
        )
        if plot is not None:
            save_figure(figure, plot)
    if json_:
        result = {
            "iterations": training.iterations,
            "seconds": training.seconds,
            "running_value": training.running_value,
            "theoretical_value": KUHN_VALUE,
            "values": list(training.evaluation.values),
            "exploitability": training.evaluation.exploitability,
            "nash_conv": training.evaluation.nash_conv,
            "strategy": training.strategy,
        }
        print_json(result)
    else:
        _print(training, KUHN_VALUE)
    if plot is not None:
        note(f"drew {plot}")
    if show:
        figure.show()
    if training.iterations < iterations:
        for_people().print(f"interrupted after {training.iterations:,} of {iterations:,} hands")
        raise typer.Exit(INTERRUPTED)


def _print(training: Training, theoretical: float) -> None:
    from regretless.cli.views.game_show import strategy_table

    console = for_answers()
    speed = count_text(training.iterations / max(training.seconds, 1e-9))
    facts: list[tuple[str, str | Text]] = [
        (
            "mean value so far",
            Text(signed_text(training.running_value), style="bold").append(
                " chips per hand to player 0", style="not bold"
            ),
        ),
        ("value of the strategy", f"{signed_text(training.evaluation.values[0])} chips per hand"),
        ("in theory", f"{signed_text(theoretical)} chips per hand   (−1/18)"),
        ("exploitability", f"{training.evaluation.exploitability:.3g} chips per hand   (NashConv / 2)"),
        ("time", f"{duration_text(training.seconds)}, {speed} hands/s"),
    ]
    console.print(Text("kuhn", style="bold"), Text(f"trained on {training.iterations:,} hands", style="dim"))
    console.print()
    console.print(fact_table(facts))
    console.print()
    console.print(strategy_table(training.strategy, color=has_color(console)))
    console.print(Text("J jack, Q queen, K king; p pass (check or fold), b bet (or call)", style="dim"))

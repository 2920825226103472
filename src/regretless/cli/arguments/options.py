"""Options that several commands share, each with its help text."""

from __future__ import annotations

from collections.abc import Mapping, Set
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand
from typer.models import ArgumentInfo, OptionInfo

from regretless.errors import InvalidOption

__all__ = [
    "DEFAULT_FLOPS", "JSON", "MACHINE", "OUTPUT", "SEARCH", "SPOTS", "Board", "Device", "Engine", "HelpCommand",
    "History", "Json", "Line", "Player", "Resume", "Sampling", "SaveEvery", "SolveJson", "Strategy", "Threads",
    "Updates", "argument",
    "flag", "information_sets", "iterations", "measure_every", "option", "refuse_other_options", "seed",
    "without_type",
]  # fmt: skip

# The panels that the help sorts options into.
SEARCH, MACHINE, OUTPUT, SPOTS = "How it solves", "What it runs on", "What comes out", "Hold'em spots"

DEFAULT_FLOPS = "subset(25)"  # of solutions with buckets, which have no flops of their own


def argument(help: str, metavar: str | None = None) -> ArgumentInfo:
    """An argument of a command."""
    info: ArgumentInfo = typer.Argument(help=help, metavar=metavar, show_default=False)
    return info


def option(
    help: str,
    panel: str | None = None,
    *,
    names: tuple[str, ...] = (),
    default: str | bool = False,
    metavar: str | None = None,
) -> OptionInfo:
    """An option, named after its parameter unless `names` are given; `default` says what happens without it."""
    info: OptionInfo = typer.Option(*names, help=help, rich_help_panel=panel, show_default=default, metavar=metavar)
    return info


def flag(name: str, help: str, panel: str | None = None) -> OptionInfo:
    """An option that takes no value, so its help names no type: Typer would print <bool>."""
    return option(help, panel, names=(name,), metavar="")


def without_type(help_option: Any) -> Any:
    """Typer's --help, shown like any other flag; None if a command has no help."""
    if help_option is not None:
        help_option.metavar = ""
    return help_option


class HelpCommand(TyperCommand):
    """A command whose --help is shown like any other flag."""

    def get_help_option(self, ctx: Any) -> Any:
        return without_type(super().get_help_option(ctx))


# --- how solving or training runs ------------------------------------------------------------------------------------


def iterations(default: str) -> OptionInfo:
    """The option --iterations; `default` is the number without it."""
    return option("Stop after this many iterations in total, including those before --resume.", SEARCH, default=default)


def seed(needs: str) -> OptionInfo:
    """The option --seed, which applies only with one of the options that `needs` lists."""
    return option(f"Random seed, with {needs}.", SEARCH, default="0")


def measure_every(default: str) -> OptionInfo:
    """The option --measure-every; `default` is the number without it."""
    return option("Iterations between measurements of exploitability.", SEARCH, default=default)


Updates = Annotated[
    str | None,
    option("alternating: players are updated in turn; simultaneous: all at once.", SEARCH, default="alternating"),
]
Sampling = Annotated[
    str | None,
    option("How much of the tree each iteration traverses: full, chance, external or outcome.", SEARCH, default="full"),
]
Engine = Annotated[
    str | None,
    option("auto, numba, numpy, torch, cuda, matrix, or reference: the readable recursion.", MACHINE, default="auto"),
]
Device = Annotated[str | None, option("auto, cpu, cuda or mps.", MACHINE, default="auto")]
Threads = Annotated[
    int | None,
    option("CPU threads, at most; rivers and small games use one.", MACHINE, default="chosen by the engine"),
]

# --- what comes out --------------------------------------------------------------------------------------------------

JSON = "One JSON object on stdout, and nothing else."
Json = Annotated[bool, flag("--json", JSON)]
SolveJson = Annotated[bool, flag("--json", JSON, OUTPUT)]
Strategy = Annotated[bool, flag("--strategy", "Show every information set, not just the first few.", OUTPUT)]
Resume = Annotated[
    Path | None,
    option("Resume this .rgl file with its settings, and save to it unless --out says otherwise.", OUTPUT),
]
SaveEvery = Annotated[
    float | None, option("Seconds between checkpoints, with --out or --resume.", OUTPUT, default="180")
]
History = Annotated[
    Path | None, option("Plot the exploitability over time to a .png, .svg, .pdf or .jpg file.", OUTPUT)
]


def information_sets(default: str) -> OptionInfo:
    """The option --information-sets; `default` is what is shown without it."""
    return option("Only these, separated by commas: [cyan]Ks:,Ks:r[/cyan].", default=default)


# --- where to look in a spot -----------------------------------------------------------------------------------------

Line = Annotated[
    str | None,
    option(
        "The node, as a line of play: [cyan]'check, bet 94, call, Th'[/cyan].",
        SPOTS,
        names=("--line", "--node"),
        default="the first decision",
        metavar="LINE",
    ),
]
Board = Annotated[
    str | None,
    option(
        "Cards that the line leaves out, in order: [cyan]'Th 2c'[/cyan]; the spot's own board may come first.",
        SPOTS,
        default="the first that can be dealt",
        metavar="CARDS",
    ),
]
Player = Annotated[str | None, option("Whose hands to show.", SPOTS, default="the player to act", metavar="oop|ip")]


def refuse_other_options(
    context: typer.Context, subject: str, allowed: Set[str], hints: Mapping[str, str] | None = None
) -> None:
    """Refuse, by name, the options on the command line that do not apply to this subject: "a game", "--svg".

    `hints` has, for some options, what else would make them apply; it ends the sentence.
    """
    for parameter in context.command.params:
        name, value = parameter.opts[0], context.params.get(parameter.name or "")
        is_set = value is not None and value is not False
        if is_set and name.startswith("--") and name not in allowed | {subject}:
            hint = (hints or {}).get(name, "")
            raise InvalidOption(name.removeprefix("--"), value, f"does not apply to {subject}{hint}")

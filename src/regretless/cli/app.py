"""The subcommands assembled, and what a user sees when something goes wrong.

| what happened                                    | stderr               | exit code            |
|--------------------------------------------------|----------------------|----------------------|
| success                                          |                      | 0                    |
| read, but probably not what was meant            | `warning:` a sentence | as without it       |
| the request was wrong (a `RegretlessError`)      | `error:` a sentence  | 1, or 3 for memory   |
| a GPU failed (`DeviceFailed`)                    | `error:` a sentence  | 4                    |
| the system refused (disk full, no permission)    | `error:` a sentence  | 1                    |
| the command line could not be read               | `error:` and a hint  | 2                    |
| Ctrl-C or SIGTERM                                | what was saved       | 130                  |
| the reader of a pipe closed it                   |                      | 0                    |
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from inspect import cleandoc, signature
from typing import Annotated, Any

import typer
from rich.text import Text
from typer.core import TyperGroup

from regretless.cli.arguments.options import HelpCommand, without_type
from regretless.cli.commands.buckets import buckets
from regretless.cli.commands.cards import equity, range_
from regretless.cli.commands.compare import compare
from regretless.cli.commands.estimate import estimate
from regretless.cli.commands.export import export
from regretless.cli.commands.games import games
from regretless.cli.commands.play import play
from regretless.cli.commands.plot import plot
from regretless.cli.commands.price import price
from regretless.cli.commands.serve import serve
from regretless.cli.commands.show import ShowCommand, show
from regretless.cli.commands.solve import solve
from regretless.cli.commands.study import app as study
from regretless.cli.commands.train import train
from regretless.cli.commands.train_kuhn import train_kuhn
from regretless.cli.commands.upi import upi
from regretless.cli.commands.verify import verify
from regretless.cli.terminal.consoles import for_people, print_error, warnings_as_lines
from regretless.cli.terminal.interrupts import INTERRUPTED, let_interrupt
from regretless.cli.terminal.streams import discard, prepare_streams
from regretless.errors import Advice, InvalidOption, RegretlessError
from regretless.garbage import relaxed_gc

__all__ = ["app", "main"]

# What a user reads instead of Pydantic's error types for text that is not a number.
NUMBERS = {
    "int_parsing": "must be a whole number",
    "int_parsing_size": "has too many digits",
    "float_parsing": "must be a number",
}


class Interrupted(Exception):
    """Ctrl-C under another name: Typer turns a `KeyboardInterrupt` into an exit code without a message."""


class Commands(TyperGroup):
    """The subcommands."""

    def get_help_option(self, ctx: Any) -> Any:
        return without_type(super().get_help_option(ctx))

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted from None


app = typer.Typer(
    name="regretless",
    cls=Commands,
    rich_markup_mode="rich",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _help(command: Callable[..., None]) -> str:
    """A command's docstring with each paragraph on one line: Typer keeps the line breaks of all but the first."""
    paragraphs = (command.__doc__ or "").split("\n\n")
    return "\n\n".join(
        text if text.lstrip().startswith("\b") else " ".join(text.split()) for text in map(cleandoc, paragraphs)
    )


# The help's panels: commands by what a person wants.
PANELS: dict[str, tuple[Callable[..., None], ...]] = {
    "Solve": (solve, estimate, games, buckets, train),
    "Look": (show, export, plot, range_, equity),
    "Compare and check": (compare, verify, price),
    "Study": (train_kuhn,),  # and `study`, which has subcommands
    "Play": (play,),
    "Connect": (serve, upi),
}
COMMANDS = tuple(command for commands in PANELS.values() for command in commands)
for _panel, _commands in PANELS.items():
    for _command in _commands:
        _name = _command.__name__.strip("_").replace("_", "-")
        _cls = ShowCommand if _command is show else HelpCommand
        app.command(_name, cls=_cls, help=_help(_command), rich_help_panel=_panel)(_command)
for _subcommand in study.registered_commands:
    _subcommand.cls = HelpCommand
    if _subcommand.callback is not None:
        _subcommand.help = _help(_subcommand.callback)
app.add_typer(study, name="study", cls=Commands, rich_help_panel="Study")


def _print_version(is_set: bool) -> None:
    if is_set:
        from regretless import __version__

        print(f"regretless {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def regretless(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", help="Print the version and exit.", callback=_print_version, is_eager=True, metavar=""
        ),
    ] = False,
) -> None:
    """A poker solver: counterfactual regret minimization from Kuhn and Leduc to heads-up no-limit hold'em.

    [dim]Start with[/dim]

    \b
    [cyan]regretless games[/cyan]   what can be solved
    [cyan]regretless solve leduc[/cyan]   strategy, values and exploitability
    [cyan]regretless solve spot.toml --out spot.rgl[/cyan]   a hold'em spot
    [cyan]regretless plot leduc --variants vanilla,plus,discounted[/cyan]   how fast each of them converges
    [cyan]regretless study run study.toml --out study[/cyan]   a formation over many flops
    [cyan]regretless equity AhKh QQ --board "Qs Jh 2h"[/cyan]   range against range
    """
    let_interrupt()
    if context.invoked_subcommand is None:
        print(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; every error a user can cause is one sentence on stderr."""
    prepare_streams()
    code = _run(list(sys.argv[1:] if arguments is None else arguments))
    try:
        sys.stdout.flush()
    except OSError as error:
        discard(sys.stdout)  # otherwise Python flushes again at exit and complains
        if code == 0 and not isinstance(error, BrokenPipeError):
            return _fail(f"stdout: {error.strerror or error}", 1)
    return code


def _run(arguments: list[str]) -> int:
    try:
        with relaxed_gc(), warnings_as_lines():  # less garbage collection saves 0.1 s while libraries load
            code = app(arguments, prog_name="regretless", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except RegretlessError as error:
        return _fail(_as_typed(error), error.exit_code)
    except (KeyboardInterrupt, Interrupted, typer.Abort) as stop:
        if isinstance(stop.__cause__, EOFError):  # Click turns every EOFError into an Abort
            return _fail("a file ended before all of it was read", 1)
        return _fail("interrupted", INTERRUPTED)
    except BrokenPipeError:  # the reader of a pipe closed it
        return 0
    except SystemExit as end:  # Click and Rich turn a broken pipe into this
        if isinstance(end.__context__, BrokenPipeError):
            return 0
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _fail(f"{where}{error.strerror or error}", 1)
    except MemoryError:
        return _fail("not enough memory", 3)
    except Exception as error:
        if hasattr(error, "format_message"):  # a usage error: Click's, or that of the copy inside Typer
            return _fail_usage(error)
        raise


def _as_typed(error: RegretlessError) -> str:
    """The sentence of an error, with an option named as the command line has it: save-every, not save_every."""
    name = getattr(error, "option", "")
    typed = {parameter for command in COMMANDS for parameter in signature(command).parameters}
    sentence = error.worded(Advice.as_option)
    return sentence.replace(name, name.replace("_", "-"), 1) if name in typed else sentence


def _fail(sentence: str, code: int) -> int:
    print_error(sentence)
    return code


def _fail_usage(error: Any) -> int:
    sentence = _bad_number(error) or str(error.format_message()).rstrip(".")
    code = _fail(sentence, int(getattr(error, "exit_code", 2)))
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "regretless"
    for_people().print(Text("see ", style="dim").append(f"{path} --help", style="not dim cyan"), soft_wrap=True)
    return code


def _bad_number(error: Any) -> str:
    """The sentence about text that is not a number, worded as in Python; "" if something else is wrong."""
    problems: list[dict[str, str]] = getattr(error.__cause__, "errors", list)()
    rule = NUMBERS.get(problems[0]["type"]) if problems else None
    return str(InvalidOption(error.param.opts[0].lstrip("-"), problems[0]["input"], rule)) if rule else ""

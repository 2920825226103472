"""`regretless export`: nodes of a solved spot for spreadsheets, scripts and data frames."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from regretless.cli.arguments import options
from regretless.cli.arguments.options import SPOTS, argument, flag, option, refuse_other_options
from regretless.cli.arguments.values import read_cards, read_player, read_range
from regretless.cli.terminal.consoles import for_answers, for_people, note
from regretless.cli.terminal.interrupts import INTERRUPTED
from regretless.cli.terminal.numbers import counted
from regretless.errors import InvalidFile, InvalidOption, MissingOption, bytes_text

if TYPE_CHECKING:
    from regretless.holdem.exports import ExportSize
    from regretless.holdem.reading.nodes import NodeView
    from regretless.holdem.spots.spot_fields import PlayerName
    from regretless.solving.game_solution import GameSolution

__all__ = ["export"]

# The options that each kind of export takes; any other is refused by name.
GAME_OPTIONS = {"--format", "--out"}
LINE_OPTIONS = GAME_OPTIONS | {"--line", "--board", "--hands"}
RANGES_OPTIONS = GAME_OPTIONS | {"--line", "--board"}


def export(
    context: typer.Context,
    file: Annotated[Path | None, argument("A .rgl file of a spot or a game.")] = None,
    line: options.Line = None,
    board: options.Board = None,
    street: Annotated[str | None, option("Every decision on a street (flop, turn or river), after every card.")] = None,
    all_: Annotated[bool, flag("--all", "Every decision of the tree, after every card.")] = False,
    player: Annotated[str | None, option("Whose hands to write.", SPOTS, default="both", metavar="oop|ip")] = None,
    hands: Annotated[
        str | None, option("Only these hands: [cyan]'AK, 99+'[/cyan].", default="all", metavar="RANGE")
    ] = None,
    ranges: Annotated[
        str | None,
        option(
            "The hands that take each action, at --line, as text for other programs: [cyan]short[/cyan], "
            "[cyan]gto+[/cyan] or [cyan]weights[/cyan]; of a game from the deal without --line, at every decision "
            "before the flop.",
            metavar="short|gto+|weights",
        ),
    ] = None,
    format_: Annotated[
        str | None,
        option("csv, json or parquet; ranges also as txt.", names=("--format",), default="from --out, else csv or txt"),
    ] = None,
    out: Annotated[Path | None, option("The file to write.", default="stdout")] = None,
    columns: Annotated[bool, flag("--columns", "Print what each column means and exit.")] = False,
) -> None:
    """Export strategy, weight, equity, EV and EQR of every hand: at one node, on one street or everywhere.

    A single node is written as one row per hand; --street and --all write one row per hand and action, after every turn
    and river card. For a game, solved or trained, every information set is written, with one row per action; for
    hold'em from the deal, those before the flop, or one row per hand at --line. The file appears only when it is
    complete: an interrupted export leaves nothing behind.

    \b
    [cyan]regretless export spot.rgl --line 'check' --out check.csv[/cyan]
    [cyan]regretless export spot.rgl --street turn --format json > turn.json[/cyan]
    [cyan]regretless export spot.rgl --all --player oop --hands 'AK, 99+' --out spot.parquet[/cyan]
    [cyan]regretless export leduc.rgl --out leduc.csv[/cyan]   a game
    [cyan]regretless export spot.rgl --line 'check' --ranges gto+[/cyan]   who bets, who checks
    [cyan]regretless export game.rgl --ranges short --out ranges.txt[/cyan]   hold'em from the deal
    [cyan]regretless export --columns[/cyan]
    """
    from regretless.api import load
    from regretless.cli.views.game_export import export_ranges
    from regretless.cli.views.spot_view import check_any_hand
    from regretless.holdem.exports import decisions, export_size
    from regretless.holdem.solution import SpotSolution
    from regretless.solving.game_solution import GameSolution

    if columns:
        if any(value not in (None, False) for name, value in context.params.items() if name != "columns"):
            raise typer.BadParameter("prints what each column means, and takes nothing else", param_hint="--columns")
        _print_columns()
        return
    if file is None:
        raise typer.BadParameter("name the .rgl file to export", param_hint="FILE")
    if sum((line is not None or board is not None, street is not None, all_)) > 1:
        raise typer.BadParameter("choose one of --line, --street and --all", param_hint="--line")
    kind = _choose_format(format_, ranges, out)
    if out is not None and out.exists() and out.samefile(file):
        raise InvalidFile(out, "is the solution being exported: choose another name for --out")
    seat, selection = read_player(player), read_range(hands)
    solution = load(file)
    if isinstance(solution, GameSolution):
        _export_game(context, solution, kind, out)
        return
    assert isinstance(solution, SpotSolution)
    node = solution.node(line or "", read_cards(board))  # the first decision if --street or --all is given
    if ranges is not None:
        refuse_other_options(context, "--ranges", RANGES_OPTIONS)
        if node.kind != "decision":
            raise InvalidOption("line", line or "", "leads to no decision: nobody acts there")
        export_ranges([node], ranges, kind, out)
        return
    if selection is not None:
        check_any_hand(node.only("oop", selection).only("ip", selection), selection, seat)
    is_single = not all_ and street is None
    nodes, size = iter([node]), None
    if not is_single:
        nodes = decisions(solution, street)
        size = export_size(solution, kind, street)
        _announce(size, kind, out, filtered=seat is not None or selection is not None)
    if selection is not None:
        nodes = (view.only("oop", selection).only("ip", selection) for view in nodes)
    _write(nodes, size, kind, out, wide=is_single, player=seat)


def _choose_format(format_: str | None, ranges: str | None, out: Path | None) -> str:
    """The format to write: that of --format, else that of the file's suffix."""
    from regretless.cards.ranges import FORMATS as RANGE_TEXTS
    from regretless.cli.views.game_export import RANGE_FORMATS
    from regretless.holdem.exports import FORMATS

    if ranges is not None and ranges not in RANGE_TEXTS:
        raise InvalidOption("ranges", ranges, f"is not one of {', '.join(RANGE_TEXTS)}")
    allowed, default = (FORMATS, "csv") if ranges is None else (RANGE_FORMATS, "txt")
    kind = format_ or (default if out is None else out.suffix.lower().lstrip("."))
    if not kind:
        reason = f"does not end in a format, such as .{default}: say which with --format"
        raise InvalidOption("out", str(out), reason)
    if kind not in allowed:
        raise InvalidOption("format", kind, f"is not one of {', '.join(allowed)}")
    if out is not None and out.suffix.lower() in (f".{other}" for other in allowed if other != kind):
        raise InvalidOption("format", kind, f"does not match the name of {out}: leave out --format, or rename the file")
    if kind == "parquet" and out is None:
        raise MissingOption("out", "parquet is not written to stdout; name a file")
    return kind


def _export_game(context: typer.Context, solution: GameSolution, kind: str, out: Path | None) -> None:
    """Export a game: its strategy or, from the deal, ranges or the hands at a line."""
    from regretless.cli.views.game_export import export_game, export_line, export_ranges
    from regretless.holdem.games.big_blinds import BigBlindSolution

    parameters = context.params
    line, cards, ranges = parameters["line"], read_cards(parameters["board"]), parameters["ranges"]
    selection = read_range(parameters["hands"])
    has_line = line is not None or bool(cards)
    if isinstance(solution, BigBlindSolution) and ranges is not None:
        refuse_other_options(context, "--ranges", RANGES_OPTIONS)
        nodes = [solution.node(line or "", cards)] if has_line else list(solution.charts())
        export_ranges(nodes, ranges, kind, out)
    elif isinstance(solution, BigBlindSolution) and (has_line or selection is not None):
        refuse_other_options(context, "a line of a game", LINE_OPTIONS)
        node = solution.node(line or "", cards)
        export_line(node if selection is None else node.only(selection), kind, out)
    else:
        refuse_other_options(context, "a game", GAME_OPTIONS)
        export_game(solution, kind, out)


def _announce(size: ExportSize, kind: str, out: Path | None, *, filtered: bool) -> None:
    """Print how large an export is, and refuse it if the disk has no room for it."""
    rows = "" if kind == "json" else f", {size.rows:,} rows"
    about = "at most" if filtered else "about"
    sentence = f"{size.nodes:,} nodes{rows}, {about} {bytes_text(size.bytes)} of {kind}"
    for_people().print(sentence, style="dim", soft_wrap=True)
    if out is not None and not filtered and out.parent.is_dir():
        free = shutil.disk_usage(out.parent).free
        if size.bytes > free:
            raise InvalidFile(out, f"would take about {bytes_text(size.bytes)}; only {bytes_text(free)} are free")


def _write(
    nodes: Iterator[NodeView],
    size: ExportSize | None,
    kind: str,
    out: Path | None,
    *,
    wide: bool,
    player: PlayerName | None,
) -> None:
    """Write nodes to a file, which appears when it is complete, or to stdout."""
    from regretless.files.atomic import replace_file
    from regretless.holdem.exports import write_nodes

    if out is None:
        write_nodes(nodes, kind, sys.stdout, wide=wide, player=player)
        return
    try:
        with replace_file(out) as temporary, _with_progress(nodes, size) as nodes:
            if kind == "parquet":
                count = write_nodes(nodes, kind, temporary, wide=wide, player=player)
            else:
                with open(temporary, "w", encoding="utf-8", newline="") as stream:
                    count = write_nodes(nodes, kind, stream, wide=wide, player=player)
    except KeyboardInterrupt:
        for_people().print(f"interrupted: {out} was not written", soft_wrap=True)
        raise typer.Exit(INTERRUPTED) from None
    note(f"saved {counted(count, 'node')} to {out}")


@contextmanager
def _with_progress(nodes: Iterator[NodeView], size: ExportSize | None) -> Iterator[Iterator[NodeView]]:
    """The nodes one by one, with a progress bar; Ctrl-C or SIGTERM ends the export between two of them."""
    from regretless.cli.terminal.progress import bar
    from regretless.solving.interrupt import catch_interrupts

    with catch_interrupts() as interrupted, bar("export") as update:

        def report_each() -> Iterator[NodeView]:
            for count, node in enumerate(nodes, 1):
                if interrupted():
                    raise KeyboardInterrupt
                if size is not None:
                    update(count / max(size.nodes, 1), f"{count:,} of {size.nodes:,} nodes")
                yield node

        yield report_each()


def _print_columns() -> None:
    from regretless.holdem.reading.columns import DEFINITIONS

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("column", style="bold", no_wrap=True)
    table.add_column("what it is")
    for name, meaning in DEFINITIONS.items():
        table.add_row(name, meaning)
    for_answers().print(table)

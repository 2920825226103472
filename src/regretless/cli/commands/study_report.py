"""`regretless study report`: the results of a study as tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from regretless.cli.arguments.figures import check_figure, save_figure
from regretless.cli.arguments.options import OUTPUT, Json, argument, option
from regretless.cli.terminal.consoles import for_answers, note, plain_table
from regretless.cli.terminal.json_output import print_json
from regretless.cli.terminal.numbers import cell_text
from regretless.errors import InvalidOption

if TYPE_CHECKING:
    from pyarrow import Table

    from regretless.holdem.studies.reports import Coverage, ReportRow, StudyReport
    from regretless.holdem.studies.study import Study

__all__ = ["report"]


def report(
    folder: Annotated[Path, argument("The folder of a study.", "FOLDER")],
    line: Annotated[
        str, option("Line of play: [cyan]'check, bet 18'[/cyan].", names=("--line", "--node"), default="first decision")
    ] = "",
    by: Annotated[
        str, option("Columns to group by, separated by commas: texture, pairing, suits, connectedness, high, flop …")
    ] = "texture",
    sort: Annotated[
        str | None,
        option("Largest first: an action, a kind of action ([cyan]bet[/cyan]), oop_ev …", default="by group"),
    ] = None,
    where: Annotated[
        str, option("Only flops with these properties: [cyan]'paired two-tone'[/cyan].", default="all")
    ] = "",
    sql: Annotated[str | None, option("One SELECT over summary, hands and runs, instead of a report.")] = None,
    out: Annotated[Path | None, option("Write the rows to this .csv or .parquet file.", OUTPUT)] = None,
    plot: Annotated[Path | None, option("Plot the frequencies to a .png, .svg, .pdf or .jpg file.", OUTPUT)] = None,
    json_: Json = False,
) -> None:
    """Frequencies, EV, equity and EQR by group of flops, each flop weighted by how many it stands for.

    If the study is not complete, the report says how much of it is solved, and everything is over that part.

    \b
    [cyan]regretless study report study --by high --sort bet[/cyan]
    [cyan]regretless study report study --line check --by flop --where 'paired two-tone' --out paired.csv[/cyan]
    [cyan]regretless study report study --sql "SELECT flop, ip_ev FROM summary WHERE line = '' AND place = 0"[/cyan]
    """
    from regretless.holdem.studies.study import Study

    if out is not None and out.suffix.lower() not in (".csv", ".parquet"):
        raise InvalidOption("out", str(out), "must end in .csv or .parquet")
    if plot is not None:
        check_figure("plot", plot)
    study = Study(folder)
    if sql is not None:
        if plot is not None:
            raise InvalidOption("plot", str(plot), "is for reports, not for --sql")
        _query(study, sql, out, as_json=json_)
        return
    result = study.report(line, by=by, sort=sort, where=where)
    if json_ or out is not None:
        _note_coverage(result.coverage)
    if json_:
        print_json(result.as_json())
    elif out is None:
        _print_report(result)
    if out is not None:
        from regretless.holdem.reading.columns import pyarrow

        _write(pyarrow()[0].Table.from_pylist(result.flat_rows()), out)
    if plot is not None:
        save_figure(study.plot_frequencies(line, by=by, sort=sort, where=where), plot)
        note(f"saved {plot}")


def _query(study: Study, sql: str, out: Path | None, *, as_json: bool) -> None:
    """The rows that a query selects."""
    table = study.query(sql)
    _note_coverage(study.coverage())
    if as_json:
        print_json(table.to_pylist())
    elif out is None:
        _print_rows(table.column_names, table.to_pylist())
    if out is not None:
        _write(table, out)


def _print_report(report: StudyReport) -> None:
    columns = ("flops", "share", *report.actions, "EV oop", "EV ip", "equity oop", "EQR oop", "EQR ip")
    table = plain_table(report.by or ("",), columns)
    for row in report.rows:
        group = [str(value) for value in row.group]
        table.add_row(*(group or [""]), *_cells(row, report.actions))
    blanks = [""] * (len(report.by) - 1)
    table.add_row("all", *blanks, *_cells(report.total, report.actions), style="bold")
    console = for_answers(fit=False)
    console.print(f"{report.player} acts{f' after {report.line}' if report.line else ' first'}", style="dim")
    if not report.coverage.is_complete:
        console.print(str(report.coverage), style="yellow")
    console.print(table)


def _cells(row: ReportRow, actions: Sequence[str]) -> list[str]:
    """The numbers of a row: count, share, frequency of each action, EVs, equity and EQRs."""
    return [
        f"{row.spots:,}",
        cell_text(row.share, ".1%"),
        *(cell_text(row.frequencies[action], ".1%") for action in actions),
        *(cell_text(row.oop_ev, ".2f"), cell_text(row.ip_ev, ".2f"), cell_text(row.oop_equity, ".1%")),
        *(cell_text(row.oop_eqr, ".2f"), cell_text(row.ip_eqr, ".2f")),
    ]


def _note_coverage(coverage: Coverage) -> None:
    """Say on stderr that a study is not complete, where the answer itself has no place for a sentence."""
    if not coverage.is_complete:
        note(str(coverage))


def _print_rows(names: list[str], rows: list[dict[str, object]]) -> None:
    table = plain_table(names)
    for row in rows:
        table.add_row(*(f"{value:.6g}" if isinstance(value, float) else str(value) for value in row.values()))
    for_answers(fit=False).print(table)


def _write(table: Table, out: Path) -> None:
    from regretless.files.atomic import replace_file
    from regretless.holdem.reading.columns import pyarrow

    with replace_file(out) as temporary:
        if out.suffix.lower() == ".parquet":
            pyarrow()[1].write_table(table, temporary)
        else:
            from pyarrow import csv

            csv.write_csv(table, temporary)
    note(f"saved {len(table):,} rows to {out}")

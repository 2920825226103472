"""`regretless study`: one formation over many flops, estimated, solved and reported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from regretless.cli.arguments.figures import check_figure, save_figure
from regretless.cli.arguments.options import MACHINE, OUTPUT, Json, argument, option
from regretless.cli.terminal.consoles import fact_table, for_answers, note, plain_table, print_error
from regretless.cli.terminal.interrupts import INTERRUPTED, interruptible
from regretless.cli.terminal.json_output import print_json
from regretless.cli.terminal.next_commands import command_line, print_commands
from regretless.cli.terminal.numbers import about_text, cell_text, counted, duration_text
from regretless.errors import InvalidOption, WouldNotFit, bytes_text

if TYPE_CHECKING:
    from pyarrow import Table

    from regretless.cluster.jobs import Executor
    from regretless.cluster.run import StudyProgress, StudyRun
    from regretless.holdem.studies.plan import StudyPlan
    from regretless.holdem.studies.reports import Coverage, StudyReport
    from regretless.holdem.studies.sizes import StudySize

__all__ = ["app"]

PRINTED_ERRORS = 10  # errors printed one by one; more are counted

app = typer.Typer(rich_markup_mode="rich")

File = Annotated[Path, argument("The study file.", "STUDY.toml")]
Folder = Annotated[Path, argument("The folder of a study.", "FOLDER")]


@app.callback(invoke_without_command=True)
def study(context: typer.Context) -> None:
    """Solve one formation over many flops, and query the results as tables.

    \b
    [cyan]regretless study estimate bb_vs_btn.toml[/cyan]   spots, memory, hours, bytes on disk
    [cyan]regretless study run bb_vs_btn.toml --out study[/cyan]   solve, or resume
    [cyan]regretless study report study --by texture --sort bet[/cyan]
    """
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command("estimate")
def estimate(file: File, json_: Json = False) -> None:
    """Estimate a study: its spots, the memory of the largest, hours on this machine and bytes on disk."""
    from regretless.holdem.studies.plan import StudyPlan
    from regretless.holdem.studies.sizes import study_size

    plan = StudyPlan.read(file)
    size = study_size(plan)
    if json_:
        print_json(size.as_json())
        return
    where = "the GPU" if size.device == "cuda" else counted(size.cores, "core")
    left_out = f"   ({size.impossible:,} left out: the ranges do not allow them)" if size.impossible else ""
    facts: list[tuple[str, str | Text]] = [
        ("spots", Text(f"{size.spots:,}", style="bold").append(left_out, style="not bold")),
        ("variations", f"{len(plan.variations):,}"),
        ("lines kept", f"{size.lines:,} per spot"),
        ("memory", _memory(size, plan.options.storage or 32)),
        ("time", f"about {about_text(size.seconds)} on {where} of this machine"),
        ("disk", f"about {bytes_text(size.disk_bytes)}"),
    ]
    for_answers().print(fact_table(facts, style=""))


def _memory(size: StudySize, storage: int) -> Text:
    from regretless.forms.memory import available_bytes

    memory = Text(f"{bytes_text(size.memory_bytes)} for the largest spot, {storage} bits")
    too_large = size.device == "cpu" and size.memory_bytes > available_bytes()
    return memory.append("   more than is free", style="red") if too_large else memory


@app.command("run")
def run(
    file: File,
    out: Annotated[Path, option("Folder of the study; if it holds this study already, it is resumed.", OUTPUT)],
    ray: Annotated[
        str | None,
        option("Run on this Ray cluster: auto, or the address of its head.", MACHINE, default="this machine"),
    ] = None,
    workers: Annotated[
        int | None, option("Processes, without --ray.", MACHINE, default="as cores and memory allow")
    ] = None,
    threads: Annotated[
        int | None, option("CPU threads per spot, at most.", MACHINE, default="1, or what is left over")
    ] = None,
    json_: Json = False,
) -> None:
    """Solve every spot of a study that its folder does not have yet.

    Each spot is saved as soon as it is solved, so a run may be stopped or killed at any time: the same command resumes
    it, solves flops that were added to the file, and solves spots again if their files are damaged. While a run is in
    progress, a second one in the same folder is refused.

    \b
    [cyan]regretless study run bb_vs_btn.toml --out study[/cyan]
    [cyan]regretless study run bb_vs_btn.toml --out /shared/study --ray auto[/cyan]
    """
    command = command_line("study", "run", str(file), out=out, ray=ray, workers=workers, threads=threads)
    status = _StudyStatus(out)
    with interruptible(status) as interrupted:
        from regretless.cli.terminal.progress import bar
        from regretless.cluster.run import open_run, run_study
        from regretless.holdem.reading.columns import pyarrow
        from regretless.holdem.studies.plan import StudyPlan
        from regretless.holdem.studies.sizes import study_size

        pyarrow()
        plan = StudyPlan.read(file)
        with open_run(out, plan) as folder:  # refuse a folder before anything slow
            size = study_size(plan, device="cpu" if ray is not None else None)
            executor = _executor(plan, size, ray, workers, threads)
            with bar(plan.name or "study") as update:

                def report(progress: StudyProgress) -> None:
                    status.progress = progress
                    update((progress.done + progress.failed) / progress.spots, _progress_text(progress))

                done = run_study(plan, folder, executor, size, report=report, interrupted=interrupted)
    _print_run(done, out, json_, command)


def _executor(plan: StudyPlan, size: StudySize, ray: str | None, workers: int | None, threads: int | None) -> Executor:
    if ray is not None:
        from regretless.cluster.on_ray import RayExecutor

        if workers is not None:
            raise InvalidOption("workers", workers, "is not for --ray: Ray places tasks by their cores and memory")
        on_ray = RayExecutor(ray, device=plan.options.device or "auto", threads=threads)
        note(f"{counted(size.spots, 'spot')}, {on_ray.workers} at a time on the cluster")
        return on_ray
    from regretless.cluster.local import LocalExecutor

    local = LocalExecutor(size, workers=workers, threads=threads)
    threads = local.threads or 1
    on_cpu = f"{local.workers} at a time on {counted(threads, 'thread')} each"
    how = "on the GPU" if local.device == "cuda" else on_cpu
    note(f"{counted(size.spots, 'spot')}, {how}")
    return local


class _StudyStatus:
    """What Ctrl-C prints during a run."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.progress: StudyProgress | None = None

    def first(self) -> str | None:
        return None if self.progress is None else "stopping: unfinished spots are left for the next run"

    def second(self) -> str:
        return f"stopped at once: every finished spot is in {self.out}" if self.progress else "interrupted"


def _progress_text(progress: StudyProgress) -> str:
    words = [f"{progress.done:,} of {progress.spots:,} spots"]
    if progress.failed:
        words.append(f"{progress.failed:,} failed")
    if progress.running:
        words.append(f"{progress.running:,} running")
    if progress.seconds_left is not None:
        words.append(f"{about_text(progress.seconds_left)} left")
    return " · ".join(words)


def _print_run(done: StudyRun, out: Path, as_json: bool, command: str) -> None:
    if as_json:
        print_json(
            {
                "folder": str(out),
                "spots": done.spots,
                "done": done.done,
                "solved": done.solved,
                "seconds": done.seconds,
                "interrupted": done.interrupted,
                "errors": [{"spot": spot, "error": each.error} for spot, each in done.errors.items()],
                "merge_error": None if done.merge_error is None else str(done.merge_error),
            }
        )
    _print_errors(done)
    speed = f", {duration_text(done.seconds / done.solved)} per spot" if done.solved else ""
    note(f"{done.done:,} of {done.spots:,} spots are in {out}: {done.solved:,} solved now{speed}")
    if (advice := _advice(done)) is not None:
        print_commands(f"{advice} with", command)
    if done.interrupted:
        raise typer.Exit(INTERRUPTED)
    if done.errors:
        codes = {each.exit_code for each in done.errors.values()}
        raise typer.Exit(codes.pop() if len(codes) == 1 else 1)
    if done.merge_error is not None:
        raise typer.Exit(done.merge_error.exit_code)


def _advice(done: StudyRun) -> str | None:
    """What running the same command again would do; None if there is nothing left to do."""
    if done.interrupted:
        return "interrupted; resume it"
    if any(each.hopeless for each in done.errors.values()):
        return "stopped because the other spots would fail too; once that is fixed, resume it"
    if done.errors:
        has_room = any(each.exit_code != WouldNotFit.exit_code for each in done.errors.values())
        return "try the failed spots again" if has_room else "with more memory, try the failed spots again"
    return None if done.merge_error is None else "once that is fixed, merge the spots into one file per table"


def _print_errors(done: StudyRun) -> None:
    shown = {spot: str(each.error) for spot, each in done.errors.items() if not each.hopeless}
    stopped = {spot: str(each.error) for spot, each in done.errors.items() if each.hopeless}
    shown |= dict(list(stopped.items())[:1])  # what stopped the run is printed once, not for every spot
    for spot, message in list(shown.items())[-PRINTED_ERRORS:]:
        print_error(message if spot in message else f"{spot}: {message}")
    if len(shown) > PRINTED_ERRORS:
        print_error(f"and {len(shown) - PRINTED_ERRORS:,} more spots")
    if done.merge_error is not None and not stopped:  # what stopped the run also kept it from merging
        print_error(str(done.merge_error))


@app.command("report")
def report(
    folder: Folder,
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
        table = study.query(sql)
        _note_coverage(study.coverage())
        rows = table.to_pylist()
        if json_:
            print_json(rows)
        elif out is None:
            _print_rows(list(table.column_names), rows)
        if out is not None:
            _write(table, out)
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


def _print_report(report: StudyReport) -> None:
    columns = ("flops", "share", *report.actions, "EV oop", "EV ip", "equity oop", "EQR oop", "EQR ip")
    table = plain_table(report.by or ("",), columns)
    for row in (*report.rows, report.total):
        is_total = row is report.total
        names = ["all", *[""] * (len(report.by) - 1)] if is_total else [str(value) for value in row.group]
        cells = [f"{row.spots:,}", cell_text(row.share, ".1%")]
        cells += [cell_text(row.frequencies[action], ".1%") for action in report.actions]
        cells += [cell_text(row.oop_ev, ".2f"), cell_text(row.ip_ev, ".2f"), cell_text(row.oop_equity, ".1%")]
        cells += [cell_text(row.oop_eqr, ".2f"), cell_text(row.ip_eqr, ".2f")]
        table.add_row(*(names or [""]), *cells, style="bold" if is_total else None)
    console = for_answers(fit=False)
    console.print(f"{report.player} acts{f' after {report.line}' if report.line else ' first'}", style="dim")
    if not report.coverage.is_complete:
        console.print(str(report.coverage), style="yellow")
    console.print(table)


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

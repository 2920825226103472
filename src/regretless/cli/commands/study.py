"""`regretless study`: one formation over many flops, estimated and solved; `study_report` reads the results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from regretless.cli.arguments.options import MACHINE, OUTPUT, Json, argument, option
from regretless.cli.commands.study_report import report
from regretless.cli.terminal.consoles import fact_table, for_answers, note, print_error
from regretless.cli.terminal.interrupts import INTERRUPTED, interruptible
from regretless.cli.terminal.json_output import print_json
from regretless.cli.terminal.next_commands import command_line, print_commands
from regretless.cli.terminal.numbers import about_text, counted, duration_text
from regretless.errors import InvalidOption, WouldNotFit, bytes_text

if TYPE_CHECKING:
    from regretless.cluster.jobs import Executor
    from regretless.cluster.run import StudyProgress, StudyRun
    from regretless.holdem.studies.plan import StudyPlan
    from regretless.holdem.studies.sizes import StudySize

__all__ = ["app"]

PRINTED_ERRORS = 10  # errors printed one by one; more are counted

app = typer.Typer(rich_markup_mode="rich")

File = Annotated[Path, argument("The study file.", "STUDY.toml")]


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
    hardware = "the GPU" if size.device == "cuda" else counted(size.cores, "core")
    left_out = f"   ({size.impossible:,} left out: the ranges do not allow them)" if size.impossible else ""
    facts: list[tuple[str, str | Text]] = [
        ("spots", Text(f"{size.spots:,}", style="bold").append(left_out, style="not bold")),
        ("variations", f"{len(plan.variations):,}"),
        ("lines kept", f"{size.lines:,} per spot"),
        ("memory", _memory(size, plan.options.storage or 32)),
        ("time", f"about {about_text(size.seconds)} on {hardware} of this machine"),
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

                def show_progress(progress: StudyProgress) -> None:
                    status.progress = progress
                    update((progress.done + progress.failed) / progress.spots, _progress_text(progress))

                result = run_study(plan, folder, executor, size, report=show_progress, interrupted=interrupted)
    _print_run(result, out, command, as_json=json_)


def _executor(plan: StudyPlan, size: StudySize, ray: str | None, workers: int | None, threads: int | None) -> Executor:
    """What solves the spots: processes on this machine or tasks on a Ray cluster."""
    if ray is not None:
        from regretless.cluster.on_ray import RayExecutor

        if workers is not None:
            raise InvalidOption("workers", workers, "is not for --ray: Ray places tasks by their cores and memory")
        on_ray = RayExecutor(ray, device=plan.options.device or "auto", threads=threads)
        note(f"{counted(size.spots, 'spot')}, {on_ray.workers} at a time on the cluster")
        return on_ray
    from regretless.cluster.local import LocalExecutor

    local = LocalExecutor(size, workers=workers, threads=threads)
    where = "on the GPU"
    if local.device != "cuda":
        where = f"{local.workers} at a time on {counted(local.threads or 1, 'thread')} each"
    note(f"{counted(size.spots, 'spot')}, {where}")
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


def _print_run(result: StudyRun, out: Path, command: str, *, as_json: bool) -> None:
    """Print how a run ended, and exit with the right code."""
    if as_json:
        print_json(
            {
                "folder": str(out),
                "spots": result.spots,
                "done": result.done,
                "solved": result.solved,
                "seconds": result.seconds,
                "interrupted": result.interrupted,
                "errors": [{"spot": spot, "error": failure.error} for spot, failure in result.errors.items()],
                "merge_error": None if result.merge_error is None else str(result.merge_error),
            }
        )
    _print_errors(result)
    speed = f", {duration_text(result.seconds / result.solved)} per spot" if result.solved else ""
    note(f"{result.done:,} of {result.spots:,} spots are in {out}: {result.solved:,} solved now{speed}")
    if (advice := _advice(result)) is not None:
        print_commands(f"{advice} with", command)
    if result.interrupted:
        raise typer.Exit(INTERRUPTED)
    if result.errors:
        codes = {failure.exit_code for failure in result.errors.values()}
        raise typer.Exit(codes.pop() if len(codes) == 1 else 1)
    if result.merge_error is not None:
        raise typer.Exit(result.merge_error.exit_code)


def _advice(result: StudyRun) -> str | None:
    """What running the same command again would do; None if there is nothing left to do."""
    if result.interrupted:
        return "interrupted; resume it"
    if any(failure.hopeless for failure in result.errors.values()):
        return "stopped because the other spots would fail too; once that is fixed, resume it"
    if result.errors:
        only_memory = all(failure.exit_code == WouldNotFit.exit_code for failure in result.errors.values())
        return "with more memory, try the failed spots again" if only_memory else "try the failed spots again"
    return None if result.merge_error is None else "once that is fixed, merge the spots into one file per table"


def _print_errors(result: StudyRun) -> None:
    """Print the errors of single spots, and once, not for every spot, the one that stopped the run."""
    messages = {spot: str(failure.error) for spot, failure in result.errors.items() if not failure.hopeless}
    hopeless = [(spot, str(failure.error)) for spot, failure in result.errors.items() if failure.hopeless]
    messages |= dict(hopeless[:1])
    for spot, message in list(messages.items())[-PRINTED_ERRORS:]:
        print_error(message if spot in message else f"{spot}: {message}")
    if len(messages) > PRINTED_ERRORS:
        print_error(f"and {len(messages) - PRINTED_ERRORS:,} more spots")
    if result.merge_error is not None and not hopeless:  # what stopped the run also kept it from merging
        print_error(str(result.merge_error))


app.command("report")(report)

"""`regretless buckets`: card abstraction, as a table with the bucket of every hand on every board."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regretless.cli.arguments.options import MACHINE, OUTPUT, Json, option
from regretless.cli.terminal.consoles import for_answers, for_people, note, plain_table
from regretless.cli.terminal.interrupts import INTERRUPTED, interruptible
from regretless.cli.terminal.json_output import print_json
from regretless.cli.terminal.next_commands import command_line, print_commands
from regretless.cli.terminal.numbers import about_text, counted, duration_text
from regretless.errors import bytes_text
from regretless.printable import printable

if TYPE_CHECKING:
    from regretless.holdem.buckets.build import BuildProgress
    from regretless.holdem.buckets.plan import BucketPlan

__all__ = ["buckets"]

STREETS = ("flop", "turn", "river")
DEFAULT_COUNT = 200  # buckets per street
STOP_SECONDS = 2.0  # how long the current boards take, at most, on a slow core


def buckets(
    flop: Annotated[int | None, option("Buckets on the flop; 0 leaves the street out.", default="200")] = None,
    turn: Annotated[int | None, option("The same on the turn.", default="200")] = None,
    river: Annotated[int | None, option("The same on the river.", default="200")] = None,
    method: Annotated[
        str, option("kmeans, or percentile: sort by expected strength and cut into equal shares.", default="kmeans")
    ] = "kmeans",
    board: Annotated[
        str | None,
        option("A flop, such as [cyan]'Qs Jh 2h'[/cyan]: turn and river buckets for it alone.", default="all boards"),
    ] = None,
    sample: Annotated[int | None, option("Random deals that the buckets are computed from.", default="200,000")] = None,
    seed: Annotated[int, option("Random seed.", default="0")] = 0,
    device: Annotated[
        str | None,
        option(
            "Where k-means runs: auto, cpu or cuda (same buckets; faster if there are many).",
            MACHINE,
            default="auto",
        ),
    ] = None,
    threads: Annotated[int | None, option("CPU threads, at most.", MACHINE, default="all cores")] = None,
    out: Annotated[
        Path | None,
        option("Write the table here. If it is unfinished, continue it.", OUTPUT, default="named after its buckets"),
    ] = None,
    json_: Json = False,
) -> None:
    """Divide the hands of each street into buckets that share a strategy, and write a table of all of them.

    Hands share a bucket if their strength is distributed alike over the cards to come; on the river, if they do about
    as well against each of eight kinds of opposing hands. Before the flop, every class of hands keeps its own. The same
    command continues a build that was interrupted.

    \b
    [cyan]regretless buckets --flop 200 --turn 200 --river 200 --out buckets.rgl[/cyan]
    [cyan]regretless buckets --board 'Qs Jh 2h' --turn 500 --river 500[/cyan]
    [cyan]regretless buckets --method percentile --flop 50 --turn 50 --river 50[/cyan]
    """
    from regretless.cards.deck import parse_board
    from regretless.cli.terminal.progress import bar
    from regretless.engines import thread_limit
    from regretless.holdem.buckets.build import BuildStopped, build_buckets, check_device
    from regretless.holdem.buckets.division import check_fits
    from regretless.holdem.buckets.plan import BucketPlan

    cards = parse_board(board or "")
    settings: dict[str, Any] = {"method": method, "seed": seed, "board": cards}
    if sample is not None:
        settings["sample"] = sample
    if cards and flop is None:
        flop = 0
    for street, count in (("flop", flop), ("turn", turn), ("river", river)):
        settings[street] = DEFAULT_COUNT if count is None else count or None
    plan = BucketPlan(**settings)
    workers, chosen_device = thread_limit(threads), check_device(device or "auto", plan)
    estimate = check_fits(plan, threads=workers)
    path = Path(_file_name(plan)) if out is None else out
    situations = sum(estimate.situations.values())
    size = f"{situations:,} situations, {bytes_text(estimate.file_bytes)}"
    if chosen_device == "cpu":
        about = about_text(sum(estimate.seconds.values()))
        note(f"{size}: about {about} on {counted(workers, 'thread')}")
    else:  # the estimated time holds for a CPU only
        note(f"{size}, on {chosen_device}")
    status = _BucketStatus(path, plan.streets[0])
    began = time.monotonic()
    with interruptible(status) as interrupted, bar("buckets") as update:

        def report(progress: BuildProgress) -> None:
            status.report(progress)
            left = "" if progress.seconds_left is None else f" · {about_text(progress.seconds_left)} left"
            update(progress.share, f"{progress.doing} the {progress.street}{left}")

        try:
            build_buckets(plan, path, threads=workers, device=chosen_device, report=report, interrupted=interrupted)
        except BuildStopped as stop:
            if not stop.saved:
                for_people().print("interrupted: nothing was saved, since the first street was not trained")
            else:
                sentence = f"interrupted: {status.share:.0%} of the table is done; continue it with"
                print_commands(sentence, _command(plan, path))
            raise typer.Exit(INTERRUPTED) from None
    seconds = time.monotonic() - began
    streets: dict[str, dict[str, Any]] = {
        street: {
            "buckets": plan.count(street),
            "boards": len(plan.boards(street).rows),
            "situations": estimate.situations[street],
            "seconds": status.seconds.get(street, 0.0),
            "cpu_seconds": status.cpu_seconds.get(street, 0.0),
        }
        for street in plan.streets
    }
    if json_:
        result = {
            "file": str(path), "method": plan.method, "seed": plan.seed, "sample": plan.sample, "board": board or "",
            "threads": workers, "device": chosen_device, "seconds": seconds, "memory_bytes": estimate.memory_bytes,
            "file_bytes": path.stat().st_size, "streets": streets,
        }  # fmt: skip
        print_json(result)
    else:
        _print(streets)
    note(f"saved {path}")


class _BucketStatus:
    """What Ctrl-C prints, and how long each street took."""

    def __init__(self, path: Path, first_street: str) -> None:
        self.path, self.first_street = path, first_street
        self.share = 0.0
        self.trained = False  # whether there is anything to save
        self.seconds: dict[str, float] = {}
        self.cpu_seconds: dict[str, float] = {}  # summed over threads
        self._before, self._cpu_before = 0.0, time.process_time()

    def report(self, progress: BuildProgress) -> None:
        street, cpu = progress.street, time.process_time()
        self.seconds[street] = self.seconds.get(street, 0.0) + progress.seconds - self._before
        self.cpu_seconds[street] = self.cpu_seconds.get(street, 0.0) + cpu - self._cpu_before
        self._before, self._cpu_before, self.share = progress.seconds, cpu, progress.share
        self.trained |= progress.doing == "dividing" or progress.street != self.first_street

    def first(self) -> str | None:
        if not self.trained:
            return None
        wait = f"about {duration_text(STOP_SECONDS)}"
        where = printable(str(self.path))
        loss = "Ctrl-C again stops at once: work since the last checkpoint is lost"
        return f"stopping after the current boards, then saving to {where}: {wait}. {loss}"

    def second(self) -> str:
        if not self.trained:
            return "interrupted: nothing was saved, since the first street was not trained"
        return "stopped at once: work since the last checkpoint is lost; the same command continues from it"


def _print(streets: dict[str, dict[str, Any]]) -> None:
    table = plain_table(["street"], ["boards", "situations", "buckets", "time"], gap=3)
    for street, row in streets.items():
        counts = (f"{row[name]:,}" for name in ("boards", "situations", "buckets"))
        table.add_row(street, *counts, duration_text(row["seconds"]))
    for_answers().print(table)


def _file_name(plan: BucketPlan) -> str:
    """A name that says what is in the file, so that the same command finds an unfinished one."""
    from regretless.cards.deck import board_text

    words = [
        "buckets",
        board_text(plan.board).replace(" ", ""),
        *(str(getattr(plan, street) or 0) for street in STREETS),
    ]
    words += [plan.method] if plan.method != "kmeans" else []
    return "-".join(word for word in words if word) + ".rgl"


def _command(plan: BucketPlan, path: Path) -> str:
    """The command that continues a build."""
    from regretless.cards.deck import board_text

    counts = {street: getattr(plan, street) or 0 for street in STREETS}
    board = board_text(plan.board) or None
    return command_line(
        "buckets", **counts, method=plan.method, seed=plan.seed, sample=plan.sample, board=board, out=path
    )

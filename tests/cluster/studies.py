"""Studies small enough for tests, an executor without processes, and what two studies must have in common."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from regretless.cluster.jobs import Ended, Lost, Slot, SpotOutcome, StudyJob, solve_job
from regretless.cluster.run import StudyRun, open_run, run_study
from regretless.holdem.studies.plan import StudyPlan
from regretless.holdem.studies.sizes import study_size

FLOPS = ("QsJh2h", "As7h2d", "9s8s7s", "Ts9h8d", "Ks6h6d", "5s4h3d")
FIELDS = """
pot = 60
stack = 100
oop.range = "QQ, AKs, 76s"
ip.range = "JJ, KQs, 98s"
bets.flop.bet = "50%"
rules.add_allin = 0
"""


def study_text(flops: Sequence[str] = FLOPS, *, iterations: int = 10, more: str = "keep.hands = true") -> str:
    return f"flops = [{', '.join(map(repr, flops))}]\niterations = {iterations}\n{FIELDS}\n{more}\n"


class InlineExecutor:
    """Solves each job as it is submitted, in this process."""

    def __init__(
        self, solve: Callable[[StudyJob, Callable[[SpotOutcome], None]], None] = solve_job, most: int = 2**60
    ) -> None:
        self.jobs: list[StudyJob] = []
        self._events: list[Ended | Lost] = []
        self._solve, self._most = solve, most

    def memory_limit(self) -> int:
        return self._most

    def free(self) -> Sequence[Slot]:
        return [Slot("cpu", 1, 1)]

    def submit(self, slot: Slot, job: StudyJob) -> None:
        self.jobs.append(job)
        try:
            self._solve(job, lambda outcome: self._events.append(Ended(job, outcome)))
            self._events.append(Ended(job))
        except ConnectionError as error:
            self._events.append(Lost(job, str(error)))

    def wait(self, seconds: float) -> list[Ended | Lost]:
        found, self._events = self._events, []
        return found

    def close(self) -> None:
        pass


def solve_here(text: str, folder: Path, executor: InlineExecutor | None = None) -> StudyRun:
    plan = StudyPlan.parse(text)
    with open_run(folder, plan) as opened:
        return run_study(plan, opened, executor or InlineExecutor(), study_size(plan))


def tables(folder: Path) -> dict[str, bytes]:
    """Every file of the tables that may not differ between two runs."""
    names = sorted(path for table in ("summary", "hands") for path in folder.glob(f"{table}*/**/*.parquet"))
    names += [folder / "summary.parquet", folder / "hands.parquet"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in names if path.exists()}


def start_command(*words: object, **options: object) -> subprocess.Popen[str]:
    """`regretless …` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "regretless", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"COLUMNS": "200"},
        **options,  # type: ignore[call-overload]
    )


def edit_part(folder: Path, spot: str, edit: Callable[[Any], Any]) -> None:
    """Change a spot's rows in `summary` as someone would who crafts a study: its digest in `runs` is right."""
    from pyarrow import array, parquet

    part, run = folder / "summary" / f"{spot}.parquet", folder / "runs" / f"{spot}.parquet"
    parquet.write_table(edit(parquet.read_table(part)), part)
    rows = parquet.read_table(run)
    number, digest = rows.column_names.index("summary_sha256"), hashlib.sha256(part.read_bytes()).hexdigest()
    digests = array([digest], rows.schema.field(number).type)
    parquet.write_table(rows.set_column(number, rows.schema.field(number), digests), run, write_page_checksum=True)

"""Building a card abstraction: train each street, then divide all its situations, board by board.

1. Count the memory, and refuse what does not fit.
2. For each street: find the division on a sample, then fill the table in pieces of a few boards. Threads work on
   different pieces; each piece depends on nothing but its boards, so the result does not depend on the threads.
3. A file that is given is also the checkpoint: written when a street is trained, when it is complete, every
   `SAVE_SECONDS` and on an interrupt. A build that finds an unfinished file of the same plan continues it, with the
   same result to the last bit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from regretless.cards.features import situation_batch
from regretless.engines import cuda_devices, in_order, is_installed, require, require_cuda, thread_limit
from regretless.errors import InvalidFile, InvalidOption
from regretless.files import check_writable, open_container
from regretless.holdem.buckets.division import BucketEstimate, check_fits, train
from regretless.holdem.buckets.plan import BOARD_CARDS, BucketPlan
from regretless.holdem.buckets.table import (
    CHECKPOINT,
    KIND,
    Buckets,
    StreetTable,
    empty_table,
    read_unfinished,
    write_tables,
)
from regretless.holdem.spots.spot_fields import StreetName

__all__ = ["BuildProgress", "BuildStopped", "build_buckets", "check_device", "find_unfinished"]

SAVE_SECONDS = 120.0
TRAINING_SHARE = 0.2  # of a street's time, for progress
BOARDS_PER_PIECE = {"flop": 1, "turn": 8, "river": 64}


class BuildStopped(Exception):
    """An interrupt ended the build; `saved` says whether the file holds what was done."""

    def __init__(self, saved: bool) -> None:
        super().__init__("the build was interrupted")
        self.saved = saved


@dataclass(frozen=True)
class BuildProgress:
    """How far a build has come."""

    street: StreetName
    doing: str  # "training" or "dividing"
    share: float  # of the whole build, by expected time
    seconds: float  # since it began
    seconds_left: float | None  # None until it can be estimated


def build_buckets(
    plan: BucketPlan,
    path: str | Path | None = None,
    *,
    threads: int | None = None,
    device: str = "cpu",
    report: Callable[[BuildProgress], None] = lambda progress: None,
    interrupted: Callable[[], bool] = lambda: False,
) -> Buckets:
    """Build the tables of a plan, in a file or, without `path`, in memory only.

    `device` finds centroids and assigns situations to them ("cuda" needs PyTorch); features are computed by `threads`.

    >>> buckets = build_buckets(BucketPlan(flop=5, board=(43, 38, 2), sample=1000), threads=1)
    >>> buckets.count("flop"), buckets.of("flop", (43, 38, 2)).shape
    (5, (1326,))
    """
    threads, device = thread_limit(threads), check_device(device, plan)
    estimate = check_fits(plan, threads=threads)
    tables = {}
    if path is not None:
        check_writable(path)
        tables = find_unfinished(path, plan) or {}
    build = _Build(plan, path, threads, device, tables, _Clock(estimate, report), interrupted)
    for street in plan.streets:
        build.street(street)
    if path is not None:
        write_tables(path, plan, tables)
        return Buckets.load(path)
    return Buckets(plan, lambda street: tables[street].buckets, lambda street: tables[street].division)


def check_device(device: str, plan: BucketPlan) -> str:
    """The device to use: "cpu" or "cuda"; "auto" is a GPU for k-means, if there are one and PyTorch."""
    if device not in ("auto", "cpu", "cuda"):
        raise InvalidOption("device", device, "is not one of auto, cpu, cuda")
    if device == "auto":
        helps = plan.method == "kmeans" and cuda_devices() > 0 and is_installed("torch")
        return "cuda" if helps else "cpu"
    if device == "cuda":
        require_cuda()
        require("torch")
    return device


def find_unfinished(path: str | Path, plan: BucketPlan) -> dict[StreetName, StreetTable] | None:
    """The tables in an unfinished file of the same plan; None if there is no file or a finished one.

    Refuses an unfinished file of another plan, and files of other kinds, which a build would overwrite.
    """
    if not Path(path).exists():
        return None
    try:
        kind = open_container(path).kind
    except InvalidFile:
        kind = ""
    if kind == KIND:
        return None
    if kind != CHECKPOINT:
        raise InvalidFile(path, "exists and is not a table of card buckets: choose another name or delete it")
    saved_plan, tables = read_unfinished(path)
    if saved_plan != plan:
        reason = "holds an unfinished table with other settings: finish it with those, choose another name or delete it"
        raise InvalidFile(path, reason)
    return tables


class _Clock:
    """Turns what is done into a share of the whole and a time left."""

    def __init__(self, estimate: BucketEstimate, report: Callable[[BuildProgress], None]) -> None:
        self._expected, self._report = estimate.seconds, report
        self._began = time.monotonic()
        self._done = 0.0  # expected seconds of finished streets
        self._skipped: float | None = None  # share that an earlier build had done

    def report(self, street: StreetName, doing: str, share: float) -> None:
        whole = sum(self._expected.values())
        done = (self._done + share * self._expected[street]) / whole
        seconds = time.monotonic() - self._began
        self._skipped = done if self._skipped is None else self._skipped
        worked = done - self._skipped
        left = seconds * (1 - done) / worked if worked > 0.01 and seconds > 1 else None
        self._report(BuildProgress(street, doing, done, seconds, left))

    def finish(self, street: StreetName) -> None:
        self._done += self._expected[street]


@dataclass
class _Build:
    """One build: its tables so far."""

    plan: BucketPlan
    path: str | Path | None
    threads: int
    device: str
    tables: dict[StreetName, StreetTable]
    clock: _Clock
    interrupted: Callable[[], bool]

    def __post_init__(self) -> None:
        self._saved = time.monotonic()

    def street(self, street: StreetName) -> None:
        """Train and fill one street, as far as that has not been done."""
        boards = self.plan.boards(street)
        if street not in self.tables:
            division = train(
                self.plan,
                street,
                threads=self.threads,
                device=self.device,
                report=lambda share: self._report(street, share),
            )
            self.tables[street] = empty_table(self.plan, street, division)
            self._report(street, TRAINING_SHARE, "dividing")
            self._save()
        table = self.tables[street]
        for end, buckets in self._pieces(street, table.boards_done):
            start = table.boards_done
            table.buckets[boards.starts[start] : boards.starts[end]] = buckets
            table.boards_done = end
            self._report(street, TRAINING_SHARE + (1 - TRAINING_SHARE) * end / len(boards.rows), "dividing")
            if time.monotonic() - self._saved > SAVE_SECONDS:
                self._save()
        self.clock.finish(street)
        if street != self.plan.streets[-1]:
            self._save()

    def _pieces(self, street: StreetName, start: int) -> Iterator[tuple[int, NDArray[np.uint16]]]:
        """Ends and buckets of pieces of boards, in order."""
        rows, size = self.plan.boards(street).rows, BOARD_CARDS[street]
        division, step = self.tables[street].division.on(self.device), BOARDS_PER_PIECE[street]

        def divide(begin: int) -> tuple[int, NDArray[np.uint16]]:
            piece = rows[begin : begin + step]
            return begin + len(piece), division.buckets(situation_batch(size, piece))

        yield from in_order(divide, range(start, len(rows), step), self.threads)

    def _report(self, street: StreetName, share: float, doing: str = "training") -> None:
        self.clock.report(street, doing, share if doing == "dividing" else share * TRAINING_SHARE)
        finished = share == 1 and street == self.plan.streets[-1] and doing == "dividing"
        if self.interrupted() and not finished:
            raise BuildStopped(self._save())

    def _save(self) -> bool:
        """Write a checkpoint; False if there is nothing to write or nowhere to write it."""
        self._saved = time.monotonic()
        if self.path is None or not self.tables:
            return False
        write_tables(self.path, self.plan, self.tables)
        return True

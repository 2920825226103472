"""The file of a card abstraction, finished or not.

    header           method, seed, sample, board, and per street: buckets, situations, boards done
    flop             [situations] bucket of each situation, board by board, uint8 or uint16
    flop.division    the centroids or limits behind it
    …                the same for turn and river

An unfinished file has another kind, and its last street may be incomplete. Continuing it gives the same table
as if the build had not been interrupted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import board_text, parse_board
from regretless.cards.features.opponents import CLUSTERS
from regretless.cards.features.strength import COLUMNS
from regretless.errors import InvalidFile, RegretlessError
from regretless.files import Container, Fields, open_container, write_container
from regretless.holdem.buckets.division import Division, NearestCentroid, Percentiles
from regretless.holdem.buckets.estimate import bytes_per_situation
from regretless.holdem.buckets.plan import LARGEST_SEED, MOST_BUCKETS, BucketPlan
from regretless.holdem.spots.question import STREETS, StreetName

__all__ = [
    "CHECKPOINT",
    "KIND",
    "StreetTable",
    "empty_table",
    "read_division",
    "read_plan",
    "read_unfinished",
    "write_tables",
]

VERSION = 1  # of the numbering of situations and of the features, which give a file its meaning
KIND = "buckets"
CHECKPOINT = "buckets-checkpoint"


@dataclass
class StreetTable:
    """The table of one street while it is built."""

    division: Division
    buckets: NDArray[np.uint8] | NDArray[np.uint16]  # [situations]
    boards_done: int  # how many boards are filled in, from the first on


def empty_table(plan: BucketPlan, street: StreetName, division: Division) -> StreetTable:
    """A table to be filled, with one byte per situation if every bucket fits, else two."""
    situations = plan.situations(street)
    narrow = bytes_per_situation(plan.count(street)) == 1
    zeros = np.zeros(situations, dtype=np.uint8) if narrow else np.zeros(situations, dtype=np.uint16)
    return StreetTable(division, zeros, 0)


def write_tables(path: str | Path, plan: BucketPlan, tables: Mapping[StreetName, StreetTable]) -> None:
    """Write a file; it is finished if every street of the plan is complete."""
    finished = all(
        street in tables and tables[street].boards_done == len(plan.boards(street).rows) for street in plan.streets
    )
    streets = {
        street: {
            "buckets": plan.count(street),
            "situations": plan.situations(street),
            "boards_done": tables[street].boards_done if street in tables else 0,
        }
        for street in plan.streets
    }
    header = {
        "version": VERSION,
        "method": plan.method,
        "seed": plan.seed,
        "sample": plan.sample,
        "board": board_text(plan.board),
        "streets": streets,
    }
    arrays: dict[str, NDArray[Any]] = {}
    for street, table in tables.items():
        arrays[street] = table.buckets
        arrays[f"{street}.division"] = table.division.parameters
    # Wider numbers first, so that each array is aligned when it is mapped into memory.
    widest_first = dict(sorted(arrays.items(), key=lambda item: -item[1].dtype.itemsize))
    write_container(path, KIND if finished else CHECKPOINT, header, widest_first)


def read_plan(file: Container) -> BucketPlan:
    """The plan of a file; raises `InvalidFile` if it is none or if a street has the wrong number of situations."""
    fields = Fields(file.path, file.header)
    if fields.whole("version") != VERSION:
        raise InvalidFile(
            file.path, "was written by another version, which numbers situations differently: build it again"
        )
    streets = Fields(file.path, fields.value("streets"), "streets.")
    counts: dict[str, int] = {}
    for street in STREETS:
        if street in streets:
            of_street = Fields(file.path, streets.value(street), f"streets.{street}.")
            counts[street] = of_street.whole("buckets", low=1, high=MOST_BUCKETS)
    try:
        plan = BucketPlan(
            **counts,
            method="kmeans" if fields.one_of("method", ("kmeans", "percentile")) == "kmeans" else "percentile",
            seed=fields.whole("seed", high=LARGEST_SEED),
            sample=fields.whole("sample"),
            board=parse_board(fields.text("board")),
        )
    except InvalidFile:
        raise
    except RegretlessError as error:
        raise InvalidFile(file.path, f"is damaged: {error}") from None
    for street in plan.streets:
        said = Fields(file.path, streets.value(street), f"streets.{street}.").whole("situations")
        if said != plan.situations(street):
            expected = f"there are {plan.situations(street):,}"
            raise InvalidFile(file.path, f"is damaged: it has {said:,} situations on the {street}, but {expected}")
    return plan


def read_division(file: Container, plan: BucketPlan, street: StreetName) -> Division:
    """The centroids or limits of a street."""
    name, count = f"{street}.division", plan.count(street)
    if plan.method == "percentile":
        file.check(name, (count - 1,), (np.int32,))
        return Percentiles(file.array(name))
    file.check(name, (count, CLUSTERS if street == "river" else COLUMNS), (np.uint16,))
    return NearestCentroid(file.array(name))


def read_unfinished(path: str | Path) -> tuple[BucketPlan, dict[StreetName, StreetTable]]:
    """The plan and the tables of an unfinished file, ready to be continued."""
    file = open_container(path, CHECKPOINT)
    plan = read_plan(file)
    tables: dict[StreetName, StreetTable] = {}
    for street in plan.streets:
        if street not in file:
            continue
        boards = plan.boards(street)
        file.check(street, (plan.situations(street),), (np.uint8, np.uint16))
        of_street = Fields(path, file.header["streets"][street], f"streets.{street}.")
        done = of_street.whole("boards_done", high=len(boards.rows))
        tables[street] = StreetTable(read_division(file, plan, street), file.array(street).copy(), done)
    return plan, tables

"""Many small tables as one block of bytes, since every upload and every buffer costs more than filling it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.engines.cuda.public.tables.records import JOB, POINTERS
from regretless.reprs import brief

__all__ = ["ALIGNMENT", "Field", "Packed", "Places", "Pointers", "pack", "places_of"]

ALIGNMENT = 64
WORDS = JOB.itemsize // 8  # of a job

Field = tuple[int, str]  # a player's job, and the name of a pointer in it; no job if below 0


class Pointers(NamedTuple):
    """Pointers of both players' jobs into a block; there are none to empty tables."""

    at: NDArray[np.int64]  # words of the jobs
    begins: NDArray[np.uint64]

    def point(self, jobs: NDArray[np.void], base: int) -> None:
        """Let the jobs point into the block that begins at `base`."""
        jobs.view(np.uint64)[self.at] = self.begins + np.uint64(base)


class Places(NamedTuple):
    """Where tables are in a block."""

    begins: tuple[int, ...]  # -1 for an empty table
    size: int
    pointers: Pointers


@dataclass(frozen=True)
class Packed:
    """Tables one after another."""

    block: NDArray[np.uint8]
    places: Places

    __repr__ = brief

    def get_block(self) -> NDArray[np.uint8]:
        """The tables."""
        return self.block


def pack(tables: Iterable[tuple[NDArray[Any], Sequence[Field]]]) -> Packed:
    """Pack tables, each with the fields that point to it."""
    held = list(tables)
    places = places_of(tuple(table.nbytes for table, _ in held), tuple(tuple(fields) for _, fields in held))
    block = np.zeros(places.size, dtype=np.uint8)
    for (table, _), begin in zip(held, places.begins, strict=True):
        if table.nbytes:
            block[begin : begin + table.nbytes] = np.ascontiguousarray(table).reshape(-1).view(np.uint8)
    return Packed(block, places)


@lru_cache(maxsize=256)  # spots of a batch mostly have tables of the same sizes
def places_of(sizes: tuple[int, ...], fields: tuple[tuple[Field, ...], ...]) -> Places:
    """Where tables of these sizes begin, and what points to each; pointers of jobs below 0 are left to the caller."""
    begins: list[int] = []
    found: list[tuple[int, int]] = []
    size = 0
    for count, each in zip(sizes, fields, strict=True):
        begins.append(size if count else -1)
        if count:
            found += [(own * WORDS + POINTERS[name], size) for own, name in each if own >= 0]
        size += -(-count // ALIGNMENT) * ALIGNMENT
    at, places = [word for word, _ in found], [begin for _, begin in found]
    pointers = Pointers(np.array(at, dtype=np.int64), np.array(places, dtype=np.uint64))
    return Places(tuple(begins), size, pointers)

"""Many small tables as one block of bytes, since every upload and every buffer costs more than filling it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.engines.public.cuda.tables.records import POINTERS
from regretless.reprs import brief

__all__ = ["Field", "Packed", "Places", "Pointers", "pack", "places_of", "pointers_of"]

ALIGNMENT = 64

Field = tuple[int, str]  # a player's job, and the name of a pointer in it; no job if below 0


Places = list[tuple[int, Sequence[Field]]]  # where each table begins, -1 for an empty one, and what points to it


class Pointers(NamedTuple):
    """Pointers of jobs into a block."""

    jobs: list[int]
    columns: list[int]  # of the job, as a row of words
    begins: NDArray[np.int64]  # -1 for an empty table

    def addresses(self, base: int) -> NDArray[np.int64]:
        """What the pointers hold if the block begins at `base`; 0 for an empty table."""
        return np.where(self.begins < 0, 0, self.begins + base)


@dataclass(frozen=True)
class Packed:
    """Tables one after another."""

    block: NDArray[np.uint8]
    places: Places

    __repr__ = brief

    def get_block(self) -> NDArray[np.uint8]:
        """The tables."""
        return self.block

    @cached_property
    def pointers(self) -> Pointers:
        """What points to the tables; the same for all spots that share them."""
        return pointers_of(self.places)


def pointers_of(places: Places) -> Pointers:
    """The pointers of jobs to tables; those of jobs below 0 are left to the caller."""
    found = [(own, POINTERS[name], begin) for begin, fields in places for own, name in fields if own >= 0]
    jobs, columns, begins = ([each[part] for each in found] for part in range(3))
    return Pointers(jobs, columns, np.array(begins, dtype=np.int64))


def pack(tables: Iterable[tuple[NDArray[Any], Sequence[Field]]]) -> Packed:
    """Pack tables, each with the fields that point to it."""
    held = list(tables)
    places, size = places_of((table.nbytes, fields) for table, fields in held)
    block = np.zeros(size, dtype=np.uint8)
    for (table, _), (begin, _) in zip(held, places, strict=True):
        if table.nbytes:
            block[begin : begin + table.nbytes] = np.ascontiguousarray(table).reshape(-1).view(np.uint8)
    return Packed(block, places)


def places_of(sizes: Iterable[tuple[int, Sequence[Field]]]) -> tuple[Places, int]:
    """Where tables of so many bytes begin, and the bytes of all."""
    places: Places = []
    size = 0
    for count, fields in sizes:
        places.append((size if count else -1, fields))
        size += -(-count // ALIGNMENT) * ALIGNMENT
    return places, size

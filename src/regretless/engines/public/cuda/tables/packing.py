"""Many small tables as one block of bytes, since every upload and every buffer costs more than filling it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Field", "Packed", "pack", "places_of"]

ALIGNMENT = 64

Field = tuple[int, str]  # a player's job, and the name of a pointer in it


class Packed(NamedTuple):
    """Tables one after another, and where each begins; -1 for an empty one."""

    block: NDArray[np.uint8]
    places: list[tuple[int, Sequence[Field]]]

    def get_block(self) -> NDArray[np.uint8]:
        """The tables."""
        return self.block


def pack(tables: Iterable[tuple[NDArray[Any], Sequence[Field]]]) -> Packed:
    """Pack tables, each with the fields that point to it."""
    held = list(tables)
    places, size = places_of((table.nbytes, fields) for table, fields in held)
    block = np.zeros(size, dtype=np.uint8)
    for (table, _), (begin, _) in zip(held, places, strict=True):
        if table.nbytes:
            block[begin : begin + table.nbytes] = np.ascontiguousarray(table).reshape(-1).view(np.uint8)
    return Packed(block, places)


def places_of(sizes: Iterable[tuple[int, Sequence[Field]]]) -> tuple[list[tuple[int, Sequence[Field]]], int]:
    """Where tables of so many bytes begin, and the bytes of all."""
    places, size = [], 0
    for count, fields in sizes:
        places.append((size if count else -1, fields))
        size += -(-count // ALIGNMENT) * ALIGNMENT
    return places, size

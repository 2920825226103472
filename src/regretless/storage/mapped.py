"""`.rgl` files too large to read whole: opened at once, and checked piece by piece as they are looked at.

The container is that of `container`, with one more entry in its metadata:

    regretless      the header, as in every `.rgl` file
    checks          a CRC-32 of every piece of every array
    checksum        SHA-256 over the header, the checks and every array's name, type, shape and place

Opening reads the header alone. Looking at a row reads and checks the pieces that hold it, so any row of a file of
gigabytes is there in milliseconds, and a flipped bit is noticed by whoever looks at it. The last few pieces are kept.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
import zlib
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from regretless.errors import InvalidFile
from regretless.storage.atomic import replace_file
from regretless.storage.container import FORMAT_VERSION, read_header
from regretless.storage.tensor_file import DAMAGED, DTYPES, LARGEST_TABLE, Entry, TensorFile, bytes_of, strict_json

__all__ = ["Mapped", "Streamed", "check_array", "file_kind", "open_mapped", "write_mapped"]

PIECE = 1 << 20  # bytes that one check covers, at least
MOST_PIECES = 20_000  # in a whole file, so that the header stays small
LARGEST_PIECE = 1 << 28  # bytes; a file of five terabytes
PIECES_KEPT = 16  # that were looked at last

_TYPES = {np.dtype(kind): name for name, kind in DTYPES.items()}


@dataclass(frozen=True)
class Streamed:
    """An array that is worked out while it is written, so that it never lies in memory whole."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    blocks: Callable[[], Iterator[NDArray[Any]]]  # parts of the array, in order; together they fill its shape

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def write_mapped(
    path: str | Path, kind: str, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any] | Streamed]
) -> None:
    """Write a file of that kind, whole or not at all.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_mapped(f"{folder}/a.rgl", "example", {"answer": 42}, {"numbers": np.arange(6).reshape(2, 3)})
    ...     opened = open_mapped(f"{folder}/a.rgl", "example")
    ...     opened.header["answer"], opened.row("numbers", 1).tolist()
    (42, [3, 4, 5])
    """
    text = json.dumps({"format": FORMAT_VERSION, "kind": kind, **header}, allow_nan=False, sort_keys=True)
    table: dict[str, Any] = {}
    offset = 0
    for name, array in arrays.items():
        ends = [offset, offset + array.nbytes]
        table[name] = {"dtype": _TYPES[array.dtype], "shape": list(array.shape), "data_offsets": ends}
        offset = ends[1]
    size = max(PIECE, -(-offset // MOST_PIECES))
    # The checks stand before the arrays and are known after them: room is left for the longest.
    longest = {name: [2**32 - 1] * -(-array.nbytes // size) for name, array in arrays.items()}
    room = len(_beginning(text, size, longest, table))
    room += -(room + 8) % 64  # arrays begin at a multiple of 64
    if room > LARGEST_TABLE:
        raise InvalidFile(path, f"cannot be written: its header takes {room:,} bytes of {LARGEST_TABLE:,}")
    with replace_file(path) as temporary, open(temporary, "wb") as file:
        file.write(bytes(8 + room))
        pieces = {name: _written(file, array, size) for name, array in arrays.items()}
        file.seek(0)
        file.write(struct.pack("<Q", room) + _beginning(text, size, pieces, table).ljust(room))


def _beginning(text: str, size: int, pieces: Mapping[str, list[int]], table: Mapping[str, Any]) -> bytes:
    """The JSON at the beginning of a file."""
    checks = json.dumps({"size": size, "pieces": pieces})
    metadata = {"regretless": text, "checks": checks, "checksum": _checksum(text, checks, table)}
    return json.dumps({"__metadata__": metadata, **table}).encode()


def _written(file: BinaryIO, array: NDArray[Any] | Streamed, size: int) -> list[int]:
    """Write an array; the checks of its pieces."""
    checks = [0] * -(-array.nbytes // size)
    place = 0
    for block in array.blocks() if isinstance(array, Streamed) else [array]:
        content = bytes_of(np.ascontiguousarray(block))
        file.write(content)
        done = 0
        while done < len(content):
            piece = place // size
            part = content[done : done + (piece + 1) * size - place]
            checks[piece] = zlib.crc32(part, checks[piece])
            done, place = done + len(part), place + len(part)
    if place != array.nbytes:
        raise ValueError(f"an array of {array.nbytes:,} bytes was given {place:,}")
    return checks


def file_kind(path: str | Path) -> str:
    """What a `.rgl` file holds, from its header alone.

    >>> file_kind("no-such-file.rgl")
    Traceback (most recent call last):
    regretless.errors.InvalidFile: no-such-file.rgl: does not exist
    """
    return str(read_header(TensorFile(path))["kind"])


def open_mapped(path: str | Path, kind: str) -> Mapped:
    """Open a file of that kind; its arrays wait until they are looked at."""
    return Mapped(TensorFile(path), kind)


class Mapped:
    """A file whose arrays are read when they are looked at."""

    def __init__(self, opened: TensorFile, kind: str) -> None:
        self.path = opened.path
        self.header = read_header(opened, kind)
        self._opened = opened
        metadata = opened.metadata
        if "checks" not in metadata or "checksum" not in metadata:
            raise InvalidFile(self.path, DAMAGED)
        if _checksum(metadata["regretless"], metadata["checks"], opened.table) != metadata["checksum"]:
            opened.damaged("its header does not match its checksum")
        self._size, self._pieces = self._checks(metadata["checks"])
        self._kept: OrderedDict[tuple[str, int], bytearray] = OrderedDict()

    def __contains__(self, name: str) -> bool:
        return name in self._opened.entries

    def entry(self, name: str) -> Entry:
        """Type, shape and place of an array."""
        if name not in self._opened.entries:
            raise InvalidFile(self.path, f"is a different kind or version of file: it has no {name!r}")
        return self._opened.entries[name]

    def array(self, name: str) -> NDArray[Any]:
        """A whole array, every byte of it checked."""
        entry = self.entry(name)
        found: NDArray[Any] = np.empty(entry.shape, entry.dtype)
        self.read_into(name, found)
        found.flags.writeable = False
        return found

    def read_into(self, name: str, target: NDArray[Any]) -> None:
        """Fill an array of the same type and size, every byte of it checked; it is contiguous."""
        entry, content = self.entry(name), bytes_of(target)
        if target.dtype != entry.dtype or len(content) != entry.end - entry.begin:
            raise ValueError(f"{name} has another type or size")
        for piece in range(len(self._pieces[name])):
            part = content[piece * self._size : (piece + 1) * self._size]
            self._opened.read_into(entry.begin + piece * self._size, part)
            self._check(name, piece, part)

    def bits(self, name: str) -> int:
        """How many bits a number of an array has."""
        return self.entry(name).dtype.itemsize * 8

    def row(self, name: str, index: int) -> NDArray[Any]:
        """One row of an array; only the pieces that hold it are read and checked."""
        entry = self.entry(name)
        if not entry.shape or not 0 <= index < entry.shape[0]:
            raise InvalidFile(self.path, f"is a different kind or version of file: {name} has no row {index}")
        begin, end = index * entry.row_bytes, (index + 1) * entry.row_bytes
        first, last = begin // self._size, -(-end // self._size)
        pieces = [self._piece(name, piece) for piece in range(first, last)]
        content = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        count, offset = entry.row_bytes // entry.dtype.itemsize, begin - first * self._size
        row: NDArray[Any] = np.frombuffer(content, entry.dtype, count, offset if count else 0)
        return row.reshape(entry.shape[1:])

    def _piece(self, name: str, piece: int) -> bytearray:
        key = name, piece
        if key not in self._kept:
            entry = self.entry(name)
            begin = entry.begin + piece * self._size
            content = self._opened.read(begin, min(self._size, entry.end - begin))
            self._check(name, piece, memoryview(content))
            self._kept[key] = content
            if len(self._kept) > PIECES_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]

    def _check(self, name: str, piece: int, content: memoryview) -> None:
        if zlib.crc32(content) != self._pieces[name][piece]:
            self._opened.damaged(f"{name} does not match its checksum")

    def _checks(self, text: str) -> tuple[int, dict[str, list[int]]]:
        """Bytes of a piece, and the checks of each array's pieces."""
        try:
            checks = strict_json(text)
        except (ValueError, RecursionError):
            raise InvalidFile(self.path, DAMAGED) from None
        size = checks.get("size") if isinstance(checks, dict) else None
        pieces = checks.get("pieces") if isinstance(checks, dict) else None
        if type(size) is not int or not 1 <= size <= LARGEST_PIECE or not isinstance(pieces, dict):
            self._opened.damaged("its checks cannot be read")
        for name, entry in self._opened.entries.items():
            found = pieces.get(name)
            if not isinstance(found, list) or len(found) != -(-(entry.end - entry.begin) // size):
                self._opened.damaged(f"the checks of {name} are not as many as its pieces")
        return size, pieces


def check_array(mapped: Mapped, name: str, shape: tuple[int, ...], dtypes: Collection[type[np.generic]]) -> None:
    """Refuse a file that does not hold this array in this shape and one of these types."""
    entry = mapped.entry(name)
    if entry.shape != shape or entry.dtype not in dtypes:
        raise InvalidFile(mapped.path, f"is damaged: {name} does not have the shape and type that its spot requires")


def _checksum(text: str, checks: str, table: Mapping[str, Any]) -> str:
    said = f"{text}\n{checks}\n{json.dumps(table, sort_keys=True)}"
    return hashlib.sha256(said.encode()).hexdigest()

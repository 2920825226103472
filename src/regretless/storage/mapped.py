"""`.rgl` files too large to read whole: mapped into memory, and checked piece by piece as they are looked at.

The container is that of `container`, with one more entry in its metadata:

    regretless      the header, as in every `.rgl` file
    checks          a CRC-32 of every piece of every array
    checksum        SHA-256 over the header, the checks and every array's name, type, shape and place

Opening reads the header alone. Looking at a row reads the pages that hold it and checks the pieces they lie in, so
any row of a file of gigabytes is there in milliseconds, and a flipped bit is noticed by whoever looks at it.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.errors import InvalidFile
from regretless.storage.atomic import reason, replace_file
from regretless.storage.container import DAMAGED, FORMAT_VERSION, Arrays, _check_beginning, _read_header

__all__ = ["Mapped", "file_kind", "open_mapped", "write_mapped"]

PIECE = 1 << 20  # bytes that one check covers, at least
MOST_PIECES = 20_000  # in a whole file, so that the header stays small

_NAMES = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32, "I16": np.int16,
    "I8": np.int8, "U64": np.uint64, "U32": np.uint32, "U16": np.uint16, "U8": np.uint8, "BOOL": np.bool_,
}  # fmt: skip
_TYPES = {np.dtype(kind): name for name, kind in _NAMES.items()}


def write_mapped(path: str | Path, kind: str, header: Mapping[str, Any], arrays: Arrays) -> None:
    """Write a file of that kind, whole or not at all.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_mapped(f"{folder}/a.rgl", "example", {"answer": 42}, {"numbers": np.arange(6).reshape(2, 3)})
    ...     opened = open_mapped(f"{folder}/a.rgl", "example")
    ...     opened.header["answer"], opened.row("numbers", 1).tolist()
    (42, [3, 4, 5])
    """
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps({"format": FORMAT_VERSION, "kind": kind, **header}, allow_nan=False, sort_keys=True)
    table: dict[str, Any] = {}
    offset = 0
    for name, array in whole.items():
        ends = [offset, offset + array.nbytes]
        table[name] = {"dtype": _TYPES[array.dtype], "shape": list(array.shape), "data_offsets": ends}
        offset = ends[1]
    size = max(PIECE, -(-offset // MOST_PIECES))
    pieces = {name: _checks(array, size) for name, array in whole.items()}
    checks = json.dumps({"size": size, "pieces": pieces})
    metadata = {"regretless": text, "checks": checks, "checksum": _checksum(text, checks, table)}
    beginning = json.dumps({"__metadata__": metadata, **table}).encode()
    beginning += b" " * (-(len(beginning) + 8) % 64)  # arrays begin at a multiple of 64
    with replace_file(path) as temporary, open(temporary, "wb") as file:
        file.write(struct.pack("<Q", len(beginning)) + beginning)
        for array in whole.values():
            file.write(_bytes(array))


def file_kind(path: str | Path) -> str:
    """What a `.rgl` file holds, from its header alone.

    >>> file_kind("no-such-file.rgl")
    Traceback (most recent call last):
    regretless.errors.InvalidFile: no-such-file.rgl: does not exist
    """
    _, table = _beginning(path)
    try:
        return str(json.loads(table["__metadata__"]["regretless"])["kind"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InvalidFile(path, DAMAGED) from None


def open_mapped(path: str | Path, kind: str) -> Mapped:
    """Map a file of that kind; its arrays wait until they are looked at."""
    data, table = _beginning(path)
    try:
        metadata = table.pop("__metadata__")
        header = _read_header(path, metadata, kind)
        if _checksum(metadata["regretless"], metadata["checks"], table) != metadata["checksum"]:
            raise InvalidFile(path, "is damaged: its header is not what was written")
        checks = json.loads(metadata["checks"])
        end = data + max((entry["data_offsets"][1] for entry in table.values()), default=0)
        with open(path, "rb") as file:
            view = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise InvalidFile(path, f"cannot be read: {reason(error)}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InvalidFile(path, DAMAGED) from None
    if end > len(view):
        raise InvalidFile(path, f"is cut short: of {end:,} bytes {len(view):,} are left")
    return Mapped(Path(path), header, view, data, table, checks["size"], checks["pieces"])


class Mapped:
    """A file that is mapped into memory."""

    def __init__(
        self,
        path: Path,
        header: dict[str, Any],
        view: mmap.mmap,
        data: int,
        table: dict[str, Any],
        size: int,
        pieces: dict[str, list[int]],
    ) -> None:
        self.path = path
        self.header = header
        self._view, self._data, self._table = view, data, table
        self._size, self._pieces = size, pieces
        self._checked: set[tuple[str, int]] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._table

    def array(self, name: str) -> NDArray[Any]:
        """A whole array, every byte of it checked."""
        array = self._array(name)
        self._check(name, 0, array.nbytes)
        return array

    def bits(self, name: str) -> int:
        """How many bits a number of an array has."""
        return self._array(name).dtype.itemsize * 8

    def row(self, name: str, index: int) -> NDArray[Any]:
        """One row of an array; only the pieces that hold it are checked."""
        array = self._array(name)
        width = array.nbytes // max(len(array), 1)
        self._check(name, index * width, (index + 1) * width)
        row: NDArray[Any] = array[index]
        return row

    def _array(self, name: str) -> NDArray[Any]:
        if name not in self._table:
            raise InvalidFile(self.path, f"is of another kind or version: it holds no {name!r}")
        entry = self._table[name]
        count, offset = math.prod(entry["shape"]), self._data + entry["data_offsets"][0]
        flat: NDArray[Any] = np.frombuffer(self._view, dtype=_NAMES[entry["dtype"]], count=count, offset=offset)
        return flat.reshape(entry["shape"])

    def _check(self, name: str, begin: int, end: int) -> None:
        start, stop = (self._data + offset for offset in self._table[name]["data_offsets"])
        for piece in range(begin // self._size, -(-end // self._size)):
            if (name, piece) in self._checked:
                continue
            first = start + piece * self._size
            if zlib.crc32(memoryview(self._view)[first : min(first + self._size, stop)]) != self._pieces[name][piece]:
                raise InvalidFile(self.path, f"is damaged: {name} is not what was written")
            self._checked.add((name, piece))


def _beginning(path: str | Path) -> tuple[int, dict[str, Any]]:
    """Where the arrays begin, and what the header says."""
    try:
        _check_beginning(path)
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            return 8 + length, dict(json.loads(file.read(length).decode()))
    except OSError as error:
        raise InvalidFile(path, f"cannot be read: {reason(error)}") from None
    except (ValueError, TypeError, RecursionError):
        raise InvalidFile(path, DAMAGED) from None


def _checks(array: NDArray[Any], size: int) -> list[int]:
    content = _bytes(array)
    return [zlib.crc32(content[at : at + size]) for at in range(0, array.nbytes, size)]


def _bytes(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _checksum(text: str, checks: str, table: Mapping[str, Any]) -> str:
    said = f"{text}\n{checks}\n{json.dumps(table, sort_keys=True)}"
    return hashlib.sha256(said.encode()).hexdigest()

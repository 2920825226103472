"""A safetensors file: its table of arrays (name -> dtype, shape, data_offsets), and its bytes on request.

Every length, type and position is checked once, when the file is opened. Bytes are read, not mapped into memory: if
another process truncates a mapped file, the system kills the reader (SIGBUS), whereas a short read is an ordinary
error. The exception is `mapped`, for large tables that several processes look up at random.

The file stays open, so that a solution can be read to the end while another process replaces its file. Windows does not
replace a file that is open: there, each read opens it anew and checks that it is still the same.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import stat
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from regretless.errors import InvalidFile
from regretless.files.atomic import reason
from regretless.forms.history import AnyArray

__all__ = [
    "DAMAGED", "DTYPES", "LENGTH_BYTES", "MAX_TABLE", "NOT_OURS", "TensorEntry", "TensorFile", "bytes_of",
    "check_ordinary", "strict_json",
]  # fmt: skip

MAX_TABLE = 16 * 2**20  # bytes; ours take a few thousand, or more for a spot with thousands of locks
MAX_DIMENSIONS = 8
MAX_WHOLE = 2**60  # of a length or position; larger than any file
LENGTH_BYTES = 8  # of the number at the beginning of a file
NOT_OURS = "is not a Regretless file"
DAMAGED = "is damaged or truncated"

DTYPES = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32, "I16": np.int16,
    "I8": np.int8, "U64": np.uint64, "U32": np.uint32, "U16": np.uint16, "U8": np.uint8, "BOOL": np.bool_,
}  # fmt: skip


@dataclass(frozen=True)
class TensorEntry:
    """The position of an array."""

    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    begin: int  # in the file
    end: int

    @property
    def row_bytes(self) -> int:
        """Bytes of one entry of the first axis."""
        return self.dtype.itemsize * math.prod(self.shape[1:])


class TensorFile:
    """An open file: its table, and its bytes on request. Any problem with it raises `InvalidFile`."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._reading = threading.Lock()
        try:
            if check_ordinary(path).st_size == 0:
                raise InvalidFile(path, "is empty")
            self._file = open(path, "rb", buffering=0)  # noqa: SIM115 (stays open as long as this does)
            weakref.finalize(self, self._file.close)
            self._identity = _identity(self._file)
            self._size = os.fstat(self._file.fileno()).st_size
            self.table = self._read_table()
            if sys.platform == "win32":
                self._file.close()
        except OSError as error:
            raise InvalidFile(path, f"cannot be read: {reason(error)}") from None
        except (ValueError, RecursionError):
            raise InvalidFile(path, DAMAGED) from None
        self.metadata = self._metadata()
        self.entries = self._entries()

    def mapped(self, entry: TensorEntry) -> AnyArray:
        """A whole array, mapped into memory, read-only and unchecked."""
        if entry.begin == entry.end:
            return np.empty(entry.shape, entry.dtype)
        try:
            with self._open() as file:
                content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            why = reason(error) if isinstance(error, OSError) else str(error)
            raise InvalidFile(self.path, f"cannot be mapped into memory: {why}") from None
        if len(content) < entry.end:
            raise InvalidFile(self.path, "was truncated while it was open")
        count = math.prod(entry.shape)
        return np.frombuffer(content, entry.dtype, count, entry.begin).reshape(entry.shape)

    def read(self, begin: int, count: int) -> bytearray:
        """Bytes from anywhere in the file."""
        content = bytearray(count)
        self.read_into(begin, memoryview(content))
        return content

    def read_into(self, begin: int, target: memoryview) -> None:
        """Fill a buffer from a position in the file."""
        done = 0
        try:
            with self._reading, self._open() as file:
                file.seek(begin)
                while done < len(target):
                    count = file.readinto(target[done:])
                    if not count:
                        raise InvalidFile(self.path, "was truncated while it was open")
                    done += count
        except OSError as error:
            raise InvalidFile(self.path, f"cannot be read: {reason(error)}") from None

    @contextmanager
    def _open(self) -> Iterator[FileIO]:
        """The file, opened anew where it does not stay open."""
        if not self._file.closed:
            yield self._file
            return
        with open(self.path, "rb", buffering=0) as file:
            if _identity(file) != self._identity:
                raise InvalidFile(self.path, "was replaced after it was opened: load it again")
            yield file

    def damaged(self, why: str) -> NoReturn:
        """Refuse the file."""
        raise InvalidFile(self.path, f"is damaged: {why}")

    def _read_table(self) -> dict[str, object]:
        beginning = bytes(self._file.read(LENGTH_BYTES + 1))
        length = int.from_bytes(beginning[:LENGTH_BYTES], "little")
        if beginning[LENGTH_BYTES:] != b"{":
            raise InvalidFile(self.path, NOT_OURS)
        if length > MAX_TABLE:
            raise InvalidFile(self.path, f"{NOT_OURS}: its header claims {length:,} bytes")
        if LENGTH_BYTES + length > self._size:
            raise InvalidFile(self.path, DAMAGED)
        self._arrays_begin = LENGTH_BYTES + length
        table = strict_json(self.read(LENGTH_BYTES, length).decode())
        if not isinstance(table, dict):
            raise InvalidFile(self.path, DAMAGED)
        return table

    def _metadata(self) -> dict[str, str]:
        metadata = self.table.pop("__metadata__", {})
        if not isinstance(metadata, dict) or not all(isinstance(text, str) for text in metadata.values()):
            raise InvalidFile(self.path, DAMAGED)
        return metadata

    def _entries(self) -> dict[str, TensorEntry]:
        entries = {name: self._entry(name, described) for name, described in self.table.items()}
        offset = self._arrays_begin
        for name, entry in sorted(entries.items(), key=lambda item: (item[1].begin, item[1].end)):
            if entry.begin != offset:
                self.damaged(f"{name} does not begin where the array before it ends")
            offset = entry.end
        if offset > self._size:
            raise InvalidFile(self.path, f"is truncated: it has {self._size:,} of {offset:,} bytes")
        return entries

    def _entry(self, name: str, described: object) -> TensorEntry:
        if not isinstance(described, dict) or set(described) != {"dtype", "shape", "data_offsets"}:
            self.damaged(f"{name} is not described as an array")
        shape, offsets = described["shape"], described["data_offsets"]
        if not _are_whole(shape) or len(shape) > MAX_DIMENSIONS or not _are_whole(offsets) or len(offsets) != 2:
            self.damaged(f"{name} is not described as an array")
        dtype = DTYPES.get(described["dtype"]) if isinstance(described["dtype"], str) else None
        if dtype is None:
            self.damaged(f"{name} has an unknown type")
        entry = TensorEntry(
            np.dtype(dtype), tuple(shape), self._arrays_begin + offsets[0], self._arrays_begin + offsets[1]
        )
        if entry.end - entry.begin != math.prod(shape) * entry.dtype.itemsize:
            self.damaged(f"{name} has a size that does not match its shape")
        return entry


def _identity(file: FileIO) -> tuple[int, int, int]:
    """Differs between a file and one that replaces it."""
    status = os.fstat(file.fileno())
    return status.st_ino, status.st_size, status.st_mtime_ns


def bytes_of(array: AnyArray) -> memoryview:
    """The memory of a contiguous array."""
    return array.reshape(-1).view(np.uint8).data


def strict_json(text: str) -> Any:
    """Parse JSON text; NaN and infinities, which are not JSON, raise ValueError."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def _are_whole(described: object) -> bool:
    """Whether this is a list of whole numbers within the size of a file."""
    return isinstance(described, list) and all(type(number) is int and 0 <= number < MAX_WHOLE for number in described)


def check_ordinary(path: str | Path) -> os.stat_result:
    """Refuse anything but a regular file before opening it: opening a pipe would wait for a writer."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        raise InvalidFile(path, "does not exist") from None
    if stat.S_ISDIR(status.st_mode):
        raise InvalidFile(path, "is a folder, not a file")
    if not stat.S_ISREG(status.st_mode):
        raise InvalidFile(path, "is not an ordinary file")
    return status

"""The container of every `.rgl` file: a JSON header and named arrays, checked piece by piece as they are read.

    8 bytes         length of what follows, little-endian
    JSON            safetensors' own table of arrays, and under "__metadata__":
        regretless      the header as JSON text: "format", "kind", and what the kind needs
        checks          a CRC-32 of every piece of every array
        checksum        SHA-256 over the header, the checks and every array's name, type, shape and position
    arrays          raw numbers

Any safetensors library opens such a file (a test does). The library itself is not used here: it writes only arrays that
are in memory as a whole, and checks none of what it reads.

Nothing in it is code. Opening a file reads only the header. Reading a row reads and checks only the pieces that contain
it, so any row of a multi-gigabyte file takes milliseconds, and a flipped bit is noticed when it is read. The last few
pieces stay in memory. The header is small (everything that grows is an array), so its size is limited before it is
read, and arrays cannot claim more memory than the file has bytes: `tensor_file` checks both.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
import zlib
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol, runtime_checkable

import numpy as np

from regretless.errors import InvalidFile
from regretless.files.atomic import replace_file
from regretless.files.tensor_file import (
    DAMAGED,
    DTYPES,
    LENGTH_BYTES,
    MAX_TABLE,
    NOT_OURS,
    TensorEntry,
    TensorFile,
    bytes_of,
    strict_json,
)
from regretless.forms.history import AnyArray

__all__ = ["FORMAT_VERSION", "Container", "StoredArrays", "Streamed", "open_container", "shape_of", "write_container"]

FORMAT_VERSION = 2  # no release wrote 1
ALIGNMENT = 64  # arrays begin at a multiple of it
PIECE = 1 << 20  # minimum bytes per check
MAX_PIECES = 20_000  # per file, so that the header stays small
MAX_PIECE = 1 << 28  # bytes; reached by a file of five terabytes
MAX_CACHED_PIECES = 16  # the most recently used

_TYPES: dict[np.dtype[np.generic], str] = {np.dtype(kind): name for name, kind in DTYPES.items()}


@dataclass(frozen=True)
class Streamed:
    """An array that is computed while it is written, so that it is never in memory as a whole."""

    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    blocks: Callable[[], Iterator[AnyArray]]  # parts of the array, in order; together they fill its shape

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def write_container(
    path: str | Path,
    kind: str,
    header: Mapping[str, object],
    arrays: Mapping[str, AnyArray | Streamed],
    *,
    follow: bool = True,
) -> None:
    """Write a file of that kind atomically; without `follow`, a link is replaced like a file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_container(f"{folder}/a.rgl", "example", {"answer": 42}, {"numbers": np.arange(6).reshape(2, 3)})
    ...     opened = open_container(f"{folder}/a.rgl")
    ...     opened.header["answer"], opened.row("numbers", 1).tolist()
    (42, [3, 4, 5])
    """
    text = json.dumps({"format": FORMAT_VERSION, "kind": kind, **header}, allow_nan=False, sort_keys=True)
    table: dict[str, object] = {}
    offset = 0
    for name, array in arrays.items():
        ends = [offset, offset + array.nbytes]
        table[name] = {"dtype": _TYPES[array.dtype], "shape": list(array.shape), "data_offsets": ends}
        offset = ends[1]
    size = max(PIECE, -(-offset // MAX_PIECES))
    # The checks come before the arrays but are known only after them: reserve space for the longest.
    longest = {name: [2**32 - 1] * -(-array.nbytes // size) for name, array in arrays.items()}
    header_bytes = len(_encode_beginning(text, size, longest, table))
    header_bytes += -(LENGTH_BYTES + header_bytes) % ALIGNMENT
    if header_bytes > MAX_TABLE:
        raise InvalidFile(path, f"cannot be written: its header takes {header_bytes:,} bytes of {MAX_TABLE:,}")
    with replace_file(path, follow=follow) as temporary, open(temporary, "wb") as file:
        file.write(bytes(LENGTH_BYTES + header_bytes))
        pieces = {name: _write_array(file, array, size) for name, array in arrays.items()}
        file.seek(0)
        file.write(struct.pack("<Q", header_bytes))
        file.write(_encode_beginning(text, size, pieces, table).ljust(header_bytes))


def _encode_beginning(text: str, size: int, pieces: Mapping[str, list[int]], table: Mapping[str, object]) -> bytes:
    """The JSON at the beginning of a file."""
    checks = json.dumps({"size": size, "pieces": pieces})
    metadata = {"regretless": text, "checks": checks, "checksum": _checksum(text, checks, table)}
    return json.dumps({"__metadata__": metadata, **table}).encode()


def _write_array(file: BinaryIO, array: AnyArray | Streamed, size: int) -> list[int]:
    """Write an array and return the checks of its pieces."""
    checks = [0] * -(-array.nbytes // size)
    offset = 0

    def write(block: AnyArray) -> None:
        nonlocal offset
        content = bytes_of(np.ascontiguousarray(block))
        file.write(content)
        done = 0
        while done < len(content):
            piece = offset // size
            part = content[done : done + (piece + 1) * size - offset]
            checks[piece] = zlib.crc32(part, checks[piece])
            done, offset = done + len(part), offset + len(part)

    if isinstance(array, Streamed):
        _write_behind(write, array.blocks())
    else:
        write(array)
    if offset != array.nbytes:
        raise ValueError(f"an array of {array.nbytes:,} bytes was given {offset:,}")
    return checks


def _write_behind(write: Callable[[AnyArray], None], blocks: Iterator[AnyArray]) -> None:
    """Write blocks in another thread, each while the next one is computed."""
    with ThreadPoolExecutor(1) as writer:
        writing: Future[None] | None = None
        for block in blocks:
            if writing is not None:
                writing.result()
            writing = writer.submit(write, block)
        if writing is not None:
            writing.result()


def open_container(path: str | Path) -> Container:
    """Open a file of any kind (`solving.kinds.open_file` checks which); arrays are read on demand.

    >>> open_container("no-such-file.rgl")
    Traceback (most recent call last):
    regretless.errors.InvalidFile: no-such-file.rgl: does not exist
    """
    return Container(TensorFile(path))


class Container:
    """A file whose arrays are read on demand."""

    def __init__(self, opened: TensorFile) -> None:
        self.path = opened.path
        self.header = _header(opened)
        self.kind: str = self.header["kind"]
        self._opened = opened
        self._cache: OrderedDict[tuple[str, int], bytearray] = OrderedDict()
        text, metadata = opened.metadata["regretless"], opened.metadata
        if "checksum" not in metadata or "checks" not in metadata:
            raise InvalidFile(self.path, DAMAGED)
        if _checksum(text, metadata["checks"], opened.table) != metadata["checksum"]:
            opened.damaged("its header does not match its checksum")
        self._size, self._pieces = self._checks(metadata["checks"])

    def __contains__(self, name: str) -> bool:
        return name in self._opened.entries

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arrays."""
        return tuple(self._opened.entries)

    def entry(self, name: str) -> TensorEntry:
        """Type, shape and position of an array."""
        if name not in self._opened.entries:
            raise InvalidFile(self.path, f"is damaged or from another version: it has no {name!r}")
        return self._opened.entries[name]

    def array(self, name: str) -> AnyArray:
        """A whole array, fully checked."""
        entry = self.entry(name)
        array: AnyArray = np.empty(entry.shape, entry.dtype)
        self.read_into(name, array)
        array.flags.writeable = False
        return array

    def mapped(self, name: str) -> AnyArray:
        """A whole array, fully checked, mapped into memory: processes share it, and it is read when it is used.

        Only for large tables that are looked up at random: if another process truncates the file, the system ends this
        one. Files of ours are replaced, never truncated.
        """
        array = self._opened.mapped(self.entry(name))
        content = bytes_of(array)
        for piece in range(-(-len(content) // self._size)):
            self._check(name, piece, content[piece * self._size : (piece + 1) * self._size])
        return array

    def read_into(self, name: str, target: AnyArray) -> None:
        """Fill a contiguous array of the same type and size, fully checked."""
        entry, content = self.entry(name), bytes_of(target)
        if target.dtype != entry.dtype or len(content) != entry.end - entry.begin:
            raise ValueError(f"{name} has a different type or size")
        for piece in range(-(-len(content) // self._size)):
            part = content[piece * self._size : (piece + 1) * self._size]
            self._opened.read_into(entry.begin + piece * self._size, part)
            self._check(name, piece, part)

    def check(self, name: str, shape: tuple[int, ...], dtypes: Collection[type[np.generic]]) -> None:
        """Refuse a file that lacks this array in this shape and one of these types."""
        entry = self.entry(name)
        if entry.shape != shape or entry.dtype not in dtypes:
            raise InvalidFile(self.path, f"is damaged: {name} has the wrong shape or type")

    def bits(self, name: str) -> int:
        """Bits per number of an array."""
        return self.entry(name).dtype.itemsize * 8

    def row(self, name: str, index: int) -> AnyArray:
        """One row of an array; only the pieces that contain it are read and checked."""
        entry = self.entry(name)
        if not entry.shape or not 0 <= index < entry.shape[0]:
            raise InvalidFile(self.path, f"is damaged or from another version: {name} has no row {index}")
        begin, end = index * entry.row_bytes, (index + 1) * entry.row_bytes
        first, last = begin // self._size, -(-end // self._size)
        pieces = [self._piece(name, piece) for piece in range(first, last)]
        content = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        count, offset = entry.row_bytes // entry.dtype.itemsize, begin - first * self._size
        row: AnyArray = np.frombuffer(content, entry.dtype, count, offset if count else 0)
        return row.reshape(entry.shape[1:])

    def _piece(self, name: str, piece: int) -> bytearray:
        key = name, piece
        if key not in self._cache:
            entry = self.entry(name)
            begin = entry.begin + piece * self._size
            content = self._opened.read(begin, min(self._size, entry.end - begin))
            self._check(name, piece, memoryview(content))
            self._cache[key] = content
            if len(self._cache) > MAX_CACHED_PIECES:
                self._cache.popitem(last=False)
        self._cache.move_to_end(key)
        return self._cache[key]

    def _check(self, name: str, piece: int, content: memoryview) -> None:
        if zlib.crc32(content) != self._pieces[name][piece]:
            self._opened.damaged(f"{name} does not match its checksum")

    def _checks(self, text: str) -> tuple[int, dict[str, list[int]]]:
        """Bytes per piece, and the checks of each array's pieces."""
        checks = _json_table(self.path, text)
        size, pieces = checks.get("size"), checks.get("pieces")
        if type(size) is not int or not 1 <= size <= MAX_PIECE or not isinstance(pieces, dict):
            self._opened.damaged("its checks cannot be read")
        for name, entry in self._opened.entries.items():
            sums = pieces.get(name)
            if not isinstance(sums, list) or len(sums) != -(-(entry.end - entry.begin) // size):
                self._opened.damaged(f"{name} has the wrong number of checks")
        return size, pieces


class StoredArrays(Mapping[str, AnyArray]):
    """Some arrays of a file, each read on demand, and refused if it contains NaN or, an average, numbers below 0."""

    def __init__(self, file: Container, names: Collection[str]) -> None:
        self._file = file
        self._names = tuple(name for name in names if name in file)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, name: str) -> AnyArray:
        if name not in self._names:
            raise KeyError(name)
        array = self._file.array(name)
        self._check_numbers(name, array)
        return array

    def read_into(self, name: str, target: AnyArray) -> None:
        """Fill an array of the same type and shape, so that nothing is copied."""
        self._file.read_into(name, target)
        self._check_numbers(name, target)

    def shape(self, name: str) -> tuple[int, ...]:
        return self._file.entry(name).shape

    def _check_numbers(self, name: str, array: AnyArray) -> None:
        if not np.isfinite(array).all():
            raise InvalidFile(self._file.path, "is damaged: it contains regrets or averages that are not numbers")
        if name.startswith("average") and array.size and array.min() < 0:
            raise InvalidFile(self._file.path, f"is damaged: {name} contains sums of probabilities below 0")


@runtime_checkable
class _KnowsShapes(Protocol):
    """Arrays elsewhere, in a file or on a device, whose shapes are known before they are read."""

    def shape(self, name: str) -> tuple[int, ...]: ...


def shape_of(arrays: Mapping[str, AnyArray], name: str) -> tuple[int, ...]:
    """The shape of an array that may not have been read yet."""
    return arrays.shape(name) if isinstance(arrays, _KnowsShapes) else arrays[name].shape


def _header(opened: TensorFile) -> dict[str, Any]:
    """The header of a file, if this version can read it."""
    path = opened.path
    if "regretless" not in opened.metadata:
        raise InvalidFile(path, f"{NOT_OURS}, although it is a safetensors file")
    header = _json_table(path, opened.metadata["regretless"])
    version, kind = header.get("format"), header.get("kind")
    if type(version) is not int or version < 1 or not isinstance(kind, str):
        raise InvalidFile(path, DAMAGED)
    if version != FORMAT_VERSION:
        writer = "a newer Regretless" if version > FORMAT_VERSION else "a version before the first release"
        formats = f"its format is {version}, and this version reads {FORMAT_VERSION}"
        raise InvalidFile(path, f"was written by {writer}: {formats}")
    return header


def _json_table(path: Path, text: str) -> dict[str, Any]:
    try:
        table = strict_json(text)
    except (ValueError, RecursionError):
        table = None
    if not isinstance(table, dict):
        raise InvalidFile(path, DAMAGED)
    return table


def _checksum(text: str, checks: str, table: Mapping[str, object]) -> str:
    covered = f"{text}\n{checks}\n{json.dumps(table, sort_keys=True)}"
    return hashlib.sha256(covered.encode()).hexdigest()

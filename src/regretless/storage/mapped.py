"""The `.rgl` container: named arrays and a JSON header in one safetensors file, written whole or not at all.

A safetensors file is eight bytes of header length, a JSON header that says where each array lies, and the arrays. Reading
maps the file into memory: nothing is copied, no code runs, and a page of it is read when somebody looks. The header holds

    format     "regretless", and the version of this layout
    header     whatever the writer wants to say, as JSON
    checks     a CRC-32 of every mebibyte of every array, checked when that mebibyte is first looked at

and a CRC-32 of itself. Writing goes to a temporary name beside the file, reaches the disk, and is renamed: a crash or a full
disk leaves the old file or none, never half of one.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import struct
import tempfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.errors import InvalidFile

__all__ = ["Array", "Container", "open_container", "write_container"]

VERSION = 1
CHUNK = 1 << 20  # bytes that one check covers
LARGEST_HEADER = 100_000_000  # bytes; more is no header

_NAMES = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32, "I16": np.int16,
    "I8": np.int8, "U64": np.uint64, "U32": np.uint32, "U16": np.uint16, "U8": np.uint8, "BOOL": np.bool_,
}  # fmt: skip
_DTYPES = {np.dtype(kind): name for name, kind in _NAMES.items()}

Array = NDArray[Any]


def write_container(path: str | Path, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write a file, replacing one of that name only when all of it is on the disk."""
    path = Path(path)
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    content = _header(header, whole)
    temporary: str | None = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(struct.pack("<Q", len(content)) + content)
            for array in whole.values():
                file.write(_bytes(array))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
        temporary = None
        _sync_folder(path.parent)
    except OSError as error:
        raise InvalidFile(path, f"cannot be written: {error.strerror or error}") from None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def open_container(path: str | Path) -> Container:
    """Map a file and read its header; the arrays wait until they are looked at."""
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            view = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else None
    except OSError as error:
        raise InvalidFile(path, f"cannot be read: {error.strerror or error}") from None
    if view is None or size < 8:
        raise InvalidFile(path, "is not a Regretless file")
    (length,) = struct.unpack("<Q", view[:8])
    if length > min(LARGEST_HEADER, size - 8):
        raise InvalidFile(path, "is not a Regretless file, or its beginning is damaged")
    try:
        table = json.loads(view[8 : 8 + length].decode())
        metadata = table.pop("__metadata__")
        if metadata["format"] != "regretless":
            raise InvalidFile(path, "is not a Regretless file")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidFile(path, "is not a Regretless file, or its beginning is damaged") from None
    return Container(Path(path), view, 8 + length, table, metadata)


class Container:
    """A file that is mapped into memory."""

    def __init__(
        self, path: Path, view: mmap.mmap, data: int, table: dict[str, Any], metadata: dict[str, str]
    ) -> None:
        self.path = path
        self._view = view
        self._data = data
        self._table = table
        self._checked: set[tuple[str, int]] = set()
        try:
            version = int(metadata["version"])
            if version > VERSION:
                raise InvalidFile(path, f"was written by a later Regretless (layout {version}, this one reads {VERSION})")
            if int(metadata["self"]) != _own_check(table, metadata):
                raise InvalidFile(path, "is damaged: its header is not what was written")
            self.header: dict[str, Any] = json.loads(metadata["header"])
            self._checks: dict[str, list[int]] = json.loads(metadata["checks"])
            ends = [8, *(data + entry["data_offsets"][1] for entry in table.values())]
        except (ValueError, KeyError, TypeError):
            raise InvalidFile(path, "is damaged: its header cannot be read") from None
        if max(ends) > len(view):
            raise InvalidFile(path, f"is cut short: {max(ends):,} bytes were written, {len(view):,} are left")

    def __contains__(self, name: str) -> bool:
        return name in self._table

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return len(self._view)

    def array(self, name: str) -> Array:
        """A whole array, every byte of it checked."""
        array = self._array(name)
        self._check(name, 0, array.nbytes)
        return array

    def row(self, name: str, index: int) -> Array:
        """One row of an array, and only its bytes checked."""
        array = self._array(name)
        width = array.nbytes // max(len(array), 1)
        self._check(name, index * width, (index + 1) * width)
        row: Array = array[index]
        return row

    def _array(self, name: str) -> Array:
        if name not in self._table:
            raise InvalidFile(self.path, f"is damaged or of another kind: it holds no {name!r}")
        entry = self._table[name]
        kind = np.dtype(_NAMES[entry["dtype"]])
        flat = np.frombuffer(
            self._view, dtype=kind, count=math.prod(entry["shape"]), offset=self._data + entry["data_offsets"][0]
        )
        return flat.reshape(entry["shape"])

    def _check(self, name: str, begin: int, end: int) -> None:
        start, stop = self._table[name]["data_offsets"]
        for chunk in range(begin // CHUNK, -(-end // CHUNK)):
            if (name, chunk) in self._checked:
                continue
            piece = memoryview(self._view)[
                self._data + start + chunk * CHUNK : self._data + min(start + (chunk + 1) * CHUNK, stop)
            ]
            if zlib.crc32(piece) != self._checks[name][chunk]:
                raise InvalidFile(self.path, f"is damaged: {name} is not what was written")
            self._checked.add((name, chunk))


def _header(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    table: dict[str, Any] = {}
    offset = 0
    for name, array in arrays.items():
        table[name] = {
            "dtype": _DTYPES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + array.nbytes],
        }
        offset += array.nbytes
    checks = {
        name: [zlib.crc32(_bytes(array)[at : at + CHUNK]) for at in range(0, array.nbytes, CHUNK)]
        for name, array in arrays.items()
    }
    metadata = {
        "format": "regretless",
        "version": str(VERSION),
        "header": json.dumps(header),
        "checks": json.dumps(checks),
    }
    metadata["self"] = str(_own_check(table, metadata))
    text = json.dumps({"__metadata__": metadata, **table}).encode()
    return text + b" " * (-(len(text) + 8) % 64)  # so that arrays begin at a multiple of 64


def _own_check(table: Mapping[str, Any], metadata: Mapping[str, str]) -> int:
    """A check of everything the header says but the check itself."""
    said = [dict(table), {key: metadata[key] for key in ("format", "version", "header", "checks")}]
    return zlib.crc32(json.dumps(said, sort_keys=True).encode())


def _bytes(array: Array) -> memoryview:
    return memoryview(array.reshape(-1).view(np.uint8))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """Let the new name reach the disk too, where folders can be synced."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)

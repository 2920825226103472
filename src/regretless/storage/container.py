"""The container of every `.rgl` file: safetensors, with a checked JSON header in its metadata.

    8 bytes         length of what follows, little-endian
    JSON            safetensors' own table of arrays, and under "__metadata__":
        regretless      the header as JSON text: "format", "kind", and what the kind needs
        checksum        SHA-256 over that text and over every array's name, type, shape and bytes
    arrays          raw numbers

Nothing in it is code. The header is small (arrays hold everything that grows), so its size is limited before it is
read, and arrays cannot claim more memory than the file has bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from regretless.errors import InvalidFile
from regretless.storage.atomic import reason, replace_file

__all__ = ["FORMAT_VERSION", "Arrays", "read_container", "write_container"]

FORMAT_VERSION = 1
LARGEST_HEADER = 2**20  # bytes; ours take about two thousand
NOT_OURS = "is not a Regretless file"
DAMAGED = "is damaged or cut short"

Arrays = Mapping[str, NDArray[Any]]


def write_container(path: str | Path, kind: str, header: Mapping[str, Any], arrays: Arrays) -> None:
    """Write a file of that kind, whole or not at all.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_container(f"{folder}/a.rgl", "example", {"answer": 42}, {"numbers": np.arange(3)})
    ...     header, arrays = read_container(f"{folder}/a.rgl", "example")
    >>> header["answer"], arrays["numbers"].tolist()
    (42, [0, 1, 2])
    """
    text = json.dumps({"format": FORMAT_VERSION, "kind": kind, **header}, allow_nan=False, sort_keys=True)
    tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    metadata = {"regretless": text, "checksum": _checksum(text, tensors)}
    with replace_file(path) as temporary:
        try:
            save_file(tensors, temporary, metadata)
        except SafetensorError as error:  # what the library makes of a full disk
            raise OSError(str(error)) from error


def read_container(path: str | Path, kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Header and arrays of a file of that kind; whatever is wrong with the file is said as `InvalidFile`.

    >>> read_container("no-such-file.rgl", "solution")
    Traceback (most recent call last):
    regretless.errors.InvalidFile: no-such-file.rgl: does not exist
    """
    try:
        _check_beginning(path)
        with safe_open(path, framework="np") as opened:
            metadata = opened.metadata() or {}
            header = _read_header(path, metadata, kind)
            arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 (no mapping)
    except OSError as error:
        raise InvalidFile(path, f"cannot be read: {reason(error)}") from None
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise InvalidFile(path, DAMAGED) from None
    if _checksum(metadata["regretless"], arrays) != metadata.get("checksum"):
        raise InvalidFile(path, "is damaged: its checksum is not that of its contents")
    return header, arrays


def _check_beginning(path: str | Path) -> None:
    """Refuse what is no file, and what cannot be safetensors, before a library is asked."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        raise InvalidFile(path, "does not exist") from None
    if stat.S_ISDIR(status.st_mode):
        raise InvalidFile(path, "is a folder, not a file")
    if not stat.S_ISREG(status.st_mode):
        raise InvalidFile(path, "is not an ordinary file")
    if status.st_size == 0:
        raise InvalidFile(path, "is empty")
    with open(path, "rb") as opened:
        beginning = opened.read(9)
    length = int.from_bytes(beginning[:8], "little")
    if len(beginning) < 9 or beginning[8:] != b"{":
        raise InvalidFile(path, NOT_OURS)
    if length > LARGEST_HEADER:
        raise InvalidFile(path, f"{NOT_OURS}: its header claims {length:,} bytes")
    if length + 8 > status.st_size:
        raise InvalidFile(path, DAMAGED)


def _read_header(path: str | Path, metadata: Mapping[str, str], kind: str) -> dict[str, Any]:
    if "regretless" not in metadata:
        raise InvalidFile(path, f"{NOT_OURS}, though it is safetensors")
    header = json.loads(metadata["regretless"])
    version = header["format"]
    if not isinstance(version, int) or version < 1:
        raise InvalidFile(path, DAMAGED)
    if version > FORMAT_VERSION:
        raise InvalidFile(
            path,
            f"was written by a newer Regretless: its format is {version}, and this one reads {FORMAT_VERSION}",
        )
    if header["kind"] != kind:
        raise InvalidFile(path, f"holds a {str(header['kind'])[:40]}, not a {kind}")
    return dict(header)


def _checksum(text: str, arrays: Arrays) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()

"""The container of every `.rgl` file: safetensors, with a checked JSON header in its metadata.

    8 bytes         length of what follows, little-endian
    JSON            safetensors' own table of arrays, and under "__metadata__":
        regretless      the header as JSON text: "format", "kind", and what the kind needs
        checksum        SHA-256 over that text and over every array's name, type, shape and bytes
    arrays          raw numbers

Nothing in it is code. The header is small (arrays hold everything that grows), so its size is limited before it is
read, and arrays cannot claim more memory than the file has bytes: `tensor_file` checks both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import save_file

from regretless.errors import InvalidFile
from regretless.storage.atomic import replace_file
from regretless.storage.tensor_file import DAMAGED, NOT_OURS, TensorFile, bytes_of, strict_json

__all__ = ["FORMAT_VERSION", "Arrays", "read_container", "read_header", "write_container"]

FORMAT_VERSION = 1
NAMES = {  # what a person calls each kind
    "solution": "a solved game",
    "spot-solution": "a solved hold'em spot",
    "spot-checkpoint": "an interrupted solve of a hold'em spot",
}

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
    opened = TensorFile(path)
    header = read_header(opened, kind)
    arrays = {name: opened.array(name) for name in opened.entries}
    if _checksum(opened.metadata["regretless"], arrays) != opened.metadata.get("checksum"):
        opened.damaged("its checksum does not match its contents")
    return header, arrays


def read_header(opened: TensorFile, kind: str | None = None) -> dict[str, Any]:
    """The header of a file, of that kind if one is given."""
    path = opened.path
    if "regretless" not in opened.metadata:
        raise InvalidFile(path, f"{NOT_OURS}, though it is safetensors")
    try:
        header = strict_json(opened.metadata["regretless"])
    except (ValueError, RecursionError):
        raise InvalidFile(path, DAMAGED) from None
    if not isinstance(header, dict):
        raise InvalidFile(path, DAMAGED)
    version, found = header.get("format"), header.get("kind")
    if type(version) is not int or version < 1 or not isinstance(found, str):
        raise InvalidFile(path, DAMAGED)
    if version > FORMAT_VERSION:
        raise InvalidFile(
            path,
            f"was written by a newer Regretless: its format is {version}, and this one reads {FORMAT_VERSION}",
        )
    if kind is not None and found != kind:
        raise InvalidFile(path, f"holds {_named(found)}, not {_named(kind)}")
    return header


def _named(kind: str) -> str:
    """What a kind of file holds, for a person."""
    return NAMES.get(kind, f"a {kind[:40]}")


def _checksum(text: str, arrays: Arrays) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(bytes_of(np.ascontiguousarray(array)))
    return digest.hexdigest()

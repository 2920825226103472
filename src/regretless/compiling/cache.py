"""Where compiled kernels are kept, when a kept one is stale, and what happens to one that is damaged.

Numba keeps a compiled function beside its source (or, where that folder cannot be written, in the user's cache folder)
as an index and a data file for each signature. Its own cache trusts both files and takes a kernel for fresh as long as
the function's own file is unchanged. Here

- the stamp of a kernel is (numba's stamp of the file, SHA-256 over every source of its layer, `cards` or `engines`
  with all their rooms, and of this package), because a kernel has functions of other files inlined;
- every file ends in the SHA-256 of what precedes it. A file that was cut short, or whose blocks a crash left empty,
  is recompiled and replaced instead of loaded;
- a disk that is full or cannot be read costs a compilation in every process, and nothing else.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile

__all__ = ["KernelCache", "digest_of_sources", "kept"]

CHECK_BYTES = hashlib.sha256().digest_size
PACKAGE = Path(__file__).parents[1]


def kept(compiled: Any, function: Callable[..., object]) -> Any:
    """The same function, whose machine code is kept on disk if there is a folder that can be written."""
    with suppress(RuntimeError, OSError):  # there is none: compile anew in every process
        compiled._cache = KernelCache(function)  # noqa: SLF001  numba has no public way to choose a cache
    return compiled


class KernelCache(FunctionCache):
    """Numba's cache of one function, which neither fails nor loads what is stale or damaged."""

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        file: Any = self._cache_file
        stamp = (file._source_stamp, _digest_of_layer(Path(function.__code__.co_filename)))  # noqa: SLF001  as above
        self._cache_file = _CheckedFile(self._cache_path, self._impl.filename_base, stamp)  # type: ignore[no-untyped-call]

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The kept code, or None where there is none that can be used."""
        try:
            return super().load_overload(signature, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # whole, but not what this numba writes
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled kernel if the disk lets us: a full one is no reason to lose a solve."""
        try:
            super().save_overload(signature, compiled)  # type: ignore[no-untyped-call]
        except OSError:
            with suppress(OSError):  # the index may name code that was not written, or is that of an older source
                os.unlink(self._cache_file._index_path)  # noqa: SLF001  as above


class _CheckedFile(IndexDataCacheFile):
    """Numba's files with a checksum at their end, where unpickling does not look."""

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[BytesIO]:
        written = BytesIO()
        yield written
        with super()._open_for_write(filepath) as file:
            file.write(written.getvalue() + _check(written.getvalue()))

    def _load_index(self) -> dict[Any, str]:
        if not _is_whole(self._index_path):
            return {}
        index: dict[Any, str] = super()._load_index()  # type: ignore[no-untyped-call]
        return index

    def _load_data(self, name: str) -> Any:
        if not _is_whole(path := self._data_path(name)):  # type: ignore[no-untyped-call]
            raise FileNotFoundError(path)  # which numba takes for a kernel that is not there
        return super()._load_data(name)  # type: ignore[no-untyped-call]


def _check(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _is_whole(path: str) -> bool:
    try:
        data = Path(path).read_bytes()
    except OSError:
        return False
    return len(data) > CHECK_BYTES and _check(data[:-CHECK_BYTES]) == data[-CHECK_BYTES:]


def _digest_of_layer(source: Path) -> bytes:
    """Of every source whose functions a kernel of that file may have inlined."""
    inside = source.is_relative_to(PACKAGE) and source.parent != PACKAGE
    layer = PACKAGE / source.relative_to(PACKAGE).parts[0] if inside else source.parent
    return _digest_of(layer) + _digest_of(Path(__file__).parent)


@cache
def _digest_of(folder: Path) -> bytes:
    return digest_of_sources(folder)


def digest_of_sources(folder: Path) -> bytes:
    """Of the names and texts of the Python files in a folder and below it, whatever their dates."""
    digest = hashlib.sha256()
    for source in sorted(folder.rglob("*.py")):
        text = source.read_bytes()
        digest.update(f"{source.relative_to(folder).as_posix()} {len(text)}\n".encode())
        digest.update(text)
    return digest.digest()

"""Disk cache for compiled kernels that detects stale and damaged entries.

Numba caches a compiled function beside its source (or, if that folder is read-only, in the user's cache folder) as an
index and one data file per signature. Its own cache trusts both files and considers a kernel fresh as long as the
function's own file is unchanged. This one differs:

- The stamp of a kernel is numba's stamp of its file plus the SHA-256 of every source in its layer (`cards` or
  `engines`, with all subfolders) and in this package, because functions from other files are inlined into kernels.
- Every file ends in the SHA-256 of its contents. A file that is truncated, or that a crash left partly empty, is
  recompiled and replaced instead of loaded.
- If the disk is full or unreadable, each process compiles for itself; nothing fails.
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

__all__ = ["KernelCache", "digest_of_sources", "kept", "signatures"]

CHECK_BYTES = hashlib.sha256().digest_size
PACKAGE = Path(__file__).parents[1]


def kept(compiled: Any, function: Callable[..., object]) -> Any:
    """The same function, with its machine code cached on disk if there is a writable folder."""
    with suppress(RuntimeError, OSError):  # no writable folder: compile in every process
        compiled._cache = KernelCache(function)  # noqa: SLF001  numba has no public way to choose a cache
    return compiled


def signatures(kernel: Any) -> list[Any]:
    """Argument types for which a kernel is compiled, in this process or on disk.

    Raises `AttributeError` or `OSError` with another version of numba or an unreadable cache.
    """
    index = kernel._cache._cache_file._load_index()  # noqa: SLF001  numba has no public way to list what it keeps
    return [*kernel.signatures, *(signature for signature, *_ in index)]


class KernelCache(FunctionCache):
    """Numba's cache of one function, except that it never fails and never loads a stale or damaged file."""

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        file: Any = self._cache_file
        stamp = (file._source_stamp, _digest_of_layer(Path(function.__code__.co_filename)))  # noqa: SLF001  as above
        self._cache_file = _CheckedFile(self._cache_path, self._impl.filename_base, stamp)  # type: ignore[no-untyped-call]

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The cached code, or None if there is none that can be used."""
        try:
            return super().load_overload(signature, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # intact, but not written by this version of numba
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Cache a compiled kernel if possible: a full disk must not fail a solve."""
        try:
            super().save_overload(signature, compiled)  # type: ignore[no-untyped-call]
        except OSError:
            with suppress(OSError):  # the index may list code that was not written, or code from an older source
                os.unlink(self._cache_file._index_path)  # noqa: SLF001  as above


class _CheckedFile(IndexDataCacheFile):
    """Numba's files with a checksum appended, which unpickling ignores."""

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
            raise FileNotFoundError(path)  # numba treats this as a kernel that is not cached
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
    """Digest of every source whose functions may be inlined into a kernel of this file."""
    inside = source.is_relative_to(PACKAGE) and source.parent != PACKAGE
    layer = PACKAGE / source.relative_to(PACKAGE).parts[0] if inside else source.parent
    return _digest_of(layer) + _digest_of(Path(__file__).parent)


@cache
def _digest_of(folder: Path) -> bytes:
    return digest_of_sources(folder)


def digest_of_sources(folder: Path) -> bytes:
    """Digest of the names and contents of all Python files in a folder and its subfolders; dates do not count."""
    digest = hashlib.sha256()
    for source in sorted(folder.rglob("*.py")):
        text = source.read_bytes()
        digest.update(f"{source.relative_to(folder).as_posix()} {len(text)}\n".encode())
        digest.update(text)
    return digest.digest()

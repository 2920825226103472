"""Everything that depends on internals of numba, which may change from one minor version to the next.

- `cached`: a disk cache for compiled kernels that detects stale and damaged entries;
- `signatures`: for which types a kernel is compiled already;
- `NoOverlap`: a compiler that promises LLVM that arrays do not overlap;
- `load_numba_quickly`: numba without SciPy's linear algebra;
- `cgutils`: numba's helpers for LLVM code written by hand.

`tests/compiling/test_numba_internals.py` names each private attribute used here, and `pyproject.toml` bounds numba by
the newest version that the tests have seen.

Numba caches a compiled function beside its source (or, if that folder is read-only, in the user's cache folder) as an
index and one data file per signature. Its own cache trusts both files and considers a kernel fresh as long as the
function's own file is unchanged. This one differs:

- The stamp of a kernel is numba's stamp of its file plus a digest of its file and of every file of Regretless that it
  imports (`sources.py`), because functions from other files are inlined into kernels.
- Every file ends in the SHA-256 of its contents. A file that is truncated, or that a crash left partly empty, is
  recompiled and replaced instead of loaded.
- If the disk is full or unreadable, each process compiles for itself; nothing fails.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

from numba.core import cgutils as _cgutils
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.compiler import CompilerBase, DefaultPassBuilder

from regretless.compiling.sources import digest_of_sources

__all__ = ["KernelCache", "NoOverlap", "cached", "cgutils", "load_numba_quickly", "signatures"]

CHECK_BYTES = hashlib.sha256().digest_size
cgutils: Any = _cgutils


def load_numba_quickly() -> None:
    """Save 0.2 s at startup: numba imports all of `scipy.linalg` just to learn whether SciPy is installed.

    `find_spec` answers that too. Kernels that need linear algebra still load it when they are compiled.
    """
    linear_algebra: Any = import_module("numba.np.linalg")
    probe = getattr(linear_algebra, "ensure_blas", None)
    if probe is None or find_spec("scipy") is None:
        return
    linear_algebra.ensure_blas = lambda: None
    try:
        import_module("numba.np.arraymath")
    finally:
        linear_algebra.ensure_blas = probe


class NoOverlap(CompilerBase):
    """Numba's usual pipeline, with the promise that array arguments do not overlap."""

    def define_pipelines(self) -> list[object]:
        self.state.flags.noalias = True
        pipeline: Any = DefaultPassBuilder.define_nopython_pipeline(self.state)  # type: ignore[no-untyped-call]
        return [pipeline]


# --- the cache -------------------------------------------------------------------------------------------------------


def cached(compiled: Any, function: Callable[..., object]) -> Any:
    """The same compiled function, with its machine code cached on disk if there is a writable folder."""
    with suppress(RuntimeError, OSError):  # no writable folder: compile in every process
        compiled._cache = KernelCache(function)  # noqa: SLF001
    return compiled


def signatures(kernel: Any) -> list[Any]:
    """Argument types for which a kernel is compiled, in this process or on disk.

    Raises `AttributeError` or `OSError` with another version of numba or an unreadable cache.
    """
    index = kernel._cache._cache_file._load_index()  # noqa: SLF001
    return [*kernel.signatures, *(signature for signature, *_ in index)]


class KernelCache(FunctionCache):
    """Numba's cache of one function, except that it never fails and never loads a stale or damaged file."""

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        file: Any = self._cache_file
        stamp = (file._source_stamp, digest_of_sources(Path(function.__code__.co_filename)))  # noqa: SLF001
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
                os.unlink(self._cache_file._index_path)  # noqa: SLF001


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
        index: dict[Any, str] = {}
        with suppress(AttributeError, ImportError):  # it is older than a class or module that was renamed since
            index = super()._load_index()  # type: ignore[no-untyped-call]
        return index

    def _load_data(self, name: str) -> Any:
        if not _is_whole(path := self._data_path(name)):  # type: ignore[no-untyped-call]
            raise FileNotFoundError(path)  # numba treats this as a kernel that is not cached
        return super()._load_data(name)  # type: ignore[no-untyped-call]


def _check(contents: bytes) -> bytes:
    return hashlib.sha256(contents).digest()


def _is_whole(path: str) -> bool:
    try:
        contents = Path(path).read_bytes()
    except OSError:
        return False
    return len(contents) > CHECK_BYTES and _check(contents[:-CHECK_BYTES]) == contents[-CHECK_BYTES:]

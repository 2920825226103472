"""Where compiled kernels are kept, and when a kept one is stale.

Numba keeps a compiled function beside its source (or, where that folder cannot be written, in the user's cache folder)
together with a stamp, and compiles again when the stamp is no longer that of the function's own file. A kernel has
parts of other files inlined, so here the stamp is

    (numba's stamp of the file, SHA-256 over the name and the text of every source of this package)

and an edit of any of them makes every kernel compile anew.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache

__all__ = ["KernelCache", "digest_of_sources", "kept"]


def kept(compiled: Any, function: Callable[..., object]) -> Any:
    """The same function, whose machine code is kept on disk if there is a folder that can be written."""
    with suppress(RuntimeError):  # there is none: compile anew in every process
        compiled._cache = KernelCache(function)
    return compiled


class KernelCache(FunctionCache):
    """Numba's cache of one function, stale as soon as any source beside it has changed."""

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        file: Any = self._cache_file
        file._source_stamp = (file._source_stamp, _digest_of_this_package())

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled kernel if the disk lets us: a full one is no reason to lose a solve."""
        try:
            super().save_overload(signature, compiled)  # type: ignore[no-untyped-call]
        except OSError:
            with suppress(OSError):  # the index may name code that was not written, or is that of an older source
                os.unlink(self._cache_file._index_path)


@cache
def _digest_of_this_package() -> bytes:
    return digest_of_sources(Path(__file__).parent)


def digest_of_sources(folder: Path) -> bytes:
    """Of the names and texts of the Python files in a folder, whatever their dates."""
    digest = hashlib.sha256()
    for source in sorted(folder.glob("*.py")):
        text = source.read_bytes()
        digest.update(f"{source.name} {len(text)}\n".encode())
        digest.update(text)
    return digest.digest()

"""How the kernels of the public form are compiled: once, kept on disk, without the interpreter's lock.

Reference counting of arrays is left out (`_nrt`): kernels are handed dozens of arrays, allocate none, and counting is
an atomic operation for each, which took most of the time of small spots and would make threads wait for each other.
"""

from __future__ import annotations

from typing import Any

import numba as nb
from numba import extending

import regretless.engines._compile  # noqa: F401  numba loads faster after it
from regretless.kernel_cache import kept

__all__ = ["inlined", "intrinsic", "kernel", "pasted"]

_OPTIONS: dict[str, Any] = {
    "_nrt": False,
    "boundscheck": False,
    "error_model": "numpy",
    "fastmath": True,
    "nogil": True,
}


def _decorator(**options: Any) -> Any:
    def compile_first_call(function: Any) -> Any:
        return kept(nb.njit(**options)(function), function)

    return compile_first_call


# Decorators. A kernel is what Python calls; everything it calls is inlined into it. Otherwise the process that compiles
# would run the parts as they were compiled by themselves, later ones the parts as compiled into the whole: the same
# arithmetic, regrouped, and results would differ in their last bits.
kernel = _decorator(**_OPTIONS)
inlined = _decorator(forceinline=True, **_OPTIONS)
pasted = _decorator(inline="always", **_OPTIONS)  # into the source of its only caller, which saves compiling it twice
intrinsic: Any = extending.intrinsic  # a function whose machine code is written out

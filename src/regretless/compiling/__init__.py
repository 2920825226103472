"""Decorators that compile kernels with numba: nopython mode, GIL released, machine code cached on disk.

| decorator       | arithmetic | for                                                                                |
|-----------------|------------|------------------------------------------------------------------------------------|
| `kernel`        | exact      | loops with gathers                                                                 |
| `inlined`       | exact      | parts of such kernels: passing a dozen arrays costs as much as solving a small game |
| `unaliased`     | exact      | loops over arrays in order, where no array that is written overlaps another        |
| `threaded`      | exact      | loops over `prange`, shared among threads                                          |
| `fast_kernel`   | reordered  | entry points of the public engine, called from Python                              |
| `fast_inlined`  | reordered  | parts of those kernels, inlined by LLVM                                            |
| `fast_pasted`   | reordered  | parts with a single caller, inlined by numba so that they are compiled only once   |
| `intrinsic`     |            | functions whose LLVM code is written by hand                                       |

LLVM vectorises a loop only if it knows that the arrays do not overlap. Numba can promise that (`unaliased`) but has no
public option for it. Gathers must not be vectorised: since the microcode fix for Downfall, gather instructions are
slower than scalar loads on Intel processors.

The fast kernels may reorder sums, and they skip reference counting of arrays (`_nrt`): they take dozens of arrays and
allocate none, and each count is an atomic operation; these took most of the time on small spots and made threads wait
for each other. Everything that a fast kernel calls is inlined into it. Otherwise the process that compiles would run
the parts as compiled on their own, and later processes would run them as compiled into the whole: the same arithmetic
in a different order, with results that differ in the last bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import extending, njit

from regretless.compiling.numba_internals import NoOverlap, cached, load_numba_quickly

__all__ = ["fast_inlined", "fast_kernel", "fast_pasted", "inlined", "intrinsic", "kernel", "threaded", "unaliased"]

Function = TypeVar("Function", bound=Callable[..., object])


load_numba_quickly()


def _decorator(**options: Any) -> Any:
    """A decorator that compiles on first call and caches the result on disk."""
    options |= {"nogil": True, "error_model": "numpy"}

    def decorate(function: Function) -> Function:
        return cast(Function, cached(njit(**options)(function), function))

    return decorate


_FAST: dict[str, object] = {"_nrt": False, "boundscheck": False, "fastmath": True}

kernel = _decorator()
inlined = _decorator(forceinline=True)
unaliased = _decorator(pipeline_class=NoOverlap)
threaded = _decorator(parallel=True)
fast_kernel = _decorator(**_FAST)
fast_inlined = _decorator(forceinline=True, **_FAST)
fast_pasted = _decorator(inline="always", **_FAST)
intrinsic: Any = extending.intrinsic

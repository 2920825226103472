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
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar, cast

from numba import extending, njit
from numba.core.compiler import CompilerBase, DefaultPassBuilder

from regretless.compiling.cache import kept

__all__ = ["fast_inlined", "fast_kernel", "fast_pasted", "inlined", "intrinsic", "kernel", "threaded", "unaliased"]

Function = TypeVar("Function", bound=Callable[..., object])
Decorator = Callable[[Function], Function]


def _load_numba_quickly() -> None:
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


_load_numba_quickly()


class _NoOverlap(CompilerBase):
    """Numba's usual pipeline, with the promise that array arguments do not overlap."""

    def define_pipelines(self) -> list[object]:
        self.state.flags.noalias = True
        pipeline: Any = DefaultPassBuilder.define_nopython_pipeline(self.state)  # type: ignore[no-untyped-call]
        return [pipeline]


def _decorator(**options: Any) -> Any:
    """A decorator that compiles on first call and caches the result on disk."""
    options |= {"nogil": True, "error_model": "numpy"}

    def decorate(function: Function) -> Function:
        return cast(Function, kept(njit(**options)(function), function))

    return decorate


_FAST: dict[str, Any] = {"_nrt": False, "boundscheck": False, "fastmath": True}

kernel = _decorator()
inlined = _decorator(forceinline=True)
unaliased = _decorator(pipeline_class=_NoOverlap)
threaded = _decorator(parallel=True)
fast_kernel = _decorator(**_FAST)
fast_inlined = _decorator(forceinline=True, **_FAST)
fast_pasted = _decorator(inline="always", **_FAST)
intrinsic: Any = extending.intrinsic

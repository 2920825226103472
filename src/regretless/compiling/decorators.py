"""How kernels are compiled: no Python inside, machine code kept on disk, the interpreter's lock released.

| decorator       | arithmetic | for                                                                             |
|-----------------|------------|---------------------------------------------------------------------------------|
| `kernel`        | exact      | loops with gathers                                                              |
| `inlined`       | exact      | parts of such kernels: handing over a dozen arrays costs as much as a small game |
| `unaliased`     | exact      | loops that touch each array in order, where no written array overlaps another   |
| `threaded`      | exact      | loops over `prange`, shared among threads                                       |
| `fast_kernel`   | reordered  | what Python calls in the public engine                                          |
| `fast_inlined`  | reordered  | its parts, inlined by LLVM                                                      |
| `fast_pasted`   | reordered  | a part with one caller, pasted into its source: it is not compiled twice        |
| `intrinsic`     |            | functions whose machine code is written out                                     |

LLVM vectorises a loop only if it knows that the arrays do not overlap, which numba can promise (`unaliased`) but has no
public option for. It must not vectorise gathers: since the microcode fix for Downfall, gather instructions are slower
than single loads on Intel processors.

The fast kernels may regroup sums, and they leave out reference counting of arrays (`_nrt`): they are handed dozens of
arrays and allocate none, and counting is an atomic operation for each, which took most of the time of small spots and
made threads wait for each other. Everything that a fast kernel calls is inlined into it. Otherwise the process that
compiles would run the parts as they were compiled by themselves, and later processes the parts as compiled into the
whole: the same arithmetic, regrouped, with results that differ in their last bits.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar, cast

from numba import extending, njit
from numba.core.compiler import CompilerBase, DefaultPassBuilder

from regretless.compiling.cache import kept

__all__ = [
    "fast_inlined",
    "fast_kernel",
    "fast_pasted",
    "inlined",
    "intrinsic",
    "kernel",
    "threaded",
    "unaliased",
]

Function = TypeVar("Function", bound=Callable[..., object])
Decorator = Callable[[Function], Function]


def _load_numba_quickly() -> None:
    """Spare the command 0.2 s: numba imports all of `scipy.linalg` to learn whether SciPy is installed.

    Finding SciPy tells as much. Kernels that need linear algebra still load it, when they are compiled.
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
    """A decorator that compiles at the first call and keeps the result on disk."""
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

"""How the kernels of this package are compiled: no Python inside, results kept on disk, other threads left running.

`kernel` is for loops with gathers; `lanes` is for loops that touch each array in order. LLVM vectorises the latter only
if it knows that the arrays do not overlap, which numba can promise but has no public option for. It must not vectorise
the former: since the microcode fix for Downfall, gather instructions are slower than single loads on Intel processors.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar, cast

from numba import njit
from numba.core.compiler import CompilerBase, DefaultPassBuilder

from regretless.kernel_cache import kept

__all__ = ["inlined", "kernel", "lanes", "threaded"]

Function = TypeVar("Function", bound=Callable[..., object])


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


def kernel(function: Function) -> Function:
    """Compile at the first call."""
    return _compiled(function)


def inlined(function: Function) -> Function:
    """The same, put into its callers: a call that hands over a dozen arrays costs as much as a small game's work."""
    return _compiled(function, forceinline=True)


def lanes(function: Function) -> Function:
    """Compile at the first call, promising that no two array arguments overlap where one of them is written."""
    return _compiled(function, pipeline_class=_NoOverlap)


def threaded(function: Function) -> Function:
    """Compile at the first call, with loops over `prange` shared among threads."""
    return _compiled(function, parallel=True)


def _compiled(function: Function, **options: Any) -> Function:
    options.update(nogil=True, error_model="numpy")
    return cast(Function, kept(njit(function, **options), function))

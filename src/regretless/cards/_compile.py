"""`compiled`: a function turned into machine code by numba, kept on disk between runs.

numba keeps compiled code in the `__pycache__` beside the source, or, when that folder is read-only, in the user's
cache folder (`~/.cache/numba`, or `NUMBA_CACHE_DIR` where set). When neither can be written, the function is compiled
anew in every process, which costs a second or two at its first call and changes nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

__all__ = ["compiled"]

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Compile at the first call, without Python objects inside."""
    try:
        return cast(Function, numba.njit(cache=True)(function))
    except RuntimeError:  # numba found no folder it can write
        return cast(Function, numba.njit(function))

"""`compiled`: a function turned into machine code by numba, kept on disk between runs.

`kernel_cache.py` says where, and what happens when that place is full, damaged or stale.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

from regretless.kernel_cache import kept

__all__ = ["compiled"]

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Compile at the first call, without Python objects inside."""
    return cast(Function, kept(numba.njit(function), function))

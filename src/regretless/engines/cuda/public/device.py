"""What the engine needs of a device: memory, compiled kernels, recorded launches.

`cupy_device.py` provides it through CuPy; tests provide it on a CPU, with the same engine and the same kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["KERNELS", "Array", "Buffer", "Device", "Launch"]

Array = NDArray[Any]
Buffer = Any  # an array on the device
Launch = Callable[..., None]  # (grid, threads, shared bytes, *arguments)

KERNELS = (
    "make_lists",
    "make_codes",
    "levels_learn_down",
    "levels_last_down",
    "levels_mean_down",
    "levels_learn_up",
    "levels_last_up",
    "levels_value_up",
    "levels_relay",
    "levels_last_relay",
    "learn_down",
    "last_down",
    "mean_down",
    "learn_up",
    "last_up",
    "value_up",
    "terminals",
    "products",
    "leaves",
    "sums",
    "hold",
)


class Device(Protocol):
    """What the engine needs of a device."""

    name: str
    shared_bytes: int  # that a block may have
    multiplies: bool  # whether its tensor cores have the instructions of `products.cu`

    def free_bytes(self) -> int: ...

    def zeros(self, count: int, dtype: np.dtype[Any]) -> Buffer: ...

    def clear(self, buffer: Buffer) -> None:
        """Fill a buffer with zeros."""

    def upload(self, array: Array) -> Buffer: ...

    def once(self, key: Hashable, make: Callable[[], Array]) -> Buffer:
        """An array on the device that spots share: those that ask for the same key may get the same buffer."""

    def assign(self, target: Buffer, array: Array) -> None:
        """Copy an array into a buffer, or into part of one."""

    def copy(self, target: Buffer, source: Buffer) -> None:
        """Copy one buffer into another of its size and type, after everything launched before."""

    def download(self, buffer: Buffer) -> Array: ...

    def address(self, buffer: Buffer) -> int: ...

    def compile(
        self, source: str, flags: tuple[str, ...], kernels: tuple[str, ...] = KERNELS
    ) -> Mapping[str, Launch]: ...

    def record(self, run: Callable[[], None]) -> Callable[[], None]:
        """Launches that can be repeated together; `run` must have run before, which loads the kernels."""

    def wait(self) -> None:
        """Until everything launched is done."""

"""Device memory for the tables of many spots, so that a thousand small tables are one upload.

Inside `with arena:`, tables are collected on the host and uploaded together at the end; outside, an arena is the device
itself. Memory is taken in chunks; each table begins at a multiple of 256 bytes, as every allocation of CUDA does. What
is collected goes through a small staging buffer that is reused, since new pages of host memory cost more than filling
them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regretless.engines.cuda.public.device import Array, Buffer, Device

__all__ = ["Arena"]

ALIGNMENT = 256
CHUNK_BYTES = 16 << 20
STAGED_BYTES = 2 << 20


class Arena:
    """Part of a device, and otherwise the device."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.name, self.shared_bytes, self.multiplies = device.name, device.shared_bytes, device.multiplies
        self.free_bytes, self.record = device.free_bytes, device.record
        self.compile = cache(device.compile)  # spots that come one after another often have the same kernels
        self.assign, self.copy, self.download, self.clear = device.assign, device.copy, device.download, device.clear
        self.address, self.wait = device.address, device.wait
        self._collecting = False
        self._tables = _Chunk(device, STAGED_BYTES)
        self._blank = _Chunk(device, 0)
        self._shared: dict[Hashable, Buffer] = {}

    def __enter__(self) -> Arena:
        self._collecting = True
        return self

    def __exit__(self, *_: object) -> None:
        self._collecting = False
        self._tables.flush()

    def zeros(self, count: int, dtype: np.dtype[Any]) -> Buffer:
        size = count * dtype.itemsize
        if not self._collecting or size > CHUNK_BYTES // 2:
            return self.device.zeros(count, dtype)
        part = self._blank.reserve(size)
        return part if dtype.kind == "V" else part.view(dtype)

    def once(self, key: Hashable, make: Callable[[], Array]) -> Buffer:
        if key not in self._shared:
            self._shared[key] = self.upload(make())
        return self._shared[key]

    def upload(self, array: Array) -> Buffer:
        if not self._collecting or array.nbytes > STAGED_BYTES:
            return self.device.upload(array)
        part = self._tables.reserve(array.nbytes)
        self._tables.fill(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
        return part if array.dtype.kind == "V" else part.view(array.dtype).reshape(array.shape)


class _Chunk:
    """Device memory that is handed out piece by piece; contents not yet uploaded are staged on the host."""

    def __init__(self, device: Device, staged: int) -> None:
        self.device = device
        self.buffer: Buffer = None
        self.staged = np.zeros(staged, dtype=np.uint8)  # contents of `buffer` from `uploaded` on
        self.begin = self.used = self.uploaded = self.size = 0

    def reserve(self, size: int) -> Buffer:
        """The next `size` bytes."""
        if self.used + size > self.size:
            self.flush()
            self.buffer = self.device.zeros(CHUNK_BYTES, np.dtype(np.uint8))
            self.begin, self.used, self.uploaded, self.size = 0, 0, 0, CHUNK_BYTES
        self.begin, self.used = self.used, min(self.used + -(-size // ALIGNMENT) * ALIGNMENT, CHUNK_BYTES)
        return self.buffer[self.begin : self.begin + size]

    def fill(self, contents: NDArray[np.uint8]) -> None:
        """Set the contents of the bytes that were reserved last."""
        if self.used - self.uploaded > len(self.staged):
            self.flush(self.begin)
        place = self.begin - self.uploaded
        self.staged[place : place + len(contents)] = contents

    def flush(self, end: int | None = None) -> None:
        """Upload what is new, up to `end`."""
        end = self.used if end is None else end
        if len(self.staged) and end > self.uploaded:
            self.device.assign(self.buffer[self.uploaded : end], self.staged[: end - self.uploaded])
            self.device.wait()  # before the staging buffer is filled again
            self.uploaded = end


if TYPE_CHECKING:
    _conforms: type[Device] = Arena

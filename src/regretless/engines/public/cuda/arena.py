"""Device memory for the tables of many spots, so that a thousand small tables are one upload.

Inside `with arena:`, tables are collected on the host and uploaded together at the end; outside, an arena is the device
itself. Memory is taken in chunks; each table begins at a multiple of 256 bytes, as every allocation of CUDA does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regretless.engines.public.cuda.device import Array, Buffer, Device

__all__ = ["Arena"]

ALIGNMENT = 256
CHUNK_BYTES = 16 << 20


class Arena:
    """Part of a device, and otherwise the device."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.name, self.shared_bytes = device.name, device.shared_bytes
        self.free_bytes, self.compile, self.record = device.free_bytes, device.compile, device.record
        self.assign, self.download, self.address = device.assign, device.download, device.address
        self.wait = device.wait
        self._collecting = False
        self._tables = _Chunk(device, staged=True)
        self._blank = _Chunk(device, staged=False)
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
        part, _ = self._blank.reserve(size)
        return part if dtype.kind == "V" else part.view(dtype)

    def once(self, key: Hashable, make: Callable[[], Array]) -> Buffer:
        if key not in self._shared:
            self._shared[key] = self.upload(make())
        return self._shared[key]

    def upload(self, array: Array) -> Buffer:
        if not self._collecting or array.nbytes > CHUNK_BYTES // 2:
            return self.device.upload(array)
        part, staged = self._tables.reserve(array.nbytes)
        staged[:] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        return part if array.dtype.kind == "V" else part.view(array.dtype).reshape(array.shape)


class _Chunk:
    """Device memory that is given away piece by piece, and what it shall contain."""

    def __init__(self, device: Device, *, staged: bool) -> None:
        self.device, self.is_staged = device, staged
        self.buffer: Buffer = None
        self.staged = np.zeros(0, dtype=np.uint8)
        self.used = self.uploaded = self.size = 0

    def reserve(self, size: int) -> tuple[Buffer, NDArray[np.uint8]]:
        """The next `size` bytes, and their contents."""
        if self.used + size > self.size:
            self.flush()
            self.buffer = self.device.zeros(CHUNK_BYTES, np.dtype(np.uint8))
            self.staged = np.zeros(CHUNK_BYTES if self.is_staged else 0, dtype=np.uint8)
            self.used, self.uploaded, self.size = 0, 0, CHUNK_BYTES
        begin, self.used = self.used, min(self.used + -(-size // ALIGNMENT) * ALIGNMENT, CHUNK_BYTES)
        return self.buffer[begin : begin + size], self.staged[begin : begin + size]

    def flush(self) -> None:
        """Upload what is new."""
        if self.is_staged and self.used > self.uploaded:
            self.device.assign(self.buffer[self.uploaded : self.used], self.staged[self.uploaded : self.used])
            self.uploaded = self.used


if TYPE_CHECKING:
    _conforms: type[Device] = Arena

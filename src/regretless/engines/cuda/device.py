"""A CUDA device as the engines use it: memory, compiled kernels, recorded launches.

`Device` is what an engine asks for. `cupy_device.py` provides it through CuPy; tests provide it on a CPU, with the same
engines and the same kernels (`tests/engines/cuda_host_device.py`). `open_device` opens one by its name.

`Arena` is a device on which many small tables become one upload. Inside `with arena:`, tables are collected on the host
and uploaded together at the end; outside, an arena does what its device does. It allocates memory in chunks; each table
begins at a multiple of 256 bytes, as every allocation of CUDA does. Collected tables go through a small staging buffer
that is reused, since the first use of new host memory costs more than filling it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from importlib import resources
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from regretless.engines.devices import require_cuda
from regretless.errors import Advice, MissingExtra
from regretless.forms.history import AnyArray

__all__ = ["IF_FULL", "ON_CPU", "Arena", "Array", "Buffer", "Device", "Launch", "Records", "kernel_text", "open_device"]

Array: TypeAlias = AnyArray
Records: TypeAlias = NDArray[np.void]  # of one of the types in `public/records.py`
Buffer: TypeAlias = Any  # an array on the device: of CuPy, which has no types; in tests of NumPy
Launch = Callable[..., None]  # (grid, threads, bytes of shared memory, *arguments)

ON_CPU = Advice("device", "cpu", "takes none of it")
IF_FULL = (Advice("storage", 16, "takes less than 32"), ON_CPU)

ALIGNMENT = 256
CHUNK_BYTES = 16 << 20
STAGED_BYTES = 2 << 20


class Device(Protocol):
    """What the engine needs of a device."""

    name: str
    shared_bytes: int  # that a block may have
    multiplies: bool  # whether its tensor cores have the instructions of `products.cu`

    def free_bytes(self) -> int: ...

    def zeros(self, count: int, dtype: np.dtype[np.generic]) -> Buffer: ...

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

    def compile(self, source: str, flags: tuple[str, ...], kernels: tuple[str, ...]) -> Mapping[str, Launch]:
        """The kernels of these names, compiled from the same source."""

    def record(self, run: Callable[[], None]) -> Callable[[], None]:
        """Launches that can be repeated together; `run` must have run before, which loads the kernels."""

    def wait(self) -> None:
        """Until everything launched is done."""


def kernel_text(*paths: str) -> str:
    """These files below the folder of this module, joined."""
    folder = resources.files("regretless.engines.cuda")
    return "\n".join(folder.joinpath(path).read_text(encoding="utf-8") for path in paths)


def open_device(name: str = "cuda", *, advice: Sequence[Advice] = ()) -> Device:
    """A CUDA device by its name; `advice` says what the user can do if its memory is full."""
    require_cuda()
    if find_spec("cupy") is None:
        raise MissingExtra("cupy", "gpu")
    from regretless.engines.cuda.cupy_device import CupyDevice

    return CupyDevice(name, advice=advice)


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

    def zeros(self, count: int, dtype: np.dtype[np.generic]) -> Buffer:
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
        offset = self.begin - self.uploaded
        self.staged[offset : offset + len(contents)] = contents

    def flush(self, end: int | None = None) -> None:
        """Upload what is new, up to `end`."""
        end = self.used if end is None else end
        if len(self.staged) and end > self.uploaded:
            self.device.assign(self.buffer[self.uploaded : end], self.staged[: end - self.uploaded])
            self.device.wait()  # before the staging buffer is filled again
            self.uploaded = end


if TYPE_CHECKING:
    _conforms: type[Device] = Arena

"""A CUDA device through CuPy. Every failure is raised as `DeviceFailed`, with one sentence."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeAlias, TypeVar

import cupy
import numpy as np

from regretless.engines.devices import cuda_number
from regretless.errors import Advice, DeviceFailed
from regretless.forms.history import AnyArray

__all__ = ["CupyDevice"]

Buffer: TypeAlias = Any  # `cupy.ndarray`, which has no types
Launch = Callable[..., None]  # as in `device.py`, which checks that `CupyDevice` is a `Device`

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

LARGE_BYTES = 1 << 30  # buffers from this size on bypass CuPy's memory pool
MULTIPLIES_SINCE = 80  # compute capability 8.0
OUT_OF_MEMORY = 2  # the status `cudaErrorMemoryAllocation`
FAILURES = (
    cupy.cuda.memory.OutOfMemoryError,
    cupy.cuda.runtime.CUDARuntimeError,
    cupy.cuda.driver.CUDADriverError,
    cupy.cuda.compiler.CompileException,
    cupy.cuda.nvrtc.NVRTCError,
)


def _reports_failure(work: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """The same work, whose failures are raised as `DeviceFailed` with one sentence."""

    @wraps(work)
    def reporting(*positional: Arguments.args, **named: Arguments.kwargs) -> Result:
        try:
            return work(*positional, **named)
        except FAILURES as error:
            raise DeviceFailed(f"the GPU failed: {_first_line(error)}") from error

    return reporting


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


class CupyDevice:
    """One CUDA device. `advice` says what the user can do if its memory is full."""

    @_reports_failure
    def __init__(self, name: str = "cuda", *, advice: Sequence[Advice] = ()) -> None:
        self.name, self._advice = name, advice
        self._device = cupy.cuda.Device(cuda_number(name))
        attributes = self._device.attributes
        self.shared_bytes = int(attributes["MaxSharedMemoryPerBlockOptin"])
        self.multiplies = int(self._device.compute_capability) >= MULTIPLIES_SINCE
        self._stream = cupy.cuda.Stream(non_blocking=True)

    @_reports_failure
    def free_bytes(self) -> int:
        with self._device:
            return int(cupy.cuda.runtime.memGetInfo()[0]) + int(cupy.get_default_memory_pool().free_bytes())

    @contextmanager
    def _allocating(self) -> Iterator[None]:
        """A context for work that allocates memory: running out of it raises `DeviceFailed`, which advises."""
        try:
            with self._device, self._stream:
                yield
        except (cupy.cuda.memory.OutOfMemoryError, cupy.cuda.runtime.CUDARuntimeError) as error:
            if getattr(error, "status", None) not in (None, OUT_OF_MEMORY):
                raise
            message = f"the GPU is out of memory ({_first_line(error).rstrip('.')})"
            raise DeviceFailed(message, advice=self._advice) from error

    @_reports_failure
    def zeros(self, count: int, dtype: np.dtype[np.generic]) -> Buffer:
        kind = dtype if dtype.kind != "V" else np.dtype(np.uint8)
        size = count * dtype.itemsize
        with self._allocating():
            if size < LARGE_BYTES:
                return cupy.zeros(size // kind.itemsize, dtype=kind)
            # CuPy's pool keeps what was freed and cuts small buffers from it, so the next large one might not fit.
            cupy.get_default_memory_pool().free_all_blocks()
            with cupy.cuda.using_allocator():  # the driver itself
                return cupy.zeros(size // kind.itemsize, dtype=kind)

    @_reports_failure
    def clear(self, buffer: Buffer) -> None:
        with self._device, self._stream:
            buffer.fill(0)

    @_reports_failure
    def upload(self, array: AnyArray) -> Buffer:
        with self._allocating():
            whole = np.ascontiguousarray(array)
            return cupy.asarray(whole.view(np.uint8) if whole.dtype.kind == "V" else whole)

    def once(self, key: Hashable, make: Callable[[], AnyArray]) -> Buffer:
        return self.upload(make())

    @_reports_failure
    def assign(self, target: Buffer, array: AnyArray) -> None:
        with self._allocating():
            whole = np.ascontiguousarray(array)
            whole = whole.view(np.uint8) if whole.dtype.kind == "V" else whole
            if target.flags.c_contiguous and (target.shape, target.dtype) == (whole.shape, whole.dtype):
                target.set(whole, stream=self._stream)  # just a copy; below, a kernel runs as well
            else:
                target[...] = cupy.asarray(whole)

    @_reports_failure
    def copy(self, target: Buffer, source: Buffer) -> None:
        with self._device, self._stream:
            target[...] = source

    @_reports_failure
    def download(self, buffer: Buffer) -> AnyArray:
        with self._device, self._stream:
            return np.asarray(cupy.asnumpy(buffer, stream=self._stream))

    def address(self, buffer: Buffer) -> int:
        return int(buffer.data.ptr)

    @_reports_failure
    def compile(self, source: str, flags: tuple[str, ...], kernels: tuple[str, ...]) -> dict[str, Launch]:
        with self._device:
            module = cupy.RawModule(code=source, options=("-std=c++17", "-ftz=true", "-prec-div=false", *flags))
            return {name: self._launch(module.get_function(name)) for name in kernels}

    def _launch(self, function: Any) -> Launch:
        function.max_dynamic_shared_size_bytes = self.shared_bytes - function.shared_size_bytes

        @_reports_failure
        def launch(grid: tuple[int, ...], threads: int, shared: int, *arguments: object) -> None:
            with self._device:
                function(grid, (threads,), arguments, shared_mem=shared, stream=self._stream)

        return launch

    @_reports_failure
    def record(self, run: Callable[[], None]) -> Callable[[], None]:
        with self._device, self._stream:
            self._stream.begin_capture()
            run()
            graph = self._stream.end_capture()

        @_reports_failure
        def repeat() -> None:
            with self._device:
                graph.launch(self._stream)

        return repeat

    @_reports_failure
    def wait(self) -> None:
        self._stream.synchronize()

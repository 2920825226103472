"""Memory of a CUDA device through CuPy: where large buffers come from, and what a full device says."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from regretless.errors import Advice, DeviceFailed

MODULE = "regretless.engines.cuda.cupy_device"
FLOAT = np.dtype(np.float32)


class FromDriver(Exception):
    """A failure of the driver, as CuPy raises it."""

    def __init__(self, said: str, status: int) -> None:
        super().__init__(said)
        self.status = status


class FullPool(MemoryError):
    """What CuPy's pool raises."""


class Context(nullcontext[None]):
    """A device or a stream."""

    attributes = MappingProxyType({"MaxSharedMemoryPerBlockOptin": 1 << 17})
    compute_capability = "90"


class Cupy:
    """Stands in for the module: it counts what comes from the pool and what from the driver."""

    def __init__(self) -> None:
        self.pooled: list[int] = []
        self.unpooled: list[int] = []
        self.calls: list[str] = []
        self.failure: Exception | None = None
        self._pools = True
        self.cuda = SimpleNamespace(
            runtime=SimpleNamespace(CUDARuntimeError=FromDriver),
            memory=SimpleNamespace(OutOfMemoryError=FullPool),
            driver=SimpleNamespace(CUDADriverError=ZeroDivisionError),  # and others that are not raised here
            compiler=SimpleNamespace(CompileException=ZeroDivisionError),
            nvrtc=SimpleNamespace(NVRTCError=ZeroDivisionError),
            Device=lambda number: Context(),
            Stream=lambda **_: Context(),
            using_allocator=self._using_allocator,
        )

    @contextmanager
    def _using_allocator(self) -> Iterator[None]:
        self._pools = False
        yield
        self._pools = True

    def get_default_memory_pool(self) -> Any:
        return SimpleNamespace(free_all_blocks=lambda: self.calls.append("free_all_blocks"))

    def zeros(self, count: int, dtype: np.dtype[Any]) -> np.ndarray:
        if self.failure is not None:
            raise self.failure
        (self.pooled if self._pools else self.unpooled).append(count * dtype.itemsize)
        return np.zeros(count, dtype=dtype)


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cupy]:
    found = Cupy()
    monkeypatch.setitem(sys.modules, "cupy", found)  # type: ignore[arg-type]
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    yield found
    sys.modules.pop(MODULE, None)  # which knows this one


def test_large_buffers_do_not_come_from_the_pool(cupy: Cupy, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool would cut small buffers from one that was freed, and the next large one would need as much again."""
    module = import_module(MODULE)
    monkeypatch.setattr(module, "LARGE_BYTES", 4000)
    device = module.CupyDevice()
    assert device.zeros(10, FLOAT).tolist() == [0.0] * 10
    assert cupy.calls == []
    assert len(device.zeros(1000, FLOAT)) == 1000
    assert len(device.zeros(10, np.dtype([("a", np.int32), ("b", np.int64)], align=True))) == 160
    assert (cupy.pooled, cupy.unpooled, cupy.calls) == ([40, 160], [4000], ["free_all_blocks"])


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (FullPool("Out of memory allocating 9 bytes."), "the GPU is out of memory (Out of memory allocating 9 bytes)"),
        (
            FromDriver("cudaErrorMemoryAllocation: out of memory", 2),
            "the GPU is out of memory (cudaErrorMemoryAllocation: ",
        ),
        (FromDriver("cudaErrorIllegalAddress", 700), "the GPU failed: cudaErrorIllegalAddress"),
    ],
)
def test_a_full_device_says_what_its_user_can_do(cupy: Cupy, failure: Exception, said: str) -> None:
    module = import_module(MODULE)
    cupy.failure = failure
    is_full = "out of memory" in said
    for what, advised in (
        ({}, ""),
        ({"advice": [Advice("device", "cpu", "takes none of it")]}, ": device='cpu' takes none of it"),
    ):
        with pytest.raises(DeviceFailed) as caught:
            module.CupyDevice(**what).zeros(10, FLOAT)
        assert str(caught.value).startswith(said)
        assert ("device='cpu'" in str(caught.value)) == (bool(what) and is_full)
        assert str(caught.value).endswith(advised if is_full else said)
        assert ("device: cpu" in caught.value.worded(lambda advice: f"{advice.setting}: {advice.value}")) == (
            "advice" in what and is_full
        )


@pytest.mark.gpu
def test_a_large_buffer_goes_back_to_the_driver() -> None:
    pytest.importorskip("cupy")
    module = import_module(MODULE)
    device = module.CupyDevice()
    small = device.zeros(1000, FLOAT)
    before = device.free_bytes()
    large = device.zeros(module.LARGE_BYTES // 4, FLOAT)
    assert device.free_bytes() <= before - module.LARGE_BYTES
    device.clear(large[:10])
    assert not device.download(large[-10:]).any()
    del large
    others = device.zeros(1000, FLOAT)
    assert device.free_bytes() >= before - (64 << 20)
    assert small.size == others.size


@pytest.mark.gpu
def test_a_full_gpu() -> None:
    pytest.importorskip("cupy")
    device = import_module(MODULE).CupyDevice(advice=[Advice("device", "cpu", "helps")])
    with pytest.raises(DeviceFailed, match=r"^the GPU is out of memory \(.*\): device='cpu' helps$"):
        device.zeros(1 << 50, FLOAT)


@pytest.mark.parametrize(("capability", "multiplies"), [("75", False), ("80", True), ("120", True)])
def test_old_devices_do_not_multiply(
    cupy: Cupy, monkeypatch: pytest.MonkeyPatch, capability: str, multiplies: bool
) -> None:
    monkeypatch.setattr(Context, "compute_capability", capability)
    assert import_module(MODULE).CupyDevice().multiplies is multiplies

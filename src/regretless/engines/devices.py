"""Whether there is a CUDA device, how many cores there are, and how large a game must be for them to pay off.

`size` counts what an iteration touches: payoff entries and sequences of all players. Microseconds per iteration of
alternating CFR+, measured on an NVIDIA H200 and the 16 cores of its host; GPU engines in float32, numba in float64 on
the fastest number of threads:

    game                        size     numba    CuPy    PyTorch with a graph
    kuhn                          86       0.9     4.1       106
    leduc                     12,026        11      14       186
    leduc, 4 ranks            32,322        19      22
    leduc, 5 ranks            67,962        33      26
    leduc, 7 ranks           202,554        69      29
    liar's dice, 6 sides     343,982       196      39       393
    goofspiel, 6 cards     1,061,294       357      34       366
    leduc, 13 ranks        1,423,866       300      41       307
    battleship 3×2         1,358,870     1,331      42     1,201
    goofspiel, 7 cards    48,903,716    34,433     223     3,603

CuPy overtakes numba at a size of about 50,000, PyTorch at about 1,000,000. A solve also starts CUDA and compiles
kernels, which takes one to five seconds; from the limits below, some ten thousand iterations make up for that.

In the public form, `entries` (actions × hands over all decisions) say what an iteration touches. Milliseconds per
iteration in 32 bits on the same machine, numba on 16 threads:

    spot                     entries     numba    CuPy
    river_wide                47,564      0.08    0.14
    turn_example           1,359,513      0.49    0.15
    flop_3bet            155,952,394        34     3.4

A turn would gain a tenth of a second in a solve of a few hundred iterations, less than starting CUDA takes; from
`PUBLIC_GPU_FROM` on, even sixteen cores take longer than that.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import threading
from contextlib import suppress
from functools import cache
from typing import Any

from regretless.errors import InvalidOption
from regretless.forms.history import HistoryForm
from regretless.forms.public_size import PublicSize
from regretless.forms.sequence import SequenceForm

__all__ = [
    "GPU_FROM",
    "PUBLIC_GPU_FROM",
    "available_cores",
    "cuda_devices",
    "cuda_free_bytes",
    "cuda_number",
    "device_type",
    "game_size",
    "has_mps",
    "require_cuda",
    "start_cuda",
]

ENTRIES_PER_CORE = 40_000  # of a public form: an iteration takes 2 ns per entry, sharing it 20 µs
GPU_FROM = {"cuda": 200_000, "torch": 1_000_000}  # smallest size worth a GPU, fastest library first
PUBLIC_GPU_FROM = {"cuda": 10_000_000}  # the same for the public form, in entries


@cache
def _driver() -> Any:
    """The driver's library; None if there is none."""
    with suppress(OSError):
        return ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    return None


@cache
def cuda_devices() -> int:
    """Number of CUDA devices, from the driver itself: importing a library to find out would take seconds."""
    driver = _driver()
    if driver is None:
        return 0
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value


def start_cuda() -> None:
    """Start CUDA on the first device, which takes 0.2 s, without waiting for it."""
    threading.Thread(target=_context, daemon=True).start()


def cuda_free_bytes(device: str = "cuda") -> int:
    """Free memory of a CUDA device, including what CuPy keeps for reuse; starts CUDA there."""
    number = cuda_number(device)
    driver, context = _driver(), _context(number)
    if context is None or driver.cuCtxPushCurrent_v2(context) != 0:
        return 0
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    driver.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
    driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
    if "cupy" not in sys.modules:
        return free.value
    cupy = sys.modules["cupy"]
    with cupy.cuda.Device(number):
        return free.value + int(cupy.get_default_memory_pool().free_bytes())


def cuda_number(device: str) -> int:
    """The number of a CUDA device.

    >>> cuda_number("cuda"), cuda_number("cuda:1")
    (0, 1)
    """
    return int(device.partition(":")[2] or 0)


def _context(number: int = 0) -> ctypes.c_void_p | None:
    """The context of a CUDA device that CuPy and PyTorch use too; None if there is none."""
    driver = _driver()
    device, context = ctypes.c_int(), ctypes.c_void_p()
    started = (
        driver is not None
        and driver.cuInit(0) == 0
        and driver.cuDeviceGet(ctypes.byref(device), number) == 0
        and driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
    )
    return context if started else None


def available_cores() -> int:
    """Processor cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        return os.cpu_count() or 1


def thread_limit(threads: int | None = None) -> int:
    """Threads that may be used: as many as cores, or fewer if fewer are requested; a request is a maximum.

    >>> thread_limit(1), thread_limit(9999) == thread_limit() == available_cores()
    (1, True)
    """
    if threads is None:
        return available_cores()
    if type(threads) is not int or threads < 1:
        raise InvalidOption("threads", threads, "must be at least 1")
    return min(threads, available_cores())


def useful_cores(size: PublicSize) -> int:
    """Cores that shorten the solve of a public form: for one street or a small tree, 1."""
    return max(1, min(available_cores(), size.entries // ENTRIES_PER_CORE)) if len(size.runouts) > 1 else 1


def require_cuda(device: str = "cuda") -> None:
    """Raise `InvalidOption` if there is no such CUDA device."""
    count = cuda_devices()
    if not count:
        raise InvalidOption("device", device, "is not available: the NVIDIA driver finds no device on this machine")
    if cuda_number(device) >= count:
        raise InvalidOption("device", device, f"is not available: the last CUDA device is cuda:{count - 1}")


def device_type(device: str) -> str:
    """A device without its number.

    >>> device_type("cuda:1"), device_type("cpu"), device_type("cuda:one")
    ('cuda', 'cpu', 'cuda:one')
    """
    kind, _, number = device.partition(":")
    return kind if kind == "cuda" and number.isdecimal() else device


def has_mps() -> bool:
    """Whether this is a Mac with a GPU for PyTorch: importing it to find out would take seconds."""
    return sys.platform == "darwin" and platform.machine() == "arm64"


def game_size(form: HistoryForm | SequenceForm) -> int:
    """Payoff entries and sequences of all players: what an iteration touches."""
    if isinstance(form, SequenceForm):
        return sum(len(matrix.value) for matrix in form.payoff) + sum(len(tree.pair) for tree in form.trees)
    return form.players * len(form.terminal) + int(form.first_pair[-1]) + form.players

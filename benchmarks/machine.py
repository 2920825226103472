"""The machine of a benchmark: its description, and how many bytes per second it copies.

No iteration of a large form is faster than copying the bytes that it must move.
"""

from __future__ import annotations

import contextlib
import os
import platform
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

__all__ = ["copy_bandwidth", "hardware"]

ROUNDS = 5


def hardware() -> dict[str, str | int | None]:
    """A description of this machine for benchmark results."""
    model = platform.processor()
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def copy_bandwidth(device: str = "cpu", *, threads: int = 1, numbers: int = 1 << 26) -> float:
    """Bytes per second, read and written, of a copy between two arrays of `numbers` 32-bit numbers: best of five."""
    return _on_gpu(numbers) if device == "cuda" else _on_cores(threads, numbers)


def _on_cores(threads: int, numbers: int) -> float:
    source, target = np.ones(numbers, dtype=np.float32), np.zeros(numbers, dtype=np.float32)
    pieces = list(zip(np.array_split(target, threads), np.array_split(source, threads), strict=True))
    best = 0.0
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(ROUNDS):
            began = time.perf_counter()
            list(pool.map(lambda piece: np.copyto(*piece), pieces))
            best = max(best, 2 * source.nbytes / (time.perf_counter() - began))
    return best


def _on_gpu(numbers: int) -> float:
    import cupy

    source, target = cupy.ones(numbers, dtype=np.float32), cupy.zeros(numbers, dtype=np.float32)
    best = 0.0
    for _ in range(ROUNDS):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        target[:] = source
        end.record()
        end.synchronize()
        best = max(best, 2 * source.nbytes / (cupy.cuda.get_elapsed_time(start, end) / 1e3))
    return best

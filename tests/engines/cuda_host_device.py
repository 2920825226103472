"""CUDA kernels on a CPU: every CUDA thread is a fiber (`public_on_host.cpp`, `bucketed_on_host.cpp`)."""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
import tempfile
from collections.abc import Callable, Hashable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
# Kernels that work with any number of threads, and how many fibers they get: few are faster.
ANY_THREADS = {"make_lists": 64, "make_codes": 64, "terminals": 64, "products": 64} | dict.fromkeys(
    ("reach_lines", "enter_street", "leave_street", "sum_runouts", "sum_buckets", "learn_lines"), 3
)


@cache
def _library(source: str, flags: tuple[str, ...], host: str) -> ctypes.CDLL:
    """The compiled kernels, kept beside this file, by what they are compiled from, for other processes and runs."""
    # -fno-gnu-unique: libraries compiled with other flags must not share static variables, which differ in type.
    alone = ("-U_FORTIFY_SOURCE", "-fno-gnu-unique")
    command = ["g++", "-std=c++20", "-Og", "-w", "-shared", "-fPIC", *alone, *flags, f"-I{HERE}"]
    texts = [
        source,
        *command,
        *((HERE / name).read_text(encoding="utf-8") for name in (host, "blocks.hpp", "fibers.hpp")),
    ]
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    library = HERE / "__pycache__" / f"kernels-{digest[:16]}.so"
    if not library.exists():
        library.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=library.parent) as folder:
            kernels, compiled = Path(folder) / "kernels.cu", Path(folder) / library.name
            kernels.write_text(source, encoding="utf-8")
            command += [f'-DKERNELS="{kernels}"', str(HERE / host), "-o", str(compiled)]
            subprocess.run(command, check=True, timeout=300)
            compiled.replace(library)  # whole, also for a process that looks for it right now
    return ctypes.CDLL(str(library))


class HostDevice:
    """Stands in for a CUDA device."""

    name = "cuda"

    def __init__(
        self, *, shared_bytes: int = 227 * 1024, multiplies: bool = True, host: str = "public_on_host.cpp"
    ) -> None:
        self.shared_bytes, self.multiplies, self.host = shared_bytes, multiplies, host

    def free_bytes(self) -> int:
        return 1 << 33

    def zeros(self, count: int, dtype: np.dtype[Any]) -> np.ndarray:
        return np.zeros(count, dtype=dtype)

    def clear(self, buffer: np.ndarray) -> None:
        buffer.fill(0)

    def upload(self, array: np.ndarray) -> np.ndarray:
        return np.array(array, order="C")

    def once(self, key: Hashable, make: Callable[[], np.ndarray]) -> np.ndarray:
        return self.upload(make())

    def assign(self, target: np.ndarray, array: np.ndarray) -> None:
        target[...] = array

    def copy(self, target: np.ndarray, source: np.ndarray) -> None:
        target[...] = source

    def download(self, buffer: np.ndarray) -> np.ndarray:
        return buffer.copy()

    def address(self, buffer: np.ndarray) -> int:
        return buffer.ctypes.data

    def compile(
        self, source: str, flags: tuple[str, ...], kernels: tuple[str, ...] = ()
    ) -> dict[str, Callable[..., None]]:
        library = _library(source, flags, self.host)
        library.run.restype = ctypes.c_bool

        class Kernels(dict):
            def __missing__(self, name: str) -> Callable[..., None]:
                def launch(grid: tuple[int, ...], threads: int, shared: int, *arguments: Any) -> None:
                    held = [
                        ctypes.c_int(int(argument))
                        if isinstance(argument, np.integer)
                        else ctypes.c_void_p(argument.ctypes.data)
                        for argument in arguments
                    ]
                    pointers = (ctypes.c_void_p * len(held))(*(ctypes.addressof(each) for each in held))
                    across, down = (*grid, 1)[:2]
                    assert across * down > 0, f"{name} is launched without blocks: CuPy would launch one"
                    threads = min(threads, ANY_THREADS.get(name, threads))
                    given = name.encode(), across, down, threads, ctypes.c_size_t(shared), pointers
                    assert library.run(*given), f"{name} writes beyond its shared memory"

                return launch

        return Kernels()

    def record(self, run: Callable[[], None]) -> Callable[[], None]:
        return run

    def wait(self) -> None:
        pass

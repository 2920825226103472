"""Seconds per iteration on three reference spots, with the machine and its memory bandwidth.

python benchmarks/postflop.py [--spots river_wide,turn_example,flop_3bet] [--threads 1,2] [--storage 32,16]
    [--iterations 20]

Bandwidth is measured by a ← 0.9·a + b over arrays far larger than any cache (two reads and a write per number), the
access pattern of a regret update; an iteration of a flop moves at least 20 bytes per entry, 10 with 16-bit storage.
Memory is given without and with the threads' working buffers.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import numba as nb
import numpy as np

from regretless.engines.public.compiled.engine import CompiledPublicEngine
from regretless.holdem import Spot, compile_spot
from regretless.variants import PRESETS, schedule

SPOTS = Path(__file__).parent.parent / "tests" / "data"
RIVAL = {  # postflop-solver, seconds per iteration on one and two threads of a similar machine, best of its range
    "river_wide": {1: 0.00021, 2: 0.00021},
    "turn_example": {1: 0.0087, 2: 0.006},
    "flop_3bet": {1: 0.94, 2: 0.46},
}
BATCH = {"river_wide": 200, "turn_example": 10, "flop_3bet": 1}


@nb.njit(fastmath=True, nogil=True)
def stream(a: np.ndarray, b: np.ndarray) -> None:
    for index in range(a.size):
        a[index] = np.float32(0.9) * a[index] + b[index]


def bandwidth(threads: int, numbers: int = 60_000_000) -> float:
    """Bytes per second, best of five."""
    a, b = np.ones(numbers, dtype=np.float32), np.ones(numbers, dtype=np.float32)
    stream(a[:16], b[:16])
    pieces = list(zip(np.array_split(a, threads), np.array_split(b, threads), strict=True))
    best = 0.0
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(5):
            began = time.perf_counter()
            list(pool.map(lambda piece: stream(*piece), pieces))
            best = max(best, 12 * numbers / (time.perf_counter() - began))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spots", default="river_wide,turn_example,flop_3bet")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--storage", default="32,16")
    parser.add_argument("--iterations", type=int, default=20)
    options = parser.parse_args()
    counts = [int(count) for count in options.threads.split(",")]
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for threads in counts:
        print(f"memory bandwidth, {threads} thread(s): {bandwidth(threads) / 1e9:.1f} GB/s")
    print(f"{'spot':14} threads bits {'mean ms':>9} {'median':>9} {'best':>9} rival/mean {'kept MB':>9} {'all MB':>9}")
    for name in options.spots.split(","):
        form = compile_spot(Spot.read(SPOTS / f"{name}.toml"))
        for threads, bits in product(counts, [int(bits) for bits in options.storage.split(",")]):
            engine = CompiledPublicEngine(form, threads=threads, storage=bits)
            engine.advance(schedule(PRESETS["postflop"], 1, 2))
            seconds = []
            for _ in range(options.iterations):
                rows = schedule(PRESETS["postflop"], engine.iteration + 1, BATCH.get(name, 1))
                began = time.perf_counter()
                engine.advance(rows)
                seconds.append((time.perf_counter() - began) / len(rows))
            mean, median, best = (float(f(seconds)) * 1e3 for f in (np.mean, np.median, np.min))
            ratio = RIVAL[name][min(threads, 2)] * 1e3 / mean if name in RIVAL else float("nan")
            kept, memory = engine.kept_bytes / 1e6, engine.memory_bytes / 1e6
            print(
                f"{name:14} {threads:7} {bits:4} {mean:9.3f} {median:9.3f} {best:9.3f} {ratio:10.2f}"
                f" {kept:9.2f} {memory:9.2f}"
            )
            del engine


if __name__ == "__main__":
    main()

"""Milliseconds per iteration of the reference spots on several numbers of threads, and to the answer of a small one.

python benchmarks/postflop.py [--spots turn_example,flop_3bet] [--threads 1,2,4] [--storage 32,16] [--rounds 20]
    [--out FILE]

The engines of a spot, one for each number of threads, take turns, so other load on the machine affects all of them; a
number that the spot cannot use is left out. A round lasts about a tenth of a second. `cores` is CPU time over elapsed
time: if it is below the number of threads, they waited or other processes took their cores. The columns are medians
over rounds and the best round, each with its ratio to the first number of threads.

`signal` is how many nanoseconds a signal takes from one thread to another and back, the median over rounds: about 70 if
their cores share a cache, several hundred if not, as on machines with several groups of cores. A virtual machine may be
moved from one to the other at any time.

Bandwidth is measured by a ← 0.9·a + b over arrays far larger than any cache (two reads and a write per number), the
access pattern of a regret update; an iteration of a flop moves at least 20 bytes per entry, 10 with 16-bit storage.
Memory is given without and with the threads' working buffers. `river_narrow` is also solved to 0.1 % of the pot.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba as nb
import numpy as np

import regretless as rl
from regretless.engines.numba.public.engine import NumbaPublicEngine
from regretless.engines.numba.public.kernels.processor import atomic_load, atomic_store
from regretless.holdem import Spot, compile_spot
from regretless.variants import PRESETS, schedule

DATA = Path(__file__).parent.parent / "tests" / "data"
SPOTS = ("river_narrow", "river_rake", "river_wide", "turn_paired_donk", "turn_example", "flop_3bet")
RIVAL = {  # postflop-solver, milliseconds per iteration on one and two threads of a similar machine, best of its range
    "river_wide": (0.21, 0.21),
    "turn_example": (8.7, 6.0),
    "flop_3bet": (940, 460),
}
ROUND_SECONDS = 0.1
TARGET = 0.1  # percent of the pot, for a small spot


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


@nb.njit(nogil=True)
def answer(signal: np.ndarray, first: int, rounds: int) -> None:
    """Wait for every other number, from `first` on, and answer with the next."""
    for awaited in range(first, first + 2 * rounds, 2):
        while atomic_load(signal, 0) != awaited:
            pass
        atomic_store(signal, 0, awaited + 1)


def signal_nanoseconds(rounds: int = 20_000) -> float:
    """From one thread to another and back."""
    signal = np.zeros(8, dtype=np.int64)
    with ThreadPoolExecutor(2) as pool:
        for count in (1, rounds):  # once to start the threads
            signal[0] = 0
            began = time.perf_counter()
            list(pool.map(lambda first, count=count: answer(signal, first, count), (0, 1)))
    return 1e9 * (time.perf_counter() - began) / rounds


def processor() -> str:
    """Its name, where the system tells it."""
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    return told.partition("model name\t: ")[2].partition("\n")[0] or platform.machine()


def advance(engine: NumbaPublicEngine, iterations: int) -> tuple[float, float]:
    """Elapsed and CPU milliseconds per iteration."""
    rows = schedule(PRESETS["postflop"], engine.iteration + 1, iterations)
    cpu, began = time.process_time(), time.perf_counter()
    engine.advance(rows)
    elapsed, used = time.perf_counter() - began, time.process_time() - cpu
    return 1e3 * elapsed / iterations, 1e3 * used / iterations


def measure(name: str, counts: list[int], bits: int, rounds: int) -> list[dict[str, object]]:
    """A row per number of threads."""
    form = compile_spot(Spot.read(DATA / f"{name}.toml"))
    engines: dict[int, NumbaPublicEngine] = {}
    for threads in counts:
        if not engines or len(form.streets) > 1:
            engine = NumbaPublicEngine(form, threads=threads, storage=bits)
            engines[engine.threads] = engine
    taken: dict[int, list[tuple[float, float]]] = {threads: [] for threads in engines}
    batch = {}
    for threads, engine in engines.items():
        advance(engine, 1)
        batch[threads] = max(1, int(1e3 * ROUND_SECONDS / advance(engine, 2)[0]))
    signals = []
    for _ in range(rounds):
        signals.append(signal_nanoseconds() if max(engines) > 1 else 0.0)
        for threads, engine in engines.items():
            taken[threads].append(advance(engine, batch[threads]))
    return [
        {
            "spot": name,
            "threads": threads,
            "bits": bits,
            "milliseconds": [elapsed for elapsed, _ in taken[threads]],
            "cpu_milliseconds": [used for _, used in taken[threads]],
            "signal_nanoseconds": signals,
            "kept": engine.kept_bytes,
            "memory": engine.memory_bytes,
        }
        for threads, engine in engines.items()
    ]


def line(row: dict[str, object], alone: dict[str, object]) -> str:
    elapsed, used, single = (
        np.array(each) for each in (row["milliseconds"], row["cpu_milliseconds"], alone["milliseconds"])
    )
    median, best = float(np.median(elapsed)), float(elapsed.min())
    gains = f"{np.median(single) / median:6.2f}", f"{single.min() / best:6.2f}"
    rivals, threads = RIVAL.get(str(row["spot"]), ()), int(str(row["threads"]))
    rival = f"{rivals[threads - 1] / median:6.2f}" if threads <= len(rivals) else " " * 6
    memory = " ".join(f"{float(str(row[key])) / 1e6:9.2f}" for key in ("kept", "memory"))
    signal = f"{np.median(np.array(row['signal_nanoseconds'])):6.0f}" if threads > 1 else " " * 6
    cores = f"{np.median(used / elapsed):6.2f}"
    figures = f"{median:9.4f} {gains[0]} {best:9.4f} {gains[1]} {cores} {signal} {rival} {memory}"
    return f"{row['spot']:17} {threads:7} {row['bits']:4} {figures}"


def solve_small(name: str, rounds: int) -> list[float]:
    """Milliseconds of solving to `TARGET`, after set-up, each time."""
    spot = Spot.read(DATA / f"{name}.toml")
    return [1e3 * rl.solve(spot, target=TARGET).seconds for _ in range(rounds)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--spots", default=",".join(SPOTS))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--storage", default="32")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--out", type=Path, help="write every round to this file, as JSON")
    options = parser.parse_args()
    counts, widths = ([int(each) for each in text.split(",")] for text in (options.threads, options.storage))
    machine = {"machine": processor(), "cores": os.cpu_count()}
    streams = {threads: bandwidth(threads) for threads in counts}
    print(f"{machine['machine']}, {machine['cores']} cores, load {os.getloadavg()[0]:.1f}")
    for threads, speed in streams.items():
        print(f"memory bandwidth, {threads} thread(s): {speed / 1e9:.1f} GB/s")
    print(
        f"{'spot':17} threads bits {'median ms':>9} {'gain':>6} {'best ms':>9} {'gain':>6} {'cores':>6} {'signal':>6}"
        f" {'rival':>6} {'kept MB':>9} {'all MB':>9}",
        flush=True,
    )
    rows = []
    for name in options.spots.split(","):
        for bits in widths:
            found = measure(name, counts, bits, options.rounds)
            for row in found:
                print(line(row, found[0]), flush=True)
            rows += found
    small = solve_small("river_narrow", 4 * options.rounds)
    print(f"river_narrow to {TARGET} % of the pot: {np.median(small):.2f} ms, best {min(small):.2f}")
    if options.out is not None:
        kept = machine | {"bandwidth": streams, "rows": rows, "river_narrow_to_target": small}
        options.out.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Seconds per iteration of two versions of the source, in alternating runs.

git worktree add --detach ../before COMMIT
python benchmarks/two_versions.py ../before/src src [--spots turn_example,flop_3bet] [--threads 1,2] [--rounds 15]

Each version runs in a process of its own that sets a spot up once; then they take turns, a batch of iterations each, so
whatever else the machine does falls on both. Compared are the medians, and the best, which a busy machine moves less. A
spot is the name of one in tests/data or benchmarks/spots, or a path.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from itertools import product
from pathlib import Path

DATA = Path(__file__).parent.parent / "tests" / "data"
OTHER = Path(__file__).parent / "spots"
SPOTS = ("river_wide", "turn_example", "turn_paired_donk", "turn_monotone", "flop_3bet")

WORKER = """
import sys, time
from regretless.engines.public.compiled.engine import PublicEngine
from regretless.holdem import Spot, compile_spot
from regretless.variants import Discounted, schedule

spot = Spot.read(sys.argv[1])
engine = PublicEngine(compile_spot(spot), threads=int(sys.argv[2]), storage=int(sys.argv[3]))
batch = {5: 200, 4: 10, 3: 1}[len(spot.board)]
engine.advance(schedule(Discounted(), 1, 3))
print("ready", flush=True)
for _ in sys.stdin:
    rows = schedule(Discounted(), engine.iteration + 1, batch)
    began = time.perf_counter()
    engine.advance(rows)
    print((time.perf_counter() - began) / batch, flush=True)
"""


def find_spot(name: str) -> Path:
    return next((path for path in (DATA / f"{name}.toml", OTHER / f"{name}.toml") if path.exists()), Path(name))


def start(source: Path, spot: Path, threads: int, bits: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(spot.resolve()), str(threads), str(bits)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(source.resolve())},
    )


def ask(worker: subprocess.Popen[str]) -> float:
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write("go\n")
    worker.stdin.flush()
    return float(worker.stdout.readline())


def compare(sources: list[Path], spot: Path, threads: int, bits: int, rounds: int) -> list[list[float]]:
    """The seconds of each version, round by round."""
    workers = [start(source, spot, threads, bits) for source in sources]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    taken: list[list[float]] = [[], []]
    for turn in range(rounds + 1):
        for which in (0, 1) if turn % 2 else (1, 0):
            taken[which].append(ask(workers[which]))
    for worker in workers:
        worker.kill()
        worker.wait()
    return [seconds[1:] for seconds in taken]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--spots", type=lambda text: text.split(","), default=list(SPOTS))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--storage", default="32,16")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    counts, widths = ([int(each) for each in text.split(",")] for text in (options.threads, options.storage))
    print(f"{'spot':18} threads bits {'before, ms':>11} {'after, ms':>11}  after / before: median, best")
    for name, threads, bits in product(options.spots, counts, widths):
        taken = compare([options.before, options.after], find_spot(name), threads, bits, options.rounds)
        (before, after), (least, now) = ([f(seconds) for seconds in taken] for f in (statistics.median, min))
        numbers = f"{before * 1e3:11.4f} {after * 1e3:11.4f}  {after / before:8.3f} {now / least:8.3f}"
        print(f"{name:18} {threads:7} {bits:4} {numbers}", flush=True)


if __name__ == "__main__":
    main()

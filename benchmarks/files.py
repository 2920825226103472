"""How long it takes to read a node from a gigabyte file of a solved flop.

python benchmarks/files.py [--spot tests/data/flop_3bet.toml] [--iterations 2] [--nodes 100] [--file flop.rgl]

The spot is solved for a few iterations and saved with its regrets, which make the file large; the strategies of a
short solve take as many bytes as those of a long one. Each time is from opening the file to having the node's numbers:

    first       in a new process, not counting imports: what a user waits for at first
    disk        the same, after the operating system dropped the file from its cache
    again       in this process, reopened each time: what a page that shows node after node costs
    command     the whole `regretless show FILE --node …`, including Python's startup and imports
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from regretless.holdem import Spot, SpotSolution, solve_spot
from regretless.holdem.reading.spot_reader import SpotReader

SPOT = Path(__file__).parent.parent / "tests" / "data" / "flop_3bet.toml"
LIMIT = 0.2  # seconds
ONE_NODE = """
import sys, time
from regretless import load
began = time.perf_counter()
load(sys.argv[1]).node(sys.argv[2])
print(time.perf_counter() - began)
"""


def forget(path: Path) -> None:
    """Ask the operating system to drop the file from its cache, so that it is read from disk."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def first_look(path: Path, line: str) -> float:
    command = [sys.executable, "-c", ONE_NODE, str(path), line]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def look_again(path: Path, line: str) -> float:
    began = time.perf_counter()
    SpotSolution.load(path).node(line)
    return time.perf_counter() - began


def whole_command(path: Path, line: str) -> float:
    command = [sys.executable, "-m", "regretless", "show", str(path), "--node", line]
    began = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return time.perf_counter() - began


def random_line(reader: SpotReader, street: int, draw: random.Random) -> str:
    """A line to a node of that street, found by playing a hand at random."""
    while True:
        passed = [reader.root]
        while children := list(reader.children(passed[-1])):
            passed.append(draw.choice(children))
        there = [place for place in passed if place.deal.street == street]
        if there:
            return ", ".join(draw.choice(there).steps)


def compare(path: Path, nodes: int) -> None:
    reader = SpotSolution.load(path).reader
    draw = random.Random(0)
    streets = ("flop", "turn", "river")[3 - len(reader.form.streets) :]
    chosen = {street: random_line(reader, place, draw) for place, street in enumerate(streets)}
    print(f"{'':8}{'first':>9}{'disk':>9}{'again':>9}{'command':>9}   seconds, best of 3")
    slowest = 0.0
    for street, line in {"root": "", **chosen}.items():
        best = []
        for look in (first_look, None, look_again, whole_command):
            seconds = []
            for _ in range(3):
                if look is None:
                    forget(path)
                seconds.append((look or first_look)(path, line))
            best.append(min(seconds))
        slowest = max(slowest, *best[:3])
        print(f"{street:8}" + "".join(f"{each:9.3f}" for each in best) + f"   {line}")
    for place, street in enumerate(streets):
        seconds = [look_again(path, random_line(reader, place, draw)) for _ in range(nodes)]
        slowest = max(slowest, *seconds)
        print(f"{nodes} nodes of the {street}: mean {statistics.mean(seconds):.3f} s, slowest {max(seconds):.3f} s")
    print(f"slowest overall {slowest:.3f} s; the limit is {LIMIT} s")
    if slowest > LIMIT:
        sys.exit(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spot", type=Path, default=SPOT)
    parser.add_argument("--iterations", type=int, default=2)
    parser.add_argument("--nodes", type=int, default=100, help="number of random nodes per street")
    parser.add_argument("--file", type=Path, help="where to keep the file; reused if it exists")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.file or Path(folder) / "spot.rgl"
        if not path.exists():
            solution = solve_spot(Spot.read(options.spot), iterations=options.iterations)
            began = time.perf_counter()
            solution.save(path, resumable=True)
            print(f"saved in {time.perf_counter() - began:.1f} s")
            del solution
        print(f"{path.name}: {path.stat().st_size / 1e9:.2f} GB")
        compare(path, options.nodes)


if __name__ == "__main__":
    main()

"""Seconds per iteration of two versions of the source, in alternating runs, and their startup times.

git worktree add --detach ../before COMMIT
python benchmarks/two_versions.py ../before/src src [--what leduc,flop_3bet] [--threads 1,2] [--rounds 15] [--out FILE]

Each version solves in its own process, through `regretless.solve`, which reports after each piece of about a fifth of
a second how long its iterations took. They take turns, one piece each, so other load on the machine affects both. The
table has both medians, the ratio after / before of the medians and of the best rounds, and the interquartile range of
the ratios of single rounds. `start` is the whole process, `python` a Python process that does nothing. A spot is a name
in tests/data or benchmarks/spots, or a path; anything else is a game.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

DATA = Path(__file__).parent.parent / "tests" / "data"
OTHER = Path(__file__).parent / "spots"
WHAT = ("leduc", "liars_dice", "river_wide", "turn_example", "flop_3bet")
STARTS = {
    "python": ["-c", "pass"],
    "import regretless": ["-c", "import regretless"],
    "regretless --help": ["-m", "regretless", "--help"],
}

# Pieces grow up to a fifth of a second. The report of a piece waits for the request for the next; otherwise the next
# piece would run while the other version is being timed.
WORKER = """
import sys
import regretless as rl

what, threads, storage = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
is_spot = what.endswith(".toml")
options = {"storage": storage} if is_spot else {"variant": "plus", "engine": "numba"}
last = None

def report(progress):
    global last
    now = (progress.iteration, progress.iteration_seconds)
    if last is None:
        if now[1] < 1 and now[0] < 100_000:  # pieces are still growing
            return
        print("ready", flush=True)
    else:
        print((now[1] - last[1]) / (now[0] - last[0]), flush=True)
    last = now
    if not sys.stdin.readline():
        raise SystemExit

rl.solve(
    rl.Spot.read(what) if is_spot else what,
    threads=threads,
    iterations=10**9,
    measure_every=10**9,
    report=report,
    **options,
)
"""


def find(name: str) -> str:
    """The path of a spot, or the name of a game."""
    for path in (DATA / f"{name}.toml", OTHER / f"{name}.toml", Path(name)):
        if path.is_file():
            return str(path.resolve())
    return name


def environment(source: Path) -> dict[str, str]:
    found = os.environ | {"PYTHONPATH": str(source.resolve())}
    found.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has bytecode
    return found


def take_turns(workers: list[subprocess.Popen[str]], rounds: int) -> list[list[float]]:
    """Each worker's answers, round by round, after a warm-up round."""
    taken: list[list[float]] = [[], []]
    for turn in range(rounds + 1):
        for which in (0, 1) if turn % 2 else (1, 0):
            worker = workers[which]
            assert worker.stdin is not None
            assert worker.stdout is not None
            worker.stdin.write("go\n")
            worker.stdin.flush()
            taken[which].append(float(worker.stdout.readline()))
    return [seconds[1:] for seconds in taken]


def iterations(sources: list[Path], what: str, threads: int, bits: int, rounds: int) -> list[list[float]]:
    """Seconds per iteration of each version, round by round."""
    workers = []
    for source in sources:
        worker = subprocess.Popen(
            [sys.executable, "-c", WORKER, find(what), str(threads), str(bits)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(source),
        )
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"  # before the other starts to compile
        workers.append(worker)
    try:
        return take_turns(workers, rounds)
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def starts(sources: list[Path], arguments: list[str], rounds: int) -> list[list[float]]:
    """Seconds from start to end of each version, round by round."""
    taken: list[list[float]] = [[], []]
    for turn in range(rounds + 1):
        for which in (0, 1) if turn % 2 else (1, 0):
            began = time.perf_counter()
            command = [sys.executable, *arguments]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment(sources[which]))
            taken[which].append(time.perf_counter() - began)
    return [seconds[1:] for seconds in taken]


def line(name: str, taken: list[list[float]]) -> str:
    before, after = (statistics.median(seconds) for seconds in taken)
    ratios = sorted(second / first for first, second in zip(*taken, strict=True))
    low, _, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    best = min(taken[1]) / min(taken[0])
    figures = f"{before * 1e3:11.4f} {after * 1e3:11.4f} {after / before:8.3f} {best:8.3f}   {low:.3f} to {high:.3f}"
    return f"{name:34} {figures}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--what", type=lambda text: text.split(","), default=[*WHAT, "start"])
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--storage", default="32,16")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--out", type=Path, help="write every round to this file, as JSON")
    options = parser.parse_args()
    sources = [options.before, options.after]
    counts, widths = ([int(each) for each in text.split(",")] for text in (options.threads, options.storage))
    measured: dict[str, list[list[float]]] = {}
    print(f"{'':34} {'before, ms':>11} {'after, ms':>11} {'median':>8} {'best':>8}   middle half")
    for what in options.what:
        runs = [(0, 0)] if what == "start" else list(product(counts, widths if find(what) != what else [0]))
        for threads, bits in runs:
            if what == "start":
                timed = {name: starts(sources, arguments, options.rounds) for name, arguments in STARTS.items()}
            else:
                name = f"{what}, {threads} thread{'s' * (threads > 1)}" + f", {bits} bits" * (bits > 0)
                timed = {name: iterations(sources, what, threads, bits, options.rounds)}
            for name, taken in timed.items():
                print(line(name, taken), flush=True)
            measured |= timed
    if options.out is not None:
        machine = {"machine": platform.machine(), "processors": os.cpu_count(), "python": platform.python_version()}
        whole = machine | {"seconds": {name: dict(zip(("before", "after"), each)) for name, each in measured.items()}}
        options.out.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

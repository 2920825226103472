"""Seconds per iteration of two versions of the source, in alternating runs, and their startup times.

git worktree add --detach ../before COMMIT
python benchmarks/two_versions.py ../before/src src [--what leduc,flop_3bet] [--threads 1,2] [--pairs 9] [--out FILE]

Each version solves in its own process, through `regretless.solve`, in pieces of about a fifth of a second. The two take
turns, one piece each, so other load on the machine affects both. On one thread a piece counts the CPU time of its
process, which other processes disturb less than they disturb elapsed time; on several threads, elapsed time.

The same program runs up to a fifth faster in one process than in another, so one pair of processes says little however
many rounds it runs. Every pair is started anew, the other version first each time, and yields one ratio after / before
of its medians. The table has the medians of all rounds, the median of the ratios with its 95 % confidence interval
(from order statistics; a dash with fewer than six pairs), and the ratio of the best rounds. `start` is the whole
process, `python` a Python process that does nothing. A spot is a name in tests/data or benchmarks/spots, or a path;
anything else is a game.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
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
import time
import regretless as rl

what, threads, storage = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
is_spot = what.endswith(".toml")
options = {"storage": storage} if is_spot else {"variant": "plus", "engine": "numba"}
clock = time.process_time if threads == 1 else time.perf_counter
began = last = None

def report(progress):
    global began, last
    seconds = clock()
    if last is None:
        if progress.iteration_seconds < 1 and progress.iteration < 100_000:  # pieces are still growing
            return
        print("ready", flush=True)
    else:
        print((seconds - began) / (progress.iteration - last), flush=True)
    last = progress.iteration
    if not sys.stdin.readline():
        raise SystemExit
    began = clock()

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


def iterations(sources: list[Path], what: str, threads: int, bits: int, rounds: int, first: int) -> list[list[float]]:
    """Seconds per iteration of each version, round by round, in a pair of new processes; `first` starts first."""
    workers: dict[int, subprocess.Popen[str]] = {}
    try:
        for which in (first, 1 - first):
            worker = subprocess.Popen(
                [sys.executable, "-c", WORKER, find(what), str(threads), str(bits)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=environment(sources[which]),
            )
            workers[which] = worker
            assert worker.stdout is not None
            assert worker.stdout.readline() == "ready\n"  # before the other starts to compile
        return take_turns([workers[0], workers[1]], rounds)
    finally:
        for worker in workers.values():
            worker.kill()
            worker.wait()


def starts(sources: list[Path], arguments: list[str], first: int) -> list[list[float]]:
    """Seconds from start to end of each version, once."""
    taken: list[list[float]] = [[], []]
    for which in (first, 1 - first):
        began = time.perf_counter()
        command = [sys.executable, *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment(sources[which]))
        taken[which].append(time.perf_counter() - began)
    return taken


def interval(ratios: list[float]) -> str:
    """The 95 % confidence interval of the median: the ranks that a fair coin stays between."""
    outside, rank = 0.5 ** len(ratios), 0
    while outside <= 0.025:
        rank += 1
        outside += math.comb(len(ratios), rank) * 0.5 ** len(ratios)
    return f"{sorted(ratios)[rank - 1]:.3f} to {sorted(ratios)[-rank]:.3f}" if rank else "-"


def line(name: str, pairs: list[list[list[float]]]) -> str:
    """One row of the table, from the rounds of both versions in each pair of processes."""
    before, after = ([second for pair in pairs for second in pair[which]] for which in (0, 1))
    ratios = [statistics.median(pair[1]) / statistics.median(pair[0]) for pair in pairs]
    medians = f"{statistics.median(before) * 1e3:11.4f} {statistics.median(after) * 1e3:11.4f}"
    return (
        f"{name:34} {medians} {statistics.median(ratios):8.3f}   {interval(ratios):16} {min(after) / min(before):8.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--what", type=lambda text: text.split(","), default=[*WHAT, "start"])
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--storage", default="32,16")
    parser.add_argument("--pairs", type=int, default=9, help="pairs of processes")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each pair")
    parser.add_argument("--out", type=Path, help="write every round to this file, as JSON; its other rows are kept")
    options = parser.parse_args()
    sources = [options.before, options.after]
    counts, widths = ([int(each) for each in text.split(",")] for text in (options.threads, options.storage))
    measured: dict[str, list[list[list[float]]]] = {}
    print(f"{'':34} {'before, ms':>11} {'after, ms':>11} {'ratio':>8}   {'95 % interval':16} {'best':>8}")
    for what in options.what:
        if what == "start":
            runs: dict[str, Callable[[int], list[list[float]]]] = {
                name: partial(starts, sources, arguments) for name, arguments in STARTS.items()
            }
        else:
            runs = {
                f"{what}, {threads} thread{'s' * (threads > 1)}" + f", {bits} bits" * (bits > 0): partial(
                    iterations, sources, what, threads, bits, options.rounds
                )
                for threads, bits in product(counts, widths if find(what) != what else [0])
            }
        for name, run in runs.items():
            measured[name] = [run(pair % 2) for pair in range(options.pairs)]
            print(line(name, measured[name]), flush=True)
    if options.out is not None:
        whole = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {"seconds": {}}
        whole |= {"machine": platform.machine(), "processors": os.cpu_count(), "python": platform.python_version()}
        for name, pairs in measured.items():
            whole["seconds"][name] = {"before": [pair[0] for pair in pairs], "after": [pair[1] for pair in pairs]}
        options.out.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

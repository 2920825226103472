"""Flop hold'em from the deal: seconds per iteration, and distance from equilibrium.

python benchmarks/flop_holdem.py [--threads 16] [--iterations 100] [--measure-every 10] [--storage 16] [--out FILE]

The game is that of `games/flop_holdem.py`, solved as `regretless solve flop-holdem` solves it: the blinds are 50 and
100 chips, with 1,755 flops distinct up to suits and all hands of both players. NashConv is the exact sum of what the
players gain by best-responding to the averages, in mbb per game; exploitability is half of it. Seconds per iteration
leave out measurements and compiling the kernels, which a solve of Kuhn does first; the first iteration is slower
because it touches the memory for the first time.
"""

from __future__ import annotations

import argparse
import datetime
import json
import resource
import sys
from pathlib import Path

from machine import hardware

import regretless as rl
from regretless.solving.loop import Progress

MILLIS = 1000  # thousandths of a big blind


def peak_bytes() -> int:
    """Peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--measure-every", type=int, default=10, help="iterations")
    parser.add_argument("--storage", type=int, default=32, help="bits of a stored number: 32 or 16")
    parser.add_argument("--variant", default="discounted", help="name of a variant")
    parser.add_argument("--out", type=Path, help="JSON file for the results")
    options = parser.parse_args()

    rl.solve("kuhn", form="public", iterations=1, storage=options.storage)
    print(f"{'iteration':>9} {'NashConv mbb/g':>14} {'seconds':>8} {'per iteration':>13}")
    last: float | None = None

    def report(progress: Progress) -> None:
        nonlocal last
        if progress.exploitability is not None and progress.exploitability != last:
            last = progress.exploitability
            per_iteration = progress.iteration_seconds / progress.iteration
            print(
                f"{progress.iteration:9} {2 * MILLIS * last:14.3f} {progress.seconds:8.1f} {per_iteration:13.3f}",
                flush=True,
            )

    solution = rl.solve(
        "flop-holdem",
        threads=options.threads,
        iterations=options.iterations,
        measure_every=options.measure_every,
        storage=options.storage,
        variant=options.variant,
        report=report,
    )
    results = solution.as_json() | {
        "hardware": hardware(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="minutes"),
        "storage": options.storage,
        "peak_bytes": peak_bytes(),
    }
    if options.out:
        options.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"value to the small blind {MILLIS * solution.values[0]:.3f} mbb/g")
    print(f"set up in {results['setup_seconds']:.1f} s; {results['seconds_per_iteration']:.3f} s per iteration")
    print(f"engine {results['memory_bytes']:,} bytes, process {peak_bytes():,} bytes at most")


if __name__ == "__main__":
    main()

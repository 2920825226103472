"""Solving spots to a target on one thread: milliseconds, iterations and measurements, the best of several runs.

python benchmarks/to_target.py

For another version of the source: git worktree add --detach ../before COMMIT, then with PYTHONPATH=../before/src
"""

from __future__ import annotations

from pathlib import Path

import regretless as rl
from regretless.holdem import Spot

SPOTS = Path(__file__).parent.parent / "tests" / "data"
CASES = (
    ("river_narrow", 0.1, 40),
    ("river_wide", 0.1, 20),
    ("turn_paired_donk", 0.1, 6),
    ("turn_example", 0.1, 5),
    ("turn_example", 0.5, 5),
)


def main() -> None:
    for name, target, runs in CASES:
        spot = Spot.read(SPOTS / f"{name}.toml")
        records = [rl.solve(spot, target=target, device="cpu", threads=1).record for _ in range(runs)]
        best = min(records, key=lambda record: record.seconds)
        print(
            f"{name:16} to {target} %: {len(best.history):2} measurements, {best.iterations:3} iterations, "
            f"{best.seconds * 1e3:7.2f} ms",
            flush=True,
        )


if __name__ == "__main__":
    main()

"""The curves of docs/tutorial/deep-cfr.md: Deep CFR and Single Deep CFR on Leduc, beside CFR on a table.

    python benchmarks/deep_curve.py [--seed 7] [--out docs/images/leduc-deep-cfr.png]

Prints exploitability (NashConv / 2, chips) by iteration. All three are linear CFR: the table walks the whole tree, the
networks see samples of it. Takes a few minutes on two cores.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import regretless as rl
from regretless.plots import convergence

ITERATIONS, EVERY = 100, 10


def main(seed: int, out: Path) -> None:
    labels = ["Deep CFR", "Single Deep CFR", "table"]
    curves = [
        rl.train("leduc", algorithm=algorithm, seed=seed, iterations=ITERATIONS, measure_every=EVERY)
        for algorithm in ("deep", "single")
    ]
    curves.append(rl.solve("leduc", variant="linear", iterations=ITERATIONS, measure_every=EVERY))
    print("iteration", *(f"{label:>16}" for label in labels))
    for points in zip(*(curve.history for curve in curves), strict=True):
        print(f"{points[0].iteration:9}", *(f"{point.exploitability:16.4f}" for point in points))
    print("seconds  ", *(f"{curve.seconds:16.1f}" for curve in curves))
    convergence(curves, labels=labels, title="Leduc: networks and a table").savefig(out, dpi=150)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", type=Path, default=Path("docs/images/leduc-deep-cfr.png"))
    given = parser.parse_args()
    main(given.seed, given.out)

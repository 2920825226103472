"""Ours beside OpenSpiel and LiteEFG on general games: one run, in turn, medians.

    PYTHONPATH=src python benchmarks/games.py
    PYTHONPATH=src python benchmarks/games.py --games kuhn leduc --contenders numba numpy openspiel

Prints the table of times and ratios, and writes it with the hardware to benchmarks/results/games.json.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from regretless.engines.benchmark import CONTENDERS, GAMES, compare, hardware, ratio_table

LIBRARIES = ("numpy", "numba", "scipy", "open_spiel", "LiteEFG")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", nargs="+", default=list(GAMES), metavar="GAME", help=", ".join(GAMES))
    parser.add_argument("--contenders", nargs="+", default=[name for name in CONTENDERS if name != "matrix"])
    parser.add_argument("--dtype", choices=["float64", "float32"], help="of the numba engine")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "games.json")
    options = parser.parse_args()

    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    timings = []
    for timing in compare(options.games, options.contenders, dtype=options.dtype):
        timings.append(timing)
        print(ratio_table([timing]), *(f"  {who}: {why}" for who, why in timing.missing.items()), sep="\n", flush=True)
    print()
    print(ratio_table(timings))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    record = {
        "what": "seconds an iteration, alternating CFR+, one thread, medians of alternating rounds",
        "hardware": hardware(),
        "load_average": load,  # when the run began; above 1 or 2, others were at work and all times are too long
        "libraries": {name: _version(name) for name in LIBRARIES},
        "dtype": options.dtype or "float64",
        "games": [asdict(timing) for timing in timings],
    }
    options.out.write_text(json.dumps(record, indent=2) + "\n")


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    main()

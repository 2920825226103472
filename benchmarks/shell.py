"""How long the whole command takes: Python startup, imports, kernels, solve and output.

python benchmarks/shell.py [--spot tests/data/river_narrow.toml] [--target 0.1] [--runs 5]

    cached      kernels are compiled and cached on disk, as in every run but the first
    empty       the cache folder is empty, as after installing; the command says on stderr that it compiles

Then come the import times of a cached run, by package.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

SPOT = Path(__file__).parent.parent / "tests" / "data" / "river_narrow.toml"
CACHED, EMPTY = 2.0, 25.0  # seconds allowed


def solve(spot: Path, target: float, cache: str | None, *python: str) -> tuple[float, dict[str, object], str]:
    """Seconds of the whole command, its answer and its stderr."""
    command = [sys.executable, *python, "-m", "regretless", "solve", str(spot), "--target", str(target), "--json"]
    environment = dict(os.environ) if cache is None else {**os.environ, "NUMBA_CACHE_DIR": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has bytecode
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return time.perf_counter() - began, json.loads(done.stdout), done.stderr


def imports(said: str) -> Counter[str]:
    """Milliseconds that each package's own modules take, from the output of `python -X importtime`."""
    taken: Counter[str] = Counter()
    for line in said.splitlines():
        own, _, name = line.removeprefix("import time:").split("|") if line.count("|") == 2 else ("", "", "")
        if own.strip().isdigit():
            taken[name.strip().split(".")[0]] += int(own) / 1000  # type: ignore[assignment]
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spot", type=Path, default=SPOT)
    parser.add_argument("--target", type=float, default=0.1)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    solve(options.spot, options.target, None)  # compile if necessary
    runs = [solve(options.spot, options.target, None) for _ in range(options.runs)]
    seconds = [whole for whole, _, _ in runs]
    answer = min(runs, key=lambda run: run[0])[1]
    print(f"cached: mean {statistics.mean(seconds):.2f} s, best {min(seconds):.2f} s of {options.runs} runs")
    print(f"  of the best: setting up {answer['setup_seconds']:.2f} s, solving {answer['seconds']:.3f} s")
    with tempfile.TemporaryDirectory() as folder:
        first, answer, said = solve(options.spot, options.target, folder)
    print(f"empty: {first:.2f} s, of which solving and compiling {answer['seconds']:.2f} s; stderr:")
    print("  " + "\n  ".join(said.splitlines()))
    taken = imports(solve(options.spot, options.target, None, "-X", "importtime")[2])
    print(f"imports: {sum(taken.values()):.0f} ms with timing on, of which")
    for package, milliseconds in taken.most_common(8):
        print(f"  {milliseconds:6.0f} ms  {package}")
    if min(seconds) > CACHED or first > EMPTY:
        sys.exit(f"the limits are {CACHED} s cached and {EMPTY} s empty")


if __name__ == "__main__":
    main()

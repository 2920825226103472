"""How long the whole command takes: Python startup, imports, kernels, solve and output.

python benchmarks/shell.py [--spot tests/data/river_narrow.toml] [--target 0.1] [--runs 5] [--device cuda] [--save]

    cached      kernels are compiled and cached on disk, as in every run but the first
    empty       the cache folder is empty, as after installing; the command says on stderr that it compiles; CPU only

Then come the import times of a cached run, by package. With --save, the solution is written to a new file every time.
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
CACHED, EMPTY = {"cpu": 2.0, "cuda": 3.0}, 25.0  # seconds allowed


def solve(asked: argparse.Namespace, cache: str | None = None, *python: str) -> tuple[float, dict[str, object], str]:
    """Seconds of the whole command, its answer and its stderr."""
    command = [sys.executable, *python, "-m", "regretless", "solve", str(asked.spot), "--target", str(asked.target)]
    command += ["--json", "--device", asked.device]
    environment = dict(os.environ) if cache is None else {**os.environ, "NUMBA_CACHE_DIR": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has bytecode
    with tempfile.TemporaryDirectory() as folder:
        if asked.save:
            command += ["--out", str(Path(folder) / "solution.rgl")]
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
    parser.add_argument("--device", choices=CACHED, default="cpu")
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    solve(options)  # compile if necessary
    runs = [solve(options) for _ in range(options.runs)]
    seconds = [whole for whole, _, _ in runs]
    answer = min(runs, key=lambda run: run[0])[1]
    print(f"cached: mean {statistics.mean(seconds):.2f} s, best {min(seconds):.2f} s of {options.runs} runs")
    print(f"  of the best: setting up {answer['setup_seconds']:.2f} s, solving {answer['seconds']:.3f} s")
    first = 0.0
    if options.device == "cpu":
        with tempfile.TemporaryDirectory() as folder:
            first, answer, said = solve(options, folder)
        print(f"empty: {first:.2f} s, of which solving and compiling {answer['seconds']:.2f} s; stderr:")
        print("  " + "\n  ".join(said.splitlines()))
    taken = imports(solve(options, None, "-X", "importtime")[2])
    print(f"imports: {sum(taken.values()):.0f} ms with timing on, of which")
    for package, milliseconds in taken.most_common(8):
        print(f"  {milliseconds:6.0f} ms  {package}")
    allowed = CACHED[options.device]
    if min(seconds) > allowed or first > EMPTY:
        sys.exit(f"the limits are {allowed} s cached and {EMPTY} s empty")


if __name__ == "__main__":
    main()

"""Flop hold'em from the deal: seconds per iteration, and distance from equilibrium.

python benchmarks/flop_holdem.py [--threads 16] [--iterations 100] [--measure-at 10,20,50,100] [--out FILE]

The game is that of `games/flop_holdem.py`: player 0 is the small blind, the blinds are 50 and 100 chips, with 1,755
flops distinct up to suits and all hands of both players. A thousandth of a big blind is 0.1 chips. NashConv is the
exact sum of what the players gain by best-responding to the averages, in mbb per game; exploitability is half of it.
Seconds count only iterations, not measurements or compiling the kernels, which a solve of Kuhn does first; the first
iteration is slower because it touches the memory for the first time. `--out` is rewritten after every measurement.
"""

from __future__ import annotations

import argparse
import datetime
import json
import resource
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from regretless import benchmark
from regretless.engines.public.compiled.engine import CompiledPublicEngine
from regretless.forms.public_poker import kuhn_public
from regretless.games import FlopHoldem
from regretless.holdem.form.flop_holdem import compile_flop_holdem
from regretless.variants import preset, schedule

MILLIS = 1000 / FlopHoldem.big_blind  # thousandths of a big blind in a chip


def peak_bytes() -> int:
    """Peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def measure(engine: CompiledPublicEngine, seconds: list[float]) -> dict[str, Any]:
    """The state of the solve; `seconds` lists the time of each iteration so far."""
    began = time.perf_counter()
    evaluation = engine.evaluate()
    return {
        "iteration": engine.iteration,
        "nash_conv_mbb": round(evaluation.nash_conv * MILLIS, 4),
        "small_blind_value_mbb": round(evaluation.values[0] * MILLIS, 4),
        "solving_seconds": round(sum(seconds), 3),
        "mean_seconds": round(statistics.fmean(seconds), 4),
        "median_seconds": round(statistics.median(seconds), 4),
        "measuring_seconds": round(time.perf_counter() - began, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--measure-at", default="10,20,50,100", help="iterations; the last is always measured")
    parser.add_argument("--variant", default="discounted", help="name of a variant")
    parser.add_argument("--out", type=Path, help="JSON file for the results")
    options = parser.parse_args()
    rule = preset(options.variant)
    measured = {int(text) for text in options.measure_at.split(",")} | {options.iterations}

    CompiledPublicEngine(kuhn_public()).advance(schedule(rule, 1, 1))
    began = time.perf_counter()
    form = compile_flop_holdem(FlopHoldem())
    compiled = time.perf_counter()
    engine = CompiledPublicEngine(form, threads=options.threads)
    results: dict[str, Any] = {
        "hardware": benchmark.hardware(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="minutes"),
        "variant": options.variant,
        "threads": options.threads,
        "form_seconds": round(compiled - began, 3),
        "engine_seconds": round(time.perf_counter() - compiled, 3),
        "engine_bytes": engine.memory_bytes,
        "measurements": [],
    }
    print(f"form built in {results['form_seconds']} s, engine in {results['engine_seconds']} s", flush=True)
    print(f"engine {engine.memory_bytes:,} bytes", flush=True)
    print(f"{'iteration':>9} {'NashConv mbb/g':>14} {'small blind mbb/g':>17} {'mean s':>8} {'median s':>8}")
    seconds: list[float] = []
    while engine.iteration < options.iterations:
        rows = schedule(rule, engine.iteration + 1, 1)
        began = time.perf_counter()
        engine.advance(rows)
        seconds.append(time.perf_counter() - began)
        if engine.iteration in measured:
            found = measure(engine, seconds)
            print(
                f"{found['iteration']:9} {found['nash_conv_mbb']:14.3f} {found['small_blind_value_mbb']:17.3f}"
                f" {found['mean_seconds']:8.3f} {found['median_seconds']:8.3f}",
                flush=True,
            )
            results["measurements"].append(found)
            results["peak_bytes"] = peak_bytes()
            if options.out:
                options.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"process {peak_bytes():,} bytes at most")


if __name__ == "__main__":
    main()

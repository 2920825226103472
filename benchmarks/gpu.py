"""Hold'em on a CUDA device: time per iteration and its distance from the floor, whole solves, batches, flop hold'em.

python benchmarks/gpu.py [iterations] [solves] [batches] [flop-holdem] [--out FILE]

The floor of an iteration is what must move through the device's memory at least, at the bandwidth of a large copy: per
stored number of the updating player, regret and average read and written, and the opponent's regret read once.
"""

from __future__ import annotations

import argparse
import json
import time
import tomllib
from pathlib import Path
from typing import Any

import cupy
import numpy as np
from machine import copy_bandwidth

import regretless as rl
from regretless.cards.deck import card_text
from regretless.engines.cuda.public.engine import CudaPublicEngine
from regretless.holdem import Spot, betting_tree, compile_spot
from regretless.variants import schedule
from regretless.variants.presets import PRESETS

SPOTS = Path(__file__).parent.parent / "tests" / "data"


def iterations() -> dict[str, Any]:
    """Milliseconds per iteration, median of ten rounds."""
    copy = copy_bandwidth("cuda", numbers=1 << 28)
    print(f"copy: {copy / 1e12:.2f} TB/s")
    found: dict[str, Any] = {"copy_bytes_per_second": copy}
    for name in ("river_wide", "turn_example", "flop_3bet"):
        form = compile_spot(Spot.read(SPOTS / f"{name}.toml"))
        for bits in (32, 16):
            began = time.perf_counter()
            engine = CudaPublicEngine(form, storage=bits)
            variant = PRESETS["river" if name.startswith("river") else "postflop"]
            engine.advance(schedule(variant, 1, 5))
            setup = time.perf_counter() - began
            times = []
            for _ in range(10):
                rows = schedule(variant, engine.iteration + 1, 10)
                began = time.perf_counter()
                engine.advance(rows)
                times.append((time.perf_counter() - began) / len(rows))
            began = time.perf_counter()
            engine.evaluate()
            evaluation = time.perf_counter() - began
            number = engine.format.regret.itemsize + engine.format.average.itemsize
            entries = int(engine.layout.entries.sum())
            floor = entries * (2 * number + engine.format.regret.itemsize) / copy
            median = float(np.median(times))
            found[f"{name} {bits}"] = {
                "seconds_per_iteration": median,
                "floor": floor,
                "evaluation_seconds": evaluation,
                "setup_seconds": setup,
                "memory_bytes": engine.memory_bytes,
            }
            print(
                f"{name:14} {bits} bits: {median * 1e3:8.3f} ms per iteration, floor {floor * 1e3:7.3f}, "
                f"evaluation {evaluation * 1e3:6.2f}, setup {setup:5.2f} s, {engine.memory_bytes / 1e6:7.0f} MB",
                flush=True,
            )
    return found


def solves() -> dict[str, Any]:
    """Seconds of solving to two targets, median of five runs after one that loads libraries and kernels."""
    found = {}
    for name in ("turn_example", "flop_3bet"):
        spot = Spot.read(SPOTS / f"{name}.toml")
        for target in (0.5, 0.1):
            for bits in (32, 16):
                rl.solve(spot, target=target, device="cuda", storage=bits)
                seconds, whole = [], []
                for _ in range(5):
                    began = time.perf_counter()
                    solution = rl.solve(spot, target=target, device="cuda", storage=bits)
                    whole.append(time.perf_counter() - began)
                    seconds.append(solution.record.seconds)
                record = solution.record
                found[f"{name} {target} {bits}"] = {
                    "seconds": float(np.median(seconds)),
                    "all_seconds": seconds,
                    "whole_seconds": float(np.median(whole)),
                    "iterations": record.iterations,
                    "measurements": len(record.history),
                    "exploitability_pct_pot": solution.exploitability_pct_pot,
                }
                print(
                    f"{name:14} {bits} bits to {target} %: {np.median(seconds):6.4f} s solving, "
                    f"{np.median(whole):6.4f} s in all, {record.iterations} iterations, "
                    f"{len(record.history)} measurements, {solution.exploitability_pct_pot:.3f} %",
                    flush=True,
                )
    return found


def batches() -> dict[str, Any]:
    """Many distinct spots in one call, after a call that loads libraries and kernels."""
    found = {}
    random = np.random.default_rng(7)
    fields = {"pot": 100, "stack": 400, "oop": {"range": "100%"}, "ip": {"range": "100%"}}
    river_bets = {"bets": {"bet": "50%, 100%", "raise": "60%"}}
    example = Spot.read(SPOTS / "turn_example.toml")
    for name, count, cards in (("rivers", 1000, 5), ("turns", 100, 4)):
        spots = []
        for _ in range(count):
            board = " ".join(card_text(int(card)) for card in random.choice(52, cards, replace=False))
            given = tomllib.loads(example.to_toml()) if name == "turns" else fields | river_bets
            spots.append(Spot.from_mapping(given | {"board": board}))
        rl.solve_many(spots[:2], target=0.1, device="cuda")
        began = time.perf_counter()
        solutions = rl.solve_many(spots, target=0.1, device="cuda")
        whole = time.perf_counter() - began
        seconds = max(solution.record.seconds for solution in solutions)
        worst = max(solution.exploitability_pct_pot for solution in solutions)
        nodes = len(betting_tree(spots[0]).kind)
        found[name] = {"seconds": seconds, "whole_seconds": whole, "count": count, "worst": worst, "nodes": nodes}
        print(
            f"{count} {name} ({nodes} nodes) to 0.1 %: {seconds:.2f} s solving, {whole:.2f} s in all, "
            f"worst {worst:.3f} %",
            flush=True,
        )
    return found


def flop_holdem() -> dict[str, Any]:
    """The whole game from the deal."""
    solution = rl.solve("flop-holdem", device="cuda", iterations=400, variant="discounted", measure_every=100)
    record = solution.record
    print(f"flop hold'em: {record.seconds_per_iteration * 1e3:.2f} ms per iteration")
    for point in record.history:
        total = 2000 * point.exploitability  # of both players, in thousandths of a big blind
        print(f"{point.iteration} iterations, {point.seconds:.1f} s: {total:.2f} mbb/g in all", flush=True)
    return {
        "seconds_per_iteration": record.seconds_per_iteration,
        "iterations": record.iterations,
        "seconds": record.seconds,
        "history": [[point.iteration, point.seconds, point.exploitability] for point in record.history],
    }


PARTS = {"iterations": iterations, "solves": solves, "batches": batches, "flop-holdem": flop_holdem}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=list(PARTS), metavar="|".join(PARTS))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found = {"device": cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()}
    for part in options.parts:
        try:
            found[part] = PARTS[part]()
        finally:
            if options.out is not None:
                options.out.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Times of general games on a GPU host: our engines side by side, per iteration and to exploitability 1e-3.

    PYTHONPATH=src python3 benchmarks/gpu_games.py --out results
    PYTHONPATH=src python3 benchmarks/gpu_games.py --games leduc,liars_dice --sweep     # how blocks and threads matter
    PYTHONPATH=src python3 benchmarks/gpu_games.py --games goofspiel7                    # 48 million nodes: minutes

Alternating CFR+ in float32 on a GPU, float64 on a CPU. A time is the median of repeated runs of many iterations each,
from the host's clock with the device idle before and after.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from regretless.engines.batched import BatchedEngine, replace_payoffs
from regretless.engines.registry import ENGINES, available, create
from regretless.forms import HistoryForm, SequenceForm, compile_history, compile_sequence
from regretless.games.registry import load
from regretless.rules import Plus, schedule

GAMES = {
    "kuhn": "kuhn",
    "leduc": "leduc",
    "liars_dice5": "liars_dice(sides=5)",
    "liars_dice": "liars_dice",
    "goofspiel5": "goofspiel(cards=5)",
    "goofspiel6": "goofspiel(cards=6)",
    "leduc13": "leduc(ranks=13)",
    "liars_dice2x3": "liars_dice(dice=2, sides=3)",
    "battleship": "battleship(height=3, width=2, shots=3)",
    "goofspiel7": "goofspiel(cards=7)",
    "battleship2": "battleship(height=3, width=2, ships=(2, 2), shots=3)",
}
ON_REQUEST = ("goofspiel7", "battleship2")  # tens of millions of nodes
TARGET = 1e-3
SECONDS = 0.25  # how long one timed run should be
REPEATS = 5


def synchronize() -> None:
    """Wait for the device, if PyTorch uses one."""
    import sys

    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.synchronize()


def timed(work: Callable[[], object]) -> float:
    synchronize()
    start = time.perf_counter()
    work()
    synchronize()
    return time.perf_counter() - start


def seconds_per_iteration(engine: Any) -> float:
    rule = Plus()
    engine.advance(schedule(rule, first=1, count=3))  # compile, record, warm up
    pilot = timed(lambda: engine.advance(schedule(rule, first=4, count=5))) / 5
    count = int(min(max(SECONDS / pilot, 3), 20_000))
    weights = schedule(rule, first=9, count=count)  # made beforehand: a second of Python for a million iterations
    engine.advance(weights)
    return statistics.median(timed(lambda: engine.advance(weights)) / count for _ in range(REPEATS))


def time_to_target(engine: Any, limit: float) -> dict[str, float]:
    """From uniform play to exploitability `TARGET`, evaluations included; checked at iterations 16, 20, 25, 31, …"""
    iterations, upcoming = 0, 16
    engine.evaluate()
    synchronize()
    start = time.perf_counter()
    while True:
        engine.advance(schedule(Plus(), first=iterations + 1, count=upcoming - iterations))
        iterations = upcoming
        exploitability = engine.evaluate().exploitability
        seconds = time.perf_counter() - start
        if exploitability <= TARGET or seconds > limit:
            reached = {"seconds": seconds, "iterations": iterations, "exploitability": exploitability}
            return {"reached": float(exploitability <= TARGET), **reached}
        upcoming = max(int(upcoming * 1.25), upcoming + 1)


def engines(form: SequenceForm, sweep: bool) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Names, and what builds each engine."""
    installed = available()
    if "cupy" in installed and has_cuda():
        from regretless.engines.cupy_engine import CupyEngine

        yield "cupy", lambda: CupyEngine(form)
        if sweep:
            for blocks in (1, 4, 8, 16, 32, 66, 132):
                for threads in (256, 512, 1024):
                    yield (
                        f"cupy {blocks}x{threads}",
                        lambda blocks=blocks, threads=threads: CupyEngine(
                            form, mode="persistent", blocks=blocks, block_threads=threads
                        ),
                    )
            yield "cupy 1x1024 not carried", lambda: CupyEngine(form, mode="persistent", blocks=1, carried=False)
        yield "cupy graph", lambda: CupyEngine(form, mode="graph")
        yield "cupy float64", lambda: CupyEngine(form, dtype="float64")
    if "torch" in installed and has_cuda():
        from regretless.engines.torch_engine import TorchEngine

        yield "torch cuda", lambda: TorchEngine(form, device="cuda")
        if sweep:
            yield "torch cuda, no graph", lambda: TorchEngine(form, device="cuda", graph=False)
    if "matrix" in installed:
        for device in ENGINES["matrix"].devices:
            if device != "cpu" and has_cuda():
                yield f"matrix {device}", lambda device=device: create("matrix", form, device=device)
    if "numba" in installed:
        yield "numba 1", lambda: create("numba", form)
        if ENGINES["numba"].threads:
            cores = os.cpu_count() or 1
            yield f"numba {cores}", lambda: create("numba", form, threads=cores)
    yield "numpy", lambda: create("numpy", form)


def has_cuda() -> bool:
    try:
        import cupy

        return bool(cupy.cuda.runtime.getDeviceCount())
    except Exception:
        try:
            import torch

            return torch.cuda.is_available()
        except ImportError:
            return False


def hardware() -> dict[str, object]:
    found: dict[str, object] = {"machine": platform.processor() or platform.machine(), "cores": os.cpu_count()}
    found["python"] = platform.python_version()
    for name in ("numpy", "numba", "torch", "cupy"):
        try:
            found[name] = __import__(name).__version__
        except ImportError:
            found[name] = None
    try:
        query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
        found["gpu"] = subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        found["gpu"] = None
    return found


def compiled(name: str) -> tuple[HistoryForm, SequenceForm, dict[str, object]]:
    start = time.perf_counter()
    history = compile_history(load(GAMES[name]))
    middle = time.perf_counter()
    form = compile_sequence(history)
    end = time.perf_counter()
    facts: dict[str, object] = {
        "game": GAMES[name],
        "nodes": len(history.parent),
        "information_sets": len(history.keys),
        "entries": [len(matrix.value) for matrix in form.payoff],
        "seconds_history": middle - start,
        "seconds_sequence": end - middle,
    }
    return history, form, facts


def measure(name: str, arguments: argparse.Namespace) -> dict[str, object]:
    _, form, facts = compiled(name)
    print(f"\n{GAMES[name]}: {facts['nodes']:,} nodes, {facts['information_sets']:,} information sets,", end=" ")
    print(f"{facts['entries']} entries, built in {facts['seconds_history']:.1f} s", flush=True)
    rows = []
    for label, build in engines(form, arguments.sweep):
        if arguments.engines and not any(label.startswith(wanted) for wanted in arguments.engines.split(",")):
            continue
        row: dict[str, object] = {"engine": label}
        try:
            start = time.perf_counter()
            engine = build()
            row["setup_seconds"] = time.perf_counter() - start
            row["seconds_per_iteration"] = seconds_per_iteration(engine)
            row["plan"] = getattr(engine, "plan", "")
            if not arguments.no_target and " " not in label.replace("torch cuda", "torch").replace("numba 1", "numba"):
                row["to_target"] = time_to_target(build(), arguments.limit)
        except Exception as error:  # one engine's failure must not cost the others' numbers
            row["error"] = f"{type(error).__name__}: {error}"
            print(f"  {label:24s} {row['error'][:160]}", flush=True)
        else:
            target = row.get("to_target")
            reached = f"1e-3 in {target['seconds']:8.3f} s, {target['iterations']:6d} it" if target else ""  # type: ignore[index]
            if target and not target["reached"]:  # type: ignore[index]
                reached = f"{target['exploitability']:.1e} after {target['seconds']:.0f} s"  # type: ignore[index]
            micro = 1e6 * float(row["seconds_per_iteration"])  # type: ignore[arg-type]
            print(f"  {label:24s} {micro:12.2f} us  {reached:34s} {row['plan']}", flush=True)
        rows.append(row)
    return {**facts, "engines": rows}


def measure_batch(count: int) -> dict[str, object]:
    """A thousand Leduc games with different antes."""
    form = compile_history(load("leduc"))
    games = [replace_payoffs(form, form.payoff + np.sign(form.payoff) * number / count) for number in range(count)]
    rows = []
    print(f"\nbatch of {count} Leduc games", flush=True)
    for library in ("cupy", "torch"):
        try:
            start = time.perf_counter()
            engine = BatchedEngine(games, device="cuda", library=library)
            setup = time.perf_counter() - start
            seconds = seconds_per_iteration(engine)
            engine.evaluate()
            evaluation = timed(engine.evaluate)
        except Exception as error:
            print(f"  {library:24s} {type(error).__name__}: {error}"[:180], flush=True)
            continue
        print(
            f"  {library:24s} {1e6 * seconds:12.2f} us an iteration of all, {1e6 * seconds / count:8.3f} us a game;"
            f" evaluation {1e3 * evaluation:.2f} ms, set up in {setup:.1f} s",
            flush=True,
        )
        rows.append({"library": library, "seconds_per_iteration": seconds, "seconds_evaluation": evaluation})
    return {"games": count, "libraries": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    default = ",".join(name for name in GAMES if name not in ON_REQUEST)
    parser.add_argument("--games", default=default, help=f"of {', '.join(GAMES)}")
    parser.add_argument("--engines", default="", help="labels to keep, by how they start")
    parser.add_argument("--sweep", action="store_true", help="try numbers of blocks and threads too")
    parser.add_argument("--no-target", action="store_true", help="leave out the time to exploitability 1e-3")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds after which the target is given up")
    parser.add_argument("--batch", type=int, default=1000, help="games of the batch; 0 leaves it out")
    parser.add_argument("--out", type=Path, help="folder for gpu_games.json")
    arguments = parser.parse_args()
    results: dict[str, object] = {"hardware": hardware()}
    print(json.dumps(results["hardware"]), flush=True)
    measured: list[dict[str, object]] = []
    results["games"] = measured
    for name in arguments.games.split(","):
        if name:
            measured.append(measure(name, arguments))
            save(results, arguments.out)
    if arguments.batch and has_cuda():
        results["batch"] = measure_batch(arguments.batch)
        save(results, arguments.out)


def save(results: dict[str, object], folder: Path | None) -> None:
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "gpu_games.json").write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

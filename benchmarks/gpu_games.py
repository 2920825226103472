"""Times our engines on general games on a GPU host, per iteration and to exploitability 1e-3.

    PYTHONPATH=src python3 benchmarks/gpu_games.py --out results               # the usual games and a batch: 5 minutes
    PYTHONPATH=src python3 benchmarks/gpu_games.py --games goofspiel7 --batch 0       # 48 million nodes
    PYTHONPATH=src python3 benchmarks/gpu_games.py --games crossover --no-target      # size from which a GPU pays off
    PYTHONPATH=src python3 benchmarks/gpu_games.py --games leduc,liars_dice --sweep   # effect of blocks and threads

Alternating CFR+, in float64 on a CPU and, unless a label says otherwise, in float32 on a GPU. A time is the median of
repeated runs of many iterations each, by the host's clock, with the device idle before and after.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from machine import hardware

from regretless.engines import BatchedEngine, Updates, available, create, devices, replace_payoffs
from regretless.engines.batched import batched_terms
from regretless.forms import SequenceForm, compile_history, compile_sequence
from regretless.games.registry import load
from regretless.variants import Plus, schedule

GAMES = {
    "kuhn": "kuhn",
    "leduc": "leduc",
    "goofspiel5": "goofspiel(cards=5)",
    "liars_dice": "liars_dice",
    "liars_dice2x3": "liars_dice(dice=2, sides=3)",
    "goofspiel6": "goofspiel(cards=6)",
    "leduc13": "leduc(ranks=13)",
    "battleship": "battleship(height=3, width=2, shots=3)",
    "goofspiel7": "goofspiel(cards=7)",
    **{f"leduc{ranks}": f"leduc(ranks={ranks})" for ranks in (4, 5, 6, 7, 8, 10)},
    **{f"liars_dice{sides}": f"liars_dice(sides={sides})" for sides in (4, 5)},
    "goofspiel4": "goofspiel(cards=4)",
}
GROUPS = {
    "usual": "kuhn,leduc,liars_dice,goofspiel6,leduc13,battleship,liars_dice2x3,goofspiel5",
    "crossover": "goofspiel4,liars_dice4,leduc,goofspiel5,leduc4,leduc5,liars_dice5,leduc6,leduc7,leduc8,leduc10",
}
TARGET = 1e-3
SECONDS = 0.15  # target length of one timed run
REPEATS = 5
LARGEST = {"matrix cpu": 30_000, "matrix cuda": 3_000_000}  # nodes; beyond this an engine takes too long here
TARGETED = ("cupy", "cupy float64", "torch", "matrix cuda", "numba", "numba threads")  # also timed to the target

Row = dict[str, Any]


def synchronize() -> None:
    """Wait for the device, if PyTorch or CuPy uses one."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.synchronize()
    if cupy is not None and devices.cuda_devices():
        cupy.cuda.runtime.deviceSynchronize()


def timed(work: Callable[[], object]) -> float:
    synchronize()
    start = time.perf_counter()
    work()
    synchronize()
    return time.perf_counter() - start


def seconds_per_iteration(engine: Any) -> float:
    variant = Plus()
    engine.advance(schedule(variant, first=1, count=3))  # compile, record, warm up
    pilot = timed(lambda: engine.advance(schedule(variant, first=4, count=5))) / 5
    count = int(min(max(SECONDS / pilot, 3), 20_000))
    weights = schedule(variant, first=9, count=count)  # in advance: a million iterations take a second of Python
    engine.advance(weights)
    return statistics.median(timed(lambda: engine.advance(weights)) / count for _ in range(REPEATS))


def time_to_target(engine: Any, limit: float) -> Row:
    """From here to exploitability `TARGET`, including evaluations; checked at iterations 16, 20, 25, 31, …"""
    iterations, upcoming = 0, 16
    engine.evaluate()  # compile if necessary
    synchronize()
    start = time.perf_counter()
    while True:
        engine.advance(schedule(Plus(), first=iterations + 1, count=upcoming - iterations))
        iterations = upcoming
        exploitability = engine.evaluate().exploitability
        seconds = time.perf_counter() - start
        if exploitability <= TARGET or seconds > limit:
            reached = bool(exploitability <= TARGET)
            return {
                "reached": reached, "seconds": seconds, "iterations": iterations, "exploitability": exploitability
            }  # fmt: skip
        upcoming = max(int(upcoming * 1.25), upcoming + 1)


def engines(form: SequenceForm, sweep: bool) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Labels, and functions that build each engine."""
    installed = available()
    cuda = devices.cuda_devices() > 0
    if "cuda" in installed and cuda:
        from regretless.engines.cuda.sequence.engine import CudaSequenceEngine
        from regretless.engines.cuda.sequence.launch import PERSISTENT_UP_TO

        yield "cupy", lambda: CudaSequenceEngine(form)
        other = "graph" if len(form.payoff[0].value) <= PERSISTENT_UP_TO else "persistent"  # not the engine's choice
        yield f"cupy {other}", lambda: CudaSequenceEngine(form, mode=other)
        yield "cupy float64", lambda: CudaSequenceEngine(form, dtype="float64")
        if sweep:
            yield (
                "cupy 1x1024 not carried",
                lambda: CudaSequenceEngine(form, mode="persistent", blocks=1, carried=False),
            )
            for blocks in (1, 4, 8, 16, 32, 66, 132):
                for threads in (256, 512, 1024):
                    yield (
                        f"cupy {blocks}x{threads}",
                        lambda blocks=blocks, threads=threads: CudaSequenceEngine(
                            form, mode="persistent", blocks=blocks, block_threads=threads
                        ),
                    )
    if "torch" in installed and cuda:
        from regretless.engines.torch.sequence import TorchEngine

        yield "torch", lambda: TorchEngine(form, device="cuda")
        if sweep:
            yield "torch no graph", lambda: TorchEngine(form, device="cuda", graph=False)
    if "matrix" in installed:
        if "cuda" in installed and cuda:
            yield "matrix cuda", lambda: create("matrix", form, device="cuda")
        yield "matrix cpu", lambda: create("matrix", form, device="cpu")
    yield "numba", lambda: create("numba", form, threads=1)
    yield "numba float32", lambda: create("numba", form, dtype="float32", threads=1)
    yield "numba threads", lambda: create("numba", form, threads=os.cpu_count())


def about_machine() -> Row:
    found: Row = {**hardware(), "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="minutes")}
    for name in ("numpy", "numba", "scipy", "torch", "cupy"):
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


class Benchmark:
    """The measurements and their record, saved after every row so that a time limit loses nothing."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.began = time.perf_counter()
        self.games: list[Row] = []
        self.results: Row = {"hardware": about_machine(), "games": self.games}
        print(json.dumps(self.results["hardware"]), flush=True)

    def out_of_time(self) -> bool:
        return time.perf_counter() - self.began > self.arguments.seconds

    def save(self) -> None:
        if self.arguments.out is not None:
            self.arguments.out.mkdir(parents=True, exist_ok=True)
            path = self.arguments.out / f"{self.arguments.name}.json"
            path.write_text(json.dumps(self.results, indent=1), encoding="utf-8")

    def measure(self, name: str) -> None:
        start = time.perf_counter()
        history = compile_history(load(GAMES[name]))
        middle = time.perf_counter()
        form = compile_sequence(history)
        end = time.perf_counter()
        rows: list[Row] = []
        facts: Row = {
            "game": GAMES[name],
            "nodes": len(history.parent),
            "information_sets": len(history.keys),
            "entries": [len(matrix.value) for matrix in form.payoff],
            "size": devices.game_size(form),
            "seconds_history": middle - start,
            "seconds_sequence": end - middle,
            "engines": rows,
        }
        self.games.append(facts)
        print(f"\n{GAMES[name]}: {facts['nodes']:,} nodes, {facts['information_sets']:,} information sets,", end=" ")
        print(f"size {facts['size']:,}, built in {end - start:.1f} s", flush=True)
        wanted = self.arguments.engines.split(",") if self.arguments.engines else None
        for label, build in engines(form, self.arguments.sweep):
            if wanted is not None and label not in wanted:
                continue
            if facts["nodes"] > LARGEST.get(label, facts["nodes"]):
                continue
            if self.out_of_time():
                print("  out of time", flush=True)
                break
            rows.append(self.row(label, build))
            self.save()

    def row(self, label: str, build: Callable[[], Any]) -> Row:
        row: Row = {"engine": label}
        try:
            start = time.perf_counter()
            engine = build()
            row["setup_seconds"] = time.perf_counter() - start
            beginning = engine.snapshot()
            row["seconds_per_iteration"] = seconds_per_iteration(engine)
            row["threads"], row["plan"] = engine.threads, getattr(engine, "plan", "")
            if not self.arguments.no_target and label in TARGETED:
                engine.restore(beginning)
                row["to_target"] = time_to_target(engine, self.arguments.limit)
        except Exception as error:  # a failing engine must not lose the numbers of the others
            row["error"] = f"{type(error).__name__}: {error}"
            print(f"  {label:24s} {row['error'][:200]}", flush=True)
            return row
        reached = ""
        if target := row.get("to_target"):
            reached = f"1e-3 in {target['seconds']:8.4f} s, {target['iterations']:6d} it"
            if not target["reached"]:
                reached = f"{target['exploitability']:.1e} after {target['seconds']:.0f} s"
        micro = 1e6 * row["seconds_per_iteration"]
        print(f"  {label:24s} {micro:12.2f} us  {reached:34s} {row['plan']}", flush=True)
        return row

    def measure_batch(self, count: int) -> None:
        """A thousand Leduc games with different antes."""
        form = compile_history(load("leduc"))
        games = [replace_payoffs(form, form.payoff + np.sign(form.payoff) * number / count) for number in range(count)]
        rows: list[Row] = []
        self.results["batch"] = {"games": count, "engines": rows}
        print(f"\nbatch of {count} Leduc games", flush=True)
        for label, build in batches(games):
            if self.out_of_time():
                print("  out of time", flush=True)
                break
            try:
                start = time.perf_counter()
                engine = build()
                row = {"engine": label, "setup_seconds": time.perf_counter() - start}
                row["seconds_per_iteration"] = seconds_per_iteration(engine)
                engine.evaluate(None)
                row["seconds_evaluation"] = timed(lambda engine=engine: engine.evaluate(None))
            except Exception as error:
                row = {"engine": label, "error": f"{type(error).__name__}: {error}"}
                print(f"  {label:24s} {row['error'][:200]}", flush=True)
            else:
                micro, milli = 1e6 * row["seconds_per_iteration"], 1e3 * row["seconds_evaluation"]
                print(
                    f"  {label:24s} {micro:12.2f} us per iteration of all games, {micro / count:8.3f} us per game;"
                    f" evaluation {milli:.2f} ms, set up in {row['setup_seconds']:.1f} s",
                    flush=True,
                )
            rows.append(row)
            self.save()


def batches(games: list[Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Labels, and functions that build each engine for a batch."""
    installed = available()
    if devices.cuda_devices():
        if "cuda" in installed:
            from regretless.engines.cuda.sequence.engine import CudaSequenceSolve

            trees, terms = batched_terms(games)
            yield "cuda", lambda: BatchedEngine(games, device="cuda", engine="cuda")
            for threads, carried in ((256, False), (128, None), (512, None)):
                yield (
                    f"cupy {threads} threads" + (" not carried" if carried is False else ""),
                    lambda threads=threads, carried=carried: CudaSequenceSolve(
                        trees, terms, updates=Updates.ALTERNATING, block_threads=threads, carried=carried
                    ),
                )
        if "torch" in installed:
            yield "torch", lambda: BatchedEngine(games, device="cuda", engine="torch")
    if "torch" in installed:
        yield "torch cpu", lambda: BatchedEngine(games, engine="torch")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--games", default="usual", help=f"any of {', '.join([*GROUPS, *GAMES])}, comma-separated")
    parser.add_argument("--engines", default="", help="labels of the engines to run, comma-separated")
    parser.add_argument("--sweep", action="store_true", help="also try other numbers of blocks and threads")
    parser.add_argument("--no-target", action="store_true", help="skip the time to exploitability 1e-3")
    parser.add_argument("--limit", type=float, default=6.0, help="seconds after which to give up on the target")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start nothing new after this many seconds")
    parser.add_argument("--batch", type=int, default=1000, help="games in the batch; 0 skips it")
    parser.add_argument("--out", type=Path, help="folder for the results")
    parser.add_argument("--name", default="gpu_games", help="file name of the results, without .json")
    arguments = parser.parse_args()
    run = Benchmark(arguments)
    names = [name for group in arguments.games.split(",") for name in GROUPS.get(group, group).split(",") if name]
    if arguments.batch:
        run.measure_batch(arguments.batch)
    for name in names:
        if run.out_of_time():
            print(f"\n{GAMES[name]}: out of time", flush=True)
            continue
        run.measure(name)


if __name__ == "__main__":
    main()

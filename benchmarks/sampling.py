"""Monte Carlo CFR against OpenSpiel's C++: iterations per second on one thread, in the same run.

    python benchmarks/sampling.py [--game leduc] [--repeats 7] [--seconds 0.5] [--json]

In both, an iteration updates every player once. The two take turns, so that other work on the machine slows both
equally; each figure is the median over turns, as is the ratio of consecutive turns. Compiling and building the game are
not timed. `--batch` adds batches of deals (chance sampling), which OpenSpiel lacks, in deals per second.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable

os.environ.setdefault("OMP_NUM_THREADS", "1")

import pyspiel

from regretless.engines import Sampling
from regretless.engines.numba.sampling import NumbaSamplingEngine
from regretless.forms import compile_history
from regretless.games import load
from regretless.variants import Vanilla, schedule

OPENSPIEL_NAMES = {"kuhn": "kuhn_poker", "leduc": "leduc_poker"}
PIECE = 1_000  # iterations of ours in one call


def timed(step: Callable[[], int], seconds: float) -> float:
    """Units per second, measured over at least `seconds`."""
    done, began = 0, time.perf_counter()
    while (lasted := time.perf_counter() - began) < seconds:
        done += step()
    return done / lasted


def our_steps(engine: NumbaSamplingEngine, piece: int) -> Callable[[], int]:
    rows = schedule(Vanilla(), first=1, count=1).repeat(piece)
    engine.advance(rows[:2])

    def step() -> int:
        engine.advance(rows)
        return piece * engine.batch_size

    return step


def their_steps(solver: object) -> Callable[[], int]:
    run = solver.run_iteration  # type: ignore[attr-defined]

    def step() -> int:
        for _ in range(50):
            run()
        return 50

    return step


def compare(game: str, sampling: Sampling, repeats: int, seconds: float) -> dict[str, float | str]:
    engine = NumbaSamplingEngine(compile_history(load(game)), sampling=sampling)
    rules = pyspiel.load_game(OPENSPIEL_NAMES[game])
    solvers = {
        Sampling.EXTERNAL: pyspiel.ExternalSamplingMCCFRSolver,
        Sampling.OUTCOME: pyspiel.OutcomeSamplingMCCFRSolver,
    }
    ours, theirs = our_steps(engine, PIECE), their_steps(solvers[sampling](rules))
    turns = [(timed(ours, seconds), timed(theirs, seconds)) for _ in range(repeats)]
    return {
        "game": game,
        "sampling": str(sampling),
        "regretless_per_second": statistics.median(own for own, _ in turns),
        "openspiel_per_second": statistics.median(other for _, other in turns),
        "ratio": statistics.median(own / other for own, other in turns),
    }


def deals_per_second(game: str, batch_size: int, device: str, repeats: int, seconds: float) -> dict[str, float | str]:
    import torch

    from regretless.engines.torch.sampling import TorchSamplingEngine

    torch.set_num_threads(1)
    form = compile_history(load(game))
    engine = TorchSamplingEngine(form, batch_size=batch_size, device=device)
    rows = schedule(Vanilla(), first=1, count=20)
    engine.advance(rows)

    def step() -> int:
        engine.advance(rows)
        engine.snapshot()  # waits for the device
        return len(rows) * batch_size

    compiled = our_steps(NumbaSamplingEngine(form, sampling=Sampling.CHANCE, batch_size=min(batch_size, 1024)), 5)
    turns = [(timed(step, seconds), timed(compiled, seconds)) for _ in range(repeats)]
    return {
        "game": game,
        "batch_size": float(batch_size),
        "device": device,
        "torch_deals_per_second": statistics.median(own for own, _ in turns),
        "numba_deals_per_second": statistics.median(other for _, other in turns),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", action="append", choices=sorted(OPENSPIEL_NAMES))
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--batch", type=int, action="append", default=[])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    games = options.game or ["leduc", "kuhn"]
    rows = [
        compare(game, sampling, options.repeats, options.seconds)
        for game in games
        for sampling in (Sampling.EXTERNAL, Sampling.OUTCOME)
    ]
    batches = [
        deals_per_second(game, size, options.device, options.repeats, options.seconds)
        for game in games
        for size in options.batch
    ]
    if options.json:
        json.dump({"machine": platform.processor(), "walks": rows, "batches": batches}, sys.stdout, indent=1)
        return
    print(f"{'game':8}{'sampling':10}{'Regretless it/s':>18}{'OpenSpiel C++ it/s':>20}{'ratio':>9}")
    for row in rows:
        print(
            f"{row['game']:8}{row['sampling']:10}{row['regretless_per_second']:>18,.0f}"
            f"{row['openspiel_per_second']:>20,.0f}{row['ratio']:>8.1f}×"
        )
    for row in batches:
        print(
            f"{row['game']}, {row['batch_size']:,.0f} deals per batch: {row['torch_deals_per_second']:,.0f} deals/s in "
            f"PyTorch on {row['device']}, {row['numba_deals_per_second']:,.0f} compiled on the CPU"
        )


if __name__ == "__main__":
    main()

"""Time the shipped formations on random flops, with the trees that they come with, and compare with what is expected.

    python benchmarks/formations.py                                   the usual trees of three formations, a flop each
    python benchmarks/formations.py --formations all --flops 2 --cards 4 --level small

Each spot is solved to the target with a measurement every ten iterations, so that the iterations to it are known to
within ten. CPU seconds are those of this process: divided by the threads, what the solve would take on idle cores.
"""

from __future__ import annotations

import argparse
import json
import random
import time
import warnings
from pathlib import Path
from typing import Any

import machine

import regretless as rl
from regretless.cards.deck import DECK, board_text
from regretless.holdem import Spot
from regretless.holdem.estimate import estimate_spot
from regretless.holdem.expected_time import expected_iterations, expected_seconds, iteration_speed
from regretless.holdem.problem import spot_predicts
from regretless.holdem.spots.formations import formations
from regretless.holdem.spots.trees import TREE_LEVELS

SHOWN = ("srp-btn-bb", "3bet-btn-bb", "4bet-btn-bb")
EVERY = 10  # iterations between measurements


def boards(count: int, cards: int, seed: int) -> list[str]:
    drawing = random.Random(seed)
    return [board_text(drawing.sample(range(DECK), cards)) for _ in range(count)]


def measured(spot: Spot, *, target: float, threads: int, storage: int, speed: float) -> dict[str, Any]:
    size = estimate_spot(spot, threads=threads, predicts=spot_predicts(spot, None))
    iterations = expected_iterations(spot, target)
    started = time.process_time()
    solution = rl.solve(spot, target=target, threads=threads, storage=storage, measure_every=EVERY)
    cpu = time.process_time() - started
    return {
        "spot": spot.name,
        "board": board_text(spot.board),
        "depth": spot.stack / spot.pot,
        "entries": size.entries,
        "hands": size.hands,
        "memory_bytes": size.memory_bytes[storage],
        "expected_iterations": iterations,
        "iterations": solution.iterations,
        "expected_seconds": expected_seconds(size.entries, iterations, threads, speed),
        "seconds": solution.seconds,
        "cpu_seconds": cpu,
        "exploitability_pct_pot": solution.exploitability_pct_pot,
        "history": [[each.iteration, 100 * each.exploitability / spot.pot] for each in solution.history],
    }


def main() -> None:
    given = arguments()
    keys = [each.key for each in formations()] if given.formations == "all" else given.formations.split(",")
    speed = iteration_speed()
    processor = machine.hardware()["processor"]
    print(f"{processor}; {given.threads} threads, {speed * 1e9:.2f} ns per entry and iteration on one", flush=True)
    rows = []
    for formation in formations():
        if formation.key not in keys:
            continue
        for board in given.boards.split(",") if given.boards else boards(given.flops, given.cards, given.seed):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                spot = Spot.from_mapping(formation.fields(given.level) | {"board": board, "name": formation.key})
            rows.append(measured(spot, target=given.target, threads=given.threads, storage=given.storage, speed=speed))
            row = rows[-1]
            print(
                f"{row['spot']:12} {row['board']:14} {row['entries'] / 1e6:6.1f} M entries "
                f"{row['memory_bytes'] / 1e9:5.2f} GB  iterations {row['iterations']:4} "
                f"(expected {row['expected_iterations']:4})  seconds {row['seconds']:6.1f} "
                f"(expected {row['expected_seconds']:6.1f}, CPU {row['cpu_seconds']:6.1f})",
                flush=True,
            )
    if given.out is not None:
        described = {"machine": machine.hardware(), **{key: str(value) for key, value in vars(given).items()}}
        given.out.write_text(json.dumps(described | {"speed": speed, "rows": rows}, indent=1) + "\n")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--formations", default=",".join(SHOWN), help="their keys with commas, or all")
    parser.add_argument("--level", default="usual", choices=TREE_LEVELS)
    parser.add_argument("--flops", type=int, default=1, help="random boards per formation")
    parser.add_argument("--cards", type=int, default=3, choices=(3, 4, 5), help="on the board")
    parser.add_argument("--boards", default="", help="these boards instead, with commas")
    parser.add_argument("--seed", type=int, default=28)
    parser.add_argument("--target", type=float, default=0.5, help="percent of the pot")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--storage", type=int, default=32, choices=(32, 16))
    parser.add_argument("--out", type=Path, default=None, help="JSON to write")
    return parser.parse_args()


if __name__ == "__main__":
    main()

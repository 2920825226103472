"""All runouts or sampled ones: exact exploitability after equal seconds of iterations, without buckets.

    python benchmarks/sampled_runouts.py SPOT.toml [--counts 16,64,256] [--seconds 64]
    python benchmarks/sampled_runouts.py GAME.toml --flops 'subset(25)'

Solves take turns of a sixteenth of a second, one iteration at least, so that other work on the machine slows all of
them equally, and seconds are those of the processor, on one thread. After 1, 2, 4, … seconds of iterations, each is
measured on every runout, which is not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from regretless.engines import PublicEngine, RunoutSampling, create
from regretless.holdem.flops import read_flops
from regretless.holdem.form.runouts import compile_spot
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.real_cards import compile_game
from regretless.holdem.spots.spot import Spot
from regretless.variants import schedule
from regretless.variants.presets import read_variant

TURN = 1 / 16  # seconds


class Solve:
    """One engine, and how exploitable it is after how many seconds of iterations."""

    def __init__(self, engine: PublicEngine, count: int | None) -> None:
        self.engine, self.count = engine, count
        self.seconds, self.due = 0.0, 1.0
        self.curve: list[tuple[float, int, float]] = []  # seconds, iterations, exploitability
        self.measuring = 0.0  # seconds of the last measurement

    def run(self, variant: str, seconds: float, scale: float) -> None:
        """One turn."""
        began = time.process_time()
        while (lasted := time.process_time() - began) < seconds:
            self.engine.advance(schedule(read_variant(variant), self.engine.iteration + 1, 1))
        self.seconds += lasted
        if self.seconds >= self.due:
            began = time.process_time()
            exploitability = self.engine.evaluate().exploitability * scale
            self.measuring = time.process_time() - began
            self.curve.append((self.seconds, self.engine.iteration, exploitability))
            print(self.count, *self.curve[-1], file=sys.stderr, flush=True)
            while self.due <= self.seconds:
                self.due *= 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--flops", help="of a game from the deal")
    parser.add_argument("--counts", default="16,64,256", help="runouts per iteration, of each flop in a game")
    parser.add_argument("--variant", default="postflop")
    parser.add_argument("--seconds", type=float, default=64.0)
    parser.add_argument("--storage", type=int, default=32)
    given = parser.parse_args()
    if given.flops:
        form = compile_game(HoldemGame.read(given.file), read_flops(given.flops))
        first, scale, unit = 2, 1000.0, "mbb/g"
    else:
        spot = Spot.read(given.file)
        form, first, scale, unit = compile_spot(spot), 1, 100 / spot.pot, "% of the pot"
    solves = []
    for count in (None, *map(int, given.counts.split(","))):
        runouts = None
        if count is not None:
            runouts = RunoutSampling(variant=read_variant(given.variant), first=first, count=count)
        engine = create("numba", form, threads=1, storage=given.storage, runouts=runouts)
        solves.append(Solve(engine, count))
    while any(solve.seconds < given.seconds for solve in solves):
        for solve in solves:
            if solve.seconds <= min(each.seconds for each in solves) + TURN and solve.seconds < given.seconds:
                solve.run(given.variant, TURN, scale)
    for solve in solves:
        answer = {
            "file": given.file.name,
            "flops": given.flops,
            "sample_runouts": solve.count,
            "variant": given.variant,
            "unit": unit,
            "milliseconds_per_iteration": 1000 * solve.seconds / solve.engine.iteration,
            "seconds_per_measurement": solve.measuring,
            "curve": solve.curve,
            "machine": platform.processor() or platform.machine(),
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

"""What the price of one flop of a game takes: seconds and memory.

python benchmarks/price.py [examples/heads_up_20bb.toml] [--flop "Qs Jh 2h"] [--buckets 200] [--threads 2] [--json]

The strategy is random: how long an evaluation takes does not depend on it. The buckets are percentiles of strength,
computed for the flop while it is priced, as for a solution read from a file. CPU seconds are those of all threads, and
other processes hardly change them. The peak is that of the whole process, Python and its libraries included; the
estimate is what `regretless price` compares with free memory before it starts.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

from regretless.cards.deck import parse_board
from regretless.cards.ranges import Range
from regretless.engines import BucketStrategy, StrategyTables
from regretless.engines.numba.public.bucket_evaluator import NumbaBucketEvaluator
from regretless.forms.betting import Branch, flatten
from regretless.forms.history import FloatArray
from regretless.forms.public import NodeKind
from regretless.holdem.buckets.build import build_buckets
from regretless.holdem.buckets.plan import BucketPlan
from regretless.holdem.buckets.table import DividedBuckets
from regretless.holdem.form.betting import betting_of
from regretless.holdem.form.runouts import compile_holdem
from regretless.holdem.games.boards import GameBuckets, acting_streets
from regretless.holdem.games.flop_pricer import FlopPricer, flop_tree
from regretless.holdem.games.game import HoldemGame


def compile_kernels() -> None:
    """Evaluate a form without decisions, so that the first flop is not charged for compiling."""
    everything = Range.parse("100%")
    form = compile_holdem(range(5), everything, everything, flatten(Branch(NodeKind.SHOWDOWN, (1.0, 1.0))))
    maps = (np.zeros((1, len(form.hands[0].weight)), dtype=np.int32),)
    strategy = BucketStrategy((StrategyTables.of([], []),), (maps, maps))
    NumbaBucketEvaluator(form).evaluate(strategy)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", nargs="?", type=Path, default=Path("examples/heads_up_20bb.toml"))
    parser.add_argument("--flop", default="Qs Jh 2h")
    parser.add_argument("--buckets", type=int, default=200, help="per street")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()

    betting = betting_of(HoldemGame.read(asked.game))
    tree, flop, count = betting.tree, tuple(parse_board(asked.flop)), asked.buckets
    plan = BucketPlan(flop=count, turn=count, river=count, method="percentile", board=flop, sample=20_000)
    abstraction = DividedBuckets.of(build_buckets(plan, threads=asked.threads))
    buckets = GameBuckets(abstraction, acting_streets(tree))
    actions, random = np.diff(tree.first_child), np.random.default_rng(0)
    slots = int(actions[tree.kind == NodeKind.DECISION].sum())

    def strategy(node: int) -> FloatArray:
        drawn = random.random((int(actions[node]), buckets.counts[int(tree.street[node])]))
        return np.asarray(drawn / drawn.sum(axis=0))

    compile_kernels()
    pricer = FlopPricer(flop_tree(tree), betting.payoffs, buckets, strategy, threads=asked.threads)
    began, cpu_began = time.perf_counter(), time.process_time()
    pricer.values(flop)
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    found = {
        "game": str(asked.game),
        "flop": asked.flop,
        "action_slots": slots,
        "buckets": count,
        "threads": asked.threads,
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu_seconds, 2),
        "estimated_mb": round(pricer.memory_bytes / 1e6),
        "peak_mb": round(peak / 1e6),
    }
    if asked.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:15} {value}")


if __name__ == "__main__":
    main()

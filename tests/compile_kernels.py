"""Compiles kernels for all test processes: python -m tests.compile_kernels

That takes two processes a minute or two, and `make test` does it while pip installs what the tests need; only what
Regretless itself needs is installed yet. Otherwise each test process would compile its own.

No function is compiled by both: they would write the same files. The second begins with engines that see no cards, and
by the time it comes to those, the first has compiled the functions that compare hands.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from tests.engines.cuda_host_device import HostDevice
from tests.holdem.spots_of_every_kind import SPOTS

import regretless as rl
from regretless import engines
from regretless.cards.deck import parse_board
from regretless.cards.equity import equity
from regretless.cards.ranges import Range
from regretless.engines.cuda.public.source import KernelOptions, kernel_source
from regretless.engines.numba.public.bucket_evaluator import NumbaBucketEvaluator
from regretless.engines.priced import bucket_strategy
from regretless.forms import compile_history
from regretless.forms.bucketed import bucketed_form, lossless
from regretless.forms.public import PublicForm
from regretless.forms.public_poker import compile_public
from regretless.games import Kuhn
from regretless.holdem.buckets.build import build_buckets
from regretless.holdem.buckets.plan import BucketPlan
from regretless.holdem.form.runouts import compile_spot
from regretless.variants import PRESETS, schedule


def main() -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        for begun in [processes.submit(compile_group) for compile_group in (compile_public_kernels, compile_others)]:
            begun.result()


def compile_public_kernels() -> None:
    for name in ("river, monotone", "river, nearly all blocked"):  # terminals in 32 and in 64 bits
        for storage in (32, 16):
            rl.solve(SPOTS[name], iterations=1, threads=1, storage=storage, engine="numba")
        evaluate_buckets(compile_spot(SPOTS[name]))


def evaluate_buckets(form: PublicForm) -> None:
    """A strategy per bucket."""
    actions, hands = np.diff(form.tree.first_child), max(len(held.weight) for held in form.hands)
    strategy = bucket_strategy(form, lossless(form), lambda node: np.full((actions[node], hands), 1 / actions[node]))
    NumbaBucketEvaluator(form).evaluate(strategy)


def compile_others() -> None:
    os.nice(10)  # the public form takes longer, and should have a core to itself
    for sampling in ("chance", "external", "outcome"):
        rl.solve("kuhn", iterations=1, sampling=sampling, engine="numba")
    for dtype in ("float32", "float64"):
        engine = engines.create("numba", compile_history(Kuhn()), dtype=dtype)
        engine.advance(schedule(PRESETS["vanilla"], 1, 1))
        engine.evaluate()
    form = compile_public(Kuhn())
    engines.create("numba", bucketed_form(form, lossless(form), count=1)).advance(schedule(PRESETS["vanilla"], 1, 1))
    emulate_cuda()
    board, held = parse_board("Kh Qs Js"), Range.parse("AK, QQ")
    with tempfile.TemporaryDirectory() as folder:
        build_buckets(BucketPlan(flop=5, turn=5, river=5, board=board, sample=2000), Path(folder) / "buckets.rgl")
    equity(held, held, board)
    equity(held, held, board, samples=100)


def emulate_cuda() -> None:
    """The emulated kernels, if there is a compiler for them."""
    if shutil.which("g++") is None or not sys.platform.startswith("linux"):
        return
    for options in (
        KernelOptions(),
        KernelOptions(storage=16),
        KernelOptions(predicts=True),
        KernelOptions(wide=True),
        KernelOptions(bucketed=True),
    ):
        HostDevice().compile(kernel_source(), options.flags())


if __name__ == "__main__":
    main()

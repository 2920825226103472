"""Compiles the kernels of the public form for all test processes: python -m tests.compile_kernels

That takes up to a minute, and `make test` does it while pip installs what the tests need. Otherwise each test process
would compile its own.
"""

from __future__ import annotations

import numpy as np
from tests.holdem.spots_of_every_kind import SPOTS

import regretless as rl
from regretless.engines.bucketed.priced import bucket_strategy
from regretless.engines.public.compiled.bucket_evaluator import CompiledBucketEvaluator
from regretless.forms.drawn_runouts import lossless
from regretless.forms.public import PublicForm
from regretless.holdem.form.runouts import compile_spot


def main() -> None:
    for name in ("river, monotone", "river, nearly all blocked"):  # terminals in 32 and in 64 bits
        for storage in (32, 16):
            rl.solve(SPOTS[name], iterations=1, threads=1, storage=storage, engine="numba")
        evaluate_buckets(compile_spot(SPOTS[name]))


def evaluate_buckets(form: PublicForm) -> None:
    """A strategy per bucket."""
    actions, hands = np.diff(form.tree.first_child), max(len(held.weight) for held in form.hands)
    strategy = bucket_strategy(form, lossless(form), lambda node: np.ones((actions[node], hands)))
    CompiledBucketEvaluator(form).evaluate(strategy)


if __name__ == "__main__":
    main()

"""States of engines for general games: random ones to start from, and whether two engines are in the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless.engines.contract import Snapshot
from regretless.forms import HistoryForm


def random_snapshot(form: HistoryForm, seed: int) -> Snapshot:
    """A state without exact ties, so that engines that round differently do not diverge.

    One action of each set has a large regret: if all were floored at 0, the next strategy would depend on rounding.
    """
    random = np.random.default_rng(seed)
    pairs = int(form.first_pair[-1])
    weight = random.exponential(size=pairs)
    total = np.add.reduceat(weight, form.first_pair[:-1])
    strategy = weight / np.repeat(total, np.diff(form.first_pair))
    regret = random.normal(size=pairs)
    regret[form.first_pair[:-1]] += 10.0
    return Snapshot(3, {"regret": regret, "average": random.exponential(size=pairs), "strategy": strategy})


def assert_same(engine: Any, expected: Any, tolerance: float) -> None:
    ours, theirs = engine.snapshot(), expected.snapshot()
    assert ours.iteration == theirs.iteration
    for name in ("regret", "average", "strategy"):
        np.testing.assert_allclose(ours.arrays[name], theirs.arrays[name], rtol=tolerance, atol=tolerance, err_msg=name)
    np.testing.assert_allclose(engine.average_strategy(), expected.average_strategy(), atol=tolerance)
    ours, theirs = engine.evaluate(), expected.evaluate()
    np.testing.assert_allclose(ours.values, theirs.values, atol=tolerance)
    np.testing.assert_allclose(ours.best_response_values, theirs.best_response_values, atol=tolerance)

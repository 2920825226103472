"""Many games of one shape, solved in one call.

On a CUDA device, all games advance together, with one more array axis (`engines/batched.py`). On a CPU, the
compiled engine is faster one game at a time, because a small game stays in the L1 cache; games are spread over cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from regretless import engines
from regretless.engines import (
    BatchedEngine,
    BatchedEvaluation,
    Evaluation,
    check_one_shape,
    cuda_devices,
    devices,
    thread_limit,
)
from regretless.errors import InvalidOption
from regretless.forms.compile import compile_history, invert
from regretless.forms.history import FloatArray, HistoryForm, Strategy
from regretless.games.game import AnyGame, Game
from regretless.games.registry import as_game
from regretless.reprs import brief
from regretless.solving.kinds import Kind
from regretless.solving.options import SolveOptions
from regretless.variants.presets import read_variant
from regretless.variants.variant import Schedule, Variant, schedule

__all__ = ["BatchSolution", "solve_batch"]


@dataclass(frozen=True)
class BatchSolution:
    """The answers of a batch, by the position of a game in it."""

    games: tuple[str, ...]
    device: str
    iterations: int
    evaluation: BatchedEvaluation  # values and best responses, each [games, players]
    average: FloatArray = field(repr=False)  # [games, pairs]  average strategies
    form: HistoryForm = field(repr=False)  # of the first game; information sets and actions are the same for all

    __repr__ = brief

    def strategy(self, game: int) -> Strategy:
        """Information set -> action -> probability for one game."""
        return invert(self.form, self.average[game])


def solve_batch(
    games: Sequence[AnyGame | str | HistoryForm],
    *,
    variant: str | Variant = "plus",
    iterations: int = 1000,
    device: str = "auto",
    threads: int | None = None,
) -> BatchSolution:
    """Solve games whose trees are equal and whose payoffs or chance probabilities differ.

    >>> antes = [1, 2, 5]
    >>> batch = solve_batch([f"leduc(ante={ante})" for ante in antes], iterations=200)
    >>> batch.evaluation.exploitability.max() < 0.05
    np.True_
    >>> len(batch.strategy(2))
    936
    """
    options = SolveOptions.read({"variant": variant, "iterations": iterations, "device": device, "threads": threads})
    options.check(Kind.GAME)
    if options.variant is None or options.sampling is not None:
        raise InvalidOption("variant", variant, "samples the tree: the games of a batch are walked in full")
    if isinstance(games, str | Game):
        raise InvalidOption("games", games, "must be a list of games; regretless.solve solves one")
    rows = schedule(read_variant(options.variant), 1, iterations)
    forms = [game if isinstance(game, HistoryForm) else compile_history(as_game(game)) for game in games]
    check_one_shape(forms)
    if device == "auto":
        device = "cuda" if cuda_devices() else "cpu"
    if device == "cpu":
        average, evaluation = _one_by_one(forms, rows, thread_limit(threads))
    else:
        dtype = "float64" if devices.device_type(device) == "cuda" else "float32"
        together = BatchedEngine(forms, device=device, dtype=dtype)
        together.advance(rows)
        average, evaluation = together.average_strategy(), together.evaluate()
    return BatchSolution(tuple(form.name for form in forms), device, iterations, evaluation, average, forms[0])


def _one_by_one(forms: list[HistoryForm], rows: Schedule, threads: int) -> tuple[FloatArray, BatchedEvaluation]:
    """The averages and evaluations of games that are solved one at a time, on all cores."""

    def solve_one(form: HistoryForm) -> tuple[FloatArray, Evaluation]:
        engine = engines.create("numba", form, threads=1)
        engine.advance(rows)
        return engine.average_strategy(), engine.evaluate()

    first = solve_one(forms[0])  # compile the kernels once, before all threads do
    with ThreadPoolExecutor(threads) as pool:
        averages, evaluations = zip(first, *pool.map(solve_one, forms[1:]), strict=True)
    evaluation = BatchedEvaluation(
        np.array([evaluation.values for evaluation in evaluations]),
        np.array([evaluation.best_response_values for evaluation in evaluations]),
    )
    return np.stack(averages), evaluation

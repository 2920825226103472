"""The linear program with as much of an engine's interface as a solve needs; it does not iterate."""

from __future__ import annotations

import time
from contextlib import suppress
from importlib import import_module

from regretless import engines
from regretless.engines.contract import Evaluation, Snapshot
from regretless.forms.history import FloatArray, HistoryForm
from regretless.forms.memory import memory_bytes
from regretless.solvers.loop import Outcome
from regretless.solvers.readable.linear_program import solve_linear_program
from regretless.solvers.record import Measurement

__all__ = ["ExactEngine"]


class ExactEngine:
    """A two-player zero-sum game and, once solved, its equilibrium."""

    name, device, threads, iteration = "highs", "cpu", 1, 0

    def __init__(self, form: HistoryForm) -> None:
        self.form = form
        self.memory_bytes = memory_bytes(form)
        self._evaluator = engines.create("auto", form)
        self._strategy: FloatArray | None = None
        with suppress(ImportError):  # loaded here, so that solving time excludes it
            import_module("scipy.optimize")

    def solve(self) -> Outcome:
        """Solve the linear program."""
        began = time.perf_counter()
        self._strategy = solve_linear_program(self.form).strategy
        seconds = time.perf_counter() - began
        evaluation = self.evaluate()
        history = (Measurement(0, seconds, evaluation.exploitability),)
        return Outcome("exact", 0, evaluation, history, seconds, 0.0)

    def average_strategy(self) -> FloatArray:
        assert self._strategy is not None
        return self._strategy

    def evaluate(self) -> Evaluation:
        return self._evaluator.evaluate(self.average_strategy())

    def snapshot(self, *, copy: bool = True) -> Snapshot | None:
        """Nothing iterates, so there is nothing to resume."""
        return None

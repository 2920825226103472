"""The exact equilibrium of a two-player zero-sum game, by linear program over its sequence form.

With x and y the realization plans of the players, A the payoffs of player 0 and E x = e, F y = f the constraints that
define a plan (1 for the empty sequence; in each information set, the actions sum to the parent sequence):

    max over x   min over y   xᵀ A y        and by duality of the inner problem

    maximise   fᵀ q   over x and q,   where   E x = e,   Fᵀ q ≤ Aᵀ x,   x ≥ 0

The optimum is the value of the game to player 0, x is an optimal plan of player 0, and the dual variables of the
inequalities are an optimal plan of player 1: one solve gives both. The solver is SciPy's HiGHS.

Koller, Megiddo & von Stengel: Efficient Computation of Equilibria for Extensive Two-Person Games. 1996.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from regretless import engines
from regretless.engines import Evaluation, Snapshot
from regretless.errors import InvalidGame, MissingExtra, RegretlessError
from regretless.forms.history import FloatArray, HistoryForm
from regretless.forms.memory import memory_bytes
from regretless.forms.sequence import SequenceForm, SequenceTree, compile_sequence
from regretless.reprs import brief
from regretless.solving.loop import Outcome
from regretless.solving.record import Measurement

__all__ = ["ExactEngine", "ExactSolution", "solve_linear_program"]

Sparse = Any  # scipy.sparse.csr_array


@dataclass(frozen=True)
class ExactSolution:
    """An equilibrium up to the tolerance of the linear program, about 1e-9."""

    value: float  # to player 0; player 1 gets the opposite
    strategy: FloatArray  # [Q]  both players, over the pairs of the history form; uniform where a plan is 0

    __repr__ = brief


def solve_linear_program(form: HistoryForm | SequenceForm) -> ExactSolution:
    """Solve a two-player zero-sum game exactly.

    >>> from regretless.forms import compile_history
    >>> from regretless.games import Kuhn
    >>> round(solve_linear_program(compile_history(Kuhn())).value, 6)
    -0.055556
    """
    history = form.history if isinstance(form, SequenceForm) else form
    if history.players != 2 or not history.zero_sum:
        kind = f"has {history.players} players" if history.players != 2 else "is not zero-sum"
        raise InvalidGame(f"{history.name} {kind}: the linear program solves two-player zero-sum games")
    try:
        from scipy.optimize import linprog
        from scipy.sparse import csr_array, hstack
    except ImportError:
        raise MissingExtra("scipy", "exact") from None
    sequence = form if isinstance(form, SequenceForm) else compile_sequence(form)
    own, other = sequence.trees
    payoff = sequence.payoff[0]
    rows, columns = len(own.pair), len(other.pair)
    constraints, other_constraints = _plan_constraints(own), _plan_constraints(other)
    entries = (payoff.value, payoff.column, payoff.start)
    payoff_matrix = csr_array(entries, shape=(rows, columns))
    duals = len(other.information_set) + 1

    cost = np.zeros(rows + duals)
    cost[rows] = -1.0  # fᵀ q: f is 1 only for the empty sequence
    result = linprog(
        cost,
        A_ub=hstack([-payoff_matrix.T, other_constraints.T], format="csr"),
        b_ub=np.zeros(columns),
        A_eq=hstack([constraints, csr_array((constraints.shape[0], duals))], format="csr"),
        b_eq=np.eye(1, constraints.shape[0]).ravel(),
        bounds=np.array([(0.0, np.inf)] * rows + [(-np.inf, np.inf)] * duals),
        method="highs",
    )
    if not result.success:
        raise RegretlessError(f"the linear program of {history.name} was not solved: {result.message}")
    strategy = np.zeros(history.first_pair[-1])
    strategy[own.pair[1:]] = _behavior(own, result.x[:rows])
    strategy[other.pair[1:]] = _behavior(other, -result.ineqlin.marginals)
    return ExactSolution(value=float(-result.fun), strategy=strategy)


class ExactEngine:
    """A game and, once solved, its equilibrium: as much of an engine as a solve needs; it does not iterate."""

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


def _plan_constraints(tree: SequenceTree) -> Sparse:
    """E: one row for the empty sequence, then one per information set: its actions minus the parent sequence."""
    from scipy.sparse import csr_array

    sets = len(tree.information_set)
    count = np.diff(tree.first_sequence)
    row = np.concatenate([[0], np.repeat(np.arange(sets), count) + 1, np.arange(sets) + 1])
    column = np.concatenate([np.arange(len(tree.pair)), tree.parent_sequence])
    value = np.concatenate([np.ones(len(tree.pair)), -np.ones(sets)])
    return csr_array((value, (row, column)), shape=(sets + 1, len(tree.pair)))


def _behavior(tree: SequenceTree, plan: FloatArray) -> FloatArray:
    """The strategy behind a plan: each action's share of its information set, uniform where the plan is 0."""
    count = np.diff(tree.first_sequence)
    weight = np.maximum(plan[1:], 0.0)
    total = np.add.reduceat(weight, tree.first_sequence[:-1] - 1) if len(count) else np.zeros(0)
    share: FloatArray = np.where(
        np.repeat(total > 0, count),
        weight / np.repeat(np.where(total > 0, total, 1.0), count),
        np.repeat(1.0 / count, count),
    )
    return share

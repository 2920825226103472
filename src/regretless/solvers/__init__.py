"""The loop, the readable reference, best responses and the ways to ask for a solution."""

from regretless.solvers.batch import BatchSolution, solve_batch
from regretless.solvers.interrupt import catch_interrupts
from regretless.solvers.loop import Measurement, Outcome, Problem, Progress, Stop, run
from regretless.solvers.readable.best_response import BestResponse, evaluate, expected_values
from regretless.solvers.readable.cfr import CFR
from regretless.solvers.readable.reference import Reference
from regretless.solvers.readable.strategies import uniform_strategy
from regretless.solvers.solution import Settings, Solution
from regretless.solvers.solve import solve
from regretless.solvers.solver import Solver
from regretless.solvers.verification import Verification, verify_game

__all__ = [
    "CFR",
    "BatchSolution",
    "BestResponse",
    "Measurement",
    "Outcome",
    "Problem",
    "Progress",
    "Reference",
    "Settings",
    "Solution",
    "Solver",
    "Stop",
    "Verification",
    "catch_interrupts",
    "evaluate",
    "expected_values",
    "run",
    "solve",
    "solve_batch",
    "uniform_strategy",
    "verify_game",
]

"""The path from a request to a solution; the loop; readable CFR, best response and linear program."""

from regretless.solvers.batch import BatchSolution, solve_batch
from regretless.solvers.game_problem import GameProblem, solve_game
from regretless.solvers.game_solution import GameSolution
from regretless.solvers.loop import Outcome, Progress, Stop, run
from regretless.solvers.problem import Problem
from regretless.solvers.progress.interrupt import catch_interrupts
from regretless.solvers.readable.best_response import BestResponse, evaluate, expected_values
from regretless.solvers.readable.cfr import CFR, uniform_strategy
from regretless.solvers.readable.reference import Reference
from regretless.solvers.readable.vanilla import CFRNode, VanillaCFR
from regretless.solvers.record import Measurement, Record, Settings
from regretless.solvers.request import Request
from regretless.solvers.solution import Solution
from regretless.solvers.solver import Solver
from regretless.solvers.verification import Verification, verify_game

__all__ = [
    "CFR",
    "BatchSolution",
    "BestResponse",
    "CFRNode",
    "GameProblem",
    "GameSolution",
    "Measurement",
    "Outcome",
    "Problem",
    "Progress",
    "Record",
    "Reference",
    "Request",
    "Settings",
    "Solution",
    "Solver",
    "Stop",
    "VanillaCFR",
    "Verification",
    "catch_interrupts",
    "evaluate",
    "expected_values",
    "run",
    "solve_batch",
    "solve_game",
    "uniform_strategy",
    "verify_game",
]  # fmt: skip

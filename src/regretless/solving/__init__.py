"""The path from a request to a solution; the loop; readable CFR, best response and linear program."""

from regretless.solving.batch import BatchSolution, solve_batch
from regretless.solving.game_problem import GameProblem, solve_game
from regretless.solving.game_solution import GameSolution
from regretless.solving.interrupt import catch_interrupts
from regretless.solving.loop import Outcome, Progress, Stop, run
from regretless.solving.problem import Problem, Request
from regretless.solving.readable.best_response import BestResponse, evaluate, expected_values
from regretless.solving.readable.cfr import CFR, uniform_strategy
from regretless.solving.readable.reference import Reference
from regretless.solving.readable.vanilla import CFRNode, VanillaCFR
from regretless.solving.record import Measurement, Record, Settings
from regretless.solving.solution import Solution
from regretless.solving.solver import Solver
from regretless.solving.verification import Verification, verify_game

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

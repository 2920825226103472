"""Hold'em: board, ranges and bets in, strategies and values out. In the order the data flows:

spots/        spots, bet sizes and locks, and their text
form/         betting tree, equivalent suits, runouts: the public form
estimate      how large it is, before anything is built
problem       a spot on the path from request to solution (locking: locked decisions; many: spots in parallel)
solution      the answer, which saves and loads itself
reading/      from a line of play to everything known there
verification  an independent check of a solution (unmerged: on the full deck, without the engine)
comparison    two solutions of one board                  exports    nodes as CSV, JSON and Parquet
buckets/      card abstraction: tables of buckets, built and read
games/        from the deal: push or fold, flop hold'em, whole games; and everything solved with buckets
flops         the flops of a study, or of a price: all, a subset, or some
studies/      one formation over many flops, kept as tables
"""

from regretless.holdem.comparison import SpotComparison, compare_spots
from regretless.holdem.estimate import Estimate, estimate_spot
from regretless.holdem.form.betting import betting_tree
from regretless.holdem.form.runouts import compile_spot
from regretless.holdem.games.charts import PreflopChart, chart, charts
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.game_size import GameEstimate, estimate_game
from regretless.holdem.many import solve_many
from regretless.holdem.problem import SpotProblem, solve_spot
from regretless.holdem.reading.nodes import HandTable, NodeView, Runout, RunoutReport
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.locks import Lock, LockFrom, parse_lock
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import Bets, Lines, PlayerSizes, Rules, StreetSizes
from regretless.holdem.verification import SpotVerification, verify_spot

__all__ = [
    "Bets", "Estimate", "GameEstimate", "HandTable", "HoldemGame", "Lines", "Lock", "LockFrom", "NodeView",
    "PlayerSizes", "PreflopChart", "Rules", "Runout", "RunoutReport", "Spot", "SpotComparison", "SpotProblem",
    "SpotSolution", "SpotVerification", "StreetSizes", "betting_tree", "chart", "charts", "compare_spots",
    "compile_spot", "estimate_game", "estimate_spot", "parse_lock", "solve_many", "solve_spot", "verify_spot",
]  # fmt: skip

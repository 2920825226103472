"""Hold'em spots: board, ranges and bets in, strategies and values out. In the order the data flows:

spot          what to solve                       (sizes: the bet size language; spot_reader, spot_writer: TOML;
                                                  rounding: what whole chips do to sizes)
betting       the betting tree, apart from cards  (lines: lines of play as text)
suits         deals that play alike
estimate      how large it is, before anything is built
runouts       betting tree × deals × hands: the public form
locks         decisions that are given            (lock_text: as text; held: put into an engine, sources read)
solve, many   one spot, or many at once
solution      the answer                          (reading: from a line to a node; nodes: what is known there)
grids         a node by classes of hands          (exports: nodes as files; comparison: two solutions, node by node)
files         solutions and checkpoints on disk   (file_answers: arrays of a file; probabilities: how they are kept)
evaluation    values of single nodes in NumPy     (matchups: who meets whom)
verification  a solution checked by another route (unmerged: the full deck in float64; plain_strength: showdowns)
"""

from regretless.holdem.checking.verification import SpotVerification, verify_spot
from regretless.holdem.estimate import Estimate, estimate_spot
from regretless.holdem.files import load_solution, save_solution
from regretless.holdem.form.betting import betting_tree
from regretless.holdem.many import solve_many
from regretless.holdem.reading.nodes import HandTable, NodeView, Runout, RunoutReport
from regretless.holdem.reports.comparison import SpotComparison, compare_spots
from regretless.holdem.solution import SpotSolution
from regretless.holdem.solve import compile_spot, resume_spot, solve_spot
from regretless.holdem.spots.lock_text import parse_lock
from regretless.holdem.spots.locks import Lock, LockFrom
from regretless.holdem.spots.spot import Bets, Lines, PlayerSizes, Rules, Spot, StreetSizes

__all__ = [
    "Bets",
    "Estimate",
    "HandTable",
    "Lines",
    "Lock",
    "LockFrom",
    "NodeView",
    "PlayerSizes",
    "Rules",
    "Runout",
    "RunoutReport",
    "Spot",
    "SpotComparison",
    "SpotSolution",
    "SpotVerification",
    "StreetSizes",
    "betting_tree",
    "compare_spots",
    "compile_spot",
    "estimate_spot",
    "load_solution",
    "parse_lock",
    "resume_spot",
    "save_solution",
    "solve_many",
    "solve_spot",
    "verify_spot",
]

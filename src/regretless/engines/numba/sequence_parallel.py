"""The sweeps of the numba engine on several threads, for two-player games that are large enough to gain from it.

Threads share the strips of each group of `sequence_kernels.py`. Waking threads takes a few microseconds per group, so
liar's dice, goofspiel with 6 cards and Leduc with 13 ranks would only get slower, while battleship 3×2 (2.3 million
nodes) runs three times as fast on 16 cores. Two things stay on one thread: adding values to parents, because two strips
may share a parent, and the payoffs, whose rows build on one another in many small batches (sharing them made goofspiel
with 7 cards slower: 57 ms instead of 34).

So these are not the loops of `sequence_kernels.py` with `prange`: there, all strips use one buffer of a strip's length
and add their values to parents at once.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from regretless.compiling import threaded
from regretless.engines.numba import sequence_kernels
from regretless.engines.numba.sequence_kernels import (
    Numbers,
    Rows,
    State,
    Tree,
    numbers_of,
    payoffs_of_rows,
    realize_strip,
    update_many,
    update_two,
)
from regretless.variants.variant import Schedule

__all__ = ["advance_rows_threads"]

STRIP = int(sequence_kernels.STRIP)


@threaded
def update_player_threads(tree: Tree, player: int, state: State, worth: Numbers, total: Numbers, row: np.void) -> None:
    """Steps 2 and 3 for one player; `worth` and `total` hold a whole group."""
    regret, average, strategy, plan, payoff = state
    weights, decay, weight = numbers_of(row, worth)
    first_group, end_group = tree.first_group[player], tree.first_group[player + 1]
    for g in range(end_group - 1, first_group - 1, -1):
        first, sets, actions, place = tree.groups[g]
        for strip in prange((np.int64(sets) + STRIP - 1) // STRIP):
            begin = np.uint64(strip * STRIP)
            count = min(np.uint64(STRIP), sets - begin)
            own, sums = worth[begin : begin + count], total[begin : begin + count]
            if actions == np.uint64(2):
                update_two(regret, strategy, payoff, own, first + begin, sets, count, weights)
            else:
                update_many(regret, strategy, payoff, own, sums, first + begin, sets, count, actions, weights)
        for i in range(sets):
            payoff[tree.parent[place + i]] += worth[i]
    for g in range(first_group, end_group):
        first, sets, actions, place = tree.groups[g]
        for strip in prange((np.int64(sets) + STRIP - 1) // STRIP):
            begin = np.uint64(strip * STRIP)
            count = min(np.uint64(STRIP), sets - begin)
            reach = worth[begin : begin + count]
            for i in range(count):
                reach[i] = plan[tree.parent[place + begin + i]]
            realize_strip(average, strategy, plan, reach, first + begin, sets, count, actions, decay, weight)


@threaded
def advance_rows_threads(schedule: Schedule, alternating: bool, tree: Tree, rows: Rows, state: State) -> None:
    """All iterations of a schedule for two players, payoffs by rows."""
    y = np.zeros(len(rows.reference), state.plan.dtype)
    largest = max(tree.groups[:, 1])
    worth, total = np.empty(largest, y.dtype), np.empty(largest, y.dtype)
    for t in range(len(schedule)):
        for player in range(2):
            payoffs_of_rows(rows, tree, player, state.plan, y, state.payoff)
            if alternating:
                update_player_threads(tree, player, state, worth, total, schedule[t])
        if not alternating:
            for player in range(2):
                update_player_threads(tree, player, state, worth, total, schedule[t])

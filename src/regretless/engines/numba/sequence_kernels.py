"""The passes of the numba engine, compiled.

For the player that is updated, over the slots of `sequence.py`:

1. payoffs   of their sequences against the others' plans: `payoffs_of_rows` for two players, `payoffs_of_terminals`
             for any number.
2. up        deepest group first, `update_two` and `update_many`: v = Σ_a σ(a) · u(a), the regrets u(a) − v, the update
             of `variants/variant.py` and the next σ, in one pass over a strip of sets; then v is added to u of the
             sequence above.
3. down      root first, `realize_strip`: S ← S · average_decay + average_weight · plan, with the plan just played, then
             the plan of the next σ.

`advance_…` runs all iterations of a schedule in one call and allocates only at its start.

Every index is unsigned: with a signed one, numba checks at each access whether it counts from the end, which makes the
product five times slower and prevents vectorisation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from regretless.compiling import inlined, kernel, threaded, unaliased
from regretless.engines.numba.update import StepWeights, next_average, next_regret, step_weights, to_match
from regretless.variants.variant import Schedule

__all__ = [
    "STRIP",
    "PayingTerminals",
    "Rows",
    "SlotState",
    "Tree",
    "advance_rows",
    "advance_rows_threads",
    "advance_terminals",
    "best_response",
    "payoffs_of_rows",
    "payoffs_of_terminals",
    "realize",
]

Numbers = NDArray[np.floating]
Indices = NDArray[np.integer]  # unsigned
Index = Any  # numpy.uint64

STRIP = np.uint64(512)  # information sets handled at a time, so that their numbers stay in the L1 cache
ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)


class Tree(NamedTuple):
    """`sequence.SlotLayout`, for kernels."""

    first_slot: Indices  # [P+1]
    first_group: NDArray[np.int64]  # [P+1]
    groups: Indices  # [G, 4]  first slot, sets, actions per set, first index into `parent`
    parent: Indices  # [I]


class Rows(NamedTuple):
    """`payoff_rows.PayoffRows` of both players, in the same arrays."""

    first_batch: NDArray[np.int64]  # [3]
    batches: Indices  # [B, 4]  first row, rows, entries of each, first entry
    reference: Indices  # [rows]
    column: Indices  # [entries]  slots
    value: Numbers  # [entries]
    row_of_slot: Indices  # [slots]


class PayingTerminals(NamedTuple):
    """The terminals once per player, sorted by the slot in which that player's moves end."""

    start: Indices  # [slots+1]  entries of a slot
    weight: Numbers  # [entries]  chance times payoff
    others: Indices  # [entries, P−1]  slots in which the other players' moves end


class SlotState(NamedTuple):
    """What CFR updates, over slots."""

    regret: Numbers
    average: Numbers
    strategy: Numbers
    plan: Numbers  # realization plan of `strategy`
    payoff: Numbers  # u, scratch


@inlined
def sum_rows(rows: Rows, first: Index, end: Index, length: Index, entry: Index, plan: Numbers, y: Numbers) -> None:
    """y[r] = y[reference[r]] + Σ value · plan[column] for rows of one length; `entry` is the first of the first row."""
    reference, column, value = rows.reference, rows.column, rows.value
    if length == ONE:
        for r in range(first, end):
            y[r] = y[reference[r]] + value[entry] * plan[column[entry]]
            entry += ONE
    elif length == TWO:
        for r in range(first, end):
            pair = value[entry] * plan[column[entry]] + value[entry + ONE] * plan[column[entry + ONE]]
            y[r] = y[reference[r]] + pair
            entry += TWO
    else:
        for r in range(first, end):
            last = entry + length - ONE
            total = y[reference[r]]
            other = value[entry] * plan[column[entry]]  # two sums: an addition need not wait for the one before
            for e in range(entry + ONE, last, TWO):
                total += value[e] * plan[column[e]]
                other += value[e + ONE] * plan[column[e + ONE]]
            if length % TWO == ZERO:
                total += value[last] * plan[column[last]]
            y[r] = total + other
            entry += length


@kernel
def payoffs_of_rows(rows: Rows, tree: Tree, player: int, plan: Numbers, y: Numbers, payoff: Numbers) -> None:
    """Sum all rows of the player, batch by batch, then copy each slot's row into `payoff`."""
    for b in range(rows.first_batch[player], rows.first_batch[player + 1]):
        first, count, length, entry = rows.batches[b]
        sum_rows(rows, first, first + count, length, entry, plan, y)
    for slot in range(tree.first_slot[player], tree.first_slot[player + 1]):
        payoff[slot] = y[rows.row_of_slot[slot]]


@kernel
def payoffs_of_terminals(terminals: PayingTerminals, tree: Tree, player: int, plan: Numbers, payoff: Numbers) -> None:
    """Sum, for each sequence, the weighted payoffs of the terminals that end it times the others' plans."""
    start, weight, others = terminals.start, terminals.weight, terminals.others
    for slot in range(tree.first_slot[player], tree.first_slot[player + 1]):
        total = plan[0] * 0
        for entry in range(start[slot], start[slot + ONE]):
            product = weight[entry]
            for other in range(others.shape[1]):
                product *= plan[others[entry, other]]
            total += product
        payoff[slot] = total


@unaliased
def update_two(
    regret: Numbers,
    strategy: Numbers,
    payoff: Numbers,
    values: Numbers,
    first: Index,
    step: Index,
    count: Index,
    weights: StepWeights,
) -> None:
    """Step 2 for `count` sets of two actions, which are `step` slots apart."""
    a, b = first, first + step
    half, one, zero = values.dtype.type(0.5), values.dtype.type(1.0), values.dtype.type(0.0)
    smallest = np.finfo(values.dtype).tiny  # a smaller sum counts as 0, see `numpy/sequence.py`
    for i in range(count):
        u0, u1 = payoff[a + i], payoff[b + i]
        v = strategy[a + i] * u0 + strategy[b + i] * u1
        r0, r1 = u0 - v, u1 - v
        regret0, regret1 = next_regret(regret[a + i], r0, weights), next_regret(regret[b + i], r1, weights)
        z0, z1 = max(to_match(regret0, r0, weights), zero), max(to_match(regret1, r1, weights), zero)
        total = z0 + z1
        share = one / (total if total >= smallest else one)
        strategy[a + i] = z0 * share if total >= smallest else half
        strategy[b + i] = z1 * share if total >= smallest else half
        regret[a + i], regret[b + i] = regret0, regret1
        values[i] = v


@unaliased
def update_many(
    regret: Numbers,
    strategy: Numbers,
    payoff: Numbers,
    values: Numbers,
    total: Numbers,
    first: Index,
    step: Index,
    count: Index,
    actions: Index,
    weights: StepWeights,
) -> None:
    """Step 2 for `count` sets of any number of actions."""
    one, zero = values.dtype.type(1.0), values.dtype.type(0.0)
    uniform = one / values.dtype.type(actions)
    smallest = np.finfo(values.dtype).tiny  # a smaller sum counts as 0, see `numpy/sequence.py`
    a = first
    for i in range(count):
        values[i] = strategy[a + i] * payoff[a + i]
        total[i] = zero
    for _ in range(ONE, actions):
        a += step
        for i in range(count):
            values[i] += strategy[a + i] * payoff[a + i]
    a = first
    for _ in range(actions):
        for i in range(count):
            r = payoff[a + i] - values[i]
            updated = next_regret(regret[a + i], r, weights)
            z = max(to_match(updated, r, weights), zero)
            regret[a + i] = updated
            strategy[a + i] = z
            total[i] += z
        a += step
    a = first
    for _ in range(actions):
        for i in range(count):
            share = one / (total[i] if total[i] >= smallest else one)
            strategy[a + i] = strategy[a + i] * share if total[i] >= smallest else uniform
        a += step


@unaliased
def realize_strip(
    average: Numbers,
    strategy: Numbers,
    plan: Numbers,
    reach: Numbers,
    first: Index,
    step: Index,
    count: Index,
    actions: Index,
    weights: StepWeights,
) -> None:
    """Step 3 for `count` sets; `reach` is the plan of the sequences that lead to them."""
    a = first
    for _ in range(actions):
        for i in range(count):
            average[a + i] = next_average(average[a + i], weights.average_weight * plan[a + i], weights)
            plan[a + i] = strategy[a + i] * reach[i]
        a += step


@kernel
def update_player(tree: Tree, player: int, state: SlotState, values: Numbers, total: Numbers, row: np.void) -> None:
    """Steps 2 and 3 for one player; `row` is a row of the schedule."""
    regret, average, strategy, plan, payoff = state
    weights = step_weights(row, values)
    first_group, end_group = tree.first_group[player], tree.first_group[player + 1]
    for g in range(end_group - 1, first_group - 1, -1):
        first, sets, actions, first_parent = tree.groups[g]
        for strip in range(ZERO, sets, STRIP):
            count = min(STRIP, sets - strip)
            if actions == TWO:
                update_two(regret, strategy, payoff, values, first + strip, sets, count, weights)
            else:
                update_many(regret, strategy, payoff, values, total, first + strip, sets, count, actions, weights)
            for i in range(count):
                payoff[tree.parent[first_parent + strip + i]] += values[i]
    for g in range(first_group, end_group):
        first, sets, actions, first_parent = tree.groups[g]
        for strip in range(ZERO, sets, STRIP):
            count = min(STRIP, sets - strip)
            for i in range(count):
                values[i] = plan[tree.parent[first_parent + strip + i]]
            realize_strip(average, strategy, plan, values, first + strip, sets, count, actions, weights)


@kernel
def advance_rows(schedule: Schedule, alternating: bool, tree: Tree, rows: Rows, state: SlotState) -> None:
    """All iterations of a schedule for two players, payoffs by rows."""
    y = np.zeros(len(rows.reference), state.plan.dtype)
    values, total = np.empty(STRIP, y.dtype), np.empty(STRIP, y.dtype)
    for t in range(len(schedule)):
        for player in range(2):
            payoffs_of_rows(rows, tree, player, state.plan, y, state.payoff)
            if alternating:
                update_player(tree, player, state, values, total, schedule[t])
        if not alternating:
            for player in range(2):
                update_player(tree, player, state, values, total, schedule[t])


@kernel
def advance_terminals(
    schedule: Schedule, alternating: bool, tree: Tree, terminals: PayingTerminals, state: SlotState
) -> None:
    """All iterations of a schedule for any number of players, payoffs by terminals."""
    values, total = np.empty(STRIP, state.plan.dtype), np.empty(STRIP, state.plan.dtype)
    players = len(tree.first_slot) - 1
    for t in range(len(schedule)):
        for player in range(players):
            payoffs_of_terminals(terminals, tree, player, state.plan, state.payoff)
            if alternating:
                update_player(tree, player, state, values, total, schedule[t])
        if not alternating:
            for player in range(players):
                update_player(tree, player, state, values, total, schedule[t])


@kernel
def realize(tree: Tree, strategy: Numbers, plan: Numbers) -> None:
    """The plan of a strategy, for all players; `plan` must already hold that of the empty sequences."""
    for g in range(len(tree.groups)):
        first, sets, actions, first_parent = tree.groups[g]
        for action in range(actions):
            for i in range(sets):
                slot = first + action * sets + i
                plan[slot] = plan[tree.parent[first_parent + i]] * strategy[slot]


@kernel
def best_response(tree: Tree, player: int, payoff: Numbers) -> None:
    """Step 2 with a maximum instead of the mean; `payoff` of the empty sequence becomes the value."""
    for g in range(tree.first_group[player + 1] - 1, tree.first_group[player] - 1, -1):
        first, sets, actions, first_parent = tree.groups[g]
        for i in range(sets):
            best = payoff[first + i]
            for action in range(ONE, actions):
                best = max(best, payoff[first + action * sets + i])
            payoff[tree.parent[first_parent + i]] += best


# --- on several threads -----------------------------------------------------------------------------------------------
#
# For two-player games that are large enough to gain from it, threads share the strips of each group. Waking threads
# takes a few microseconds per group, so liar's dice, goofspiel with 6 cards and Leduc with 13 ranks would only get
# slower, while battleship 3×2 (2.3 million nodes) runs three times as fast on 16 cores. Two things stay on one thread:
# adding values to parents, because two strips may share a parent, and the payoffs, whose rows build on one another in
# many small batches (sharing them made goofspiel with 7 cards slower: 57 ms instead of 34).
#
# So these are not the loops above with `prange`: above, all strips use one buffer of a strip's length and add their
# values to parents at once.

WHOLE_STRIP = int(STRIP)  # signed, as `prange` counts


@threaded
def update_player_threads(
    tree: Tree, player: int, state: SlotState, values: Numbers, total: Numbers, row: np.void
) -> None:
    """Steps 2 and 3 for one player; `values` and `total` hold a whole group."""
    regret, average, strategy, plan, payoff = state
    weights = step_weights(row, values)
    first_group, end_group = tree.first_group[player], tree.first_group[player + 1]
    for g in range(end_group - 1, first_group - 1, -1):
        first, sets, actions, first_parent = tree.groups[g]
        for strip in prange((np.int64(sets) + WHOLE_STRIP - 1) // WHOLE_STRIP):
            begin = np.uint64(strip * WHOLE_STRIP)
            count = min(STRIP, sets - begin)
            own, sums = values[begin : begin + count], total[begin : begin + count]
            if actions == TWO:
                update_two(regret, strategy, payoff, own, first + begin, sets, count, weights)
            else:
                update_many(regret, strategy, payoff, own, sums, first + begin, sets, count, actions, weights)
        for i in range(sets):
            payoff[tree.parent[first_parent + i]] += values[i]
    for g in range(first_group, end_group):
        first, sets, actions, first_parent = tree.groups[g]
        for strip in prange((np.int64(sets) + WHOLE_STRIP - 1) // WHOLE_STRIP):
            begin = np.uint64(strip * WHOLE_STRIP)
            count = min(STRIP, sets - begin)
            reach = values[begin : begin + count]
            for i in range(count):
                reach[i] = plan[tree.parent[first_parent + begin + i]]
            realize_strip(average, strategy, plan, reach, first + begin, sets, count, actions, weights)


@threaded
def advance_rows_threads(schedule: Schedule, alternating: bool, tree: Tree, rows: Rows, state: SlotState) -> None:
    """All iterations of a schedule for two players, payoffs by rows."""
    y = np.zeros(len(rows.reference), state.plan.dtype)
    largest = max(tree.groups[:, 1])
    values, total = np.empty(largest, y.dtype), np.empty(largest, y.dtype)
    for t in range(len(schedule)):
        for player in range(2):
            payoffs_of_rows(rows, tree, player, state.plan, y, state.payoff)
            if alternating:
                update_player_threads(tree, player, state, values, total, schedule[t])
        if not alternating:
            for player in range(2):
                update_player_threads(tree, player, state, values, total, schedule[t])

"""The passes of the numba engine, compiled.

For the player that is updated, over the slots of `numba_layout.py`:

1. payoffs   of their sequences against the others' plans: `payoffs_of_rows` for two players, `payoffs_of_terminals` for
             any number.
2. up        deepest group first, `update_group`: v = Σ_a σ(a) · u(a), the regrets u(a) − v, the rule of `rules/rule.py` and
             the next σ, in one go over each set; then v is added to u of the sequence above.
3. down      root first, `realize_group`: S ← S · average_decay + average_weight · plan, with the plan just played, then
             the plan of the next σ.

`advance_…` runs all iterations of a schedule in one call and allocates nothing after its first lines.
"""

from __future__ import annotations

import numpy as np

from regretless.engines._compile import kernel, lanes

__all__ = [
    "advance_rows",
    "advance_terminals",
    "best_response",
    "payoffs_of_rows",
    "payoffs_of_terminals",
    "realize",
]

STRIP = 512  # information sets handled at a time: what they need stays in the first cache


@kernel
def payoffs_of_rows(batches, reference, column, value, row_of_slot, first, end, plan, y, payoff):  # type: ignore[no-untyped-def]
    """y[r] = y[reference[r]] + Σ value · plan[column]; then every slot from `first` to `end` takes its row of y."""
    for b in range(len(batches)):
        row, rows, length, entry = batches[b, 0], batches[b, 1], batches[b, 2], batches[b, 3]
        if length == 1:
            for r in range(row, row + rows):
                y[r] = y[reference[r]] + value[entry] * plan[column[entry]]
                entry += 1
        elif length == 2:
            for r in range(row, row + rows):
                y[r] = y[reference[r]] + (
                    value[entry] * plan[column[entry]] + value[entry + 1] * plan[column[entry + 1]]
                )
                entry += 2
        else:
            for r in range(row, row + rows):
                total = y[reference[r]]
                odd = value[entry] * plan[column[entry]]  # two sums, so that an addition need not wait for the last
                for e in range(entry + 1, entry + length - 1, 2):
                    total += value[e] * plan[column[e]]
                    odd += value[e + 1] * plan[column[e + 1]]
                if length % 2 == 0:
                    total += value[entry + length - 1] * plan[column[entry + length - 1]]
                y[r] = total + odd
                entry += length
    for slot in range(first, end):
        payoff[slot] = y[row_of_slot[slot]]


@kernel
def payoffs_of_terminals(start, weight, others, first, end, plan, payoff):  # type: ignore[no-untyped-def]
    """Any number of players: each terminal that ends a sequence adds its weighted payoff times the others' plans."""
    for slot in range(first, end):
        total = plan[0] * 0
        for entry in range(start[slot], start[slot + 1]):
            product = weight[entry]
            for other in range(others.shape[1]):
                product *= plan[others[entry, other]]
            total += product
        payoff[slot] = total


@lanes
def update_two(regret, strategy, payoff, worth, first, step, count, weights):  # type: ignore[no-untyped-def]
    """Step 2 for `count` sets of two actions, whose numbers lie `step` apart."""
    positive, negative, floor, prediction, discount = weights
    a, b = np.uint64(first), np.uint64(first + step)
    half, one, zero = worth.dtype.type(0.5), worth.dtype.type(1.0), worth.dtype.type(0.0)
    for i in range(np.uint64(count)):
        u0, u1 = payoff[a + i], payoff[b + i]
        v = strategy[a + i] * u0 + strategy[b + i] * u1
        r0, r1 = u0 - v, u1 - v
        old0, old1 = regret[a + i], regret[b + i]
        new0 = old0 * (positive if old0 > zero else negative) + r0
        new1 = old1 * (positive if old1 > zero else negative) + r1
        new0, new1 = max(new0, floor), max(new1, floor)
        z0 = max(new0 * discount + prediction * r0, zero)
        z1 = max(new1 * discount + prediction * r1, zero)
        total = z0 + z1
        share = one / (total if total > zero else one)
        strategy[a + i] = z0 * share if total > zero else half
        strategy[b + i] = z1 * share if total > zero else half
        regret[a + i], regret[b + i] = new0, new1
        worth[i] = v


@lanes
def update_many(regret, strategy, payoff, worth, total, first, step, count, actions, weights):  # type: ignore[no-untyped-def]
    """Step 2 for `count` sets of any number of actions."""
    positive, negative, floor, prediction, discount = weights
    one, zero = worth.dtype.type(1.0), worth.dtype.type(0.0)
    uniform = one / worth.dtype.type(actions)
    n, apart = np.uint64(count), np.uint64(step)
    a = np.uint64(first)
    for i in range(n):
        worth[i] = strategy[a + i] * payoff[a + i]
        total[i] = zero
    for _ in range(1, actions):
        a += apart
        for i in range(n):
            worth[i] += strategy[a + i] * payoff[a + i]
    a = np.uint64(first)
    for _ in range(actions):
        for i in range(n):
            r = payoff[a + i] - worth[i]
            old = regret[a + i]
            new = max(old * (positive if old > zero else negative) + r, floor)
            z = max(new * discount + prediction * r, zero)
            regret[a + i] = new
            strategy[a + i] = z
            total[i] += z
        a += apart
    a = np.uint64(first)
    for _ in range(actions):
        for i in range(n):
            share = one / (total[i] if total[i] > zero else one)
            strategy[a + i] = strategy[a + i] * share if total[i] > zero else uniform
        a += apart


@lanes
def realize_strip(average, strategy, plan, reach, first, step, count, actions, decay, weight):  # type: ignore[no-untyped-def]
    """Step 3 for `count` sets, whose leading sequences are played with probability `reach`."""
    n, apart = np.uint64(count), np.uint64(step)
    a = np.uint64(first)
    for _ in range(actions):
        for i in range(n):
            average[a + i] = average[a + i] * decay + weight * plan[a + i]
            plan[a + i] = strategy[a + i] * reach[i]
        a += apart


@kernel
def update_player(groups, parent, regret, average, strategy, plan, payoff, worth, total, row):  # type: ignore[no-untyped-def]
    """Steps 2 and 3 for one player; `row` is a row of the schedule."""
    number = worth.dtype.type
    floor = number(0.0) if row[2] != 0.0 else number(-np.inf)
    weights = (number(row[0]), number(row[1]), floor, number(row[5]), number(row[6]))
    decay, weight = number(row[3]), number(row[4])
    for g in range(len(groups) - 1, -1, -1):
        first, sets, actions, place = groups[g, 0], groups[g, 1], groups[g, 2], groups[g, 3]
        for strip in range(0, sets, STRIP):
            count = min(STRIP, sets - strip)
            if actions == 2:
                update_two(regret, strategy, payoff, worth, first + strip, sets, count, weights)
            else:
                update_many(regret, strategy, payoff, worth, total, first + strip, sets, count, actions, weights)
            for i in range(count):
                payoff[parent[place + strip + i]] += worth[i]
    for g in range(len(groups)):
        first, sets, actions, place = groups[g, 0], groups[g, 1], groups[g, 2], groups[g, 3]
        for strip in range(0, sets, STRIP):
            count = min(STRIP, sets - strip)
            for i in range(count):
                worth[i] = plan[parent[place + strip + i]]
            realize_strip(average, strategy, plan, worth, first + strip, sets, count, actions, decay, weight)


@kernel
def advance_rows(  # type: ignore[no-untyped-def]
    schedule, alternating, first_slot, first_group, groups, parent, first_batch, batches, reference, column,
    value, row_of_slot, regret, average, strategy, plan, payoff,
):  # fmt: skip
    """All iterations of a schedule for two players, payoffs by rows."""
    y = np.zeros(len(reference), plan.dtype)
    worth, total = np.empty(STRIP, plan.dtype), np.empty(STRIP, plan.dtype)
    for t in range(len(schedule)):
        for player in range(2):
            mine = groups[first_group[player] : first_group[player + 1]]
            payoffs_of_rows(
                batches[first_batch[player] : first_batch[player + 1]], reference, column, value, row_of_slot,
                first_slot[player], first_slot[player + 1], plan, y, payoff,
            )  # fmt: skip
            if alternating:
                update_player(mine, parent, regret, average, strategy, plan, payoff, worth, total, schedule[t])
        if not alternating:
            for player in range(2):
                mine = groups[first_group[player] : first_group[player + 1]]
                update_player(mine, parent, regret, average, strategy, plan, payoff, worth, total, schedule[t])


@kernel
def advance_terminals(  # type: ignore[no-untyped-def]
    schedule, alternating, first_slot, first_group, groups, parent, start, weight, others, regret, average, strategy,
    plan, payoff,
):  # fmt: skip
    """All iterations of a schedule for any number of players, payoffs by terminals."""
    worth, total = np.empty(STRIP, plan.dtype), np.empty(STRIP, plan.dtype)
    players = len(first_slot) - 1
    for t in range(len(schedule)):
        for player in range(players):
            mine = groups[first_group[player] : first_group[player + 1]]
            first, end = first_slot[player], first_slot[player + 1]
            payoffs_of_terminals(start, weight, others, first, end, plan, payoff)
            if alternating:
                update_player(mine, parent, regret, average, strategy, plan, payoff, worth, total, schedule[t])
        if not alternating:
            for player in range(players):
                mine = groups[first_group[player] : first_group[player + 1]]
                update_player(mine, parent, regret, average, strategy, plan, payoff, worth, total, schedule[t])


@kernel
def realize(groups, parent, strategy, plan):  # type: ignore[no-untyped-def]
    """The plan of a strategy, all players at once."""
    for g in range(len(groups)):
        first, sets, actions, place = groups[g, 0], groups[g, 1], groups[g, 2], groups[g, 3]
        for action in range(actions):
            for i in range(sets):
                slot = first + action * sets + i
                plan[slot] = plan[parent[place + i]] * strategy[slot]


@kernel
def best_response(groups, parent, payoff):  # type: ignore[no-untyped-def]
    """Step 2 with a maximum in place of the mixture, over the groups of one player; changes `payoff`."""
    for g in range(len(groups) - 1, -1, -1):
        first, sets, actions, place = groups[g, 0], groups[g, 1], groups[g, 2], groups[g, 3]
        for i in range(sets):
            best = payoff[first + i]
            for action in range(1, actions):
                best = max(best, payoff[first + action * sets + i])
            payoff[parent[place + i]] += best

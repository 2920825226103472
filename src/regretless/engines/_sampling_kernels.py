"""Compiled walks of Monte Carlo CFR: external, outcome and chance sampling.

All three take the same arrays: the tree (`_sampling_tree.py`), regrets R, the sum of strategies S and the strategy σ
over pairs, the random numbers, the scales, and one row of a rule's weights for each iteration. An iteration updates
every player once, in turn. The estimators are in the text of `sampling_engine.py`.

A walk has no recursion. Going down, it lists the nodes at which it branches and those where the game ends, each
node's children one after the other; chance and sampled players are followed on the spot and never listed. Going back
through the list, values are there before they are needed.

A discount multiplies every regret of the game at every iteration, whereas a walk touches few of them. So the arrays
hold R / D and S / A, where D and A are the products of all discounts so far: what is new is divided instead of what is
old being multiplied. Regret matching and averaging do not see the difference.
"""

from __future__ import annotations

import numba
import numpy as np

from regretless.engines._sampling_random import uniform

__all__ = ["chance_walks", "external_walks", "outcome_walks"]

CHANCE = -1
TERMINAL = -2
LARGEST_SCALE = 2.0**400  # beyond it, arrays and scale are divided by it: a power of two, so nothing is rounded


@numba.njit(cache=True, error_model="numpy")
def _begin(weights, regret, average, scale):  # type: ignore[no-untyped-def]
    """Count the discounts of one iteration into the scales: scale[0] = 1 / D, scale[1] = 1 / A."""
    for which in range(2):
        array = regret if which == 0 else average
        discount = weights[0] if which == 0 else weights[3]
        if discount == 0.0:  # all is forgotten, as at the first iteration of linear CFR
            array[:] = 0.0
            scale[which] = 1.0
        elif discount != 1.0:
            scale[which] /= discount
            if scale[which] > LARGEST_SCALE:
                array *= 1.0 / LARGEST_SCALE
                scale[which] /= LARGEST_SCALE


@numba.njit(cache=True, error_model="numpy")
def _drawn_outcome(node, here, accept, alias, random):  # type: ignore[no-untyped-def]
    """A child of a chance node: one number gives both the slot and whether its outcome is kept."""
    position = uniform(random) * node[here, 2]
    slot = np.int64(position)
    child = node[here, 1] + slot
    return child if position - slot < accept[child] else np.int64(alias[child])


@numba.njit(cache=True, error_model="numpy")
def _drawn_action(strategy, place, count, random):  # type: ignore[no-untyped-def]
    """An action drawn from σ."""
    left = uniform(random)
    for action in range(count - 1):
        left -= strategy[place + action]
        if left < 0.0:
            return action
    return count - 1


@numba.njit(cache=True, error_model="numpy")
def _match(regret, strategy, place, count):  # type: ignore[no-untyped-def]
    """Regret matching: σ proportional to positive regret, uniform where there is none."""
    total = 0.0
    for pair in range(place, place + count):
        total += max(regret[pair], 0.0)
    if total > 0.0:
        share = 1.0 / total
        for pair in range(place, place + count):
            strategy[pair] = max(regret[pair], 0.0) * share
    else:
        for pair in range(place, place + count):
            strategy[pair] = 1.0 / count


@numba.njit(cache=True, error_model="numpy")
def external_walks(  # type: ignore[no-untyped-def]
    node, payoff, accept, alias, regret, average, strategy, random, scale, schedule, learning
):
    """External sampling: chance and the others are drawn, the player who is updated tries every action."""
    players = payoff.shape[1]
    listed = np.empty(len(node), np.int64)
    first_listed = np.empty(len(node), np.int64)  # where a listed node's children are listed
    value = np.empty(len(node))
    for iteration in range(len(schedule)):
        _begin(schedule[iteration], regret, average, scale)
        floor = schedule[iteration, 2] != 0.0
        gain = scale[0]
        average_gain = schedule[iteration, 4] * scale[1]
        for player in range(players):
            averaged = (player + 1) % players
            count = 0
            expanded = -1
            child, last_child = 0, 1  # the root, as if it were the only child of a node above
            while True:
                for child_here in range(child, last_child):
                    here = np.int64(child_here)
                    while True:
                        mover = node[here, 0]
                        if mover in (player, TERMINAL):
                            break
                        if mover == CHANCE:
                            here = _drawn_outcome(node, here, accept, alias, random)
                            continue
                        place, actions = node[here, 3], node[here, 2]
                        if mover == averaged:
                            for action in range(actions):
                                average[place + action] += average_gain * strategy[place + action]
                        here = node[here, 1] + _drawn_action(strategy, place, actions, random)
                    listed[count] = here
                    count += 1
                expanded += 1
                while expanded < count and node[listed[expanded], 0] == TERMINAL:
                    value[expanded] = payoff[node[listed[expanded], 3], player]
                    expanded += 1
                if expanded == count:
                    break
                here = listed[expanded]
                first_listed[expanded] = count
                child = node[here, 1]
                last_child = child + node[here, 2]
            for index in range(count - 1, -1, -1):
                here = listed[index]
                if node[here, 0] == TERMINAL:
                    continue
                place, actions, below = node[here, 3], node[here, 2], first_listed[index]
                mean = 0.0
                for action in range(actions):
                    mean += strategy[place + action] * value[below + action]
                value[index] = mean
                for action in range(actions):
                    updated = regret[place + action] + gain * (value[below + action] - mean)
                    regret[place + action] = max(updated, 0.0) if floor else updated
                if learning:
                    _match(regret, strategy, place, actions)


@numba.njit(cache=True, error_model="numpy")
def outcome_walks(  # type: ignore[no-untyped-def]
    node, payoff, accept, alias, regret, average, strategy, random, scale, schedule, learning, exploration, depth
):
    """Outcome sampling: a single line of play, the updated player's actions drawn from σ mixed with uniform play."""
    players = payoff.shape[1]
    path = np.empty(depth + 1, np.int64)  # nodes where the player moved
    chosen = np.empty(depth + 1, np.int64)  # and what was drawn there
    for iteration in range(len(schedule)):
        _begin(schedule[iteration], regret, average, scale)
        floor = schedule[iteration, 2] != 0.0
        average_gain = schedule[iteration, 4] * scale[1]
        for player in range(players):
            averaged = (player + 1) % players
            moves = 0
            drawn_reach = 1.0  # q_i: probability with which the player's own draws came here
            here = np.int64(0)
            while True:
                mover = node[here, 0]
                if mover == TERMINAL:
                    break
                if mover == CHANCE:
                    here = _drawn_outcome(node, here, accept, alias, random)
                    continue
                place, actions = node[here, 3], node[here, 2]
                if mover == player:
                    if uniform(random) < exploration:
                        action = min(np.int64(uniform(random) * actions), actions - 1)
                    else:
                        action = _drawn_action(strategy, place, actions, random)
                    drawn_reach *= exploration / actions + (1.0 - exploration) * strategy[place + action]
                    path[moves] = here
                    chosen[moves] = action
                    moves += 1
                else:
                    if mover == averaged:
                        for pair in range(place, place + actions):
                            average[pair] += average_gain / drawn_reach * strategy[pair]
                    action = _drawn_action(strategy, place, actions, random)
                here = node[here, 1] + action
            # W · π_i(h·a → z), from the last move back to the first
            weight = scale[0] * payoff[node[here, 3], player] / drawn_reach
            for move in range(moves - 1, -1, -1):
                place, actions = node[path[move], 3], node[path[move], 2]
                probability = strategy[place + chosen[move]]
                for action in range(actions):
                    share = (1.0 if action == chosen[move] else 0.0) - probability
                    updated = regret[place + action] + weight * share
                    regret[place + action] = max(updated, 0.0) if floor else updated
                if learning:
                    _match(regret, strategy, place, actions)
                weight *= probability


@numba.njit(cache=True, error_model="numpy")
def chance_walks(  # type: ignore[no-untyped-def]
    node, payoff, accept, alias, regret, average, strategy, random, scale, schedule, learning
):
    """Chance sampling: one outcome at every chance node, every action of every player."""
    players = payoff.shape[1]
    listed = np.empty(len(node), np.int64)
    first_listed = np.empty(len(node), np.int64)
    value = np.empty(len(node))
    own_reach = np.empty(len(node))
    others_reach = np.empty(len(node))
    new_regret = np.zeros(len(regret))  # r̃ of the walk under way: an information set may be met more than once
    reach_of = np.zeros(len(regret))  # at the first pair of a set: the player's own reach
    met_in = np.zeros(len(regret), np.int64)  # at the first pair of a set: the last walk that met it
    met = np.empty(len(node), np.int64)
    walk = 0
    for iteration in range(len(schedule)):
        _begin(schedule[iteration], regret, average, scale)
        floor = schedule[iteration, 2] != 0.0
        average_gain = schedule[iteration, 4] * scale[1]
        for player in range(players):
            walk += 1
            here = np.int64(0)
            while node[here, 0] == CHANCE:
                here = _drawn_outcome(node, here, accept, alias, random)
            listed[0], own_reach[0], others_reach[0] = here, 1.0, 1.0
            count = 1
            expanded = 0
            while expanded < count:
                here = listed[expanded]
                mover, child, actions, place = node[here, 0], node[here, 1], node[here, 2], node[here, 3]
                if mover == TERMINAL:
                    value[expanded] = payoff[place, player]
                else:
                    first_listed[expanded] = count
                    for action in range(actions):
                        here = np.int64(child + action)
                        while node[here, 0] == CHANCE:
                            here = _drawn_outcome(node, here, accept, alias, random)
                        listed[count] = here
                        own_reach[count] = own_reach[expanded]
                        others_reach[count] = others_reach[expanded]
                        if mover == player:
                            own_reach[count] *= strategy[place + action]
                        else:
                            others_reach[count] *= strategy[place + action]
                        count += 1
                expanded += 1
            mets = 0
            for index in range(count - 1, -1, -1):
                here = listed[index]
                mover, actions, place = node[here, 0], node[here, 2], node[here, 3]
                if mover == TERMINAL:
                    continue
                below = first_listed[index]
                mean = 0.0
                for action in range(actions):
                    mean += strategy[place + action] * value[below + action]
                value[index] = mean
                if mover == player:
                    for action in range(actions):
                        new_regret[place + action] += others_reach[index] * (value[below + action] - mean)
                    if met_in[place] != walk:
                        met_in[place] = walk
                        reach_of[place] = own_reach[index]
                        met[mets] = here
                        mets += 1
            for index in range(mets):
                actions, place = node[met[index], 2], node[met[index], 3]
                for pair in range(place, place + actions):
                    average[pair] += average_gain * reach_of[place] * strategy[pair]
                    updated = regret[pair] + scale[0] * new_regret[pair]
                    regret[pair] = max(updated, 0.0) if floor else updated
                    new_regret[pair] = 0.0
                if learning:
                    _match(regret, strategy, place, actions)

"""Compiled walks of Monte Carlo CFR: external, outcome and chance sampling, and chance sampling in batches.

All take the tree (`engines/sampling.py`), a state and a schedule. An iteration updates every player once, in turn.
`sampling.py` gives the estimators.

A walk has no recursion. Going down, it lists terminals and the nodes at which it branches, the children of a node one
after the other; sampled moves are followed at once and not listed. Going back through the list, the values of children
are known before they are needed.

A discount multiplies every regret of the game in every iteration, but a walk visits few of them. So the arrays hold
R / D and S / A, where D and A are the products of all discounts so far: new terms are divided instead of old ones
being multiplied. Regret matching and averaging are not affected.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.compiling import kernel
from regretless.engines.numba.update import next_average, next_regret, step_weights, to_match
from regretless.engines.sampling import SamplingTree, Words, uniform
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.normalise import MIN_NORMAL
from regretless.variants.variant import Schedule

__all__ = ["SamplingState", "batch_walks", "chance_walks", "external_walks", "outcome_walks"]

Nodes = NDArray[np.int32]  # [N, 4]

CHANCE = -1
TERMINAL = -2
MAX_SCALE = 2.0**400  # beyond it, arrays and scale are divided by it, a power of two: no rounding


class SamplingState(NamedTuple):
    """What walks update, and the strategy they follow."""

    regret: FloatArray  # [pairs] R / D
    average: FloatArray  # [pairs] S / A, the sum of strategies
    strategy: FloatArray  # [pairs] σ
    random: Words  # key, numbers drawn
    scale: FloatArray  # 1 / D and 1 / A


@kernel
def _begin(weights: np.void, regret: FloatArray, average: FloatArray, scale: FloatArray) -> None:
    """Apply the discounts of one iteration to the scales: scale[0] = 1 / D, scale[1] = 1 / A."""
    for which in range(2):
        array = regret if which == 0 else average
        discount = weights["positive_discount"] if which == 0 else weights["average_decay"]
        if discount == 0.0:  # everything is forgotten, as in the first iteration of linear CFR
            array[:] = 0.0
            scale[which] = 1.0
        elif discount != 1.0:
            scale[which] /= discount
            if scale[which] > MAX_SCALE:
                array *= 1.0 / MAX_SCALE
                scale[which] /= MAX_SCALE


@kernel
def _draw_outcome(node: Nodes, current: int, accept: FloatArray, alias: IntArray, random: Words) -> int:
    """Sample a child of a chance node: one random number gives both the outcome and whether it is kept."""
    position = uniform(random) * node[current, 2]
    slot = int(position)
    child = node[current, 1] + slot
    return child if position - slot < accept[child] else int(alias[child])


@kernel
def _draw_action(strategy: FloatArray, first: int, count: int, random: Words) -> int:
    """Sample an action from σ."""
    left = uniform(random)
    for action in range(count - 1):
        left -= strategy[first + action]
        if left < 0.0:
            return action
    return count - 1


@kernel
def _match(regret: FloatArray, strategy: FloatArray, first: int, count: int) -> None:
    """Regret matching: σ proportional to positive regrets, uniform if there are none."""
    total = 0.0
    for pair in range(first, first + count):
        total += max(regret[pair], 0.0)
    if total >= MIN_NORMAL:
        share = 1.0 / total
        for pair in range(first, first + count):
            strategy[pair] = max(regret[pair], 0.0) * share
    else:
        for pair in range(first, first + count):
            strategy[pair] = 1.0 / count


@kernel
def external_walks(tree: SamplingTree, state: SamplingState, schedule: Schedule, learning: bool | np.bool_) -> None:
    """External sampling: chance and the other players are sampled, the updating player tries every action."""
    node, payoff, accept, alias = tree
    regret, average, strategy, random, scale = state
    players = payoff.shape[1]
    listed = np.empty(len(node), np.int64)
    first_listed = np.empty(len(node), np.int64)  # list position of a node's first child
    value = np.empty(len(node))
    for iteration in range(len(schedule)):
        _begin(schedule[iteration], regret, average, scale)
        floor = schedule[iteration]["floor"] != 0.0
        gain = scale[0]
        average_gain = schedule[iteration]["average_weight"] * scale[1]
        for player in range(players):
            averaged = (player + 1) % players
            count = 0
            expanded = -1
            child, last_child = 0, 1  # the root, as if it were an only child
            while True:
                for sibling in range(child, last_child):
                    current = int(sibling)
                    while True:
                        mover = node[current, 0]
                        if mover in (player, TERMINAL):
                            break
                        if mover == CHANCE:
                            current = _draw_outcome(node, current, accept, alias, random)
                            continue
                        first, actions = node[current, 3], node[current, 2]
                        if mover == averaged:
                            for action in range(actions):
                                average[first + action] += average_gain * strategy[first + action]
                        current = node[current, 1] + _draw_action(strategy, first, actions, random)
                    listed[count] = current
                    count += 1
                expanded += 1
                while expanded < count and node[listed[expanded], 0] == TERMINAL:
                    value[expanded] = payoff[node[listed[expanded], 3], player]
                    expanded += 1
                if expanded == count:
                    break
                current = listed[expanded]
                first_listed[expanded] = count
                child = node[current, 1]
                last_child = child + node[current, 2]
            for index in range(count - 1, -1, -1):
                current = listed[index]
                if node[current, 0] == TERMINAL:
                    continue
                first, actions, below = node[current, 3], node[current, 2], first_listed[index]
                mean = 0.0
                for action in range(actions):
                    mean += strategy[first + action] * value[below + action]
                value[index] = mean
                for action in range(actions):
                    updated = regret[first + action] + gain * (value[below + action] - mean)
                    regret[first + action] = max(updated, 0.0) if floor else updated
                if learning:
                    _match(regret, strategy, first, actions)


@kernel
def outcome_walks(
    tree: SamplingTree,
    state: SamplingState,
    schedule: Schedule,
    learning: bool | np.bool_,
    exploration: float,
    depth: int,
) -> None:
    """Outcome sampling: a single line of play; the updating player samples from σ mixed with uniform play."""
    node, payoff, accept, alias = tree
    regret, average, strategy, random, scale = state
    players = payoff.shape[1]
    path = np.empty(depth + 1, np.int64)  # nodes where the updating player moved
    chosen = np.empty(depth + 1, np.int64)  # and the actions sampled there
    for iteration in range(len(schedule)):
        _begin(schedule[iteration], regret, average, scale)
        floor = schedule[iteration]["floor"] != 0.0
        average_gain = schedule[iteration]["average_weight"] * scale[1]
        for player in range(players):
            averaged = (player + 1) % players
            moves = 0
            drawn_reach = 1.0  # q_i: probability that the player samples these actions
            current = 0
            while True:
                mover = node[current, 0]
                if mover == TERMINAL:
                    break
                if mover == CHANCE:
                    current = _draw_outcome(node, current, accept, alias, random)
                    continue
                first, actions = node[current, 3], node[current, 2]
                if mover == player:
                    if uniform(random) < exploration:
                        action = min(int(uniform(random) * actions), actions - 1)
                    else:
                        action = _draw_action(strategy, first, actions, random)
                    drawn_reach *= exploration / actions + (1.0 - exploration) * strategy[first + action]
                    path[moves] = current
                    chosen[moves] = action
                    moves += 1
                else:
                    if mover == averaged:
                        for pair in range(first, first + actions):
                            average[pair] += average_gain / drawn_reach * strategy[pair]
                    action = _draw_action(strategy, first, actions, random)
                current = node[current, 1] + action
            # W · π_i(h·a → z), from the last move back to the first
            weight = scale[0] * payoff[node[current, 3], player] / drawn_reach
            for move in range(moves - 1, -1, -1):
                first, actions = node[path[move], 3], node[path[move], 2]
                probability = strategy[first + chosen[move]]
                for action in range(actions):
                    share = (1.0 if action == chosen[move] else 0.0) - probability
                    updated = regret[first + action] + weight * share
                    regret[first + action] = max(updated, 0.0) if floor else updated
                if learning:
                    _match(regret, strategy, first, actions)
                weight *= probability


@kernel
def chance_walks(
    tree: SamplingTree, state: SamplingState, schedule: Schedule, learning: bool | np.bool_, updated_players: IntArray
) -> None:
    """Chance sampling: one outcome at every chance node, every action of every player."""
    node, payoff, accept, alias = tree
    regret, average, strategy, random, scale = state
    listed = np.empty(len(node), np.int64)
    first_listed = np.empty(len(node), np.int64)
    value = np.empty(len(node))
    own_reach = np.empty(len(node))
    others_reach = np.empty(len(node))
    new_regret = np.zeros(len(regret))  # r̃ of this walk: it may visit an information set more than once
    reach_of = np.zeros(len(regret))  # at the first pair of a set: the player's own reach
    last_walk = np.zeros(len(regret), np.int64)  # at the first pair of a set: the last walk that visited it
    visited = np.empty(len(node), np.int64)  # a node of each set that this walk visits
    walk = 0
    for iteration in range(len(schedule)):
        _begin(schedule[iteration], regret, average, scale)
        floor = schedule[iteration]["floor"] != 0.0
        average_gain = schedule[iteration]["average_weight"] * scale[1]
        for player in updated_players:
            walk += 1
            current = 0
            while node[current, 0] == CHANCE:
                current = _draw_outcome(node, current, accept, alias, random)
            listed[0], own_reach[0], others_reach[0] = current, 1.0, 1.0
            count = 1
            expanded = 0
            while expanded < count:
                current = listed[expanded]
                mover, child, actions, first = node[current, 0], node[current, 1], node[current, 2], node[current, 3]
                if mover == TERMINAL:
                    value[expanded] = payoff[first, player]
                else:
                    first_listed[expanded] = count
                    for action in range(actions):
                        current = int(child + action)
                        while node[current, 0] == CHANCE:
                            current = _draw_outcome(node, current, accept, alias, random)
                        listed[count] = current
                        own_reach[count] = own_reach[expanded]
                        others_reach[count] = others_reach[expanded]
                        if mover == player:
                            own_reach[count] *= strategy[first + action]
                        else:
                            others_reach[count] *= strategy[first + action]
                        count += 1
                expanded += 1
            visits = 0
            for index in range(count - 1, -1, -1):
                current = listed[index]
                mover, actions, first = node[current, 0], node[current, 2], node[current, 3]
                if mover == TERMINAL:
                    continue
                below = first_listed[index]
                mean = 0.0
                for action in range(actions):
                    mean += strategy[first + action] * value[below + action]
                value[index] = mean
                if mover == player:
                    for action in range(actions):
                        new_regret[first + action] += others_reach[index] * (value[below + action] - mean)
                    if last_walk[first] != walk:
                        last_walk[first] = walk
                        reach_of[first] = own_reach[index]
                        visited[visits] = current
                        visits += 1
            for index in range(visits):
                actions, first = node[visited[index], 2], node[visited[index], 3]
                for pair in range(first, first + actions):
                    average[pair] += average_gain * reach_of[first] * strategy[pair]
                    updated = regret[pair] + scale[0] * new_regret[pair]
                    regret[pair] = max(updated, 0.0) if floor else updated
                    new_regret[pair] = 0.0
                if learning:
                    _match(regret, strategy, first, actions)


@kernel
def batch_walks(
    tree: SamplingTree,
    state: SamplingState,
    schedule: Schedule,
    plain: Schedule,
    first_pair: IntArray,
    set_player: IntArray,
) -> None:
    """Chance sampling in batches: the variant is applied to all sets of a player, on the mean over a batch of walks.

    `plain` has a row of vanilla CFR's weights for every walk of a batch.
    """
    regret, average, strategy, random, _ = state
    batch_size = len(plain)
    new_regret = np.empty_like(regret)
    new_average = np.empty_like(average)
    for row in schedule:
        weights = step_weights(row, regret)
        for player in range(tree.payoff.shape[1]):
            new_regret[:] = 0.0
            new_average[:] = 0.0
            walked = SamplingState(new_regret, new_average, strategy, random, np.ones(2))
            # np.bool_: numba would treat a plain False as a constant and compile once more
            chance_walks(tree, walked, plain, np.bool_(False), np.full(1, player))
            for information_set in range(len(set_player)):
                if set_player[information_set] != player:
                    continue
                begin, end = first_pair[information_set], first_pair[information_set + 1]
                for pair in range(begin, end):
                    new = new_regret[pair] / batch_size
                    added = weights.average_weight * new_average[pair] / batch_size
                    average[pair] = next_average(average[pair], added, weights)
                    regret[pair] = next_regret(regret[pair], new, weights)
                    new_regret[pair] = to_match(regret[pair], new, weights)
                _match(new_regret, strategy, begin, end - begin)

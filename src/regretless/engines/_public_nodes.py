"""Decisions: what a player's choice does to rows of reach on the way down and to rows of values on the way up.

On the way down, with R the numbers that the strategy is matched to (regrets, or sums of strategies):

    σ[a] = max(R[a], 0) / Σ max(R, 0),  uniform where the sum is 0        reach of child a = reach · σ[a]

On the way up, at a decision of the player the walk updates, with v[a] the values of the children:

    v = Σ σ[a] · v[a]
    R[a] ← R[a] · (positive or negative discount) + v[a] − v,  not below `floor`
    S[a] ← S[a] · decay + weight · own reach · σ[a]

all of it in one pass, each number moved through memory once. At the opponent's decisions v = Σ v[a].

Regrets and averages of a node are [hands / 16, actions, 16], nodes in the order of the walk: the way down reads memory
straight ahead, the way up straight back, which is what a processor's prefetching is made for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regretless.engines._kernel import inlined
from regretless.engines._lanes import add_product, divide, fetch, item, load, maximum, splat, store, where_positive
from regretless.engines.public_plan import LANES

__all__ = ["best", "best_around", "improve", "mean", "split", "sum_children"]

Int32 = NDArray[np.int32]
Float32 = NDArray[np.float32]

AHEAD = 192 * LANES  # how far before their use regrets and averages are asked for, in numbers


@inlined
def split(source: Float32, at: int, actions: int, hands: int, reach: Float32, from_at: int, to_at: int) -> None:
    """Rows of reach of a node's children, which are adjacent, from its own row.

    A player's regrets lie in the order of the walk, so what follows this node's is asked for in time. Loops over two or
    three actions are the usual ones and worth unrolling.
    """
    if actions == 2:
        _split(source, at, 2, hands, reach, from_at, to_at)
    elif actions == 3:
        _split(source, at, 3, hands, reach, from_at, to_at)
    else:
        _split(source, at, actions, hands, reach, from_at, to_at)


@inlined
def _split(source: Float32, at: int, actions: int, hands: int, reach: Float32, from_at: int, to_at: int) -> None:
    zero = splat(np.float32(0.0))
    one = splat(np.float32(1.0))
    share = splat(np.float32(1.0 / actions))
    for hand in range(0, hands, LANES):
        positive = zero
        for action in range(actions):
            index = at + hand * actions + action * LANES
            fetch(source, index + AHEAD)
            positive = positive + maximum(load(source, index), zero)
        arriving = load(reach, from_at + hand)
        factor = divide(where_positive(positive, arriving, zero), where_positive(positive, positive, one))
        evenly = where_positive(positive, zero, arriving * share)
        for action in range(actions):
            weight = maximum(load(source, at + hand * actions + action * LANES), zero)
            store(reach, to_at + action * hands + hand, add_product(evenly, weight, factor))


@inlined
def sum_children(actions: int, hands: int, value: Float32, child: Int32, first: int, to_at: int) -> None:
    """Values at a decision of the opponent, whose strategy is already in the reach."""
    for hand in range(0, hands, LANES):
        together = load(value, item(child, first) + hand)
        for action in range(1, actions):
            together = together + load(value, item(child, first + action) + hand)
        store(value, to_at + hand, together)


@inlined
def best(actions: int, hands: int, value: Float32, child: Int32, first: int, to_at: int) -> None:
    """Values of a best response: the largest of the children's."""
    for hand in range(0, hands, LANES):
        highest = load(value, item(child, first) + hand)
        for action in range(1, actions):
            highest = maximum(highest, load(value, item(child, first + action) + hand))
        store(value, to_at + hand, highest)


@inlined
def best_around(
    source: Float32,
    at: int,
    actions: int,
    hands: int,
    value: Float32,
    child: Int32,
    first: int,
    to_at: int,
    locked: Float32,
    locked_at: int,
) -> None:
    """Values of a best response where some hands are locked: those play what `source` is matched to."""
    best(actions, hands, value, child, first, to_at)
    zero = splat(np.float32(0.0))
    one = splat(np.float32(1.0))
    for hand in range(0, hands, LANES):
        positive = zero
        mixed = zero
        for action in range(actions):
            weight = maximum(load(source, at + hand * actions + action * LANES), zero)
            positive = positive + weight
            mixed = add_product(mixed, weight, load(value, item(child, first + action) + hand))
        mixed = divide(mixed, where_positive(positive, positive, one))
        free = load(value, to_at + hand)
        store(value, to_at + hand, where_positive(load(locked, locked_at + hand), mixed, free))


@inlined
def mean(
    source: Float32,
    at: int,
    actions: int,
    hands: int,
    value: Float32,
    child: Int32,
    first: int,
    to_at: int,
) -> None:
    """Values of playing what `source` is matched to."""
    zero = splat(np.float32(0.0))
    one = splat(np.float32(1.0))
    share = splat(np.float32(1.0 / actions))
    for hand in range(0, hands, LANES):
        positive = zero
        mixed = zero
        plain = zero
        for action in range(actions):
            weight = maximum(load(source, at + hand * actions + action * LANES), zero)
            below = load(value, item(child, first + action) + hand)
            positive = positive + weight
            mixed = add_product(mixed, weight, below)
            plain = plain + below
        mixed = divide(mixed, where_positive(positive, positive, one))
        store(value, to_at + hand, where_positive(positive, mixed, plain * share))


@inlined
def improve(
    regret: Float32,
    matched: Float32,
    average: Float32,
    at: int,
    actions: int,
    hands: int,
    own: Float32,
    own_at: int,
    value: Float32,
    child: Int32,
    first: int,
    to_at: int,
    weights: Float32,
    predicts: bool,
) -> None:
    """The fused update of one node; `weights` are those of a rule, with `floor` as the lowest regret allowed,
    and an eighth: 1 where averages are weighed by the own reach, else 0.

    Nodes are left in reverse order, so it is what lies before this node's averages that is asked for in time.
    """
    if actions == 2 and not predicts:
        _improve(regret, regret, average, at, 2, hands, own, own_at, value, child, first, to_at, weights, False)
    elif actions == 3 and not predicts:
        _improve(regret, regret, average, at, 3, hands, own, own_at, value, child, first, to_at, weights, False)
    else:
        _improve(
            regret, matched, average, at, actions, hands, own, own_at, value, child, first, to_at, weights, predicts
        )


@inlined
def _improve(
    regret: Float32,
    matched: Float32,
    average: Float32,
    at: int,
    actions: int,
    hands: int,
    own: Float32,
    own_at: int,
    value: Float32,
    child: Int32,
    first: int,
    to_at: int,
    weights: Float32,
    predicts: bool,
) -> None:
    zero = splat(np.float32(0.0))
    one = splat(np.float32(1.0))
    share = splat(np.float32(1.0 / actions))
    positive_discount, negative_discount = splat(weights[0]), splat(weights[1])
    floor, decay, gain = splat(weights[2]), splat(weights[3]), splat(weights[4])
    prediction, prediction_discount = splat(weights[5]), splat(weights[6])
    reach_share, even_share = splat(weights[7]), splat(np.float32(1.0) - weights[7])
    for hand in range(hands - LANES, -1, -LANES):
        positive = zero
        mixed = zero
        plain = zero
        for action in range(actions):
            weight = maximum(load(matched, at + hand * actions + action * LANES), zero)
            below = load(value, item(child, first + action) + hand)
            positive = positive + weight
            mixed = add_product(mixed, weight, below)
            plain = plain + below
        inverse = divide(where_positive(positive, one, zero), where_positive(positive, positive, one))
        evenly = where_positive(positive, zero, share)
        worth = add_product(mixed * inverse, plain, evenly)
        store(value, to_at + hand, worth)
        arriving = add_product(even_share, load(own, own_at + hand), reach_share) * gain
        inverse = inverse * arriving
        evenly = evenly * arriving
        for action in range(actions):
            index = at + hand * actions + action * LANES
            fetch(average, index - AHEAD)
            strategy = add_product(evenly, maximum(load(matched, index), zero), inverse)
            store(average, index, add_product(strategy, load(average, index), decay))
            old = load(regret, index)
            new = load(value, item(child, first + action) + hand) - worth
            kept = add_product(new, old, where_positive(old, positive_discount, negative_discount))
            kept = maximum(kept, floor)
            store(regret, index, kept)
            if predicts:
                store(matched, index, add_product(kept * prediction_discount, new, prediction))

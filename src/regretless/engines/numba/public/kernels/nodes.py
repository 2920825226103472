"""Decisions: how a player's strategy changes rows of reach on the way down and rows of values on the way up.

On the way down, with R the numbers that the strategy is matched to (regrets or sums of strategies):

    σ[a] = max(R[a], 0) / Σ max(R, 0),  uniform where the sum is 0        reach of child a = reach · σ[a]

and at a decision of the updating player, whose own reach is split the same way:

    S[a] ← S[a] · decay + gain · own reach of child a

On the way up, at a decision of that player, with v[a] the values of the children:

    v = Σ σ[a] · v[a]
    R[a] ← R[a] · (positive or negative discount) + v[a] − v,  not below `floor`

At the opponent's decisions, v = Σ v[a]. Each pass reads and writes every number once.

Regrets and averages of a node are [hands / 16, actions, 16], nodes in walking order: the way down reads memory
forwards, the way up backwards, and the hardware prefetcher keeps up with both.

A row is an array and the index at which the row begins: making a view for every node would cost time. Hence the long
lists of parameters, which several functions share.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.compiling import fast_inlined
from regretless.engines.layout import LANES
from regretless.engines.numba.public.jobs import Step, Stored
from regretless.engines.numba.public.kernels.lanes import (
    Lanes,
    add_product,
    divide,
    item,
    load,
    maximum,
    splat,
    store,
    store_rounded,
    where_positive,
)
from regretless.engines.numba.public.records import Float32, Int32

__all__ = [
    "Rounding",
    "best",
    "best_around",
    "improve",
    "mean",
    "split",
    "split_and_average",
    "split_any",
    "sum_children",
]

LOWEST = -3e38  # a floor without effect


class Rounding(NamedTuple):
    """What determines how stored numbers are rounded, hand by hand, in one iteration."""

    hands: NDArray[np.uint32]  # the same for equivalent hands
    at: int  # where those of the runout begin
    salt: int  # one per iteration


@fast_inlined
def split(source: Stored, at: int, actions: int, hands: int, reach: Float32, from_at: int, to_at: int) -> None:
    """Split a node's row of reach into adjacent rows of its children; fastest with two or three children."""
    if actions == 2:
        split_any(source, at, 2, hands, reach, from_at, to_at)
    elif actions == 3:
        split_any(source, at, 3, hands, reach, from_at, to_at)
    else:
        split_any(source, at, actions, hands, reach, from_at, to_at)


@fast_inlined
def split_any(source: Stored, at: int, actions: int, hands: int, reach: Float32, from_at: int, to_at: int) -> None:
    """The same, but faster to compile."""
    for hand in range(0, hands, LANES):
        start = at + hand * actions
        factor, evenly = _shares(source, start, actions, load(reach, from_at + hand))
        for action in range(actions):
            weight = maximum(load(source, start + action * LANES), splat(np.float32(0.0)))
            store(reach, to_at + action * hands + hand, add_product(evenly, weight, factor))


@fast_inlined
def _shares(source: Stored, start: int, actions: int, arriving: Lanes) -> tuple[Lanes, Lanes]:
    """(evenly, factor): child a gets evenly + max(source[a], 0) · factor of the arriving reach."""
    zero = splat(np.float32(0.0))
    positive = zero
    for action in range(actions):
        positive = positive + maximum(load(source, start + action * LANES), zero)
    factor = divide(
        where_positive(positive, arriving, zero), where_positive(positive, positive, splat(np.float32(1.0)))
    )
    return factor, where_positive(positive, zero, arriving * splat(np.float32(1.0 / actions)))


@fast_inlined
def split_and_average(
    source: Stored,
    average: Stored,
    at: int,
    actions: int,
    hands: int,
    reach: Float32,
    from_at: int,
    to_at: int,
    step: Step,
    rounding: Rounding,
) -> None:
    """The same at a decision of the updating player, with the update of its average."""
    # As in `split`, a constant number of actions lets LLVM unroll, at the price of a second signature.
    if actions == 2:
        _split_and_average(source, average, at, 2, hands, reach, from_at, to_at, step, rounding)
    elif actions == 3:
        _split_and_average(source, average, at, 3, hands, reach, from_at, to_at, step, rounding)
    else:
        _split_and_average(source, average, at, actions, hands, reach, from_at, to_at, step, rounding)


@fast_inlined
def _split_and_average(
    source: Stored,
    average: Stored,
    at: int,
    actions: int,
    hands: int,
    reach: Float32,
    from_at: int,
    to_at: int,
    step: Step,
    rounding: Rounding,
) -> None:
    decay, gain = splat(step.weights.average_decay), splat(step.weights.average_weight)
    share = step.extras.reach_share
    reach_share, even_share = splat(share), splat(np.float32(1.0) - share)
    for hand in range(0, hands, LANES):
        start = at + hand * actions
        arriving = add_product(even_share, load(reach, from_at + hand), reach_share)
        factor, evenly = _shares(source, start, actions, arriving)
        for action in range(actions):
            index = start + action * LANES
            weight = maximum(load(source, index), splat(np.float32(0.0)))
            leaving = add_product(evenly, weight, factor)
            store(reach, to_at + action * hands + hand, leaving)
            summed = add_product(leaving * gain, load(average, index), decay)
            store_rounded(average, index, summed, rounding.salt + at + action, rounding.hands, rounding.at + hand)


@fast_inlined
def sum_children(actions: int, hands: int, value: Float32, child: Int32, first: int, to_at: int) -> None:
    """Values at a decision of the opponent, whose strategy is already in the reach."""
    for hand in range(0, hands, LANES):
        together = load(value, item(child, first) + hand)
        for action in range(1, actions):
            together = together + load(value, item(child, first + action) + hand)
        store(value, to_at + hand, together)


@fast_inlined
def best(actions: int, hands: int, value: Float32, child: Int32, first: int, to_at: int) -> None:
    """Values of a best response: the maximum over the children."""
    for hand in range(0, hands, LANES):
        highest = load(value, item(child, first) + hand)
        for action in range(1, actions):
            highest = maximum(highest, load(value, item(child, first + action) + hand))
        store(value, to_at + hand, highest)


@fast_inlined
def best_around(
    source: Stored,
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
    """Values of a best response where some hands are locked: those play the strategy matched to `source`."""
    for hand in range(0, hands, LANES):
        mixed = _mean(source, at + hand * actions, actions, value, child, first, hand)
        highest = load(value, item(child, first) + hand)
        for action in range(1, actions):
            highest = maximum(highest, load(value, item(child, first + action) + hand))
        store(value, to_at + hand, where_positive(load(locked, locked_at + hand), mixed, highest))


@fast_inlined
def mean(
    source: Stored, at: int, actions: int, hands: int, value: Float32, child: Int32, first: int, to_at: int
) -> None:
    """Values of playing the strategy matched to `source`."""
    for hand in range(0, hands, LANES):
        store(value, to_at + hand, _mean(source, at + hand * actions, actions, value, child, first, hand))


@fast_inlined
def _mean(source: Stored, start: int, actions: int, value: Float32, child: Int32, first: int, hand: int) -> Lanes:
    """Σ σ[a] · v[a] for sixteen hands, whose numbers in `source` begin at `start`."""
    zero = splat(np.float32(0.0))
    one = splat(np.float32(1.0))
    positive = zero
    mixed = zero
    plain = zero
    for action in range(actions):
        weight = maximum(load(source, start + action * LANES), zero)
        below = load(value, item(child, first + action) + hand)
        positive = positive + weight
        mixed = add_product(mixed, weight, below)
        plain = plain + below
    inverse = divide(one, where_positive(positive, positive, one))
    return where_positive(positive, mixed * inverse, plain * splat(np.float32(1.0 / actions)))


@fast_inlined
def improve(
    regret: Stored,
    matched: Stored,
    at: int,
    actions: int,
    hands: int,
    value: Float32,
    child: Int32,
    first: int,
    to_at: int,
    step: Step,
    rounding: Rounding,
    predicts: bool,
) -> None:
    """Values and new regrets of one node."""
    # A constant number of actions lets LLVM unroll, as in `split_and_average`.
    if actions == 2 and not predicts:
        _improve(regret, regret, at, 2, hands, value, child, first, to_at, step, rounding, False)
    elif actions == 3 and not predicts:
        _improve(regret, regret, at, 3, hands, value, child, first, to_at, step, rounding, False)
    else:
        _improve(regret, matched, at, actions, hands, value, child, first, to_at, step, rounding, predicts)


@fast_inlined
def _improve(
    regret: Stored,
    matched: Stored,
    at: int,
    actions: int,
    hands: int,
    value: Float32,
    child: Int32,
    first: int,
    to_at: int,
    step: Step,
    rounding: Rounding,
    predicts: bool,
) -> None:
    weights = step.weights
    positive_discount, negative_discount = splat(weights.positive_discount), splat(weights.negative_discount)
    floor = splat(np.float32(0.0) if weights.floor > 0 else np.float32(LOWEST))
    prediction, prediction_discount = splat(weights.prediction), splat(weights.prediction_discount)
    for hand in range(hands - LANES, -1, -LANES):
        mean_value = _mean(matched, at + hand * actions, actions, value, child, first, hand)
        for action in range(actions):
            index = at + hand * actions + action * LANES
            old = load(regret, index)
            new = load(value, item(child, first + action) + hand) - mean_value
            updated = add_product(new, old, where_positive(old, positive_discount, negative_discount))
            updated = maximum(updated, floor)
            seed = rounding.salt + at + action
            store_rounded(regret, index, updated, seed, rounding.hands, rounding.at + hand)
            if predicts:
                predicted = add_product(updated * prediction_discount, new, prediction)
                store_rounded(matched, index, predicted, seed, rounding.hands, rounding.at + hand)
        store(value, to_at + hand, mean_value)  # last, because it may replace the first child's value

"""Moves a range's mix to given frequencies, hands that lose least first.

A range plays strategy σ(a|h); hand h counts by its weight w(h), and Q(a, h) is the EV of action a. Some actions, or
groups of actions such as all bets, are to have given frequencies f. Σ w σ' (chips lost: Q σ − Q σ') is to be as small
as possible among the strategies σ' that only move probability from groups that are played too often to groups that are
not played often enough:

1. A unit of probability of hand h moves from action a to the group's best action b for that hand, and loses
   Q(a, h) − Q(b, h); a hand that was indifferent loses nothing, one that was wrong gains.
2. Moves are sorted by that loss and made in this order until every group has its frequency. Moves that lose the same
   are made together, in proportion, so that equivalent hands stay equal.

With two groups, or only one that is not played often enough, this loses as little as possible. With more such groups,
the cheapest move comes first, which can lose slightly more than necessary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regretless.forms.history import FloatArray, IntArray
from regretless.reprs import brief

__all__ = ["ActionGroup", "ev_lost", "move_to_frequencies"]

SAME_LOSS = 1e-6  # of the largest EV: losses that differ by less are made together
CLOSE = 1e-12  # frequencies that differ by less are equal


@dataclass(frozen=True)
class ActionGroup:
    """Actions that are to be played with a frequency, together."""

    actions: tuple[int, ...]
    frequency: float


def move_to_frequencies(
    strategy: FloatArray, action_ev: FloatArray, weight: FloatArray, groups: Sequence[ActionGroup]
) -> FloatArray:
    """[actions, H] the strategy moved so that each group has its frequency over the hands, weighted by `weight`.

    The groups contain every action once, and their frequencies add up to 1. Where no hand has any weight, all count
    alike. A hand without EVs, because no opposing hand is possible, loses nothing.

    >>> moved = move_to_frequencies(
    ...     np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),  # two hands check, one bets
    ...     np.array([[5.0, 5.0, 1.0], [4.0, 1.0, 9.0]]),  # betting costs the first hand least
    ...     np.ones(3),
    ...     [ActionGroup((0,), 0.5), ActionGroup((1,), 0.5)],
    ... )
    >>> moved[1].round(6).tolist()
    [0.5, 0.0, 1.0]
    """
    if not weight.any():
        weight = np.ones_like(weight)
    share = weight / weight.sum()
    values = np.nan_to_num(action_ev, nan=0.0)
    result = strategy.astype(np.float64, copy=True)
    surplus = np.array([float(share @ result[list(group.actions)].sum(axis=0)) - group.frequency for group in groups])
    moves = _moves(values, groups, surplus)
    if np.count_nonzero(surplus < -CLOSE) <= 1:  # with one target, groups do not compete: drain one after another
        for source in np.flatnonzero(surplus > CLOSE):
            _drain(result, share, [move for move in moves if move.source == source], float(surplus[source]))
        return result
    losses = np.unique(np.concatenate([move.loss for move in moves])) if moves else np.zeros(0)
    for loss in losses.tolist():
        for move in moves:
            selected = move.loss == loss
            limit = min(surplus[move.source], -surplus[move.target])
            if limit > CLOSE and selected.any():
                amount = _apply_move(move, result, share, selected, limit)
                surplus[move.source] -= amount
                surplus[move.target] += amount
    return result


def ev_lost(before: FloatArray, after: FloatArray, action_ev: FloatArray, weight: FloatArray) -> float:
    """Chips that the range loses on average by playing `after` instead of `before`, if nobody else adapts."""
    counts = (weight > 0) & ~np.isnan(action_ev).any(axis=0)
    total = float(weight[counts].sum())
    if total <= 0:
        return 0.0
    return float(weight[counts] @ ((before - after) * action_ev).sum(axis=0)[counts]) / total


@dataclass(frozen=True)
class _Move:
    """One action of a group that is played too often, towards the best action of another."""

    source: int  # group
    target: int  # group
    action: int
    best: IntArray  # [H] where it moves
    loss: FloatArray  # [H] what it loses, rounded to multiples of `SAME_LOSS`

    __repr__ = brief


def _moves(values: FloatArray, groups: Sequence[ActionGroup], surplus: FloatArray) -> list[_Move]:
    scale = SAME_LOSS * max(float(np.abs(values).max(initial=0.0)), 1e-9)
    moves = []
    for target in np.flatnonzero(surplus < -CLOSE).tolist():
        actions = np.array(groups[target].actions)
        best = actions[values[actions].argmax(axis=0)]
        best_value = np.take_along_axis(values, best[None], axis=0)[0]
        for source in np.flatnonzero(surplus > CLOSE).tolist():
            moves += [
                _Move(source, target, action, best, np.round((values[action] - best_value) / scale))
                for action in groups[source].actions
            ]
    return moves


def _drain(strategy: FloatArray, share: FloatArray, moves: Sequence[_Move], limit: float) -> None:
    """Make moves with the same target until they have moved `limit` of the range's probability, the cheapest first."""
    mass = np.concatenate([share * strategy[move.action] for move in moves])
    rank = np.unique(np.concatenate([move.loss for move in moves]), return_inverse=True)[1]
    by_rank = np.bincount(rank, weights=mass)
    remaining = limit - np.concatenate(([0.0], np.cumsum(by_rank)[:-1]))  # when the moves of a rank begin
    part = np.divide(remaining, by_rank, out=(remaining > CLOSE).astype(np.float64), where=by_rank > 0).clip(0.0, 1.0)
    part[by_rank - remaining <= CLOSE] = 1.0  # the whole rank moves
    for move, parts in zip(moves, part[rank].reshape(len(moves), -1), strict=True):
        _shift(strategy, move, strategy[move.action] * parts)


def _apply_move(
    move: _Move, strategy: FloatArray, share: FloatArray, selected: NDArray[np.bool_], limit: float
) -> float:
    """Make a move with the selected hands, up to `limit`; returns how much of the range's probability moved."""
    mass = float(share[selected] @ strategy[move.action, selected])
    if mass <= 0:
        return 0.0
    _shift(strategy, move, np.where(selected, strategy[move.action] * min(1.0, limit / mass), 0.0))
    return min(mass, limit)


def _shift(strategy: FloatArray, move: _Move, amount: FloatArray) -> None:
    """Move [H] probabilities from the action of a move to each hand's best action."""
    strategy[move.action] -= amount
    np.add.at(strategy, (move.best, np.arange(len(amount))), amount)

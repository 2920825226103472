"""A mix moved to frequencies: compared with the linear program that defines the least loss."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from regretless.holdem.spots.range_mix import ActionGroup, ev_lost, move_to_frequencies


def random_decision(seed: int, actions: int, hands: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    strategy = random.dirichlet(np.ones(actions), hands).T
    pure = random.random(hands) < 0.5
    strategy[:, pure] = np.eye(actions)[random.integers(actions, size=pure.sum())].T
    return strategy, random.normal(10, 3, (actions, hands)).round(1), random.random(hands)


def least_loss(strategy: np.ndarray, values: np.ndarray, weight: np.ndarray, groups: list[ActionGroup]) -> float:
    """By linear program over the moves that `range_mix` allows, of every hand."""
    share = weight / weight.sum()
    group_of = {action: number for number, group in enumerate(groups) for action in group.actions}
    surplus = [share @ strategy[list(group.actions)].sum(axis=0) - group.frequency for group in groups]
    moves = [
        (hand, source, target)
        for hand in range(len(weight))
        for source in range(len(strategy))
        for target in range(len(strategy))
        if surplus[group_of[source]] > 0 > surplus[group_of[target]]
    ]
    if not moves:
        return 0.0
    cost = [values[source, hand] - values[target, hand] for hand, source, target in moves]
    equal = [
        [(group_of[source] == number) * 1.0 - (group_of[target] == number) for _, source, target in moves]
        for number in range(len(groups))
    ]
    upper = np.zeros((strategy.size, len(moves)))
    for column, (hand, source, _) in enumerate(moves):
        upper[source * len(weight) + hand, column] = 1
    result = linprog(cost, A_ub=upper, b_ub=(strategy * share).ravel(), A_eq=equal, b_eq=surplus)
    assert result.success
    return float(result.fun)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("frequency", [0.0, 0.2, 0.6, 1.0])
def test_one_frequency_loses_as_little_as_possible(seed: int, frequency: float) -> None:
    strategy, values, weight = random_decision(seed, actions=4, hands=25)
    groups = [ActionGroup((1, 3), frequency), ActionGroup((0, 2), 1 - frequency)]
    moved = move_to_frequencies(strategy, values, weight, groups)
    np.testing.assert_allclose(moved.sum(axis=0), 1)
    assert moved.min() >= 0
    assert weight @ moved[[1, 3]].sum(axis=0) / weight.sum() == pytest.approx(frequency, abs=1e-12)
    lost = ev_lost(strategy, moved, values, weight)
    assert lost == pytest.approx(least_loss(strategy, values, weight, groups), abs=1e-5)


@pytest.mark.parametrize("seed", range(12))
def test_several_frequencies_are_reached_and_lose_little_more_than_the_least(seed: int) -> None:
    strategy, values, weight = random_decision(seed, actions=3, hands=40)
    wanted = np.random.default_rng(seed).dirichlet(np.ones(3))
    groups = [ActionGroup((action,), float(wanted[action])) for action in range(3)]
    moved = move_to_frequencies(strategy, values, weight, groups)
    np.testing.assert_allclose(moved @ weight / weight.sum(), wanted, atol=1e-9)
    least = least_loss(strategy, values, weight, groups)
    lost = ev_lost(strategy, moved, values, weight)
    assert least - 1e-5 <= lost <= least + 0.1 * abs(least) + 0.1


def test_the_shape_is_kept() -> None:
    """Hands that bet most profitably still bet; of hands that check, those that lose least by betting move."""
    strategy = np.array([[1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    values = np.array([[5.0, 5.0, 5.0, 5.0], [4.9, 1.0, 4.0, 9.0]])
    moved = move_to_frequencies(strategy, values, np.ones(4), [ActionGroup((1,), 0.625), ActionGroup((0,), 0.375)])
    np.testing.assert_allclose(moved[1], [1, 0, 0.5, 1])


def test_equal_hands_stay_equal() -> None:
    strategy = np.tile([[0.75], [0.25]], 6)
    values = np.tile([[3.0], [2.0]], 6)
    weight = np.array([1.0, 1.0, 1.0, 0.5, 0.5, 2.0])
    moved = move_to_frequencies(strategy, values, weight, [ActionGroup((1,), 0.4), ActionGroup((0,), 0.6)])
    assert len(set(moved[1].tolist())) == 1
    assert moved[1, 0] == pytest.approx(0.4)


def test_hands_that_never_meet_the_opponent_follow_a_frequency_of_0() -> None:
    values = np.array([[np.nan, 1.0], [np.nan, 2.0]])
    strategy = np.array([[0.5, 0.0], [0.5, 1.0]])
    groups = [ActionGroup((1,), 0.0), ActionGroup((0,), 1.0)]
    assert move_to_frequencies(strategy, values, np.array([0.0, 1.0]), groups)[1].tolist() == [0, 0]
    assert move_to_frequencies(strategy, values, np.zeros(2), groups)[1].tolist() == [0, 0]

"""The Kuhn trainer learns an equilibrium, repeatably, and stops when asked."""

from __future__ import annotations

import pytest

from regretless.errors import InvalidOption
from regretless.solving.readable.training import KUHN_VALUE, train_kuhn


def test_it_learns_an_equilibrium() -> None:
    reports: list[tuple[int, float]] = []
    training = train_kuhn(20_000, seed=3, report=lambda hands, value: reports.append((hands, value)))
    assert training.evaluation.exploitability < 0.01
    assert training.evaluation.values[0] == pytest.approx(KUHN_VALUE, abs=3e-4)
    assert training.running_value == pytest.approx(KUHN_VALUE, abs=0.03)
    assert reports[-1] == (20_000, training.running_value)
    bets = {key: actions["b"] for key, actions in training.strategy.items()}
    assert list(bets) == ["J", "Q", "K", "Jb", "Qb", "Kb", "Jp", "Qp", "Kp", "Jpb", "Qpb", "Kpb"]
    for key, expected in {
        "Q": 0,
        "Jb": 0,
        "Qb": 1 / 3,
        "Kb": 1,
        "Jp": 1 / 3,
        "Qp": 0,
        "Kp": 1,
        "Kpb": 1,
    }.items():
        assert bets[key] == pytest.approx(expected, abs=0.05), key
    assert bets["K"] == pytest.approx(3 * bets["J"], abs=0.02)


def test_the_seed_decides_everything() -> None:
    first, again, other = train_kuhn(500, seed=1), train_kuhn(500, seed=1), train_kuhn(500, seed=2)
    assert first.strategy == again.strategy != other.strategy
    assert first.running_value == again.running_value


def test_it_stops_between_pieces() -> None:
    told: list[int] = []
    training = train_kuhn(100_000, report=lambda hands, value: told.append(hands), interrupted=lambda: len(told) >= 2)
    assert training.iterations == told[-1] == 2000


def test_it_needs_a_hand() -> None:
    with pytest.raises(InvalidOption, match="must be at least 1"):
        train_kuhn(0)

"""Locks as text, in a shell or in a spot file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regretless.errors import RegretlessError
from regretless.holdem.form.betting import betting_tree
from regretless.holdem.spots.locks import (
    Lock,
    LockFrom,
    action_groups,
    check_lock,
    frequency_text,
    lock_strategy,
    lock_text,
    parse_lock,
)
from regretless.holdem.spots.spot import Spot


@pytest.mark.parametrize(
    ("text", "lock"),
    [
        ("check: bet 50", Lock("check", {"bet 50": 1.0})),
        (": check", Lock("", {"check": 1.0})),
        ("check: AA, KK = bet 50 70%, check 0.3", Lock("check", {"bet 50": 0.7, "check": 0.3}, "AA, KK")),
        ("check: bet 50 70%, check", Lock("check", {"bet 50": 0.7, "check": 0.3})),
        ("check, bet 50, Th: AA:0.5 = fold 1", Lock("check, bet 50, Th", {"fold": 1.0}, "AA:0.5")),
        ("bet 50: all-in 200 25%, fold", Lock("bet 50", {"all-in 200": 0.25, "fold": 0.75})),
        ("bet 50: all-in 1", Lock("bet 50", {"all-in": 1.0})),
        ("bet 50: all-in 200", Lock("bet 50", {"all-in 200": 1.0})),
        ("x: b50 .5, x", Lock("x", {"b50": 0.5, "x": 0.5})),
    ],
)
def test_lock_texts(text: str, lock: Lock) -> None:
    assert parse_lock(text) == lock
    assert parse_lock(lock_text(lock)) == lock


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("check", "has no ':' after the line"),
        ("chek: bet 50", "'chek' is neither an action nor a card"),
        ("check: AAx = bet 50", "at position 3"),
        ("check: = bet 50", "no hands before '='"),
        ("check: bet 50 70", "'70' is not a probability such as 0.7 or 70%"),
        ("check: bet 50, check", "'bet 50' and 'check' need probabilities"),
        ("check: bet 50 80%, check 30%", "adds up to more than 1"),
        ("check: bet 50 50%, bet 50 50%", "names 'bet 50' twice"),
        ("check: punt", "'punt' is not an action with a probability"),
        ("check: ", "'' is not an action"),
        ("check: Th", "'Th' is not an action"),
        ("check: bets 60%", "is a frequency, which starts from the strategy of another solution"),
    ],
)
def test_an_invalid_text_says_why(text: str, reason: str) -> None:
    with pytest.raises(RegretlessError) as caught:
        parse_lock(text)
    assert reason in str(caught.value)


def test_a_spot_file_takes_texts_tables_and_sources(fields: dict[str, Any], tmp_path: Path) -> None:
    text = Spot.from_mapping(fields).to_toml()
    locks = """
[[locks]]
node = "check"
strategy = "bet 50 70%, check"
[[locks]]
source = "other.rgl"
player = "ip"
[[locks]]
source = "/solved/other.rgl"
node = "bet 50"
hands = "AA"
"""
    (tmp_path / "spot.toml").write_text(text + locks, encoding="utf-8")
    spot = Spot.read(tmp_path / "spot.toml")
    assert spot.locks == (
        Lock("check", {"bet 50": 0.7, "check": 0.3}),
        LockFrom(str(tmp_path / "other.rgl"), player="ip"),
        LockFrom("/solved/other.rgl", node="bet 50", hands="AA"),
    )
    assert Spot.parse(spot.to_toml()) == spot
    short = Spot.from_mapping(fields | {"locks": ["check: AA = bet 50"]})
    assert short.locks == (Lock("check", {"bet 50": 1.0}, "AA"),)


@pytest.mark.parametrize(
    ("lock", "reason"),
    [
        ({"source": "a.rgl"}, "locks[0].source: 'a.rgl' needs either player or node"),
        ({"source": "a.rgl", "player": "oop", "node": "check"}, "locks[0].source: 'a.rgl' needs either"),
        ({"source": "a.rgl", "player": "hero"}, "locks[0].player: 'hero' is neither oop nor ip"),
        ({"source": "a.rgl", "player": "oop", "hands": "AA"}, "locks[0].hands: 'AA' selects hands at a node"),
        ({"source": "a.rgl", "player": "oop", "suits": ["cdh"]}, "locks[0].suits: 'cdh' is not a permutation"),
        ({"source": "a.rgl", "player": "oop", "strategy": {}}, "locks[0].strategy: is not a field"),
        ("check", "locks[0]: 'check': has no ':'"),
        (7, "locks[0]: 7 must be a table"),
    ],
)
def test_a_bad_lock_of_a_spot_file_is_named(fields: dict[str, Any], lock: object, reason: str) -> None:
    with pytest.raises(RegretlessError) as caught:
        Spot.from_mapping(fields | {"locks": [lock]})
    assert str(caught.value).startswith(reason)


def test_a_lock_is_checked_against_the_tree(fields: dict[str, Any]) -> None:
    tree = betting_tree(Spot.from_mapping(fields))
    check_lock(tree, parse_lock("check: bet 50"), "lock")
    for text, reason in (
        ("bet 7: fold", "lock.node: 'bet 7' at position 1: no 'bet 7' here"),
        ("check: bet 70", "lock.strategy: 'bet 70': is not an action there; choose from check, bet 50, bet 100"),
        ("check, check: check", "lock.node: 'check, check': nobody acts there"),
    ):
        with pytest.raises(RegretlessError) as caught:
            check_lock(tree, parse_lock(text), "lock")
        assert str(caught.value).startswith(reason)


@pytest.mark.parametrize(
    ("text", "lock"),
    [
        ("check: bets 60%", LockFrom("a.rgl", node="check", frequencies={"bets": 0.6})),
        ("check: AA, KK = bets 0", LockFrom("a.rgl", node="check", hands="AA, KK", frequencies={"bets": 0.0})),
        ("check: bet 50 0.6 in total", LockFrom("a.rgl", node="check", frequencies={"bet 50": 0.6})),
        (": bets 40%, check in total", LockFrom("a.rgl", node="", frequencies={"bets": 0.4, "check": 0.6})),
    ],
)
def test_frequencies_as_text(text: str, lock: LockFrom) -> None:
    assert parse_lock(text, source="a.rgl") == lock
    assert parse_lock(frequency_text(lock), source="a.rgl") == lock


def test_frequencies_are_written_to_a_spot_file_and_read_back(fields: dict[str, Any]) -> None:
    lock = {"source": "/a.rgl", "node": "check", "hands": "AA", "frequencies": {"bets": 0.6}}
    spot = Spot.from_mapping(fields | {"locks": [lock]})
    assert spot.locks == (LockFrom("/a.rgl", node="check", hands="AA", frequencies={"bets": 0.6}),)
    assert Spot.parse(spot.to_toml()) == spot
    assert hash(spot.locks[0]) != hash(LockFrom("/a.rgl", node="check", hands="AA", frequencies={"bets": 0.7}))


def test_rounded_probabilities_are_scaled_to_1(fields: dict[str, Any]) -> None:
    labels = ("check", "bet 50", "bet 100")
    for shares in ([1.000001, 0, 0], [0.333, 0.333, 0.333], [0.33, 0.33, 0.33], [0.5, 0.25, 0.251]):
        mix = dict(zip(labels, np.minimum(shares, 1.0).tolist(), strict=True))
        strategy = lock_strategy(Lock("check", mix), labels)
        assert strategy.sum() == pytest.approx(1, abs=1e-15)
        np.testing.assert_allclose(strategy, np.array(shares) / sum(shares), atol=1e-6)
    with pytest.raises(RegretlessError, match=r"0\.9 is the sum of the probabilities, which must be 1"):
        lock_strategy(Lock("check", {"check": 0.4, "bet 50": 0.3, "bet 100": 0.2}), labels)


@pytest.mark.parametrize(
    ("frequencies", "reason"),
    [
        ({"bets": 1.2}, "locks.frequencies: 1.2 (of bets) must be from 0 to 1"),
        ({"bets": 0.5, "bet 50": 0.1}, "locks.frequencies: 'bet 50': is counted twice"),
        ({"punt 3": 0.5}, "'punt 3' is neither an action nor a card"),
        ({"bet 7": 0.5}, "'bet 7': is not an action there"),
        ({"bets": 0.5, "check": 0.3}, "0.8 is their sum, which must be 1"),
        ({"bet 50": 0.8, "check": 0.3}, "1.1 is their sum, which must be at most 1"),
    ],
)
def test_bad_frequencies_are_named(frequencies: dict[str, float], reason: str) -> None:
    lock = LockFrom("a.rgl", node="check", frequencies=frequencies)
    with pytest.raises(RegretlessError) as caught:
        action_groups(lock, ("check", "bet 50", "bet 100"), "locks")
    assert reason in str(caught.value)

"""Locks as text, in a shell or in a spot file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from regretless.errors import RegretlessError
from regretless.holdem.form.betting import betting_tree
from regretless.holdem.spots.locks import Lock, LockFrom, check_lock, lock_text, parse_lock
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

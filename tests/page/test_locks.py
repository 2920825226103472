"""Locks checked at their node, and what they cost."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.page.serving import API


def test_locks_are_checked_at_their_node(reading: TestClient) -> None:
    def check(file: str = "river.rgl", **lock: Any) -> dict[str, Any]:
        body = {"file": file, "lock": {"node": "check"} | lock}
        found: dict[str, Any] = reading.post(f"{API}/locks/check", json=body).json()
        return found

    assert check(hands="AA", strategy={"check": 0.5, "bet 30": 0.5})["combos"] == 6
    assert check(source="river.rgl")["valid"]
    assert check(strategy={"check": 0.5})["errors"][0]["field"] == "strategy"
    assert check(strategy={"fly": 1})["errors"][0]["field"] == "strategy"
    assert check(hands="32o", strategy={"check": 1})["errors"][0]["field"] == "hands"
    assert check(hands="AKx", strategy={"check": 1})["errors"][0]["field"] == "hands"
    assert check(node="bet 7", strategy={"check": 1})["errors"][0]["field"] == "node"
    # Without a card, a lock applies on every river, so no hand is blocked; a river in the line blocks some.
    every = check(file="turn.rgl", node="check, check", strategy={"check": 1})
    one = check(file="turn.rgl", node="check, check, 7d", strategy={"check": 1})
    assert every["combos"] > one["combos"] > 0
    again = check(file="turn.rgl", node="check, check, 7d, check, check, 7d", strategy={"check": 1})
    assert again["errors"][0]["field"] == "node"


def test_the_effect_of_a_lock_is_said(reading: TestClient) -> None:
    def check(**lock: Any) -> dict[str, Any]:
        body = {"file": "river.rgl", "lock": {"node": ""} | lock, "line": ""}
        answer: dict[str, Any] = reading.post(f"{API}/locks/check", json=body).json()
        assert answer["valid"], answer
        found: dict[str, Any] = answer["effect"]
        return found

    node = reading.get(f"{API}/node", params={"file": "river.rgl"}).json()
    free = [action["frequency"] for action in node["actions"]]
    as_played = check(source="river.rgl")
    assert as_played["before"] == as_played["after"] == pytest.approx(free)
    assert as_played["ev_lost"] == 0
    shaped = check(source="river.rgl", frequencies={"bets": 0.6})
    assert sum(shaped["after"][1:]) == pytest.approx(0.6, abs=1e-6)
    flat = check(strategy={"check": 0.4, "bet 30": 0.6})
    assert flat["ev_lost"] > shaped["ev_lost"] > 0
    refused = {"file": "river.rgl", "lock": {"node": "", "strategy": {"check": 1}, "frequencies": {"bets": 0.6}}}
    assert not reading.post(f"{API}/locks/check", json=refused).json()["valid"]

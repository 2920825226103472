from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regretless.holdem.problem import solve_spot
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.spot import Spot

DATA = Path(__file__).parent.parent / "data"
REFERENCE = ("river_narrow", "river_rake", "river_wide", "turn_example", "turn_paired_donk", "flop_3bet")

RIVER: dict[str, Any] = {
    "board": "Kh Qs Js 2c 3d",
    "pot": 100,
    "stack": 200,
    "oop": {"range": "AK, KQs, QJs, T9s, 99-77, 22"},
    "ip": {"range": "AA-QQ, AK, KQ, JTs, T9s, 55"},
    "bets": {"bet": "50%, 100%", "raise": "2.5x"},
}
TURN: dict[str, Any] = {
    "board": "8s 8d 3c Kh",
    "pot": 40,
    "stack": 60,
    "oop": {"range": "AK, KQs, 99, 77, 33, A8s, 76s"},
    "ip": {"range": "AA, AKs, KJ, QQ:0.5, 98s, 55, 64s"},
    "bets": {"bet": "75%", "raise": "a"},
}
FLOP: dict[str, Any] = {
    "board": "Qs Jh 2h",
    "pot": 20,
    "stack": 30,
    "oop": {"range": "AK, QJs, 22, T9s"},
    "ip": {"range": "AA, KQs, JTs, 55:0.5"},
    "bets": {"bet": "a"},
}


@pytest.fixture
def fields() -> dict[str, Any]:
    """A river spot as nested mappings, for tests to modify."""
    return copy.deepcopy(RIVER)


@pytest.fixture(params=REFERENCE)
def reference(request: pytest.FixtureRequest) -> tuple[Spot, dict[str, Any]]:
    """Each reference spot, and an independent solver's answer."""
    return load_reference(request.param)


@pytest.fixture(scope="session")
def read_reference() -> Callable[[str], tuple[Spot, dict[str, Any]]]:
    return load_reference


def load_reference(name: str) -> tuple[Spot, dict[str, Any]]:
    answer = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return Spot.read(DATA / f"{name}.toml"), answer


@pytest.fixture(scope="session")
def river() -> SpotSolution:
    return solve_spot(Spot.from_mapping(RIVER), target=0.05, threads=1)


@pytest.fixture
def turn_fields() -> dict[str, Any]:
    return copy.deepcopy(TURN)


@pytest.fixture(scope="session")
def turn() -> SpotSolution:
    return solve_spot(Spot.from_mapping(TURN), target=0.2, threads=1)


@pytest.fixture(scope="session")
def flop() -> SpotSolution:
    return solve_spot(Spot.from_mapping(FLOP), variant="discounted", iterations=30, threads=1)

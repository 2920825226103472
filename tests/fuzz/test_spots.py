"""Spot files: wrong, missing or extreme fields, and damaged text."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import pytest
from tests.fuzz.test_texts import LINES, RANGES, SIZES, mutated

from regretless.holdem import Spot, solve_spot
from regretless.holdem.estimate import estimate_spot
from regretless.holdem.form.betting import betting_tree

BOARDS = ["Qs Jh 2h", "Kh Qs Js 2c 3d", "AsAdAcAh2c", "7c7s4d7h", "", "Qs Qs Qs", "9d Qs Qd As Ad", "Zz"]
AMOUNTS = [
    100,
    1,
    0.5,
    910,
    1e6,
    1e12,
    1e-6,
    1e300,
    1e-300,
    0,
    -5,
    10**400,
    math.inf,
    math.nan,
    True,
    "100",
    None,
    [],
    {},
]
SHARES = [0, 0.1, 0.15, 1.5, 5, 1e6, 1e300, -1, math.nan, math.inf, "x"]
OTHER: list[Any] = [None, [], {}, "", "x" * 1000, 5, -1.5, True, [[]], {"a": {"b": 1}}, ["check"] * 50]
RIVER = Spot.from_mapping(
    {
        "board": "Kh Qs Js 2c 3d",
        "pot": 100,
        "stack": 200,
        "oop": {"range": "AK"},
        "ip": {"range": "QQ"},
        "bets": {"bet": "50%, a", "raise": "a"},
    }
)


def drawn_spot(draw: random.Random) -> dict[str, Any]:
    """A spot whose fields are mostly right."""

    def usually(right: list[Any], wrong: list[Any]) -> Any:
        return draw.choice(right if draw.random() < 0.93 else wrong)

    def sizes() -> Any:
        return draw.choice([*SIZES, "50%", "33%, a", ""]) if draw.random() < 0.8 else mutated(draw, SIZES)

    def bets(depth: int = 0) -> dict[str, Any]:
        keys = ["bet", "raise", "reraise", "donk", "max_raises", "oop", "ip", "flop", "turn", "river", "best"]
        found: dict[str, Any] = {}
        for key in draw.sample(keys, draw.randrange(4)):
            if key in ("oop", "ip", "flop", "turn", "river"):
                found[key] = bets(depth + 1) if depth < 3 else {}
            elif key == "max_raises":
                found[key] = usually([0, 1, 3], [-1, 10**30, 1.5, "2"])
            else:
                found[key] = [sizes(), sizes()] if key == "reraise" and draw.random() < 0.5 else sizes()
        return found

    rules = {
        name: usually([0, 0.1, 1], SHARES)
        for name in draw.sample(["add_allin", "force_allin", "merge", "rake", "rake_cap"], draw.randrange(4))
    }
    rules |= {name: usually([1, 0.01, 0.5], AMOUNTS) for name in draw.sample(["min_bet", "chip"], draw.randrange(3))}
    spot: dict[str, Any] = {
        "board": usually(BOARDS[:4], BOARDS),
        "pot": usually([100, 5.5, 180], AMOUNTS),
        "stack": usually([50, 100, 600, 2000], AMOUNTS),
        "oop": {"range": usually(RANGES, [mutated(draw, RANGES)])},
        "ip": {"range": usually(RANGES, [mutated(draw, RANGES)])},
        "bets": bets(),
        "rules": rules,
    }
    if draw.random() < 0.2:
        spot["lines"] = {
            draw.choice(["add", "remove"]): [mutated(draw, [*LINES, "bet 50"]) for _ in range(draw.randrange(1, 4))]
        }
    if draw.random() < 0.2:
        strategy = {mutated(draw, ["check", "bet 50", "fold"]): usually([0, 0.5, 1], SHARES)}
        spot["locks"] = [{"node": mutated(draw, ["", "check"]), "strategy": strategy, "hands": draw.choice(RANGES)}]
    if draw.random() < 0.1:
        source = {"source": draw.choice(["none.rgl", "/dev/zero", "", "\x00", "x" * 5000]), "player": "oop"}
        spot["locks"] = [
            source | draw.choice([{}, {"node": "check"}, {"suits": ["cdhs"]}, {"suits": draw.choice(OTHER)}])
        ]
    for _ in range(draw.choice([0, 0, 0, 1, 2])):
        key = draw.choice([*spot, "name", "bards", "lines", "locks"])
        if draw.random() < 0.3:
            spot.pop(key, None)
        else:
            spot[key] = draw.choice(OTHER)
    return spot


def toml_of(spot: dict[str, Any]) -> str:
    """The tables as TOML, as far as TOML can express them."""

    def value(given: Any) -> str:
        if isinstance(given, bool):
            return str(given).lower()
        if isinstance(given, dict):
            return "{" + ", ".join(f"{json.dumps(str(key))} = {value(item)}" for key, item in given.items()) + "}"
        if isinstance(given, list):
            return "[" + ", ".join(map(value, given)) + "]"
        return json.dumps(given) if isinstance(given, str) else str(given).replace("e+", "e")

    return "\n".join(f"{key} = {value(item)}" for key, item in spot.items())


def damaged(draw: random.Random, text: str) -> str:
    for _ in range(draw.randrange(1, 4)):
        place = draw.randrange(len(text) + 1)
        text = (
            text[:place] + draw.choice(["", "\x00", "[", "{", '"', "'", "\n", ".", "=", "#", "é"]) + text[place + 1 :]
        )
    return text


def fuzz(case, count: int, seed: int = 0) -> int:
    draw = random.Random(seed)
    solve_spot(RIVER, iterations=2, threads=1).as_json()  # compile kernels before any case is timed
    solved = 0
    for number in range(count):
        given = drawn_spot(draw)
        text = toml_of(given)
        if number % 4 == 0:
            text = damaged(draw, text)
        with case(text):
            spot = Spot.parse(text) if number % 2 else Spot.from_mapping(given)
            size = estimate_spot(spot)
            assert Spot.parse(spot.to_toml()) == spot
            if size.betting_nodes < 20_000:
                assert len(betting_tree(spot).kind) == size.betting_nodes
            if size.entries < 20_000 and len(spot.board) == 5 and number % 3 == 1:
                solution = solve_spot(spot, iterations=2, threads=1)
                json.dumps(solution.as_json(), allow_nan=False)
                solved += 1
    assert case.refused > count // 5
    assert case.passed > count // 10
    return solved


def test_spots(case) -> None:
    fuzz(case, 250)


@pytest.mark.slow
def test_5000_spots(case) -> None:
    assert fuzz(case, 5000, seed=1) > 20

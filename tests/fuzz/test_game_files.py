"""Files of games from the deal: wrong, missing or extreme fields, and damaged text."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from tests.fuzz.test_spots import AMOUNTS, OTHER, SHARES, damaged, toml_of
from tests.fuzz.test_texts import LINES, SIZES, mutated

from regretless.holdem import HoldemGame, estimate_game
from regretless.holdem.form.betting import betting_tree

RAISES = ["2x", "2.5x, a", "100%", "a", "", "3e", "10c"]


def drawn_game(draw: random.Random) -> dict[str, Any]:
    """A game whose fields are mostly right."""

    def usually(right: list[Any], wrong: list[Any]) -> Any:
        return draw.choice(right if draw.random() < 0.95 else wrong)

    def sizes() -> Any:
        return draw.choice(RAISES) if draw.random() < 0.95 else mutated(draw, SIZES)

    def preflop(keys: list[str]) -> dict[str, Any]:
        return {key: sizes() for key in draw.sample(keys, draw.randrange(min(4, len(keys)) + 1))}

    raises = ["open", "raise_limp", "3bet", "4bet", "5bet", "9bet"]
    first: dict[str, Any] = {"open": sizes()} | preflop(raises)
    if draw.random() < 0.3:
        first["limp"] = usually([True, False], OTHER)
    if draw.random() < 0.3:
        first["max_raises"] = usually([1, 2, 4], [-1, 1.5, "2", 10**30])
    if draw.random() < 0.3:
        first[draw.choice(["ip", "oop", "sb"])] = preflop([*raises, "10bet"][draw.randrange(2) :])
    rules = {
        name: usually([0, 0.1, 1], SHARES) for name in draw.sample(["add_allin", "merge", "rake"], draw.randrange(3))
    }
    game: dict[str, Any] = {
        "stack": usually([10, 20, 40], AMOUNTS),
        "small_blind": usually([1, 0.5], AMOUNTS),
        "big_blind": usually([1, 2], AMOUNTS),
        "preflop": first,
        "bets": {key: draw.choice(["a", "100%", "50%"]) for key in draw.sample(["bet", "raise"], draw.randrange(3))},
        "rules": rules,
    }
    if draw.random() < 0.3:
        game["ante"] = usually([0, 0.125, 1], AMOUNTS)
    if draw.random() < 0.1:
        game["lines"] = {draw.choice(["add", "remove"]): [mutated(draw, [*LINES, "call", "raise 9"])]}
    for _ in range(draw.choice([0, 0, 0, 0, 1])):
        key = draw.choice([*game, "name", "board", "antes"])
        if draw.random() < 0.3:
            game.pop(key, None)
        else:
            game[key] = draw.choice(OTHER)
    return game


def fuzz(case, count: int, seed: int = 0) -> None:
    draw = random.Random(seed)
    for number in range(count):
        given = drawn_game(draw)
        text = toml_of(given)
        if number % 5 == 0:
            text = damaged(draw, text)
        with case(text):
            game = HoldemGame.parse(text) if number % 2 else HoldemGame.from_mapping(given)
            size = estimate_game(game)
            json.dumps(size.as_json(), allow_nan=False)
            assert HoldemGame.parse(game.to_toml()) == game
            if size.betting_nodes < 20_000:
                assert len(betting_tree(game).kind) == size.betting_nodes
    assert case.refused > count // 5
    assert case.passed > count // 5


def test_games(case) -> None:
    fuzz(case, 250)


@pytest.mark.slow
def test_3000_games(case) -> None:
    fuzz(case, 3000, seed=1)

"""Gambit files: damaged text, extreme numbers, and trees that are deep, long or almost right."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from regretless import solve
from regretless.forms import compile_history
from regretless.games import Kuhn
from regretless.games.gambit import Limits, parse_efg, to_efg

PENNIES = """EFG 2 R "Matching pennies" { "Even" "Odd" } ""
p "" 1 1 "even" { "heads" "tails" } 0
p "" 2 1 "odd" { "heads" "tails" } 0
t "" 1 "match" { 1, -1 }
t "" 2 "no match" { -1, 1 }
p "" 2 1 0
t "" 2
t "" 1
"""
CHANCE = """EFG 2 R "Chance" { "A" "B" "C" }
c "" 1 "deal" { "x" 1/3 "y" .5 "z" 1/6 } 1 { 1 2 3 }
p "" 1 1 "s" { "a" "b" } 0
t "" 2 { 1 2 -3 }
t "" 3 { 0 0 0 }
p "" 3 1 { "a" } 0
t "" 3
t "" 4 { 1e3, -2.5e-1, 1/7 }
"""
ENGINES = ["auto", "numba", "numpy", "reference"]
WORDS = [
    "1", "0", "-1", "2", "1/0", "1/3", "1e308", "-1e308", "1e-320", "5e-324", "9" * 200, "1e999", "nan", "inf", "0x10",
    "--1", "{", "}", ",", '"', '"a"', "c", "p", "t", "EFG", "R", "D", "//", "#", "\x00", "é", "\n",
    '"' + "x" * 300 + '"',
    '{ "a" "b" }', "{ 1 2 }",
]  # fmt: skip


def chain(draw: random.Random) -> str:
    """A long, thin tree: deeper than Python's recursion limit, with probabilities that underflow."""
    moves = draw.choice([1, 10, 100, 600, 1500])
    lines = ['EFG 2 R "chain" { "a" "b" } ""']
    for move in range(moves):
        if draw.random() < 0.2:
            rare = draw.choice(["1e-300", "1/1000", "0", "1", "0.5"])
            rest = repr(1.0 - float(Fraction(rare)))
            lines.append(f'c "" {move + 1} "" {{ "stop" {rest} "go" {rare} }} 0')
        else:
            lines.append(f'p "" {move % 2 + 1} {move + 1} "s{move}" {{ "stop" "go" }} 0')
        payoff = draw.choice(["1", "0", "-3", "1e19", "1e-310", "1/3"])
        lines.append(f't "" {move + 1} "" {{ {payoff}, -{payoff.lstrip("-")} }}')
    lines.append(f't "" {moves + 1} "" {{ 5, -5 }}')
    return "\n".join(lines)


def mutated(draw: random.Random, texts: list[str]) -> str:
    text = chain(draw) if draw.random() < 0.1 else draw.choice(texts)
    for _ in range(draw.choice([0, 1, 1, 2, 5])):
        words = text.split(" ")
        place = draw.randrange(len(words))
        accident = draw.randrange(6)
        if accident == 0:
            words[place] = draw.choice(WORDS)
        elif accident == 1:
            words.insert(place, draw.choice(WORDS))
        elif accident == 2:
            del words[place]
        elif accident == 3:
            other = draw.randrange(len(words))
            words[place], words[other] = words[other], words[place]
        elif accident == 4:
            words = words[:place]
        else:
            words[place:place] = words[draw.randrange(len(words)) :][: draw.randrange(40)]
        text = " ".join(words)
    return text


def fuzz(case, count: int, seed: int = 0) -> int:
    draw = random.Random(seed)
    texts = [PENNIES, CHANCE, to_efg(Kuhn()), to_efg(Kuhn(players=3))]
    for game in (Kuhn(), Kuhn(players=3), parse_efg(CHANCE)):  # compile kernels before any case is timed
        for engine in ENGINES:
            solve(game, iterations=3, engine=engine)
    solved = 0
    for number in range(count):
        text = mutated(draw, texts)
        with case(text):
            game = parse_efg(text, limits=Limits(bytes=10**6, nodes=50_000))
            form = compile_history(game)
            if number % 5 == 0 and form.keys:
                solution = solve(game, iterations=3, engine=draw.choice(ENGINES))
                assert np.isfinite([solution.exploitability, *solution.values]).all()
                solved += 1
    assert case.refused > count // 5
    assert case.passed > count // 10
    return solved


def test_efg(case) -> None:
    fuzz(case, 200)


@pytest.mark.slow
def test_4000_efg(case) -> None:
    assert fuzz(case, 4000, seed=1) > 100


@pytest.mark.parametrize(
    "unit", ['"', "{", 'p "" 1 1 { "a" "b" } 0 ', "1/", "9", "#", "\\", 'c "" 1 { "a" 1 } 0 ', " "]
)
def test_long_files(case, unit: str) -> None:
    head = 'EFG 2 R "" { "A" "B" } '
    with case(unit):
        parse_efg(head + unit * (10**6 // len(unit)))

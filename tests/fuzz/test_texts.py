"""Ranges, bet sizes and lines as text: random letters, and texts that are almost right."""

from __future__ import annotations

import random
import string

import pytest

from regretless.cards.ranges import Range
from regretless.holdem.spots.lines import parse_line
from regretless.holdem.spots.sizes import parse_sizes, sizes_text

RANGES = [
    "22+, A2s+, KTs+, QJs, AJo+:0.5",
    "[50.0]AA,KK[/50.0]",
    "AhKh, A♠K♠, AXs:25%",
    "JTs-65s, 77-55, 100%",
    "random",
]
SIZES = ["33%, 75%, 125%", "2.5x, a", "100c, e, 3e200%", "e, 3e, e50%", "all-in, 1x"]
LINES = ["check, bet 94, raise 300, call, Th, check", "x, b94, r 300, a, c", "fold", "bet 1, raise to 2, all-in 500"]
LETTERS = "AKQJT98765432cdhsoxXabefr+-:,.%[]/ \t\n♠♥♦♣" + string.printable + "é\u202e\x00\ud800"
NUMBERS = ["9" * 400, "1e999", "0.0000000001", "-1", "1e-400", "00", ".", "..", "1.", "٣", "1_000", "nan", "inf"]


def mutated(draw: random.Random, texts: list[str]) -> str:
    """A text from the list with a few mutations or, occasionally, random letters."""
    if draw.random() < 0.1:
        return "".join(draw.choices(LETTERS, k=draw.randrange(60)))
    text = draw.choice(texts)
    for _ in range(draw.randrange(1, 5)):
        place = draw.randrange(len(text) + 1)
        accident = draw.randrange(7)
        if accident == 0:
            text = text[:place] + draw.choice(LETTERS) + text[place:]
        elif accident == 1:
            text = text[:place] + text[place + draw.randrange(1, 4) :]
        elif accident == 2:
            text = text[:place] + draw.choice(NUMBERS) + text[place:]
        elif accident == 3:
            text = text[:place] + draw.choice(texts) + text[place:]
        elif accident == 4:
            text = text * draw.randrange(1, 40)
        elif accident == 5:
            text = text.swapcase()
        else:
            text = text[:place] + draw.choice(",:%+-[]/ ") * draw.randrange(1, 300) + text[place:]
    return text


def fuzz(case, count: int, seed: int = 0) -> None:
    draw = random.Random(seed)
    for number in range(count):
        kind = number % 3
        text = mutated(draw, (RANGES, SIZES, LINES)[kind])
        with case((kind, text)):
            if kind == 0:
                hands = Range.parse(text)
                assert Range.parse(str(hands)) == hands
            elif kind == 1:
                sizes = parse_sizes(text, raises=draw.random() < 0.5)
                assert parse_sizes(sizes_text(sizes), raises=True) == sizes
            else:
                steps = parse_line(text)
                assert parse_line(", ".join(map(str, steps))) is not None
    assert case.refused > count // 10
    assert case.passed > count // 50


def test_texts(case) -> None:
    fuzz(case, 1200)


@pytest.mark.slow
def test_24000_texts(case) -> None:
    fuzz(case, 24_000, seed=1)


@pytest.mark.parametrize(
    "unit", ["A", "AA,", "AA:0.5,", "[50]AA[/50],", "[", "-", ":", "0.5,", "33%,", "e,", "check,", "9", " "]
)
def test_long_texts(case, unit: str) -> None:
    """A megabyte of anything is quickly read or refused."""
    for read in (Range.parse, parse_sizes, parse_line):
        with case((read, unit)):
            read(unit * (10**6 // len(unit)))

"""The limits that the guide's table states are those that hold: just within is accepted, just beyond is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regretless.errors import RegretlessError
from regretless.holdem.form import betting, tree_size
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.spots import spot_toml, toml_fields
from regretless.holdem.spots.spot import Spot

GUIDE = Path(__file__).parents[2] / "docs" / "guide"


def documented() -> dict[str, tuple[list[float], str]]:
    """Of each row of the guide's table: its numbers and its text."""
    section = (GUIDE / "spots.md").read_text().partition("\n## Limits\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", section, re.MULTILINE)[1:]
    return {
        name: ([float(text.replace(",", "")) for text in re.findall(r"\d[\d,]*(?:\.\d+)?", allowed)], allowed)
        for name, allowed in rows
    }


LIMITS = documented()
Change = Callable[[float], dict[str, Any]]


def amount(name: str) -> Change:
    if name in ("pot", "stack"):  # the other stays within its own limits
        return lambda value: {"pot": min(max(value, 1e-6), 1e12), "stack": min(max(value, 1e-6), 1e12), name: value}
    return lambda value: {"rules": {name: value}}


WITHIN: list[tuple[str, int, str, Change, float]] = [  # row, which of its numbers, name, change, what is beyond
    *(
        ("`pot`, `stack`, `min_bet`, `chip`", number, name, amount(name), factor)
        for name in ("pot", "stack", "min_bet", "chip")
        for number, factor in ((0, 0.9), (1, 1.1))
    ),
    ("`stack`", 0, "stack", lambda pots: {"pot": 10, "stack": 10 * pots}, 1.01),
    ("the weight of a hand", 1, "oop.range", lambda weight: {"oop": {"range": f"AK, QQ:{weight:.12f}"}}, 0.9),
    ("the weight of a hand", 2, "oop.range", lambda weight: {"oop": {"range": f"AK, QQ:{weight:.12f}"}}, 1.1),
    *(
        ("`add_allin`, `force_allin`, `merge`", 1, name, amount(name), 1.1)
        for name in ("add_allin", "force_allin", "merge")
    ),
    (
        "the text of a range",
        0,
        "oop.range",
        lambda characters: {"oop": {"range": "AK" + " " * (round(characters) - 2)}},
        1.1,
    ),
    (
        "sizes in one list",
        0,
        "bets.bet",
        lambda sizes: {"bets": {"bet": ", ".join(f"{n + 1}%" for n in range(round(sizes)))}},
        1.01,
    ),
    ("sizes in one list", 1, "bets.bet", lambda length: {"bets": {"bet": "a" + " " * (round(length) - 1)}}, 1.1),
    ("the number in a size", 0, "bets.bet", lambda number: {"bets": {"bet": f"{number:.0f}c"}}, 1.1),
    ("the number in a size", 1, "bets.bet", lambda streets: {"bets": {"bet": f"{streets:.0f}e"}}, 0.4),
    ("the number in a size", 2, "bets.bet", lambda streets: {"bets": {"bet": f"{streets:.0f}e"}}, 1.01),
    ("lines added, lines removed", 0, "lines.add", lambda lines: {"lines": {"add": ["check"] * round(lines)}}, 1.01),
    ("lines added, lines removed", 0, "lines.remove", lambda lines: {"lines": {"remove": ["x"] * round(lines)}}, 1.01),
    ("`name`", 0, "name", lambda characters: {"name": "x" * round(characters)}, 1.01),
    ("locks", 0, "locks", lambda locks: {"locks": ["check: AA = check"] * round(locks)}, 1.01),
]


@pytest.mark.filterwarnings("ignore::regretless.errors.RoundedSizes")
@pytest.mark.parametrize(
    ("row", "number", "name", "change", "beyond"),
    WITHIN,
    ids=[f"{row}-{number}-{name}" for row, number, name, *_ in WITHIN],
)
def test_the_limits_of_the_guide_hold(
    fields: dict[str, Any], row: str, number: int, name: str, change: Change, beyond: float
) -> None:
    limit = LIMITS[row][0][number]
    Spot.from_mapping(fields | change(limit))
    with pytest.raises(RegretlessError, match=rf"^(rules\.)?{re.escape(name)}"):
        Spot.from_mapping(fields | change(limit * beyond))


def test_the_limits_of_files_and_trees_are_those_of_the_guide() -> None:
    assert LIMITS["the file"][0] == [toml_fields.MAX_FILE / 2**20, 8, toml_fields.MAX_DEPTH]  # MiB of UTF-8
    assert LIMITS["the betting tree"][0] == [tree_size.MAX_NODES, tree_size.MAX_DECISIONS]
    assert LIMITS["bets and raises on one street"][0] == [betting.MAX_BETS]
    assert LIMITS["locks"][0] == [spot_toml.MAX_LOCKS]


def test_every_row_of_the_guide_is_tested() -> None:
    assert {row for row, *_ in WITHIN} | {"the file", "the betting tree", "bets and raises on one street"} == set(
        LIMITS
    )


def test_a_game_is_as_deep_as_its_guide_says() -> None:
    deepest = re.search(r"\| `stack` \|.*at most ([\d,]+) big blinds", (GUIDE / "games.md").read_text())
    assert deepest is not None
    big_blinds = float(deepest[1].replace(",", ""))
    fields = {"small_blind": 1, "big_blind": 2, "preflop": {"open": "a"}}
    HoldemGame.from_mapping(fields | {"stack": 2 * big_blinds})
    with pytest.raises(RegretlessError, match=r"^stack: .* big blinds"):
        HoldemGame.from_mapping(fields | {"stack": 2 * big_blinds + 1})

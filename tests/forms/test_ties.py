"""Ties that are worth the same everywhere are found alike before and after a form is built."""

from __future__ import annotations

from typing import Any

import pytest

from regretless.forms.public_size import size_of_form
from regretless.forms.ties import has_even_ties
from regretless.holdem import Spot, compile_spot
from regretless.holdem.estimate import spot_size

FIELDS: dict[str, Any] = {
    "board": "Kh Qs Js 2c",
    "pot": 100,
    "stack": 300,
    "oop": {"range": "AK, 99"},
    "ip": {"range": "QQ, T9s"},
}


@pytest.mark.parametrize(
    ("rules", "bet", "is_even"),
    [
        ({}, "50%, a", True),
        ({"rake": 0.05}, "50%, a", False),
        ({"rake": 0.05, "rake_cap": 30}, "50%, a", False),  # reached by bets
        ({"rake": 0.05, "rake_cap": 5}, "50%, a", True),  # reached by the starting pot
        ({"rake": 0.05, "rake_cap": 0}, "50%, a", True),
        ({"rake": 0.05, "add_allin": 0}, "", True),  # one showdown
        ({"rake": 1e-9}, "50%, a", True),  # too little to matter
    ],
)
def test_rake_that_differs_among_showdowns_makes_ties_uneven(rules: dict[str, float], bet: str, is_even: bool) -> None:
    spot = Spot.from_mapping(FIELDS | {"rules": rules, "bets": {"bet": bet} if bet else {}})
    form = compile_spot(spot)
    assert has_even_ties(form) is is_even
    assert spot_size(spot).even_ties is size_of_form(form).even_ties is is_even


def test_a_size_never_denies_ties_that_are_even() -> None:
    """Otherwise the estimate of an engine that multiplies matrices would be too low."""
    for exponent in range(-12, 0):
        rules = {"rake": 10.0**exponent}
        spot = Spot.from_mapping(FIELDS | {"rules": rules, "bets": {"bet": "50%, a"}})
        assert spot_size(spot).even_ties >= has_even_ties(compile_spot(spot))

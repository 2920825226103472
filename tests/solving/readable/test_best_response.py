"""Strategies handed to the readable evaluation: what each is worth, and which are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from regretless.errors import RegretlessError
from regretless.forms.history import Strategy
from regretless.games import Kuhn
from regretless.solving import BestResponse, evaluate, expected_values, uniform_strategy

ENTRIES: dict[str, Callable[[Strategy], Any]] = {
    "evaluate": lambda strategy: evaluate(Kuhn(), strategy),
    "expected_values": lambda strategy: expected_values(Kuhn(), strategy),
    "best_response_of_0": lambda strategy: BestResponse(Kuhn(), strategy, 0).value(),
    "best_response_of_1": lambda strategy: BestResponse(Kuhn(), strategy, 1).value(),
}

IMPOSSIBLE = [
    ("0:", {"p": 0.7, "b": 0.7}, "'0:' must hold numbers of at least 0 that sum to 1"),
    ("2:pb", {"p": 0.2, "b": 0.2}, "'2:pb' must hold numbers of at least 0 that sum to 1"),
    ("1:p", {"p": 1.5, "b": -0.5}, "'1:p' must hold numbers of at least 0"),
    ("0:", {"p": float("nan"), "b": 1.0}, "'0:' must hold numbers of at least 0"),
    ("0:", {"p": "all", "b": 1.0}, "'0:' must hold numbers of at least 0"),
    ("0:", {"p": 10**400, "b": 0}, "'0:' must hold numbers of at least 0 that sum to 1"),
    ("0:", None, "at '0:' must be a table of probabilities by action"),
    ("0:", {"p": 1.0}, "at '0:' has no probability for 'b'"),
    ("0:", {}, "at '0:' has no probability for 'p'"),
    ("0:", {"p": 0.5, "b": 0.25, "c": 0.25}, "'c' is not an action of '0:': p, b"),
    ("9:", {"p": 0.5, "b": 0.5}, "'9:' is not an information set of kuhn"),
]


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize(("key", "played", "message"), IMPOSSIBLE)
def test_impossible_strategies_are_refused(entry: str, key: str, played: dict[str, Any], message: str) -> None:
    strategy = {**uniform_strategy(Kuhn()), key: played}
    with pytest.raises(RegretlessError, match=f"^strategy: .*{message}"):
        ENTRIES[entry](strategy)


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_impossible_strategy_is_refused_where_nobody_goes(entry: str) -> None:
    never_bets = {key: {"p": 1.0, "b": 0.0} for key in uniform_strategy(Kuhn())}
    ENTRIES[entry](never_bets)
    with pytest.raises(RegretlessError, match="at '2:b' has no probability"):
        ENTRIES[entry]({**never_bets, "2:b": {"b": 1.0}})


def test_a_missing_information_set_is_named_unless_it_is_the_responders() -> None:
    strategy = {key: played for key, played in uniform_strategy(Kuhn()).items() if key != "0:"}
    for entry in ("evaluate", "expected_values", "best_response_of_1"):
        with pytest.raises(RegretlessError, match="the strategy has no information set '0:' of kuhn"):
            ENTRIES[entry](strategy)
    assert ENTRIES["best_response_of_0"](strategy) == ENTRIES["best_response_of_0"](uniform_strategy(Kuhn()))


@pytest.mark.parametrize("player", [-1, 2, None, "0", 0.5])
def test_a_best_response_is_of_a_player_of_the_game(player: Any) -> None:
    with pytest.raises(RegretlessError, match=r"^player: .* must be a whole number from 0 to 1"):
        BestResponse(Kuhn(), uniform_strategy(Kuhn()), player)


def test_what_rounding_leaves_below_0_is_accepted() -> None:
    """A linear program may return such numbers."""
    pure = {key: {"p": 1.0, "b": 0.0} for key in uniform_strategy(Kuhn())}
    rounded = {key: {"p": 1.0 + 1e-12, "b": -1e-12} for key in pure}
    assert evaluate(Kuhn(), rounded).exploitability == pytest.approx(evaluate(Kuhn(), pure).exploitability, abs=1e-10)
    assert expected_values(Kuhn(), rounded) == pytest.approx(expected_values(Kuhn(), pure), abs=1e-10)


def test_probabilities_of_32_bits_are_summed_in_64() -> None:
    strategy = {key: {"p": 0.75, "b": 0.25} for key in uniform_strategy(Kuhn())}
    narrow = {key: {action: np.float32(number) for action, number in each.items()} for key, each in strategy.items()}
    for entry in ENTRIES.values():
        assert entry(narrow) == entry(strategy)
    assert all(type(value) is float for value in expected_values(Kuhn(), narrow))


def test_the_best_action_of_an_unknown_information_set() -> None:
    with pytest.raises(RegretlessError, match="'1:p' is not an information set of player 0 of kuhn"):
        BestResponse(Kuhn(), uniform_strategy(Kuhn()), 0).action("1:p")

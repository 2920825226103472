"""A betting tree that explodes is refused quickly, while it is being built, and the error says what to remove."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from regretless.errors import RegretlessError
from regretless.holdem.estimate import estimate_spot
from regretless.holdem.form import tree_size
from regretless.holdem.form.betting import betting_of, betting_tree, forget_betting
from regretless.holdem.problem import compile_spot
from regretless.holdem.spots.spot import Spot


def spot(
    *, bets: dict[str, object], stack: float = 2000, rules: dict[str, float] | None = None, **more: object
) -> Spot:
    return Spot.from_mapping(
        {
            "board": "Qs Jh 2h",
            "pot": 100,
            "stack": stack,
            "oop": {"range": "22+"},
            "ip": {"range": "22+"},
            "bets": bets,
            "rules": rules or {},
            **more,
        }
    )


EXPLODING = spot(
    bets={"bet": "10%, 25%, 33%, 50%, 75%, 125%", "raise": "2x, 2.5x, 3x, 4x, 5x, 6x"},
    rules={"chip": 0.01, "min_bet": 0.01, "merge": 0},
)


def test_an_exploding_tree_is_refused_at_once() -> None:
    began = time.process_time()
    with pytest.raises(RegretlessError, match=r"more than 1,000,000 nodes.*some of the 6 raise sizes on the flop"):
        estimate_spot(EXPLODING)
    assert time.process_time() - began < 60  # a second or two; it was many minutes


@pytest.mark.parametrize("ask", [betting_of, betting_tree, estimate_spot, compile_spot])
def test_every_way_to_build_a_large_tree_is_refused(
    ask: Callable[[Spot], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_size, "MAX_NODES", 1000)
    with pytest.raises(RegretlessError, match="more than 1,000 nodes"):
        ask(EXPLODING)


def test_decisions_that_nothing_repeats_count_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_size, "MAX_DECISIONS", 50)
    with pytest.raises(RegretlessError, match=r"more than 50 different decisions.*remove some of the 3 raise sizes"):
        betting_of(spot(bets={"bet": "33%, 75%", "raise": "60%, 80%, 100%"}))


def test_the_remedy_names_the_longest_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_size, "MAX_NODES", 50)
    bets = {"bet": "50%", "raise": "60%", "river": {"bet": "20%, 50%, 90%"}, "turn": {"oop": {"raise": "3x, 4x"}}}
    with pytest.raises(RegretlessError) as caught:
        betting_of(spot(bets=bets))
    assert str(caught.value) == (
        "bets: the betting tree has more than 50 nodes, not counting cards: "
        "remove some of the 3 bet sizes on the river and the 2 raise sizes on the turn, "
        "or cap the raises with max_raises"
    )
    capped = {"max_raises": 3, "bet": "50%", "raise": "60%", "reraise": ["2x, 3x", "60%, 70%, 80%, a"]}
    with pytest.raises(RegretlessError, match=r"some of the 4 reraise sizes on the flop, turn and river$"):
        betting_of(spot(bets=capped))
    with pytest.raises(RegretlessError, match="make the stack smaller"):
        betting_of(spot(bets={"bet": "50%", "raise": "60%"}))


def test_nodes_are_counted_as_the_tree_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    given = spot(bets={"bet": "33%, 75%", "raise": "60%, a"}, stack=500)
    nodes = len(betting_tree(given).kind)
    monkeypatch.setattr(tree_size, "MAX_NODES", nodes)
    forget_betting()
    betting_tree(given)
    monkeypatch.setattr(tree_size, "MAX_NODES", nodes - 1)
    forget_betting()
    with pytest.raises(RegretlessError, match=f"more than {nodes - 1:,} nodes"):
        betting_tree(given)


def test_raises_by_hand_are_bounded() -> None:
    line = "bet 1, " + ", ".join(f"raise {amount}" for amount in range(2, 3000))
    with pytest.raises(RegretlessError, match=r"lines.add\[0\].*more than 40 raises on one street"):
        betting_tree(spot(bets={}, stack=100_000, lines={"add": [line]}, rules={"add_allin": 0}))

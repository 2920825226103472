"""What actions are called: the same by both routes, and by hand-computed shares of the pot."""

from __future__ import annotations

from itertools import islice

import pytest

from regretless.cli.views.labels import action_text, tree_actions, view_actions
from regretless.holdem.exports import decisions
from regretless.holdem.problem import solve_spot
from regretless.holdem.spots.spot import Spot

TURN = {
    "board": "Kh Qs Js 2c",
    "pot": 60,
    "stack": 400,
    "oop": {"range": "AK"},
    "ip": {"range": "QQ"},
    "bets": {"bet": "33%, 66%", "raise": "3x, a"},
    "rules": {"add_allin": 0},
}


def test_a_node_and_its_tree_name_the_same_sizes() -> None:
    """A view reads the bet to call from the line of play; the tree knows what both players have paid."""
    solution = solve_spot(Spot.from_mapping(TURN), iterations=1, threads=1)
    tree = solution.reader.form.tree
    lines = []
    for view in (*decisions(solution, "turn"), *islice(decisions(solution, "river"), 60)):
        node = solution.reader.find(view.line).index
        assert list(view_actions(view).values()) == tree_actions(tree, node, 60, view.actions), view.line
        lines.append(view.line)
    assert any(line.count("raise") == 2 for line in lines)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("", ["check", "bet 33% (20)", "bet 67% (40)"]),
        ("bet 20", ["fold", "call", "raise 40% (60)", "all-in 380% (400)"]),  # 40 and 380 into 60 + 2 × 20
        ("check, check, Th", ["check", "bet 33% (20)", "bet 67% (40)"]),
        ("bet 40, call, Th, check", ["check", "bet 33% (46)", "bet 66% (92)"]),  # into 140
    ],
)
def test_shares_of_the_pot(line: str, names: list[str]) -> None:
    solution = solve_spot(Spot.from_mapping(TURN), iterations=1, threads=1)
    assert list(view_actions(solution.node(line)).values()) == names


def test_an_action_without_a_size_keeps_its_name() -> None:
    assert [action_text(name, beyond_call=0, pot_after_call=10) for name in ("fold", "check", "call")] == [
        "fold",
        "check",
        "call",
    ]

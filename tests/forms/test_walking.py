"""Every node is walked once, line by line; terminals pay what the payoffs say; even ties are recognised."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from regretless.forms.public import BettingTree, NodeKind, PublicForm
from regretless.forms.public_poker import compile_public
from regretless.forms.public_size import size_of_form
from regretless.forms.walking import has_even_ties, terminal_pays, walking_order
from regretless.games import Leduc
from regretless.holdem import Spot, compile_spot
from regretless.holdem.estimate import spot_size

FIELDS: dict[str, Any] = {
    "board": "Kh Qs Js 2c",
    "pot": 100,
    "stack": 300,
    "oop": {"range": "AK, 99"},
    "ip": {"range": "QQ, T9s"},
}


@pytest.fixture(params=["leduc", "turn"])
def form(request: pytest.FixtureRequest) -> PublicForm:
    if request.param == "leduc":
        return compile_public(Leduc())
    return compile_spot(
        Spot.from_mapping(FIELDS | {"rules": {"rake": 0.05, "rake_cap": 30}, "bets": {"bet": "50%, a"}})
    )


def walked(tree: BettingTree, entry: int) -> tuple[list[int], list[int]]:
    """The nodes of a line in walking order, and the first nodes of the lines that follow it, by recursion."""
    below = range(int(tree.first_child[entry]), int(tree.first_child[entry + 1]))
    if tree.kind[entry] == NodeKind.CHANCE:
        return [entry], list(below)
    nodes, following = [entry], []
    for child in below:
        more, entries = walked(tree, child)
        nodes += more
        following += entries
    return nodes, following


def test_lines_are_walked_street_by_street(form: PublicForm) -> None:
    tree, order = form.tree, walking_order(form.tree)
    entries, nodes, starts = [0], [], []
    while entries:
        following: list[int] = []
        for entry in entries:
            starts.append(len(nodes))
            line, below = walked(tree, entry)
            nodes += line
            following += below
        entries = following
    assert order.node.tolist() == nodes
    assert order.line_start.tolist() == [*starts, len(tree.kind)]
    assert [*order.lines_of(0), *order.lines_of(1)] == list(range(len(starts)))
    assert [len(order.lines_of(street)) for street in range(3)] == [*size_of_form(form).lines, 0]


def test_positions_of_relatives_are_those_of_the_tree(form: PublicForm) -> None:
    tree, order = form.tree, walking_order(form.tree)
    assert order.node[order.position].tolist() == list(range(len(tree.kind)))
    for position, children in enumerate(order.children):
        assert all(tree.parent[order.node[child]] == order.node[position] for child in children)
        actions = int(np.diff(tree.first_child)[order.node[position]])
        assert len(children) == (0 if order.kind[position] == NodeKind.CHANCE else actions)
    for line, above in enumerate(order.line_above[1:].tolist(), start=1):
        assert order.line_below[above] == line
        assert tree.parent[order.node[order.line_start[line]]] == order.node[above]
    assert np.count_nonzero(order.line_below >= 0) == len(order.line_above) - 1


def test_a_tree_has_one_order_that_nobody_can_change(form: PublicForm) -> None:
    order = walking_order(form.tree)
    assert walking_order(form.tree) is order
    with pytest.raises(ValueError, match="read-only"):
        order.node[0] = 1


def test_terminals_pay_what_the_payoffs_say(form: PublicForm) -> None:
    tree, payoffs = form.tree, form.payoffs
    weaker, tied, stronger = 0.25, 0.5, 2.0  # reach that a hand meets
    for own in range(2):
        paid = terminal_pays(tree, payoffs, own).T @ [weaker, weaker + tied, weaker + tied + stronger]
        for node, kind in enumerate(tree.kind):
            expected = 0.0
            if kind == NodeKind.SHOWDOWN:
                win, lose, tie = (each[node, own] for each in (payoffs.win, payoffs.lose, payoffs.tie))
                expected = win * weaker + tie * tied + lose * stronger
            elif kind == NodeKind.FOLD:
                pay = payoffs.lose if tree.player[node] == own else payoffs.win
                expected = pay[node, own] * (weaker + tied + stronger)
            assert paid[node] == pytest.approx(expected, abs=1e-12)


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

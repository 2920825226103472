"""A tree given by its lines: equal to the tree by sizes, node for node, if they are all of its terminal lines."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from tests.holdem.random_spots import random_spot

from regretless.errors import RegretlessError
from regretless.forms.betting import Branch
from regretless.forms.public import NodeKind
from regretless.forms.tree_hash import tree_hash
from regretless.holdem.form.betting import betting_of, betting_tree
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import Bets, Lines

FIELDS = {"board": "Kh Qs Js 2c 3d", "pot": 100, "stack": 200, "oop": {"range": "AK"}, "ip": {"range": "QQ"}}
LARGEST = 2_000  # terminal lines


def terminal_lines(branch: Branch, line: tuple[str, ...] = ()) -> list[str]:
    """Every line of a tree that ends the hand, without cards."""
    if branch.kind not in (NodeKind.DECISION, NodeKind.CHANCE):
        return [", ".join(line)]
    below = []
    for action, child in branch.children.items():
        below += terminal_lines(child, (*line, action) if action else line)
    return below


def by_lines(spot: Spot, lines: list[str]) -> Spot:
    return replace(spot, bets=Bets(), lines=Lines(only=tuple(lines)))


def labels_at(spot: Spot, node: int = 0) -> list[str]:
    tree = betting_tree(spot)
    return list(tree.labels[int(tree.first_child[node]) : int(tree.first_child[node + 1])])


def test_a_tree_given_by_all_its_lines_is_the_tree_by_sizes() -> None:
    compared, seed = 0, 0
    while compared < 200:
        seed += 1
        spot = random_spot(seed, 3 + seed % 3)
        lines = terminal_lines(betting_of(spot).root)
        if len(lines) > LARGEST:
            continue
        random.Random(seed).shuffle(lines)
        again = by_lines(spot, lines)
        first, second = betting_tree(spot), betting_tree(again)
        assert first.labels == second.labels
        for name in ("kind", "player", "parent", "first_child", "street"):
            assert np.array_equal(getattr(first, name), getattr(second, name)), name
        assert np.array_equal(first.paid, second.paid)
        assert tree_hash(first) == tree_hash(second)
        assert Spot.parse(again.to_toml()) == again
        compared += 1


def test_bets_are_those_that_lines_name_and_the_rest_is_passive() -> None:
    spot = Spot.from_mapping(FIELDS | {"lines": {"only": ["bet 37, raise 120", "check, bet 75, raise 200"]}})
    lines = terminal_lines(betting_of(spot).root)
    assert labels_at(spot) == ["check", "bet 37"]
    assert "bet 37, raise 120, call" in lines
    assert "bet 37, raise 120, fold" in lines
    assert "check, bet 75, all-in 200, call" in lines
    assert "check, check" in lines
    assert len(lines) == 9  # and check, bet 75 with a fold and a call, and bet 37 with both


def test_after_the_end_of_a_line_nobody_bets() -> None:
    fields = FIELDS | {"board": "Kh Qs Js", "lines": {"only": ["bet 50"]}}
    lines = terminal_lines(betting_of(Spot.from_mapping(fields)).root)
    assert sorted(lines) == [
        "bet 50, call, check, check, check, check", "bet 50, fold", "check, check, check, check, check, check",
    ]  # fmt: skip


def test_other_lines_still_add_and_remove() -> None:
    lines = {"only": ["bet 50", "bet 80"], "add": ["bet 20"], "remove": ["bet 80"]}
    assert labels_at(Spot.from_mapping(FIELDS | {"lines": lines})) == ["check", "bet 20", "bet 50"]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"bets": {"bet": "50%"}, "lines": {"only": ["check"]}}, "lines.only: names every bet of the tree, so that"),
        ({"tree": "usual", "lines": {"only": ["check"]}}, "lines.only: names every bet of the tree, so that"),
        ({"lines": {"only": ["bet 50, raise 60"]}}, "lines.only[0]: 'bet 50, raise 60' at position 9: the amount must"),
        ({"lines": {"only": ["bet 50", "bet 300"]}}, "lines.only[1]: 'bet 300' at position 1: the amount must be from"),
        ({"lines": {"only": ["bet 50, fold, check"]}}, "nobody acts after this"),
        ({"lines": {"only": ["check, call"]}}, "no 'call' here; choose from check"),
        ({"lines": {"only": [""]}}, "names no action"),
        ({"lines": {"only": ["check"] * 40_001}}, "lines.only: has 40,001 entries; at most 40,000 are allowed"),
        ({"bets": {}, "lines": {"onli": ["check"]}}, "did you mean only"),
        ({}, "bets"),
    ],
)
def test_a_wrong_tree_by_lines_is_refused_in_one_sentence(fields: dict[str, object], sentence: str) -> None:
    with pytest.raises(RegretlessError) as error:
        betting_tree(Spot.from_mapping(FIELDS | fields))
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_a_spot_in_python_takes_lines_without_bets() -> None:
    spot = Spot(board="Kh Qs Js 2c 3d", pot=100, stack=200, oop="AK", ip="QQ", lines=Lines(only=("bet 50",)))
    assert labels_at(spot) == ["check", "bet 50"]
    with pytest.raises(RegretlessError, match="no bet sizes beside it"):
        replace(spot, bets={"bet": "50%"})

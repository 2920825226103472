"""Node ids and lines of amounts, back and forth on random trees."""

from __future__ import annotations

import random

import pytest
from tests.holdem.random_spots import random_spot

from regretless.errors import RegretlessError
from regretless.forms.public import BettingTree, NodeKind
from regretless.forms.tree_hash import tree_hash
from regretless.holdem.form.betting import betting_tree
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import MIN_AMOUNT, Lines, Rules
from regretless.upi.node_ids import TreeNode, action_lines, find_node, line_text

SPOTS = [random_spot(seed, 3 + seed % 3) for seed in range(30)]


def amounts(tree: BettingTree, index: int) -> tuple[float, ...]:
    """A node's line as amounts, without its folds."""
    line: tuple[float, ...] = ()
    while index > 0:
        above = int(tree.parent[index])
        if tree.kind[above] == NodeKind.DECISION and tree.labels[index] != "fold":
            line = (float(tree.paid[index, tree.player[above]]), *line)
        index = above
    return line


@pytest.mark.parametrize("spot", SPOTS, ids=range(len(SPOTS)))
def test_every_node_is_found_by_its_id(spot: Spot) -> None:
    tree, source = betting_tree(spot), random.Random(1)
    for _ in range(50):
        node = TreeNode(tree)
        while children := node.children(spot.board):
            node = source.choice(children)
            assert find_node(tree, spot.board, node.name) == node
        assert tree.kind[node.index] in (NodeKind.FOLD, NodeKind.SHOWDOWN, NodeKind.CHANCE)


@pytest.mark.parametrize("spot", SPOTS, ids=range(len(SPOTS)))
def test_a_tree_is_built_again_from_its_lines_of_amounts(spot: Spot) -> None:
    tree = betting_tree(spot)
    lines = {amounts(tree, index) for _, index in action_lines(tree)} - {()}
    texts = tuple(line_text(line, streets=len(spot.streets), stack=spot.stack) for line in sorted(lines))
    fields = {"board": spot.board, "pot": spot.pot, "stack": spot.stack, "oop": spot.oop, "ip": spot.ip}
    again = Spot(**fields, rules=Rules(min_bet=MIN_AMOUNT), lines=Lines(only=texts))  # type: ignore[arg-type]
    assert tree_hash(betting_tree(again)) == tree_hash(tree)


def test_an_all_in_that_is_called_ends_the_hand() -> None:
    spot = Spot(board="Kh Qs Js", pot=100, stack=50, oop="AK", ip="QQ", lines=Lines(only=("bet 50",)))
    tree = betting_tree(spot)
    node = find_node(tree, spot.board, "r:0:b50:c")
    assert node.kind is NodeKind.SHOWDOWN
    assert node.children(spot.board) == []
    assert [line for line, _ in action_lines(tree)][:4] == ["r:0", "r:0:b50", "r:0:b50:c", "r:0:b50:f"]


@pytest.mark.parametrize(
    "text", ["", "x", "r:1", "r:0:", "r:0:b", "r:0:b51", "r:0:c:c:Kh", "r:0:c:c:2c:zz", "r:0:c:c:c"]
)
def test_no_other_text_is_a_node(text: str) -> None:
    spot = Spot(board="Kh Qs Js", pot=100, stack=50, oop="AK", ip="QQ", lines=Lines(only=("bet 50",)))
    with pytest.raises(RegretlessError, match="is no node: "):
        find_node(betting_tree(spot), spot.board, text)


@pytest.mark.parametrize(
    ("line", "streets", "sentence"),
    [
        ((50, 20), 1, "50 20: 20 is less than the 50 chips of the other player"),
        ((0, 0, 0), 1, "0 0 0: goes on after the end of the hand"),
        ((250,), 1, "250: 250 is more than the stack of 200"),
        ((200, 200, 200), 3, "200 200 200: goes on after the end of the hand"),
    ],
)
def test_a_wrong_line_of_amounts_is_refused(line: tuple[float, ...], streets: int, sentence: str) -> None:
    with pytest.raises(RegretlessError) as error:
        line_text(line, streets=streets, stack=200)
    assert str(error.value) == sentence

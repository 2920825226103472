"""Comparing two solutions: the search finds the largest differences, and its numbers match the nodes."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from regretless.errors import InvalidOption, RegretlessError
from regretless.holdem.comparison import SpotComparison, compare_in_pieces, compare_nodes, compare_spots
from regretless.holdem.problem import solve_spot
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.locks import Lock
from regretless.holdem.spots.spot import Spot


@pytest.fixture(scope="module")
def locked(turn: SpotSolution) -> SpotSolution:
    return solve_spot(turn.spot, target=0.2, threads=1, locks=[Lock("check", {"check": 1})])


@pytest.fixture(scope="module")
def everything(turn: SpotSolution, locked: SpotSolution) -> SpotComparison:
    return compare_spots(turn, locked, most=None)


def drained(work: Generator[None, None, SpotComparison]) -> SpotComparison:
    while True:
        try:
            next(work)
        except StopIteration as done:
            found: SpotComparison = done.value
            return found


def test_a_solution_does_not_differ_from_itself(river: SpotSolution) -> None:
    found = compare_spots(river, river, most=None)
    assert found.changed == ()
    assert found.only == ((), ())
    assert found.visited > 10
    assert max(node.moved for node in found.nodes) == 0


def test_the_largest_differences_are_those_of_the_whole_tree(
    turn: SpotSolution, locked: SpotSolution, everything: SpotComparison
) -> None:
    ranks = [node.rank for node in everything.nodes]
    assert ranks == sorted(ranks, reverse=True)
    few = compare_spots(turn, locked, most=5)
    assert [node.line for node in few.nodes] == [node.line for node in everything.nodes[:5]]
    assert few.visited < everything.visited
    assert few.complete
    cut = drained(compare_in_pieces(turn, locked, most=5, seconds=0))
    assert (cut.visited, cut.complete) == (1, False)
    assert everything.changed == ("locks",)
    assert few.nodes[0].line in ("", "check")


def test_numbers_are_those_of_the_nodes(turn: SpotSolution, locked: SpotSolution) -> None:
    nodes = compare_spots(turn, locked, most=12).nodes
    assert len(nodes) == 12
    for node in nodes:
        for place, solution in enumerate((turn, locked)):
            view = solution.node(node.line)
            for action, share in zip(view.actions, view.frequencies, strict=True):
                assert node.frequencies[action][place] == pytest.approx(share)
            assert node.ev["oop"][place] == pytest.approx(view.ev("oop"))


def test_probabilities_of_getting_there_add_up(everything: SpotComparison) -> None:
    """After check, check a card is always dealt: the deals share the probability of the line."""
    nodes = {node.line: node for node in everything.nodes}
    check = nodes["check"]
    for place in range(2):
        share = check.frequencies["check"][place]
        assert share is not None
        rivers = [node for line, node in nodes.items() if line.startswith("check, check, ") and line.count(",") == 2]
        assert sum(node.deals for node in rivers) == 48
        assert sum(node.reached[place] for node in rivers) == pytest.approx(check.reached[place] * share, rel=1e-6)


def test_deals_are_one_node_only_if_one_renaming_exchanges_them_in_both() -> None:
    """Both solutions treat Ac and Ad as equivalent, but only one of them also swaps hearts and spades to read them."""
    fields = {
        "board": "7c 7d 4h 4s",
        "pot": 100,
        "stack": 200,
        "oop": {"range": "AK, T9s"},
        "ip": {"range": "AK, QJs"},
        "bets": {"bet": "75%"},
    }
    first, second = (
        solve_spot(Spot.from_mapping(fields), iterations=20, threads=1, locks=[Lock("", {"bet 75": 1}, hands)])
        for hands in ("AcKh, AdKs", "AhKh")
    )
    assert len(first.reader.group) == len(second.reader.group) == 2
    nodes = {node.line: node for node in compare_spots(first, second, most=None).nodes}
    clubs, diamonds = nodes["check, check, Ac"], nodes["check, check, Ad"]
    assert clubs.deals == diamonds.deals == 1
    assert abs(clubs.moved - diamonds.moved) > 1e-4
    alike = {node.line: node for node in compare_spots(first, first, most=None).nodes}
    assert alike["check, check, Ac"].deals == 2
    assert "check, check, Ad" not in alike


def test_trees_with_other_sizes_share_what_both_have(fields: dict[str, Any], river: SpotSolution) -> None:
    fields["bets"] = {"bet": "50%, 75%", "raise": "2.5x"}
    other = solve_spot(Spot.from_mapping(fields), iterations=50, threads=1)
    found = compare_spots(river, other, most=None)
    assert found.changed == ("bets",)
    assert "bet 100" in found.only[0]
    assert "bet 75" in found.only[1]
    root = next(node for node in found.nodes if node.line == "")
    assert root.frequencies["bet 100"][1] is None
    assert root.frequencies["bet 75"][0] is None
    assert not [node for node in found.nodes if "100" in node.line.split(",")[0]]


def test_other_ranges_compare_the_hands_of_both(fields: dict[str, Any], river: SpotSolution) -> None:
    fields["oop"]["range"] = "AK, KQs, QJs, T9s, 66"
    other = solve_spot(Spot.from_mapping(fields), iterations=50, threads=1)
    assert compare_spots(river, other).changed == ("oop.range",)
    rows = {row.hand: row for row in compare_nodes(river.node(), other.node(), "oop")}
    assert rows["6s6h"].weight[0] is None
    assert rows["2s2h"].weight[1] is None
    assert rows["AsKc"].weight == (1.0, 1.0)


def test_hand_by_hand(turn: SpotSolution, locked: SpotSolution) -> None:
    rows = compare_nodes(turn.node("check"), locked.node("check"), "ip")
    assert len(rows) == len(turn.node("check").rows("ip")) > 0
    ranks = [row.rank for row in rows]
    assert ranks == sorted(ranks, reverse=True)
    first = {row["hand"]: row for row in turn.node("check").rows("ip")}
    for row in rows:
        assert row.strategy["check"] == (pytest.approx(first[row.hand]["strategy"]["check"]), pytest.approx(1.0))
        assert row.moved == pytest.approx(1 - first[row.hand]["strategy"]["check"], abs=1e-6)


def test_two_boards_are_refused(turn: SpotSolution, river: SpotSolution) -> None:
    with pytest.raises(RegretlessError, match="are different boards"):
        compare_spots(turn, river)


def test_a_list_without_room_is_refused(river: SpotSolution) -> None:
    with pytest.raises(InvalidOption, match="most: 0 must be at least 1, or None for all"):
        compare_spots(river, river, most=0)

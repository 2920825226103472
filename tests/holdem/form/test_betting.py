from __future__ import annotations

import gc
import random
import time
from typing import Any

import numpy as np
import pytest

from regretless.errors import RegretlessError, RoundedSizes
from regretless.forms.public import BettingTree, NodeKind
from regretless.holdem.estimate import estimate_spot
from regretless.holdem.form.betting import betting_tree
from regretless.holdem.form.suits import count_runouts
from regretless.holdem.spots.spot import Spot


def actions(tree: BettingTree, *line: str) -> list[str]:
    """Actions after a line; cards are dealt automatically."""
    node = 0
    for step in line:
        node = _below_chance(tree, node)
        node = int(tree.first_child[node]) + labels(tree, node).index(step)
    return labels(tree, _below_chance(tree, node))


def _below_chance(tree: BettingTree, node: int) -> int:
    while tree.kind[node] == NodeKind.CHANCE:
        node = int(tree.first_child[node])
    return node


def labels(tree: BettingTree, node: int) -> list[str]:
    return list(tree.labels[int(tree.first_child[node]) : int(tree.first_child[node + 1])])


def test_reference_spots_have_the_same_nodes_and_first_actions(reference: tuple[Spot, dict[str, Any]]) -> None:
    spot, answer = reference
    gc.disable()  # the garbage of other tests takes longer to collect
    try:
        began = time.process_time()
        tree = betting_tree(spot)
        assert time.process_time() - began < 0.1
    finally:
        gc.enable()
    runouts = np.array(count_runouts(spot))
    kinds = {
        name: int(
            sum(
                np.count_nonzero((tree.kind == kind) & (tree.street == street)) * count
                for street, count in enumerate(runouts)
            )
        )
        for name, kind in (("action", 0), ("chance", 1), ("fold", 2), ("showdown", 3))
    }
    assert kinds == answer["node_kinds"]
    theirs = [text.replace("(", " ").rstrip(")").replace("AllIn", "all-in").lower() for text in answer["root_actions"]]
    assert labels(tree, 0) == theirs


def test_reference_spots_are_estimated_right(reference: tuple[Spot, dict[str, Any]]) -> None:
    spot, answer = reference
    size = estimate_spot(spot)
    assert (size.nodes, size.node_kinds, size.hands) == (answer["nodes"], answer["node_kinds"], answer["hands"])


def test_thresholds(fields: dict[str, Any]) -> None:
    # Pot 100, stack 200: all-in is 2 pots.
    plain = {"add_allin": 0, "force_allin": 0, "merge": 0}
    fields["bets"] = {"bet": "50%"}
    assert actions(betting_tree(Spot.from_mapping(fields | {"rules": plain}))) == ["check", "bet 50"]
    added = Spot.from_mapping(fields | {"rules": plain | {"add_allin": 2}})
    assert actions(betting_tree(added)) == ["check", "bet 50", "all-in 200"]
    # Betting 150 leaves 50, which is an eighth of the pot of 400.
    fields["bets"] = {"bet": "150%"}
    forced = Spot.from_mapping(fields | {"rules": plain | {"force_allin": 0.125}})
    assert actions(betting_tree(forced)) == ["check", "all-in 200"]
    kept = Spot.from_mapping(fields | {"rules": plain | {"force_allin": 0.12}})
    assert actions(betting_tree(kept)) == ["check", "bet 150"]


@pytest.mark.parametrize(
    ("pot", "stack", "add_allin", "added"),
    [
        (5.5, 8.2, 1.5, True),  # 1.5 pots are 8.25
        (1, 1.6, 1.5, False),
        (0.3, 0.45, 1.5, True),  # 1.5 * 0.3 is 0.44999999999999996 in binary
        (1e11 + 0.1, 1.5e11 + 0.15, 1.5, True),
        (1e11 + 0.1, 1.5e11 + 1.15, 1.5, False),
        (100, 150.001, 1.5, False),
    ],
)
def test_an_all_in_is_added_up_to_exactly_the_threshold(
    fields: dict[str, Any], pot: float, stack: float, add_allin: float, added: bool
) -> None:
    rules = {"add_allin": add_allin, "force_allin": 0, "merge": 0}
    spot = Spot.from_mapping(fields | {"pot": pot, "stack": stack, "bets": {}, "rules": rules})
    assert (len(actions(betting_tree(spot))) == 2) == added


@pytest.mark.parametrize(
    ("stack", "force_allin", "forced"),
    [(13, 0.1, True), (13.4, 0.1, False), (12.3, 0.08, True), (13.0001, 0.1, False)],
)
def test_a_bet_is_forced_all_in_up_to_exactly_the_threshold(
    fields: dict[str, Any], stack: float, force_allin: float, forced: bool
) -> None:
    # Betting 10 into 10 makes a pot of 30, a tenth of which is 3.
    rules = {"add_allin": 0, "force_allin": force_allin, "merge": 0}
    spot = Spot.from_mapping(fields | {"pot": 10, "stack": stack, "bets": {"bet": "10c"}, "rules": rules})
    assert (actions(betting_tree(spot))[1] != "bet 10") == forced


def test_chips_bind_the_smallest_bet_and_raise(fields: dict[str, Any]) -> None:
    fields["bets"] = {"bet": "1%", "raise": "1c"}
    rules = {"add_allin": 0, "force_allin": 0, "merge": 0, "chip": 5}
    with pytest.warns(RoundedSizes, match=r"chip: a bet of 1% is 1 and becomes 5 \(5.0% of the pot\) in chips of 5"):
        tree = betting_tree(Spot.from_mapping(fields | {"rules": rules}))
    assert actions(tree) == ["check", "bet 5"]
    # A line by hand may name any amount; what follows it is in whole chips again.
    lines = {"add": ["bet 7"]}
    with pytest.warns(RoundedSizes, match="the smallest bet"):
        tree = betting_tree(Spot.from_mapping(fields | {"rules": rules | {"min_bet": 6}, "lines": lines}))
    assert actions(tree) == ["check", "bet 7", "bet 10"]
    assert actions(tree, "bet 7") == ["fold", "call", "raise 15"]


def test_merging_drops_the_smaller(fields: dict[str, Any]) -> None:
    fields["bets"] = {"bet": "50%, 60%, 100%"}
    fields["rules"] = {"add_allin": 0, "force_allin": 0, "merge": 0.1}
    # (0.6 − 0.1) / 1.1 = 0.4545 is not above 0.5, so 50 goes; (1 − 0.1) / 1.1 = 0.818 is above 0.6, so 60 stays.
    assert actions(betting_tree(Spot.from_mapping(fields))) == ["check", "bet 60", "bet 100"]


def test_smallest_bets_and_raises(fields: dict[str, Any]) -> None:
    fields["bets"] = {"bet": "1%", "raise": "1c"}
    fields["rules"] = {"add_allin": 0, "force_allin": 0, "merge": 0, "min_bet": 20}
    tree = betting_tree(Spot.from_mapping(fields))
    assert actions(tree) == ["check", "bet 20"]
    assert actions(tree, "bet 20") == ["fold", "call", "raise 40"]
    assert actions(tree, "bet 20", "raise 40") == ["fold", "call", "raise 60"]


def test_amounts_in_big_blinds(fields: dict[str, Any]) -> None:
    fields |= {"pot": 5.5, "stack": 97.5, "bets": {"bet": "33%"}, "rules": {"add_allin": 0, "chip": 0.01, "min_bet": 1}}
    assert actions(betting_tree(Spot.from_mapping(fields))) == ["check", "bet 1.82"]


PLAIN = {"add_allin": 0, "force_allin": 0, "merge": 0}


def test_all_in_is_never_rounded(fields: dict[str, Any]) -> None:
    fields |= {"pot": 100, "stack": 97.4, "bets": {"bet": "1c, a", "raise": "e"}, "rules": PLAIN}
    tree = betting_tree(Spot.from_mapping(fields))
    assert actions(tree) == ["check", "bet 1", "all-in 97.4"]
    assert actions(tree, "bet 1") == ["fold", "call", "all-in 97.4"]  # one street left: geometric is all-in


def test_geometric_raises_count_raises_not_bets(fields: dict[str, Any]) -> None:
    # On a flop, three streets are left for the first raise, two for the second and one, so all-in, for the third.
    fields |= {"board": "Kh Qs Js", "stack": 2000, "bets": {"bet": "50%", "raise": "e"}, "rules": PLAIN}
    tree = betting_tree(Spot.from_mapping(fields))
    first = 50 + round(200 * ((2 * 1950 / 200 + 1) ** (1 / 3) - 1) / 2)
    pot = 100 + 2 * first
    second = first + round(pot * ((2 * (2000 - first) / pot + 1) ** (1 / 2) - 1) / 2)
    assert actions(tree, "bet 50") == ["fold", "call", f"raise {first}"]
    assert actions(tree, "bet 50", f"raise {first}") == ["fold", "call", f"raise {second}"]
    assert actions(tree, "bet 50", f"raise {first}", f"raise {second}") == ["fold", "call", "all-in 2000"]


@pytest.mark.parametrize("cap", [0, 1, 2])
def test_a_cap_on_raises_holds_on_its_street_for_every_raise(fields: dict[str, Any], cap: int) -> None:
    bets = {"bet": "50%", "raise": "2x, a", "river": {"max_raises": cap}}
    fields |= {"board": "Kh Qs Js 2c", "stack": 5000, "bets": bets, "rules": PLAIN | {"add_allin": 99}}
    tree = betting_tree(Spot.from_mapping(fields))
    wagers = ["bet 50", "raise 100", "raise 200", "raise 400"]
    for made in range(4):
        on_turn, on_river = wagers[: made + 1], ["check", "check", *wagers[: made + 1]]
        assert actions(tree, *on_turn)[2:] == [f"raise {100 * 2**made}", "all-in 5000"]
        if made <= cap:
            assert (actions(tree, *on_river)[2:] == []) == (made == cap)


def test_lines_by_hand_may_go_beyond_the_cap(fields: dict[str, Any]) -> None:
    bets = {"bet": "50%", "raise": "2x", "max_raises": 0}
    tree = betting_tree(Spot.from_mapping(fields | {"bets": bets, "lines": {"add": ["bet 50, raise 120"]}}))
    assert actions(tree, "bet 50") == ["fold", "call", "raise 120"]
    assert actions(tree, "check", "bet 50") == ["fold", "call"]


def test_sizes_of_each_raise(fields: dict[str, Any]) -> None:
    fields |= {"stack": 5000, "rules": PLAIN}
    bets = {"bet": "50%", "raise": "3x", "reraise": "2x, a", "ip": {"reraise": ["4x", ""]}}
    tree = betting_tree(Spot.from_mapping(fields | {"bets": bets}))
    assert actions(tree, "bet 50") == ["fold", "call", "raise 150"]  # ip raises
    assert actions(tree, "bet 50", "raise 150") == ["fold", "call", "raise 300", "all-in 5000"]  # oop re-raises
    assert actions(tree, "bet 50", "raise 150", "raise 300") == ["fold", "call"]  # ip has no third raise
    assert actions(tree, "check", "bet 50", "raise 150") == ["fold", "call", "raise 600"]  # ip re-raises
    # oop's third raise equals the second
    assert actions(tree, "check", "bet 50", "raise 150", "raise 600") == ["fold", "call", "raise 1200", "all-in 5000"]


def test_caps_and_sizes_of_raises_are_in_the_estimate(fields: dict[str, Any]) -> None:
    fields |= {"stack": 5000, "rules": PLAIN, "bets": {"bet": "50%, 100%", "raise": "2x, 3x"}}
    free = Spot.from_mapping(fields)
    capped = Spot.from_mapping(fields | {"bets": fields["bets"] | {"max_raises": 1}})
    all_in = Spot.from_mapping(fields | {"bets": fields["bets"] | {"reraise": "a"}})
    sizes = [estimate_spot(spot) for spot in (capped, all_in, free)]
    assert [size.nodes for size in sizes] == [len(betting_tree(spot).kind) for spot in (capped, all_in, free)]
    assert sizes[0].memory_bytes[32] < sizes[1].memory_bytes[32] < sizes[2].memory_bytes[32]


def test_donk_sizes_only_after_calling(fields: dict[str, Any]) -> None:
    fields |= {
        "board": "Kh Qs Js 2c",
        "bets": {"bet": "50%", "river": {"donk": "10%"}},
        "rules": {"add_allin": 0, "force_allin": 0},
    }
    tree = betting_tree(Spot.from_mapping(fields))
    assert actions(tree, "check", "bet 50", "call") == ["check", "bet 20"]
    assert actions(tree, "bet 50", "call") == ["check", "bet 100"]
    assert actions(tree, "check", "check") == ["check", "bet 50"]


def test_nobody_acts_after_an_all_in_is_called(fields: dict[str, Any]) -> None:
    fields |= {"board": "Kh Qs Js", "bets": {"bet": "a", "raise": "a"}}
    tree = betting_tree(Spot.from_mapping(fields))
    assert actions(tree, "all-in 200") == ["fold", "call"]
    node = int(tree.first_child[0]) + 1
    node = int(tree.first_child[node]) + 1
    assert [tree.kind[node], tree.kind[tree.first_child[node]]] == [NodeKind.CHANCE, NodeKind.CHANCE]
    assert tree.kind[tree.first_child[tree.first_child[node]]] == NodeKind.SHOWDOWN


@pytest.mark.parametrize("seed", range(40))
def test_once_a_bet_is_called_chips_are_left_exactly_if_somebody_acts(fields: dict[str, Any], seed: int) -> None:
    draws = random.Random(seed)
    pot, stack = draws.uniform(3, 90), draws.uniform(5, 300)  # with more decimals than amounts have
    bets = {"bet": draws.choice(["66%, a", "33%, 75%", "50%"]), "raise": draws.choice(["a", "3x, a", "60%"])}
    board = draws.choice(["Qs Jh 2h", "Qs Jh 2h 8d"])
    fields |= {"board": board, "pot": pot, "stack": stack, "bets": bets, "rules": {"chip": 0.01}}
    spot = Spot.from_mapping(fields)
    tree = betting_tree(spot)
    called = np.flatnonzero(tree.kind == NodeKind.CHANCE)
    acts = [tree.kind[_below_chance(tree, node)] == NodeKind.DECISION for node in called]
    stacks = [spot.stacks_behind(tree.paid[node]) for node in called]
    assert {True, False} <= set(acts)
    assert [left["oop"] > 0 and left["ip"] > 0 for left in stacks] == acts
    for node in np.flatnonzero(tree.kind == NodeKind.DECISION):
        left = spot.stacks_behind(tree.paid[node])
        facing = labels(tree, node)[:1] == ["fold"] and len(labels(tree, node)) == 2
        assert min(left.values()) > 0 or facing


def test_lines_by_hand(fields: dict[str, Any]) -> None:
    fields["bets"] = {"bet": "50%", "raise": "2.5x"}
    fields["rules"] = {"add_allin": 0}
    fields["lines"] = {"add": ["bet 33, raise 120", "check, all-in"], "remove": ["bet 50", "check, bet 50"]}
    tree = betting_tree(Spot.from_mapping(fields))
    assert actions(tree) == ["check", "bet 33"]
    assert actions(tree, "bet 33") == ["fold", "call", "raise 83", "raise 120"]
    assert actions(tree, "check") == ["check", "all-in 200"]
    assert actions(tree, "bet 33", "raise 83") == ["fold", "call", "all-in 200"]


@pytest.mark.parametrize(
    ("lines", "field", "reason"),
    [
        ({"remove": ["bet 33"]}, "lines.remove[0]", "no 'bet 33' here; choose from check, bet 50"),
        ({"add": ["check", "bet 50, call, bet 10"]}, "lines.add[1]", "nobody acts after this"),
        ({"add": ["bet 500"]}, "lines.add[0]", "from 1 to 200"),
        ({"add": ["raise 60"]}, "lines.add[0]", "a raise answers a bet"),
        ({"add": ["bet 50, raise 70"]}, "lines.add[0]", "from 100 to 200"),
        ({"add": ["Ah"]}, "lines.add[0]", "has no cards"),
        ({"add": [""]}, "lines.add[0]", "names no action"),
        ({"add": ["jump"]}, "lines.add[0]", "neither an action nor a card"),
        ({"add": ["bet"]}, "lines.add[0]", "needs an amount"),
        ({"remove": ["check", "bet 50"]}, "lines.remove[1]", "removes the last action"),
    ],
)
def test_a_bad_line_is_named(fields: dict[str, Any], lines: dict[str, Any], field: str, reason: str) -> None:
    fields |= {"bets": {"bet": "50%"}, "rules": {"add_allin": 0}, "lines": lines}
    with pytest.raises(RegretlessError) as caught:
        betting_tree(Spot.from_mapping(fields))
    assert str(caught.value).startswith(f"{field}: ")
    assert reason in str(caught.value)


def test_a_raise_that_never_ends_is_refused(fields: dict[str, Any]) -> None:
    fields |= {"stack": 100_000, "bets": {"bet": "1c", "raise": "1c"}, "rules": {"force_allin": 0}}
    with pytest.raises(RegretlessError, match=r"bets\.river\.(oop|ip)\.raise: allows more than"):
        betting_tree(Spot.from_mapping(fields))

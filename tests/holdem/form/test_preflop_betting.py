"""The betting tree from the deal, against the rules of poker played out one action at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from regretless.forms.betting import flatten, limit_branches
from regretless.forms.public import BettingTree, NodeKind
from regretless.games import FlopHoldem, PushFold
from regretless.holdem.form.betting import betting_of, betting_tree
from regretless.holdem.games.game import HoldemGame

Ending = tuple[str, tuple[float, float]]  # how the hand ends, and what both players have paid

NOTHING_ADDED = {"merge": 0, "force_allin": 0, "add_allin": 0}


# --- the rules of poker, without a tree ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hand:
    """A hand in progress at a table of two; player 0 has the button and the small blind."""

    fields: dict[str, Any]
    behind: tuple[float, float]  # chips not yet paid
    bets: tuple[float, float]  # chips in front of each player on this street
    paid: tuple[float, float]  # chips in total
    street: int = 0
    to_act: int = 0
    left_to_act: int = 2  # players who must act before the street can end
    raises: int = 0  # on this street, not counting a first bet or the blinds
    smallest_raise: float = 0.0
    called_last: bool = False  # whether the big blind called a bet or raise to end the street before
    line: tuple[str, ...] = ()


def deal(fields: dict[str, Any]) -> Hand:
    blinds, ante, stack = (fields["small_blind"], fields["big_blind"]), fields.get("ante", 0), fields["stack"]
    paid = (ante + blinds[0], ante + blinds[1])
    return Hand(fields, (stack - paid[0], stack - paid[1]), blinds, paid, smallest_raise=blinds[1])


def pay(hand: Hand, to: float) -> Hand:
    """The player to act has `to` chips in front of them."""
    me = hand.to_act
    more = to - hand.bets[me]

    def changed(pair: tuple[float, float], by: float) -> tuple[float, float]:
        return (pair[0] + by, pair[1]) if me == 0 else (pair[0], pair[1] + by)

    return replace(
        hand, behind=changed(hand.behind, -more), bets=changed(hand.bets, more), paid=changed(hand.paid, more)
    )


def sizes(hand: Hand) -> list[str]:
    fields, me, player = hand.fields, hand.to_act, ("ip", "oop")[hand.to_act]
    if hand.street == 0:
        table = {**fields["preflop"], **fields["preflop"].get(player, {})}
        opened = table.get("open", "")
        if hand.raises == 0:
            text = opened if me == 0 else table.get("raise_limp", opened)
        else:
            text = opened
            for number in range(3, hand.raises + 3):
                text = table.get(f"{number}bet", text)
        cap = fields["preflop"].get("max_raises", math.inf)
        return [] if hand.raises >= cap else text.split(", ") if text else []
    table = fields["bets"]
    cap = table.get("max_raises", math.inf)
    if max(hand.bets) == 0:
        text = table["donk"] if hand.called_last and me == 1 and "donk" in table else table.get("bet", "")
    elif hand.raises >= cap:
        text = ""
    else:
        text = table.get("raise", "")
        if hand.raises and "reraise" in table:
            text = table["reraise"]
    return text.split(", ") if text else []


def wagers(hand: Hand) -> list[float]:
    """What the player may raise to or bet."""
    me, other = hand.to_act, 1 - hand.to_act
    if hand.behind[other] < 1e-9:
        return []
    facing = max(hand.bets)
    all_in = hand.bets[me] + hand.behind[me]
    pot = sum(hand.paid) + (facing - hand.bets[me])
    found = set()
    for size in sizes(hand):
        if size == "a":
            amount = all_in
        elif size.endswith("%"):
            amount = facing + pot * float(size[:-1]) / 100
        else:
            amount = facing * float(size[:-1])
        chip = hand.fields["rules"]["chip"]
        if amount < all_in - 1e-9:
            amount = math.floor(amount / chip + 0.5 + 1e-9) * chip
        smallest = facing + hand.smallest_raise if facing else hand.fields["big_blind"]
        found.add(round(min(max(amount, smallest), all_in), 6))
    return sorted(found)


def endings(hand: Hand) -> dict[tuple[str, ...], Ending]:
    """Every line of play, and how it ends."""
    me, facing = hand.to_act, max(hand.bets)
    found: dict[tuple[str, ...], Ending] = {}
    if hand.bets[me] < facing:
        found[(*hand.line, "fold")] = ("fold", hand.paid)
        limping = hand.street == 0 and hand.raises == 0 and me == 0
        if not limping or hand.fields["preflop"].get("limp", True):
            found |= passed(replace(pay(hand, facing), line=(*hand.line, "call")), called=me == 1)
    else:
        found |= passed(replace(hand, line=(*hand.line, "check")), called=False)
    for amount in wagers(hand):
        verb = "all-in" if abs(hand.bets[me] + hand.behind[me] - amount) < 1e-6 else "raise" if facing else "bet"
        raised = replace(
            pay(hand, amount),
            to_act=1 - me,
            left_to_act=1,
            raises=hand.raises + (facing > 0),
            smallest_raise=amount - facing,
            line=(*hand.line, f"{verb} {amount:g}"),
        )
        found |= endings(raised)
    return found


def passed(hand: Hand, *, called: bool) -> dict[tuple[str, ...], Ending]:
    """After a check or a call."""
    if hand.left_to_act > 1:
        return endings(replace(hand, to_act=1 - hand.to_act, left_to_act=hand.left_to_act - 1))
    if hand.street == 3:
        return {hand.line: ("showdown", hand.paid)}
    line = (*hand.line, "deal")
    if hand.behind[0] < 1e-9:
        return {(*hand.line, *["deal"] * (3 - hand.street)): ("showdown", hand.paid)}
    following = replace(hand, street=hand.street + 1, bets=(0.0, 0.0), to_act=1, left_to_act=2, raises=0, line=line)
    return endings(replace(following, smallest_raise=0.0, called_last=called))


def lines(tree: BettingTree) -> dict[tuple[str, ...], Ending]:
    found: dict[tuple[str, ...], Ending] = {}

    def follow(node: int, line: tuple[str, ...]) -> None:
        children = range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
        if not children:
            kind = "fold" if tree.kind[node] == NodeKind.FOLD else "showdown"
            found[line] = (kind, tuple(tree.paid[node].tolist()))
        for child in children:
            follow(child, (*line, tree.labels[child] or "deal"))

    follow(0, ())
    return found


# --- trees -----------------------------------------------------------------------------------------------------------


def random_fields(random: Random) -> dict[str, Any]:
    """A small game; sizes are coarse, so that trees stay small."""
    big_blind = random.choice([1, 2, 10])
    chip = random.choice([0.01, 0.5]) * big_blind
    preflop: dict[str, Any] = {"open": random.choice(["2x", "2.5x, a", "100%", "3x, a", "a"])}
    for key, texts in (
        ("raise_limp", ["3x", "a", ""]),
        ("3bet", ["3x", "a", "2.2x, a", ""]),
        ("4bet", ["a", "2.5x", ""]),
        ("5bet", ["a", ""]),
    ):
        if random.random() < 0.6:
            preflop[key] = random.choice(texts)
    small_blind = random.choice([0.4, 0.5, 0.5, 1]) * big_blind
    if random.random() < 0.3 and small_blind < big_blind:
        preflop["limp"] = False
    if random.random() < 0.4:
        preflop["max_raises"] = random.randint(1, 3)
    if random.random() < 0.3:
        preflop["oop"] = {"3bet": "4x"}
    bets: dict[str, Any] = {
        "bet": random.choice(["100%", "50%, a", "75%", ""]),
        "raise": random.choice(["a", "", "100%"]),
    }
    if random.random() < 0.4:
        bets["donk"] = random.choice(["", "50%"])
    if random.random() < 0.5:
        bets["max_raises"] = random.randint(0, 2)
    return {
        "stack": random.choice([3, 7.5, 12, 20]) * big_blind,
        "small_blind": small_blind,
        "big_blind": big_blind,
        "ante": random.choice([0, 0.1]) * big_blind,
        "preflop": preflop,
        "bets": bets,
        "rules": {**NOTHING_ADDED, "chip": chip},
    }


@pytest.mark.filterwarnings("ignore::regretless.errors.RoundedSizes")
@pytest.mark.parametrize("seed", range(80))
def test_every_line_is_a_line_of_poker(seed: int) -> None:
    fields = random_fields(Random(seed))
    found = lines(betting_tree(HoldemGame.from_mapping(fields)))
    expected = endings(deal(fields))
    assert set(found) == set(expected)
    for line, (kind, paid) in expected.items():
        assert found[line][0] == kind
        assert found[line][1] == pytest.approx(paid)


def test_random_trees_vary() -> None:
    sizes = {len(endings(deal(random_fields(Random(seed))))) for seed in range(80)}
    assert len(sizes) > 25
    assert max(sizes) > 300


def test_push_or_fold_is_a_game_from_the_deal() -> None:
    preflop = {"limp": False, "open": "a"}
    game = HoldemGame.from_mapping(
        {"stack": 25, "small_blind": 1, "big_blind": 2, "ante": 0.5, "preflop": preflop, "bets": {}}
    )
    betting, rules = betting_of(game), PushFold(stack=12.5, ante=0.25)
    tree, payoffs = betting.tree, betting.payoffs
    assert list(lines(tree)) == [("fold",), ("all-in 24.5", "fold"), ("all-in 24.5", "call", "deal", "deal", "deal")]
    states = {("fold",): ("fold",), ("all-in 24.5", "fold"): ("push", "fold")}
    for node in range(len(tree.kind)):
        if tree.kind[node] == NodeKind.FOLD:
            label = ("fold",) if tree.parent[node] == 0 else ("all-in 24.5", "fold")
            state = rules.initial_state()._replace(small_blind=0, big_blind=1, line=states[label])
            folded = int(tree.player[node])
            assert payoffs.lose[node, folded] / 2 == rules.utility(state, folded)
            assert payoffs.win[node, 1 - folded] / 2 == rules.utility(state, 1 - folded)
        elif tree.kind[node] == NodeKind.SHOWDOWN:
            assert payoffs.win[node].tolist() == [25, 25]
            assert payoffs.tie[node].tolist() == [0, 0]


def test_flop_holdem_begins_like_a_game_from_the_deal() -> None:
    rules = FlopHoldem()
    limit = flatten(limit_branches(rules.betting, rules.move_name))
    game = HoldemGame.from_mapping(
        {
            "stack": 100_000,
            "small_blind": 50,
            "big_blind": 100,
            "preflop": {"open": "100c", "max_raises": 3},
            "rules": NOTHING_ADDED,
        }
    )
    tree = betting_tree(game)

    def first_round(of: BettingTree) -> set[tuple[str, ...]]:
        return {line[: line.index("deal")] if "deal" in line else line for line in lines(of)}

    assert first_round(tree) == first_round(limit)


def test_rules_that_add_force_and_merge_apply_before_the_flop() -> None:
    def actions(line: tuple[str, ...] = (), **changed: Any) -> list[str]:
        fields = {"stack": 20, "small_blind": 1, "big_blind": 2, "preflop": {"open": "2x, 2.2x, 8x"}}
        found = lines(betting_tree(HoldemGame.from_mapping(fields | changed)))
        return list(dict.fromkeys(each[len(line)] for each in found if each[: len(line)] == line))

    rules = dict(NOTHING_ADDED)
    assert actions(rules=rules) == ["fold", "call", "raise 4", "raise 4.4", "raise 16"]
    # After a call the pot is 4: shares of 50 %, 60 % and 350 %.
    assert actions(rules=rules | {"merge": 0.1}) == ["fold", "call", "raise 4.4", "raise 16"]
    assert actions(rules=rules | {"merge": 0.06}) == ["fold", "call", "raise 4", "raise 4.4", "raise 16"]
    # 4 of 32 chips would be left behind a raise to 16.
    assert actions(rules=rules | {"force_allin": 0.125}) == ["fold", "call", "raise 4", "raise 4.4", "all-in 20"]
    assert actions(rules=rules | {"force_allin": 0.12})[-1] == "raise 16"
    # 18 chips behind a call, in a pot of 4.
    assert actions(rules=rules | {"add_allin": 4.5})[-1] == "all-in 20"
    assert actions(rules=rules | {"add_allin": 4.4})[-1] == "raise 16"
    # The smallest raise is by the big blind, then by the last raise.
    assert actions(rules=rules, preflop={"open": "1.1x"})[-1] == "raise 4"
    assert actions(("raise 5",), rules=rules, preflop={"open": "2.5x", "3bet": "1.1x"})[-1] == "raise 8"
    assert actions(("call",), rules=rules, preflop={"open": "3x", "raise_limp": "1.1x"}) == ["check", "raise 4"]


def test_lines_by_hand() -> None:
    fields = {"stack": 20, "small_blind": 1, "big_blind": 2, "preflop": {"open": "2x"}, "rules": NOTHING_ADDED}
    added = HoldemGame.from_mapping(fields | {"lines": {"add": ["call, raise 9, call, bet 3"], "remove": ["raise 4"]}})
    found = lines(betting_tree(added))
    assert ("call", "raise 9", "call", "deal", "bet 3", "fold") in found
    assert not any(line[0] == "raise 4" for line in found)


def test_a_hand_that_ends_before_the_flop_is_not_raked() -> None:
    fields = {"stack": 20, "small_blind": 1, "big_blind": 2, "preflop": {"open": "2x, a"}, "bets": {"bet": "a"}}
    betting = betting_of(HoldemGame.from_mapping(fields | {"rules": {"rake": 0.05, "rake_cap": 1.5}}))
    tree, payoffs = betting.tree, betting.payoffs
    for node in range(len(tree.kind)):
        if tree.kind[node] == NodeKind.FOLD:
            folded = int(tree.player[node])
            matched = 2 * tree.paid[node].min()
            rake = 0.0 if tree.street[node] == 0 else min(0.05 * matched, 1.5)
            assert payoffs.win[node, 1 - folded] == pytest.approx(tree.paid[node, folded] - rake)
        elif tree.kind[node] == NodeKind.SHOWDOWN:  # also after an all-in before the flop
            assert payoffs.win[node, 0] == pytest.approx(tree.paid[node, 1] - min(0.1 * tree.paid[node, 0], 1.5))

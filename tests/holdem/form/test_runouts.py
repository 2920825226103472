"""Runouts: what is dealt, what is merged, and that merging does not change the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from tests.holdem.reference_spots import OOP, Point, TreeBuilder, flatten

from regretless.cards.deck import parse_board
from regretless.cards.evaluator import hand_strengths
from regretless.cards.hands import HAND_CARDS
from regretless.cards.ranges import Range
from regretless.engines.numba.public.engine import NumbaPublicEngine
from regretless.engines.numpy.public import PublicReference
from regretless.errors import InvalidOption
from regretless.forms.betting import Branch, poker_payoffs
from regretless.forms.public import NodeKind, PublicForm
from regretless.games.game import CHANCE, Game
from regretless.holdem.form.runouts import compile_holdem
from regretless.solving import CFR
from regretless.variants import Discounted, schedule


def small_spot(board: str, ip: Range, oop: Range, *, bets: str = "70%", stack: int = 60) -> PublicForm:
    spot = {"pot": 30, "stack": stack, "bets": {"bet": bets, "raise": "2.5x"}}
    cards = parse_board(board)
    tree = flatten(TreeBuilder(spot).build(Point(len(cards), (0, 0), OOP)), starting_pot=30)
    return compile_holdem(cards, ip, oop, tree)


@pytest.mark.parametrize(
    ("board", "ip", "turns", "rivers"),
    [
        ("Qs Jh 2h", "AA,KK", 36, 1429),  # clubs and diamonds are equivalent
        ("Qs Jh 2d", "AA,KK", 49, 49 * 48),  # no suits are equivalent
        ("Qs Js 2s", "AA,KK", 23, 13 * 35 + 10 * 22),  # three suits are equivalent
        ("Qs Jh 2h", "AcKc", 49, 49 * 48),  # the range distinguishes clubs from diamonds
    ],
)
def test_isomorphic_deals_are_stored_once(board: str, ip: str, turns: int, rivers: int) -> None:
    form = small_spot(board, Range.parse(ip), Range.parse("AA,KK"))
    assert [len(street.parent) for street in form.streets] == [1, turns, rivers]
    assert len(form.streets[1].copies) == 49  # runouts and their copies cover every card
    for turn in range(turns):
        first, last = form.streets[1].first_child[turn : turn + 2]
        assert form.streets[2].first_copy[last] - form.streets[2].first_copy[first] == 48


def test_strengths_and_blockers() -> None:
    form = small_spot("Qs Jh 2h 7c", Range.parse("AA,77"), Range.parse("KQ,76s"))
    final = form.streets[-1]
    for runout in (0, 17, len(final.parent) - 1):
        board = (*parse_board("Qs Jh 2h 7c"), int(final.cards[runout, 0]))
        strengths = hand_strengths(board)
        for player in range(2):
            hands = form.hands[player].cards
            index = [int(np.flatnonzero((hand == HAND_CARDS).all(axis=1))[0]) for hand in hands]
            np.testing.assert_array_equal(form.strength[player][runout], strengths[index])
            np.testing.assert_array_equal(final.dead[player][runout], strengths[index] < 0)


def test_merging_suits_changes_no_answer() -> None:
    ip, oop = Range.parse("AA,KJs,T9s"), Range.parse("QQ,JTs,A2s")
    merged = small_spot("Qs Jh 2h 7s", ip, oop)
    nudge = np.where(np.arange(1326) % 4 == 0, 1 - 1e-7, 1.0)  # enough to break the symmetry of suits
    apart = small_spot("Qs Jh 2h 7s", Range(ip.weights * nudge), Range(oop.weights * nudge))
    assert len(merged.streets[1].parent) < len(apart.streets[1].parent) == 48
    engines = NumbaPublicEngine(merged), NumbaPublicEngine(apart)
    for engine in engines:
        engine.advance(schedule(Discounted(), 1, 200))
    one, two = (engine.evaluate() for engine in engines)
    assert one.values == pytest.approx(two.values, abs=5e-4)
    assert one.exploitability == pytest.approx(two.exploitability, abs=2e-3)


class RiverState(NamedTuple):
    hands: tuple[int, ...]  # of player 0, then of player 1, counted in their lists
    node: int  # of the betting tree


class River(Game[RiverState]):
    """A river as a general game: chance deals the hands, and play follows the form's betting tree."""

    name = "river"

    def __init__(self, form: PublicForm) -> None:
        self.form, self.tree = form, form.tree
        first, second = form.hands
        self.deal: dict[tuple[int, int], float] = {}
        for i, one in enumerate(first.cards.tolist()):
            for j, two in enumerate(second.cards.tolist()):
                if not set(one) & set(two):
                    self.deal[i, j] = float(first.weight[i] * second.weight[j])
        total = sum(self.deal.values())
        self.deal = {pair: weight / total for pair, weight in self.deal.items()}

    def num_players(self) -> int:
        return 2

    def initial_state(self) -> RiverState:
        return RiverState((), 0)

    def is_terminal(self, state: RiverState) -> bool:
        return bool(state.hands) and self.tree.kind[state.node] in (NodeKind.FOLD, NodeKind.SHOWDOWN)

    def player(self, state: RiverState) -> int:
        return int(self.tree.player[state.node]) if state.hands else CHANCE

    def actions(self, state: RiverState) -> Sequence[str]:
        if not state.hands:
            return [f"{i},{j}" for i, j in self.deal]
        return self.tree.labels[self.tree.first_child[state.node] : self.tree.first_child[state.node + 1]]

    def chance_outcomes(self, state: RiverState) -> Sequence[tuple[str, float]]:
        return [(f"{i},{j}", weight) for (i, j), weight in self.deal.items()]

    def next_state(self, state: RiverState, action: str) -> RiverState:
        if not state.hands:
            return RiverState(tuple(map(int, action.split(","))), 0)
        first = int(self.tree.first_child[state.node])
        return RiverState(state.hands, first + list(self.actions(state)).index(action))

    def info_set_key(self, state: RiverState) -> str:
        player = self.player(state)
        return f"{player}:{state.hands[player]}:{state.node}"

    def utility(self, state: RiverState, player: int) -> float:
        pay, node = self.form.payoffs, state.node
        if self.tree.kind[node] == NodeKind.FOLD:
            return float((pay.lose if self.tree.player[node] == player else pay.win)[node, player])
        mine, theirs = (int(self.form.strength[who][0][state.hands[who]]) for who in (player, 1 - player))
        return float((pay.win if mine > theirs else pay.lose if mine < theirs else pay.tie)[node, player])


def test_a_river_by_its_rules_and_by_its_public_form() -> None:
    form = small_spot("Kh Qs Js 2c 3d", Range.parse("AKs:0.5,22"), Range.parse("KQs,T9s,88:0.25"))
    by_rules, plain, fast = CFR(River(form)), PublicReference(form), NumbaPublicEngine(form)
    for solver in (by_rules, plain, fast):
        solver.advance(schedule(Discounted(), 1, 25))
    expected = by_rules.evaluate()
    assert plain.evaluate().exploitability == pytest.approx(expected.exploitability, abs=1e-6)
    assert plain.evaluate().values == pytest.approx(expected.values, abs=1e-6)
    assert fast.evaluate().values == pytest.approx(expected.values, abs=1e-4)


def test_rake_has_no_cap_unless_one_is_given() -> None:
    tree = flatten(Branch(NodeKind.SHOWDOWN, (40.0, 40.0)), starting_pot=20.0)
    free, raked, capped, none = (
        poker_payoffs(tree, **rules).win[0, 0]
        for rules in ({}, {"rake": 0.05}, {"rake": 0.05, "rake_cap": 3.0}, {"rake": 0.05, "rake_cap": 0.0})
    )
    assert (free, raked, capped, none) == (60.0, 55.0, 57.0, 60.0)  # 5 % of the pot of 100 is 5


def test_any_flop_of_a_class_stands_for_it() -> None:
    showdown = Branch(NodeKind.SHOWDOWN, (0.0, 0.0))
    tree = flatten(Branch(NodeKind.CHANCE, (0.0, 0.0), children={"": showdown}), starting_pot=0)
    everything = Range.parse("100%")

    def street(*flops: str) -> tuple[list[tuple[int, ...]], list[float]]:
        weights = {parse_board(flop): weight for flop, weight in zip(flops, (1.0, 3.0))}
        form = compile_holdem((), everything, everything, tree, deals=(3,), flops=weights)
        return [tuple(cards) for cards in form.streets[1].cards.tolist()], form.streets[1].probability.tolist()

    expected = street("2c 3c 4d", "7c 7d 7h")
    assert len(expected[0]) == 2
    assert street("4s 3h 2h", "7s 7h 7d") == expected
    with pytest.raises(InvalidOption, match="flops: '2c 2c 3c' is not a flop that can be dealt"):
        compile_holdem((), everything, everything, tree, deals=(3,), flops={(0, 0, 4): 1.0})

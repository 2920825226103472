"""Hands against a solution: fair deals, an opponent that follows its strategy, and results that add up."""

from __future__ import annotations

from itertools import permutations
from random import Random

import numpy as np
import pytest

import regretless as rl
from regretless.cards.deck import parse_board
from regretless.cards.hands import HAND_CARDS, hand_index
from regretless.forms.public import NodeKind
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.whole_game import NoLimitSolution
from regretless.holdem.reading.line_reader import LineNode, LineReader
from regretless.holdem.reading.playing import Duel, draw_hands
from regretless.holdem.spots.spot import Spot

PUSH_FOLD = {"stack": 10, "small_blind": 0.5, "big_blind": 1, "preflop": {"limp": False, "open": "a"}}
FLOP = {
    "board": "Kh Qs Js",
    "pot": 100,
    "stack": 100,
    "bets": {"bet": "a"},
    "rules": {"rake": 0.05, "rake_cap": 4},
    "oop": {"range": "AKs, QJs, T9s, 99"},
    "ip": {"range": "AA:0.5, KQs, JTs, 55"},
}


@pytest.fixture(scope="module")
def game() -> NoLimitSolution:
    found = rl.solve(HoldemGame.from_mapping(PUSH_FOLD), iterations=30, sample_runouts=8, threads=1)
    assert isinstance(found, NoLimitSolution)
    return found


@pytest.fixture(scope="module")
def flop() -> LineReader:
    reader: LineReader = rl.solve(Spot.from_mapping(FLOP), iterations=20, threads=1).reader
    return reader


def cards_of(hands: tuple[int, int]) -> set[int]:
    return {int(card) for hand in hands for card in HAND_CARDS[hand]}


def test_hands_are_dealt_as_often_as_both_are_held(flop: LineReader) -> None:
    random = Random(1)
    drawn = [draw_hands(flop, flop.root, random) for _ in range(4000)]
    assert all(len(cards_of(hands)) == 4 for hands in drawn)
    share = flop.root.reach[0] * flop.met(0, flop.root.reach[1])
    share /= share.sum()
    seen = np.bincount([hands[0] for hands in drawn], minlength=1326)[flop.hand_numbers[0]] / len(drawn)
    assert np.abs(seen - share).max() < 4 * np.sqrt(0.25 / len(drawn)) * 0.6
    assert seen[share == 0].sum() == 0
    other = flop.root.reach[1] * flop.met(1, flop.root.reach[0])
    seen = np.bincount([hands[1] for hands in drawn], minlength=1326)[flop.hand_numbers[1]] / len(drawn)
    assert np.abs(seen - other / other.sum()).max() < 0.019


def test_the_opponent_follows_its_strategy(game: NoLimitSolution) -> None:
    reader, random = game.reader, Random(2)
    for person, line in ((1, ""), (0, "all-in 10")):
        played = game.node(line)
        acting = 1 - person
        mixed = int(played.hand[np.argmin(np.abs(played.strategy[0] - 0.5))])
        other = next(hand for hand in range(1326) if not set(HAND_CARDS[hand]) & set(HAND_CARDS[mixed]))
        hands = (mixed, other) if acting == 0 else (other, mixed)
        folds = 0
        for _ in range(400):
            duel = Duel(reader, hands, person, random)
            place = reader.find(line)
            after = duel.play_on(place)[1]
            folds += after.steps[-1] == "fold"
        expected = float(played.strategy[0, mixed])
        assert abs(folds / 400 - expected) < 4 * np.sqrt(0.25 / 400)
        assert duel.strategy(place)[0] == expected


def test_a_hand_goes_on_until_the_person_acts_or_it_is_over(game: NoLimitSolution) -> None:
    reader = game.reader
    for seed in range(40):
        random = Random(seed)
        duel = Duel(reader, draw_hands(reader, reader.root, random), seed % 2, random)
        place = duel.play_on(reader.root)[-1]
        if duel.is_persons_turn(place):
            assert reader.tree.player[place.index] == duel.person
            place = duel.play_on(reader.act(place, 1))[-1]
        assert reader.tree.kind[place.index] in (NodeKind.FOLD, NodeKind.SHOWDOWN)
        outcome = duel.outcome(place)
        assert sum(outcome.payoffs) == 0
        if outcome.folded is None:
            assert len(cards_of(duel.hands) | set(place.deal.cards)) == 9
            assert sorted(map(abs, outcome.payoffs)) in ([10, 10], [0, 0])
            assert np.sign(outcome.payoffs[0]) == np.sign(outcome.strength[0] - outcome.strength[1])


def all_in(reader: LineReader) -> LineNode:
    return reader.find("all-in 100, call")


def test_the_adjusted_result_is_the_mean_over_all_cards_to_come(flop: LineReader) -> None:
    """Rake included; a hand that is over without further cards is not adjusted."""
    duel = Duel(flop, (hand_index(*parse_board("Kd Qd")), hand_index(*parse_board("Tc 9c"))), 0, Random(0))
    before = all_in(flop)
    known = cards_of(duel.hands)
    left = [card for card in flop.cards(before) if card not in known]
    turns = {card: flop.deal(before, card) for card in left}
    won = [duel.outcome(flop.deal(turns[turn], river)).payoffs for turn, river in permutations(left, 2)]
    place = flop.deal(turns[left[0]], left[1])
    expected = duel.expected(place)
    assert expected is not None
    assert expected == pytest.approx(np.mean(won, axis=0), abs=1e-9)
    assert sum(expected) == pytest.approx(96)  # the pot at the start, less the rake
    checked = flop.find("check, check, 2c, check, check, 2d, check, check")
    assert duel.expected(checked) is None
    assert duel.expected(flop.find("all-in 100, fold")) is None

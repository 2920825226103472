"""Limit hold'em by its rules, against OpenSpiel's universal poker with the rules of the computer poker competition."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import regretless as rl
from regretless.cards.deck import card_text, parse_board
from regretless.errors import InvalidGame
from regretless.forms.betting import flatten, limit_branches
from regretless.forms.public import NodeKind
from regretless.games import CHANCE, LimitHoldem, load

COMPETITION = (
    "universal_poker(betting=limit,numPlayers=2,numRounds=4,blind=50 100,raiseSize=100 100 200 200,maxRaises=3 4 4 4,"
    "firstPlayer=1 2 2 2,numSuits=4,numRanks=13,numHoleCards=2,numBoardCards=0 3 1 1,stack=100000 100000)"
)


def test_decisions_of_the_competition() -> None:
    """Eight decisions before the flop and ten in each later round, which seven, nine and nine lines lead into."""
    game = LimitHoldem()
    tree = flatten(limit_branches(game.betting, game.move_name))
    decisions = tree.street[tree.kind == NodeKind.DECISION]
    assert [int((decisions == street).sum()) for street in range(4)] == [8, 7 * 10, 7 * 9 * 10, 7 * 9 * 9 * 10]


@pytest.mark.parametrize("seed", range(40))
def test_openspiel_plays_the_same_game(seed: int) -> None:
    pyspiel = pytest.importorskip("pyspiel")
    random, game = Random(seed), load("limit-holdem")
    state: Any = game.initial_state()
    cards = random.sample(range(52), 9)
    theirs = pyspiel.load_game(COMPETITION).new_initial_state()
    hands = [cards[:2], cards[2:4]]
    for hand in hands:
        state = game.next_state(state, "".join(card_text(card) for card in hand))
    for card in (*hands[0], *hands[1]):
        theirs.apply_action(card)
    board = cards[4:]
    while not game.is_terminal(state):
        if game.player(state) == CHANCE:
            count = 1 if state.board else 3
            dealt, board = board[:count], board[count:]
            assert "".join(card_text(card) for card in sorted(dealt)) in game.actions(state)
            state = game.next_state(state, "".join(card_text(card) for card in dealt))
            for card in dealt:
                assert theirs.is_chance_node()
                theirs.apply_action(card)
            continue
        assert theirs.current_player() == game.player(state)
        assert len(theirs.legal_actions()) == len(game.actions(state))
        move = random.choices(range(len(game.actions(state))), [0.1 if a == "fold" else 1 for a in game.actions(state)])
        state = game.next_state(state, game.actions(state)[move[0]])
        theirs.apply_action(theirs.legal_actions()[move[0]])
    assert theirs.is_terminal()
    assert [100 * each for each in game.utilities(state)] == pytest.approx(theirs.returns())


def test_the_best_five_of_seven_cards_win() -> None:
    game = LimitHoldem()
    state = game.initial_state()
    for action in ("AhKh", "2c2d", "call", "check", "QhJhTh", "check", "check", "2s", "check", "check", "2h"):
        state = game.next_state(state, action)
    for action in ("check", "check"):
        state = game.next_state(state, action)
    assert game.utilities(state) == (1.0, -1.0)  # a royal flush against four twos
    assert state.board == (*parse_board("QhJhTh"), *parse_board("2s"), *parse_board("2h"))


def test_it_is_trained_and_not_solved() -> None:
    with pytest.raises(InvalidGame, match="limit-holdem: is too large to solve: networks can be trained on it"):
        rl.solve("limit-holdem", iterations=1)

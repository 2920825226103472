"""Flop hold'em by its rules and by its public form, on random deals."""

from __future__ import annotations

from math import comb
from random import Random
from typing import Any

import numpy as np
import pytest

from regretless.cards.deck import parse_board
from regretless.cards.hands import hand_index
from regretless.cards.isomorphism import SUIT_PERMUTATIONS
from regretless.errors import InvalidGame
from regretless.forms import compile_history
from regretless.forms.public import NodeKind, PublicForm
from regretless.games import CHANCE, FlopHoldem, load
from regretless.holdem.form.suits import Deal, find_deal
from regretless.holdem.games.flop_holdem import compile_flop_holdem


@pytest.fixture(scope="module")
def form() -> PublicForm:
    return compile_flop_holdem(FlopHoldem())


def test_the_size_stated_in_the_paper(form: PublicForm) -> None:
    tree = form.tree
    decisions = tree.kind == NodeKind.DECISION
    assert len(form.streets[1].parent) == 1755
    assert len(form.streets[1].copies) == comb(52, 3) == 22_100
    assert np.count_nonzero(tree.kind == NodeKind.CHANCE) == 7
    on_the_flop = int(np.count_nonzero(decisions & (tree.street == 1)))
    assert comb(52, 3) * comb(49, 2) * on_the_flop == 1_455_417_600


def test_chance_deals_every_remaining_card() -> None:
    game = FlopHoldem()
    state = game.initial_state()
    for cards, count in (("AhKh", 1326), ("2c2d", 1225), ("call", None), ("check", None), ("3c4cAs", comb(48, 3))):
        if count is not None:
            assert game.player(state) == CHANCE
            assert len(set(game.actions(state))) == len(game.actions(state)) == count
        state = game.next_state(state, cards)
    assert game.player(state) == 1  # the big blind acts first on the flop


@pytest.mark.parametrize("seed", range(200))
def test_the_public_form_pays_the_same_as_the_rules(form: PublicForm, seed: int) -> None:
    random = Random(seed)
    game: Any = load("flop-holdem")
    tree, node, deal = form.tree, 0, Deal()
    state: Any = game.initial_state()
    while not game.is_terminal(state):
        action = random.choice(list(game.actions(state)))
        if game.player(state) != CHANCE:
            labels = tree.labels[tree.first_child[node] : tree.first_child[node + 1]]
            assert (tree.kind[node], tree.player[node]) == (NodeKind.DECISION, game.player(state))
            assert list(labels) == list(game.actions(state))
            node = int(tree.first_child[node]) + labels.index(action)
        elif len(state.hands) == 2:
            assert tree.kind[node] == NodeKind.CHANCE
            node = int(tree.first_child[node])
            deal = find_deal(form, np.arange(len(SUIT_PERMUTATIONS)), deal, *parse_board(action))
        state = game.next_state(state, action)
    winner = 1 - int(tree.player[node])
    if tree.kind[node] == NodeKind.SHOWDOWN:
        assert deal.hands is not None
        first, second = (
            int(form.strength[player][deal.runout, deal.hands[player][hand_index(*state.hands[player])]])
            for player in range(2)
        )
        assert min(first, second) >= 0  # neither hand is dead on the flop
        if first == second:
            assert game.utilities(state) == (0.0, 0.0) == tuple(form.payoffs.tie[node])
            return
        winner = 0 if first > second else 1
    pays = [(form.payoffs.win if player == winner else form.payoffs.lose)[node, player] for player in range(2)]
    assert game.utilities(state) == (pays[0] / game.big_blind, pays[1] / game.big_blind)


def test_the_rules_are_not_enumerated() -> None:
    with pytest.raises(InvalidGame, match="flop-holdem: is too large to enumerate: solve it in the public form"):
        compile_history(FlopHoldem())

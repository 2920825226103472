"""Kuhn and Leduc, poker games with one private card each, as public forms, and strategies read back from them.

They compile into every form, so that independent routes can be compared. Only the betting and the deck are taken from
the rules to build a form; reading back follows the rules themselves, so that information sets and actions have the same
names as in the history form.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from regretless.errors import InvalidOption
from regretless.forms.betting import flatten, limit_branches, poker_payoffs
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import DEAD, BettingTree, Hands, NodeKind, PublicForm, Street, no_symmetry
from regretless.games.game import AnyGame
from regretless.games.kuhn import Kuhn
from regretless.games.leduc import Leduc

__all__ = ["compile_public", "invert_public"]


def compile_public(game: AnyGame) -> PublicForm:
    """The public form of two-player Kuhn, or of Leduc with any deck and bets.

    >>> form = compile_public(Leduc())
    >>> len(form.tree.kind), [len(street.parent) for street in form.streets], float(form.streets[1].probability[0])
    (90, [1, 6], 0.25)
    >>> compile_public(Kuhn(players=3))
    Traceback (most recent call last):
    regretless.errors.InvalidOption: form: 'public' is for kuhn, leduc and flop-holdem: two players, ...
    """
    if isinstance(game, Kuhn) and game.betting is not None:
        tree = flatten(limit_branches(game.betting, game.move_name))
        return _one_card_form(game.name, tree, public=False, rank=np.arange(3))
    if isinstance(game, Leduc) and not game.merge_suits:
        tree = flatten(limit_branches(game.betting, game.move_name))
        return _one_card_form(game.name, tree, public=True, rank=np.arange(game.ranks * game.suits) // game.suits)
    raise InvalidOption(
        "form", "public", f"is for kuhn, leduc and flop-holdem: two players, every card dealt; not for {game.name}"
    )


def invert_public(
    game: AnyGame, form: PublicForm, strategy: Callable[[int, int], FloatArray]
) -> dict[str, dict[str, float]]:
    """Read a strategy of a form back as information set -> action -> probability.

    `strategy` gives [actions, H] at a betting node on a runout of its street.

    >>> result = invert_public(Kuhn(), compile_public(Kuhn()), lambda node, runout: np.full((2, 3), 0.5))
    >>> len(result), result["0:pb"]
    (12, {'p': 0.5, 'b': 0.5})
    """
    tree = form.tree
    cards = game.actions(game.initial_state())
    result: dict[str, dict[str, float]] = {}
    rows = cache(strategy)

    def follow(state: Hashable, node: int, runout: int, player: int, hand: int, public: int) -> None:
        children = range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
        if tree.kind[node] == NodeKind.CHANCE:
            follow(game.next_state(state, cards[public]), children[0], public, player, hand, public)
        elif tree.kind[node] == NodeKind.DECISION:
            if tree.player[node] == player:
                probabilities = rows(node, runout)[:, hand].tolist()
                result[game.info_set_key(state)] = dict(zip(game.actions(state), probabilities, strict=True))
            for child in children:
                follow(game.next_state(state, tree.labels[child]), child, runout, player, hand, public)

    for player in range(2):
        for hand in range(form.deck):
            for public in range(form.deck) if len(form.streets) > 1 else (hand,):
                # The player does not know the opponent's card: any remaining one will do.
                other = next(card for card in range(form.deck) if card not in (hand, public))
                if public != hand or len(form.streets) == 1:
                    dealt = (hand, other) if player == 0 else (other, hand)
                    state = game.next_state(game.next_state(game.initial_state(), cards[dealt[0]]), cards[dealt[1]])
                    follow(state, 0, 0, player, hand, public)
    return result


def _one_card_form(name: str, tree: BettingTree, *, public: bool, rank: IntArray) -> PublicForm:
    """A game in which each player holds one card, with or without a public card."""
    deck = len(rank)
    cards = np.arange(deck)
    hands = Hands(
        weight=np.ones(deck),
        cards=np.stack([cards, np.full(deck, -1)], axis=1).astype(np.int16),
        same=np.full(deck, -1, dtype=np.int16),
    )
    nothing = np.zeros((1, deck), dtype=np.bool_)
    streets = [_street(cards[:0].reshape(1, 0), 1, 1.0, nothing, children=deck if public else 0)]
    strength = rank[None, :]
    if public:
        blocked = np.eye(deck, dtype=np.bool_)
        streets.append(_street(cards[:, None], deck, 1.0 / (deck - 2), blocked, children=0))
        pairs = rank[:, None] == rank[None, :]
        strength = np.where(blocked, DEAD, np.where(pairs, deck, 0) + rank[None, :])
    identity = cards[None, :].astype(np.int16)
    return PublicForm(
        name=name,
        deck=deck,
        tree=tree,
        streets=tuple(streets),
        hands=(hands, hands),
        payoffs=poker_payoffs(tree),
        permutations=(identity, identity),
        symmetry=no_symmetry(deck, (hands, hands)),
        strength=(strength.astype(np.int16), strength.astype(np.int16)),
    )


def _street(cards: IntArray, count: int, probability: float, dead: NDArray[np.bool_], *, children: int) -> Street:
    return Street(
        cards=cards.astype(np.int8),
        parent=np.zeros(count, dtype=np.int32),
        first_child=np.array([0] * count + [children], dtype=np.int32),
        probability=np.full(count, probability),
        first_copy=np.arange(count + 1, dtype=np.int32),
        copies=np.zeros(count, dtype=np.int16),
        symmetry=np.zeros(count, dtype=np.int32),
        dead=(dead, dead),
    )

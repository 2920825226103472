"""Kuhn and Leduc in the public form, from the same rules as `games.kuhn` and `games.leduc`.

They compile into every form there is, so that independent routes can be held against each other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regretless.forms.betting import Branch, flatten, poker_payoffs
from regretless.forms.history import IntArray
from regretless.forms.public import DEAD, BettingTree, Hands, Kind, PublicForm, Street, no_symmetry

__all__ = ["kuhn_public", "leduc_public"]


def kuhn_public() -> PublicForm:
    """Kuhn poker for two: three cards, one bet.

    >>> kuhn_public().tree.labels
    ('', 'p', 'b', 'p', 'b', 'p', 'b', 'p', 'b')
    """
    showdown, fold, decision = Kind.SHOWDOWN, Kind.FOLD, Kind.DECISION
    called = Branch(showdown, (2, 2))
    first_facing = Branch(decision, (1, 2), 0, {"p": Branch(fold, (1, 2), 0), "b": called})
    passed = Branch(decision, (1, 1), 1, {"p": Branch(showdown, (1, 1)), "b": first_facing})
    bet = Branch(decision, (2, 1), 1, {"p": Branch(fold, (2, 1), 1), "b": called})
    tree = flatten(Branch(decision, (1, 1), 0, {"p": passed, "b": bet}))
    return _one_card_form("kuhn", tree, deck=3, public=False, rank=np.arange(3))


def leduc_public(ranks: int = 3, suits: int = 2, bets: tuple[int, int] = (2, 4), raises: int = 2) -> PublicForm:
    """Leduc hold'em: one card each, one public card, two rounds of fixed bets.

    >>> form = leduc_public()
    >>> len(form.tree.kind), [len(street.parent) for street in form.streets], form.streets[1].probability
    (90, [1, 6], 0.25)
    """

    def betting(street: int, paid: tuple[int, int], turn: int, raised: int, moves: int) -> Branch:
        facing = paid[1 - turn] > paid[turn]
        children: dict[str, Branch] = {}
        if facing:
            children["f"] = Branch(Kind.FOLD, paid, turn)
        level = (max(paid), max(paid))
        if moves == 0:
            children["c"] = betting(street, paid, 1 - turn, raised, 1)
        elif street == 0:
            children["c"] = Branch(Kind.CHANCE, level, children={"": betting(1, level, 0, 0, 0)})
        else:
            children["c"] = Branch(Kind.SHOWDOWN, level)
        if raised < raises:
            owed = max(paid) + bets[street]
            after = (owed, paid[1]) if turn == 0 else (paid[0], owed)
            children["r"] = betting(street, after, 1 - turn, raised + 1, moves + 1)
        return Branch(Kind.DECISION, paid, turn, children)

    tree = flatten(betting(0, (1, 1), 0, 0, 0))
    return _one_card_form("leduc", tree, deck=ranks * suits, public=True, rank=np.arange(ranks * suits) // suits)


def _one_card_form(name: str, tree: BettingTree, *, deck: int, public: bool, rank: IntArray) -> PublicForm:
    """A game where each player holds one card of the deck, and perhaps one more lies in the open."""
    cards = np.arange(deck)
    held = Hands(
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
        hands=(held, held),
        payoffs=poker_payoffs(tree),
        permutations=(identity, identity),
        symmetry=no_symmetry(deck, (held, held)),
        strength=(strength.astype(np.int16), strength.astype(np.int16)),
    )


def _street(cards: IntArray, count: int, probability: float, dead: NDArray[np.bool_], *, children: int) -> Street:
    return Street(
        cards=cards.astype(np.int8),
        parent=np.zeros(count, dtype=np.int32),
        first_child=np.linspace(0, children, count + 1).astype(np.int32)
        if count == 1
        else np.zeros(count + 1, np.int32),
        probability=probability,
        first_copy=np.arange(count + 1, dtype=np.int32),
        copies=np.zeros(count, dtype=np.int16),
        symmetry=np.zeros(count, dtype=np.int32),
        dead=(dead, dead),
    )

"""Running sums agree with the table of all pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from regretless.cards.hands import HAND_CARDS
from regretless.forms.blockers import met
from regretless.forms.public import Hands
from regretless.holdem.reading.evaluation import Showdown


def random_hands(random: np.random.Generator, deck: int) -> tuple[Hands, Hands]:
    allowed = np.flatnonzero((deck > HAND_CARDS).all(axis=1))
    held = [np.sort(random.choice(allowed, random.integers(1, len(allowed)), replace=False)) for _ in range(2)]

    def hands(mine: np.ndarray, theirs: np.ndarray) -> Hands:
        position = {hand: place for place, hand in enumerate(theirs.tolist())}
        same = np.array([position.get(hand, -1) for hand in mine.tolist()])
        return Hands(weight=random.random(len(mine)), cards=HAND_CARDS[mine].astype(np.int16), same=same)

    return hands(held[0], held[1]), hands(held[1], held[0])


@settings(max_examples=50)
@given(st.integers(0, 2**32), st.integers(4, 12))
def test_equal_to_all_pairs(seed: int, deck: int) -> None:
    random = np.random.default_rng(seed)
    own, other = random_hands(random, deck)
    board = random.integers(0, deck)  # a card that blocks hands
    # Strength depends on the hand alone, so that equal hands tie.
    strength = random.integers(0, 5, size=(deck, deck))
    strengths = [
        np.where((each.cards == board).any(axis=1), -1, strength[each.cards[:, 0], each.cards[:, 1]])
        for each in (own, other)
    ]
    reach = random.random((3, len(other.weight))) * (random.random((3, len(other.weight))) < 0.7)
    free = np.array([[not set(mine) & set(theirs) for theirs in other.cards.tolist()] for mine in own.cards.tolist()])
    np.testing.assert_allclose(met(own, other, reach, deck), reach @ free.T, atol=1e-12)
    found = Showdown(own, other, strengths[0], strengths[1], deck).met(reach)
    live = free & (strengths[0] >= 0)[:, None] & (strengths[1] >= 0)
    np.testing.assert_allclose(found.all, reach @ live.T, atol=1e-12)
    np.testing.assert_allclose(found.weaker, reach @ (live & (strengths[0][:, None] > strengths[1])).T, atol=1e-12)
    np.testing.assert_allclose(
        found.not_stronger, reach @ (live & (strengths[0][:, None] >= strengths[1])).T, atol=1e-12
    )


def test_nothing_met_is_exactly_nothing() -> None:
    hands = Hands(weight=np.ones(1), cards=np.array([[0, 1]]), same=np.array([0]))
    assert met(hands, hands, np.array([[0.1]]), 52).tolist() == [[0.0]]
    assert met(hands, hands, np.array([[1 / 3]]), 52)[0, 0] == 0.0


def test_blockers_cause_no_cancellation() -> None:
    mine = Hands(weight=np.ones(1), cards=np.array([[0, 1]]), same=np.array([-1]))
    theirs = Hands(weight=np.ones(3), cards=np.array([[0, 2], [0, 3], [4, 5]]), same=np.array([-1, -1, -1]))
    assert met(mine, theirs, np.array([[0.3, 0.7, 1e-19]]), 52)[0, 0] == 1e-19

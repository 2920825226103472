"""Categories of hands: against the evaluator where the two must agree, and cases worked out by hand elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from regretless.cards.categories import DRAWS, MADE, hand_categories
from regretless.cards.deck import parse_board
from regretless.cards.evaluator import BLOCKED, category, hand_strengths
from regretless.cards.hands import hand_index

WHOLE = ("straight flush", "quads", "full house", "flush", "straight")  # wherever their cards are
NAMES = {"straight-flush": "straight flush", "full-house": "full house"}


def kinds(board: str, hand: str) -> tuple[str, str]:
    found, index = hand_categories(parse_board(board)), hand_index(*parse_board(hand))
    return MADE[found.made[index]].key, DRAWS[found.draw[index]].key


def test_strong_hands_are_those_of_the_evaluator() -> None:
    random = np.random.default_rng(5)
    for _ in range(60):
        board = tuple(int(card) for card in random.choice(52, 5, replace=False))
        made, strengths = hand_categories(board).made, hand_strengths(board)
        for hand in np.flatnonzero(strengths != BLOCKED):
            name = category(int(strengths[hand])).replace("four of a kind", "quads")
            key = MADE[made[hand]].key
            if name in WHOLE or NAMES.get(key, key) in WHOLE:
                assert NAMES.get(key, key) == name, (board, hand)


def test_better_categories_are_stronger_on_average() -> None:
    board = parse_board("Ks 9h 4h 2c 7d")
    made, strengths = hand_categories(board).made, hand_strengths(board)
    alive = strengths != BLOCKED
    means = [strengths[alive & (made == place)].mean() for place in np.unique(made[alive])]
    order = [MADE[place].key for place in np.unique(made[alive])]
    assert order[0] == "set"
    ranked = [mean for mean, key in zip(means, order, strict=True) if key != "pocket-pair"]
    assert ranked == sorted(ranked, reverse=True)


@pytest.mark.parametrize(
    ("board", "hand", "made", "draw"),
    [
        ("Ks 9h 4h", "Kh Qh", "top-pair", "flush-draw"),
        ("Ks 9h 4h", "Qh Jh", "nothing", "combo-draw"),
        ("Ks 9h 4h", "Qd Td", "nothing", "gutshot"),
        ("Ks 9h 4h", "Ac Ad", "overpair", "no-draw"),
        ("Ks 9h 4h", "Tc Td", "pocket-pair", "no-draw"),
        ("Ks 9h 4h", "9c 9d", "set", "no-draw"),
        ("Ks 9h 4h", "9c 4c", "two-pair", "no-draw"),
        ("Ks 9h 4h", "9c 3c", "second-pair", "no-draw"),
        ("Ks 9h 4h", "4c 3c", "low-pair", "no-draw"),
        ("Ks 9h 4h", "As Qs", "ace-high", "backdoor-flush"),
        ("Ks Kh 4h", "Kc Qd", "trips", "no-draw"),
        ("Ks Kh 4h", "4c Qd", "second-pair", "no-draw"),
        ("Ks Kh 4h", "Ac Qd", "ace-high", "no-draw"),
        ("5s 6h 7d", "8h 8c", "overpair", "open-ended"),
        ("5s 6h 7d", "9h 4c", "nothing", "open-ended"),  # a 3 or an 8: two gaps
        ("2h 3h 4h 5h", "Kd Qd", "king-high", "no-draw"),  # the board's own draws are nobody's
        ("2h 3h 4h 5h", "Ad Kd", "straight", "no-draw"),
        ("Ah Kh Qd Jc", "9s 2s", "nothing", "no-draw"),  # a ten would give everyone the straight
        ("Ks 9h 4h 2c 7d", "Ah 8h", "ace-high", "no-draw"),  # no card to come
        ("2h 3h 4h 5h Th", "Ad Kd", "flush", "no-draw"),
    ],
)
def test_players_would_agree(board: str, hand: str, made: str, draw: str) -> None:
    assert kinds(board, hand) == (made, draw)

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from phevaluator import evaluate_cards

from regretless.cards.deck import parse_board
from regretless.cards.evaluator import BLOCKED, STRENGTH_COUNT, category, evaluate, hand_strengths
from regretless.cards.hands import HAND_CARDS
from regretless.cards.strength_tables import CATEGORY_CLASSES
from regretless.errors import InvalidOption


def deals(count, size, seed):
    """Rows of `size` different cards."""
    random = np.random.default_rng(seed)
    drawn = random.integers(52, size=(count * 3, size), dtype=np.uint8)
    ordered = np.sort(drawn, axis=1)
    different = drawn[(ordered[:, 1:] != ordered[:, :-1]).all(axis=1)]
    assert len(different) >= count
    return different[:count]


def second_opinion(rows):
    """phevaluator counts from 1 for a royal flush to 7,462 for 7-5-4-3-2."""
    return np.array([STRENGTH_COUNT - evaluate_cards(*row) for row in rows.tolist()])


def test_all_five_card_hands_fall_into_the_known_categories():
    hands = np.fromiter(combinations(range(52), 5), dtype=np.dtype((np.uint8, 5)), count=2_598_960)
    strengths = evaluate(hands)
    present, counts = np.unique(strengths, return_counts=True)
    assert present.tolist() == list(range(STRENGTH_COUNT))
    by_category = Counter()
    for strength, count in zip(present.tolist(), counts.tolist(), strict=True):
        by_category[category(strength)] += count
    assert by_category == {
        "high card": 1_302_540,
        "pair": 1_098_240,
        "two pair": 123_552,
        "three of a kind": 54_912,
        "straight": 10_200,
        "flush": 5_108,
        "full house": 3_744,
        "four of a kind": 624,
        "straight flush": 40,
    }
    assert Counter(category(strength) for strength in range(STRENGTH_COUNT)) == CATEGORY_CLASSES


@pytest.mark.parametrize(("size", "count"), [(5, 50_000), (6, 50_000), (7, 200_000)])
def test_random_hands_agree_with_another_evaluator(size, count):
    rows = deals(count, size, seed=size)
    np.testing.assert_array_equal(evaluate(rows), second_opinion(rows))


@pytest.mark.slow
def test_three_million_seven_card_hands_agree_with_another_evaluator():
    rows = deals(3_000_000, 7, seed=70)
    np.testing.assert_array_equal(evaluate(rows), second_opinion(rows))


def test_known_hands_are_in_order():
    weakest_first = [
        "7c5d4h3s2c",
        "AcKdQhJs9c",
        "2c2d3h4s5c",
        "3c3d2h2s4c",
        "2c2d2h3s4c",
        "Ac2d3h4s5c",
        "2c3d4h5s6c",
        "7c5c4c3c2c",
        "2c2d2h3s3c",
        "2c2d2h2s3c",
        "Ac2c3c4c5c",
        "AsKsQsJsTs",
    ]
    strengths = evaluate([parse_board(text) for text in weakest_first]).tolist()
    assert strengths == sorted(set(strengths))
    assert (strengths[0], strengths[-1]) == (0, STRENGTH_COUNT - 1)


def test_hands_on_boards_equal_seven_cards():
    boards = deals(20, 5, seed=5)
    strengths = hand_strengths(boards)
    for board, row in zip(boards, strengths, strict=True):
        blocked = np.isin(HAND_CARDS, board).any(axis=1)
        assert (row[blocked] == BLOCKED).all()
        seven = np.hstack([HAND_CARDS[~blocked], np.tile(board, ((~blocked).sum(), 1))])
        np.testing.assert_array_equal(row[~blocked], evaluate(seven))
    np.testing.assert_array_equal(hand_strengths(boards[0].tolist()), strengths[0])


def test_no_rows_give_no_strengths():
    assert evaluate(np.empty((0, 7), dtype=np.uint8)).shape == (0,)


@pytest.mark.parametrize(
    ("cards", "reason"),
    [
        ([[0, 1, 2, 3]], "must have shape"),
        ([0, 1, 2, 3, 4], "must have shape"),
        ([[0, 1, 2, 3, 52]], "52 is not a card"),
        ([[0, 1, 2, 3, -1]], "-1 is not a card"),
        ([[0.0, 1, 2, 3, 4]], "must hold integers"),
        ([[0, 1, 2, 3, 4], [7, 7, 7, 7, 7]], r"\(row 1\) repeats a card"),
    ],
)
def test_wrong_cards_are_refused(cards, reason):
    with pytest.raises(InvalidOption, match=reason):
        evaluate(cards)


@pytest.mark.parametrize(
    ("board", "reason"),
    [([0, 1, 2], "must have shape"), ([0, 1, 2, 3, 3], "repeats a card"), ([0, 1, 2, 3, 60], "is not a card")],
)
def test_wrong_boards_are_refused(board, reason):
    with pytest.raises(InvalidOption, match=reason):
        hand_strengths(board)


@pytest.mark.parametrize("strength", [-1, STRENGTH_COUNT])
def test_a_strength_out_of_range_has_no_category(strength):
    with pytest.raises(InvalidOption, match="must be from 0 to 7461"):
        category(strength)

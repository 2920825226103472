from math import comb

import numpy as np
import pytest

from regretless.cards.hands import HAND_CARDS, HAND_CLASS
from regretless.cards.isomorphism import CARD_MAPS, canonical_boards, canonical_situation, flop_index
from regretless.cards.situation_tables import SITUATION_COUNTS
from regretless.cards.situations import (
    NO_SITUATION,
    board_rows,
    first_situations,
    hand_entries,
    hand_situations,
    situation_at,
    situation_index,
)
from regretless.errors import InvalidOption

SIZES = [0, 3, 4, 5]


def deal(size: int, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random hands [count, 2] and boards [count, size]."""
    random = np.random.default_rng(seed)
    cards = random.permuted(np.tile(np.arange(52), (count, 1)), axis=1)[:, : 2 + size]
    return cards[:, :2], cards[:, 2:]


def multisets_of_suits(hand: int, board: int) -> int:
    """Number of situations, counted independently: multisets of what four suits hold, by cards of hand and board.

    A suit with h cards of the hand and b of the board can hold C(13, h) · C(13 − h, b) things. Kinds of suits are
    added one at a time, and m suits of a kind with n possibilities hold C(n + m − 1, m) multisets.
    """
    ways = {(0, 0, 0): 1}  # suits, cards of the hand, cards of the board -> multisets
    for h in range(hand + 1):
        for b in range(board + 1):
            held = comb(13, h) * comb(13 - h, b)
            after: dict[tuple[int, int, int], int] = {}
            for (suits, hands, boards), count in ways.items():
                for more in range(5 - suits):
                    key = suits + more, hands + more * h, boards + more * b
                    if key[1] <= hand and key[2] <= board:
                        after[key] = after.get(key, 0) + count * comb(held + more - 1, more)
            ways = after
    return ways[4, hand, board]


@pytest.mark.parametrize("size", SIZES)
def test_there_are_as_many_indices_as_situations(size):
    assert SITUATION_COUNTS[size] == multisets_of_suits(2, size)
    assert first_situations(size)[-1] == SITUATION_COUNTS[size]
    assert len(first_situations(size)) == len(canonical_boards(size).cards) + 1


def test_the_formula_counts_boards_too():
    assert [multisets_of_suits(0, size) for size in (3, 4, 5)] == [1755, 16432, 134459]


@pytest.mark.parametrize("size", SIZES)
def test_indices_do_not_depend_on_suits_or_the_order_of_cards(size):
    hands, boards = deal(size, 20_000, seed=size)
    indices = situation_index(hands, boards)
    random = np.random.default_rng(100 + size)
    renaming = CARD_MAPS[random.integers(24, size=len(hands))]
    other_hands = np.take_along_axis(renaming, random.permuted(hands, axis=1), axis=1)
    other_boards = np.take_along_axis(renaming, random.permuted(boards, axis=1), axis=1)
    np.testing.assert_array_equal(situation_index(other_hands, other_boards), indices)


@pytest.mark.parametrize("size", SIZES)
def test_an_index_leads_back_to_the_canonical_situation(size):
    hands, boards = deal(size, 500, seed=10 + size)
    found_hands, found_boards = situation_at(situation_index(hands, boards), size)
    for row in range(len(hands)):
        canonical = canonical_situation(hands[row], boards[row])
        assert (tuple(found_hands[row]), tuple(found_boards[row])) == canonical


@pytest.mark.parametrize("size", [0, 3])
def test_every_index_has_a_situation_of_its_own(size):
    every = np.arange(SITUATION_COUNTS[size])
    np.testing.assert_array_equal(situation_index(*situation_at(every, size)), every)


@pytest.mark.slow
@pytest.mark.parametrize("size", [4, 5])
def test_every_index_of_later_streets_has_a_situation_of_its_own(size):
    for start in range(0, SITUATION_COUNTS[size], 10**7):
        every = np.arange(start, min(start + 10**7, SITUATION_COUNTS[size]))
        np.testing.assert_array_equal(situation_index(*situation_at(every, size)), every)


@pytest.mark.parametrize("size", [4, 5])
def test_the_last_indices_and_random_ones_have_situations_of_their_own(size):
    random = np.random.default_rng(size)
    every = np.append(random.integers(SITUATION_COUNTS[size], size=200_000), SITUATION_COUNTS[size] - 1)
    np.testing.assert_array_equal(situation_index(*situation_at(every, size)), every)


@pytest.mark.parametrize("size", SIZES)
def test_all_hands_of_a_board_at_once(size):
    _, boards = deal(size, 40, seed=20 + size)
    indices = hand_situations(boards)
    for row, board in enumerate(boards):
        live = ~np.isin(HAND_CARDS, board).any(axis=1)
        np.testing.assert_array_equal(indices[row] == NO_SITUATION, ~live)
        hands = HAND_CARDS[live]
        expected = situation_index(hands, np.tile(board, (len(hands), 1)))
        np.testing.assert_array_equal(indices[row, live], expected)


@pytest.mark.parametrize("size", [3, 4, 5])
def test_the_situations_of_a_board_are_adjacent(size):
    boards = canonical_boards(size).cards
    rows = np.random.default_rng(size).choice(len(boards), 200)
    np.testing.assert_array_equal(board_rows(boards[rows]), rows)
    first = first_situations(size)
    for row, indices in zip(rows, hand_situations(boards[rows]), strict=True):
        assert sorted(set(indices.tolist()) - {NO_SITUATION}) == list(range(first[row], first[row + 1]))


def test_rows_of_flops_are_their_known_numbers():
    _, flops = deal(3, 100, seed=30)
    assert board_rows(flops).tolist() == [flop_index(flop) for flop in flops]


def test_before_the_flop_the_index_is_the_class():
    np.testing.assert_array_equal(hand_situations(np.empty((1, 0), dtype=int))[0], HAND_CLASS)


@pytest.mark.parametrize(
    ("hands", "boards", "reason"),
    [
        ([[0, 0]], [[1, 2, 3]], "(row 0) or its board repeats a card"),
        ([[0, 1]], [[1, 2, 3]], "(row 0) or its board repeats a card"),
        ([[0, 1]], [[4, 4, 5]], "(row 0) or its board repeats a card"),
        ([[0, 1]], [[4, 52, 5]], "is not a card"),
        ([[0, 1]], [[4, 5]], "must have shape"),
        ([[0, 1, 2]], [[4, 5, 6]], "must have shape [1, 2]"),
    ],
)
def test_impossible_deals_are_refused(hands, boards, reason):
    with pytest.raises(InvalidOption, match=reason.replace("(", r"\(").replace(")", r"\)").replace("[", r"\[")):
        situation_index(hands, boards)


@pytest.mark.parametrize("function", [hand_situations, board_rows])
def test_boards_that_repeat_a_card_are_refused(function):
    with pytest.raises(InvalidOption, match=r"boards: \[7, 8, 7\] \(row 1\) repeats a card"):
        function([[1, 2, 3], [7, 8, 7]])


@pytest.mark.parametrize("index", [-1, 1_286_792, 0.5])
def test_impossible_indices_are_refused(index):
    with pytest.raises(InvalidOption, match="indices"):
        situation_at([index], 3)


def test_nothing_to_number():
    assert situation_index(np.empty((0, 2), dtype=int), np.empty((0, 5), dtype=int)).shape == (0,)
    assert hand_situations(np.empty((0, 4), dtype=int)).shape == (0, 1326)


def test_entries_of_a_table():
    _, boards = deal(3, 20, seed=40)
    table = np.random.default_rng(41).integers(50_000, size=SITUATION_COUNTS[3]).astype(np.uint16)
    indices = hand_situations(boards)
    expected = np.where(indices >= 0, table[indices], 65_000)
    np.testing.assert_array_equal(hand_entries(boards, table, missing=65_000), expected)
    shifted = hand_entries(boards, np.append(table[:5], table), missing=65_000, shifts=np.full(20, 5))
    np.testing.assert_array_equal(shifted, expected)
    with pytest.raises(InvalidOption, match=r"must have 1,286,792, one for each situation on boards of 3 cards"):
        hand_entries(boards, table[:-1], missing=0)

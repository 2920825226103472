from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.cards.hands import HAND_CARDS
from regretless.cards.isomorphism import (
    CARD_MAPS,
    SUIT_PERMUTATIONS,
    canonical_boards,
    canonical_situation,
    distinct_boards,
    flop_index,
    hand_maps,
    unchanged_by,
)
from regretless.errors import InvalidOption

boards = st.lists(st.integers(0, 51), unique=True, min_size=3, max_size=5)


def count_situations(*sizes: int) -> int:
    """Number of isomorphism classes of deals with these numbers of cards in each place, by Burnside's lemma.

    The mean, over the renamings, of the number of deals that each leaves unchanged.
    """
    total = sum(unchanged_deals(permutation, sizes) for permutation in SUIT_PERMUTATIONS.tolist())
    return total // 24


def unchanged_deals(permutation: list[int], sizes: tuple[int, ...]) -> int:
    """Deals that a renaming leaves unchanged: each place must contain whole cycles of cards."""
    cycles = []
    seen: set[int] = set()
    for suit in range(4):
        length = 0
        while suit not in seen:
            seen.add(suit)
            suit = permutation[suit]
            length += 1
        if length:
            cycles.append(length)
    ways = {sizes: 1}  # cards still to deal in each place -> ways so far
    for length in cycles * 13:
        dealt = dict(ways)
        for left, count in ways.items():
            for place, room in enumerate(left):
                if room >= length:
                    after = (*left[:place], room - length, *left[place + 1 :])
                    dealt[after] = dealt.get(after, 0) + count
        ways = dealt
    return ways.get((0,) * len(sizes), 0)


@pytest.mark.parametrize(
    ("sizes", "kinds"),
    [
        ((2,), 169),
        ((3,), 1755),
        ((4,), 16_432),
        ((5,), 134_459),
        ((2, 3), 1_286_792),
        ((2, 4), 13_960_050),
        ((2, 5), 123_156_254),
        ((2, 3, 1), 55_190_538),
        ((2, 3, 1, 1), 2_428_287_420),
    ],
)
def test_counts_by_burnside(sizes, kinds):
    assert count_situations(*sizes) == kinds


def situations(size):
    """Isomorphism classes of hand and board, board by canonical board: hands up to the board's group."""
    cards = canonical_boards(size).cards
    stays = hand_maps() == np.arange(1326)  # [24, 1326] hands that a renaming leaves unchanged
    total = 0
    for board in cards:
        free = ~np.isin(HAND_CARDS, board).any(axis=1)
        group = unchanged_by(board)
        total += int((stays[group] & free).sum()) // len(group)
    return total


def test_flop_situations_by_enumeration():
    assert situations(3) == 1_286_792


@pytest.mark.slow
@pytest.mark.parametrize(("size", "kinds"), [(4, 13_960_050), (5, 123_156_254)])
def test_turn_and_river_situations_by_enumeration(size, kinds):
    assert situations(size) == kinds


def test_flop_situations_by_canonical_form():
    """Every hand with some flops: the number of canonical forms follows from the flop's group."""
    flops = canonical_boards(3).cards[::90].tolist()
    for flop in flops:
        hands = [pair for pair in combinations(range(52), 2) if not set(pair) & set(flop)]
        forms = {canonical_situation(pair, flop) for pair in hands}
        assert {board for _, board in forms} == {tuple(flop)}
        maps, group = hand_maps(), unchanged_by(flop)
        orbits = {
            frozenset(maps[group, hand].tolist()) for hand in range(1326) if not set(HAND_CARDS[hand]) & set(flop)
        }
        assert len(forms) == len(orbits)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5])
def test_canonical_boards_represent_all_boards(size):
    found = canonical_boards(size)
    assert found.multiplicity.sum() == comb(52, size)
    assert len(found.cards) == count_situations(size)


def test_every_flop_has_a_number_and_multiplicities_are_right():
    found = canonical_boards(3)
    numbers = [flop_index(flop) for flop in combinations(range(52), 3)]
    np.testing.assert_array_equal(np.bincount(numbers), found.multiplicity)
    assert [flop_index(flop) for flop in found.cards.tolist()] == list(range(1755))


@given(boards, st.integers(0, 23))
def test_renaming_the_suits_does_not_change_the_canonical_form(board, permutation):
    renamed = CARD_MAPS[permutation, board].tolist()
    assert canonical_situation([], board) == canonical_situation([], renamed)
    assert canonical_situation(board[:2], board[2:]) == canonical_situation(renamed[:2], renamed[2:])


@given(boards)
def test_the_group_of_a_board_is_what_leaves_it_unchanged(board):
    group = set(unchanged_by(board).tolist())
    assert 0 in group
    for row in range(24):
        assert (set(CARD_MAPS[row, board].tolist()) == set(board)) == (row in group)


def test_hand_maps_rename_both_cards():
    maps = hand_maps()
    assert SUIT_PERMUTATIONS[0].tolist() == [0, 1, 2, 3]
    for row in range(24):
        for hand in range(0, 1326, 37):
            assert set(HAND_CARDS[maps[row, hand]].tolist()) == set(CARD_MAPS[row, HAND_CARDS[hand]].tolist())


def test_runouts_are_merged_only_by_the_given_group():
    flop = (43, 38, 2)  # Qs Jh 2h: clubs and diamonds are interchangeable
    every = distinct_boards(2, dead=flop, group=np.array([0]))
    merged = distinct_boards(2, dead=flop, group=unchanged_by(flop))
    assert len(every.cards) == comb(49, 2) == merged.multiplicity.sum()
    assert len(merged.cards) == (comb(49, 2) + comb(23, 2) + 13) // 2  # no club or diamond, or a pair of both


def test_invalid_arguments_are_refused():
    with pytest.raises(InvalidOption, match="from 0 to 5"):
        canonical_boards(6)
    with pytest.raises(InvalidOption, match="three different cards"):
        flop_index([1, 1, 2])

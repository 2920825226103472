from collections import Counter

import numpy as np
import pytest

from regretless.cards.hands import (
    CLASS_NAMES,
    HAND_CARDS,
    HAND_CLASS,
    HAND_COUNT,
    hand_class,
    hand_index,
    hand_text,
)
from regretless.errors import InvalidOption


def test_hand_indices_are_consecutive():
    assert HAND_CARDS.shape == (HAND_COUNT, 2)
    assert [hand_index(int(low), int(high)) for low, high in HAND_CARDS] == list(range(HAND_COUNT))
    assert [hand_index(int(high), int(low)) for low, high in HAND_CARDS] == list(range(HAND_COUNT))
    assert (HAND_CARDS[:, 0] < HAND_CARDS[:, 1]).all()


def test_classes_have_6_4_and_12_hands():
    sizes = Counter(hand_class(hand) for hand in range(HAND_COUNT))
    assert len(sizes) == 169
    assert all(size == {"s": 4, "o": 12}.get(name[2:], 6) for name, size in sizes.items())


def test_the_grid_has_suited_hands_above_the_diagonal():
    grid = np.array(CLASS_NAMES).reshape(13, 13)
    assert (grid[0, 0], grid[0, 1], grid[1, 0], grid[12, 12], grid[11, 12]) == ("AA", "AKs", "AKo", "22", "32s")
    assert sorted(set(HAND_CLASS.tolist())) == list(range(169))


def test_text_puts_the_higher_card_first():
    assert hand_text(hand_index(46, 50)) == "AhKh"
    assert hand_text(0) == "2d2c"


def test_the_tables_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        HAND_CARDS[0, 0] = 1


def test_a_hand_needs_two_cards():
    with pytest.raises(InvalidOption, match="repeats a card"):
        hand_index(3, 3)

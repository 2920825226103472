import numpy as np
import pytest

from regretless.cards.hands import HAND_CLASS, hand_class
from regretless.cards.range_reader import read_range
from regretless.errors import InvalidText


def classes(text):
    """Names of the classes that a text fills, best first; fails when it fills one in part."""
    weights = read_range(text, "range")
    held = weights > 0
    for cell in set(HAND_CLASS[held].tolist()):
        assert held[cell == HAND_CLASS].all()
    return {hand_class(hand) for hand in np.flatnonzero(held)}


@pytest.mark.parametrize(
    ("text", "combos"),
    [
        ("", 0),
        ("100%", 1326),
        ("random", 1326),
        ("Any", 1326),
        ("22+", 78),
        ("77-55", 18),
        ("55-77", 18),
        ("76s+", 32),
        ("76o+", 96),
        ("76+", 128),
        ("A2s+", 48),
        ("A5s-A2s", 16),
        ("A2s-A5s", 16),
        ("A5-A2", 64),
        ("JTs-65s", 24),
        ("KQ", 16),
        ("AhKh", 1),
        ("AKo:0.5", 6),
        ("100%:0.25", 331.5),
        ("AK:.5", 8),
        ("AK:1.", 16),
        ("AK:0", 0),
    ],
)
def test_number_of_combos(text, combos):
    assert read_range(text, "range").sum() == combos


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("76s+", "76s 87s 98s T9s JTs QJs KQs AKs"),
        ("K9s+", "K9s KTs KJs KQs"),
        ("86s+", "86s 87s"),
        ("AKs+", "AKs"),
        ("QQ+", "QQ KK AA"),
        ("JTs-87s", "JTs T9s 98s 87s"),
        ("J8o-T7o", "J8o T7o"),
        ("AJ-AT", "AJs AJo ATs ATo"),
    ],
)
def test_runs(text, expected):
    assert classes(text) == set(expected.split())


@pytest.mark.parametrize(
    "text", ["AA,KK", "aa kk", " AA ,, KK, ", "AA\nKK", "KK - AA", "AA : 1, KK:1.0", "kk-aa", "KK+", "AcAd KK AA"]
)
def test_spaces_commas_and_case_are_forgiven(text):
    np.testing.assert_array_equal(read_range(text, "range"), read_range("KK+", "range"))


def test_case_does_not_matter_and_neither_does_the_order_of_cards():
    np.testing.assert_array_equal(read_range("kaS, KHAH:0.5", "range"), read_range("AKs,AhKh:0.5", "range"))


def test_a_later_term_overrides_an_earlier_one():
    assert read_range("100%, 72o:0", "range").sum() == 1326 - 12
    assert read_range("AKs, AhKh:0.5", "range").sum() == 3.5
    assert read_range("AhKh:0.5, AKs", "range").sum() == 4


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("AKx", 3, "'x' is neither s, o nor a suit"),
        ("22+, AKx", 8, "'x' is neither s, o nor a suit"),
        ("AhKx", 4, "'x' is not a suit (cdhs)"),
        ("AhK", 4, "the second card has no suit"),
        ("AhAh", 3, "Ah appears twice"),
        ("A", 2, "the text ends where a rank is needed"),
        ("AKs, 1Ks", 6, "'1' is not a rank (23456789TJQKA)"),
        ("50%", 1, "'50%' does not say which hands: only 100% does"),
        ("77s", 3, "a pair has no 's': its two suits always differ"),
        ("AK:1.5", 4, "a weight is a number from 0 to 1"),
        ("AK:x", 4, "a weight is a number from 0 to 1"),
        ("AK:-1", 4, "a weight is a number from 0 to 1"),
        ("AK:", 4, "a weight is a number from 0 to 1"),
        ("AK:50%", 4, "a weight is a number from 0 to 1"),
        ("AK:0.5%", 7, "'%' does not belong here: a comma or a space ends a term"),
        ("AKs-AQo", 5, "both ends of a run need the same ending (s, o or none)"),
        ("A5s-K2s", 5, "a run joins two pairs, two hands with one high card, or two hands with one gap"),
        ("AA-AK", 4, "a run joins two pairs, two hands with one high card, or two hands with one gap"),
        ("22+KK", 4, "'K' does not belong here: a comma or a space ends a term"),
        ("AK-", 4, "the text ends where a rank is needed"),
        ("22++", 4, "'+' does not belong here: a comma or a space ends a term"),
    ],
)
def test_wrong_text_says_where_and_why(text, position, reason):
    with pytest.raises(InvalidText) as error:
        read_range(text, "oop.range")
    assert str(error.value) == f"oop.range: {text!r} at position {position}: {reason}"
    assert error.value.position == position

import contextlib
import re
import time
import warnings

import numpy as np
import pytest

from regretless.cards.hands import HAND_CLASS, hand_class, hand_index
from regretless.cards.range_reader import MAX_TEXT_LENGTH, read_range
from regretless.errors import InvalidText, OverlappingTerms

WEIGHT = "a weight is a number from 0 to 1, or a percentage from 0% to 100%"


def classes(text):
    """Names of the classes that a text covers, best first; fails if it covers one in part."""
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
        ("AA:50%", 3),
        ("AA:100%", 6),
        ("AK:12.5%", 2),
        ("AK:1e-2", 0.16),
        ("A♠K♠", 1),
        ("A♤K♡, a♢k♧", 2),
        ("A♠\ufe0fK♥\ufe0f:50%", 0.5),
        ("AXs", 48),
        ("axS", 48),
        ("AX", 192),
        ("Kxo:0.5", 66),
        ("3X", 16),
        ("[50.0]AA,KK[/50.0]", 6),
        ("[50.0]AA,KK[/50.0],QQ,[25]AKs, AQs[/25.0]", 14),
        ("[12.5] AhKh [/12.5]", 0.125),
        ("AA[50]KK[/50]QQ", 15),
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
def test_spaces_commas_and_case_do_not_matter(text):
    np.testing.assert_array_equal(read_range(text, "range"), read_range("KK+", "range"))


def test_neither_case_nor_the_order_of_cards_matters():
    np.testing.assert_array_equal(read_range("kaS, QHAH:0.5", "range"), read_range("AKs,AhQh:0.5", "range"))


@pytest.mark.parametrize(
    ("text", "combos", "hands"),
    [
        ("AKs, AhKh:0.5", 3.5, "AhKh"),
        ("AhKh:0.5, AKs", 4, "AhKh"),
        ("QQ+, [50]KK+,AK[/50]", 18 - 6 + 8, "KK+"),
        ("100%:0.5, 22+", 0.5 * (1326 - 78) + 78, "22+"),
        ("72o:0, 100%", 1326, "72o"),
    ],
)
def test_where_terms_overlap_the_later_one_wins_and_a_warning_names_the_hands(text, combos, hands):
    message = rf"^oop\.range: several terms give {re.escape(hands)} different weights; the later term wins$"
    with pytest.warns(OverlappingTerms, match=message):
        weights = read_range(text, "oop.range")
    assert weights.sum() == combos


@pytest.mark.parametrize("text", ["22+, AA", "AK, AKs, AhKh", "100%, 72o:0", "AK:0.5, AKs:50%"])
def test_overlaps_that_change_nothing_or_remove_hands_do_not_warn(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_range(text, "range")


def test_a_warning_stays_short():
    text = ",".join(f"{a}{b}s:0.{i + 1}" for i, (a, b) in enumerate(["A9", "K7", "Q5", "J8", "T4", "94", "83"] * 2))
    with pytest.warns(OverlappingTerms) as caught:
        read_range("100%, " + text, "range")
    assert len(str(caught[0].message)) < 160


def test_1326_weights_are_in_piosolver_order():
    # Its documentation of show_hand_order begins 2d2c 2h2c 2h2d; its output continues 2s2c 2s2d 2s2h 3c2c 3c2d.
    order = ["2d2c", "2h2c", "2h2d", "2s2c", "2s2d", "2s2h", "3c2c", "3c2d", "3c2h", "3c2s", "3d2c", "3d2d", "3d2h"]
    order += ["3d2s", "3d3c", "3h2c"]
    numbers = [place / 100 for place in range(1, 17)] + [0] * 1309 + [1]
    for separator in (" ", ",", ", ", "\n"):
        weights = read_range(separator.join(map(str, numbers)), "range")
        for place, hand in enumerate(order):
            assert weights[np.flatnonzero(read_range(hand, "range"))] == (place + 1) / 100
        assert weights[hand_index(51, 50)] == 1  # AsAh is last
        assert weights.sum() == pytest.approx(1.36 + 1)


def test_percentages_are_exact():
    assert read_range("AA:33.3%", "range").max() == 0.333
    assert read_range("[7.7]AA[/7.70]", "range").max() == 0.077


@pytest.mark.parametrize("text", ["AA," * (MAX_TEXT_LENGTH // 3), "[50]AA[/50]" * 9000, "1 " * (MAX_TEXT_LENGTH // 2)])
def test_the_longest_text_is_read_quickly(text):
    began = time.process_time()
    with contextlib.suppress(InvalidText):
        read_range(text, "range")
    assert time.process_time() - began < 10


def test_a_longer_text_is_refused_at_once():
    with pytest.raises(InvalidText, match="has 1,000,000 characters; a range has at most 100,000") as error:
        read_range("A" * 1_000_000, "range")
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("AKx", 3, "'x' is neither s, o nor a suit"),
        ("22+, AKx", 8, "'x' is neither s, o nor a suit"),
        ("AhKx", 4, "'x' is not a suit (cdhs)"),
        ("AhK", 4, "the second card has no suit"),
        ("AhAh", 3, "Ah appears twice"),
        ("A", 2, "the text ends where a rank is expected"),
        ("AKs, 1Ks", 6, "'1' is not a rank (23456789TJQKA)"),
        ("50%", 1, "'50%' does not say which hands; the only percentage allowed is 100%"),
        ("77s", 3, "a pair has no 's': its two suits always differ"),
        ("AK:1.5", 4, WEIGHT + "; 1.5% is a percentage"),
        ("AK:x", 4, WEIGHT),
        ("AK:-1", 4, WEIGHT),
        ("AK:", 4, WEIGHT),
        ("AK:50", 4, WEIGHT + "; 50% is a percentage"),
        ("AK:101%", 4, WEIGHT),
        ("AK:0.5%%", 8, "unexpected '%': separate terms with a comma or a space"),
        ("AKs-AQo", 5, "both ends of a run need the same suffix (s, o or none)"),
        ("A5s-K2s", 5, "a run joins two pairs, two hands with the same high card, or two hands with the same gap"),
        ("AA-AK", 4, "a run joins two pairs, two hands with the same high card, or two hands with the same gap"),
        ("22+KK", 4, "unexpected 'K': separate terms with a comma or a space"),
        ("AK-", 4, "the text ends where a rank is expected"),
        ("22++", 4, "unexpected '+': separate terms with a comma or a space"),
        ("AKd", 3, "'d' is the suit of K, but A has none: give both cards a suit or neither"),
        ("AA, KQ♠", 7, "'♠' is the suit of Q, but K has none: give both cards a suit or neither"),
        ("10h9h", 1, "'1' is not a rank (23456789TJQKA); ten is T"),
        ("2X", 1, "there is no kicker below 2"),
        ("AXs+", 4, "X already stands for every kicker: '+' adds nothing"),
        ("AxKx", 3, "unexpected 'K': separate terms with a comma or a space"),
        ("[50]AA", 1, "[50] is never closed by [/50]"),
        ("[50]AA[/25]", 7, "[/25] does not close [50]"),
        ("AA[/25]", 3, "[/25] closes no bracket"),
        ("[50]AA,[25]KK[/25][/50]", 8, "[25] opens inside [50], which is not closed yet"),
        ("[50]AA:0.5[/50]", 7, "[50] already gives the weight"),
        ("[150]AA[/150]", 2, "a bracket contains a percentage from 0 to 100: [50.0]AA,KK[/50.0]"),
        ("[half]AA", 2, "a bracket contains a percentage from 0 to 100: [50.0]AA,KK[/50.0]"),
        ("[50 AA", 5, "the bracket is not closed: [50.0]AA,KK[/50.0]"),
        ("0 1 AA", 5, "'AA' is not a weight; text that begins with a number must be exactly 1,326 weights"),
        ("0.5 1", None, "has 2 numbers: write hands such as AKs, or all 1,326 weights"),
        ("5", None, "has 1 number: write hands such as AKs, or all 1,326 weights"),
    ],
)
def test_wrong_text_says_where_and_why(text, position, reason):
    with pytest.raises(InvalidText) as error:
        read_range(text, "oop.range")
    where = "" if position is None else f" at position {position}"
    assert str(error.value) == f"oop.range: {text!r}{where}: {reason}"
    assert error.value.position == position


def test_the_error_points_at_a_weight_above_1():
    with pytest.raises(InvalidText, match=r"a weight is a number from 0 to 1$") as error:
        read_range("0 " * 1325 + "1.5", "range")
    assert error.value.position == 2651

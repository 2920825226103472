import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regretless.cards.deck import parse_board
from regretless.cards.hands import HAND_CLASS, HAND_COUNT
from regretless.cards.ranges import Range
from regretless.errors import InvalidOption

some_weights = st.sampled_from([0.0, 1.0, 0.5, 0.25, 1 / 3]) | st.floats(0, 1)


@settings(max_examples=25)
@given(st.lists(some_weights, min_size=169, max_size=169))
def test_ranges_of_whole_classes_round_trip(class_weights):
    given_range = Range(np.array(class_weights)[HAND_CLASS])
    assert Range.parse(str(given_range)) == given_range


@settings(max_examples=20)
@given(st.sets(st.integers(0, 168)), st.sampled_from([1.0, 0.5]), st.lists(st.integers(0, HAND_COUNT - 1)))
def test_ranges_with_single_hands_round_trip(cells, weight, hands):
    weights = np.where(np.isin(HAND_CLASS, list(cells)), weight, 0.0)
    weights[hands] = 0.75
    assert Range.parse(str(Range(weights))) == Range(weights)


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_any_weights_round_trip(seed):
    given_range = Range(np.random.default_rng(seed).random(HAND_COUNT))
    assert Range.parse(str(given_range)) == given_range


@pytest.mark.parametrize("format", ["short", "gto+", "weights"])
def test_the_longest_text_of_a_range_can_be_read(format):
    tiny = np.random.default_rng(0).random(HAND_COUNT) * np.logspace(0, -300, HAND_COUNT)
    assert Range.parse(Range(tiny).to_text(format)) == Range(tiny)


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["gto+", "weights"]))
def test_other_formats_round_trip(seed, format):
    random = np.random.default_rng(seed)
    by_class = random.choice([0, 1, 0.5, 1 / 3, random.random(), 1e-7], size=169)[HAND_CLASS]
    weights = np.where(random.random(HAND_COUNT) < 0.05, random.random(HAND_COUNT), by_class)
    given_range = Range(weights)
    assert Range.parse(given_range.to_text(format)) == given_range


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("", ""),
        ("22+", "AA-22"),
        ("AK, AXs:0.5", "AKo,[50.0]AKs-A2s[/50.0]"),
        ("JTs-65s", "JTs,T9s,98s,87s,76s,65s"),
        ("AsAh, KK:7%", "AsAh,[7.0]KK[/7.0]"),
        ("72o:0.3333", "[33.33]72o[/33.33]"),
    ],
)
def test_texts_as_gto_plus_writes_them(text, written):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert Range.parse(text).to_text("gto+") == written


def test_an_unknown_format_is_named():
    with pytest.raises(InvalidOption, match=r"^format: 'pio' is not one of short, gto\+, weights$"):
        Range.parse("AA").to_text("pio")


def test_remove_drops_every_hand_with_a_dead_card():
    left = Range.parse("100%").remove(parse_board("Qs Jh 2h"))
    assert left.combos == 49 * 48 / 2
    assert Range.parse("AKs").remove(parse_board("As Ah")).combos == 2


@pytest.mark.filterwarnings("ignore::regretless.errors.OverlappingTerms")
def test_the_grid_is_the_mean_of_each_class():
    grid = Range.parse("AA:0.5, AKs, KAo:0.25, AhAs:1").grid()
    assert grid[0, 0] == pytest.approx((5 * 0.5 + 1) / 6)
    assert (grid[0, 1], grid[1, 0], grid[1, 1]) == (1, 0.25, 0)
    assert Range.parse("100%").grid().tolist() == [[1.0] * 13] * 13


def test_equal_ranges_hash_equal():
    assert {Range.parse("AKs,AKo"): 1}[Range.parse("AK")] == 1
    assert Range.parse("AK") != Range.parse("AKs")
    assert Range(-np.zeros(HAND_COUNT)) == Range.parse("")
    assert hash(Range(-np.zeros(HAND_COUNT))) == hash(Range.parse(""))


def test_repr_is_readable():
    assert repr(Range.parse("AKs, AKo")) == "Range.parse('AK')"


def test_weights_are_read_only():
    weights = np.ones(HAND_COUNT)
    held = Range(weights)
    weights[0] = 0
    assert held.weights[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        held.weights[0] = 0


@pytest.mark.parametrize("wrong", [-0.1, 1.5, np.nan, np.inf])
def test_weights_outside_0_to_1_are_refused(wrong):
    weights = np.zeros(HAND_COUNT)
    weights[-1] = wrong
    with pytest.raises(InvalidOption, match=r"of AsAh\) must be from 0 to 1"):
        Range(weights)


def test_weights_of_the_wrong_length_are_refused():
    with pytest.raises(InvalidOption, match="must have shape"):
        Range(np.zeros(169))

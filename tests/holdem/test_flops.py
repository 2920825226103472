from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from regretless.cards.deck import parse_board
from regretless.cards.isomorphism import SUIT_PERMUTATIONS, flop_index
from regretless.cards.ranges import Range
from regretless.errors import InvalidOption, InvalidText
from regretless.holdem.flops import ALL_FLOPS, all_flops, flops_of_field, read_flops, subset, subset_sizes, texture_of
from regretless.holdem.form.suits import suit_group

ALL = np.arange(len(SUIT_PERMUTATIONS))


def test_textures_count_as_the_rules_of_combinations_say() -> None:
    counts: dict[str, Counter[str]] = {"pairing": Counter(), "suits": Counter(), "texture": Counter()}
    for flop in all_flops():
        texture = texture_of(flop.cards)
        for name, counted in counts.items():
            counted[getattr(texture, name)] += flop.multiplicity
    assert counts["pairing"] == {"unpaired": 286 * 64, "paired": 13 * 6 * 48, "trips": 13 * 4}
    assert counts["suits"] == {"monotone": 4 * 286, "two-tone": 4 * 78 * 39, "rainbow": 4 * 13**3}
    assert counts["texture"]["paired two-tone"] == 13 * 6 * 12 * 2
    assert sum(counts["texture"].values()) == ALL_FLOPS


@pytest.mark.parametrize(
    ("flop", "connectedness"),
    [
        ("9s8h7d", "connected"), ("AsKhQd", "connected"), ("As3h2d", "connected"), ("9s7h5d", "gapped"),
        ("As5h4d", "gapped"), ("AsThJd", "gapped"), ("9s8h4d", "disconnected"), ("KsAh2d", "disconnected"),
        ("9s9h8d", "disconnected"),
    ],
)  # fmt: skip
def test_connectedness(flop: str, connectedness: str) -> None:
    assert texture_of(parse_board(flop)).connectedness == connectedness


def test_a_range_that_names_suits_leaves_more_classes() -> None:
    group = suit_group((), Range.parse("AhKh, QQ"), Range.parse("JJ"))
    flops = flops_of_field("all", group)
    assert len(flops) > 1755
    assert sum(flop.multiplicity for flop in flops) == ALL_FLOPS
    with pytest.raises(InvalidOption, match="needs ranges and locks that treat all suits alike"):
        flops_of_field("subset(25)", group)


def test_a_listed_flop_stands_for_its_class() -> None:
    (flop,) = flops_of_field(["2d Jd Qc"], ALL)
    assert (flop.text, flop.multiplicity, flop.weight) == ("QsJh2h", 12, 12.0)


def test_filters_divide_all_flops() -> None:
    parts = [
        flops_of_field(text, ALL) for text in ("paired or trips", "unpaired rainbow", "unpaired two-tone or monotone")
    ]
    assert sorted(flop.text for part in parts for flop in part) == sorted(flop.text for flop in all_flops())


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        ("pared", InvalidText, "did you mean paired"),
        ("PAIRD", InvalidText, "did you mean paired"),
        ("paired,", InvalidText, "a property is missing here"),
        ("paired unpaired", InvalidOption, "matches no flop"),
        (["QsJh"], InvalidText, r"flops\[0\]: 'QsJh': has 2 cards"),
        (["QsJh2h", "QcJd2d"], InvalidText, "is in the list already"),
        ([], InvalidOption, "is empty"),
        ([5], InvalidOption, "must be a text"),
        (5, InvalidOption, "must be"),
        ("subset(26)", InvalidOption, "is not one of the subsets: 25, 49, 95, 184"),
    ],
)
def test_mistakes_are_named(given: object, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        flops_of_field(given, ALL)


@pytest.mark.parametrize("size", [25, 49, 95, 184])
def test_subsets_are_classes_with_positive_weights_and_the_textures_of_all_flops(size: int) -> None:
    weights = subset(size)
    assert subset_sizes() == (25, 49, 95, 184)
    assert len({flop_index(parse_board(name)) for name in weights}) == size
    assert min(weights.values()) > 0
    assert sum(weights.values()) == pytest.approx(ALL_FLOPS, abs=0.1)
    for name, share in (("paired", 3744), ("monotone", 1144), ("rainbow", 8788), ("A-high", 4804)):
        flops = [flop for flop in weights if name in texture_of(parse_board(flop)).words()]
        assert sum(weights[flop] for flop in flops) / ALL_FLOPS == pytest.approx(share / ALL_FLOPS, abs=0.03), name


@pytest.mark.parametrize(
    ("option", "count"),
    [("all", 1755), ("subset(49)", 49), ("49", 49), (49, 49), ("AcAdAh, 7s6s5s", 2), (["Qs Jh 2h"], 1)],
)
def test_the_flops_of_an_option_weigh_as_much_as_all(option: str | int | list[str], count: int) -> None:
    flops = read_flops(option)
    assert len(flops) == count
    assert sum(flop.weight for flop in flops) == pytest.approx(ALL_FLOPS)


def test_flops_of_an_option_are_weighted_by_how_many_they_stand_for() -> None:
    trips, monotone = read_flops("AcAdAh, 7s6s5s")
    assert (trips.multiplicity, monotone.multiplicity) == (4, 4)
    paired = read_flops("paired two-tone")
    assert {flop.weight / flop.multiplicity for flop in paired} == {
        ALL_FLOPS / sum(flop.multiplicity for flop in paired)
    }

from __future__ import annotations

import pytest

from regretless.errors import InvalidText
from regretless.holdem.spots.sizes import Decision, Geometric, parse_sizes, sizes_text

AT = Decision(pot=200, bet_faced=50, stack=850, raises=0, streets=2)  # facing 50 into 100
FIRST = Decision(pot=200, bet_faced=0, stack=900, raises=0, streets=2)


@pytest.mark.parametrize(
    ("text", "amount"), [("60%", 170), ("2.5x", 125), ("100c", 150), ("a", 900), ("1e", 50 + 850), ("e100%", 250)]
)
def test_a_raise(text: str, amount: float) -> None:
    (size,) = parse_sizes(text, raises=True)
    assert size.amount(AT) == pytest.approx(amount)


@pytest.mark.parametrize(("text", "amount"), [("60%", 120), ("100c", 100), ("a", 900), ("e", 216.2277660), ("1e", 900)])
def test_a_bet(text: str, amount: float) -> None:
    (size,) = parse_sizes(text)
    assert size.amount(FIRST) == pytest.approx(amount)


def test_geometric_bets_put_the_stack_in() -> None:
    pot, stack = 100.0, 730.0
    (size,) = parse_sizes("e")
    for streets in (3, 2, 1):
        amount = size.amount(Decision(pot=pot, bet_faced=0, stack=stack, raises=0, streets=streets))
        pot, stack = pot + 2 * amount, stack - amount
    assert stack == pytest.approx(0)


@pytest.mark.parametrize(
    ("text", "raises", "streets"), [("e", 0, 3), ("e", 1, 2), ("e", 2, 1), ("e", 5, 1), ("5e", 2, 3), ("2e", 0, 2)]
)
def test_a_geometric_raise_counts_a_street_less_for_each_raise_made(text: str, raises: int, streets: int) -> None:
    # Facing an unraised bet, all three streets count; each raise uses one up, the opening bet does not.
    (size,) = parse_sizes(text, raises=True)
    at = Decision(pot=200, bet_faced=50, stack=850, raises=raises, streets=3)
    share = ((2 * 850 / 200 + 1) ** (1 / streets) - 1) / 2
    assert size.amount(at) == pytest.approx(50 + 200 * share)


@pytest.mark.parametrize(("text", "largest"), [("1e2.0%", 0.02), ("3e100%", 1.0), ("1e10%", 0.1), ("e2%", 0.02)])
def test_a_cap_that_cannot_be_an_exponent_is_read(text: str, largest: float) -> None:
    (size,) = parse_sizes(text)
    assert isinstance(size, Geometric)
    assert size.largest == largest


@pytest.mark.parametrize("text", ["", "33%", "33.3%, 2e150%, 12.5c, a", "7%,e,3e", "0.5%", "1e2.0%", "e2%", "3e0.5%"])
def test_texts_come_back(text: str) -> None:
    sizes = parse_sizes(text)
    assert parse_sizes(sizes_text(sizes)) == sizes


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("50%, 0.7", 6, "has no unit: 0.7% of the pot, 0.7c chips"),
        ("50%,,a", 5, "missing"),
        ("0%", 1, "above 0%"),
        ("2.5x", 1, "only a raise"),
        ("50%, half", 6, "not a size"),
        ("-20%", 1, "not a size"),
        ("0e", 1, "streets"),
        ("0c", 1, "above 0"),
        ("1e2%", 1, "'1e2%' could be 100% of the pot, or geometric over 1 street: write 100% or 1e2.0%"),
        ("50%, 3 E 01 %", 6, "could be 30% of the pot, or geometric over 3 streets: write 30% or 3e1.0%"),
        ("3e0%", 1, "could be 3% of the pot"),
        ("1e999%%", 1, "not a size"),
        ("9" * 5000 + "%", 1, "is more than 1,000,000,000,000"),
        ("9" * 5000 + "e", 1, "is more than 1,000,000,000,000"),
        ("9" * 5000, 1, "is more than 1,000,000,000,000"),
        ("%" * 9000, 1, "not a size"),
        ("50%," * 5000, None, "has 20,000 characters"),
    ],
)
def test_a_bad_size_is_named_with_its_place(text: str, position: int, reason: str) -> None:
    with pytest.raises(InvalidText, match=r"^bets\.river\.oop\.bet: ") as caught:
        parse_sizes(text, "bets.river.oop.bet")
    assert caught.value.position == position
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 250


def test_a_raise_by_less_than_a_call_is_refused() -> None:
    with pytest.raises(InvalidText, match="above 1x"):
        parse_sizes("1x", raises=True)


def test_a_number_alone_is_a_percentage_unless_it_could_be_something_else() -> None:
    assert parse_sizes("33, 125.5,1") == parse_sizes("33%, 125.5%, 1%")
    assert parse_sizes("10, 50", raises=True) == parse_sizes("10%, 50%", raises=True)
    for text, raises in (("0.5", False), ("3", True), ("9.9", True)):
        with pytest.raises(InvalidText, match="has no unit"):
            parse_sizes(text, raises=raises)

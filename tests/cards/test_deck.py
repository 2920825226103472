import pytest

from regretless.cards.deck import RANKS, SUITS, board_text, card_text, parse_board, parse_card
from regretless.errors import InvalidText


def test_every_card_round_trips():
    texts = [rank + suit for rank in RANKS for suit in SUITS]
    assert [parse_card(text) for text in texts] == list(range(52))
    assert [card_text(card) for card in range(52)] == texts


@pytest.mark.parametrize(
    "text", ["Qs Jh 2h", "QsJh2h", "Qs,Jh,2h", " qS jH  2H ", "Qs\nJh\t2h,", "Q♠J♥2♥", "q♤ j♡ 2♥\ufe0f"]
)
def test_spaces_in_a_board_are_optional(text):
    assert parse_board(text) == (43, 38, 2)
    assert board_text(parse_board(text)) == "Qs Jh 2h"


def test_empty_text_is_the_empty_board():
    assert parse_board("") == ()


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("Qs Jh Qs", 7, "Qs appears twice"),
        ("Qs Xh", 4, "'X' is not a rank (23456789TJQKA)"),
        ("10h", 1, "'1' is not a rank (23456789TJQKA); ten is T"),
        ("Qs J", 5, "J has no suit"),
        ("Qs Jx", 5, "'x' is not a suit (cdhs)"),
        ("2c2d2h2s3c3d", None, "has 6 cards; a board has at most 5"),
    ],
)
def test_a_wrong_board_says_where_and_why(text, position, reason):
    with pytest.raises(InvalidText) as error:
        parse_board(text, field="spot.board")
    assert error.value.position == position
    assert str(error.value).startswith("spot.board: ")
    assert str(error.value).endswith(": " + reason)


@pytest.mark.parametrize("text", ["", "QsJh"])
def test_parse_card_needs_exactly_one_card(text):
    with pytest.raises(InvalidText, match="must be one card"):
        parse_card(text)

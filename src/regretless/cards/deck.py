"""Cards as numbers and as text.

A card is a number 0..51 = 4 · rank + suit, with ranks 2, 3, … K, A and suits c, d, h, s:

    2c = 0   2d = 1   2h = 2   2s = 3   3c = 4   …   As = 51

As text, a card is its rank and suit: `Td` is the ten of diamonds. Parsing ignores case and also accepts suit symbols,
black or white (`T♦`, `T♢`); output is always in the form `Td`.
"""

from __future__ import annotations

from collections.abc import Iterable

from regretless.errors import InvalidText

__all__ = [
    "CARD_PATTERN", "DECK", "RANKS", "SUITS", "board_text", "card_text", "parse_board", "parse_card", "read_suit",
]  # fmt: skip

RANKS = "23456789TJQKA"
SUITS = "cdhs"
DECK = len(RANKS) * len(SUITS)  # cards
BOARD_LIMIT = 5  # a river board

_SUIT_SYMBOLS = "♣♦♥♠♧♢♡♤"  # black, then white, each in the order of SUITS
_SUIT_MARKS = SUITS + SUITS.upper() + _SUIT_SYMBOLS
_VARIANTS = "\ufe0e\ufe0f"  # may follow a symbol: text style, emoji style

# one card, as a regular expression
CARD_PATTERN = rf"[{RANKS}{RANKS.lower()}][{_SUIT_MARKS}][{_VARIANTS}]?"


def card_text(card: int) -> str:
    """Text of a card.

    >>> card_text(33), card_text(51)
    ('Td', 'As')
    """
    return RANKS[card // 4] + SUITS[card % 4]


def board_text(cards: Iterable[int]) -> str:
    """Text of several cards, in the order given.

    >>> board_text([43, 38, 2])
    'Qs Jh 2h'
    """
    return " ".join(card_text(card) for card in cards)


def read_suit(text: str, at: int) -> tuple[int, int]:
    """The suit at a position in a text and the position after it; suit -1 if there is none."""
    mark = _SUIT_MARKS.find(text[at]) if at < len(text) else -1
    if mark < 0:
        return -1, at
    has_variant = text[at + 1 : at + 2] in tuple(_VARIANTS)
    return mark % 4, at + 2 if has_variant else at + 1


def parse_card(text: str, field: str = "card") -> int:
    """Read one card; `field` names the text in errors."""
    cards = _read_cards(text, field)
    if len(cards) != 1:
        raise InvalidText(field, text, None, f"must be one card, not {len(cards)}")
    return cards[0]


def parse_board(text: str, field: str = "board") -> tuple[int, ...]:
    """Read up to five different cards, in the order given; spaces and commas between them are optional.

    >>> parse_board("Qs Jh 2h") == parse_board("QsJh2h") == (43, 38, 2)
    True
    >>> parse_board("Qs Jh Qs")
    Traceback (most recent call last):
    regretless.errors.InvalidText: board: 'Qs Jh Qs' at position 7: Qs appears twice
    """
    cards = _read_cards(text, field)
    if len(cards) > BOARD_LIMIT:
        raise InvalidText(field, text, None, f"has {len(cards)} cards; a board has at most {BOARD_LIMIT}")
    return cards


def _read_cards(text: str, field: str) -> tuple[int, ...]:
    cards: list[int] = []
    start = 0
    while start < len(text):
        if text[start] in ", \t\r\n":
            start += 1
            continue
        rank = RANKS.find(text[start].upper())
        if rank < 0:
            ten = "; ten is T" if text.startswith("10", start) else ""
            raise InvalidText(field, text, start + 1, f"{text[start]!r} is not a rank ({RANKS}){ten}")
        suit, end = read_suit(text, start + 1)
        if suit < 0:
            suit_letter = text[start + 1 : start + 2]
            reason = f"{suit_letter!r} is not a suit ({SUITS})" if suit_letter else f"{text[start]} has no suit"
            raise InvalidText(field, text, start + 2, reason)
        card = 4 * rank + suit
        if card in cards:
            raise InvalidText(field, text, start + 1, f"{card_text(card)} appears twice")
        cards.append(card)
        start = end
    return tuple(cards)

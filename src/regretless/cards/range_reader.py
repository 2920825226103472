"""Text of a range -> weights of the 1,326 hands.

    range  = [ term { separator term } ]          separator: commas, spaces, line ends, in any number
    term   = body [ ":" weight ]                  weight: a decimal number from 0 to 1; 1 where none is given
    body   = "100%" | "random" | "any"            all 1,326 hands
           | card card                            one hand: AhKh
           | class                                AKs suited (4 hands), AKo offsuit (12), AK both (16), 77 a pair (6)
           | class "+"                            a run to the top
           | class "-" class                      a run between two ends, in either order

A run with "+" goes as PioSOLVER and postflop-solver read it:

    22+     pairs rise                 22, 33, … AA
    76s+    neighbours rise together   76s, 87s, … AKs
    K9s+    else the kicker rises      K9s, KTs, KJs, KQs

A run with "-" needs two pairs (77-55), one high card (A5s-A2s) or one gap (JTs-65s: JTs, T9s, … 65s), and one ending.

Case does not matter. A later term overrides an earlier one: `100%, 72o:0` is everything but 72o.
"""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import RANKS, SUITS, card_text
from regretless.cards.hands import HAND_CLASS, HAND_COUNT, class_index, hand_index
from regretless.errors import InvalidText

__all__ = ["read_range"]

_EVERYTHING = re.compile(r"100%|random|any", re.IGNORECASE)
_SHARE = re.compile(r"\d+(\.\d*)?%")
_NUMBER = re.compile(r"\d+\.?\d*|\.\d+")
_SEPARATORS = re.compile(r"[,\s]*")
_SPACE = re.compile(r"\s*")


class _Class(NamedTuple):
    high: int  # rank 0..12
    low: int
    ending: str  # "s", "o", or "" for both and for pairs

    @property
    def gap(self) -> int:
        return self.high - self.low


def read_range(text: str, field: str) -> NDArray[np.float64]:
    """Weights [1326] of a range; `field` is the name an error gives to the text.

    >>> float(read_range("76s+", "range").sum()), float(read_range("AKo:0.5", "range").sum())
    (32.0, 6.0)
    >>> read_range("AKx", "oop.range")
    Traceback (most recent call last):
    regretless.errors.InvalidText: oop.range: 'AKx' at position 3: 'x' is neither s, o nor a suit
    """
    return _Reader(text, field).read()


class _Reader:
    """A cursor over the text."""

    def __init__(self, text: str, field: str) -> None:
        self.text = text
        self.field = field
        self.at = 0

    def read(self) -> NDArray[np.float64]:
        weights = np.zeros(HAND_COUNT)
        self.skip(_SEPARATORS)
        while self.at < len(self.text):
            hands = self.body()
            weights[hands] = self.weight()
            before = self.at
            self.skip(_SEPARATORS)
            if self.at == before and self.at < len(self.text):
                self.fail(self.at, f"{self.text[self.at]!r} does not belong here: a comma or a space ends a term")
        return weights

    def body(self) -> NDArray[np.int64]:
        """Hands of one term, without its weight."""
        if everything := _EVERYTHING.match(self.text, self.at):
            self.at = everything.end()
            return np.arange(HAND_COUNT)
        if share := _SHARE.match(self.text, self.at):
            self.fail(self.at, f"{share[0]!r} does not say which hands: only 100% does")
        if self.peek(1).lower() in SUITS and self.peek(1):
            return self.hand()
        first = self.hand_class()
        if self.peek() == "+":
            self.at += 1
            return _hands_of(_rising_run(first))
        after = self.at
        self.skip(_SPACE)
        if self.peek() != "-":
            self.at = after
            return _hands_of([first])
        self.at += 1
        self.skip(_SPACE)
        start = self.at
        return _hands_of(self.run_between(first, self.hand_class(), start))

    def hand(self) -> NDArray[np.int64]:
        """One hand of two given cards."""
        cards = []
        for _ in range(2):
            rank = self.rank()
            letter = self.peek()
            if not letter or letter.lower() not in SUITS:
                self.fail(self.at, f"{letter!r} is not a suit ({SUITS})" if letter else "the second card has no suit")
            self.at += 1
            cards.append(4 * rank + SUITS.index(letter.lower()))
        if cards[0] == cards[1]:
            self.fail(self.at - 2, f"{card_text(cards[0])} appears twice")
        return np.array([hand_index(*cards)])

    def hand_class(self) -> _Class:
        ranks = sorted([self.rank(), self.rank()])
        letter = self.peek()
        if letter and letter.lower() in "so":
            if ranks[0] == ranks[1]:
                self.fail(self.at, f"a pair has no {letter!r}: its two suits always differ")
            self.at += 1
            return _Class(ranks[1], ranks[0], letter.lower())
        if letter and letter not in "+-:,%" and not letter.isspace():
            self.fail(self.at, f"{letter!r} is neither s, o nor a suit")
        return _Class(ranks[1], ranks[0], "")

    def rank(self) -> int:
        letter = self.peek()
        if not letter:
            self.fail(self.at, "the text ends where a rank is needed")
        rank = RANKS.find(letter.upper())
        if rank < 0:
            self.fail(self.at, f"{letter!r} is not a rank ({RANKS})")
        self.at += 1
        return rank

    def weight(self) -> float:
        """The number after a colon, 1 without one."""
        after = self.at
        self.skip(_SPACE)
        if self.peek() != ":":
            self.at = after
            return 1.0
        self.at += 1
        self.skip(_SPACE)
        number = _NUMBER.match(self.text, self.at)
        if number is None or float(number.group()) > 1:
            self.fail(self.at, "a weight is a number from 0 to 1")
        self.at = number.end()
        return float(number.group())

    def run_between(self, first: _Class, last: _Class, start: int) -> list[_Class]:
        """Classes from one end to the other; `start` is where the second end begins, for errors."""
        high, low = max(first, last), min(first, last)
        if first.ending != last.ending:
            self.fail(start, "both ends of a run need the same ending (s, o or none)")
        if first.gap == last.gap:
            return [_Class(rank, rank - first.gap, first.ending) for rank in range(low.high, high.high + 1)]
        if first.high == last.high and 0 not in (first.gap, last.gap):
            return [_Class(high.high, rank, first.ending) for rank in range(low.low, high.low + 1)]
        self.fail(start, "a run joins two pairs, two hands with one high card, or two hands with one gap")

    def peek(self, ahead: int = 0) -> str:
        """The character at the cursor, or further on; empty at the end."""
        return self.text[self.at + ahead : self.at + ahead + 1]

    def skip(self, pattern: re.Pattern[str]) -> None:
        if found := pattern.match(self.text, self.at):
            self.at = found.end()

    def fail(self, at: int, reason: str) -> NoReturn:
        raise InvalidText(self.field, self.text, at + 1, reason)


def _rising_run(lowest: _Class) -> list[_Class]:
    if lowest.gap <= 1:
        return [_Class(rank, rank - lowest.gap, lowest.ending) for rank in range(lowest.high, 13)]
    return [_Class(lowest.high, rank, lowest.ending) for rank in range(lowest.low, lowest.high)]


def _hands_of(classes: list[_Class]) -> NDArray[np.int64]:
    cells = [
        class_index(hand.high, hand.low, suited)
        for hand in classes
        for suited in (True, False)
        if hand.ending != ("o" if suited else "s")
    ]
    return np.flatnonzero(np.isin(HAND_CLASS, cells))

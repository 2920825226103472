"""Text of a range -> weights of the 1,326 hands.

    range  = [ item { separator item } ]          separator: commas, spaces, line ends, in any number
           | number { separator number }          1,326 weights and nothing else, in PioSOLVER's order
    item   = term [ ":" weight ]                  the weight defaults to 1
           | "[" percent "]" terms "[/" percent "]"   as GTO+ and Flopzilla write it: [50.0]AA,KK[/50.0]
    weight = a number from 0 to 1, or a percentage: AA:0.5, AA:50%
    term   = "100%" | "random" | "any"            all 1,326 hands
           | card card                            one hand: AhKh, A♥K♥
           | class                                AKs suited (4 hands), AKo offsuit (12), AK both (16), 77 a pair (6)
           | rank "X" [ "s" | "o" ]               any lower kicker: AXs is A2s to AKs; KX is K2 to KQ
           | class "+"                            a run to the top
           | class "-" class                      a run between two ends, in either order

A run with "+" means what it means to PioSOLVER and postflop-solver:

    22+     pairs rise                     22, 33, … AA
    76s+    adjacent ranks rise together   76s, 87s, … AKs
    K9s+    otherwise the kicker rises     K9s, KTs, KJs, KQs

A run with "-" needs two pairs (77-55), one high card (A5s-A2s) or one gap (JTs-65s: JTs, T9s, … 65s), and one ending.

Case does not matter. Suits are letters or symbols, black or white (♠ or ♤).

Where terms overlap, the later one wins: `100%, 72o:0` is everything but 72o. If an overlap changes a weight, an
`OverlappingTerms` warning names the hands, unless the later weight is 0, which only makes sense as an exception.

PioSOLVER's order of hands is that of its `show_hand_order`: by higher card, then by lower card, with cards in the order
2c 2d 2h 2s 3c … As. It begins 2d2c 2h2c 2h2d 2s2c and ends AsAc AsAd AsAh.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import RANKS, SUITS, card_text, read_suit
from regretless.cards.hands import HAND_CLASS, HAND_COUNT, PIO_ORDER, class_index, hand_index
from regretless.cards.range_writer import write_range
from regretless.errors import InvalidText, OverlappingTerms

__all__ = ["MAX_TEXT_LENGTH", "read_range"]

MAX_TEXT_LENGTH = 100_000  # characters; three times what 1,326 hands with 17-digit weights need

_EVERYTHING = re.compile(r"100%|random|any", re.IGNORECASE)
_SHARE = re.compile(r"[0-9]+(\.[0-9]*)?%")
_NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(?:e([+-]?[0-9]{1,3}))?", re.IGNORECASE)
_WEIGHTS_FOLLOW = re.compile(rf"(?![2-9]{{2}}(?:[,\s]|$)){_NUMBER.pattern}(?=[,\s]|$)", re.IGNORECASE)
_WORD = re.compile(r"[^,\s]+")
_SEPARATORS = re.compile(r"[,\s]*")
_SPACE = re.compile(r"\s*")
_WEIGHT_REASON = "a weight is a number from 0 to 1, or a percentage from 0% to 100%"
_MAX_NAME_LENGTH = 60  # characters; overlapping hands listed in a warning


class _Class(NamedTuple):
    high: int  # rank 0..12
    low: int
    ending: str  # "s", "o", or "" for both and for pairs

    @property
    def gap(self) -> int:
        return self.high - self.low


class _WeightedGroup(NamedTuple):
    """An open GTO+ bracket."""

    text: str  # "[50.0]"
    weight: float
    position: int


def read_range(text: str, field: str, source: str = "", *, warn: bool = True) -> NDArray[np.float64]:
    """Weights [1326] of a range; `field` names the text in errors, `source` the file in warnings.

    >>> float(read_range("76s+", "range").sum()), float(read_range("[50.0]AKo,AXs[/50.0]", "range").sum())
    (32.0, 30.0)
    >>> read_range("AKx", "oop.range")
    Traceback (most recent call last):
    regretless.errors.InvalidText: oop.range: 'AKx' at position 3: 'x' is neither s, o nor a suit
    """
    if len(text) > MAX_TEXT_LENGTH:
        reason = f"has {len(text):,} characters; a range has at most {MAX_TEXT_LENGTH:,}"
        raise InvalidText(field, text, None, reason)
    reader = _Reader(text, field)
    weights = reader.read()
    if warn and reader.overlap.any():
        hands = write_range(reader.overlap.astype(np.float64))
        shown = hands if len(hands) <= _MAX_NAME_LENGTH else hands[: _MAX_NAME_LENGTH - 3] + "..."
        where = f"{source}: {field}" if source else field
        message = f"{where}: several terms give {shown} different weights; the later term wins"
        warnings.warn(OverlappingTerms(message), stacklevel=3)
    return weights


class _Reader:
    """A cursor over the text."""

    def __init__(self, text: str, field: str) -> None:
        self.text = text
        self.field = field
        self.position = 0
        self.group: _WeightedGroup | None = None
        self.weights = np.zeros(HAND_COUNT)
        self.named = np.zeros(HAND_COUNT, dtype=np.bool_)  # hands in the terms so far
        self.overlap = np.zeros(HAND_COUNT, dtype=np.bool_)  # hands whose weight a later term changed

    def read(self) -> NDArray[np.float64]:
        self.skip(_SEPARATORS)
        if _WEIGHTS_FOLLOW.match(self.text, self.position):
            return self.bare_weights()
        while self.position < len(self.text):
            if self.peek() == "[":
                self.bracket()
            else:
                hands = self.term()
                self.put(hands, self.weight())
            before = self.position
            self.skip(_SEPARATORS)
            if self.position == before and self.peek() not in ("", "[") and self.text[before - 1] != "]":
                self.fail(self.position, f"unexpected {self.peek()!r}: separate terms with a comma or a space")
        if self.group is not None:
            self.fail(self.group.position, f"{self.group.text} is never closed by [/{self.group.text[1:]}")
        return self.weights

    def put(self, hands: NDArray[np.int64], weight: float) -> None:
        if weight != 0:
            self.overlap[hands] |= self.named[hands] & (self.weights[hands] != weight)
        self.named[hands] = True
        self.weights[hands] = weight

    # --- weights -----------------------------------------------------------------------------------------------------

    def bare_weights(self) -> NDArray[np.float64]:
        """The weights of all hands, in PioSOLVER's order."""
        words = list(_WORD.finditer(self.text, self.position))
        numbers = [_NUMBER.fullmatch(word[0]) for word in words]
        weights = [-1.0 if number is None else _value(number) for number in numbers]
        if -1.0 in weights:
            word = words[weights.index(-1.0)]
            reason = "is not a weight; text that begins with a number must be exactly 1,326 weights"
            self.fail(word.start(), f"{_short(word[0])!r} {reason}")
        if len(weights) != HAND_COUNT:
            count = "1 number" if len(weights) == 1 else f"{len(weights):,} numbers"
            raise InvalidText(
                self.field, self.text, None, f"has {count}: write hands such as AKs, or all 1,326 weights"
            )
        if max(weights) > 1:
            self.fail(words[weights.index(max(weights))].start(), "a weight is a number from 0 to 1")
        self.weights[PIO_ORDER] = weights
        return self.weights

    def weight(self) -> float:
        """The weight after a colon, else that of the bracket, else 1."""
        after = self.position
        self.skip(_SPACE)
        if self.peek() != ":":
            self.position = after
            return 1.0 if self.group is None else self.group.weight
        if self.group is not None:
            self.fail(self.position, f"{self.group.text} already gives the weight")
        self.position += 1
        self.skip(_SPACE)
        start = self.position
        number = _NUMBER.match(self.text, self.position)
        if number is None:
            self.fail(start, _WEIGHT_REASON)
        self.position = number.end()
        percent = self.peek() == "%"
        self.position += percent
        weight = _value(number, percent)
        if weight > 1:
            meant = f"; {number[0]}% is a percentage" if not percent and weight <= 100 else ""
            self.fail(start, _WEIGHT_REASON + meant)
        return weight

    def bracket(self) -> None:
        """The opening or closing bracket of a group with one weight."""
        start = self.position
        self.position += 1
        closes = self.peek() == "/"
        self.position += closes
        self.skip(_SPACE)
        number = _NUMBER.match(self.text, self.position)
        weight = -1.0 if number is None else _value(number, percent=True)
        if number is None or weight > 1:
            self.fail(self.position, "a bracket contains a percentage from 0 to 100: [50.0]AA,KK[/50.0]")
        self.position = number.end()
        self.skip(_SPACE)
        if self.peek() != "]":
            self.fail(self.position, "the bracket is not closed: [50.0]AA,KK[/50.0]")
        self.position += 1
        text = _short(self.text[start : self.position])
        if closes and self.group is None:
            self.fail(start, f"{text} closes no bracket")
        if closes and self.group is not None and weight != self.group.weight:
            self.fail(start, f"{text} does not close {self.group.text}")
        if not closes and self.group is not None:
            self.fail(start, f"{text} opens inside {self.group.text}, which is not closed yet")
        self.group = None if closes else _WeightedGroup(text, weight, start)

    # --- hands -------------------------------------------------------------------------------------------------------

    def term(self) -> NDArray[np.int64]:
        """Hands of one term, without its weight."""
        if everything := _EVERYTHING.match(self.text, self.position):
            self.position = everything.end()
            return _hands_of(None)
        if share := _SHARE.match(self.text, self.position):
            self.fail(
                self.position, f"{_short(share[0])!r} does not say which hands; the only percentage allowed is 100%"
            )
        if read_suit(self.text, self.position + 1)[0] >= 0:
            return self.hand()
        if self.peek(1).upper() == "X":
            return _hands_of(self.any_kicker())
        first = self.hand_class()
        if self.peek() == "+":
            self.position += 1
            return _hands_of(_rising_run(first))
        after = self.position
        self.skip(_SPACE)
        if self.peek() != "-":
            self.position = after
            return _hands_of((first,))
        self.position += 1
        self.skip(_SPACE)
        start = self.position
        return _hands_of(self.run_between(first, self.hand_class(), start))

    def hand(self) -> NDArray[np.int64]:
        """One specific hand, such as AhKh."""
        cards = []
        start = self.position
        for _ in range(2):
            start = self.position
            rank = self.rank()
            suit, end = read_suit(self.text, self.position)
            if suit < 0:
                letter = self.peek()
                self.fail(
                    self.position, f"{letter!r} is not a suit ({SUITS})" if letter else "the second card has no suit"
                )
            self.position = end
            cards.append(4 * rank + suit)
        if cards[0] == cards[1]:
            self.fail(start, f"{card_text(cards[0])} appears twice")
        return np.array([hand_index(*cards)])

    def any_kicker(self) -> tuple[_Class, ...]:
        """Classes of `AX`, `AXs` and `AXo`."""
        start = self.position
        high = self.rank()
        self.position += 1
        ending = self.peek().lower()
        if ending not in ("s", "o"):
            ending = ""
        self.position += len(ending)
        if high == 0:
            self.fail(start, "there is no kicker below 2")
        if self.peek() in ("+", "-"):
            self.fail(self.position, f"X already stands for every kicker: {self.peek()!r} adds nothing")
        return tuple(_Class(high, low, ending) for low in range(high))

    def hand_class(self) -> _Class:
        start = self.position
        ranks = sorted([self.rank(), self.rank()])
        letter = self.peek()
        if letter and letter in "soSO":
            if ranks[0] == ranks[1]:
                self.fail(self.position, f"a pair has no {letter!r}: its two suits always differ")
            self.position += 1
            return _Class(ranks[1], ranks[0], letter.lower())
        if letter and read_suit(self.text, self.position)[0] >= 0:
            first, second = self.text[start], self.text[start + 1]
            self.fail(
                self.position,
                f"{letter!r} is the suit of {second}, but {first} has none: give both cards a suit or neither",
            )
        if letter and letter not in "+-:,%[" and not letter.isspace():
            self.fail(self.position, f"{letter!r} is neither s, o nor a suit")
        return _Class(ranks[1], ranks[0], "")

    def rank(self) -> int:
        letter = self.peek()
        if not letter:
            self.fail(self.position, "the text ends where a rank is expected")
        rank = RANKS.find(letter.upper())
        if rank < 0:
            ten = "; ten is T" if letter + self.peek(1) == "10" else ""
            self.fail(self.position, f"{letter!r} is not a rank ({RANKS}){ten}")
        self.position += 1
        return rank

    def run_between(self, first: _Class, last: _Class, start: int) -> tuple[_Class, ...]:
        """Classes from one end to the other; `start` is where the second end begins, for errors."""
        high, low = max(first, last), min(first, last)
        if first.ending != last.ending:
            self.fail(start, "both ends of a run need the same suffix (s, o or none)")
        if first.gap == last.gap:
            return tuple(_Class(rank, rank - first.gap, first.ending) for rank in range(low.high, high.high + 1))
        if first.high == last.high and 0 not in (first.gap, last.gap):
            return tuple(_Class(high.high, rank, first.ending) for rank in range(low.low, high.low + 1))
        self.fail(start, "a run joins two pairs, two hands with the same high card, or two hands with the same gap")

    # --- the cursor --------------------------------------------------------------------------------------------------

    def peek(self, ahead: int = 0) -> str:
        """The character at the cursor, or `ahead` of it; empty past the end."""
        return self.text[self.position + ahead : self.position + ahead + 1]

    def skip(self, pattern: re.Pattern[str]) -> None:
        if match := pattern.match(self.text, self.position):
            self.position = match.end()

    def fail(self, position: int, reason: str) -> NoReturn:
        raise InvalidText(self.field, self.text, position + 1, reason)


def _value(number: re.Match[str], percent: bool = False) -> float:
    """The number as typed; for a percentage the decimal point moves in the text, so that 33.3% is exactly 0.333."""
    return float(f"{number[1]}e{int(number[2] or 0) - 2 * percent}")


def _short(text: str) -> str:
    return text if len(text) <= 20 else text[:17] + "..."


def _rising_run(lowest: _Class) -> tuple[_Class, ...]:
    if lowest.gap <= 1:
        return tuple(_Class(rank, rank - lowest.gap, lowest.ending) for rank in range(lowest.high, 13))
    return tuple(_Class(lowest.high, rank, lowest.ending) for rank in range(lowest.low, lowest.high))


@lru_cache(maxsize=1024)
def _hands_of(classes: tuple[_Class, ...] | None) -> NDArray[np.int64]:
    """Hands of some classes, or of all; cached, because long texts repeat the same ones."""
    if classes is None:
        return np.arange(HAND_COUNT)
    cells = [
        class_index(hand.high, hand.low, suited)
        for hand in classes
        for suited in (True, False)
        if hand.ending != ("o" if suited else "s")
    ]
    return np.flatnonzero(np.isin(HAND_CLASS, cells))

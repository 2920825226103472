"""Bet sizes as text, `33%, 2.5x, 100c, e, 3e, a`, and the chips that each means at a decision.

    33%    of the pot; for a raise, of the pot after calling, on top of the call
    2.5x   times the bet faced (raises only)
    100c   chips; for a raise, on top of the bet faced
    e      geometric: the same share of the pot on each remaining street gets the whole stack in by the river
    3e     geometric over three streets; `e200%` and `3e200%` bet at most that share of the pot. `1e2%` is refused,
           since it could be the number 100 in scientific notation; `1e2.0%` is at most 2 %
    a      all-in
    33     the same as 33%. Where a number could mean something else, it needs its unit: below 1 it could be a share,
           and below 10, in a raise, a multiple of the bet faced

Sizes are separated by commas; an empty text means no sizes. With s = stack / pot, both after calling, and n streets,
the geometric share is

    ((2s + 1)^(1/n) − 1) / 2

For a raise, n is reduced by the raises already made on the street (not counting the first bet), and is at least 1.

>>> print(*parse_sizes("33, 100c, 3e200%, a"), sep=" | ")
33% | 100c | 3e200% | a
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from regretless.errors import InvalidText

__all__ = [
    "SLACK", "AllIn", "Chips", "Decision", "Geometric", "LastBetMultiple", "PotShare", "Size", "at_most", "exact",
    "number_text", "parse_sizes", "sizes_text", "whole_chips", "whole_chips_above",
]  # fmt: skip

MAX_NUMBER = 1e12  # in a size; no stack has more chips, and larger numbers lose precision
MAX_TEXT_LENGTH = 10_000  # characters in a list of sizes
MAX_SIZES = 100  # in a list; each is computed at every decision of the tree
MAX_STREETS = 100  # of a geometric size
MIN_BARE_BET = 1  # percent without a sign; 0.5 could be a share of the pot
MIN_BARE_RAISE = 10  # 3 could be three times the bet faced


@dataclass(frozen=True)
class Decision:
    """What a size depends on at a decision. Chips are those on this street, unless stated otherwise."""

    pot: float  # after calling
    bet_faced: float  # the other player's chips on this street; 0 if nobody has bet
    stack: float  # the other player's remaining stack, so the most that can be added to a call
    raises: int  # raises made on this street, not counting the first bet
    streets: int  # remaining streets, including this one

    @property
    def all_in(self) -> float:
        """A bet or raise to this amount is all-in."""
        return self.bet_faced + self.stack


@dataclass(frozen=True)
class PotShare:
    """A share of the pot: 0.33 is written `33%`."""

    share: float

    def amount(self, decision: Decision) -> float:
        return decision.bet_faced + decision.pot * self.share

    def __str__(self) -> str:
        return f"{_percent(self.share)}%"


@dataclass(frozen=True)
class LastBetMultiple:
    """A multiple of the bet faced: `2.5x` raises 50 to 125."""

    factor: float

    def amount(self, decision: Decision) -> float:
        return decision.bet_faced * self.factor

    def __str__(self) -> str:
        return f"{number_text(self.factor)}x"


@dataclass(frozen=True)
class Chips:
    """A number of chips: `100c`."""

    chips: float

    def amount(self, decision: Decision) -> float:
        return decision.bet_faced + self.chips

    def __str__(self) -> str:
        return f"{number_text(self.chips)}c"


@dataclass(frozen=True)
class Geometric:
    """The same share of the pot on every street: `e`, or `3e` for three streets.

    >>> Geometric().amount(Decision(pot=200, bet_faced=0, stack=900, raises=0, streets=2))  # 108 % of 200, and of 632
    216.2277...
    """

    streets: int = 0  # 0: the remaining ones
    largest: float = math.inf  # maximum share of the pot

    def amount(self, decision: Decision) -> float:
        streets = max((self.streets or decision.streets) - decision.raises, 1)
        share = (math.pow(2 * decision.stack / decision.pot + 1, 1 / streets) - 1) / 2
        return decision.bet_faced + decision.pot * min(share, self.largest)

    def __str__(self) -> str:
        streets = str(self.streets) if self.streets else ""
        if self.largest == math.inf:
            return f"{streets}e"
        largest = _percent(self.largest)
        return f"{streets}e{largest}{'.0' if streets and _EXPONENT.fullmatch(largest) else ''}%"


@dataclass(frozen=True)
class AllIn:
    """All-in: `a`."""

    def amount(self, decision: Decision) -> float:
        return decision.all_in

    def __str__(self) -> str:
        return "a"


Size = PotShare | LastBetMultiple | Chips | Geometric | AllIn

SLACK = 1e-9  # chips; rounding error allowed in a sum of decimal amounts

_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)"
_SHARE = re.compile(rf"({_NUMBER}) *%")
_MULTIPLE = re.compile(rf"({_NUMBER}) *x")
_CHIPS = re.compile(rf"({_NUMBER}) *c")
_GEOMETRIC = re.compile(rf"(\d*) *e *(?:({_NUMBER}) *%)?")
_EXPONENT = re.compile(r"0*\d")  # after `1e`, a number of one digit could be an exponent of ten
_ALL_IN = re.compile(r"a|all-?in")
_BARE = re.compile(_NUMBER)


def parse_sizes(text: str, field: str = "bet", *, raises: bool = False) -> tuple[Size, ...]:
    """Read a list of sizes; `field` names the text in errors. `raises` allows multiples of the bet faced.

    >>> parse_sizes("2.5x, a", "raise", raises=True)
    (LastBetMultiple(factor=2.5), AllIn())
    >>> parse_sizes("50%, 3", "bets.river.oop.raise", raises=True)
    Traceback (most recent call last):
    regretless.errors.InvalidText: bets.river.oop.raise: '50%, 3' at position 6: '3' has no unit: ...
    """
    if len(text) > MAX_TEXT_LENGTH:
        reason = f"has {len(text):,} characters; a list of sizes has at most {MAX_TEXT_LENGTH:,}"
        raise InvalidText(field, text, None, reason)
    if not text.strip():
        return ()
    sizes: dict[Size, None] = {}  # each once, in the order given
    start = 0
    for part in text.split(","):
        position = start + len(part) - len(part.lstrip()) + 1
        sizes[_read(_SizeText(part.strip().lower(), text, field, position, raises))] = None
        start += len(part) + 1
    if len(sizes) > MAX_SIZES:
        raise InvalidText(field, text, None, f"has {len(sizes):,} sizes; at most {MAX_SIZES} are allowed")
    return tuple(sizes)


def sizes_text(sizes: Iterable[Size]) -> str:
    """The text that `parse_sizes` reads back.

    >>> sizes_text(parse_sizes("33.3%,e ,a"))
    '33.3%, e, a'
    """
    return ", ".join(str(size) for size in sizes)


def number_text(number: float) -> str:
    """A number without unnecessary digits, as typed.

    >>> number_text(94.0), number_text(2.5), number_text(0.00001)
    ('94', '2.5', '0.00001')
    """
    return np.format_float_positional(number, trim="-")


def whole_chips(amount: float, chip: float) -> float:
    """The nearest multiple of a chip, halves rounded up.

    >>> whole_chips(2.5, 1.0), whole_chips(1.815, 0.01)
    (3.0, 1.82)
    """
    chips = amount / chip
    if chips >= 2**53:  # chips are finer than the precision of the number
        return amount
    return exact(math.floor(chips + 0.5 + SLACK) * chip)


def whole_chips_above(amount: float, chip: float) -> float:
    """The smallest multiple of a chip that is at least the amount.

    >>> whole_chips_above(1.0, 5.0), whole_chips_above(0.3, 0.1)
    (5.0, 0.3)
    """
    nearest = whole_chips(amount, chip)
    return nearest if at_most(amount, nearest) else exact(nearest + chip)


def at_most(amount: float, limit: float) -> bool:
    """Whether an amount is at most a limit, apart from rounding errors: 0.45 is at most 1.5 · 0.3.

    >>> 0.45 <= 1.5 * 0.3, at_most(0.45, 1.5 * 0.3), at_most(0.46, 1.5 * 0.3)
    (False, True, False)
    """
    return amount <= limit + max(SLACK, 1e-12 * limit)


def exact(amount: float) -> float:
    """The number without the rounding errors of decimal sums."""
    return round(amount, 9)


def _percent(share: float) -> str:
    """The shortest percentage that reads back to the share: 0.07 · 100 is 7.000000000000001.

    >>> _percent(0.07), _percent(3.300000000001)
    ('7', '330.0000000001')
    """
    texts = (number_text(float(f"{100 * share:.{digits}g}")) for digits in (12, 15, 16, 17))
    return next((text for text in texts if float(text) / 100 == share), number_text(100 * share))


class _SizeText(NamedTuple):
    """One size in a list, as typed in lower case."""

    part: str
    text: str  # the whole list
    field: str
    position: int  # of the size in the list
    raises: bool  # whether it is the size of a raise

    @property
    def shown(self) -> str:
        """The size as errors quote it."""
        return repr(self.part if len(self.part) <= 20 else self.part[:17] + "...")

    def wrong(self, reason: str) -> InvalidText:
        return InvalidText(self.field, self.text, self.position, reason)

    def number(self, digits: str) -> float:
        number = float(digits)
        if number > MAX_NUMBER:
            raise self.wrong(f"{self.shown} is more than {MAX_NUMBER:,.0f}")
        return number


def _read(size: _SizeText) -> Size:
    if not size.part:
        raise size.wrong("a size is missing between commas")
    if match := _SHARE.fullmatch(size.part):
        share = size.number(match[1]) / 100
        if not share > 0:
            raise size.wrong(f"{size.shown} must be above 0%")
        return PotShare(share)
    if match := _MULTIPLE.fullmatch(size.part):
        if not size.raises:
            raise size.wrong(f"{size.shown} multiplies the bet faced, so only a raise can use it")
        factor = size.number(match[1])
        if not factor > 1:
            raise size.wrong(f"{size.shown} must be above 1x, which is a call")
        return LastBetMultiple(factor)
    if match := _CHIPS.fullmatch(size.part):
        chips = size.number(match[1])
        if not chips > 0:
            raise size.wrong(f"{size.shown} must be above 0 chips")
        return Chips(chips)
    if match := _GEOMETRIC.fullmatch(size.part):
        return _read_geometric(size, streets=match[1], percent=match[2])
    if _ALL_IN.fullmatch(size.part):
        return AllIn()
    if _BARE.fullmatch(size.part):
        return _read_bare(size)
    raise size.wrong(f"{size.shown} is not a size such as 33%, {'2.5x, ' if size.raises else ''}100c, e, 3e or a")


def _read_geometric(size: _SizeText, *, streets: str, percent: str | None) -> Geometric:
    """A size such as `3e200%`; `streets` may be empty and `percent` None."""
    count = int(size.number(streets or "0"))
    if streets and not 1 <= count <= MAX_STREETS:
        raise size.wrong(f"{size.shown} must name 1 to {MAX_STREETS} streets")
    if percent is None:
        return Geometric(count)
    if streets and _EXPONENT.fullmatch(percent):
        plain = number_text(count * 10.0 ** int(percent))
        over = "1 street" if count == 1 else f"{count} streets"
        advice = f"write {plain}% or {count}e{int(percent)}.0%"
        raise size.wrong(f"{size.shown} could be {plain}% of the pot, or geometric over {over}: {advice}")
    largest = size.number(percent)
    if not largest > 0:
        raise size.wrong(f"{size.shown} must allow more than 0%")
    return Geometric(count, largest / 100)


def _read_bare(size: _SizeText) -> PotShare:
    """A number without a unit: a percentage, unless it could mean something else."""
    percent = size.number(size.part)
    if percent >= (MIN_BARE_RAISE if size.raises else MIN_BARE_BET):
        return PotShare(percent / 100)
    amount = size.shown.strip("'")
    multiple = f", {amount}x the bet faced" if size.raises else ""
    raise size.wrong(f"{size.shown} has no unit: {amount}% of the pot, {amount}c chips{multiple}")

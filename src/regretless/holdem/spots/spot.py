"""A spot: board, pot, stack, both ranges and the bets that are allowed. It is what a person asks about.

A spot is a value: frozen, checked when it is made, equal to another with the same fields. `spot_reader` makes one
from TOML, `betting` turns it into a betting tree.

>>> spot = Spot.parse('''
... board = "Qs Jh 2h"
... pot = 180
... stack = 910
... oop.range = "88+, A8s+"
... ip.range = "99-22, AJs-A2s"
... bets.bet = "50%"
... bets.raise = "2.5x"
... ''')
>>> spot.streets, spot.bets.river.oop.bet
(('flop', 'turn', 'river'), (PotShare(share=0.5),))
>>> Spot.parse(spot.to_toml()) == spot
True
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from regretless.cards.deck import board_text
from regretless.cards.hands import HAND_CARDS, hand_text
from regretless.cards.ranges import Range
from regretless.errors import InvalidOption, InvalidText
from regretless.holdem.spots.locks import AnyLock
from regretless.holdem.spots.sizes import LastBetMultiple, Size
from regretless.reprs import brief

__all__ = [
    "PLAYERS",
    "STREETS",
    "Bets",
    "Lines",
    "PlayerName",
    "PlayerSizes",
    "Rules",
    "Spot",
    "StreetName",
    "StreetSizes",
    "check_cap",
]

StreetName = Literal["flop", "turn", "river"]
PlayerName = Literal["ip", "oop"]

STREETS: tuple[StreetName, ...] = ("flop", "turn", "river")
PLAYERS: tuple[PlayerName, ...] = ("ip", "oop")  # by the number that arrays give them

SMALLEST_AMOUNT = 1e-6  # chips; amounts are kept to nine decimals
LARGEST_AMOUNT = 1e12  # chips; beyond it, amounts lose the digits after the point
LARGEST_SHARE = 1e6  # pots; of thresholds
DEEPEST = 1000  # pots in a stack; figures of 32-bit arithmetic are exact to about 1e-7 of the stack
LIGHTEST = 1e-9  # weight of a hand; what is lighter would vanish beside a hand of weight 1
LONGEST_NAME = 255  # characters, as many as a file's name may have


@dataclass(frozen=True, kw_only=True)
class PlayerSizes:
    """What one player may bet on one street. No sizes: check, call or fold, and all-in where `add_allin` adds it."""

    bet: tuple[Size, ...] = ()  # where nobody has bet
    raise_: tuple[Size, ...] = ()  # facing a bet; facing a raise too, unless `reraise` says otherwise
    reraise: tuple[
        tuple[Size, ...], ...
    ] = ()  # of the second raise, the third …; the last one given holds for the rest
    donk: tuple[Size, ...] | None = None  # leading into the player who bet last street; None: as `bet`; (): never

    __repr__ = brief

    def __post_init__(self) -> None:
        for sizes in (self.bet, self.donk or ()):
            if any(isinstance(size, LastBetMultiple) for size in sizes):
                raise InvalidOption("bet", str(sizes[0]), "multiplies the bet faced, and here there is none")

    def raise_number(self, number: int) -> tuple[Size, ...]:
        """Sizes of the first raise on a street, the second (a re-raise), …

        >>> from regretless.holdem.spots.sizes import AllIn, LastBetMultiple
        >>> sizes = PlayerSizes(raise_=(LastBetMultiple(2.5),), reraise=((AllIn(),),))
        >>> sizes.raise_number(1), sizes.raise_number(2), sizes.raise_number(3)
        ((LastBetMultiple(factor=2.5),), (AllIn(),), (AllIn(),))
        """
        if number == 1 or not self.reraise:
            return self.raise_
        return self.reraise[min(number - 2, len(self.reraise) - 1)]


@dataclass(frozen=True, kw_only=True)
class StreetSizes:
    """What both players may bet on one street."""

    oop: PlayerSizes = PlayerSizes()
    ip: PlayerSizes = PlayerSizes()
    max_raises: int | None = None  # raises of both players together, the first bet not counted; 0: none; None: no cap

    __repr__ = brief

    def __post_init__(self) -> None:
        if self.max_raises is not None:
            check_cap("max_raises", self.max_raises)
        if self.ip.donk is not None:
            raise InvalidOption("ip.donk", "", "is not allowed: only the player out of position can donk")


@dataclass(frozen=True, kw_only=True)
class Bets:
    """What may be bet. Streets before the spot's own are ignored."""

    flop: StreetSizes = StreetSizes()
    turn: StreetSizes = StreetSizes()
    river: StreetSizes = StreetSizes()

    __repr__ = brief

    @classmethod
    def alike(
        cls,
        *,
        bet: tuple[Size, ...] = (),
        raise_: tuple[Size, ...] = (),
        reraise: tuple[tuple[Size, ...], ...] = (),
        max_raises: int | None = None,
    ) -> Bets:
        """The same sizes for both players on every street.

        >>> from regretless.holdem.spots.sizes import parse_sizes
        >>> Bets.alike(bet=parse_sizes("50%, a")).turn.ip.bet
        (PotShare(share=0.5), AllIn())
        """
        sizes = PlayerSizes(bet=bet, raise_=raise_, reraise=reraise)
        street = StreetSizes(oop=sizes, ip=sizes, max_raises=max_raises)
        return cls(flop=street, turn=street, river=street)

    def of_street(self, street: StreetName) -> StreetSizes:
        sizes: StreetSizes = getattr(self, street)
        return sizes

    def of(self, street: StreetName, player: PlayerName) -> PlayerSizes:
        sizes: PlayerSizes = getattr(self.of_street(street), player)
        return sizes


@dataclass(frozen=True, kw_only=True)
class Rules:
    """How the sizes asked for become the bets of the tree, and what the house takes."""

    add_allin: float = 1.5  # all-in is added where what remains beyond the call is at most so many pots; 0: never
    force_allin: float = 0.15  # a bet is all-in if, once called, at most so many pots would be left; 0: never
    merge: float = 0.1  # sizes whose shares of the pot are this close become one, the larger; 0: all are kept
    min_bet: float = 1.0  # smallest bet, chips; above 0
    chip: float = 1.0  # bets, not all-in, are rounded to multiples of this; above 0 (0.01 for pots in big blinds)
    rake: float = 0.0  # share of the final pot that the house takes, 0 to 1; 0: none
    rake_cap: float = math.inf  # most chips it takes; 0: none at all; inf: no cap

    def __post_init__(self) -> None:
        for name in ("add_allin", "force_allin", "merge"):
            _check(f"rules.{name}", getattr(self, name), at_least=0.0, at_most=LARGEST_SHARE)
        for name in ("min_bet", "chip"):
            _check(f"rules.{name}", getattr(self, name), above=0.0, at_least=SMALLEST_AMOUNT, at_most=LARGEST_AMOUNT)
        _check("rules.rake", self.rake, at_least=0.0, at_most=math.inf)
        if self.rake > 1:
            raise InvalidOption("rules.rake", self.rake, "must be from 0 to 1: 0.05 is 5 %")
        if not self.rake_cap >= 0:
            raise InvalidOption("rules.rake_cap", self.rake_cap, "must be at least 0")


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Lines of action added to the tree or taken out of it by hand: "check, bet 94, raise 300"."""

    add: tuple[str, ...] = ()  # every action on the way is added where it is missing
    remove: tuple[str, ...] = ()  # the last action goes, with all that follows; after what `add` adds

    __repr__ = brief


@dataclass(frozen=True, kw_only=True)
class Spot:
    """One question to the solver. Player 0 of the arrays is `ip`, player 1 is `oop`, who acts first."""

    board: tuple[int, ...]  # 3, 4 or 5 cards: the flop, the turn or the river is to be played
    pot: float  # chips in the middle; above 0
    stack: float  # chips each player has left (the smaller of the two stacks); above 0
    oop: Range  # what the player out of position holds
    ip: Range  # what the player in position holds
    bets: Bets
    rules: Rules = field(default_factory=Rules)
    lines: Lines = field(default_factory=Lines)
    locks: tuple[AnyLock, ...] = ()  # decisions that are given
    name: str = field(default="", compare=False)  # for people; not part of the question

    def __repr__(self) -> str:
        return brief(self, board=board_text(self.board))

    def __post_init__(self) -> None:
        if len(self.board) not in (3, 4, 5):
            raise InvalidText("board", board_text(self.board), None, _board_reason(len(self.board)))
        if len(set(self.board)) != len(self.board):
            raise InvalidText("board", board_text(self.board), None, "holds a card twice")
        for name in ("pot", "stack"):
            _check(name, getattr(self, name), above=0.0, at_least=SMALLEST_AMOUNT, at_most=LARGEST_AMOUNT)
        if self.stack > DEEPEST * self.pot:
            reason = f"is more than {DEEPEST:,} times the pot, too deep for 32-bit arithmetic to be exact"
            raise InvalidOption("stack", self.stack, reason)
        if len(self.name) > LONGEST_NAME:
            raise InvalidText("name", self.name, None, f"is longer than {LONGEST_NAME} characters")
        for player in PLAYERS:
            _check_range(f"{player}.range", self.range_of(player), self.board)
        if not _can_meet(self.oop.remove(self.board), self.ip.remove(self.board)):
            raise InvalidText("ip.range", str(self.ip), None, "always shares a card with oop.range")
        for lock in self.locks:  # whether they lead anywhere is seen when there is a tree
            _ = lock.steps, lock.range

    @classmethod
    def parse(cls, text: str) -> Spot:
        """Read the TOML of a spot; an error is one sentence that names the field."""
        from regretless.holdem.spots.rounding import warn_of_rounding
        from regretless.holdem.spots.spot_reader import parse_spot

        spot = parse_spot(text)
        warn_of_rounding(spot)
        return spot

    @classmethod
    def from_mapping(cls, fields: Mapping[str, Any]) -> Spot:
        """The spot of the same fields as a TOML file, as nested mappings.

        >>> spot = Spot.from_mapping(
        ...     {
        ...         "board": "Kh Qs Js 2c 3d",
        ...         "pot": 100,
        ...         "stack": 200,
        ...         "oop": {"range": "AK"},
        ...         "ip": {"range": "QQ"},
        ...         "bets": {"bet": "50%, a"},
        ...     }
        ... )
        >>> spot.pot
        100.0
        """
        from regretless.holdem.spots.rounding import warn_of_rounding
        from regretless.holdem.spots.spot_reader import read_mapping

        spot = read_mapping(fields)
        warn_of_rounding(spot)
        return spot

    @classmethod
    def read(cls, path: str | Path) -> Spot:
        """Read a spot file; its name, unless it says one, is that of the file."""
        from regretless.holdem.spots.rounding import warn_of_rounding
        from regretless.holdem.spots.spot_reader import parse_spot
        from regretless.holdem.spots.toml_text import read_toml_text

        spot = parse_spot(read_toml_text(path), path=path)
        warn_of_rounding(spot, str(path))
        return spot

    def to_toml(self) -> str:
        """TOML that `parse` reads back to this spot."""
        from regretless.holdem.spots.spot_writer import write_spot

        return write_spot(self)

    def range_of(self, player: PlayerName) -> Range:
        return self.oop if player == "oop" else self.ip

    @property
    def streets(self) -> tuple[StreetName, ...]:
        """Streets still to be played."""
        return STREETS[len(self.board) - 3 :]


def check_cap(name: str, value: object) -> int:
    """A number of raises, or an error that names the field."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidOption(name, value, "must be a whole number, at least 0")
    return value


def _board_reason(cards: int) -> str:
    return f"has {cards} card{'s' * (cards != 1)}: give 3 for a flop, 4 for a turn or 5 for a river"


def _check(name: str, value: object, *, above: float = -math.inf, at_least: float = -math.inf, at_most: float) -> None:
    finite = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    if isinstance(value, bool) or not isinstance(value, int | float) or not finite:
        raise InvalidOption(name, value, "must be a number")
    if not value > above:
        raise InvalidOption(name, value, f"must be above {above:g}")
    if not value >= at_least:
        raise InvalidOption(name, value, f"must be at least {at_least:g}")
    if not value <= at_most:
        raise InvalidOption(name, value, f"must be at most {at_most:g}")


def _check_range(name: str, given: Range, board: tuple[int, ...]) -> None:
    if not given.weights.any():
        raise InvalidText(name, str(given), None, "holds no hand")
    if not given.remove(board).weights.any():
        raise InvalidText(name, str(given), None, f"holds no hand without a card of the board {board_text(board)}")
    light = np.flatnonzero((given.weights > 0) & (given.weights < LIGHTEST))
    if len(light):
        hand = hand_text(int(light[0]))
        raise InvalidText(
            name, hand, None, f"has weight {given.weights[light[0]]:g}; the smallest allowed is {LIGHTEST:g}"
        )


def _can_meet(first: Range, second: Range) -> bool:
    """Whether some hand of each can be dealt at once; counted in whole hands, so nothing is rounded."""
    held = first.weights > 0, second.weights > 0
    by_card = [np.bincount(HAND_CARDS[hands].ravel(), minlength=52) for hands in held]
    blocked = int(by_card[0] @ by_card[1]) - int(np.count_nonzero(held[0] & held[1]))
    return int(np.count_nonzero(held[0])) * int(np.count_nonzero(held[1])) > blocked

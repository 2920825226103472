"""The fields of a spot or a game: bet sizes, rules, and lines given by hand.

These are values: frozen, and checked when created. `Spot` is a `SpotFields` whose fields have been checked against each
other; the TOML reader and writer know only the fields. A `BettingTable` is what the betting of either depends on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Literal, Self

from regretless.cards.ranges import Range
from regretless.errors import InvalidOption, RegretlessError
from regretless.forms.history import FloatArray
from regretless.holdem.spots.locks import AnyLock
from regretless.holdem.spots.sizes import SLACK, LastBetMultiple, Size
from regretless.reprs import brief

__all__ = [
    "IP",
    "MAX_AMOUNT",
    "MIN_AMOUNT",
    "OOP",
    "PLAYERS",
    "STREETS",
    "Bets",
    "BettingTable",
    "Lines",
    "PlayerName",
    "PlayerSizes",
    "Rules",
    "SpotFields",
    "StreetName",
    "StreetSizes",
    "check_cap",
    "check_number",
    "check_only",
    "stacks_behind",
]  # fmt: skip

StreetName = Literal["preflop", "flop", "turn", "river"]
PlayerName = Literal["ip", "oop"]

STREETS: tuple[StreetName, ...] = ("flop", "turn", "river")  # of a spot
PLAYERS: tuple[PlayerName, ...] = ("ip", "oop")  # by their number in arrays
IP, OOP = 0, 1

MIN_AMOUNT = 1e-6  # chips; amounts have nine decimals
MAX_AMOUNT = 1e12  # chips; beyond this, amounts lose their decimals
MAX_SHARE = 1e6  # pots; for thresholds


def stacks_behind(stack: float, paid: Iterable[float]) -> dict[PlayerName, float]:
    """What players who began with a stack have left after paying these amounts: exactly 0 if they are all in.

    >>> stacks_behind(20, (2.5, 20.0))
    {'ip': 17.5, 'oop': 0.0}
    """
    left = (stack - float(amount) for amount in paid)
    return {player: chips if chips > SLACK else 0.0 for player, chips in zip(PLAYERS, left, strict=True)}


@dataclass(frozen=True, kw_only=True)
class PlayerSizes:
    """One player's bet sizes on one street. Without sizes: check, call or fold, and all-in if `add_allin` adds it."""

    bet: tuple[Size, ...] = ()  # where nobody has bet
    raise_: tuple[Size, ...] = ()  # facing a bet (a blind), and facing a raise unless `reraise` is given
    reraise: tuple[tuple[Size, ...], ...] = ()  # for the second raise, the third …; the last entry applies to the rest
    donk: tuple[Size, ...] | None = None  # leading into the player who bet the previous street; None: as `bet`

    __repr__ = brief

    def __post_init__(self) -> None:
        for sizes in (self.bet, self.donk or ()):
            if any(isinstance(size, LastBetMultiple) for size in sizes):
                raise InvalidOption("bet", str(sizes[0]), "multiplies the bet faced, but there is none here")

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
    """Both players' bet sizes on one street."""

    oop: PlayerSizes = PlayerSizes()
    ip: PlayerSizes = PlayerSizes()
    max_raises: int | None = None  # raises of both players together, not counting the first bet; None: no cap

    __repr__ = brief

    def __post_init__(self) -> None:
        if self.max_raises is not None:
            check_cap("max_raises", self.max_raises)
        if self.ip.donk is not None:
            raise InvalidOption("ip.donk", "", "is not allowed: only the player out of position can donk")


@dataclass(frozen=True, kw_only=True)
class Bets:
    """All bet sizes. Streets before the spot's first are ignored."""

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
    """How sizes become bets in the tree, and rake."""

    add_allin: float = 1.5  # add all-in if the stack beyond the call is at most this many pots; 0: never
    force_allin: float = 0.15  # make a bet all-in if at most this many pots would remain once called; 0: never
    merge: float = 0.1  # sizes whose shares of the pot are this close become one, the larger; 0: all are kept
    min_bet: float = 1.0  # smallest bet, chips, rounded up to a multiple of `chip`; above 0
    chip: float = 1.0  # bets, not all-in, are rounded to multiples of this; above 0 (0.01 for pots in big blinds)
    rake: float = 0.0  # share of the final pot, 0 to 1
    rake_cap: float = math.inf  # maximum rake in chips; 0: no rake; inf: no cap

    def __post_init__(self) -> None:
        for name in ("add_allin", "force_allin", "merge"):
            check_number(f"rules.{name}", getattr(self, name), at_least=0.0, at_most=MAX_SHARE)
        for name in ("min_bet", "chip"):
            check_number(f"rules.{name}", getattr(self, name), above=0.0, at_least=MIN_AMOUNT, at_most=MAX_AMOUNT)
        check_number("rules.rake", self.rake, at_least=0.0, at_most=math.inf)
        if self.rake > 1:
            raise InvalidOption("rules.rake", self.rake, "must be from 0 to 1: 0.05 is 5 %")
        if not self.rake_cap >= 0:
            raise InvalidOption("rules.rake_cap", self.rake_cap, "must be at least 0")


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Lines of a tree given by hand: "check, bet 94, raise 300"."""

    only: tuple[str, ...] = ()  # instead of sizes: the bets and raises that these lines name, and no others
    add: tuple[str, ...] = ()  # missing actions along the line are added
    remove: tuple[str, ...] = ()  # removes the last action and everything below it; applied after the others

    __repr__ = brief


@dataclass(frozen=True, kw_only=True)
class BettingTable:
    """What a betting tree depends on: chips, sizes and rules, but no cards."""

    streets: tuple[StreetName, ...]
    sizes: tuple[StreetSizes, ...]  # of each street
    pot: float = 0.0  # chips in the pot that neither player has paid
    stack: float  # chips of each player before anything is paid, the smaller of the two stacks
    ante: float = 0.0  # chips that each player has paid before the first street
    blinds: tuple[float, float] | None = None  # chips of ip and oop on the first street; ip acts first if there are any
    limp: bool = True  # whether ip may call the blind
    rules: Rules
    lines: Lines

    def __post_init__(self) -> None:
        check_only(self.lines, self.sizes)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Computed once: looking up a tree asks for it twice."""
        return hash(tuple(getattr(self, each.name) for each in fields(self)))

    def of(self, street: StreetName, player: PlayerName) -> PlayerSizes:
        sizes: PlayerSizes = getattr(self.of_street(street), player)
        return sizes

    def of_street(self, street: StreetName) -> StreetSizes:
        return self.sizes[self.streets.index(street)]


@dataclass(frozen=True, kw_only=True)
class SpotFields:
    """The fields of a spot. Player 0 of the arrays is `ip`, player 1 is `oop`, who acts first."""

    board: tuple[int, ...]  # 3, 4 or 5 cards: the spot starts on the flop, turn or river
    pot: float  # chips in the pot; above 0
    stack: float  # chips behind, the smaller of the two stacks; above 0
    oop: Range  # of the player out of position
    ip: Range  # of the player in position
    bets: Bets = field(default_factory=Bets)
    rules: Rules = field(default_factory=Rules)
    lines: Lines = field(default_factory=Lines)
    locks: tuple[AnyLock, ...] = ()  # locked decisions
    name: str = field(default="", compare=False)  # shown in output
    positions: tuple[str, str] = field(default=("", ""), compare=False)  # of ip and oop, such as "BTN"; "": not known
    raiser: PlayerName | None = field(default=None, compare=False)  # who raised last before the flop, if known
    big_blind: float | None = field(default=None, compare=False)  # chips, if known; amounts are then shown in it too

    def range_of(self, player: PlayerName) -> Range:
        return self.oop if player == "oop" else self.ip

    def position_of(self, player: PlayerName) -> str:
        """What a player is called: "BB" if the spot says so, otherwise "OOP"."""
        return self.positions[PLAYERS.index(player)] or player.upper()

    def stacks_behind(self, paid: FloatArray) -> dict[PlayerName, float]:
        """What players have left after paying these amounts: exactly 0 if they are all in."""
        return stacks_behind(self.stack, paid)

    def unannotated(self) -> Self:
        """The spot without what only people read: equal spots are then written alike."""
        plain = {player: Range(self.range_of(player).weights) for player in PLAYERS}
        return replace(self, **plain, name="", positions=("", ""), raiser=None, big_blind=None)  # type: ignore[arg-type]

    @property
    def streets(self) -> tuple[StreetName, ...]:
        """Streets still to be played."""
        return STREETS[len(self.board) - 3 :]

    @property
    def table(self) -> BettingTable:
        """What the betting depends on."""
        return BettingTable(
            streets=self.streets,
            sizes=tuple(self.bets.of_street(street) for street in self.streets),
            pot=self.pot,
            stack=self.stack,
            rules=self.rules,
            lines=self.lines,
        )


def check_only(lines: Lines, sizes: Iterable[StreetSizes]) -> None:
    """Refuse sizes beside the lines of the whole tree."""
    players = [player for street in sizes for player in (street.oop, street.ip)]
    if lines.only and any(each.bet or each.raise_ or each.donk or any(each.reraise) for each in players):
        raise RegretlessError("lines.only: names every bet of the tree, so that there can be no bet sizes beside it")


def check_cap(name: str, value: object) -> int:
    """A number of raises, or an error that names the field."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidOption(name, value, "must be a whole number, at least 0")
    return value


def check_number(
    name: str, value: object, *, above: float = -math.inf, at_least: float = -math.inf, at_most: float
) -> None:
    """Check a number; errors name the field."""
    finite = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    if isinstance(value, bool) or not isinstance(value, int | float) or not finite:
        raise InvalidOption(name, value, "must be a number")
    value = int(value) if abs(value) < 1e15 and value == int(value) else value  # as it was typed: -3, not -3.0
    if not value > above:
        raise InvalidOption(name, value, f"must be above {above:g}")
    if not value >= at_least:
        raise InvalidOption(name, value, f"must be at least {at_least:g}")
    if not value <= at_most:
        raise InvalidOption(name, value, f"must be at most {at_most:g}")

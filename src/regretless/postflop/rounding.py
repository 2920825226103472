"""How far rounding to whole chips moves the bet sizes of a spot.

Bets are rounded to multiples of `rules.chip`. In a pot of 5.5 big blinds with chips of 1, a bet of 33% is 1.815 and
becomes 2, which is 36% of the pot. Rounding moves small amounts furthest, so the smallest pot, the spot's own, is
looked at: every bet there, and every raise of the smallest of them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import NamedTuple

from regretless.errors import RoundedSizes
from regretless.postflop.sizes import SLACK, Chips, Decision, Size, exact, whole_chips
from regretless.postflop.spot import PlayerName, Spot, StreetName

__all__ = ["warn_of_rounding"]

MOST = 0.05  # share of an amount by which rounding may move it without a warning


class _Rounded(NamedTuple):
    size: Size
    at: Decision
    asked: float  # chips
    becomes: float

    @property
    def moved(self) -> float:
        return abs(self.becomes - self.asked) / self.asked


def warn_of_rounding(spot: Spot, source: str = "") -> None:
    """Warn of the size that rounding moves furthest, if that is by more than 5 % of it; `source` is the spot's file."""
    furthest = max(_rounded_sizes(spot), key=lambda rounded: rounded.moved, default=None)
    if furthest is None or furthest.moved <= MOST:
        return
    at, becomes = furthest.at, f"{furthest.becomes:g}"
    what = f"a raise of {furthest.size} facing {at.bet_faced:g}" if at.bet_faced else f"a bet of {furthest.size}"
    if not at.bet_faced and not isinstance(furthest.size, Chips):
        becomes += f" ({furthest.becomes / at.pot:.1%} of the pot)"
    finer = 10.0 ** max(math.floor(math.log10(furthest.asked)) - 2, -300)  # moves it by at most half a percent
    where = f"{source}: rules.chip" if source else "rules.chip"
    message = f"{where}: {what} is {furthest.asked:g} and becomes {becomes} in chips of {spot.rules.chip:g}"
    warnings.warn(RoundedSizes(f"{message}; set chip = {finer:g}"), stacklevel=3)


def _rounded_sizes(spot: Spot) -> Iterator[_Rounded]:
    others: dict[PlayerName, PlayerName] = {"oop": "ip", "ip": "oop"}
    for street in spot.streets:
        for player, other in others.items():
            bets = list(_bets(spot, street, player))
            yield from bets
            if bets:
                yield from _raises(spot, street, other, min(bet.becomes for bet in bets))


def _bets(spot: Spot, street: StreetName, player: PlayerName) -> Iterator[_Rounded]:
    at = Decision(pot=spot.pot, bet_faced=0.0, stack=spot.stack, raises=0, streets=_streets(spot, street))
    yield from _rounded(spot, at, spot.bets.of(street, player).bet, smallest=spot.rules.min_bet)


def _raises(spot: Spot, street: StreetName, player: PlayerName, bet: float) -> Iterator[_Rounded]:
    at = Decision(
        pot=spot.pot + 2 * bet,
        bet_faced=bet,
        stack=exact(spot.stack - bet),
        raises=0,
        streets=_streets(spot, street),
    )
    yield from _rounded(spot, at, spot.bets.of(street, player).raise_number(1), smallest=2 * bet)


def _rounded(spot: Spot, at: Decision, sizes: tuple[Size, ...], *, smallest: float) -> Iterator[_Rounded]:
    """Sizes that are rounded: neither all-in nor below the smallest bet or raise, which they would become anyway."""
    for size in sizes:
        asked = size.amount(at)
        if smallest <= asked < at.all_in - SLACK:
            yield _Rounded(size, at, asked, min(max(whole_chips(asked, spot.rules.chip), smallest), at.all_in))


def _streets(spot: Spot, street: StreetName) -> int:
    return len(spot.streets) - spot.streets.index(street)

"""How far rounding to chips and the smallest bet move the bet sizes of a spot or a game.

Bets are rounded to multiples of `rules.chip`, and are at least `rules.min_bet`, rounded up to such a multiple. In a pot
of 5.5 big blinds with chips of 1, a bet of 33% is 1.815 and becomes 2, which is 36% of the pot. Small amounts move
furthest, so only the initial pot is examined: every bet there, and every raise of the smallest bet or of the blind; of
a game, the pot after a limp. The rules of the game increase a raise that is smaller than the last one; that gives no
warning.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import NamedTuple

from regretless.errors import RoundedSizes
from regretless.holdem.spots.sizes import SLACK, Chips, Decision, Size, exact, whole_chips, whole_chips_above
from regretless.holdem.spots.spot_fields import BettingTable, PlayerName

__all__ = ["warn_of_rounding"]

TOLERATED = 0.05  # share of an amount by which rounding may move it without a warning


class _Rounded(NamedTuple):
    size: Size
    decision: Decision
    exact_amount: float  # chips
    rounded: float  # chips
    too_small: bool  # below the smallest bet

    @property
    def moved(self) -> float:
        return abs(self.rounded - self.exact_amount) / self.exact_amount


def warn_of_rounding(table: BettingTable, source: str = "") -> None:
    """Warn about the size that rounding moves furthest, if by more than 5 %; `source` is the file it was read from."""
    furthest = max(_rounded_sizes(table), key=lambda rounded: rounded.moved, default=None)
    if furthest is None or furthest.moved <= TOLERATED:
        return
    decision, amount = furthest.decision, f"{furthest.rounded:g}"
    if decision.bet_faced:
        wager = f"a raise of {furthest.size} facing {decision.bet_faced:g}"
    else:
        wager = f"a bet of {furthest.size}"
        if not isinstance(furthest.size, Chips):
            amount += f" ({furthest.rounded / decision.pot:.1%} of the pot)"
    digit = max(math.floor(math.log10(furthest.exact_amount)), -300)
    finer = f"chip = {10.0 ** (digit - 2):g}"  # moves it by at most half a percent
    if furthest.too_small:
        field, reason, remedy = "min_bet", ", the smallest bet", f"min_bet = {10.0**digit:g} and {finer}"
    else:
        field, reason, remedy = "chip", f" in chips of {table.rules.chip:g}", finer
    name = f"{source}: rules.{field}" if source else f"rules.{field}"
    message = f"{name}: {wager} is {furthest.exact_amount:g} and becomes {amount}{reason}; set {remedy}"
    warnings.warn(RoundedSizes(message), stacklevel=3)


def _rounded_sizes(table: BettingTable) -> Iterator[_Rounded]:
    others: dict[PlayerName, PlayerName] = {"oop": "ip", "ip": "oop"}
    blind = 0.0 if table.blinds is None else max(table.blinds)
    pot, stack = table.pot + 2 * (table.ante + blind), exact(table.stack - table.ante - blind)
    for number, street in enumerate(table.streets):
        remaining = len(table.streets) - number
        for player, other in others.items():
            if street == "preflop":
                decision = Decision(pot=pot, bet_faced=blind, stack=stack, raises=0, streets=remaining)
                yield from _rounded(table, decision, table.of(street, player).raise_number(1), smallest=2 * blind)
                continue
            decision = Decision(pot=pot, bet_faced=0.0, stack=stack, raises=0, streets=remaining)
            bets = list(_rounded(table, decision, table.of(street, player).bet, smallest=table.rules.min_bet))
            yield from bets
            if bets:
                bet = min(each.rounded for each in bets)
                behind = exact(stack - bet)
                decision = Decision(pot=pot + 2 * bet, bet_faced=bet, stack=behind, raises=0, streets=remaining)
                yield from _rounded(table, decision, table.of(street, other).raise_number(1), smallest=2 * bet)


def _rounded(
    table: BettingTable, decision: Decision, sizes: tuple[Size, ...], *, smallest: float
) -> Iterator[_Rounded]:
    """What sizes become, except all-in, raises below the smallest raise and bets below the big blind."""
    forced = decision.bet_faced > 0 or table.blinds is not None
    for size in sizes:
        exact_amount = size.amount(decision)
        too_small = exact_amount < smallest
        if exact_amount < decision.all_in - SLACK and not (too_small and forced):
            minimum = whole_chips_above(smallest, table.rules.chip)
            rounded = min(max(whole_chips(exact_amount, table.rules.chip), minimum), decision.all_in)
            yield _Rounded(size, decision, exact_amount, rounded, too_small)

"""Fixed-limit betting for two players: every bet and raise of a round has the same size, and their number is capped.

A round is over when a bet is called, or when both players have checked. The first to act in a round does not end it by
calling or checking: with blinds, the big blind may still raise.

>>> betting = LimitBetting(posted=(1, 1), bets=(2, 4), raises=2, opens=(0, 0))
>>> first = betting.first()
>>> [str(move) for move in betting.moves(first)]
['call', 'raise']
>>> betting.after(first, Move.RAISE)
Point(round=0, paid=(3, 1), player=1, raises=1, opening=False)
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

__all__ = ["LimitBetting", "Move", "Point"]


class Move(StrEnum):
    """What a player can do, in the order that games list it."""

    FOLD = "fold"
    CALL = "call"  # a check where there is nothing to call
    RAISE = "raise"  # a bet where nobody has bet


class Point(NamedTuple):
    """Where the betting stands, whatever the cards are."""

    round: int
    paid: tuple[float, float]  # chips of both players, earlier rounds included
    player: int  # who acts
    raises: int  # bets and raises so far in this round; blinds are none
    opening: bool  # whether nobody has acted in this round

    @property
    def facing(self) -> bool:
        """Whether there is something to call."""
        return self.paid[self.player] < self.paid[1 - self.player]


@dataclass(frozen=True)
class LimitBetting:
    """The betting of a limit game, round by round."""

    posted: tuple[float, float]  # chips each player pays before the first action: antes or blinds
    bets: tuple[float, ...]  # size of a bet or raise in each round
    raises: int  # most bets and raises in a round
    opens: tuple[int, ...]  # who acts first in each round

    def first(self) -> Point:
        """Where the betting begins."""
        return Point(0, self.posted, self.opens[0], 0, True)

    def moves(self, point: Point) -> tuple[Move, ...]:
        """What the player can do; folding is allowed only facing a bet."""
        return (Move.FOLD,) * point.facing + (Move.CALL,) + (Move.RAISE,) * (point.raises < self.raises)

    def raised_to(self, point: Point) -> float:
        """What the player has paid after a raise, earlier rounds included."""
        return max(point.paid) + self.bets[point.round]

    def after(self, point: Point, move: Move) -> Point | None:
        """Where the next player acts, perhaps in the next round; None where the hand is over."""
        if move is Move.FOLD:
            return None
        if move is Move.RAISE or point.opening:
            owed = self.raised_to(point) if move is Move.RAISE else max(point.paid)
            paid = (owed, point.paid[1]) if point.player == 0 else (point.paid[0], owed)
            return Point(point.round, paid, 1 - point.player, point.raises + (move is Move.RAISE), False)
        if point.round == len(self.bets) - 1:
            return None
        level = max(point.paid)
        return Point(point.round + 1, (level, level), self.opens[point.round + 1], 0, True)

"""Fixed-limit betting for two players: all bets and raises of a round have the same size, and their number is capped.

A round ends when a bet is called or both players have checked. The first player to act cannot end it by calling or
checking: with blinds, the big blind may still raise.

>>> betting = LimitBetting(posted=(1, 1), bets=(2, 4), raises=(2, 2), opens=(0, 0))
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
    """A betting action, in the order that games list them."""

    FOLD = "fold"
    CALL = "call"  # a check if there is nothing to call
    RAISE = "raise"  # a bet if nobody has bet


class Point(NamedTuple):
    """A point in the betting, regardless of cards."""

    round: int
    paid: tuple[float, float]  # chips of both players, including earlier rounds
    player: int  # who acts
    raises: int  # bets and raises so far in this round, not counting blinds
    opening: bool  # whether nobody has acted in this round yet

    @property
    def facing(self) -> bool:
        """Whether there is something to call."""
        return self.paid[self.player] < self.paid[1 - self.player]


@dataclass(frozen=True)
class LimitBetting:
    """The betting of a limit game, round by round."""

    posted: tuple[float, float]  # chips each player pays before the first action: antes or blinds
    bets: tuple[float, ...]  # size of a bet or raise in each round
    raises: tuple[int, ...]  # maximum number of bets and raises in each round, not counting blinds
    opens: tuple[int, ...]  # who acts first in each round

    def first(self) -> Point:
        """The first point of the betting."""
        return Point(0, self.posted, self.opens[0], raises=0, opening=True)

    def moves(self, point: Point) -> tuple[Move, ...]:
        """The legal moves; folding is allowed only when facing a bet."""
        moves = [Move.FOLD, Move.CALL] if point.facing else [Move.CALL]
        if point.raises < self.raises[point.round]:
            moves.append(Move.RAISE)
        return tuple(moves)

    def raised_to(self, point: Point) -> float:
        """The player's total chips paid after a raise, including earlier rounds."""
        return max(point.paid) + self.bets[point.round]

    def after(self, point: Point, move: Move) -> Point | None:
        """The next point, possibly in the next round; None if the hand is over."""
        if move is Move.FOLD:
            return None
        if move is Move.RAISE or point.opening:
            raises = point.raises + 1 if move is Move.RAISE else point.raises
            total = self.raised_to(point) if move is Move.RAISE else max(point.paid)
            paid = (total, point.paid[1]) if point.player == 0 else (point.paid[0], total)
            return Point(point.round, paid, 1 - point.player, raises, opening=False)
        if point.round == len(self.bets) - 1:
            return None
        total = max(point.paid)
        return Point(point.round + 1, (total, total), self.opens[point.round + 1], raises=0, opening=True)

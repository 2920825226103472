"""A spot to solve: board, pot, stack, both ranges and the allowed bets.

A spot is a value: frozen, checked when created, and equal to any other with the same fields. `spot_toml` reads it
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

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from regretless.cards.deck import board_text
from regretless.cards.hands import hand_text
from regretless.cards.ranges import Range
from regretless.errors import InvalidOption, InvalidText
from regretless.holdem.spots.rounding import warn_of_rounding
from regretless.holdem.spots.spot_fields import (
    MAX_AMOUNT,
    MIN_AMOUNT,
    PLAYERS,
    STREETS,
    SpotFields,
    check_number,
    check_only,
)
from regretless.holdem.spots.spot_toml import read_keywords, read_mapping, write_spot
from regretless.holdem.spots.toml_fields import parse_toml, read_toml
from regretless.reprs import brief

__all__ = ["Spot", "changed_fields"]

MAX_STACK_IN_POTS = 1000  # pots per stack; 32-bit arithmetic is exact to about 1e-7 of the stack
MIN_WEIGHT = 1e-9  # weight of a hand; a lighter one would vanish beside a hand of weight 1
MAX_NAME_LENGTH = 255  # characters, the limit for file names


@dataclass(frozen=True, kw_only=True)
class Spot(SpotFields):
    """A spot to solve; `SpotFields` has its fields.

    Board, ranges, bets and rules may also be given as in a file:

    >>> river = {"board": "Kh Qs Js 2c 3d", "pot": 100, "stack": 200}
    >>> Spot(**river, oop="AK", ip="QQ, JT", bets={"bet": "50%"}).bets.river.ip.bet
    (PotShare(share=0.5),)
    """

    def __repr__(self) -> str:
        return brief(self, board=board_text(self.board))

    def __post_init__(self) -> None:
        for name, value in read_keywords(vars(self)).items():
            object.__setattr__(self, name, value)
        if len(self.board) not in (3, 4, 5):
            cards = "1 card" if len(self.board) == 1 else f"{len(self.board)} cards"
            reason = f"has {cards}: give 3 for a flop, 4 for a turn or 5 for a river"
            raise InvalidOption("board", board_text(self.board), reason)
        if len(set(self.board)) != len(self.board):
            raise InvalidOption("board", board_text(self.board), "repeats a card")
        for name in ("pot", "stack"):
            check_number(name, getattr(self, name), above=0.0, at_least=MIN_AMOUNT, at_most=MAX_AMOUNT)
        if self.stack > MAX_STACK_IN_POTS * self.pot:
            reason = f"is more than {MAX_STACK_IN_POTS:,} times the pot, too deep for 32-bit arithmetic to be exact"
            raise InvalidOption("stack", self.stack, reason)
        if self.big_blind is not None:
            check_number("big_blind", self.big_blind, above=0.0, at_least=MIN_AMOUNT, at_most=MAX_AMOUNT)
        check_only(self.lines, map(self.bets.of_street, STREETS))
        if len(self.name) > MAX_NAME_LENGTH:
            raise InvalidOption("name", self.name, f"is longer than {MAX_NAME_LENGTH} characters")
        for player in PLAYERS:
            _check_range(f"{player}.range", self.range_of(player), self.board)
        if not self.oop.remove(self.board).meets(self.ip.remove(self.board)):
            raise InvalidOption("ip.range", str(self.ip), "always shares a card with OOP's range")
        for lock in self.locks:  # whether their lines exist is checked once there is a tree
            _ = lock.steps, lock.range

    @classmethod
    def parse(cls, text: str, *, warn: bool = True) -> Spot:
        """Read the TOML of a spot; an error is one sentence that names the field.

        `warn`: whether to warn about sizes that rounding moves far, and about terms of a range that overlap.
        """
        spot = cls(**vars(read_mapping(parse_toml(text, "spot"), warn=warn)))
        if warn:
            warn_of_rounding(spot.table)
        return spot

    @classmethod
    def from_mapping(cls, fields: Mapping[str, object], path: str | Path | None = None) -> Spot:
        """The spot with these fields, nested as in a TOML file; `path` is the file, if they were read from one.

        >>> fields = {"board": "Kh Qs Js 2c 3d", "pot": 100, "stack": 200, "bets": {"bet": "50%, a"}}
        >>> Spot.from_mapping(fields | {"oop": {"range": "AK"}, "ip": {"range": "QQ"}}).pot
        100.0
        """
        spot = cls(**vars(read_mapping(fields, path)))
        warn_of_rounding(spot.table, "" if path is None else str(path))
        return spot

    @classmethod
    def read(cls, path: str | Path) -> Spot:
        """Read a spot file; the spot's name defaults to the file's."""
        spot = cls(**vars(read_mapping(read_toml(path), path)))
        warn_of_rounding(spot.table, str(path))
        return spot

    def to_toml(self) -> str:
        """TOML that `parse` reads back to this spot."""
        return write_spot(self)


def changed_fields(first: Spot, second: Spot) -> tuple[str, ...]:
    """Fields in which two spots differ, named as in their TOML."""
    names = {"oop": "oop.range", "ip": "ip.range"}
    fields = ("board", "pot", "stack", "oop", "ip", "bets", "rules", "lines", "locks")
    return tuple(names.get(name, name) for name in fields if getattr(first, name) != getattr(second, name))


def _check_range(name: str, hand_range: Range, board: tuple[int, ...]) -> None:
    if not hand_range.weights.any():
        raise InvalidOption(name, str(hand_range), "is empty")
    if not hand_range.remove(board).weights.any():
        raise InvalidOption(name, str(hand_range), f"is entirely blocked by the board {board_text(board)}")
    light = np.flatnonzero((hand_range.weights > 0) & (hand_range.weights < MIN_WEIGHT))
    if len(light):
        hand = hand_text(int(light[0]))
        raise InvalidText(
            name, hand, None, f"has weight {hand_range.weights[light[0]]:g}; the smallest allowed is {MIN_WEIGHT:g}"
        )

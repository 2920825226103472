"""Heads-up no-limit hold'em from the deal: stacks, blinds and the allowed bets of four streets.

A game is a value: frozen, checked when created, and equal to any other with the same fields. `game_reader` reads it
from TOML; its betting tree is built as that of a spot, with the blinds as the first bet (`form.betting`).

>>> game = HoldemGame.parse('''
... stack = 200
... small_blind = 1
... big_blind = 2
... preflop.open = "2.5x"
... preflop.3bet = "3x, a"
... bets.bet = "50%"
... ''')
>>> game.big_blinds, game.preflop.oop.raise_number(2)
(100.0, (LastBetMultiple(factor=3.0), AllIn()))
>>> HoldemGame.parse(game.to_toml()) == game
True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regretless.errors import InvalidOption
from regretless.holdem.games.game_reader import GameFields, read_game
from regretless.holdem.games.game_writer import write_game
from regretless.holdem.spots.question import LARGEST_AMOUNT, SMALLEST_AMOUNT, STREETS, StreetName, Table, check_number
from regretless.holdem.spots.rounding import warn_of_rounding
from regretless.holdem.spots.spot import LONGEST_NAME
from regretless.holdem.spots.toml_text import parse_toml, read_toml
from regretless.reprs import brief

__all__ = ["HoldemGame"]

DEEPEST = 1000  # big blinds per stack; 32-bit arithmetic is exact to about 1e-7 of the stack


@dataclass(frozen=True, kw_only=True)
class HoldemGame(GameFields):
    """Heads-up no-limit hold'em from the deal; `GameFields` has its fields."""

    __repr__ = brief

    def __post_init__(self) -> None:
        for name in ("stack", "small_blind", "big_blind"):
            check_number(name, getattr(self, name), above=0.0, at_least=SMALLEST_AMOUNT, at_most=LARGEST_AMOUNT)
        check_number("ante", self.ante, at_least=0.0, at_most=LARGEST_AMOUNT)
        if self.small_blind > self.big_blind:
            raise InvalidOption("small_blind", self.small_blind, f"is more than the big blind, {self.big_blind:g}")
        if self.stack <= self.ante + self.big_blind:
            posted = f"the big blind and the ante, {self.ante + self.big_blind:g}"
            raise InvalidOption("stack", self.stack, f"must be more than {posted}")
        if self.stack > DEEPEST * self.big_blind:
            reason = f"is more than {DEEPEST:,} big blinds, too deep for 32-bit arithmetic to be exact"
            raise InvalidOption("stack", self.stack, reason)
        if len(self.name) > LONGEST_NAME:
            raise InvalidOption("name", self.name, f"is longer than {LONGEST_NAME} characters")
        if not self.limp and self.small_blind == self.big_blind:
            raise InvalidOption("preflop.limp", False, "is not possible: with equal blinds, the small blind may check")
        if not self.limp and not self.preflop.ip.raise_:
            raise InvalidOption("preflop.limp", False, "leaves the small blind nothing but a fold: give preflop.open")

    @property
    def big_blinds(self) -> float:
        """The stack in big blinds."""
        return self.stack / self.big_blind

    @property
    def streets(self) -> tuple[StreetName, ...]:
        return ("preflop", *STREETS)

    @property
    def table(self) -> Table:
        """What the betting depends on."""
        return Table(
            streets=self.streets,
            sizes=(self.preflop, *(self.bets.of_street(street) for street in STREETS)),
            stack=self.stack,
            ante=self.ante,
            blinds=(self.small_blind, self.big_blind),
            limp=self.limp,
            rules=self.rules,
            lines=self.lines,
        )

    @classmethod
    def parse(cls, text: str) -> HoldemGame:
        """Read the TOML of a game; an error is one sentence that names the field."""
        return cls._made(read_game(parse_toml(text, "game")))

    @classmethod
    def from_mapping(cls, fields: Mapping[str, Any], path: str | Path | None = None) -> HoldemGame:
        """The game with these fields, nested as in a TOML file; `path` is the file, if they were read from one.

        >>> HoldemGame.from_mapping({"stack": 20, "small_blind": 0.5, "big_blind": 1, "preflop": {"open": "a"}}).ante
        0.0
        """
        return cls._made(read_game(fields, path), "" if path is None else str(path))

    @classmethod
    def read(cls, path: str | Path) -> HoldemGame:
        """Read a game file; the game's name defaults to the file's."""
        return cls._made(read_game(read_toml(path), path), str(path))

    @classmethod
    def _made(cls, fields: GameFields, source: str = "") -> HoldemGame:
        game = cls(**vars(fields))
        warn_of_rounding(game.table, source)
        return game

    def to_toml(self) -> str:
        """TOML that `parse` reads back to this game."""
        return write_game(self)

"""Heads-up no-limit hold'em from the deal: stacks, blinds and the allowed bets of four streets.

A game is a value: frozen, checked when created, and equal to any other with the same fields. Its betting tree is built
as that of a spot, with the blinds as the first bet (`form.betting`). Its file:

    stack = 200                   chips of each player before anything is posted, the smaller of the two stacks
    small_blind = 1               chips, posted by the player in position, who acts first before the flop and last after
    big_blind = 2                 chips
    ante = 0                      chips that each player posts besides; absent: none
    name = "100 big blinds"       optional, shown in output

    [preflop]                     both players
    limp = true                   whether the small blind may call; absent: true
    open = "2.5x"                 the first raise: 2.5x is two and a half big blinds; "" or absent: none
    raise_limp = "3x"             the big blind's raise of a limp; absent: as open
    3bet = "3x, a"                the second raise; absent: as open
    4bet = "2.2x, a"              the third raise, and so on up to 9bet; absent: as the raise before; "": none
    max_raises = 4                raises by both players, not counting the blinds; absent: no cap
    [preflop.ip]                  the small blind only: open, 3bet (after a limp and a raise), 4bet …
    [preflop.oop]                 the big blind only: raise_limp, 3bet, 4bet …

    [bets] [rules] [lines]        as in a spot file (`spots.spot_toml`): all streets from the flop on

By default, `rules.min_bet` is the big blind, the smallest bet at a table, and `rules.chip` a hundredth of it. A hand
that ends before the flop is not raked.

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
from dataclasses import dataclass, field
from pathlib import Path

from regretless.errors import InvalidFile, InvalidOption, RegretlessError
from regretless.files.fields import Fields
from regretless.holdem.spots.bet_tables import CAP, HOMES, quoted, read_betting, write_betting
from regretless.holdem.spots.rounding import warn_of_rounding
from regretless.holdem.spots.sizes import Size, number_text, parse_sizes, sizes_text
from regretless.holdem.spots.spot import MAX_NAME_LENGTH, Spot
from regretless.holdem.spots.spot_fields import (
    MAX_AMOUNT,
    MIN_AMOUNT,
    STREETS,
    Bets,
    BettingTable,
    Lines,
    PlayerName,
    PlayerSizes,
    Rules,
    StreetName,
    StreetSizes,
    check_cap,
    check_number,
)
from regretless.holdem.spots.toml_fields import FileKind, flag_in, number_in, parse_toml, read_toml, table_in, text_in
from regretless.reprs import brief
from regretless.solving.kinds import kind_of_table

__all__ = ["FIELDS", "PREFLOP", "HoldemGame", "read_saved_game", "read_spot_or_game"]

MAX_GAME_LENGTH = 2**20  # characters of TOML in a solution
FIELDS = ("stack", "small_blind", "big_blind", "ante", "name", "preflop", "bets", "rules", "lines")
OPEN, RAISE_LIMP, LIMP = "open", "raise_limp", "limp"
RERAISES = tuple(f"{number}bet" for number in range(3, 10))
PREFLOP = (LIMP, OPEN, RAISE_LIMP, *RERAISES, CAP)
CHIPS_PER_BLIND = 100  # by default

GAME_FILE = FileKind("a game", {"": FIELDS[:5], "preflop": PREFLOP, **HOMES})

# what each player's table may have: only the small blind opens, only the big blind raises a limp
_OF_PLAYER: dict[PlayerName, tuple[str, ...]] = {"ip": (OPEN, *RERAISES), "oop": (RAISE_LIMP, *RERAISES)}

MAX_STACK_IN_BLINDS = 1000  # big blinds per stack; 32-bit arithmetic is exact to about 1e-7 of the stack


@dataclass(frozen=True, kw_only=True)
class HoldemGame:
    """Heads-up no-limit hold'em from the deal. The small blind is `ip`, player 0; the big blind is `oop`, player 1."""

    stack: float  # chips of each player before anything is posted, the smaller of the two stacks
    small_blind: float  # chips; above 0
    big_blind: float  # chips; at least the small blind
    ante: float = 0.0  # chips that each player posts besides
    limp: bool = True  # whether the small blind may call the big blind
    preflop: StreetSizes  # before the flop: raises of the blind, then re-raises
    bets: Bets = field(default_factory=Bets)  # from the flop on
    rules: Rules
    lines: Lines = field(default_factory=Lines)
    name: str = field(default="", compare=False)  # shown in output

    __repr__ = brief

    def __post_init__(self) -> None:
        for name in ("stack", "small_blind", "big_blind"):
            check_number(name, getattr(self, name), above=0.0, at_least=MIN_AMOUNT, at_most=MAX_AMOUNT)
        check_number("ante", self.ante, at_least=0.0, at_most=MAX_AMOUNT)
        if self.small_blind > self.big_blind:
            raise InvalidOption("small_blind", self.small_blind, f"is more than the big blind, {self.big_blind:g}")
        if self.stack <= self.ante + self.big_blind:
            posted = f"the big blind and the ante, {self.ante + self.big_blind:g}"
            raise InvalidOption("stack", self.stack, f"must be more than {posted}")
        if self.stack > MAX_STACK_IN_BLINDS * self.big_blind:
            reason = f"is more than {MAX_STACK_IN_BLINDS:,} big blinds, too deep for 32-bit arithmetic to be exact"
            raise InvalidOption("stack", self.stack, reason)
        if len(self.name) > MAX_NAME_LENGTH:
            raise InvalidOption("name", self.name, f"is longer than {MAX_NAME_LENGTH} characters")
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
    def table(self) -> BettingTable:
        """What the betting depends on."""
        return BettingTable(
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
        return cls.from_mapping(parse_toml(text, "game"))

    @classmethod
    def from_mapping(cls, fields: Mapping[str, object], path: str | Path | None = None) -> HoldemGame:
        """The game with these fields, nested as in a TOML file; `path` is the file, if they were read from one.

        >>> HoldemGame.from_mapping({"stack": 20, "small_blind": 0.5, "big_blind": 1, "preflop": {"open": "a"}}).ante
        0.0
        """
        game = _read(fields, path)
        warn_of_rounding(game.table, "" if path is None else str(path))
        return game

    @classmethod
    def read(cls, path: str | Path) -> HoldemGame:
        """Read a game file; the game's name defaults to the file's."""
        return cls.from_mapping(read_toml(path), path)

    def to_toml(self) -> str:
        """TOML that `parse` reads back to this game."""
        return _write(self)


def read_spot_or_game(path: str | Path) -> Spot | HoldemGame:
    """What a `.toml` file of hold'em describes, read once: a spot, or a whole game; its name defaults to the file's."""
    table = read_toml(path)
    subject: Spot | HoldemGame = kind_of_table(table).subject_class.from_mapping(table, path)
    return subject


# --- reading and writing TOML ----------------------------------------------------------------------------------------


def read_saved_game(header: Fields) -> HoldemGame:
    """The game in the header of a solution."""
    try:
        return HoldemGame.parse(header.text("rules", longest=MAX_GAME_LENGTH))
    except InvalidFile:
        raise
    except RegretlessError as error:
        raise InvalidFile(header.path, f"is damaged: {error}") from None


def _read(table: Mapping[str, object], path: str | Path | None = None) -> HoldemGame:
    """The fields of mappings nested like the TOML; `path`, the file they were read from, gives the default name."""
    GAME_FILE.check_known(table, FIELDS, "")
    for required in ("stack", "small_blind", "big_blind", "preflop"):
        if required not in table:
            raise GAME_FILE.missing(required)
    preflop = table_in(table["preflop"], "preflop")
    big_blind = number_in(table["big_blind"], "big_blind")
    chips = {"min_bet": big_blind, "chip": big_blind / CHIPS_PER_BLIND} if big_blind > 0 else {}
    return HoldemGame(
        stack=number_in(table["stack"], "stack"),
        small_blind=number_in(table["small_blind"], "small_blind"),
        big_blind=big_blind,
        ante=number_in(table.get("ante", 0), "ante"),
        limp=flag_in(preflop.get(LIMP, True), f"preflop.{LIMP}"),
        preflop=_preflop(preflop),
        **read_betting(table, GAME_FILE, **chips),
        name=text_in(table.get("name", "" if path is None else Path(path).stem), "name"),
    )


def _preflop(table: Mapping[str, object]) -> StreetSizes:
    """The sizes of both players before the flop."""
    GAME_FILE.check_known(table, (*PREFLOP, "ip", "oop"), "preflop")
    ip, oop = _preflop_sizes(table, "ip"), _preflop_sizes(table, "oop")
    cap = check_cap(f"preflop.{CAP}", table[CAP]) if CAP in table else None
    return StreetSizes(ip=ip, oop=oop, max_raises=cap)


def _preflop_sizes(table: Mapping[str, object], player: PlayerName) -> PlayerSizes:
    """A player's sizes before the flop, each from the player's own table or else the common one."""
    known = _OF_PLAYER[player]
    own = table_in(table.get(player, {}), f"preflop.{player}")
    for key in (OPEN, RAISE_LIMP):
        if key in own and key not in known:
            rule = "the small blind opens" if key == OPEN else "the big blind raises a limp"
            raise InvalidOption(f"preflop.{player}.{key}", own[key], f"is not allowed: only {rule}")
    GAME_FILE.check_known(own, known, f"preflop.{player}")
    sizes = {key: _sizes(value, f"preflop.{key}") for key, value in table.items() if key in (OPEN, *known)}
    sizes |= {key: _sizes(value, f"preflop.{player}.{key}") for key, value in own.items()}
    opened = sizes.get(OPEN, ())
    reraises = [sizes.get(RERAISES[0], opened)]
    for key in RERAISES[1:]:
        reraises.append(sizes.get(key, reraises[-1]))
    while len(reraises) > 1 and reraises[-1] == reraises[-2]:  # the last entry applies to the rest
        reraises.pop()
    return PlayerSizes(raise_=sizes.get(known[0], opened), reraise=tuple(reraises))


def _sizes(value: object, field: str) -> tuple[Size, ...]:
    return parse_sizes(text_in(value, field), field, raises=True)


def _write(game: HoldemGame) -> str:
    """TOML that reads back to the same game."""
    lines = [f"{name} = {number_text(getattr(game, name))}" for name in ("stack", "small_blind", "big_blind", "ante")]
    if game.name:
        lines.append(f"name = {quoted(game.name)}")
    lines += ["", "[preflop]", f"limp = {str(game.limp).lower()}"]
    if game.preflop.max_raises is not None:
        lines.append(f"max_raises = {game.preflop.max_raises}")
    lines += ["", "[preflop.ip]", *_sizes_lines(OPEN, game.preflop.ip)]
    lines += ["", "[preflop.oop]", *_sizes_lines(RAISE_LIMP, game.preflop.oop)]
    lines += write_betting(
        game.bets, game.rules, game.lines, min_bet=game.big_blind, chip=game.big_blind / CHIPS_PER_BLIND
    )
    return "\n".join(lines) + "\n"


def _sizes_lines(first: str, sizes: PlayerSizes) -> list[str]:
    """The first raise and the re-raises, each as it applies."""
    lines = [f'{first} = "{sizes_text(sizes.raise_)}"']
    count = max(len(sizes.reraise), 1)  # later ones are the same as the last of these
    for number, key in enumerate(RERAISES[:count], start=2):
        lines.append(f'{key} = "{sizes_text(sizes.raise_number(number))}"')
    return lines

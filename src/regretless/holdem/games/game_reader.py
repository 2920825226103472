"""From TOML to the fields of a game from the deal: every field, and its default.

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

    [bets] [rules] [lines]        as in a spot file (`spots.spot_reader`): all streets from the flop on

By default, `rules.min_bet` is the big blind, the smallest bet at a table, and `rules.chip` a hundredth of it. A hand
that ends before the flop is not raked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regretless.errors import InvalidOption, RegretlessError
from regretless.holdem.spots.bet_tables import CAP, HOMES, read_bets, read_lines, read_rules
from regretless.holdem.spots.fields import FileKind, flag_in, number_in, table_in, text_in
from regretless.holdem.spots.question import Bets, Lines, PlayerName, PlayerSizes, Rules, StreetSizes, check_cap
from regretless.holdem.spots.sizes import Size, parse_sizes
from regretless.holdem.spots.spot_reader import is_game_table
from regretless.holdem.spots.toml_text import read_toml

__all__ = [
    "CHIPS", "FIELDS", "OPEN", "PREFLOP", "RAISE_LIMP", "RERAISES", "GameFields", "is_game_file", "read_game",
]  # fmt: skip

FIELDS = ("stack", "small_blind", "big_blind", "ante", "name", "preflop", "bets", "rules", "lines")
OPEN, RAISE_LIMP, LIMP = "open", "raise_limp", "limp"
RERAISES = tuple(f"{number}bet" for number in range(3, 10))
PREFLOP = (LIMP, OPEN, RAISE_LIMP, *RERAISES, CAP)
CHIPS = 100  # per big blind, by default

GAME_FILE = FileKind("a game", {"": FIELDS[:5], "preflop": PREFLOP, **HOMES})

# what each player's table may have: only the small blind opens, only the big blind raises a limp
_OF_PLAYER: dict[PlayerName, tuple[str, ...]] = {"ip": (OPEN, *RERAISES), "oop": (RAISE_LIMP, *RERAISES)}


@dataclass(frozen=True, kw_only=True)
class GameFields:
    """The fields of a game from the deal. The small blind is `ip`, player 0; the big blind is `oop`, player 1."""

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


def is_game_file(path: str | Path) -> bool:
    """Whether a TOML file has the fields of a game rather than a spot; one that cannot be read has not."""
    try:
        return is_game_table(read_toml(path))
    except RegretlessError:  # reading it as a spot will report the problem
        return False


def read_game(table: Mapping[str, Any], path: str | Path | None = None) -> GameFields:
    """The fields of mappings nested like the TOML; `path`, the file they were read from, gives the default name.

    >>> read_game({"stack": 200, "small_blind": 1, "big_blind": 2, "preflop": {"opne": "2.5x"}})
    Traceback (most recent call last):
    regretless.errors.RegretlessError: preflop.opne: is not a field of [preflop]; did you mean 'open'?
    """
    GAME_FILE.check_known(table, FIELDS, "")
    for required in ("stack", "small_blind", "big_blind", "preflop"):
        if required not in table:
            raise GAME_FILE.missing(required)
    preflop = table_in(table["preflop"], "preflop")
    big_blind = number_in(table["big_blind"], "big_blind")
    chips = {"min_bet": big_blind, "chip": big_blind / CHIPS} if big_blind > 0 else {}
    return GameFields(
        stack=number_in(table["stack"], "stack"),
        small_blind=number_in(table["small_blind"], "small_blind"),
        big_blind=big_blind,
        ante=number_in(table.get("ante", 0), "ante"),
        limp=flag_in(preflop.get(LIMP, True), f"preflop.{LIMP}"),
        preflop=_preflop(preflop),
        bets=read_bets(table_in(table.get("bets", {}), "bets"), GAME_FILE),
        rules=read_rules(table_in(table.get("rules", {}), "rules"), GAME_FILE, **chips),
        lines=read_lines(table_in(table.get("lines", {}), "lines"), GAME_FILE),
        name=text_in(table.get("name", "" if path is None else Path(path).stem), "name"),
    )


def _preflop(table: Mapping[str, Any]) -> StreetSizes:
    """The sizes of both players before the flop, each from the player's own table or else the common one."""
    GAME_FILE.check_known(table, (*PREFLOP, "ip", "oop"), "preflop")
    of_player: dict[str, PlayerSizes] = {}
    for player, known in _OF_PLAYER.items():
        own = table_in(table.get(player, {}), f"preflop.{player}")
        for key in (OPEN, RAISE_LIMP):
            if key in own and key not in known:
                who = "the small blind opens" if key == OPEN else "the big blind raises a limp"
                raise InvalidOption(f"preflop.{player}.{key}", own[key], f"is not allowed: only {who}")
        GAME_FILE.check_known(own, known, f"preflop.{player}")
        read = {key: _sizes(value, f"preflop.{key}") for key, value in table.items() if key in (OPEN, *known)}
        read |= {key: _sizes(value, f"preflop.{player}.{key}") for key, value in own.items()}
        opened = read.get(OPEN, ())
        reraises = [read.get(RERAISES[0], opened)]
        for key in RERAISES[1:]:
            reraises.append(read.get(key, reraises[-1]))
        while len(reraises) > 1 and reraises[-1] == reraises[-2]:  # the last entry applies to the rest
            reraises.pop()
        of_player[player] = PlayerSizes(raise_=read.get(known[0], opened), reraise=tuple(reraises))
    cap = check_cap(f"preflop.{CAP}", table[CAP]) if CAP in table else None
    return StreetSizes(ip=of_player["ip"], oop=of_player["oop"], max_raises=cap)


def _sizes(value: object, field: str) -> tuple[Size, ...]:
    return parse_sizes(text_in(value, field), field, raises=True)

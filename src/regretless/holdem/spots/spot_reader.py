"""From TOML to the fields of a spot: every field, and which table wins when several set it.

    board = "Qs Jh 2h"            3, 4 or 5 cards
    pot = 180                     chips in the pot, above 0
    stack = 910                   chips behind, the smaller of the two stacks, above 0
    name = "3-bet pot"            optional, shown in output

    [oop]                         the player out of position, who acts first
    range = "88+, A8s+, KQo:0.5"
    [ip]
    range = "99-22, AJs-A2s"

    [bets]                        both players, every street
    bet = "50%"                   where nobody has bet; "" or absent: no bets
    raise = "2.5x"                facing a bet, and facing a raise without `reraise`; "" or absent: no raises
    reraise = "a"                 facing a raise; ["3x", "a"]: the second raise, the third and later; absent: as raise
    max_raises = 3                raises per street by both players, not counting the first bet; absent: no cap
    [bets.oop]                    one player on every street
    [bets.river]                  one street, both players
    donk = "33%"                  out of position, leading into the previous street's bettor; absent: as bet; "": never
    [bets.river.oop]              one street and one player

    [rules]                       the fields of `question.Rules`
    rake = 0.05

    [lines]
    add = ["bet 94, raise 300"]
    remove = ["check, bet 94"]

    [[locks]]                     a locked decision; any number of these
    node = "check, bet 94"        line of play; without cards it applies on every runout
    strategy = { fold = 0.5, call = 0.5 }
    hands = "KK, QQ"              only these hands; absent: all

    [[locks]]                     decisions locked to another solution
    source = "other.rgl"          its file, relative to the folder of this one
    player = "oop"                every decision of a player; or `node`, with `hands` to lock only some

    A lock may also be a text, locks = ["check, bet 94: KK, QQ = fold 50%, call 50%"]: see `lock_text`.

For each of bet, raise, reraise, donk and max_raises, the most specific table that sets it wins: street and player, then
street, then player, then all. Any other key is refused, and the error suggests the one that was probably meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields as dataclass_fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from regretless.cards.deck import SUITS, parse_board
from regretless.cards.ranges import Range
from regretless.errors import InvalidOption, RegretlessError
from regretless.holdem.spots.lines import parse_line
from regretless.holdem.spots.lock_text import parse_lock, parse_strategy
from regretless.holdem.spots.locks import AnyLock, Lock, LockFrom
from regretless.holdem.spots.question import (
    STREETS,
    Bets,
    Lines,
    PlayerName,
    PlayerSizes,
    Question,
    Rules,
    StreetName,
    StreetSizes,
    check_cap,
)
from regretless.holdem.spots.sizes import Size, parse_sizes
from regretless.holdem.spots.toml_text import parse_toml

__all__ = ["parse_spot", "read_mapping"]

MOST_LINES = 1_000  # added, and the same number removed: each is compared with the actions of every node it passes
MOST_LOCKS = 10_000

_SIZES = ("bet", "raise", "reraise", "donk")
_CAP = "max_raises"
_FIELDS = ("board", "pot", "stack", "oop", "ip", "bets", "rules", "lines", "locks", "name")
_RULES = tuple(field.name for field in dataclass_fields(Rules))
_BET_TABLES = (*_SIZES, _CAP, "oop", "ip", *STREETS)
# the table that each field belongs in ("": the spot itself), to suggest it when a field is misplaced
_HOMES = {"": ("board", "pot", "stack", "name"), "bets": (*_SIZES, _CAP), "rules": _RULES, "lines": ("add", "remove")}


def parse_spot(text: str, path: str | Path | None = None) -> Question:
    """The fields of a TOML text; `path`, its source, appears in errors and gives the default name.

    >>> parse_spot("board = 'Qs Jh 2h'\\nstak = 910")
    Traceback (most recent call last):
    regretless.errors.RegretlessError: stak: is not a field of a spot; did you mean 'stack'?
    """
    table = parse_toml(text, path or "spot")
    if path is not None and "name" not in table:
        table["name"] = Path(path).stem
    return read_mapping(table, source="" if path is None else str(path))


def read_mapping(table: Mapping[str, Any], source: str = "") -> Question:
    """The fields of mappings nested like the TOML; `source` names them in warnings."""
    _only(table, _FIELDS, "")
    for required in ("board", "pot", "stack", "oop", "ip", "bets"):
        if required not in table:
            raise _missing(required)
    return Question(
        board=parse_board(_text(table["board"], "board")),
        pot=_number(table["pot"], "pot"),
        stack=_number(table["stack"], "stack"),
        oop=_range(table["oop"], "oop", source),
        ip=_range(table["ip"], "ip", source),
        bets=_bets(_table(table["bets"], "bets")),
        rules=_rules(_table(table.get("rules", {}), "rules")),
        lines=_lines(_table(table.get("lines", {}), "lines")),
        locks=tuple(_locks(table.get("locks", []), Path(source).parent if source else None)),
        name=_text(table.get("name", ""), "name"),
    )


def _range(value: object, player: str, source: str) -> Range:
    table = _table(value, player)
    _only(table, ("range",), player)
    if "range" not in table:
        raise _missing(f"{player}.range")
    return Range.parse(_text(table["range"], f"{player}.range"), f"{player}.range", source)


def _rules(table: Mapping[str, Any]) -> Rules:
    _only(table, _RULES, "rules")
    return Rules(**{key: _number(value, f"rules.{key}") for key, value in table.items()})


def _lines(table: Mapping[str, Any]) -> Lines:
    _only(table, ("add", "remove"), "lines")
    return Lines(**{key: tuple(_texts(value, f"lines.{key}")) for key, value in table.items()})


def _locks(value: object, folder: Path | None) -> Iterator[AnyLock]:
    if not isinstance(value, list | tuple):
        raise InvalidOption("locks", value, "must be tables, [[locks]], or a list of texts")
    _at_most(value, MOST_LOCKS, "locks")
    for place, item in enumerate(value):
        field = f"locks[{place}]"
        if isinstance(item, str):
            yield parse_lock(item, field)
            continue
        table = _table(item, field)
        if "source" in table:
            yield _lock_from(table, field, folder)
            continue
        _only(table, ("node", "hands", "strategy"), field)
        for required in ("node", "strategy"):
            if required not in table:
                raise _missing(f"{field}.{required}")
        node, hands = _node_and_hands(table, field)
        given = table["strategy"]
        if isinstance(given, str):
            shares = parse_strategy(given, f"{field}.strategy")
        else:
            named = _table(given, f"{field}.strategy")
            shares = {name: _number(share, f"{field}.strategy") for name, share in named.items()}
        yield Lock(node or "", shares, hands)


def _lock_from(table: Mapping[str, Any], field: str, folder: Path | None) -> LockFrom:
    """A lock from another solution; a relative path starts at the folder of the spot file."""
    _only(table, ("source", "player", "node", "hands", "suits"), field)
    source = _text(table["source"], f"{field}.source")
    node, hands = _node_and_hands(table, field)
    player = _text(table["player"], f"{field}.player") if "player" in table else None
    if player not in (None, "oop", "ip"):
        raise InvalidOption(f"{field}.player", player, "is neither oop nor ip")
    if (player is None) == (node is None):
        raise InvalidOption(f"{field}.source", source, "needs either player or node beside it")
    if player is not None and hands:
        raise InvalidOption(f"{field}.hands", hands, "selects hands at a node, but this lock is for a player")
    suits = tuple(_texts(table.get("suits", []), f"{field}.suits"))
    for renaming in suits:
        if sorted(renaming) != sorted(SUITS):
            raise InvalidOption(f"{field}.suits", renaming, f"is not a permutation of the suits {SUITS}")
    where = source if folder is None or Path(source).is_absolute() else str(folder / source)
    return LockFrom(where, player=player, node=node, hands=hands, suits=suits)  # type: ignore[arg-type]


def _node_and_hands(table: Mapping[str, Any], field: str) -> tuple[str | None, str]:
    node = _text(table["node"], f"{field}.node") if "node" in table else None
    hands = _text(table.get("hands", ""), f"{field}.hands")
    parse_line(node or "", f"{field}.node")
    Range.parse(hands, f"{field}.hands")
    return node, hands


def _bets(table: Mapping[str, Any]) -> Bets:
    """Every size of every street and player, from the most specific table that sets it."""
    _only(table, _BET_TABLES, "bets")
    found: dict[str, Mapping[str, Any]] = {"bets": table}
    for key in ("oop", "ip", *STREETS):
        if key in table:
            inner = found[f"bets.{key}"] = _table(table[key], f"bets.{key}")
            _only(inner, (*_SIZES, _CAP, "oop", "ip") if key in STREETS else (*_SIZES, _CAP), f"bets.{key}")
            for player in ("oop", "ip"):
                if player in inner:
                    name = f"bets.{key}.{player}"
                    found[name] = _table(inner[player], name)
                    _only(found[name], (*_SIZES, _CAP), name)
    read: dict[str, Any] = {}
    for name, sizes in found.items():
        for kind in (*_SIZES, _CAP):
            if kind in sizes:
                read[f"{name}.{kind}"] = _bet_field(name, kind, sizes[kind])
    return Bets(**{street: _street_sizes(read, street) for street in STREETS})


def _bet_field(table: str, kind: str, value: object) -> tuple[Size, ...] | tuple[tuple[Size, ...], ...] | int:
    """One key of a table of bets: sizes, lists of sizes for `reraise`, a number for `max_raises`."""
    field = f"{table}.{kind}"
    if kind == "donk" and table.endswith(".ip"):
        raise InvalidOption(field, value, "is not allowed: only the player out of position can donk")
    if kind == _CAP:
        if table.endswith((".oop", ".ip")):
            raise InvalidOption(field, value, "is not allowed: it counts the raises of both players together")
        return check_cap(field, value)
    if kind == "reraise":
        if isinstance(value, str):
            return (parse_sizes(value, field, raises=True),)
        if not isinstance(value, list | tuple) or not value:
            raise InvalidOption(field, value, "must be a text in quotes, or a list of texts, one for each raise")
        texts = _texts(value, field)
        return tuple(parse_sizes(text, f"{field}[{place}]", raises=True) for place, text in enumerate(texts))
    return parse_sizes(_text(value, field), field, raises=kind == "raise")


def _street_sizes(read: Mapping[str, Any], street: StreetName) -> StreetSizes:
    def finest(kind: str, *tables: str) -> Any:
        return next((read[f"{table}.{kind}"] for table in tables if f"{table}.{kind}" in read), None)

    def of_player(player: PlayerName) -> PlayerSizes:
        tables = (f"bets.{street}.{player}", f"bets.{street}", f"bets.{player}", "bets")
        return PlayerSizes(
            bet=finest("bet", *tables) or (),
            raise_=finest("raise", *tables) or (),
            reraise=finest("reraise", *tables) or (),
            donk=finest("donk", *tables) if player == "oop" else None,
        )

    return StreetSizes(oop=of_player("oop"), ip=of_player("ip"), max_raises=finest(_CAP, f"bets.{street}", "bets"))


# --- what a value must be --------------------------------------------------------------------------------------------


def _missing(field: str) -> RegretlessError:
    return RegretlessError(f"{field}: is missing from the spot")


def _only(table: Mapping[str, Any], known: Sequence[str], name: str) -> None:
    for key, value in table.items():
        if key not in known:
            close = get_close_matches(str(key), known, n=1, cutoff=0.5)
            home = next((table for table, fields in _HOMES.items() if key in fields and table != name), None)
            if home is not None and not isinstance(value, Mapping):
                meant = f"it belongs in [{home}]" if home else "it belongs above the tables"
            else:
                meant = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(known)}"
            field = f"{name}.{key}" if name else str(key)
            raise RegretlessError(f"{field}: is not a field of {f'[{name}]' if name else 'a spot'}; {meant}")


def _table(value: object, field: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidOption(field, value, f"must be a table: [{field}]")
    return value


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise InvalidOption(field, value, "must be a text in quotes")
    return value


def _texts(value: object, field: str) -> list[str]:
    if not isinstance(value, list | tuple):
        raise InvalidOption(field, value, "must be a list of texts")
    _at_most(value, MOST_LINES, field)
    return [_text(item, f"{field}[{place}]") for place, item in enumerate(value)]


def _at_most(values: Sequence[object], most: int, field: str) -> None:
    if len(values) > most:
        raise RegretlessError(f"{field}: has {len(values):,} entries; at most {most:,} are allowed")


def _number(value: object, field: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidOption(field, value, "must be a number")
    try:
        return float(value)
    except OverflowError:
        raise InvalidOption(field, value, "is too large") from None

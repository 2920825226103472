"""The tables that spots and games share, read and written: [bets], [rules] and [lines].

For each of bet, raise, reraise, donk and max_raises, the most specific table that sets it wins: street and player, then
street, then player, then all. What is written has as few specific tables as possible.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from dataclasses import fields as dataclass_fields
from typing import Any, TypedDict

from regretless.errors import InvalidOption
from regretless.holdem.spots.sizes import Size, number_text, parse_sizes, sizes_text
from regretless.holdem.spots.spot_fields import (
    STREETS,
    Bets,
    Lines,
    PlayerName,
    PlayerSizes,
    Rules,
    StreetName,
    StreetSizes,
    check_cap,
)
from regretless.holdem.spots.toml_fields import FileKind, number_in, table_in, text_in, texts_in

__all__ = [
    "CAP", "HOMES", "RULES", "SIZES", "BettingFields", "every_table", "quoted", "read_bets", "read_betting",
    "read_rules", "write_betting",
]  # fmt: skip

SIZES = ("bet", "raise", "reraise", "donk")
CAP = "max_raises"
RULES = tuple(field.name for field in dataclass_fields(Rules))
LINES = tuple(field.name for field in dataclass_fields(Lines))
MAX_ONLY = 40_000  # lines of a tree given by its lines; more than this have too many decisions (`tree_size`)
HOMES = {"bets": (*SIZES, CAP), "rules": RULES, "lines": LINES}  # fields of each table

_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{0,12})?|\.\d{1,12}) *%")
_BET_TABLES = (*SIZES, CAP, "oop", "ip", *STREETS)


class BettingFields(TypedDict):
    """The fields of a spot or a game that these tables give."""

    bets: Bets
    rules: Rules
    lines: Lines


def read_betting(file: Mapping[str, object], kind: FileKind, **defaults: float) -> BettingFields:
    """The three tables of a file, each of which may be absent; `defaults` replace those of `Rules`."""
    tables = {name: table_in(file.get(name, {}), name) for name in ("bets", "rules", "lines")}
    return {
        "bets": read_bets(tables["bets"], kind),
        "rules": read_rules(tables["rules"], kind, **defaults),
        "lines": _read_lines(tables["lines"], kind),
    }


def read_rules(table: Mapping[str, object], kind: FileKind, **defaults: float) -> Rules:
    """The rules; `defaults` replace those of `Rules`."""
    kind.check_known(table, RULES, "rules")
    fields = dict(defaults)
    for key, value in table.items():
        read = _share_in if key == "rake" else number_in
        fields[key] = read(value, f"rules.{key}")
    return Rules(**fields)


def _share_in(value: object, field: str) -> float:
    """A share of the pot, as a number or in percent.

    >>> _share_in(0.05, "rules.rake"), _share_in("5%", "rules.rake")
    (0.05, 0.05)
    """
    if isinstance(value, str) and (percent := _PERCENT.fullmatch(value.strip())):
        return float(percent[1]) / 100
    return number_in(value, field)


def _read_lines(table: Mapping[str, object], kind: FileKind) -> Lines:
    """Lines given by hand."""
    kind.check_known(table, LINES, "lines")
    limits = {"only": {"at_most": MAX_ONLY}}
    return Lines(**{key: tuple(texts_in(value, f"lines.{key}", **limits.get(key, {}))) for key, value in table.items()})


def read_bets(table: Mapping[str, object], kind: FileKind) -> Bets:
    """Every size of every street and player, from the most specific table that sets it."""
    kind.check_known(table, _BET_TABLES, "bets")
    tables: dict[str, Mapping[str, object]] = {"bets": table}
    for key in ("oop", "ip", *STREETS):
        if key in table:
            inner = tables[f"bets.{key}"] = table_in(table[key], f"bets.{key}")
            kind.check_known(inner, (*SIZES, CAP, "oop", "ip") if key in STREETS else (*SIZES, CAP), f"bets.{key}")
            for player in ("oop", "ip"):
                if player in inner:
                    name = f"bets.{key}.{player}"
                    tables[name] = table_in(inner[player], name)
                    kind.check_known(tables[name], (*SIZES, CAP), name)
    read: dict[str, object] = {}
    for name, sizes in tables.items():
        for key in (*SIZES, CAP):
            if key in sizes:
                read[f"{name}.{key}"] = _bet_field(name, key, sizes[key])
    return Bets(**{street: _street_sizes(read, street) for street in STREETS})


def _bet_field(table: str, kind: str, value: object) -> tuple[Size, ...] | tuple[tuple[Size, ...], ...] | int:
    """One key of a table of bets: sizes, lists of sizes for `reraise`, a number for `max_raises`."""
    field = f"{table}.{kind}"
    if kind == "donk" and table.endswith(".ip"):
        raise InvalidOption(field, value, "is not allowed: only the player out of position can donk")
    if kind == CAP:
        if table.endswith((".oop", ".ip")):
            raise InvalidOption(field, value, "is not allowed: it counts the raises of both players together")
        return check_cap(field, value)
    if kind == "reraise":
        if isinstance(value, str):
            return (parse_sizes(value, field, raises=True),)
        if not isinstance(value, list | tuple) or not value:
            raise InvalidOption(field, value, "must be a text in quotes, or a list of texts, one for each raise")
        texts = texts_in(value, field)
        return tuple(parse_sizes(text, f"{field}[{number}]", raises=True) for number, text in enumerate(texts))
    return parse_sizes(text_in(value, field), field, raises=kind == "raise")


def _street_sizes(read: Mapping[str, object], street: StreetName) -> StreetSizes:
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

    return StreetSizes(oop=of_player("oop"), ip=of_player("ip"), max_raises=finest(CAP, f"bets.{street}", "bets"))


def every_table(bets: Bets) -> dict[str, object]:
    """The tables of bets with every size in that of its street and player, as `read_bets` reads them.

    >>> from regretless.holdem.spots.sizes import parse_sizes
    >>> every_table(Bets.alike(bet=parse_sizes("50%")))["turn"]["ip"]
    {'bet': '50%', 'raise': ''}
    """
    tables: dict[str, Any] = {}
    for street in STREETS:
        sizes = bets.of_street(street)
        table: dict[str, Any] = {} if sizes.max_raises is None else {CAP: sizes.max_raises}
        for player, each in (("oop", sizes.oop), ("ip", sizes.ip)):
            table[player] = {"bet": sizes_text(each.bet), "raise": sizes_text(each.raise_)}
            if each.reraise:
                table[player]["reraise"] = [sizes_text(raises) for raises in each.reraise]
        if sizes.oop.donk is not None:
            table["oop"]["donk"] = sizes_text(sizes.oop.donk)
        tables[street] = table
    return tables


# --- writing ---------------------------------------------------------------------------------------------------------


def quoted(text: str) -> str:
    """A text as TOML."""
    return json.dumps(text, ensure_ascii=False)  # basic strings in TOML use the same escapes as JSON


def write_betting(bets: Bets, rules: Rules, lines: Lines, **defaults: float) -> list[str]:
    """The lines of the three tables, without those that are empty; `defaults` replace those of `Rules`."""
    return _write_bets(bets) + _write_rules(rules, defaults) + _write_lines(lines)


def _write_bets(bets: Bets) -> list[str]:
    """The tables of bets: sizes that apply everywhere in [bets], others in the table of their street."""
    sizes = {(street, player): _sizes(bets.of(street, player)) for street in STREETS for player in ("oop", "ip")}
    alike = all(each == sizes["flop", "oop"] for each in sizes.values())
    one_cap = len({bets.of_street(street).max_raises for street in STREETS}) == 1
    lines = _table("[bets]", (sizes["flop", "oop"] if alike else []) + (_cap(bets.flop) if one_cap else []))
    for street in STREETS:
        street_sizes = bets.of_street(street)
        donk = [] if street_sizes.oop.donk is None else [f'donk = "{sizes_text(street_sizes.oop.donk)}"']
        cap = [] if one_cap else _cap(street_sizes)
        oop, ip = sizes[street, "oop"], sizes[street, "ip"]
        if alike or oop == ip:
            lines += _table(f"[bets.{street}]", ([] if alike else oop) + cap + donk)
        else:
            lines += _table(f"[bets.{street}]", cap)
            lines += _table(f"[bets.{street}.oop]", oop + donk) + _table(f"[bets.{street}.ip]", ip)
    return lines


def _table(name: str, lines: list[str]) -> list[str]:
    return ["", name, *lines] if lines else []


def _sizes(sizes: PlayerSizes) -> list[str]:
    lines = [f'bet = "{sizes_text(sizes.bet)}"', f'raise = "{sizes_text(sizes.raise_)}"']
    if sizes.reraise:
        texts = [f'"{sizes_text(each)}"' for each in sizes.reraise]
        lines.append(f"reraise = {texts[0] if len(texts) == 1 else '[' + ', '.join(texts) + ']'}")
    return lines


def _cap(street: StreetSizes) -> list[str]:
    return [] if street.max_raises is None else [f"max_raises = {street.max_raises}"]


def _write_rules(rules: Rules, defaults: Mapping[str, float]) -> list[str]:
    """The table of rules that differ from the defaults."""
    defaults = {**asdict(Rules()), **defaults}
    changed = [f"{key} = {number_text(value)}" for key, value in asdict(rules).items() if value != defaults[key]]
    return ["", "[rules]", *changed] if changed else []


def _write_lines(lines: Lines) -> list[str]:
    """The table of lines given by hand."""
    entries = [f"{key} = [{', '.join(map(quoted, texts))}]" for key, texts in vars(lines).items() if texts]
    return ["", "[lines]", *entries] if entries else []

"""The tables that spots and games share: [bets], [rules] and [lines].

For each of bet, raise, reraise, donk and max_raises, the most specific table that sets it wins: street and player, then
street, then player, then all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields as dataclass_fields
from typing import Any

from regretless.errors import InvalidOption
from regretless.holdem.spots.fields import FileKind, number_in, table_in, text_in, texts_in
from regretless.holdem.spots.question import (
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
from regretless.holdem.spots.sizes import Size, parse_sizes

__all__ = ["CAP", "HOMES", "RULES", "SIZES", "read_bets", "read_lines", "read_rules"]

SIZES = ("bet", "raise", "reraise", "donk")
CAP = "max_raises"
RULES = tuple(field.name for field in dataclass_fields(Rules))
HOMES = {"bets": (*SIZES, CAP), "rules": RULES, "lines": ("add", "remove")}  # fields of each table

_BET_TABLES = (*SIZES, CAP, "oop", "ip", *STREETS)


def read_rules(table: Mapping[str, Any], kind: FileKind, **defaults: float) -> Rules:
    """The rules; `defaults` replace those of `Rules`."""
    kind.check_known(table, RULES, "rules")
    return Rules(**defaults | {key: number_in(value, f"rules.{key}") for key, value in table.items()})


def read_lines(table: Mapping[str, Any], kind: FileKind) -> Lines:
    """Lines added or removed by hand."""
    kind.check_known(table, ("add", "remove"), "lines")
    return Lines(**{key: tuple(texts_in(value, f"lines.{key}")) for key, value in table.items()})


def read_bets(table: Mapping[str, Any], kind: FileKind) -> Bets:
    """Every size of every street and player, from the most specific table that sets it."""
    kind.check_known(table, _BET_TABLES, "bets")
    found: dict[str, Mapping[str, Any]] = {"bets": table}
    for key in ("oop", "ip", *STREETS):
        if key in table:
            inner = found[f"bets.{key}"] = table_in(table[key], f"bets.{key}")
            kind.check_known(inner, (*SIZES, CAP, "oop", "ip") if key in STREETS else (*SIZES, CAP), f"bets.{key}")
            for player in ("oop", "ip"):
                if player in inner:
                    name = f"bets.{key}.{player}"
                    found[name] = table_in(inner[player], name)
                    kind.check_known(found[name], (*SIZES, CAP), name)
    read: dict[str, Any] = {}
    for name, sizes in found.items():
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
        return tuple(parse_sizes(text, f"{field}[{place}]", raises=True) for place, text in enumerate(texts))
    return parse_sizes(text_in(value, field), field, raises=kind == "raise")


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

    return StreetSizes(oop=of_player("oop"), ip=of_player("ip"), max_raises=finest(CAP, f"bets.{street}", "bets"))

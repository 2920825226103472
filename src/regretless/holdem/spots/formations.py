"""Common formations that ship with the package: who raised, who called, both ranges, pot and stack."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["Formation", "Seat", "formations"]


@dataclass(frozen=True)
class Seat:
    """A player of a formation."""

    name: str  # "BTN"
    range: str


@dataclass(frozen=True)
class Formation:
    """Two ranges that meet on the flop, in big blinds."""

    key: str
    group: str
    label: str
    pot: float
    stack: float
    oop: Seat
    ip: Seat


@cache
def formations() -> tuple[Formation, ...]:
    """All formations, in the order they are listed.

    >>> formations()[0].label, formations()[0].ip.name
    ('BTN opens, BB calls', 'BTN')
    """
    text = files("regretless.holdem.spots").joinpath("formations.toml").read_text(encoding="utf-8")
    return tuple(
        Formation(**(entry | {"oop": Seat(**entry["oop"]), "ip": Seat(**entry["ip"])}))
        for entry in tomllib.loads(text)["formation"]
    )

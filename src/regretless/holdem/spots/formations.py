"""Common formations that ship with the package: who raised, who called, both ranges, pot and stack."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from regretless.holdem.spots.spot_fields import PlayerName
from regretless.holdem.spots.trees import TreeLevel, preset_tree

__all__ = ["CHIP", "Formation", "Seat", "formations"]

CHIP = 0.01  # big blinds


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
    raiser: PlayerName | None  # who raised last before the flop; None if nobody did
    oop: Seat
    ip: Seat
    tree: TreeLevel = "usual"  # to start from

    def fields(self, level: TreeLevel | None = None) -> dict[str, Any]:
        """The fields of its spots, nested as in TOML, with its tree or another; only the board is missing.

        >>> from regretless.holdem import Spot
        >>> spot = Spot.from_mapping(formations()[0].fields() | {"board": "Ks 7d 2c"})
        >>> spot.position_of("ip"), spot.pot, spot.big_blind
        ('BTN', 5.5, 1.0)
        """
        tree = preset_tree(level or self.tree, pot=self.pot, stack=self.stack, raiser=self.raiser)
        players = {player: asdict(seat) for player, seat in (("oop", self.oop), ("ip", self.ip))}
        raiser = {} if self.raiser is None else {"raiser": self.raiser}
        return {
            "name": self.label,
            "pot": self.pot,
            "stack": self.stack,
            "big_blind": 1,
            **raiser,
            **players,
            "bets": tree["bets"],
            "rules": tree["rules"] | {"chip": CHIP},
        }


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

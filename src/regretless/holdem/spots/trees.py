"""Betting trees to start from: small, usual and fine, by how deep the stacks are and who raised before the flop.

The sizes are in `trees.toml`. Of the formations in `formations.toml`, every flop of the usual tree fits in 3 GB and is
solved to 0.5 % of the pot within a minute on two cores (docs/performance.md).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

from regretless.errors import InvalidOption
from regretless.holdem.spots.spot_fields import STREETS, PlayerName

__all__ = ["TREE_LEVELS", "TreeLevel", "preset_tree"]

TreeLevel = Literal["small", "usual", "fine"]
TREE_LEVELS: tuple[TreeLevel, ...] = get_args(TreeLevel)

DEPTHS = (("deep", 8.0), ("medium", 2.5), ("shallow", 0.0))  # with the smallest stack, in pots


def preset_tree(
    level: str, *, pot: float, stack: float, raiser: PlayerName | None = None, field: str = "tree"
) -> dict[str, Any]:
    """The tables `bets` and `rules` of a preset, nested as in a spot's TOML; `field` names the level in errors.

    `raiser`: who raised last before the flop; without one, both players bet as a raiser does.

    >>> tree = preset_tree("usual", pot=5.5, stack=97.5, raiser="ip")
    >>> tree["bets"]["flop"]["ip"]["bet"], tree["bets"]["flop"]["oop"]["bet"], tree["bets"]["turn"]["max_raises"]
    ('33%, 75%', '', 1)
    """
    if level not in TREE_LEVELS:
        raise InvalidOption(field, level, f"is not one of {', '.join(TREE_LEVELS)}")
    depth = next(name for name, smallest in DEPTHS if stack >= smallest * pot)
    if depth == "deep" and raiser != "ip":  # both players bet every street, so fewer sizes must do
        depth = "deep-oop"
    preset = _presets()[depth]
    streets = preset[level]
    bets: dict[str, Any] = {"donk": ""}
    for street in STREETS:
        sizes = streets[street]
        table: dict[str, Any] = {"raise": sizes["raise"], "max_raises": sizes["max_raises"]}
        for player in ("oop", "ip"):
            table[player] = {"bet": sizes["raiser" if raiser in (None, player) else "caller"]}
        if street == "flop" and raiser == "ip":  # nobody leads into a raiser in position
            table["oop"]["bet"] = ""
        bets[street] = table
    return {"bets": bets, "rules": dict(preset["rules"])}


@cache
def _presets() -> Mapping[str, Any]:
    text = files("regretless.holdem.spots").joinpath("trees.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)

"""A `.toml` file of hold'em, read once: a spot, or a whole game if it has a game's fields."""

from __future__ import annotations

from pathlib import Path

from regretless.holdem.games.game import HoldemGame
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_toml import is_game_table
from regretless.holdem.spots.toml_fields import read_toml

__all__ = ["read_spot_or_game"]


def read_spot_or_game(path: str | Path) -> Spot | HoldemGame:
    """The spot or the game of a file; its name defaults to the file's."""
    table = read_toml(path)
    return HoldemGame.from_mapping(table, path) if is_game_table(table) else Spot.from_mapping(table, path)

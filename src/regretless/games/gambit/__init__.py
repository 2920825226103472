"""Games in Gambit's `.efg` files, read and written without Gambit."""

from regretless.games.gambit.efg_game import EfgGame, Limits, parse_efg, read_efg, to_efg, write_efg

__all__ = ["EfgGame", "Limits", "parse_efg", "read_efg", "to_efg", "write_efg"]

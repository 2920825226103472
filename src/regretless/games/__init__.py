"""The rules of each game, and adapters for the games of OpenSpiel and Gambit.

>>> from regretless import games
>>> game = games.load("leduc(ranks=6)")
>>> game.num_players()
2
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from regretless.games.battleship import Battleship, BattleshipState
from regretless.games.flop_holdem import FlopHoldem
from regretless.games.game import CHANCE, Action, Game, State
from regretless.games.goofspiel import Goofspiel, GoofspielState
from regretless.games.kuhn import Kuhn, KuhnState
from regretless.games.leduc import Leduc, LeducState
from regretless.games.liars_dice import LiarsDice, LiarsDiceState
from regretless.games.limit_holdem import HoldemState, LimitHoldem
from regretless.games.push_fold import PushFold, PushFoldState
from regretless.games.registry import GameEntry, catalogue, load, names

if TYPE_CHECKING:
    from regretless.games.gambit import parse_efg, read_efg, to_efg, write_efg
    from regretless.games.openspiel import from_openspiel, from_tabular_policy, to_tabular_policy

__all__ = [
    "CHANCE", "Action", "Battleship", "BattleshipState", "FlopHoldem", "Game", "GameEntry", "Goofspiel",
    "GoofspielState", "HoldemState", "Kuhn", "KuhnState", "Leduc", "LeducState", "LiarsDice", "LiarsDiceState",
    "LimitHoldem", "PushFold", "PushFoldState", "State", "catalogue", "from_openspiel", "from_tabular_policy", "load",
    "names", "parse_efg", "read_efg", "to_efg", "to_tabular_policy", "write_efg",
]  # fmt: skip

_ADAPTERS = {  # imported on first use
    "from_openspiel": "openspiel",
    "from_tabular_policy": "openspiel",
    "to_tabular_policy": "openspiel",
    "parse_efg": "gambit",
    "read_efg": "gambit",
    "to_efg": "gambit",
    "write_efg": "gambit",
}


def __getattr__(name: str) -> Any:
    if name not in _ADAPTERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_ADAPTERS[name]}"), name)

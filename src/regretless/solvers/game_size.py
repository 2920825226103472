"""How large a game is and how much memory solving it takes, from its compiled form."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from regretless import engines
from regretless.forms.compile import compile_history
from regretless.games.game import Game

__all__ = ["GameSize", "game_size"]


@dataclass(frozen=True)
class GameSize:
    """The size of a game."""

    nodes: int  # histories
    information_sets: int
    entries: int  # actions over all information sets
    memory_bytes: int  # of a solve by the engine that is chosen by default

    def as_json(self) -> dict[str, Any]:
        """What `regretless estimate --json` prints."""
        return asdict(self)


def game_size(game: Game[Any]) -> GameSize:
    """The size of a game, which is compiled to measure it; one that does not fit in memory raises `WouldNotFit`.

    >>> from regretless.games import Leduc
    >>> size = game_size(Leduc())
    >>> size.nodes, size.information_sets, size.entries
    (9457, 936, 2184)
    """
    form = compile_history(game)
    return GameSize(
        nodes=len(form.parent),
        information_sets=len(form.keys),
        entries=int(form.first_pair[-1]),
        memory_bytes=engines.create("auto", form).memory_bytes,
    )

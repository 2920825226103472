"""The information sets of a solved game."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from regretless.page.endpoint import Routes
from regretless.page.folder import File
from regretless.page.jobs import CURVE, curve_json
from regretless.page.library import Library
from regretless.page.schema import Json, array, integer, nullable, number, obj, rounded, text
from regretless.solving.game_solution import GameSolution

__all__ = ["game_json", "routes"]

routes = Routes()

GAME = obj(
    {
        "file": text(),
        "revision": text(),
        "game": text(),
        "variant": text(),
        "iterations": integer(),
        "exploitability": number(),
        "nash_conv": number(),
        "values": array(number()),
        "unit": text(),
        "seconds": number(),
        "information_sets": integer("of the whole game"),
        "found": integer("whose names contain the text"),
        "offset": integer(),
        "actions": array(text()),
        "sets": array(
            obj(
                {
                    "key": text(),
                    "private": nullable(text()),
                    "history": text(),
                    "actions": array(text()),
                    "probabilities": array(number()),
                }
            )
        ),
        "curve": CURVE,
    }
)
_CARD_FIRST = re.compile(r"([^:]*):(.*)", re.DOTALL)  # Kuhn's and Leduc's names: the player's card, then the history


def game_json(solution: GameSolution, *, find: str, offset: int, limit: int) -> Json:
    """The figures of a game, and the information sets whose names contain a text."""
    strategy = solution.strategy
    keys = [key for key in strategy if find in key]
    listed = keys[offset : offset + limit]
    actions: dict[str, None] = {}  # a set in the order of its first uses
    for key in listed:
        actions.update(dict.fromkeys(strategy[key]))
    return {
        "game": solution.game,
        "variant": solution.variant,
        "iterations": solution.iterations,
        "exploitability": solution.scale * max(solution.exploitability, 0.0),
        "nash_conv": solution.scale * max(solution.nash_conv, 0.0),
        "values": [rounded(value) for value in solution.values],
        "unit": solution.unit,
        "seconds": solution.seconds,
        "information_sets": len(strategy),
        "found": len(keys),
        "offset": offset,
        "actions": list(actions),
        "sets": [_set_json(key, strategy[key]) for key in listed],
        "curve": curve_json(solution),
    }


def _set_json(key: str, mix: Mapping[str, float]) -> Json:
    parts = _CARD_FIRST.fullmatch(key)
    return {
        "key": key,
        "private": parts[1] if parts else None,
        "history": parts[2] if parts else key,
        "actions": list(mix),
        "probabilities": [rounded(share) for share in mix.values()],
    }


@routes.endpoint("GET", "/game", "Information sets of a solved game", GAME)
def game(
    library: Library,
    file: File,
    find: Annotated[str, text("part of an information set's name", longest=200)] = "",
    offset: Annotated[int, integer(minimum=0, maximum=10**9)] = 0,
    most: Annotated[int, integer(minimum=1, maximum=2000)] = 200,
) -> Json:
    with library.game(file) as (solution, revision):
        return {"file": file, "revision": revision} | game_json(solution, find=find, offset=offset, limit=most)

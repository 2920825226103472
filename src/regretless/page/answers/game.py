"""A solved game as a table of information sets."""

from __future__ import annotations

import re
from typing import Any

from regretless.page.answers.numbers import rounded
from regretless.solving.game_solution import GameSolution

__all__ = ["game_json"]

_CARD_FIRST = re.compile(
    r"([^:]*):(.*)", re.DOTALL
)  # Kuhn's and Leduc's names: what the player holds, then the history


def game_json(solution: GameSolution, *, find: str, offset: int, most: int) -> dict[str, Any]:
    """The figures of a game, and the information sets whose names contain a text."""
    strategy = solution.strategy
    keys = [key for key in strategy if find in key]
    shown = keys[offset : offset + most]
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
        "actions": list(dict.fromkeys(action for key in shown for action in strategy[key])),
        "sets": [_set_json(key, dict(strategy[key])) for key in shown],
        "curve": [[point.iteration, point.seconds, max(point.exploitability, 0.0)] for point in solution.curve],
    }


def _set_json(key: str, played: dict[str, float]) -> dict[str, Any]:
    parts = _CARD_FIRST.fullmatch(key)
    return {
        "key": key,
        "private": parts[1] if parts else None,
        "history": parts[2] if parts else key,
        "actions": list(played),
        "probabilities": [rounded(share) for share in played.values()],
    }

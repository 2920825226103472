"""Lines of play of a game from the deal as tables: a row per hand, or the range of each action as text.

The range of an action is what the player holds after taking it: the weight of a hand is the probability that the player
plays the whole line and then the action with it. That is how other programs, and spot files, take ranges.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from regretless.cards.hands import HAND_COUNT, hand_text
from regretless.cards.ranges import Range
from regretless.holdem.reading.places import Played
from regretless.holdem.spots.question import PlayerName

__all__ = ["ActionRange", "action_ranges", "hand_rows"]

DECIMALS = 3  # of a weight in a range's text


@dataclass(frozen=True)
class ActionRange:
    """The hands that take one action."""

    line: str
    player: PlayerName
    action: str
    frequency: float  # how often the action is taken, over the whole range; NaN if no hand gets there
    hands: Range


def action_ranges(nodes: Iterable[Played]) -> list[ActionRange]:
    """The range of every action at each of these nodes."""
    return [
        ActionRange(played.line, played.player, action, often, _range(played, row))
        for played in nodes
        for action, often, row in zip(played.actions, played.frequencies, range(len(played.actions)), strict=True)
    ]


def _range(played: Played, row: int) -> Range:
    weights = np.zeros(HAND_COUNT)
    weights[played.hand] = np.clip(played.reach * played.strategy[row], 0.0, 1.0).round(DECIMALS)
    return Range(weights)


def hand_rows(played: Played) -> list[dict[str, Any]]:
    """A row per hand: its weight in the range here, the opposing hands it can face, and each action's probability."""
    columns = zip(played.hand, played.reach, played.weight, played.strategy.T, strict=True)
    return [
        {
            "line": played.line,
            "player": played.player,
            "hand": hand_text(int(hand)),
            "weight": float(reach),
            "matchups": float(weight / reach) if reach > 0 else 0.0,
            **dict(zip(played.actions, row.tolist(), strict=True)),
        }
        for hand, reach, weight, row in columns
    ]

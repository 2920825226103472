"""Limit betting as features: rounds × positions × (occurred, fraction of the pot), as in the paper.

Position k of a round is its k-th action. `occurred` is 1 once the action was taken; `fraction` is the chips that it put
in, relative to the pot before it: 0 for a check.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from regretless.games.limit_betting import LimitBetting, Move, Point

__all__ = ["bet_features", "longest_round"]


def longest_round(betting: LimitBetting) -> int:
    """The most actions of a round: a check, all the raises and a call."""
    return max(betting.raises) + 2


def bet_features(betting: LimitBetting, moves: Sequence[Move], *, rounds: int, positions: int) -> NDArray[np.float32]:
    """[rounds · positions · 2] features of the betting so far.

    >>> betting = LimitBetting(posted=(1, 1), bets=(2, 4), raises=(2, 2), opens=(0, 0))
    >>> bet_features(betting, [Move.CALL, Move.RAISE], rounds=2, positions=4).reshape(2, 4, 2).tolist()[0]
    [[1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
    """
    features = np.zeros((rounds, positions, 2), np.float32)
    point: Point | None = betting.first()
    position = 0
    for move in moves:
        if point is None:
            raise ValueError(f"{move} after the end of the betting")
        features[point.round, position] = 1.0, _paid(betting, point, move) / sum(point.paid)
        following = betting.after(point, move)
        position = position + 1 if following is not None and following.round == point.round else 0
        point = following
    return features.reshape(-1)


def _paid(betting: LimitBetting, point: Point, move: Move) -> float:
    """Chips that a move puts in."""
    if move is Move.FOLD:
        return 0.0
    total = betting.raised_to(point) if move is Move.RAISE else max(point.paid)
    return total - point.paid[point.player]

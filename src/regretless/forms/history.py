"""The history form: every history of a game as a row of arrays, breadth first.

Nodes are numbered by depth, and siblings are adjacent, so each depth and each node's children are contiguous slices.
Information sets are numbered in order of first appearance, so a player's earlier sets come before later ones. The
actions of an information set are adjacent *pairs* (information set, action), and everything CFR accumulates is an
array over pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.reprs import brief

__all__ = ["TERMINAL", "AnyArray", "FloatArray", "HistoryForm", "IntArray", "Strategy"]

IntArray = NDArray[np.signedinteger]
FloatArray = NDArray[np.float64]
AnyArray = NDArray[Any]  # one of several number types, which its name tells: an array of a snapshot or a file
Strategy = Mapping[str, Mapping[str, float]]  # information set -> action -> probability

TERMINAL = -2  # value of `player` where the game is over; `games.CHANCE` is -1


@dataclass(frozen=True)
class HistoryForm:
    """A game as arrays. N nodes, T terminals, P players, I information sets, Q pairs, D + 1 depths."""

    name: str  # the game, as a user types it
    players: int  # P
    zero_sum: bool  # whether the payoffs of every terminal sum to 0

    parent: IntArray  # [N]         -1 at the root, which is node 0
    player: IntArray  # [N]         who moves; CHANCE or TERMINAL
    information_set: IntArray  # [N]  of the player to move; -1 where no player moves
    pair: IntArray  # [N]           pair that leads to the node; -1 after a chance move and at the root
    chance: FloatArray  # [N]       probability of the chance move that leads to the node; 1 after a player's move
    first_child: IntArray  # [N+1]  children of node n are first_child[n] : first_child[n+1]
    level: IntArray  # [D+2]        nodes of depth d are level[d] : level[d+1]

    terminal: IntArray  # [T]       terminal nodes, ascending
    payoff: FloatArray  # [T, P]    payoff of each player

    information_set_player: IntArray  # [I]
    first_pair: IntArray  # [I+1]   pairs of information set i are first_pair[i] : first_pair[i+1]
    keys: tuple[str, ...]  # [I]    the game's text for each information set
    actions: tuple[tuple[str, ...], ...]  # [I]  its actions, in the order of its pairs

    __repr__ = brief

    @property
    def set_of_pair(self) -> IntArray:
        """[Q] the information set of each pair."""
        return np.repeat(np.arange(len(self.keys)), np.diff(self.first_pair))

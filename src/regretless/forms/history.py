"""The history form: every history of a game as a row of arrays, breadth first.

Nodes are numbered by depth, and the children of a node are adjacent, so each depth is a contiguous slice and each
node's children are one too. Information sets are numbered in order of first appearance, so the set in which a player
moved before comes before the set in which they move next; the actions of an information set are adjacent *pairs*
(information set, action), and everything CFR accumulates is one array over pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regretless.reprs import brief

__all__ = ["TERMINAL", "FloatArray", "HistoryForm", "IntArray", "Strategy"]

IntArray = NDArray[np.signedinteger]
FloatArray = NDArray[np.float64]
Strategy = Mapping[str, Mapping[str, float]]  # information set -> action -> probability

TERMINAL = -2  # what `player` holds where the game is over; `games.CHANCE` is -1


@dataclass(frozen=True)
class HistoryForm:
    """A game as arrays. N nodes, T terminals, P players, I information sets, Q pairs, D + 1 depths."""

    name: str  # the game, as a user types it
    players: int  # P
    zero_sum: bool  # whether payoffs of every terminal sum to 0

    parent: IntArray  # [N]         node above; -1 at the root, which is node 0
    player: IntArray  # [N]         who moves; CHANCE or TERMINAL
    information_set: IntArray  # [N]  of the player to move; -1 where no player moves
    pair: IntArray  # [N]           pair by which the node was entered; -1 if chance entered it, and at the root
    chance: FloatArray  # [N]       probability with which chance entered the node; 1 where a player did
    first_child: IntArray  # [N+1]  children of node n are first_child[n] : first_child[n+1]
    level: IntArray  # [D+2]        nodes of depth d are level[d] : level[d+1]

    terminal: IntArray  # [T]       terminal nodes, ascending
    payoff: FloatArray  # [T, P]    what each player gets there

    information_set_player: IntArray  # [I]
    first_pair: IntArray  # [I+1]   pairs of information set i are first_pair[i] : first_pair[i+1]
    keys: tuple[str, ...]  # [I]    the game's text for each information set
    actions: tuple[tuple[str, ...], ...]  # [I]  its actions, in the order of its pairs

    __repr__ = brief

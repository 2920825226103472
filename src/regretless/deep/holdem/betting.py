"""The betting of a limit hold'em game as tensors: who acts, which actions are legal, where they lead, what they pay.

Every decision has three columns of actions, fold, check or call, and raise, of which some may be illegal. So each
output of a network always means the same action. Chance nodes of the betting tree are skipped: all cards are dealt at
the start, and a player sees those of the rounds so far.

Bet features are those of `worlds/bet_features.py`, always for 4 rounds × 6 positions, 48 numbers, as in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless.deep.worlds.bet_features import bet_features
from regretless.deep.worlds.world import TERMINAL
from regretless.forms.betting import flatten, limit_branches
from regretless.forms.public import BettingTree, NodeKind
from regretless.games.limit_betting import LimitBetting, Move
from regretless.games.limit_holdem import LimitHoldemRules

__all__ = ["ACTIONS", "BET_FEATURES", "POSITIONS", "ROUNDS", "BettingTensors", "action_columns", "compile_betting"]

MOVES = (Move.FOLD, Move.CALL, Move.RAISE)  # by column
ACTIONS = len(MOVES)

ROUNDS, POSITIONS = 4, 6
BET_FEATURES = ROUNDS * POSITIONS * 2


@dataclass(frozen=True)
class BettingTensors:
    """N betting nodes, of which D are decisions. Payoffs are in big blinds."""

    tree: BettingTree
    player: Tensor  # [N] int64          who decides, or `TERMINAL`
    round: Tensor  # [N] int64
    legal: Tensor  # [N, 3] bool
    child: Tensor  # [N, 3] int64        where an action leads: the next decision, or a terminal; 0 if illegal
    decision: Tensor  # [N] int16        number of a decision, in tree order; -1 elsewhere
    node: Tensor  # [D] int64            the node of a decision
    folded: Tensor  # [N] float32        what player 0 gets at a fold; 0 elsewhere
    stake: Tensor  # [N] float32         what the winner gets at a showdown; 0 elsewhere
    features: Tensor  # [D, 48] float32  bet features of a decision


def compile_betting(game: LimitHoldemRules, device: torch.device | str) -> BettingTensors:
    """The betting of a game, on a device."""
    tree = flatten(limit_branches(game.betting, game.move_name))
    decides = tree.kind == NodeKind.DECISION
    nodes, children = np.flatnonzero(decides), np.flatnonzero(decides[tree.parent] & (tree.parent >= 0))
    # Below a chance node there is one child, which is a decision in a limit game.
    leads = np.where(tree.kind == NodeKind.CHANCE, tree.first_child[:-1], np.arange(len(tree.kind)))
    legal, child = np.zeros((len(leads), ACTIONS), dtype=np.bool_), np.zeros((len(leads), ACTIONS), dtype=np.int64)
    place = tree.parent[children], action_columns(tree)[children]
    legal[place], child[place] = True, leads[children]
    number = np.full(len(leads), -1, dtype=np.int16)
    number[nodes] = np.arange(len(nodes))
    least, most = tree.paid.min(axis=1) / game.big_blind, tree.paid.max(axis=1) / game.big_blind
    folded = np.where(tree.kind == NodeKind.FOLD, np.where(tree.player == 0, -least, least), 0.0)

    features = _bet_features(game.betting, tree, nodes)

    def tensor(array: NDArray[np.generic], dtype: torch.dtype) -> Tensor:
        return torch.tensor(array, device=device, dtype=dtype)

    return BettingTensors(
        tree=tree,
        player=tensor(np.where(decides, tree.player, TERMINAL), torch.int64),
        round=tensor(tree.street, torch.int64),
        legal=tensor(legal, torch.bool),
        child=tensor(child, torch.int64),
        decision=tensor(number, torch.int16),
        node=tensor(nodes, torch.int64),
        folded=tensor(folded, torch.float32),
        stake=tensor(np.where(tree.kind == NodeKind.SHOWDOWN, most, 0.0), torch.float32),
        features=tensor(features, torch.float32),
    )


def action_columns(tree: BettingTree) -> NDArray[np.int64]:
    """[N] the column of the action that leads to each node; of no meaning at the root and after a chance node."""
    most = tree.paid.max(axis=1)
    moves = np.where(most > most[tree.parent], MOVES.index(Move.RAISE), MOVES.index(Move.CALL))
    return np.where(tree.kind == NodeKind.FOLD, MOVES.index(Move.FOLD), moves)


def _bet_features(betting: LimitBetting, tree: BettingTree, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
    """[nodes, 48] what happened before each of these decisions."""
    parent, column = tree.parent.tolist(), action_columns(tree).tolist()
    acted = (tree.kind == NodeKind.DECISION).tolist()
    features = np.empty((len(nodes), BET_FEATURES), dtype=np.float32)
    for row, node in enumerate(nodes.tolist()):
        moves: list[Move] = []
        while (above := parent[node]) >= 0:
            if acted[above]:
                moves.append(MOVES[column[node]])
            node = above
        features[row] = bet_features(betting, moves[::-1], rounds=ROUNDS, positions=POSITIONS)
    return features

"""Limit hold'em as batches of states: flop hold'em, and heads-up limit hold'em with four rounds.

A state is a deal and a betting node. All cards are dealt at once, so that everything that depends on cards is computed
once per deal, whatever the number of states that share it: what each player sees in each round, in canonical suits, and
who wins a showdown. A traversal that visits many lines of one deal compares them on the same cards; each line alone is
sampled as by the rules, so estimates stay unbiased.

An observation is eight integers: the seven canonical cards of `holdem_cards` (−1: not dealt yet), and the number of the
betting decision. Utilities are in big blinds.

The betting is compiled to tensors: who acts, which actions are legal, where they lead, what they pay. Every decision
has three columns of actions, fold, check or call, and raise, of which some may be illegal, so each output of a network
always means the same action. Chance nodes of the betting tree are skipped: all cards are dealt at the start, and a
player sees those of the rounds so far. Bet features are those of `worlds.bet_features`, always for 4 rounds × 6
positions, 48 numbers, as in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless.cards.deck import DECK
from regretless.deep.holdem_cards import ABSENT, CARDS, FLOP, HOLE, CardsAndBets, Strengths, canonical_cards
from regretless.deep.worlds import TERMINAL, World, bet_features
from regretless.forms.betting import flatten, limit_branches
from regretless.forms.public import BettingTree, NodeKind
from regretless.games.limit_betting import LimitBetting, Move
from regretless.games.limit_holdem import LimitHoldemRules

__all__ = [
    "ACTIONS", "BET_FEATURES", "MOVES", "OBSERVATION", "POSITIONS", "ROUNDS", "BettingTensors", "HoldemStates",
    "HoldemWorld", "action_columns", "compile_betting", "deal_cards",
]  # fmt: skip

MOVES = (Move.FOLD, Move.CALL, Move.RAISE)  # by column
ACTIONS = len(MOVES)

ROUNDS, POSITIONS = 4, 6
BET_FEATURES = ROUNDS * POSITIONS * 2


@dataclass(frozen=True)
class BettingTensors:
    """N betting nodes, D of them decisions. Payoffs are in big blinds."""

    tree: BettingTree
    player: Tensor  # [N] int64          who decides, or `TERMINAL`
    round: Tensor  # [N] int64
    legal: Tensor  # [N, 3] bool
    child: Tensor  # [N, 3] int64        the next decision or terminal after an action; 0 if illegal
    decision: Tensor  # [N] int16        number of a decision, in tree order; -1 elsewhere
    node: Tensor  # [D] int64            the node of a decision
    folded: Tensor  # [N] float32        payoff of player 0 at a fold; 0 elsewhere
    stake: Tensor  # [N] float32         payoff of the winner at a showdown; 0 elsewhere
    features: Tensor  # [D, 48] float32  bet features of a decision


def compile_betting(game: LimitHoldemRules, device: torch.device | str) -> BettingTensors:
    """The betting of a game, on a device."""
    tree = flatten(limit_branches(game.betting, game.move_name))
    decides = tree.kind == NodeKind.DECISION
    nodes, children = np.flatnonzero(decides), np.flatnonzero(decides[tree.parent] & (tree.parent >= 0))
    # Below a chance node there is one child, which is a decision in a limit game.
    next_node = np.where(tree.kind == NodeKind.CHANCE, tree.first_child[:-1], np.arange(len(tree.kind)))
    legal = np.zeros((len(next_node), ACTIONS), dtype=np.bool_)
    child = np.zeros((len(next_node), ACTIONS), dtype=np.int64)
    row, column = tree.parent[children], action_columns(tree)[children]
    legal[row, column], child[row, column] = True, next_node[children]
    number = np.full(len(next_node), -1, dtype=np.int16)
    number[nodes] = np.arange(len(nodes))
    smaller, larger = tree.paid.min(axis=1) / game.big_blind, tree.paid.max(axis=1) / game.big_blind
    folded = np.where(tree.kind == NodeKind.FOLD, np.where(tree.player == 0, -smaller, smaller), 0.0)

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
        stake=tensor(np.where(tree.kind == NodeKind.SHOWDOWN, larger, 0.0), torch.float32),
        features=tensor(features, torch.float32),
    )


def action_columns(tree: BettingTree) -> NDArray[np.int64]:
    """[N] the column of the action that leads to each node; meaningless at the root and after a chance node."""
    paid = tree.paid.max(axis=1)
    moves = np.where(paid > paid[tree.parent], MOVES.index(Move.RAISE), MOVES.index(Move.CALL))
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


# --- the world -------------------------------------------------------------------------------------------------------

OBSERVATION = CARDS + 1
HANDS = 4  # cards of both players


class HoldemStates(NamedTuple):
    """States of deals that they share."""

    seen: Tensor  # [deals, 2, rounds, 7] int16  canonical cards that a player sees in a round
    winner: Tensor  # [deals] int8               at showdown: 1 player 0, −1 player 1, 0 both
    deal: Tensor  # [n] int64
    node: Tensor  # [n] int64                    betting node


class HoldemWorld:
    """A limit hold'em game on a device.

    >>> from regretless.games import FlopHoldem
    >>> world = HoldemWorld(FlopHoldem(), "cpu")
    >>> states = world.deal(1000, torch.Generator().manual_seed(1))
    >>> world.player(states).unique().tolist(), world.legal(states)[0].tolist()
    ([0], [True, True, True])
    """

    players = 2
    actions = ACTIONS
    observation_size = OBSERVATION
    observation_dtype = torch.int16
    distinct_observations = None

    def __init__(self, game: LimitHoldemRules, device: torch.device | str) -> None:
        self.game, self.name, self.device = game, game.name, torch.device(device)
        self.betting = compile_betting(game, self.device)
        self._strengths = Strengths(self.device)
        self._board = sum(game.cards_dealt)

    def deal(self, count: int, generator: torch.Generator) -> HoldemStates:
        """`count` deals, each at the first decision."""
        cards = deal_cards(count, HANDS + self._board, generator)
        hands, board = (cards[:, :2], cards[:, 2:HANDS]), cards[:, HANDS:]
        first, second = (self._strengths.of(torch.cat([hand, board], dim=1)) for hand in hands)
        start = torch.zeros(count, dtype=torch.int64, device=self.device)
        return HoldemStates(
            seen=torch.stack([self._seen(hand, board) for hand in hands], dim=1),
            winner=torch.sign(first.to(torch.int32) - second).to(torch.int8),
            deal=torch.arange(count, device=self.device),
            node=start,
        )

    def _seen(self, hand: Tensor, board: Tensor) -> Tensor:
        """[deals, rounds, 7] what a player sees in each round."""
        rounds = []
        for number in range(len(self.game.cards_dealt) + 1):
            shown = sum(self.game.cards_dealt[:number])
            cards = torch.full((len(hand), CARDS), ABSENT, dtype=self.observation_dtype, device=self.device)
            cards[:, HOLE] = hand
            cards[:, FLOP.start : FLOP.start + shown] = board[:, :shown]
            rounds.append(canonical_cards(cards))
        return torch.stack(rounds, dim=1)

    def player(self, states: HoldemStates) -> Tensor:
        return self.betting.player[states.node]

    def legal(self, states: HoldemStates) -> Tensor:
        return self.betting.legal[states.node]

    def observe(self, states: HoldemStates) -> Tensor:
        betting, node = self.betting, states.node
        cards = states.seen[states.deal, betting.player[node].clamp(min=0), betting.round[node]]
        return torch.cat([cards, betting.decision[node][:, None]], dim=1)

    def act(self, states: HoldemStates, action: Tensor, generator: torch.Generator) -> HoldemStates:
        return states._replace(node=self.betting.child[states.node, action])

    def utility(self, states: HoldemStates, player: int) -> Tensor:
        node = states.node
        first = self.betting.folded[node] + self.betting.stake[node] * states.winner[states.deal]
        return first if player == 0 else -first

    def select(self, states: HoldemStates, index: Tensor) -> HoldemStates:
        return states._replace(deal=states.deal[index], node=states.node[index])

    def can_observe(self, observations: Tensor) -> bool:
        cards, decision = observations[:, :CARDS], observations[:, CARDS]
        are_cards = ((cards >= ABSENT) & (cards < DECK)).all() and (cards[:, HOLE] >= 0).all()
        return bool(are_cards and ((decision >= 0) & (decision < len(self.betting.node))).all())

    def encoder(self, width: int) -> CardsAndBets:
        return CardsAndBets(self.betting.features.cpu(), width)


def deal_cards(count: int, size: int, generator: torch.Generator) -> Tensor:
    """[count, size] int16: `size` different cards per row, in every order equally likely, on the generator's device.

    The first steps of Fisher and Yates' shuffle: swap each position with one at or after it.
    """
    device = generator.device
    deck = torch.arange(DECK, dtype=torch.int16, device=device).repeat(count, 1)
    for position in range(size):
        other = torch.randint(position, DECK, (count, 1), generator=generator, device=device)
        card = deck.gather(1, other)
        deck.scatter_(1, other, deck[:, position : position + 1].clone())
        deck[:, position : position + 1] = card
    return deck[:, :size].clone()


if TYPE_CHECKING:
    _conforms: type[World[HoldemStates]] = HoldemWorld

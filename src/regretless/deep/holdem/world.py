"""Limit hold'em as batches of states: flop hold'em, and heads-up limit hold'em with four rounds.

A state is a deal and a betting node. All cards are dealt at once, so that everything that depends on cards is computed
once per deal, whatever the number of states that share it: what each player sees in each round, in canonical suits, and
who wins a showdown. A traversal that visits many lines of one deal compares them on the same cards; each line alone is
sampled as by the rules, so estimates stay unbiased.

An observation is eight integers: the seven canonical cards of `canonical` (−1: not dealt yet), and the number of the
betting decision. Utilities are in big blinds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from regretless.cards.deck import DECK
from regretless.deep.holdem.betting import ACTIONS, compile_betting
from regretless.deep.holdem.canonical import ABSENT, CARDS, FLOP, HOLE, canonical_cards
from regretless.deep.holdem.encoder import CardsAndBets
from regretless.deep.holdem.strengths import Strengths
from regretless.deep.worlds.world import World
from regretless.games.limit_holdem import LimitHoldemRules

__all__ = ["OBSERVATION", "HoldemStates", "HoldemWorld", "deal_cards"]

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
        known = ((cards >= ABSENT) & (cards < DECK)).all() and (cards[:, HOLE] >= 0).all()
        return bool(known and ((decision >= 0) & (decision < len(self.betting.node))).all())

    def encoder(self, width: int) -> CardsAndBets:
        return CardsAndBets(self.betting.features.cpu(), width)


def deal_cards(count: int, size: int, generator: torch.Generator) -> Tensor:
    """[count, size] int16: `size` different cards per row, in every order equally likely, on the generator's device.

    The first steps of Fisher and Yates: swap each place with one at or after it.
    """
    device = generator.device
    deck = torch.arange(DECK, dtype=torch.int16, device=device).repeat(count, 1)
    for place in range(size):
        other = torch.randint(place, DECK, (count, 1), generator=generator, device=device)
        card = deck.gather(1, other)
        deck.scatter_(1, other, deck[:, place : place + 1].clone())
        deck[:, place : place + 1] = card
    return deck[:, :size].clone()


if TYPE_CHECKING:
    _conforms: type[World[HoldemStates]] = HoldemWorld

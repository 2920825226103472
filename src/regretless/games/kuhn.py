"""Kuhn poker: one card each, one bet, a game small enough to solve on paper (Kuhn, 1950).

Everyone antes 1 and is dealt one of `players + 1` cards. In turn, each player passes or bets 1; after the first bet,
each of the others passes (folds) or bets (calls) once more. The highest card among those who bet, or among all players
if nobody did, takes the pot.

With two players, the value to the first is −1/18, and the equilibria form a family with parameter α in [0, 1/3]:

    first player    bets J with α and K with 3α, checks Q; calls a bet with Q at α + 1/3, with K always, with J never
    second player   after a check bets J with 1/3 and K always, Q never; calls a bet with Q at 1/3, K always, J never
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from regretless.games._checks import check_between
from regretless.games.game import CHANCE, Action, Game
from regretless.games.limit_betting import LimitBetting, Move, Point
from regretless.spelling import spelled

__all__ = ["Kuhn", "KuhnState"]

PASS: Action = "p"  # check, or fold when facing a bet
BET: Action = "b"  # bet, or call when facing one
MOVES = (PASS, BET)


class KuhnState(NamedTuple):
    """A history of Kuhn poker."""

    cards: tuple[int, ...]  # dealt so far, player 0's first; 0 is the lowest
    history: str  # moves after the deal: "", "p", "pb", …


class Kuhn(Game[KuhnState]):
    """Kuhn poker with two or more players.

    >>> Kuhn().info_set_key(KuhnState(cards=(0, 2), history="pb"))
    '0:pb'
    >>> Kuhn().utility(KuhnState(cards=(0, 2), history="pbb"), player=1)
    2.0
    """

    def __init__(self, players: int = 2) -> None:
        check_between("players", players, 2, 10)
        self.players = players
        self.name = spelled("kuhn", Kuhn, self)
        self.betting = LimitBetting(posted=(1, 1), bets=(1,), raises=(1,), opens=(0,)) if players == 2 else None
        self._contenders = self._showdowns()
        self._payoffs = {history: self._by_winner(history) for history in self._contenders}

    def num_players(self) -> int:
        return self.players

    def initial_state(self) -> KuhnState:
        return KuhnState(cards=(), history="")

    def is_terminal(self, state: KuhnState) -> bool:
        return state.history in self._contenders

    def player(self, state: KuhnState) -> int:
        if len(state.cards) < self.players:
            return CHANCE
        return len(state.history) % self.players

    def actions(self, state: KuhnState) -> Sequence[Action]:
        if len(state.cards) < self.players:
            return [str(card) for card in range(self.players + 1) if card not in state.cards]
        return MOVES

    def next_state(self, state: KuhnState, action: Action) -> KuhnState:
        cards, history = state
        if len(cards) < self.players:
            return KuhnState((*cards, int(action)), history)
        return KuhnState(cards, history + action)

    def info_set_key(self, state: KuhnState) -> str:
        return f"{state.cards[len(state.history) % self.players]}:{state.history}"

    def utility(self, state: KuhnState, player: int) -> float:
        return self.utilities(state)[player]

    def utilities(self, state: KuhnState) -> tuple[float, ...]:
        cards, history = state
        return self._payoffs[history][max(self._contenders[history], key=cards.__getitem__)]

    def move_name(self, point: Point, move: Move) -> Action:
        """The action that a move of the betting for two is called."""
        return BET if move is Move.RAISE or (move is Move.CALL and point.facing) else PASS

    def _showdowns(self) -> dict[str, tuple[int, ...]]:
        """Every terminal history, with the players who can win there."""
        showdowns = {PASS * self.players: tuple(range(self.players))}
        for first in range(self.players):
            for answers in itertools.product(MOVES, repeat=self.players - 1):
                history = PASS * first + BET + "".join(answers)
                showdowns[history] = tuple({turn % self.players for turn, move in enumerate(history) if move == BET})
        return showdowns

    def _by_winner(self, history: str) -> dict[int, tuple[float, ...]]:
        """Everyone's payoff at the end of `history`, by winner: those who bet have paid 2, the others 1."""
        everyone = range(self.players)
        paid = [1.0 + (BET in history[player :: self.players]) for player in everyone]
        return {
            winner: tuple(sum(paid) - paid[winner] if player == winner else -paid[player] for player in everyone)
            for winner in self._contenders[history]
        }

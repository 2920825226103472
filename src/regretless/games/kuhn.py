"""Kuhn poker: one card each, one bet, a game small enough to solve on paper (Kuhn, 1950).

Everyone antes 1 and is dealt one of `players + 1` cards. In turn each passes or bets 1; after the first bet, each of
the others once more passes (folds) or bets (calls). The highest card among those who bet, or among all if nobody
did, takes the pot.

With two players the value to the first is −1/18 and the equilibria form a family with one parameter α in [0, 1/3]:

    first player    bets J with α and K with 3α, checks Q; calls a bet with Q at α + 1/3, with K always, with J never
    second player   after a check bets J with 1/3 and K always, Q never; calls a bet with Q at 1/3, K always, J never
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regretless.errors import InvalidOption
from regretless.games.game import CHANCE, Action, Game

__all__ = ["Kuhn", "KuhnState"]

PASS: Action = "p"  # check, or fold when facing a bet
BET: Action = "b"  # bet, or call when facing one
MOVES = (PASS, BET)


class KuhnState(NamedTuple):
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
        if not 2 <= players <= 10:
            raise InvalidOption("players", players, "must be between 2 and 10")
        self.players = players
        self.name = "kuhn" if players == 2 else f"kuhn(players={players})"

    def num_players(self) -> int:
        return self.players

    def initial_state(self) -> KuhnState:
        return KuhnState(cards=(), history="")

    def is_terminal(self, state: KuhnState) -> bool:
        history = state.history
        first_bet = history.find(BET)
        return len(history) == (self.players if first_bet < 0 else first_bet + self.players)

    def player(self, state: KuhnState) -> int:
        if len(state.cards) < self.players:
            return CHANCE
        return len(state.history) % self.players

    def actions(self, state: KuhnState) -> Sequence[Action]:
        if len(state.cards) < self.players:
            return [str(card) for card in range(self.players + 1) if card not in state.cards]
        return MOVES

    def next_state(self, state: KuhnState, action: Action) -> KuhnState:
        if len(state.cards) < self.players:
            return KuhnState((*state.cards, int(action)), state.history)
        return KuhnState(state.cards, state.history + action)

    def info_set_key(self, state: KuhnState) -> str:
        return f"{state.cards[len(state.history) % self.players]}:{state.history}"

    def utility(self, state: KuhnState, player: int) -> float:
        return self.utilities(state)[player]

    def utilities(self, state: KuhnState) -> tuple[float, ...]:
        bettors = {turn % self.players for turn, move in enumerate(state.history) if move == BET}
        paid = [2.0 if player in bettors else 1.0 for player in range(self.players)]
        winner = max(bettors or range(self.players), key=lambda player: state.cards[player])
        return tuple(sum(paid) - paid[winner] if player == winner else -paid[player] for player in range(self.players))

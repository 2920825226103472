"""Goofspiel: sealed bids with cards for prizes, in the variant where bids stay secret (Ross, 1971).

1. Both players hold the cards 1 … `cards`. The prizes have the same values and come up in a known order: highest
   first (`descending`) or lowest first (`ascending`).
2. For each prize, both choose a card in secret; the higher card takes the prize, and a tie discards it. The cards are
   spent, and only the winner is announced: players remember their own cards and win, loss or draw.
3. The last card is played automatically. The player with more points wins 1 (`win_loss`) or the difference (`points`;
   OpenSpiel's point_difference is half of it).

Choices are simultaneous: player 0 chooses first, and player 1 then chooses without seeing that choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regretless.errors import InvalidOption
from regretless.games._checks import check_between
from regretless.games.game import Action, TwoPlayerGame
from regretless.spelling import spelled

__all__ = ["Goofspiel", "GoofspielState"]

ORDERS = ("descending", "ascending")
PAYOFFS = ("win_loss", "points")


class GoofspielState(NamedTuple):
    """A history of goofspiel. A hand is a set of cards as bits: bit k is the card k + 1."""

    first_hand: int
    second_hand: int
    first_seen: str  # what player 0 knows: own cards with w, l or d, "4w1l"
    second_seen: str
    chosen: int  # player 0's card of this round as a bit, or 0 before they choose
    lead: int  # player 0's points less player 1's


class Goofspiel(TwoPlayerGame[GoofspielState]):
    """Goofspiel with secret bids, for two players.

    >>> game = Goofspiel(cards=3)
    >>> state = game.next_state(game.next_state(game.initial_state(), "3"), "1")
    >>> game.info_set_key(state), game.actions(state), state.lead
    ('0:3w', ('1', '2'), 3)
    """

    def __init__(self, cards: int = 4, order: str = "descending", payoff: str = "win_loss") -> None:
        check_between("cards", cards, 2, 13)
        if order not in ORDERS:
            raise InvalidOption("order", order, f"must be {' or '.join(ORDERS)}")
        if payoff not in PAYOFFS:
            raise InvalidOption("payoff", payoff, f"must be {' or '.join(PAYOFFS)}")
        self.cards, self.order, self.payoff = cards, order, payoff
        self.name = spelled("goofspiel", Goofspiel, self)
        full = (1 << cards) - 1
        hands = [[card for card in range(cards) if bits >> card & 1] for bits in range(full + 1)]
        self._actions = [tuple(str(card + 1) for card in hand) for hand in hands]  # by hand
        self._bit = {str(card + 1): 1 << card for card in range(cards)}
        self._text = {1 << card: str(card + 1) for card in range(cards)}
        # The prize of a round, by a player's hand before it.
        self._prize = [len(hand) if order == "descending" else cards - len(hand) + 1 for hand in hands]

    def initial_state(self) -> GoofspielState:
        full = (1 << self.cards) - 1
        return GoofspielState(full, full, "0:", "1:", 0, 0)

    def is_terminal(self, state: GoofspielState) -> bool:
        return not state.first_hand

    def player(self, state: GoofspielState) -> int:
        return 1 if state.chosen else 0

    def actions(self, state: GoofspielState) -> Sequence[Action]:
        return self._actions[state.second_hand if state.chosen else state.first_hand]

    def next_state(self, state: GoofspielState, action: Action) -> GoofspielState:
        first_hand, second_hand, first_seen, second_seen, first, lead = state
        second = self._bit[action]
        if not first:
            return GoofspielState(first_hand, second_hand, first_seen, second_seen, second, lead)
        if first > second:
            lead += self._prize[first_hand]
            first_seen, second_seen = f"{first_seen}{self._text[first]}w", f"{second_seen}{action}l"
        elif first < second:
            lead -= self._prize[first_hand]
            first_seen, second_seen = f"{first_seen}{self._text[first]}l", f"{second_seen}{action}w"
        else:
            first_seen, second_seen = f"{first_seen}{action}d", f"{second_seen}{action}d"
        first_hand ^= first
        second_hand ^= second
        if not first_hand & (first_hand - 1):  # one card left: played automatically
            if first_hand != second_hand:
                lead += self._prize[first_hand] if first_hand > second_hand else -self._prize[first_hand]
            first_hand = second_hand = 0
        return GoofspielState(first_hand, second_hand, first_seen, second_seen, 0, lead)

    def info_set_key(self, state: GoofspielState) -> str:
        return state.second_seen if state.chosen else state.first_seen

    def utilities(self, state: GoofspielState) -> tuple[float, float]:
        lead = state.lead
        won = float(lead if self.payoff == "points" else (lead > 0) - (lead < 0))
        return won, 0.0 - won  # a tie is 0.0 for both, not −0.0

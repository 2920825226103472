"""Flop hold'em, the two-round limit game of the Deep CFR paper (Brown, Lerer, Gross, Sandholm, 2019).

1. Blinds are 50 and 100 chips; both players are dealt two cards of 52. Player 0 is the small blind.
2. First round: player 0 starts; fold, check or call, raise by 100. At most three raises per round, not counting blinds.
3. A flop of three cards is dealt and a second round follows, player 1 first.
4. The better five-card hand wins the pot; equal hands split it.

Utilities are in big blinds. With 22,100 flops × 1,176 hands × 56 decisions there are 1.455 billion information sets, so
the rules cannot be enumerated: the game is solved in its public form.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from regretless.cards.deck import DECK, card_text, parse_board
from regretless.games.game import CHANCE, Action, TwoPlayerGame
from regretless.games.limit_betting import LimitBetting, Move, Point

__all__ = ["FlopHoldem", "FlopHoldemState"]

Cards = tuple[int, ...]


class FlopHoldemState(NamedTuple):
    """A history of flop hold'em."""

    hands: tuple[Cards, ...]  # dealt so far, player 0's first
    flop: Cards  # () until it is dealt
    line: tuple[Action, ...]  # public: actions, and the flop where it was dealt
    point: Point  # the point in the betting
    ended: Move | None = None  # the move at `point` that ended the hand


class FlopHoldem(TwoPlayerGame[FlopHoldemState]):
    """Flop hold'em.

    >>> game = FlopHoldem()
    >>> state = game.initial_state()
    >>> for action in ("KhAh", "2c2d", "call"):
    ...     state = game.next_state(state, action)
    >>> game.info_set_key(state), game.actions(state)
    ('2d2c:call', ('check', 'raise 200'))
    >>> for action in ("check", "3c4cAs", "check", "check"):
    ...     state = game.next_state(state, action)
    >>> state.line, game.utilities(state)
    (('call', 'check', '3c4cAs', 'check', 'check'), (1.0, -1.0))
    """

    name = "flop-holdem"
    public_only = True
    big_blind = 100  # chips
    betting = LimitBetting(posted=(50, big_blind), bets=(100, 100), raises=3, opens=(0, 1))

    def initial_state(self) -> FlopHoldemState:
        return FlopHoldemState((), (), (), self.betting.first())

    def is_terminal(self, state: FlopHoldemState) -> bool:
        return state.ended is not None

    def player(self, state: FlopHoldemState) -> int:
        dealt = len(state.hands) == 2 and (state.point.round == 0 or state.flop)
        return state.point.player if dealt else CHANCE

    def actions(self, state: FlopHoldemState) -> Sequence[Action]:
        if self.player(state) == CHANCE:
            dealt = {card for hand in state.hands for card in hand}
            left = [card for card in range(DECK) if card not in dealt]
            return ["".join(map(card_text, cards)) for cards in combinations(left, 2 if len(state.hands) < 2 else 3)]
        return tuple(self.move_name(state.point, move) for move in self.betting.moves(state.point))

    def next_state(self, state: FlopHoldemState, action: Action) -> FlopHoldemState:
        if self.player(state) == CHANCE:
            cards = parse_board(action)
            if len(state.hands) < 2:
                return state._replace(hands=(*state.hands, cards))
            return state._replace(flop=cards, line=(*state.line, action))
        move = self.betting.moves(state.point)[self.actions(state).index(action)]
        following = self.betting.after(state.point, move)
        line = (*state.line, action)
        return (
            state._replace(line=line, ended=move) if following is None else state._replace(line=line, point=following)
        )

    def info_set_key(self, state: FlopHoldemState) -> str:
        hand = sorted(state.hands[state.point.player], reverse=True)
        return f"{''.join(map(card_text, hand))}:{', '.join(state.line)}"

    def utilities(self, state: FlopHoldemState) -> tuple[float, float]:
        if state.ended is Move.FOLD:
            stake, won = min(state.point.paid), 1 if state.point.player == 1 else -1  # by player 0
        else:
            from regretless.cards.evaluator import evaluate

            first, second = evaluate([[*hand, *state.flop] for hand in state.hands]).tolist()
            stake, won = max(state.point.paid), (first > second) - (first < second)
        return won * stake / self.big_blind, -won * stake / self.big_blind

    def move_name(self, point: Point, move: Move) -> Action:
        """The action that stands for a betting move; after `raise 300` the player has paid 300 chips in total."""
        if move is Move.RAISE:
            return f"raise {self.betting.raised_to(point)}"
        return "check" if move is Move.CALL and not point.facing else str(move)

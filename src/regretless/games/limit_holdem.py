"""Heads-up limit hold'em, and the rules that it shares with flop hold'em.

1. Blinds are 50 and 100 chips; both players are dealt two cards of 52. Player 0 is the small blind.
2. First round: player 0 starts; fold, check or call, raise by 100. The number of raises per round is capped.
3. Before each later round, cards are dealt that both players see: a flop of three, then a turn and a river of one.
   Player 1 starts in these rounds.
4. The better hand, the best five of all cards, wins the pot; equal hands split it.

Limit hold'em has four rounds with bets of 100, 100, 200 and 200 chips. A round allows a bet and three raises; in the
first round the big blind counts as the bet. These are the rules of the Annual Computer Poker Competition. Utilities are
in big blinds. With about 3 · 10^14 information sets the game is neither enumerated nor solved here: networks are
trained on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations
from typing import NamedTuple

from regretless.cards.deck import DECK, card_text, parse_board
from regretless.games.game import CHANCE, Action, TwoPlayerGame
from regretless.games.limit_betting import LimitBetting, Move, Point

__all__ = ["HoldemState", "LimitHoldem", "LimitHoldemRules"]

Cards = tuple[int, ...]


class HoldemState(NamedTuple):
    """A history of limit hold'em."""

    hands: tuple[Cards, ...]  # dealt so far, player 0's first
    board: Cards  # () until the flop is dealt
    line: tuple[Action, ...]  # public: actions, and cards where they were dealt
    point: Point  # the point in the betting
    ended: Move | None = None  # the move at `point` that ended the hand


class LimitHoldemRules(TwoPlayerGame[HoldemState]):
    """Limit hold'em with any number of rounds."""

    public_only = True
    big_blind = 100  # chips
    betting: LimitBetting
    cards_dealt: tuple[int, ...]  # cards dealt before each round after the first

    def initial_state(self) -> HoldemState:
        return HoldemState((), (), (), self.betting.first())

    def is_terminal(self, state: HoldemState) -> bool:
        return state.ended is not None

    def player(self, state: HoldemState) -> int:
        dealt = len(state.hands) == 2 and len(state.board) == sum(self.cards_dealt[: state.point.round])
        return state.point.player if dealt else CHANCE

    def actions(self, state: HoldemState) -> Sequence[Action]:
        if self.player(state) == CHANCE:
            dealt = {*state.board, *chain.from_iterable(state.hands)}
            left = [card for card in range(DECK) if card not in dealt]
            count = 2 if len(state.hands) < 2 else self.cards_dealt[state.point.round - 1]
            return ["".join(map(card_text, cards)) for cards in combinations(left, count)]
        return tuple(self.move_name(state.point, move) for move in self.betting.moves(state.point))

    def next_state(self, state: HoldemState, action: Action) -> HoldemState:
        if self.player(state) == CHANCE:
            cards = parse_board(action)
            if len(state.hands) < 2:
                return state._replace(hands=(*state.hands, cards))
            return state._replace(board=(*state.board, *cards), line=(*state.line, action))
        move = self.betting.moves(state.point)[self.actions(state).index(action)]
        following = self.betting.after(state.point, move)
        line = (*state.line, action)
        return (
            state._replace(line=line, ended=move) if following is None else state._replace(line=line, point=following)
        )

    def info_set_key(self, state: HoldemState) -> str:
        hand = sorted(state.hands[state.point.player], reverse=True)
        return f"{''.join(map(card_text, hand))}:{', '.join(state.line)}"

    def utilities(self, state: HoldemState) -> tuple[float, float]:
        if state.ended is Move.FOLD:
            stake, won = min(state.point.paid), 1 if state.point.player == 1 else -1  # by player 0
        else:
            from regretless.cards.evaluator import evaluate

            first, second = evaluate([[*hand, *state.board] for hand in state.hands]).tolist()
            stake, won = max(state.point.paid), (first > second) - (first < second)
        return won * stake / self.big_blind, -won * stake / self.big_blind

    def move_name(self, point: Point, move: Move) -> Action:
        """The action that stands for a betting move; after `raise 300` the player has paid 300 chips in total."""
        if move is Move.RAISE:
            return f"raise {self.betting.raised_to(point)}"
        return "check" if move is Move.CALL and not point.facing else str(move)


class LimitHoldem(LimitHoldemRules):
    """Heads-up limit hold'em.

    >>> game = LimitHoldem()
    >>> state = game.initial_state()
    >>> for action in ("KhAh", "2c2d", "call", "check", "3c4cAs", "check", "check", "2s", "check"):
    ...     state = game.next_state(state, action)
    >>> game.player(state), game.actions(state)
    (0, ('check', 'raise 300'))
    >>> for action in ("raise 300", "call", "Kd", "raise 500", "fold"):
    ...     state = game.next_state(state, action)
    >>> game.utilities(state)
    (-3.0, 3.0)
    """

    name = "limit-holdem"
    solvable = False
    betting = LimitBetting(
        posted=(50, LimitHoldemRules.big_blind), bets=(100, 100, 200, 200), raises=(3, 4, 4, 4), opens=(0, 1, 1, 1)
    )
    cards_dealt = (3, 1, 1)

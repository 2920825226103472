"""Leduc hold'em: two players, one private card each, one public card, two rounds of betting (Southey et al., 2005).

1. Both players post `ante` and are dealt one card from `suits` copies of each of `ranks` ranks.
2. First round: player 0 starts; fold (`f`), check or call (`c`), bet or raise (`r`) by `bets[0]`. At most `raises`
   bets and raises per round. Fold is legal only when facing a bet.
3. A public card is dealt and a second round follows, with bets of `bets[1]`, player 0 first again.
4. A player who pairs the public card wins; otherwise the higher rank wins; equal ranks split the pot.

`merge_suits=True` deals ranks instead of cards, with their true probabilities: the same game and value with a fifth
of the nodes, because suits decide nothing.

Southey, Bowling, Larson, Piccione, Burch, Billings, Rayner: Bayes' Bluff: Opponent Modelling in Poker. UAI 2005.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regretless.errors import InvalidOption
from regretless.games._checks import check_between, check_flag, check_positive, check_tuple
from regretless.games.game import CHANCE, Action, TwoPlayerGame
from regretless.games.limit_betting import LimitBetting, Move, Point
from regretless.spelling import spelled

__all__ = ["Leduc", "LeducState"]

ACTIONS: dict[Move, Action] = {Move.FOLD: "f", Move.CALL: "c", Move.RAISE: "r"}
RANKS = "23456789TJQKA"
SUITS = "shdc"
OVER = -2  # `LeducState.turn` where the game is over

Cards = tuple[str, ...]
Payoffs = tuple[float, float]


class LeducState(NamedTuple):
    """A history of Leduc."""

    cards: Cards  # dealt so far: player 0's, player 1's, public
    history: str  # betting, with the public card where it fell: "crc/Qh:r"
    turn: int  # who moves: 0, 1, CHANCE or OVER


class Leduc(TwoPlayerGame[LeducState]):
    """Leduc hold'em with any deck and any fixed bets.

    >>> game = Leduc()
    >>> state = LeducState(cards=("Ks", "Qh"), history="cr", turn=0)
    >>> game.info_set_key(state), game.actions(state)
    ('Ks:cr', ('f', 'c', 'r'))
    >>> game.next_state(game.next_state(state, "c"), "Qs")
    LeducState(cards=('Ks', 'Qh', 'Qs'), history='crc/Qs:', turn=0)
    >>> game.utilities(LeducState(cards=("Ks", "Qh", "Qs"), history="crc/Qs:cc", turn=OVER))
    (-3.0, 3.0)
    """

    def __init__(
        self,
        ranks: int = 3,
        suits: int = 2,
        bets: tuple[int, int] = (2, 4),
        raises: int = 2,
        merge_suits: bool = False,
        ante: float = 1,
        players: int = 2,
    ) -> None:
        check_between("ranks", ranks, 1, len(RANKS))
        check_between("suits", suits, 1, len(SUITS))
        if ranks * suits < 3:
            raise InvalidOption("ranks", ranks, f"with suits={suits} leaves fewer than the three cards that are dealt")
        check_tuple("bets", bets, range(2, 3), "must be two whole numbers above 0, like (2,4)", whole=True)
        check_between("raises", raises, 0, 10)
        check_flag("merge_suits", merge_suits)
        check_positive("ante", ante, "must be above 0")
        check_between("players", players, 2, 2)
        self.ranks, self.suits, self.bets, self.raises = ranks, suits, bets, raises
        self.merge_suits, self.ante = merge_suits, ante
        self.name = spelled("leduc", Leduc, self)
        # J, Q, K for the usual three; the ace is used only with all thirteen.
        names = RANKS if ranks == len(RANKS) else RANKS[12 - ranks : 12]
        self._strength = {name: rank for rank, name in enumerate(names)}
        self._copies = (
            dict.fromkeys(names, suits) if merge_suits else {name + suit: 1 for name in names for suit in SUITS[:suits]}
        )
        self._actions: dict[str, tuple[Action, ...]] = {}  # by history, where a player moves
        self._after: dict[str, dict[Action, tuple[str, int]]] = {}  # history -> action -> history, turn
        self._payoffs: dict[str, tuple[Payoffs, Payoffs, Payoffs]] = {}  # by terminal: player 0 ties, wins, loses
        self._outcomes: dict[Cards, tuple[tuple[Action, float], ...]] = {}  # filled on demand
        self._winner: dict[Cards, int] = {}  # 0 tie, 1 player 0, −1 player 1; filled on demand
        self.betting = LimitBetting(posted=(ante, ante), bets=bets, raises=(raises, raises), opens=(0, 0))
        self._tabulate_betting("", self.betting.first())

    def initial_state(self) -> LeducState:
        return LeducState((), "", CHANCE)

    def is_terminal(self, state: LeducState) -> bool:
        return state.turn == OVER

    def player(self, state: LeducState) -> int:
        return state.turn

    def actions(self, state: LeducState) -> Sequence[Action]:
        if state.turn == CHANCE:
            return [card for card, _ in self.chance_outcomes(state)]
        return self._actions[state.history]

    def chance_outcomes(self, state: LeducState) -> Sequence[tuple[Action, float]]:
        dealt = state.cards
        outcomes = self._outcomes.get(dealt)
        if outcomes is None:
            left = {card: copies - dealt.count(card) for card, copies in self._copies.items()}
            total = sum(left.values())
            outcomes = tuple((card, copies / total) for card, copies in left.items() if copies)
            self._outcomes[dealt] = outcomes
        return outcomes

    def next_state(self, state: LeducState, action: Action) -> LeducState:
        cards, history, turn = state
        if turn != CHANCE:
            history, turn = self._after[history][action]
            return LeducState(cards, history, turn)
        if not cards:
            return LeducState((action,), "", CHANCE)
        if history:
            return LeducState((*cards, action), f"{history}{action}:", 0)
        return LeducState((*cards, action), "", 0)

    def info_set_key(self, state: LeducState) -> str:
        return f"{state.cards[state.turn]}:{state.history}"

    def utilities(self, state: LeducState) -> Payoffs:
        cards = state.cards
        winner = self._winner.get(cards)
        if winner is None:
            winner = self._winner[cards] = self._showdown(cards)
        return self._payoffs[state.history][winner]

    def _showdown(self, cards: Cards) -> int:
        """Who wins: 1 player 0, −1 player 1, 0 neither."""
        if len(cards) < 3:
            return 0  # somebody folded: `_payoffs` ignores the cards
        first, second, public = (self._strength[card[0]] for card in cards)
        first_hand, second_hand = (first == public, first), (second == public, second)
        return (first_hand > second_hand) - (first_hand < second_hand)

    def move_name(self, point: Point, move: Move) -> Action:
        """The action that stands for a betting move."""
        return ACTIONS[move]

    def _tabulate_betting(self, before: str, point: Point) -> None:
        """Tabulate the actions after the history `before` and at every point below."""
        moves = self.betting.moves(point)
        self._actions[before] = tuple(self.move_name(point, move) for move in moves)
        after = self._after[before] = {}
        for action, move in zip(self._actions[before], moves, strict=True):
            history, following = before + action, self.betting.after(point, move)
            if following is None:
                after[action] = (history, OVER)
                self._payoffs[history] = self._final_payoffs(point, move)
            elif following.round == point.round:
                after[action] = (history, following.player)
                self._tabulate_betting(history, following)
            else:
                after[action] = (history + "/", CHANCE)
                for card in self._copies:
                    self._tabulate_betting(f"{history}/{card}:", following)

    def _final_payoffs(self, point: Point, move: Move) -> tuple[Payoffs, Payoffs, Payoffs]:
        """Payoffs when `move` ends the hand, if the players tie, if player 0 wins and if player 0 loses."""
        if move is Move.FOLD:
            loss = float(point.paid[point.player])
            payoffs = (-loss, loss) if point.player == 0 else (loss, -loss)
            return payoffs, payoffs, payoffs
        stake = float(max(point.paid))
        return (0.0, 0.0), (stake, -stake), (-stake, stake)
